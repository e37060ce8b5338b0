"""The house keeps its own laws: who may import whom, who may open what, what a start may cost in imports."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import scaffale

PACKAGE = Path(scaffale.__file__).parent
CHECKOUT = Path(__file__).parents[2]
MODULES = sorted(PACKAGE.rglob("*.py"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

# Each costs a millisecond or more, and the whole of `scaffale search` may cost about thirty.
HEAVY = frozenset(
    "dataclasses pathlib uuid logging inspect asyncio subprocess tempfile shutil dotenv pathspec pyromark rich mcp"
    " mcp_types anyio pydantic unicodedata http urllib importlib email socket ssl concurrent multiprocessing decimal"
    " Stemmer numpy sqlite_vec torch sentence_transformers onnxruntime tokenizers huggingface_hub pymilvus".split()
)


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(nodes):
    """The first names of all modules that these nodes import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


def called(tree):
    """What is called, as written: `open`, `os.open`, `apsw.Connection`, ..."""
    return [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def texts(tree):
    """Every string of a module but its docstrings."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare
    ]


def run(program, *arguments, **environment):
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**ENVIRONMENT, **environment},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# --- floors ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(
    importlib.util.find_spec("importlinter") is None,
    reason="import-linter is part of the dev extra; .ci/run installs it and runs lint-imports",
)
def test_calls_go_down_and_values_come_back():
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=CHECKOUT, env=ENVIRONMENT
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 broken" in ran.stdout


def test_no_module_knows_the_interpreters_own_sqlite():
    assert not [name_of(path) for path in MODULES if "sqlite3" in imported(ast.walk(tree_of(path)))]


def test_only_two_places_open_a_sqlite_file():
    found = {
        name_of(path)
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "apsw.Connection"
        if ast.unparse(node.args[0]) != "':memory:'"
    }
    assert {name for name in found if not name.startswith("backends/sqlite_")} == {"indexer/database.py"}


def test_few_places_open_files_and_none_a_store():
    """Any other descriptor on a store's file, once closed, drops the locks that SQLite holds on it (POSIX)."""
    openers = {
        name_of(path)
        for path in MODULES
        if {"open", "os.open", "io.open", "os.fdopen"} & set(called(tree_of(path)))
        or re.search(r"\.(?:read|write)_(?:bytes|text)\(", path.read_text(encoding="utf-8"))
    }
    assert openers == {
        "files.py",  # regular files that were checked
        "indexer/database.py",  # makes an empty store before SQLite knows it, under a lock
        "indexer/audit.py",  # appends to the mirror, which settings keep apart from the stores
        "backends/models.py",  # the files of a model
        "backends/static.py",  # its matrix
        "server/embedder.py",  # the lock of the one process with the models
        "backends/tantivy_files.py",  # the index's own files, to compare their checksums
        "server/install/clients.py",  # the skill and the rules, which ship with us
        "server/install/files.py",  # configuration files of clients
        "server/hooks/hosts.py",  # the transcript that a host names
        "server/mcp/stdio.py",  # the null device
        "server/cli/__init__.py",  # the null device
    }


def test_sql_is_at_home_in_two_rooms():
    statement = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|BEGIN|WITH)\s[A-Za-z_(*]")
    found = {name_of(path) for path in MODULES if any(map(statement.match, texts(tree_of(path))))}
    assert {name.partition("/")[0] for name in found} == {"indexer", "backends"}


def test_only_entry_points_read_the_environment():
    readers = {
        name_of(path)
        for path in MODULES
        if any(isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"} for node in ast.walk(tree_of(path)))
    }
    assert {name for name in readers if not name.startswith("server/")} == {"__init__.py"}


# Rooms of values that every command imports: `typing` compiles postponed annotations of a NamedTuple, at three times the
# price of the class.
EVALUATED = {
    "model.py", "answers/memory.py", "answers/docs.py", "answers/atlas.py", "answers/shelf_exchange.py",
    "indexer/records.py", "settings.py", "text.py", "backends/overlay.py",
}  # fmt: skip


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_says_its_rules_first(path):
    tree = tree_of(path)
    assert len(ast.get_docstring(tree) or "") > 30
    if len(tree.body) > 1 and name_of(path) not in EVALUATED:
        assert ast.unparse(tree.body[1]) == "from __future__ import annotations"


# --- what it works with and without ------------------------------------------------------------------------------------


def test_sqlite_is_past_the_bug_that_resets_a_log_in_use():
    import apsw

    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= (3, 51, 3)


def test_the_main_job_asks_nothing_of_the_network(tmp_path):
    """Not as much as a socket is made, and no other program is started."""
    (tmp_path / "a.md").write_text("# A\n\nword\n", encoding="utf-8")
    program = """
import sys
def refuse(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "urllib.", "http.")):
        raise AssertionError(event)
sys.addaudithook(refuse)
import scaffale
with scaffale.open_docs() as docs, scaffale.open_memory() as memory:
    docs.scan_folder(folder_path=sys.argv[1], shelf="s")
    memory.add_entry(actor="a", project_path=sys.argv[1], scope="s", topic="t", content="word", source_type="decision")
    print(docs.search(query="word").results[0].snippet, memory.search(query="word", project_path=sys.argv[1]).total)
"""
    home = str(tmp_path / "home")
    assert run(program, str(tmp_path), HOME=home, USERPROFILE=home) == "# A >>>word<<< 1\n"


# --- what a start imports ----------------------------------------------------------------------------------------------


SERVERS = {"mcp", "http", "web"}  # rooms that only a process that serves ever enters
# Themselves imported by whoever cannot do without: the engine that is numpy, and the process that has the models.
LATE = {"backends/numpy_bits.py", "server/embedder.py"}


@pytest.mark.parametrize(
    "path", [path for path in MODULES if not SERVERS & set(path.parts) and name_of(path) not in LATE], ids=name_of
)
def test_nothing_heavy_is_imported_at_the_top(path):
    top = tree_of(path).body
    assert not HEAVY & set(imported(top))


def test_importing_the_package_imports_nothing_else():
    program = "import sys; before = set(sys.modules); import scaffale; print(*sorted(set(sys.modules) - before))"
    assert run(program).split() == ["__future__", "scaffale"]


def test_a_search_imports_its_engines_and_nothing_heavy(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nword\n", encoding="utf-8")
    home = {"HOME": str(tmp_path / "home"), "USERPROFILE": str(tmp_path / "home")}
    main = "import sys; from scaffale.server.cli import main; code = main(sys.argv[1:]); "
    run(main + "sys.exit(code)", "scan", str(tmp_path / "a.md"), "--shelf", "s", **home)
    engines = set(run("import sys, apsw, tantivy, argparse; argparse.ArgumentParser(); print(*sys.modules)").split())
    listed = main + "print(code, *sys.modules, file=sys.stderr, sep='\\n')"
    ran = subprocess.run(
        [sys.executable, "-c", listed, "search", "word", "--json"],
        capture_output=True, text=True, check=True, env={**ENVIRONMENT, **home},
    )  # fmt: skip
    code, *modules = ran.stderr.split()
    assert code == "0"
    assert json.loads(ran.stdout)["docs"]["results"][0]["heading_path"] == ["A"]
    assert {"scaffale.docs", "apsw", "tantivy"} <= set(modules)
    heavy = {module for module in set(modules) - engines if module.partition(".")[0] in HEAVY}
    assert heavy <= {"Stemmer"}, "a small one, for the Italian stems of the query"
