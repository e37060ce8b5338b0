"""The command line as a process: pipes that break, interrupts, what it imports, what its files allow."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

PROGRAM = [sys.executable, "-m", "scaffale.server.cli"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and modes of POSIX")


@pytest.fixture
def environment(tmp_path):
    given = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "DOCS_"))}
    return {**given, "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.fixture
def run(environment, tmp_path):
    def run(*words, **options):
        given = {"capture_output": True, "text": True, "check": False, "cwd": tmp_path, "env": environment, "timeout": 60}
        return subprocess.run([*PROGRAM, *map(str, words)], **{**given, **options})

    return run


def write_notes(folder, count, lines=3):
    folder.mkdir()
    for n in range(count):
        (folder / f"note{n:05}.md").write_text(f"# Note {n}\n\n" + f"harbour of note {n}\n" * lines, encoding="utf-8")
    return folder


# --- from one end to the other ---------------------------------------------------------------------------------------------


def test_scan_search_read_add_and_read(run, tmp_path):
    notes = write_notes(tmp_path / "notes", 3)
    scanned = run("scan", notes)
    assert (scanned.returncode, scanned.stderr) == (0, "")
    found = run("search", "harbour", "note", "2", "--json")
    assert found.returncode == 0
    (first, *_) = json.loads(found.stdout)["docs"]["results"]
    assert first["title"] == "Note 2"
    assert run("read", first["id"]).stdout == (notes / "note00002.md").read_text(encoding="utf-8")
    added = run("add", "-", "--topic", "t", "--scope", "s", input="kept\r\nas it is")
    assert added.returncode == 0, added.stderr
    read = run("read", added.stdout.split()[0], "--json")
    assert json.loads(read.stdout)["entry"]["content"] == "kept\r\nas it is"
    for words in (("status",), ("doctor",), ("shelf", "list"), ("maintain",), ("search", "harbour")):
        said = run(*words)
        assert said.returncode == 0, said
        assert said.stdout, words
        assert "\x1b" not in said.stdout + said.stderr, words


@pytest.mark.parametrize(
    ("words", "code"),
    [(("xyzzy",), 2), (("search",), 2), (("read", "7"), 3), (("shelf", "remove", "x"), 3), (("scan", "/dev/null"), 2)],
)
def test_exit_codes_and_one_line_of_why(run, words, code):
    said = run(*words)
    assert (said.returncode, said.stdout) == (code, "")
    assert said.stderr.startswith("scaffale: ")
    assert said.stderr.count("\n") == 1
    as_data = run(*words, "--json")
    assert (as_data.returncode, as_data.stderr) == (code, "")
    assert json.loads(as_data.stdout)["ok"] is False


def test_what_is_not_utf8_on_the_command_line_is_a_query_and_no_entry(run):
    assert run("search", b"caff\xe8".decode("utf-8", "surrogateescape")).returncode == 0
    said = run("add", b"caff\xe8".decode("utf-8", "surrogateescape"), "--topic", "t", "--scope", "s")
    assert said.returncode == 2
    assert "not valid Unicode" in said.stderr


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}])
def test_any_locale_will_do(run, environment, variables):
    environment.update(variables)
    added = run("add", "perché no 🙂", "--topic", "t", "--scope", "s")
    assert added.returncode in (0, 2), added.stderr  # an argument that this locale cannot even read is refused
    said = run("search", "perch", "--json")
    assert said.returncode == 0, said.stderr
    json.loads(said.stdout)


# --- files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["tantivy", "fts5"])
def test_whatever_the_umask_all_that_is_made_is_private(run, environment, tmp_path, engine):
    environment.update(MEMORY_LEXICAL_BACKEND=engine, DOCS_LEXICAL_BACKEND=engine)
    notes = write_notes(tmp_path / "notes", 2)
    old = os.umask(0)
    try:
        assert run("scan", notes).returncode == 0
        assert run("add", "x", "--topic", "t", "--scope", "s").returncode == 0
        assert run("maintain", "--rebuild").returncode == 0
    finally:
        os.umask(old)
    made = [tmp_path / ".mcp-servers", *(tmp_path / ".mcp-servers").rglob("*")]
    assert len(made) > 10
    open_to_others = [str(path) for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert open_to_others == []


def test_sources_stay_as_they_are(run, tmp_path):
    notes = write_notes(tmp_path / "notes", 5)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in notes.iterdir()}
    for words in (("scan", notes), ("search", "harbour"), ("read", "1"), ("resync",), ("shelf", "remove", "notes")):
        assert run(*words).returncode == 0
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in notes.iterdir()} == before


# --- pipes and interrupts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("read", "1"), ("search", "harbour", "--limit", "100"), ("read", "1", "--json")])
def test_a_reader_that_leaves_is_no_error(run, environment, tmp_path, words):
    write_notes(tmp_path / "notes", 100, lines=5_000)
    assert run("scan", tmp_path / "notes").returncode == 0
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*PROGRAM, *words], stdout=writing, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    )
    os.close(writing)
    os.read(reading, 10)
    os.close(reading)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def test_ctrl_c_during_a_scan_leaves_whole_documents_and_the_next_scan_goes_on(run, environment, tmp_path):
    count = 3_000
    notes = write_notes(tmp_path / "notes", count, lines=30)
    store = tmp_path / ".mcp-servers" / "docs" / "docs.sqlite-wal"
    process = subprocess.Popen(
        [*PROGRAM, "scan", str(notes)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path,
    )
    deadline = time.monotonic() + 30
    while not (store.exists() and store.stat().st_size > 500_000) and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert err == "what was read so far is kept; the same scan goes on from there\ninterrupted\n"
    stored = json.loads(run("status", "--json").stdout)["docs"]["counts"]["documents"]
    assert 0 < stored < count
    found = json.loads(run("search", "harbour", "--docs", "--json").stdout)
    assert found["matching_sections"] + found["lag"] == stored
    shown = json.loads(run("shelf", "show", "notes", "--json", "--limit", "100").stdout)
    assert {document["line_count"] for document in shown["documents"]} == {32}
    report = json.loads(run("scan", notes, "--json").stdout)
    assert (report["seen"], report["new"], report["same"]) == (count, count - stored, stored)
    found = json.loads(run("search", "harbour", "--docs", "--json").stdout)
    assert (found["matching_sections"], found["lag"]) == (count, 0)


def test_output_that_cannot_be_written_and_a_folder_that_is_gone_are_told(run, tmp_path):
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            said = run("--help", capture_output=False, stdout=full, stderr=subprocess.PIPE)
        assert (said.returncode, said.stderr) == (74, "scaffale: the system refused: No space left on device\n")
    gone = tmp_path / "gone"
    gone.mkdir()
    said = run("status", cwd=gone, preexec_fn=lambda: os.rmdir(gone))
    assert said.returncode == 74
    assert said.stderr == "scaffale: the system refused: No such file or directory\n"


def test_standard_streams_may_be_closed(environment, tmp_path):
    shell = f"'{sys.executable}' -m scaffale.server.cli status"
    for closing in (">&-", "2>&-", "<&-"):
        ran = subprocess.run(["sh", "-c", f"{shell} {closing}"], capture_output=True, env=environment, cwd=tmp_path, check=False)
        assert ran.returncode == 0, (closing, ran.stderr)
        assert b"Traceback" not in ran.stderr


# --- what it imports ---------------------------------------------------------------------------------------------------------

HEAVY = {"mcp", "mcp_types", "pydantic", "rich", "anyio", "asyncio", "dataclasses", "inspect", "pathlib", "logging", "subprocess"}


@pytest.mark.parametrize(
    "words",
    [
        ("search", "harbour"),
        ("search", "harbour", "--json"),
        ("read", "1"),
        ("read", "ENTRY"),
        ("add", "another fact", "--topic", "t", "--scope", "s"),
        ("status",),
        ("shelf", "list"),
        ("memory", "scopes"),
        ("maintain",),
        ("scan", "NOTES"),
        ("--help",),
        ("xyzzy",),
    ],
    ids=" ".join,
)
def test_a_command_in_a_pipe_imports_nothing_for_agents_or_for_eyes(run, environment, tmp_path, words):
    notes = write_notes(tmp_path / "notes", 2)
    assert run("scan", notes).returncode == 0
    entry = run("add", "a fact", "--topic", "t", "--scope", "s").stdout.split()[0]
    words = [{"ENTRY": entry, "NOTES": str(notes)}.get(word, word) for word in words]
    program = (
        "import sys; from scaffale.server.cli import main; main(sys.argv[1:]);"
        " print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, env=environment, cwd=tmp_path, check=True
    )
    imported = set(ran.stderr.splitlines()[-1].split())
    allowed = {"pathlib"} if words[0] == "scan" else set()  # of `pathspec`, which reads .gitignore files
    assert imported & HEAVY <= allowed
    assert "scaffale" in imported


def test_importing_the_package_imports_next_to_nothing(environment):
    program = "import sys; before = set(sys.modules); import scaffale; print(*sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert ran.stdout.split() == ["__future__", "scaffale"]


# --- work that goes on ------------------------------------------------------------------------------------------------------


def test_a_watcher_finds_what_changes_and_ends_when_interrupted(run, environment, tmp_path):
    notes = write_notes(tmp_path / "notes", 2)
    run("scan", notes)
    watcher = subprocess.Popen(
        [*PROGRAM, "watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    )
    try:
        assert "watching" in watcher.stderr.readline()
        (notes / "new.md").write_text("# New\n\nlighthouse\n", encoding="utf-8")
        assert " 1 new " in watcher.stdout.readline()
        assert "New" in run("search", "lighthouse").stdout
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(30) == 0
    finally:
        watcher.kill()
        watcher.communicate()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="children are read from /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM], ids=["kill", "interrupt", "terminate"])
def test_workers_of_a_correlation_end_with_it(run, environment, tmp_path, end):
    run("scan", write_notes(tmp_path / "notes", 2_000, lines=40))
    process = subprocess.Popen(
        [*PROGRAM, "correlate", "notes", "--apply", "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment, cwd=tmp_path,
    )  # fmt: skip
    children = []
    until = time.monotonic() + 60
    while len(children) < 2 and process.poll() is None and time.monotonic() < until:
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            children = [int(each) for each in file.read().split()]
        time.sleep(0.05)
    assert len(children) >= 2
    process.send_signal(end)
    process.communicate(timeout=30)
    while any(os.path.exists(f"/proc/{child}") for child in children) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [child for child in children if os.path.exists(f"/proc/{child}")]
    again = run("correlate", "notes", "--apply", "--jobs", "2", "--json")
    assert again.returncode == 0, again.stderr
