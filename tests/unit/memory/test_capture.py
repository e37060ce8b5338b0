"""Entries from tickets, commits, document hits and notes: shown first, written only on purpose, and saying from which words."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from keeping import HOME, audit, ids, read

from scaffale.docs import Docs
from scaffale.errors import InvalidParam, LimitExceeded, NotFound, SecretDetected

ACTOR = {"actor": "tester", **HOME}
TICKET = """APP-12: Export fails on large sheets

Labels: Export, XLS
Priority: High
Root cause: the buffer is read twice

It fails beyond 65,536 rows. «Verbatim»
"""
NOTES = """---
title: Notes
---
# Project notes

Short.

## Locking

Some words before.

- Decision: the writer holds the lock,
  and nobody else.
- Root cause: two processes thought that they were alone.

## How to install

Run the installer with the flag that nobody knows of.

## Workaround for the proxy

Set the variable before the first start of the program.

## Empty
"""
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def repository(project):
    """A repository of three commits: `repository("log")` runs Git in it."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def git(*words):
        command = ["git", "-C", str(project), "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q", "-b", "main")
    for name, message in (
        ("a.py", "First"),
        ("b.py", "fix(auth): read the token once\n\nIt was read twice.\n\nRefs: APP-12"),
        ("è c.py", "Add è"),
    ):
        (project / name).write_text(name, encoding="utf-8")
        git("add", ".")
        git("commit", "-q", "-m", message)
    return git


def taken(candidate):
    return {each.field: (each.words, each.line) for each in candidate.taken}


# --- tickets -----------------------------------------------------------------------------------------------------------


def test_a_ticket_is_shown_first_and_written_on_purpose(memory):
    given = {"text": TICKET, "ticket_ref": "APP-12", "scope": "Back End", **ACTOR}
    preview = memory.add_from_ticket(**given)
    assert (preview.applied, preview.seen, preview.written) == (False, 1, 0)
    assert not memory.status().exists
    (shown,) = preview.candidates
    assert (shown.content, shown.source_type, shown.source_ref) == (TICKET, "ticket_summary", "APP-12")
    assert (shown.title, shown.tags, shown.importance) == ("APP-12: Export fails on large sheets", ("export", "xls"), 4)
    assert (shown.summary, shown.scope, shown.entry_id) == ("the buffer is read twice", "back-end", None)
    assert taken(shown) == {
        "tags": ("Labels: Export, XLS", 3), "importance": ("Priority: High", 4),
        "summary": ("Root cause: the buffer is read twice", 5), "title": ("APP-12: Export fails on large sheets", 1),
        "topic": ("APP-12: Export fails on large sheets", None),
    }  # fmt: skip
    done = memory.add_from_ticket(apply=True, **given)
    (written,) = done.candidates
    entry = read(memory, written.entry_id)
    for name in ("scope", "topic", "title", "content", "summary", "source_type", "source_ref", "tags", "importance"):
        assert getattr(entry, name) == getattr(shown, name), name
    again = memory.add_from_ticket(apply=True, **given)
    assert (again.written, again.existing, again.candidates[0].existing_entry_id) == (0, 1, entry.id)
    assert memory.add_from_ticket(**given).candidates[0].existing_entry_id == entry.id


@pytest.mark.parametrize("text", ["x", "\n\n# Heading\n", "a: b", "Title: \n", "Labels: ,,,\nx", "**Summary:** bold", "é" * 300])
def test_any_text_is_a_ticket(memory, text):
    (shown,) = memory.add_from_ticket(text=text, ticket_ref="T-1", scope="s", **ACTOR).candidates
    assert shown.content == text
    assert shown.title
    assert shown.topic
    assert memory.add_from_ticket(text=text, ticket_ref="T-1", scope="s", apply=True, **ACTOR).written == 1


def test_what_a_ticket_may_not_be_is_refused_and_audited_when_it_was_to_be_written(memory):
    for given, error in (
        ({"text": " ", "scope": "s"}, InvalidParam), ({"text": "x"}, InvalidParam),
        ({"text": f"token {TOKEN}", "scope": "s"}, SecretDetected), ({"text": "x" * 200_001, "scope": "s"}, LimitExceeded),
    ):  # fmt: skip
        with pytest.raises(error):
            memory.add_from_ticket(ticket_ref="T-1", **given, **ACTOR)
    assert not memory.status().exists
    memory.add_entry(scope="s", topic="t", content="x", source_type="decision", **ACTOR)
    with pytest.raises(SecretDetected):
        memory.add_from_ticket(ticket_ref="T-1", text=f"token {TOKEN}", scope="s", apply=True, **ACTOR)
    with pytest.raises(InvalidParam):
        memory.add_from_ticket(ticket_ref="T-1", text=" ", scope="s", apply=True, **ACTOR)
    refused = [row for row in audit(memory) if row["outcome"] == "refused"]
    assert [(row["operation"], row["error_code"]) for row in refused] == [
        ("memory_add_entry", "SECRET_DETECTED"), ("memory_add_from_ticket", "INVALID_PARAM"),
    ]  # fmt: skip
    assert TOKEN not in str(audit(memory))
    masked = memory.add_from_ticket(ticket_ref="T-1", text=f"token {TOKEN}", scope="s", apply=True, secrets="redact", **ACTOR)
    assert TOKEN not in read(memory, masked.candidates[0].entry_id).content


# --- commits -----------------------------------------------------------------------------------------------------------


def test_a_commit_and_a_range_become_entries(open_memory, project, repository):
    memory = open_memory()
    where = {"actor": "a", "project_path": str(project), "scope": "s"}
    (newest,) = memory.add_from_git_context(rev="HEAD", **where).candidates
    assert newest.title == "Add è"
    assert "- è c.py" in newest.content
    (fix,) = memory.add_from_git_context(rev="HEAD~1", apply=True, **where).candidates
    assert fix.content.startswith("fix(auth): read the token once\n\nIt was read twice.\n\nRefs: APP-12\n\nCommit ")
    assert (fix.topic, fix.tags, fix.source_type) == ("auth", ("fix",), "commit_context")
    assert fix.source_ref == repository("rev-parse", "HEAD~1")
    assert "ann@example.org" not in fix.content
    assert taken(fix) == {
        "title": ("fix(auth): read the token once", 1), "tags": ("fix", 1), "topic": ("auth", 1),
    }  # fmt: skip
    spread = memory.add_from_git_context(range="HEAD~2..HEAD", apply=True, **where)
    assert [each.title for each in spread.candidates] == ["Add è", "fix(auth): read the token once"]
    assert (spread.seen, spread.written, spread.existing) == (2, 1, 1)
    assert len(memory.add_from_git_context(range="main", **where).candidates) == 3


def test_what_is_no_revision_or_no_repository_is_refused(open_memory, project, repository, tmp_path):
    memory = open_memory()
    where = {"actor": "a", "project_path": str(project), "scope": "s"}
    for given in ({}, {"rev": "HEAD", "range": "main"}, {"rev": "--all"}, {"rev": "-n5"}, {"rev": "a b"}, {"rev": "$(id)"},
                  {"rev": "main..HEAD"}, {"range": "--output=/tmp/x"}, {"rev": ""}):  # fmt: skip
        with pytest.raises(InvalidParam):
            memory.add_from_git_context(**given, **where)
    with pytest.raises(NotFound):
        memory.add_from_git_context(rev="no-such-branch", **where)
    bare = tmp_path / "bare"
    bare.mkdir()
    with pytest.raises(InvalidParam, match="no Git repository"):
        memory.add_from_git_context(actor="a", project_path=str(bare), rev="HEAD", scope="s")
    with pytest.raises(InvalidParam, match="project_path"):
        memory.add_from_git_context(rev="HEAD", scope="s", **ACTOR)


def test_a_repository_outside_the_roots_is_not_read(open_memory, project, repository):
    inside = project / "inside"
    inside.mkdir()
    memory = open_memory(MEMORY_ALLOWED_ROOTS=str(inside))
    with pytest.raises(InvalidParam, match="roots"):
        memory.add_from_git_context(actor="a", project_path=str(inside), rev="HEAD", scope="s")


def test_nothing_that_a_repository_configures_is_run(open_memory, project, repository, tmp_path):
    mark = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "pager.log", "alias.log"):
        repository("config", key, f"!{trap}" if key == "alias.log" else str(trap))
    repository("config", "log.showSignature", "true")
    (project / ".gitattributes").write_text("* diff=trap\n", encoding="utf-8")
    repository("config", "diff.trap.textconv", str(trap))
    before = sorted(str(path) for path in project.rglob("*"))
    assert open_memory().add_from_git_context(actor="a", project_path=str(project), rev="HEAD", scope="s").seen == 1
    assert not mark.exists()
    assert sorted(str(path) for path in project.rglob("*")) == before


# --- documents ---------------------------------------------------------------------------------------------------------


def test_a_note_on_a_document_is_linked_to_its_section(memory, make_settings, tmp_path):
    path = tmp_path / "guide.md"
    path.write_text("# Guide\n\n## Locks\n\nThe writer holds the lock.\n", encoding="utf-8")
    with Docs(make_settings()) as docs:
        docs.scan_file(file_path=str(path), shelf="s")
        number = docs.list_documents().documents[0].id
    given = {"document_id": number, "section": ["Guide", "Locks"], "note": "We rely on this.", "scope": "s", **ACTOR}
    (shown,) = memory.add_from_docs_result(**given).candidates
    assert (shown.title, shown.topic, shown.source_type) == ("Guide › Locks", "locks", "doc_observation")
    assert (shown.content, shown.source_uri) == ("We rely on this.", f"docs://document/{number}")
    assert not memory.status().exists
    (done,) = memory.add_from_docs_result(apply=True, **given).candidates
    (link,) = memory.list_entry_links(entry_id=done.entry_id, **HOME).links
    assert (link.id, link.relation, link.section, link.status) == (done.link_id, "derived_from", ("Guide", "Locks"), "same")
    for wrong, error in (({"document_id": 99}, NotFound), ({"section": "No"}, NotFound), ({"note": " "}, InvalidParam)):
        with pytest.raises(error):
            memory.add_from_docs_result(**{**given, **wrong})


# --- notes -------------------------------------------------------------------------------------------------------------


def test_notes_give_an_entry_for_each_marked_decision_else_for_each_section(open_memory, project):
    (project / "notes.md").write_text(NOTES, encoding="utf-8")
    memory = open_memory()
    where = {"actor": "a", "project_path": str(project), "scope": "s"}
    preview = memory.mine_project_notes(source_path="notes.md", **where)
    found = [(each.source_type, each.topic, each.source_ref) for each in preview.candidates]
    assert found == [
        ("decision", "locking", "lines 12-13"), ("bug_pattern", "locking", "lines 14-14"),
        ("environment_note", "how-to-install", "lines 16-18"), ("workaround", "workaround-for-the-proxy", "lines 20-22"),
    ]  # fmt: skip
    lines = NOTES.split("\n")
    for each in preview.candidates:
        first, last = map(int, each.source_ref.removeprefix("lines ").split("-"))
        assert each.content == "\n".join(lines[first - 1 : last])
        assert each.source_path == str((project / "notes.md").resolve())
    assert taken(preview.candidates[0])["source_type"] == ("Decision", 12)
    assert taken(preview.candidates[3])["source_type"] == ("Workaround", 20)
    assert any("says too little" in reason for reason in preview.skipped)
    done = memory.mine_project_notes(source_path="notes.md", apply=True, **where)
    assert (done.seen, done.written, done.existing, done.failed) == (4, 4, 0, 0)
    assert memory.mine_project_notes(source_path="notes.md", apply=True, **where).existing == 4
    assert len(ids(memory.search(query="", project_path=str(project)))) == 4
    assert (project / "notes.md").read_text(encoding="utf-8") == NOTES


def test_one_section_that_cannot_be_kept_does_not_keep_the_others_back(open_memory, project):
    (project / "notes.md").write_text(
        f"# A\n\nThe first section is long enough.\n\n# B\n\ntoken {TOKEN} in a section\n", encoding="utf-8"
    )
    memory = open_memory()
    done = memory.mine_project_notes(actor="a", project_path=str(project), scope="s", source_path="notes.md", apply=True)
    assert (done.seen, done.written, done.failed) == (2, 1, 1)
    assert "SECRET_DETECTED" in done.candidates[1].problem
    assert TOKEN not in str(done)


def test_a_folder_of_notes_is_mined_and_links_out_of_it_are_not_followed(open_memory, project, tmp_path):
    (tmp_path / "secret.md").write_text("# Outside\n\nThis lies outside of the roots, out of reach.\n", encoding="utf-8")
    notes = project / "notes"
    (notes / ".hidden").mkdir(parents=True)
    (notes / ".hidden" / "x.md").write_text("# Hidden\n\nThis is hidden from the walk.\n", encoding="utf-8")
    (notes / "a.md").write_text("# A\n\nThis is the first of the notes.\n", encoding="utf-8")
    (notes / "b.bin").write_bytes(b"\0\1")
    (notes / "c.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    os.symlink(tmp_path / "secret.md", notes / "d.md")
    found = open_memory().mine_project_notes(actor="a", project_path=str(project), scope="s", source_path="notes")
    assert [each.topic for each in found.candidates] == ["a"]
    assert len(found.skipped) == 2
    for path in ("../secret.md", str(tmp_path / "secret.md"), "notes/d.md", "absent.md"):
        with pytest.raises(InvalidParam):
            open_memory().mine_project_notes(actor="a", project_path=str(project), scope="s", source_path=path)
