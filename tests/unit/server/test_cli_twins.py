"""Every tool has its twin on the command line, and the twins of memory do what the tools do."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import NamedTuple

import pytest

from scaffale.server.cli import commands, main
from scaffale.server.mcp.tools import TOOLS

TWINS = {
    "memory_status": "status",
    "memory_search": "search",
    "memory_read_entry": "read",
    "memory_add_entry": "add",
    "memory_update_entry": "memory update",
    "memory_invalidate_entry": "memory invalidate",
    "memory_delete_entry": "memory delete",
    "memory_list_scopes": "memory scopes",
    "memory_list_topics": "memory topics",
    "memory_list_tags": "memory tags",
    "memory_link_entries": "memory link",
    "memory_unlink_entries": "memory unlink",
    "memory_list_entry_links": "memory links",
    "memory_rebuild_index": "memory rebuild",
    "memory_find_similar": "memory similar",
    "memory_handoff_summary": "memory handoff",
    "memory_verify_entry": "memory verify",
    "memory_add_from_ticket": "memory ticket",
    "memory_add_from_git_context": "memory commit",
    "memory_add_from_docs_result": "memory document",
    "memory_mine_project_notes": "memory notes",
    "memory_export_project": "memory export",
    "memory_import_project": "memory import",
    "ledger_open_session": "ledger open",
    "ledger_record_decision": "ledger record",
    "ledger_session_summary": "ledger summary",
    "ledger_propose_promotion": "ledger candidates",
    "ledger_recall_concepts": "ledger recall",
}


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("MEMORY_DB_PATH", "DOCS_DB_PATH", "MEMORY_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)

    def run(*words):
        code = main(list(words))
        return Said(code, *capsys.readouterr())

    return run


def keep(run, text="The writer holds the lock.", *words):
    return run("add", text, "--topic", "locks", "--scope", "backend", "--json", *words).json["entry_id"]


def test_every_tool_of_memory_has_its_twin():
    assert {spec.name for spec in TOOLS if spec.domain != "docs"} == set(TWINS)
    assert not [twin for twin in TWINS.values() if twin not in commands.COMMANDS]
    assert len(set(TWINS.values())) == len(TWINS)


def test_an_entry_is_updated_archived_and_its_history_shown(run):
    entry = keep(run)
    said = run("memory", "update", entry, "--content", "Another text.", "--tag", "x", "--status", "archived")
    assert (said.code, "content, tags, status changed, revision 1, now archived" in said.out) == (0, True)
    assert "says that already" in run("memory", "update", f"memory://entry/{entry}", "--status", "archived").out
    history = run("memory", "history", entry)
    assert "content was: The writer holds the lock." in history.out
    assert [event["operation"] for event in run("memory", "history", entry, "--json").json["events"]] == ["created", "archived"]
    run("memory", "update", entry, "--no-tags", "--status", "active")
    assert run("read", entry, "--json").json["entry"]["tags"] == []
    seen = run("read", entry, "--json").json["entry"]["updated_at"]
    assert run("memory", "update", entry, "--title", "T", "--expect", "2020-01-01T00:00:00.000Z").code == 4
    assert run("memory", "update", entry, "--title", "T", "--expect", seen).code == 0


def test_deleting_wants_a_word_that_it_is_meant(run):
    entry = keep(run)
    assert run("memory", "delete", entry, "--yes").code == 4
    run("memory", "invalidate", entry)
    refused = run("memory", "delete", entry)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    done = run("memory", "delete", entry, "--yes")
    assert (done.code, done.out) == (0, f"{entry}  deleted\n")
    assert "maintain" in done.err
    assert run("memory", "delete", entry, "--yes").code == 3
    assert "gone from every file" in run("maintain").out


def test_entries_are_linked_and_unlinked(run, tmp_path):
    one, two = keep(run, "One."), keep(run, "Two.")
    said = run("memory", "link", one, two, "--relation", "supersedes")
    assert f"{two}  is superseded now" in said.out
    link = said.out.split()[0]
    assert run("memory", "link", one, "https://example.org/x", "--label", "see").code == 0
    (tmp_path / "guide.md").write_text("# Guide\n\n## Locks\n\nText.\n", encoding="utf-8")
    run("scan", str(tmp_path / "guide.md"), "--shelf", "s")
    assert run("memory", "link", one, "docs://document/1", "--section", "Locks").code == 0
    rows = [line.split("\t") for line in run("memory", "links", one).out.splitlines()]
    assert [(row[1], row[3]) for row in rows] == [("supersedes", "superseded"), ("related_to", ""), ("related_to", "same")]
    assert run("memory", "links", two, "--direction", "incoming", "--json").json["links"][0]["source_entry_id"] == one
    assert run("memory", "unlink", link).out == f"{link}  removed\n"
    assert run("memory", "unlink", link).code == 3


def test_what_is_alike_what_changed_and_the_index(run):
    one = keep(run, "Tokens expire after ten minutes.")
    two = keep(run, "Tokens expire after nine minutes.")
    assert run("memory", "similar", one).out.split("\t")[1] == two
    assert len(run("memory", "similar", "tokens expire", "--text").out.splitlines()) == 2
    handoff = run("memory", "handoff", "--since", "1d", "--scope", "backend")
    assert handoff.out.startswith("# Handoff: ")
    assert run("memory", "handoff", "--since", "soon").code == 2
    assert "built anew, 2 entries; before: 0 missing, 0 surplus, 0 damaged" in run("memory", "rebuild").out


def test_entries_are_built_from_what_is_there(run, tmp_path):
    ticket = run("memory", "ticket", "APP-1", "Title: It fails\nLabels: a, b", "--scope", "s")
    assert "tags from: Labels: a, b, line 2" in ticket.out
    assert "--apply writes" in ticket.err
    assert run("memory", "ticket", "APP-1", "Title: It fails", "--scope", "s", "--apply", "--json").json["written"] == 1
    (tmp_path / "project" / "notes.md").write_text("# Notes\n\nDecision: we keep it as it is.\n", encoding="utf-8")
    assert run("memory", "notes", "notes.md", "--scope", "s", "--apply", "--json").json["written"] == 1
    entry = run("memory", "notes", "notes.md", "--scope", "s", "--json").json["candidates"][0]["existing_entry_id"]
    assert run("memory", "verify", entry).code == 0
    (tmp_path / "project" / "notes.md").unlink()
    gone = run("memory", "verify", entry)
    assert (gone.code, "gone" in gone.out) == (1, True)
    (tmp_path / "guide.md").write_text("# Guide\n\n## Locks\n\nText.\n", encoding="utf-8")
    run("scan", str(tmp_path / "guide.md"), "--shelf", "s")
    done = run("memory", "document", "1", "Mind this.", "--section", "Locks", "--scope", "s", "--apply", "--json").json
    assert done["candidates"][0]["link_id"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_entries_are_built_from_commits(run, tmp_path):
    project = str(tmp_path / "project")
    subprocess.run(["git", "init", "-q", project], check=True)
    identity = ["-c", "user.name=n", "-c", "user.email=e@x"]
    subprocess.run(["git", "-C", project, *identity, "commit", "-q", "--allow-empty", "-m", "fix(auth): one"], check=True)
    assert run("memory", "commit", "--scope", "s", "--apply", "--json").json["candidates"][0]["topic"] == "auth"
    assert run("memory", "commit", "--range", "HEAD", "--scope", "s", "--json").json["seen"] == 1
    assert run("memory", "commit", "nothing", "--scope", "s").code == 3


def test_memory_is_carried_to_a_file_and_back(run, tmp_path):
    entry = keep(run, "One.")
    path = str(tmp_path / "p.zip")
    done = run("memory", "export", path, "--json").json
    assert (done["format"], done["entries"]) == ("zip", 1)
    assert run("memory", "export", path).code == 4
    assert run("memory", "export", path, "--overwrite", "--archived", "--invalidated").code == 0
    assert run("memory", "import", path).code == 4
    assert "1 same" in run("memory", "import", path, "--on-conflict", "merge").out
    run("memory", "update", entry, "--content", "Otherwise.")
    merged = run("memory", "import", path, "--on-conflict", "merge")
    assert (merged.code, entry in merged.err) == (1, True)
    assert run("memory", "import", path, "--on-conflict", "replace").code == 2
    replaced = run("memory", "import", path, "--on-conflict", "replace", "--yes")
    assert (replaced.code, "1 removed" in replaced.out, "what was there before" in replaced.out) == (0, True, True)
    assert run("read", entry, "--json").json["entry"]["content"] == "One."


def test_proposals_wait_for_a_person_on_a_terminal(run, tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Style\n\nWrite short sentences, always and everywhere.\n", encoding="utf-8")
    done = run("memory", "propose", str(tmp_path / "AGENTS.md"), "--scope", "app")
    assert "1 seen = 1 proposed + 0 there already + 0 failed" in done.out
    waiting = run("memory", "proposals")
    assert "Write short sentences" in waiting.out
    proposal = run("memory", "proposals", "--json").json["proposals"][0]
    assert "code" not in proposal
    assert proposal["draft"]["content"].endswith("always and everywhere.")
    for more in ((), ("--json",)):
        refused = run("review", *more)
        assert (refused.code, "on a terminal" in refused.out + refused.err) == (2, True)
