"""Stores that are damaged, foreign, from the future, on a full disk, read-only, or left behind by a killed process.

Whatever it is: the error says what and where, nothing that was acknowledged is lost, what cannot be repaired is left
byte for byte, and the same halls serve again when the cause is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from scaffale import settings as settings_module
from scaffale.docs import Docs
from scaffale.errors import ScaffaleError, StoreUnreadable
from scaffale.memory import Memory

NOBODY = 65534
is_root = hasattr(os, "geteuid") and os.geteuid() == 0

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions, limits and mounts of POSIX")


@pytest.fixture(params=["tantivy", "fts5"])
def engine_name(request):
    return request.param


def load(home, engine):
    return settings_module.load(
        {"HOME": str(home), "MEMORY_LEXICAL_BACKEND": engine, "DOCS_LEXICAL_BACKEND": engine}, str(home)
    )


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def settings(home, engine_name):
    return load(home, engine_name)


@pytest.fixture
def memory(settings):
    opened = Memory(settings)
    yield opened
    opened.close()


@pytest.fixture
def docs(settings):
    opened = Docs(settings)
    yield opened
    opened.close()


def add(memory, content, **more):
    said = {"actor": "tester", "project_id": "p", "scope": "s", "topic": "t", "source_type": "decision", **more}
    return memory.add_entry(content=content, **said).entry_id


def found(memory, query):
    return [hit.id for hit in memory.search(query=query, project_id="p").results]


def write_notes(folder, count, filler=0):
    folder.mkdir(exist_ok=True)
    for n in range(count):
        (folder / f"note{n}.md").write_text(f"# Note {n}\n\nThe word{n} of it.\n\n" + "filler text " * filler, encoding="utf-8")
    return folder


def verbs_of_memory(memory):
    return {
        "add": lambda: add(memory, "one more"),
        "search": lambda: memory.search(query="words", project_id="p"),
        "list": lambda: memory.search(query="", project_id="p"),
        "read": lambda: memory.read_entry(entry_id="x", project_id="p"),
        "invalidate": lambda: memory.invalidate_entry(entry_id="x", actor="tester", project_id="p"),
        "scopes": lambda: memory.list_scopes(project_id="p"),
        "status": lambda: memory.status(project_id="p"),
        "maintain": lambda: memory.maintain(),
    }


def verbs_of_docs(docs, notes):
    return {
        "scan": lambda: docs.scan_folder(folder_path=str(notes), shelf="notes"),
        "search": lambda: docs.search(query="words"),
        "read": lambda: docs.read_document(document_id=1),
        "documents": lambda: docs.list_documents(),
        "shelves": lambda: docs.list_shelves(),
        "create": lambda: docs.create_shelf(name="new"),
        "resync": lambda: docs.resync_all(),
        "status": lambda: docs.feature_status(),
        "maintain": lambda: docs.maintain(),
    }


def tree(folder):
    """Every file below the folder and its digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def store_with(data, *paths):
    for path in map(Path, paths):
        path.parent.mkdir(parents=True)
        path.write_bytes(data)


# --- damaged, foreign, from the future ---------------------------------------------------------------------------------


def noise(size):
    return random.Random(7).randbytes(size)


DAMAGES = {
    "noise": noise(60_000),
    "header and noise": b"SQLite format 3\x00" + noise(60_000),
    "text": b"dear diary\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_an_unreadable_store_is_refused_by_every_verb_and_left_alone(settings, memory, docs, home, damage):
    store_with(DAMAGES[damage], settings.memory_db_path, settings.docs_db_path)
    notes = write_notes(home / "notes", 2)
    before = tree(home)
    for path, verbs in (
        (settings.memory_db_path, verbs_of_memory(memory)),
        (settings.docs_db_path, verbs_of_docs(docs, notes)),
    ):
        for verb in verbs.values():
            with pytest.raises(StoreUnreadable, match="damaged or not a SQLite database") as refusal:
                verb()
            assert path in refusal.value.detail
    assert tree(home) == before


def test_a_folder_in_the_place_of_a_store_is_named(settings, memory, docs):
    for path in (settings.memory_db_path, settings.docs_db_path):
        os.makedirs(path)
    for verb in (*verbs_of_memory(memory).values(), lambda: docs.search(query="x"), lambda: docs.create_shelf(name="x")):
        with pytest.raises(StoreUnreadable, match="is a folder"):
            verb()


@pytest.mark.parametrize("kept", [0.5, 0.1])
def test_a_store_cut_short_is_refused_and_serves_again_when_put_back(settings, memory, home, kept):
    ids = [add(memory, f"entry {n} " + "words " * 50) for n in range(60)]
    memory.close()
    whole = Path(settings.memory_db_path).read_bytes()
    with open(settings.memory_db_path, "r+b") as file:
        file.truncate(int(len(whole) * kept))
    cut = Path(settings.memory_db_path).read_bytes()
    for verb in verbs_of_memory(memory).values():
        with pytest.raises(StoreUnreadable):
            verb()
    assert Path(settings.memory_db_path).read_bytes() == cut
    Path(settings.memory_db_path).write_bytes(whole)
    assert found(memory, "entry 7")[0] == ids[7]
    assert add(memory, "after") in found(memory, "after")


def test_a_store_that_was_emptied_begins_anew_and_says_nothing_of_the_old_one(settings, memory):
    add(memory, "a fact of before")
    memory.maintain()
    memory.close()
    with open(settings.memory_db_path, "wb"):
        pass
    assert found(memory, "fact") == []
    new = add(memory, "a fact of after")
    assert found(memory, "fact") == [new]


def test_a_damaged_page_is_a_plain_refusal_or_no_matter(settings, memory, docs, home):
    """Every page in turn: a verb answers, or says that the store is damaged. No other error, and no invented entry."""
    ids = {add(memory, f"entry {n} " + "words " * 40, tags=[f"tag{n % 5}"]) for n in range(40)}
    docs.scan_folder(folder_path=str(write_notes(home / "notes", 20, filler=20)), shelf="notes")
    memory.maintain()
    memory.close()
    docs.close()
    for path, verbs in (
        (settings.memory_db_path, lambda: verbs_of_memory(memory)),
        (settings.docs_db_path, lambda: verbs_of_docs(docs, home / "notes")),
    ):
        whole = Path(path).read_bytes()
        for start in range(4096, len(whole), 4096):
            Path(path).write_bytes(whole[:start] + noise(4096) + whole[start + 4096 :])
            for name, verb in verbs().items():
                try:
                    answer = verb()
                except ScaffaleError as error:
                    assert error.code in ("STORE_UNREADABLE", "NOT_FOUND"), error.detail
                    continue
                if name == "add":
                    ids.add(answer)
                if path == settings.memory_db_path and name in ("search", "list"):
                    assert {hit.id for hit in answer.results} <= ids
            memory.close()
            docs.close()
        Path(path).write_bytes(whole)
        for suffix in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path + suffix)
    assert len(memory.search(query="words", project_id="p", limit=50).results) >= 40


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_a_database_of_another_program_is_left_byte_for_byte(settings, memory, docs, home, journal_mode):
    for path in (settings.memory_db_path, settings.docs_db_path):
        os.makedirs(os.path.dirname(path))
        other = sqlite3.connect(path)
        other.execute(f"PRAGMA journal_mode = {journal_mode}")
        with other:
            other.execute("CREATE TABLE memory_entries (id)")
        other.close()
    notes = write_notes(home / "notes", 2)
    before = tree(home)
    for verb in (*verbs_of_memory(memory).values(), *verbs_of_docs(docs, notes).values()):
        with pytest.raises(StoreUnreadable, match="another program"):
            verb()
    assert tree(home) == before


def test_a_store_of_the_other_kind_is_not_taken_for_ours(settings, memory, home):
    add(memory, "a fact")
    memory.close()
    crossed = Docs(settings._replace(docs_db_path=settings.memory_db_path))
    with pytest.raises(StoreUnreadable):
        crossed.create_shelf(name="x")
    crossed.close()
    assert len(found(memory, "fact")) == 1


def test_a_store_from_the_future_is_refused_and_left_byte_for_byte(settings, memory, docs, home):
    add(memory, "a fact")
    notes = write_notes(home / "notes", 2)
    docs.scan_folder(folder_path=str(notes), shelf="notes")
    for hall in (memory, docs):
        with hall._open()[0].write() as connection:
            connection.execute("INSERT INTO schema_migrations VALUES (99, '099_of_tomorrow', 'tomorrow')")
        hall.close()
    before = tree(home)
    for verb in (*verbs_of_memory(memory).values(), *verbs_of_docs(docs, notes).values()):
        with pytest.raises(StoreUnreadable, match="schema version 99"):
            verb()
    assert tree(home) == before


# --- full disk -----------------------------------------------------------------------------------------------------------


class Disk:
    """A file system of a few megabytes."""

    def __init__(self, folder):
        self.folder = folder
        self._mount(f"size={self.MEGABYTES}m,mode=755")

    MEGABYTES = 8

    def _mount(self, options):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)], check=True, capture_output=True)

    def fill(self):
        """Take every byte that is left."""
        with open(self.folder / "filler", "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1024))

    def free(self):
        os.remove(self.folder / "filler")

    def grow(self):
        self._mount("remount,size=64m")

    def read_only(self):
        self._mount("remount,ro")

    def unmount(self):
        subprocess.run(["umount", "-l", str(self.folder)], check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mounted = Disk(folder)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small file system needs the right to mount one")
    yield mounted
    mounted.unmount()


@pytest.mark.parametrize("background", [False, True], ids=["command", "server"])
def test_a_full_disk_refuses_entries_and_loses_none(disk, engine_name, background):
    memory = Memory(load(disk.folder, engine_name), background=background)
    kept = []
    with pytest.raises(StoreUnreadable, match="disk full") as refusal:
        for n in range(5_000):
            kept.append(add(memory, f"entry{n} " + "words of some length " * 300, topic=f"topic{n}"))
    assert "memory.sqlite" in refusal.value.detail
    assert kept
    number = len(kept) - 1
    for opened in (memory, Memory(load(disk.folder, engine_name))):
        assert found(opened, f"entry{number}") == [kept[number]]
        assert opened.read_entry(entry_id=kept[0], project_id="p").entry.content.startswith("entry0 ")
        assert opened.status(project_id="p").counts["active"] == len(kept)
        if opened is not memory:
            opened.close()
    disk.grow()
    after = add(memory, "entryafter there is space again")
    assert found(memory, "entryafter") == [after]
    assert found(memory, f"entry{number}") == [kept[number]]
    memory.maintain()
    assert memory.status(project_id="p").counts["active"] == len(kept) + 1
    assert found(memory, "entryafter") == [after]
    assert not memory.search(query="entryafter", project_id="p").warnings
    memory.close()


def test_a_full_disk_stops_a_scan_between_documents(disk, engine_name, tmp_path):
    notes = write_notes(tmp_path / "notes", 900, filler=900)
    docs = Docs(load(disk.folder, engine_name))
    with pytest.raises(StoreUnreadable, match="disk full"):
        docs.scan_folder(folder_path=str(notes), shelf="notes")
    stored = docs.feature_status().counts["documents"]
    assert stored < 900
    for document in docs.list_documents(limit=100).documents:
        assert docs.read_document(document_id=document.id).line_count == document.line_count
    if stored:
        assert docs.search(query="word0").results
    disk.grow()
    report = docs.scan_folder(folder_path=str(notes), shelf="notes")
    assert (report.seen, report.new, report.same) == (900, 900 - stored, stored)
    assert len(docs.search(query="word899").results) == 1
    assert docs.search(query="word0").lag == 0
    docs.close()


def test_a_process_that_starts_on_a_full_disk_reads_and_writes_when_it_can(disk, engine_name):
    settings = load(disk.folder, engine_name)
    with Memory(settings) as first:
        kept = [add(first, f"entry{n} of before") for n in range(20)]
        first.maintain()
    disk.fill()
    memory = Memory(settings)
    assert found(memory, "entry7") == [kept[7]]
    assert memory.read_entry(entry_id=kept[3], project_id="p").entry.content == "entry3 of before"
    with pytest.raises(StoreUnreadable, match="disk full"):
        add(memory, "no room for this")
    with pytest.raises(StoreUnreadable, match="disk full"):
        memory.invalidate_entry(entry_id=kept[0], actor="tester", project_id="p")
    disk.free()
    after = add(memory, "room again")
    assert found(memory, "room") == [after]
    assert found(memory, "entry7") == [kept[7]]
    memory.close()


LIMITED = """
import json, resource, sys
from scaffale import settings
from scaffale.errors import ScaffaleError
from scaffale.memory import Memory

memory = Memory(settings.load({"HOME": sys.argv[1], "MEMORY_LEXICAL_BACKEND": sys.argv[2]}, sys.argv[1]))

def add(n):
    said = dict(actor="a", project_id="p", scope="s", topic="t", source_type="decision")
    return memory.add_entry(content=f"entry{n} " + "words " * 200, **said).entry_id

kept = [add(n) for n in range(20)]
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
refusal = None
try:
    while True:
        kept.append(add(len(kept)))
except ScaffaleError as error:
    refusal = [error.code, error.detail]
during = memory.search(query=f"entry{len(kept) - 1}", project_id="p").results[0].id
count = memory.status(project_id="p").counts["active"]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
after = add("after")
found = memory.search(query="entryafter", project_id="p").results[0].id
print(json.dumps({"kept": kept, "refusal": refusal, "during": during, "count": count, "after": after, "found": found}))
memory.close()
"""


def test_a_limit_on_file_sizes_is_named_and_loses_nothing(home, engine_name):
    said = json.loads(run_python(LIMITED, str(home), engine_name))
    code, detail = said["refusal"]
    assert code == "STORE_UNREADABLE"
    assert "limit on file sizes" in detail
    assert "memory.sqlite" in detail
    assert said["during"] == said["kept"][-1]
    assert said["count"] == len(said["kept"])
    assert said["found"] == said["after"]
    with Memory(load(home, engine_name)) as memory:
        for entry_id in (*said["kept"], said["after"]):
            memory.read_entry(entry_id=entry_id, project_id="p")


def run_python(program, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=environment, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# --- read-only -----------------------------------------------------------------------------------------------------------

READER = """
import importlib, io, json, os, pkgutil, sys
from contextlib import redirect_stderr, redirect_stdout
# What is imported late, while it may be read:
import datetime, difflib, getpass, gettext, hashlib, hmac, locale, shutil, tempfile, traceback, unicodedata
import scaffale
for module in pkgutil.walk_packages(scaffale.__path__, "scaffale."):
    if ".mcp" not in module.name and "__main__" not in module.name:
        importlib.import_module(module.name)

home, uid, entry_id = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.environ.update(HOME=home, MEMORY_LEXICAL_BACKEND=sys.argv[4], DOCS_LEXICAL_BACKEND=sys.argv[4])
os.chdir(home)
if uid:
    os.setgid(uid)
    os.setuid(uid)

from scaffale.server.cli import main
os.environ["MEMORY_DEBUG"] = "1"

def run(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return [code, out.getvalue(), err.getvalue()]

print(json.dumps({
    "search": run("search", "word7", "--json", "--project-id", "p"),
    "read": run("read", entry_id, "--project-id", "p"),
    "document": run("read", "1"),
    "status": run("status", "--json", "--project-id", "p"),
    "resync": run("resync", "--json"),
    "add": run("add", "new", "--topic", "t", "--scope", "s", "--project-id", "p"),
    "invalidate": run("memory", "invalidate", entry_id, "--project-id", "p"),
    "scan": run("scan", os.path.join(home, "more")),
    "create": run("shelf", "create", "new"),
    "maintain": run("maintain"),
}))
"""


def prepare(home, engine_name, *, close=True):
    """A store with ten entries and ten documents; returns the id of an entry."""
    settings = load(home, engine_name)
    memory, docs = Memory(settings), Docs(settings)
    ids = [add(memory, f"entry {n} holds word{n}") for n in range(10)]
    docs.scan_folder(folder_path=str(write_notes(home / "notes", 10)), shelf="notes")
    write_notes(home / "more", 1)
    memory.maintain()
    if close:
        memory.close()
        docs.close()
    return ids[7], memory, docs


def check_reader(home, engine_name, entry_id, uid=0):
    said = json.loads(run_python(READER, str(home), str(uid), entry_id, engine_name))
    code, out, _ = said["search"]
    answer = json.loads(out)
    assert code == 0, said["search"]
    assert [hit["id"] for hit in answer["memory"]["results"]] == [entry_id]
    assert [hit["title"] for hit in answer["docs"]["results"]] == ["Note 7"]
    assert not answer["memory"]["warnings"]
    assert not answer["docs"]["warnings"]
    assert said["read"][0] == 0
    assert "holds word7" in said["read"][1]
    assert said["document"][0] == 0
    status = json.loads(said["status"][1])
    assert status["memory"]["counts"]["active"] == 10
    assert any("read-only" in warning for warning in status["memory"]["warnings"])
    assert any("read-only" in warning for warning in status["docs"]["warnings"])
    assert json.loads(said["resync"][1])["reports"][0]["same"] == 10
    for verb in ("add", "invalidate", "scan", "create"):
        code, out, err = said[verb]
        assert (code, out) == (5, ""), verb
        assert "read-only here" in err, verb
        assert "STORE_UNREADABLE" in err
        assert "Traceback" not in err
    assert said["maintain"][0] in (0, 1)


@pytest.fixture
def open_home():
    """A folder that other users may enter."""
    folder = Path(tempfile.mkdtemp(prefix="scaffale-test-"))
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


def forbid_writing(home):
    """Nobody but root may write below the folder; everybody may read."""
    for path in home.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_without_permission_to_write_reads_go_on_and_writes_are_refused(open_home, engine_name):
    entry_id, _, _ = prepare(open_home, engine_name)
    forbid_writing(open_home / ".mcp-servers")
    before = tree(open_home)
    check_reader(open_home, engine_name, entry_id, NOBODY if is_root else 0)
    assert tree(open_home) == before


def test_a_log_left_by_a_killed_process_is_read_without_permission_to_write(open_home, engine_name):
    entry_id, memory, docs = prepare(open_home, engine_name, close=False)
    stores = open_home / ".mcp-servers"
    shutil.copytree(stores, open_home / "as it was")  # what a killed process leaves: logs that are not folded in
    memory.close()
    docs.close()
    shutil.rmtree(stores)
    os.rename(open_home / "as it was", stores)
    assert (stores / "memory" / "memory.sqlite-wal").stat().st_size
    forbid_writing(stores)
    check_reader(open_home, engine_name, entry_id, NOBODY if is_root else 0)


def test_a_read_only_file_system_is_read(disk, engine_name):
    entry_id, _, _ = prepare(disk.folder, engine_name)
    disk.read_only()
    check_reader(disk.folder, engine_name, entry_id)
    assert not list(Path(tempfile.gettempdir()).glob("scaffale-????????/meta.json"))


def test_a_file_system_that_becomes_writable_again_is_written_without_a_restart(disk, engine_name):
    entry_id, _, _ = prepare(disk.folder, engine_name)
    disk.read_only()
    memory = Memory(load(disk.folder, engine_name))
    assert found(memory, "word7") == [entry_id]
    with pytest.raises(StoreUnreadable, match="read-only here"):
        add(memory, "refused")
    disk.grow()
    after = add(memory, "a new entry")
    assert found(memory, "new") == [after]
    assert memory.maintain()
    assert found(memory, "word7") == [entry_id]
    memory.close()


def test_a_store_that_may_not_be_looked_at_is_not_taken_for_a_missing_one(open_home, engine_name):
    entry_id, _, _ = prepare(open_home, engine_name)
    (open_home / ".mcp-servers" / "memory").chmod(0o000)
    said = json.loads(run_python(READER, str(open_home), str(NOBODY if is_root else 0), entry_id, engine_name))
    for verb in ("read", "add", "invalidate"):
        code, out, err = said[verb]
        assert (code, out) == (5, "")
        assert "cannot be looked at: Permission denied" in err


# --- left behind ---------------------------------------------------------------------------------------------------------

LEAVER = """
import os, signal, sys
from scaffale import settings
from scaffale.memory import Memory

memory = Memory(settings.load({"HOME": sys.argv[1], "MEMORY_LEXICAL_BACKEND": sys.argv[2]}, sys.argv[1]))
for n in range(50):
    said = dict(actor="a", project_id="p", scope="s", topic="t", source_type="decision")
    print(memory.add_entry(content=f"entry{n} of a process that is killed", **said).entry_id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_acknowledged_is_there(home, settings):
    killed = subprocess.run(
        [sys.executable, "-c", LEAVER, str(home), settings.memory_lexical_backend],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert killed.returncode == -9
    ids = killed.stdout.split()
    assert len(ids) == 50
    assert os.stat(settings.memory_db_path + "-wal").st_size
    with Memory(settings) as memory:
        assert found(memory, "entry49") == [ids[49]]
        for entry_id in ids:
            memory.read_entry(entry_id=entry_id, project_id="p")
    assert stat.S_IMODE(os.stat(settings.memory_db_path).st_mode) == 0o600
