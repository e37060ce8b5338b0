"""The command line in this process: every command, in a pipe and as JSON, its refusals and its exit codes."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import sys

import pytest
from damage import replace

from scaffale.docs import Docs
from scaffale.errors import ScaffaleError, StoreUnreadable
from scaffale.memory import Memory
from scaffale.server.cli import EXIT_CODES, commands, main

GUIDE = "# Guide\n\nIntro.\n\n## Linux\n\nRun the frobnicator.\n\n## Mac\n\nDrag it.\n"


class Said:
    """What a command printed, and its exit code."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def data(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user with an empty home who stands in the folder of a project."""
    for name in list(os.environ):
        if name.startswith(("MEMORY_", "DOCS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path


@pytest.fixture
def run(capsys):
    def run(*words):
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        assert "\x1b" not in captured.out, "no colours in a pipe"
        return Said(code, captured.out, captured.err)

    return run


@pytest.fixture
def notes(home):
    folder = home / "notes"
    folder.mkdir()
    (folder / "guide.md").write_text(GUIDE, encoding="utf-8")
    (folder / "other.md").write_text("---\ntags: [howto]\n---\n# Other\n\nThe frobnicator again.\n", encoding="utf-8")
    for path in folder.iterdir():
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return folder


@pytest.fixture
def shelf(run, notes):
    assert run("scan", notes).code == 0
    return notes


@pytest.fixture
def entry(run):
    """The id of a kept entry."""
    said = run("add", "The frobnicator needs care.", "--topic", "care", "--scope", "tools", "--tag", "x", "--json")
    assert said.code == 0
    return said.data["entry_id"]


def type_in(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def store(home, name):
    return home / ".mcp-servers" / name / f"{name}.sqlite"


# --- what every command has --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_help_says_what_it_does_with_an_example(run, name):
    said = run(*name.split(), "--help")
    command = commands.COMMANDS[name]
    assert (said.code, said.err) == (0, "")
    assert command.help in said.out
    assert f"example: {command.example}" in said.out
    assert "--json" in said.out
    assert run("help", *name.split()).out == said.out


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_examples_are_of_their_command(name):
    assert commands.COMMANDS[name].example.startswith(f"scaffale {name}")


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",), ("--json",)])
def test_without_a_command_all_are_shown(run, words):
    said = run(*words)
    assert said.code == 0
    assert all(name in said.out for name in commands.COMMANDS)


@pytest.mark.parametrize("group", sorted(commands.GROUPS))
def test_a_group_shows_its_commands(run, group):
    said = run(group)
    assert said.code == 0
    shown = [name for name in commands.COMMANDS if re.search(rf"^  {name} ", said.out, re.MULTILINE)]
    assert shown == [name for name in commands.COMMANDS if name.startswith(f"{group} ")]
    assert run(group, "--help").out == said.out


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version_is_told(run, word):
    import scaffale

    assert run(word).out == f"scaffale {scaffale.__version__}\n"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("serch", "x"), "did you mean search?"),
        (("shelf", "lst"), "did you mean shelf list?"),
        (("list",), "did you mean token list or shelf list or tag list or link list?"),
        (("invalidate", "x"), "did you mean memory invalidate?"),
        (("xyzzy",), "`scaffale --help` lists them"),
        (("search", "--limt", "3", "x"), "did you mean --limit?"),
        (("search", "--dry-run"), "write `scaffale search -- --dry-run`"),
        (("search", "x", "--zzz"), "write `scaffale search -- --zzz`"),
        (("search",), "`scaffale search --help` shows how"),
        (("search", "x", "--limit", "many"), "argument --limit: must be a whole number, 1 or more; `scaffale search --help`"),
        (("search", "x", "--limit", "0"), "argument --limit: must be a whole number, 1 or more"),
        (("search", "x", "--limit", "-1"), "argument --limit: must be a whole number, 1 or more; `scaffale search --help`"),
        (("search", "x", "--offset", "-1"), "argument --offset: must be a whole number, 0 or more"),
        (("shelf", "show", "x", "--limit", "0"), "argument --limit: must be a whole number, 1 or more"),
        (("link", "list", "1", "--limit", "0"), "argument --limit: must be a whole number, 1 or more"),
        (("memory", "similar", "x", "--limit", "0"), "argument --limit: must be a whole number, 1 or more"),
        (("read", "1", "--find", "x", "--context", "-1"), "argument --context: must be a whole number, 0 or more"),
        (("search", "x", "--status", "dead"), "invalid choice: 'dead'"),
        (("search", "x", "--docs", "--memory"), "not allowed with"),
        (("search", "x", "--shelf", "a", "--scope", "b"), "choose one"),
        (("add", "x", "--topic", "t", "--type", "rumour"), "invalid choice"),
        (("add", "x"), "--topic"),
        (("read", "1", "--lines", "a:b"), "is not FROM:TO"),
        (("read", "docs://shelf/1"), "is no document"),
        (("read", "memory://project/x"), "is no entry"),
        (("read", "an-entry", "--lines", "1:2"), "--lines belongs to documents"),
        (("shelf", "forget", "many"), "is no document"),
        (("shelf", "update", "x"), "give new_name or new_description"),
    ],
)
def test_what_is_not_understood_is_refused_with_what_was_meant(run, words, meant):
    said = run(*words)
    assert (said.code, said.out) == (2, "")
    assert meant in said.err
    assert said.err.startswith("scaffale: ")
    assert said.err.count("\n") == 1
    as_data = run(words[0], "--json", *words[1:])
    assert as_data.code == 2
    assert (as_data.data["ok"], as_data.data["error_code"]) == (False, "INVALID_PARAM")
    assert meant in as_data.data["detail"]


def test_every_error_code_has_an_exit_code():
    codes = {each.code for each in ScaffaleError.__subclasses__()} - {"INTERNAL"}
    assert codes <= EXIT_CODES.keys()
    assert 0 not in EXIT_CODES.values()
    assert 1 not in EXIT_CODES.values()


def test_json_may_stand_before_the_command_and_is_a_word_behind_two_dashes(run, shelf):
    assert run("--json", "shelf", "list").data["shelves"][0]["name"] == "notes"
    said = run("search", "--", "--json")
    assert said.code == 0
    assert "nothing found" in said.err


def test_a_defect_is_one_line_and_its_trace_is_for_who_asks(run, monkeypatch):
    def fail(*args, **more):
        raise RuntimeError("never shown")

    monkeypatch.setattr(Docs, "list_shelves", fail)
    said = run("shelf", "list")
    assert (said.code, said.out) == (70, "")
    assert "[INTERNAL]" in said.err
    assert "never shown" not in said.err
    assert run("shelf", "list", "--json").data["error_code"] == "INTERNAL"
    monkeypatch.setenv("MEMORY_DEBUG", "1")
    assert "RuntimeError: never shown" in run("shelf", "list").err


def test_settings_that_do_not_parse_are_named(run, monkeypatch):
    monkeypatch.setenv("MEMORY_MAX_TAGS", "many")
    said = run("status")
    assert said.code == 2
    assert "MEMORY_MAX_TAGS" in said.err


# --- documents ---------------------------------------------------------------------------------------------------------


def test_a_scan_counts_and_a_second_one_finds_nothing_new(run, notes):
    said = run("scan", notes)
    assert said.code == 0
    assert said.out.startswith("notes: 2 files seen = 2 new + 0 changed + 0 same + 0 skipped + 0 failed; ")
    assert said.err == ""
    again = run("scan", notes, "--json").data
    assert (again["shelf"], again["seen"], again["same"]) == ("notes", 2, 2)


def test_a_scan_of_this_folder_is_named_after_it(run, home):
    (home / "project" / "a.md").write_text("# A\n", encoding="utf-8")
    assert run("scan", ".").out.startswith("project: 1 files seen")


def test_a_scan_of_one_file_takes_the_name_of_its_folder_or_of_a_shelf(run, notes):
    assert run("scan", notes / "guide.md").out.startswith("notes: 1 files seen")
    assert run("scan", notes / "guide.md", "--shelf", "Guides").out.startswith("Guides: 1 files seen")


def test_a_scan_leaves_out_what_it_is_told_to(run, notes):
    (notes / "deep").mkdir()
    (notes / "deep" / "a.md").write_text("# A\n", encoding="utf-8")
    assert run("scan", notes, "--no-recursive", "--ignore", "oth*", "--json").data["new"] == 1
    (notes / ".gitignore").write_text("other.md\n", encoding="utf-8")
    assert run("scan", notes, "--shelf", "b", "--json").data["new"] == 2
    assert run("scan", notes, "--shelf", "c", "--no-gitignore", "--json").data["new"] == 3


def test_files_that_are_not_taken_are_named_up_to_a_number(run, notes, monkeypatch):
    for n in range(4):
        (notes / f"large{n}.md").write_bytes(b"word " * 500)
    monkeypatch.setenv("DOCS_MAX_FILE_BYTES", "1000")
    said = run("scan", notes)
    assert said.code == 0
    assert f"  {notes}/large0.md: " in said.err
    assert said.err.count("large") == 4
    monkeypatch.setattr("scaffale.server.cli.commands.docs.MOST_NAMED", 1)
    said = run("scan", notes)
    assert said.err.count("large") == 1
    assert "and 3 more; --json names them all" in said.err
    assert len(run("scan", notes, "--json").data["skips"]) == 4


def test_a_file_that_fails_is_a_partial_success(run, notes, monkeypatch):
    from scaffale.indexer import markdown

    def panic(text, **more):
        raise SystemError("a parser gave up")

    monkeypatch.setattr(markdown, "parse", panic)
    said = run("scan", notes)
    assert said.code == 1
    assert "2 failed" in said.out
    assert "it could not be taken in" in said.err


@pytest.mark.parametrize("name", ["absent", "picture.png"])
def test_what_cannot_be_scanned_is_refused(run, home, name):
    (home / "picture.png").write_bytes(b"\x89PNG")
    said = run("scan", home / name)
    assert said.code in (2, 3)
    assert str(home / name) in said.err


def test_resync_reports_each_shelf_and_what_is_missing(run, shelf):
    os.remove(shelf / "other.md")
    (shelf / "new.md").write_text("# New\n", encoding="utf-8")
    said = run("resync")
    assert said.code == 0
    assert "1 new" in said.out
    assert "1 missing" in said.out
    assert f"  {shelf}/other.md: missing" in said.err
    assert run("resync", "--remove-missing", "--json").data["reports"][0]["removed"] == 1
    assert run("resync", "--shelf", "nowhere").code == 3


def test_resync_of_nothing_says_so(run):
    said = run("resync")
    assert (said.code, said.out) == (0, "")
    assert "nothing was scanned yet" in said.err
    assert run("resync", "--json").data["reports"] == []


def test_the_life_of_a_shelf(run, home):
    assert run("shelf", "list").err == "there is none\n"
    assert run("shelf", "create", "Guides", "--description", "For people").out == "1\tGuides\n"
    assert run("shelf", "create", "guides").code == 4
    assert run("shelf", "list").out == "1\tGuides\t0\tFor people\n"
    assert run("shelf", "update", "guides", "--name", "Manuals").out == "1\tManuals\n"
    assert run("shelf", "update", "1", "--description", "").code == 0
    assert run("shelf", "list", "--json").data["shelves"][0]["name"] == "Manuals"
    assert run("shelf", "remove", "Manuals").out == "0 documents forgotten; the files are untouched\n"
    assert run("shelf", "remove", "Manuals").code == 3


def test_documents_of_a_shelf_are_shown_and_forgotten(run, shelf):
    shown = run("shelf", "show", "notes").out.splitlines()
    assert [line.split("\t")[1:4] for line in shown] == [["Guide", "11", "same"], ["Other", "6", "same"]]
    assert run("shelf", "show", "notes", "--tag", "howto", "--json").data["total"] == 1
    assert run("shelf", "forget", "docs://document/1").out == "1 document forgotten; the files are untouched\n"
    assert run("shelf", "forget", "1").code == 3
    assert (shelf / "guide.md").exists()
    missing = run("shelf", "show", "notse")
    assert missing.code == 3
    assert "there are: notes" in missing.err


def test_a_document_is_read_whole_by_lines_by_section_and_around_a_text(run, shelf):
    assert run("read", 1).out == GUIDE
    assert run("read", "docs://document/1").out == GUIDE
    part = "## Linux\n\nRun the frobnicator.\n"
    for words in (("--lines", "5:7"), ("--lines", "5-7"), ("--section", "Linux"), ("--section", "Guide › Linux")):
        assert run("read", 1, *words).out.strip() == part.strip(), words
    assert run("read", 1, "--lines", "9:").out == "## Mac\n\nDrag it.\n"
    assert run("read", 1, "--lines", "3").out == "Intro.\n"
    assert run("read", 1, "--find", "frobnicator", "--context", "0").out == "Run the frobnicator.\n"
    assert run("read", 1, "--json").data["content"] == GUIDE
    assert run("read", 1, "--section", "Windows").code == 3
    assert run("read", 1, "--lines", "99:").code == 2


def test_a_changed_file_is_told(run, shelf):
    (shelf / "guide.md").write_text("# Guide\n\nAll new.\n", encoding="utf-8")
    said = run("read", 1)
    assert said.out == GUIDE
    assert "has changed since it was indexed" in said.err
    assert "file changed" in run("search", "Linux").out


@pytest.mark.parametrize("number", ["7", "0", "9" * 30, "²"])
def test_a_document_that_is_not_there(run, shelf, number):
    said = run("read", number)
    assert said.code == 3
    assert "[NOT_FOUND]" in said.err


# --- both domains --------------------------------------------------------------------------------------------------------


def test_a_search_asks_both_domains_and_labels_what_it_finds(run, shelf, entry):
    said = run("search", "frobnicator", "care")
    assert said.code == 0
    labels = [line.split()[:2] for line in said.out.splitlines() if line.startswith(("docs ", "memory "))]
    assert sorted(labels) == [["docs", "1"], ["docs", "2"], ["memory", entry]]
    assert f"{shelf}/guide.md:5-8" in said.out
    assert ">>>frobnicator<<<" in said.out
    assert "Guide › Linux" in said.out
    assert "tools/care  agent_note, active" in said.out
    data = run("search", "frobnicator", "--json").data
    assert [hit["id"] for hit in data["memory"]["results"]] == [entry]
    assert len(data["docs"]["results"]) == 2
    assert data["docs"]["ok"] is data["memory"]["ok"] is data["ok"] is True


def test_a_search_is_narrowed(run, shelf, entry):
    assert [hit["id"] for hit in run("search", "frobnicator", "--docs", "--json").data["results"]] == [1, 2]
    assert [hit["id"] for hit in run("search", "frobnicator", "--memory", "--json").data["results"]] == [entry]
    assert "memory " not in run("search", "frobnicator", "--shelf", "notes").out
    assert "docs " not in run("search", "frobnicator", "--scope", "tools").out
    assert run("search", "frobnicator", "--topic", "care", "--tag", "x", "--json").data["total"] == 1
    assert run("search", "frobnicator", "--docs", "--tag", "howto", "--json").data["results"][0]["id"] == 2
    assert run("search", "frobnicator", "--shelf", "nowhere").code == 3


def test_pages_are_told_how_to_go_on(run, shelf, entry):
    said = run("search", "frobnicator", "--limit", 1)
    assert "more of docs: --docs --offset 1" in said.err
    assert "more of memory" not in said.err
    rest = run("search", "frobnicator", "--docs", "--limit", 1, "--offset", 1)
    assert rest.out.count("docs ") == 1
    assert rest.err == ""


def test_scores_are_explained_when_asked(run, shelf, entry):
    assert "    words=" in run("search", "frobnicator", "--explain").out
    assert run("search", "frobnicator", "--docs", "--explain", "--json").data["results"][0]["explain"]["words"] > 0


def test_nothing_found_and_nothing_kept_are_told_apart(run, notes):
    said = run("search", "frobnicator")
    assert (said.code, said.out) == (0, "")
    assert "nothing is kept yet" in said.err
    run("scan", notes)
    said = run("search", "unheardof")
    assert (said.code, said.out, said.err) == (0, "", "nothing found\n")
    assert run("search", "unheardof", "--json").data["docs"]["results"] == []


@pytest.mark.parametrize("query", ['"', "a AND (", "*", "(" * 2_000, "🙂", "\udce8", "x\ny"])
def test_any_text_is_a_query(run, shelf, entry, query):
    assert run("search", "--", query).code == 0
    assert run("search", "--json", "--", query).data["ok"] is True


def test_memory_is_of_the_project_one_stands_in(run, entry, home, monkeypatch):
    assert entry in run("search", "frobnicator").out
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")
    assert entry not in run("search", "frobnicator").out
    assert entry in run("search", "frobnicator", "--all-projects").out
    assert entry in run("search", "frobnicator", "--project", home / "project").out
    assert run("search", "frobnicator", "--project-id", "another").out == ""


def test_one_store_that_cannot_be_read_does_not_silence_the_other(run, shelf, entry, home):
    store(home, "memory").write_bytes(b"noise " * 2_000)
    for words in (("search", "frobnicator"), ("status",), ("maintain",)):
        said = run(*words)
        assert said.code == 1, words
        assert said.out, words
        assert "damaged" in said.out + said.err, words
        data = run(*words, "--json").data
        assert data["ok"] is True, words
        assert "damaged" in json.dumps(data), words
    data = run("search", "frobnicator", "--json").data
    assert len(data["docs"]["results"]) == 2
    assert data["memory"]["error_code"] == "STORE_UNREADABLE"
    assert run("search", "frobnicator", "--memory").code == 5
    store(home, "docs").write_bytes(b"noise " * 2_000)
    assert run("search", "frobnicator").code == 5
    assert run("search", "frobnicator", "--json").data["error_code"] == "STORE_UNREADABLE"


def test_an_entry_is_read_by_id_and_by_uri(run, entry):
    said = run("read", entry)
    assert said.code == 0
    assert said.out.endswith("\n\nThe frobnicator needs care.\n")
    assert entry in said.out
    assert "tools/care  x" in said.out
    assert run("read", f"memory://entry/{entry}").out == said.out
    assert run("read", entry, "--json").data["entry"]["content"] == "The frobnicator needs care."


def test_a_folder_is_bound_to_the_project_that_it_claims(run, home, monkeypatch):
    monkeypatch.setenv("MEMORY_PROJECT_BINDING", "strict")
    assert run("add", "The frobnicator.", "--topic", "t", "--scope", "s", "--project-id", "shared").code == 0
    (home / "project" / ".env").write_text("MEMORY_PROJECT_ID=shared\n", encoding="utf-8")
    refused = run("search", "frobnicator", "--memory")
    assert refused.code == 4
    assert f"scaffale project bind --project {home / 'project'}" in refused.err
    assert run("project", "bind").out == f"{home / 'project'} now belongs to shared\n"
    assert run("project", "bind", "--json").data["changed"] is False
    assert "frobnicator" in run("search", "frobnicator", "--memory").out


def test_an_entry_of_another_project_is_not_found_but_the_way_to_it_is_told(run, entry, home, monkeypatch):
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")
    said = run("read", entry)
    assert said.code == 3
    assert "--all-projects looks in every project" in said.err
    assert run("read", entry, "--all-projects").code == 0
    assert run("read", "nobody", "--all-projects").code == 3


def test_stored_control_characters_are_shown_never_obeyed(run, home):
    run("add", "red \x1b[31mtext\x07 and \u202eright to left", "--topic", "t", "--scope", "s")
    said = run("search", "red")
    assert r"\u001b[31mtext\u0007" in said.out
    assert r"\u202e" in said.out


# --- memory --------------------------------------------------------------------------------------------------------------


def test_an_entry_is_added_with_all_that_can_be_said(run, home):
    (home / "project" / "a.py").write_text("x = 1\n", encoding="utf-8")
    said = run(
        "add", "Use < for expiry.", "--topic", "Auth", "--scope", "Back End", "--type", "decision", "--title", "Expiry",
        "--summary", "short", "--source-ref", "#12", "--source-path", "a.py", "--source-uri", "https://x.example/1",
        "--tag", "one", "--tag", "two", "--importance", 5, "--confidence", 0.9, "--json",
    )  # fmt: skip
    assert said.code == 0, said.err
    entry = run("read", said.data["entry_id"], "--json").data["entry"]
    assert (entry["scope"], entry["topic"], entry["tags"]) == ("back-end", "auth", ["one", "two"])
    assert (entry["importance"], entry["confidence"], entry["title"]) == (5, 0.9, "Expiry")
    assert entry["source_path"] == str(home / "project" / "a.py")


def test_an_entry_comes_from_standard_input_as_it_is(run, monkeypatch):
    content = "line one\r\nline two\r\n\r\n  indented è\n"
    type_in(monkeypatch, content.encode())
    said = run("add", "-", "--topic", "t", "--scope", "s", "--json")
    assert run("read", said.data["entry_id"], "--json").data["entry"]["content"] == content


def test_input_that_is_no_text_is_refused(run, monkeypatch, home):
    type_in(monkeypatch, b"caff\xe8")
    said = run("add", "-", "--topic", "t", "--scope", "s")
    assert (said.code, said.out) == (2, "")
    assert "not valid Unicode" in said.err
    assert run("add", "caff\udce8", "--topic", "t", "--scope", "s").code == 2
    assert run("search", "caff", "--memory", "--json").data["total"] == 0


def test_the_same_again_is_not_kept_twice(run, entry):
    words = ("add", "The frobnicator needs care.", "--topic", "care", "--scope", "tools")
    assert run(*words).out.startswith(f"{entry}  already kept in ")
    assert "  kept in " in run(*words, "--no-dedupe").out


def test_similar_entries_are_named(run, entry):
    said = run("add", "The frobnicator needs much care.", "--topic", "care", "--scope", "tools")
    assert said.code == 0
    assert f"): {entry}  tools/care" in said.err


def test_a_secret_is_refused_and_can_be_masked(run):
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5"
    words = ("add", f"the token is {token}", "--topic", "t", "--scope", "s")
    said = run(*words)
    assert said.code == 2
    assert "[SECRET_DETECTED]" in said.err
    assert token not in said.err
    kept = run(*words, "--redact-secrets", "--json").data["entry_id"]
    assert token not in run("read", kept).out


def test_an_entry_needs_a_scope(run, home):
    said = run("add", "x", "--topic", "t")
    assert said.code == 2
    assert "scope" in said.err
    (home / "project" / ".env").write_text("MEMORY_SCOPE_DEFAULT=main\n", encoding="utf-8")
    assert run("add", "x", "--topic", "t", "--json").data["scope"] == "main"


def test_an_entry_is_invalidated_once(run, entry):
    assert run("memory", "invalidate", entry, "--reason", "fixed").out == f"{entry}  active → invalidated\n"
    assert run("memory", "invalidate", f"memory://entry/{entry}", "--json").data["changed"] is False
    assert run("search", "frobnicator", "--memory", "--json").data["total"] == 0
    assert run("search", "frobnicator", "--memory", "--status", "any", "--json").data["total"] == 1
    said = run("read", entry)
    assert "do not rely on it" in said.err
    assert run("memory", "invalidate", "nobody").code == 3


def test_names_in_use_are_listed(run, entry):
    assert run("memory", "scopes").out == "tools\t1\n"
    assert run("memory", "topics", "--scope", "tools").out == "care\t1\n"
    assert run("memory", "tags", "--json").data["items"] == [{"name": "x", "count": 1}]
    said = run("memory", "topics", "--scope", "absent")
    assert (said.out, said.err) == ("", "there is none\n")


def test_the_login_is_the_actor(run, entry, monkeypatch):
    import getpass

    monkeypatch.setattr(getpass, "getuser", lambda: "someone")
    said = run("add", "by whom", "--topic", "t", "--scope", "s", "--json")
    assert run("read", said.data["entry_id"], "--json").data["entry"]["created_by"] == "someone"
    monkeypatch.setattr(getpass, "getuser", _raise(KeyError("no such user")))
    assert run("add", "by nobody", "--topic", "t", "--scope", "s").code == 0


def _raise(error):
    def fail(*args, **more):
        raise error

    return fail


# --- the house -----------------------------------------------------------------------------------------------------------


def test_status_creates_nothing_and_tells_what_there_is(run, home, notes):
    said = run("status")
    assert said.code == 0
    assert "0 entries" in said.out
    assert not (home / ".mcp-servers").exists()
    run("scan", notes)
    data = run("status", "--json").data
    assert data["docs"]["counts"]["documents"] == 2
    assert data["memory"]["exists"] is False
    assert "project pathhash:" in run("status").out
    assert "project pathhash:" not in run("status", "--all-projects").out


def test_maintain_and_rebuild(run, shelf, entry):
    assert "memory: tantivy index brought level" in run("maintain").out
    assert "docs: tantivy index built anew" in run("maintain", "--rebuild").out
    assert any("write-ahead log" in line for line in run("maintain", "--json").data["done"])


def test_doctor_is_content_with_a_new_and_with_a_used_house(run, home, notes):
    assert run("doctor").code == 0
    assert not (home / ".mcp-servers").exists()
    run("scan", notes)
    run("add", "x", "--topic", "t", "--scope", "s")
    said = run("doctor")
    assert said.code == 0, said.out
    assert "2 documents" in said.out
    data = run("doctor", "--json").data
    assert data["healthy"] is True
    assert {check["state"] for check in data["checks"]} == {"ok"}


def test_doctor_finds_that_no_store_could_be_made(run, home, monkeypatch):
    (home / ".mcp-servers").write_text("a file where the folder would be")
    said = run("doctor")
    assert said.code == 1
    for name in ("memory", "docs"):
        assert f"none can be made at {store(home, name)} (default): {home / '.mcp-servers'} is no folder" in said.out
    (home / ".mcp-servers").unlink()
    (home / ".mcp-servers").symlink_to(home / "nowhere")
    assert "is no folder" in run("doctor").out
    (home / ".mcp-servers").unlink()
    monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) != str(home))
    said = run("doctor")
    assert said.code == 1
    assert f"{home} cannot be written\tchmod u+wx {home}" in said.out


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_doctor_finds_a_store_that_others_may_read(run, entry, home):
    path = store(home, "memory")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    said = run("doctor")
    assert said.code == 1
    assert f"others may read {path} (mode 644)\tchmod 600 {path}" in said.out
    path.chmod(0o600)
    path.parent.chmod(0o755)
    data = run("doctor", "--json").data
    assert data["healthy"] is True
    assert [check["advice"] for check in data["checks"] if check["state"] == "warning"] == [f"chmod 700 {path.parent}"]


def test_doctor_finds_a_damaged_store(run, shelf, entry, home):
    path = store(home, "docs")
    whole = path.read_bytes()
    for damage in (b"noise " * 5_000, whole[: len(whole) // 2]):
        path.write_bytes(damage)
        said = run("doctor")
        assert said.code == 1
        assert "damaged" in said.out
        assert "restore a backup" in said.out
        assert run("doctor", "--json").data["healthy"] is False


def test_doctor_finds_damage_that_no_verb_would_meet(run, home):
    from scaffale.indexer import entries
    from scaffale.indexer.database import Database

    for n in range(30):
        run("add", f"entry {n} " + "words " * 200, "--topic", "t", "--scope", "s")
    database = Database(str(store(home, "memory")), entries.SCHEMA)
    page = database.connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memory_entries_place'").get
    database.close()
    with open(store(home, "memory"), "r+b") as file:
        file.seek((page - 1) * 4096 + 8)
        file.write(b"\xff" * 600)
    said = run("doctor")
    assert said.code == 1
    assert "is damaged" in said.out


def test_doctor_finds_a_damaged_index_and_maintenance_mends_it(run, shelf, home):
    assert run("maintain").code == 0
    (file,) = (home / ".mcp-servers" / "docs").rglob("*.term")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    replace(file, data)
    said = run("doctor")
    assert said.code == 1
    assert f"{file.name} is not as it was written\tscaffale maintain builds it anew" in said.out
    assert "was damaged" in run("maintain").out
    assert run("doctor").code == 0
    assert len(run("search", "frobnicator", "--docs", "--json").data["results"]) == 2


def test_doctor_finds_two_stores_in_one_place(run, home, monkeypatch):
    monkeypatch.setenv("MEMORY_DB_PATH", str(home / "one.sqlite"))
    monkeypatch.setenv("DOCS_DB_PATH", str(home / "one.sqlite"))
    said = run("doctor")
    assert said.code == 2
    assert str(home / "one.sqlite") in said.err


def test_a_store_of_tomorrow_is_refused(run, entry, home):
    from scaffale.indexer import entries
    from scaffale.indexer.database import Database

    database = Database(str(store(home, "memory")), entries.SCHEMA)
    with database.write() as connection:
        connection.execute("INSERT INTO schema_migrations VALUES (99, 'x', 'x')")
    database.close()
    said = run("add", "x", "--topic", "t", "--scope", "s")
    assert (said.code, said.out) == (5, "")
    assert "schema version 99" in said.err
    assert "schema version 99" in run("doctor").out


def test_a_busy_store_is_worth_another_try(run, monkeypatch):
    from scaffale.errors import StoreBusy

    monkeypatch.setattr(Memory, "add_entry", _raise(StoreBusy("it was busy", project_id="p")))
    said = run("add", "x", "--topic", "t", "--scope", "s", "--json")
    assert (said.code, said.data["error_code"], said.data["project_id"]) == (5, "STORE_BUSY", "p")


def test_an_interrupt_is_told_and_what_was_read_is_kept(run, notes, monkeypatch):
    monkeypatch.setattr(Docs, "scan_folder", _raise(KeyboardInterrupt()))
    said = run("scan", notes)
    assert (said.code, said.out) == (130, "")
    assert said.err == "what was read so far is kept; the same scan goes on from there\ninterrupted\n"


def test_a_read_only_refusal_is_plain(run, monkeypatch):
    monkeypatch.setattr(Docs, "create_shelf", _raise(StoreUnreadable("it is read-only here")))
    assert run("shelf", "create", "x").err == "scaffale: it is read-only here [STORE_UNREADABLE]\n"


# --- on a terminal -------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_a_person_gets_tables_and_colours(run, shelf, entry, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["search", "frobnicator"]) == 0
    assert "\x1b[1;33mfrobnicator\x1b[0m" in screen.getvalue()
    assert ">>>" not in screen.getvalue()
    screen.truncate(0)
    assert main(["shelf", "list"]) == 0
    assert "documents" in screen.getvalue()
    screen.truncate(0)
    assert main(["search", "frobnicator", "--json"]) == 0
    assert "\x1b" not in screen.getvalue()


def test_long_work_shows_a_bar(run, notes, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert main(["scan", str(notes)]) == 0
    assert "2/2" in screen.getvalue()


def test_an_encoding_that_cannot_show_all_shows_what_it_can(run, home, monkeypatch):
    run("add", "perché 検索 🙂", "--topic", "t", "--scope", "s")
    for words in (["search", "perché"], ["search", "perché", "--json"]):
        narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", narrow)
            assert main(words) == 0
        narrow.flush()
        assert "perch" in narrow.buffer.getvalue().decode("ascii")


def test_a_check_says_whether_links_are_level_with_the_texts(run, shelf):
    name = run("shelf", "list", "--json").data["shelves"][0]["name"]
    assert run("correlate", name, "--check").code == 1
    run("correlate", name, "--apply")
    said = run("correlate", name, "--check", "--json")
    assert (said.code, said.data["apply"], said.data["scanned_documents"]) == (0, False, 0)


def test_a_correlation_is_written_as_a_page(run, shelf, tmp_path):
    name = run("shelf", "list", "--json").data["shelves"][0]["name"]
    said = run("correlate", name, "--min-confidence", "0", "--html", tmp_path / "links.html")
    assert said.code == 0, said.err
    page = (tmp_path / "links.html").read_text()
    assert page.count("<tr><td") == run("correlate", name, "--min-confidence", "0", "--json").data["would_apply"]
    assert "default-src 'none'" in page


def test_a_shelf_is_written_to_a_file_and_read_from_it(run, shelf, tmp_path, monkeypatch):
    name = run("shelf", "list", "--json").data["shelves"][0]["name"]
    monkeypatch.chdir(tmp_path)
    left = run("shelf", "export", name, "shelf.json")
    assert left.code == 0, left.err
    assert str(tmp_path / "shelf.json") in left.out
    assert run("shelf", "export", name, "shelf.json").code == 4
    assert run("shelf", "export", name, "shelf.json", "--overwrite").code == 0
    assert run("shelf", "import", "shelf.json").code == 4
    made = run("shelf", "import", "shelf.json", "--shelf", "copy", "--correlate", "--json").data
    assert made["seen"] == made["new"] > 0
    assert made["correlation"]["scanned_documents"] == made["new"]
    again = run("shelf", "import", "shelf.json", "--on-conflict", "replace")
    assert f"{made['new']} same" in again.out
    assert "before that the shelf was exported to" in again.err


def test_correlating_says_what_it_would_do_and_does_it_when_asked(run, shelf):
    name = run("shelf", "list", "--json").data["shelves"][0]["name"]
    said = run("correlate", name, "--min-confidence", "0", "--json")
    assert said.code == 0, said.err
    shown = said.data
    assert (shown["apply"], shown["applied_links"]) == (False, 0), shown
    done = run("correlate", name, "--apply", "--min-confidence", "0", "--json").data
    assert done["applied_links"] == shown["would_apply"] > 0
    again = run("correlate", name, "--apply", "--min-confidence", "0")
    assert again.code == 0
    assert f"0 documents, {shown['scanned_documents']} unchanged" in again.out
