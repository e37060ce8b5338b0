"""What other tools remembered waits, outside every search, until a person accepts the very text that was shown."""

from __future__ import annotations

import json

import pytest
from keeping import HOME, audit, files_with, ids, keep, read

from scaffale.errors import Conflict, NotFound

ACTOR = {"actor": "importer", **HOME}
TOKEN = "ghp_" + "a1B2" * 9
JSONL = "\n".join(
    [
        json.dumps({"type": "entity", "name": "Auth Service", "entityType": "x", "observations": ["Uses leases.", "Is slow."]}),
        json.dumps({"type": "relation", "from": "Auth Service", "to": "Gateway", "relationType": "calls"}),
        json.dumps({"type": "entity", "name": "Bad", "entityType": "x", "observations": [7]}),
        json.dumps({"type": "something"}),
        "no JSON",
        "",
        json.dumps({"type": "entity", "name": "Leaky", "entityType": "s", "observations": [f"token {TOKEN}"]}),
    ]
)
NOTE = """---
title: Export work
---
# Export work

## Observations
- [decision] We stream the export #export (to save memory)
- [bug] The buffer is read twice
- [ ] a box to tick
- [tip] Look at the log first

## Relations
- implements [[Other]]
"""


def propose(memory, tmp_path, name, text, **more):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return memory.propose(source_path=str(tmp_path / name), anywhere=True, **{**ACTOR, **more})


def waiting(memory):
    return memory.list_proposals(**HOME).proposals


def test_the_official_memory_servers_lines_become_proposals(memory, tmp_path):
    done = propose(memory, tmp_path, "memory.jsonl", JSONL, scope="peers")
    assert (done.kind, done.seen, done.proposed, done.existing, done.failed) == ("memory-jsonl", 4, 4, 0, 0)
    assert len(done.skipped) == 3
    assert [each.draft["content"] for each in waiting(memory)] == [
        "Uses leases.", "Is slow.", "Auth Service calls Gateway", "token [REDACTED:github-token]",
    ]  # fmt: skip
    assert waiting(memory)[0].draft["topic"] == "auth-service"
    assert not files_with(tmp_path / "home", TOKEN)
    again = propose(memory, tmp_path, "memory.jsonl", JSONL, scope="peers")
    assert (again.seen, again.proposed, again.existing) == (4, 0, 4)


def test_notes_and_instructions_become_proposals(memory, tmp_path):
    done = propose(memory, tmp_path, "note.md", NOTE, scope="peers")
    assert (done.kind, done.proposed) == ("basic-memory", 3)
    drafts = [each.draft for each in waiting(memory)]
    assert [(draft["source_type"], draft["content"]) for draft in drafts] == [
        ("decision", "We stream the export #export (to save memory)"), ("bug_pattern", "The buffer is read twice"),
        ("agent_note", "Look at the log first"),
    ]  # fmt: skip
    assert (drafts[0]["tags"], drafts[0]["topic"]) == (["export"], "export-work")
    rules = propose(memory, tmp_path, "AGENTS.md", "# Style\n\nWrite short sentences, always and everywhere.\n", scope="peers")
    assert (rules.kind, rules.proposed) == ("instructions", 1)
    assert waiting(memory)[3].draft["source_type"] == "user_preference"
    without = propose(memory, tmp_path, "CLAUDE.md", "# Style\n\nWrite long sentences, never and nowhere.\n")
    assert (without.seen, without.failed) == (1, 1)


def test_what_waits_is_found_by_nothing(memory, tmp_path):
    propose(memory, tmp_path, "memory.jsonl", JSONL, scope="peers")
    assert ids(memory.search(query="leases", status="any", **HOME)) == []
    assert ids(memory.search(query="leases", status="any", mode="cross_project")) == []
    assert memory.status(**HOME).counts["entries"] == 0
    assert memory.list_scopes(**HOME).items == ()
    assert memory.find_similar(text="Uses leases.", **HOME).results == ()
    assert memory.list_proposals(project_id="q").proposals == ()


def test_a_person_accepts_the_very_text_that_was_shown(memory, tmp_path):
    propose(memory, tmp_path, "memory.jsonl", JSONL, scope="peers")
    first, second, *_ = memory.review(**HOME).waiting
    assert (first.kind, first.title, first.id) == ("proposal", "Auth Service", f"proposal/{waiting(memory)[0].id}")
    assert "Uses leases." in first.text
    for digest in ("", second.digest):
        with pytest.raises(Conflict, match="look at it again"):
            memory.decide(id=first.id, verdict="accept", digest=digest, **ACTOR)
    assert len(waiting(memory)) == 4
    done = memory.decide(id=first.id, verdict="accept", digest=first.digest, **ACTOR)
    entry = read(memory, done.entry_id)
    assert (entry.content, entry.scope, entry.title, entry.status) == ("Uses leases.", "peers", "Auth Service", "active")
    assert ids(memory.search(query="leases", **HOME)) == [done.entry_id]
    assert len(waiting(memory)) == 3
    with pytest.raises(NotFound):
        memory.decide(id=first.id, verdict="accept", digest=first.digest, **ACTOR)
    assert propose(memory, tmp_path, "memory.jsonl", JSONL, scope="peers").proposed == 0
    assert audit(memory, "ledger_review")[-2]["result"] == {"verdict": "accept", "changed": True, "display_id": None}


def test_a_proposal_that_has_become_an_entry_meanwhile_is_that_entry(memory, tmp_path):
    propose(memory, tmp_path, "memory.jsonl", JSONL, scope="peers")
    known = keep(memory, "Uses leases.", scope="peers")
    first = memory.review(**HOME).waiting[0]
    assert memory.decide(id=first.id, verdict="accept", digest=first.digest, **ACTOR).entry_id == known


def test_what_is_declined_is_gone_down_to_the_bytes(memory, tmp_path):
    keep(memory)
    propose(memory, tmp_path, "x.jsonl", json.dumps({"type": "entity", "name": "A", "observations": ["needlexword"]}), scope="s")
    (tmp_path / "x.jsonl").unlink()
    assert files_with(tmp_path, "needlexword")
    (shown,) = memory.review(**HOME).waiting
    with pytest.raises(NotFound):
        memory.decide(id=shown.id, verdict="decline", digest=shown.digest, actor="a", project_id="q")
    memory.decide(id=shown.id, verdict="decline", digest=shown.digest, **ACTOR)
    memory.maintain()
    assert files_with(tmp_path, "needlexword") == set()
    assert len(ids(memory.search(query="lock", **HOME))) == 1
