"""How an entry changes: revisions, archiving, restoring, optimistic concurrency, history."""

from __future__ import annotations

import pytest
from keeping import HOME, audit, ids, keep, read

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, SecretDetected
from scaffale.indexer import clock
from scaffale.model import CONCEPT

ACTOR = {"actor": "editor", **HOME}


def test_an_update_changes_what_is_given_and_keeps_what_was(memory):
    entry = keep(memory, "The first text.", title="Old", tags=["a", "b"], confidence=0.5)
    before = read(memory, entry)
    done = memory.update_entry(entry_id=entry, content="The second text.", tags=["C c"], importance=5, **ACTOR)
    after = read(memory, entry)
    assert set(done.changed) == {"content", "tags", "importance"}
    assert (after.content, after.tags, after.importance) == ("The second text.", ("c-c",), 5)
    assert (after.title, after.confidence, after.topic, after.created_at) == ("Old", 0.5, "locks", before.created_at)
    assert after.content_sha256 != before.content_sha256
    assert done.previous_updated_at == before.updated_at < after.updated_at == done.updated_at
    created, changed = memory.entry_history(entry_id=entry, **HOME).events
    assert (created.operation, created.actor) == ("created", "tester")
    assert (changed.number, changed.operation, changed.actor) == (done.revision, "updated", "editor")
    assert changed.earlier == {"content": "The first text.", "tags": ["a", "b"], "importance": 3}


def test_what_is_updated_is_found_by_its_new_words_and_no_more_by_the_old(open_memory, engine_name):
    memory = open_memory(MEMORY_LEXICAL_BACKEND=engine_name)
    entry = keep(memory, "An alligator in the moat.")
    memory._open()[1].catch_up()
    memory.update_entry(entry_id=entry, content="A crocodile in the moat.", **ACTOR)
    assert ids(memory.search(query="crocodile", **HOME)) == [entry]
    assert ids(memory.search(query="alligator", **HOME)) == []


def test_an_update_that_changes_nothing_writes_no_revision(memory):
    entry = keep(memory, "Text.", title="T", tags=["b", "a"])
    before = read(memory, entry)
    done = memory.update_entry(entry_id=entry, content="Text.", title="T", tags=["a", "b"], status="active", **ACTOR)
    assert (done.changed, done.revision, done.updated_at) == ((), None, before.updated_at)
    assert read(memory, entry) == before
    assert len(memory.entry_history(entry_id=entry, **HOME).events) == 1


def test_an_empty_text_removes_a_title_and_an_empty_list_the_tags(memory):
    entry = keep(memory, title="T", summary="S", tags=["a"])
    memory.update_entry(entry_id=entry, title="", summary=" ", tags=[], **ACTOR)
    after = read(memory, entry)
    assert (after.title, after.summary, after.tags) == (None, None, ())
    assert memory.list_tags(**HOME).items == ()


def test_who_was_second_is_told(memory):
    entry = keep(memory)
    seen = read(memory, entry).updated_at
    memory.update_entry(entry_id=entry, content="Mine.", expected_updated_at=seen, **ACTOR)
    with pytest.raises(Conflict, match="read it again") as refused:
        memory.update_entry(entry_id=entry, content="Yours.", expected_updated_at=seen, **ACTOR)
    assert refused.value.project_id == "p"
    with pytest.raises(Conflict, match="not the expected one"):  # of no time that ever was: nothing is said of before or after
        memory.update_entry(entry_id=entry, content="Yours.", expected_updated_at="2999-01-01T00:00:00.000Z", **ACTOR)
    assert read(memory, entry).content == "Mine."
    now = read(memory, entry).updated_at
    memory.update_entry(entry_id=entry, content="Yours.", expected_updated_at=now, **ACTOR)


def test_two_changes_never_bear_one_time_even_when_the_clock_goes_back(memory, monkeypatch):
    entry = keep(memory)
    times = [read(memory, entry).updated_at]
    monkeypatch.setattr(clock, "milliseconds", lambda: 1_000)
    for number in range(3):
        memory.update_entry(entry_id=entry, content=f"Text {number}.", **ACTOR)
        times.append(read(memory, entry).updated_at)
    memory.invalidate_entry(entry_id=entry, **ACTOR)
    times.append(read(memory, entry).updated_at)
    assert times == sorted(set(times))
    events = memory.entry_history(entry_id=entry, **HOME).events
    assert [event.number for event in events] == [0, 1, 2, 3, 4]
    assert [event.earlier.get("content") for event in events[2:4]] == ["Text 0.", "Text 1."]


def test_archiving_and_coming_back(memory):
    entry = keep(memory, "A word about moats.")
    assert memory.update_entry(entry_id=entry, status="archived", **ACTOR).status == "archived"
    assert ids(memory.search(query="moats", **HOME)) == []
    assert ids(memory.search(query="moats", status="archived", **HOME)) == [entry]
    memory.update_entry(entry_id=entry, status="active", **ACTOR)
    assert ids(memory.search(query="moats", **HOME)) == [entry]
    assert [event.operation for event in memory.entry_history(entry_id=entry, **HOME).events] == [
        "created", "archived", "restored",
    ]  # fmt: skip


def test_an_invalidated_entry_comes_back_only_with_a_reason(memory):
    entry = keep(memory)
    memory.invalidate_entry(entry_id=entry, reason="wrong", **ACTOR)
    for reason in (None, "  "):
        with pytest.raises(InvalidParam, match="reason"):
            memory.update_entry(entry_id=entry, status="active", reason=reason, **ACTOR)
    memory.update_entry(entry_id=entry, status="active", reason="right after all", **ACTOR)
    after = read(memory, entry)
    assert (after.status, after.invalidated_at, after.invalidation_reason) == ("active", None, None)
    *_, gone, back = memory.entry_history(entry_id=entry, **HOME).events
    assert (gone.operation, gone.reason) == ("invalidated", "wrong")
    assert (back.operation, back.reason, back.earlier["invalidation_reason"]) == ("restored", "right after all", "wrong")


def test_a_twin_is_named_when_an_update_makes_one(memory):
    first, second = keep(memory, "The same."), keep(memory, "Another.")
    assert any(first in warning for warning in memory.update_entry(entry_id=second, content="The same.", **ACTOR).warnings)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"content": " "}, InvalidParam), ({"scope": ""}, InvalidParam), ({"topic": " "}, InvalidParam),
        ({"importance": 6}, InvalidParam), ({"confidence": 1.5}, InvalidParam), ({"status": "superseded"}, InvalidParam),
        ({"status": "invalidated"}, InvalidParam), ({"content": "x" * 200_001}, LimitExceeded),
        ({"title": "x" * 201}, LimitExceeded), ({"tags": [str(n) for n in range(21)]}, LimitExceeded),
        ({"reason": "x" * 501, "status": "archived"}, LimitExceeded),
        ({"content": "ghp_" + "a1B2" * 9}, SecretDetected), ({"reason": "ghp_" + "a1B2" * 9}, SecretDetected),
        ({"expected_updated_at": "yesterday"}, Conflict),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_changes_nothing(memory, given, error):
    entry = keep(memory)
    before = read(memory, entry)
    with pytest.raises(error):
        memory.update_entry(entry_id=entry, **given, **ACTOR)
    assert read(memory, entry) == before
    assert len(memory.entry_history(entry_id=entry, **HOME).events) == 1
    (refused,) = audit(memory, "memory_update_entry")
    assert (refused["outcome"], refused["error_code"]) == ("refused", error.code)


def test_a_secret_is_masked_in_an_update_that_asks_for_it(memory):
    entry = keep(memory)
    memory.update_entry(entry_id=entry, content="token ghp_" + "a1B2" * 9, secrets="redact", **ACTOR)
    assert "ghp_" not in read(memory, entry).content


@pytest.mark.parametrize("verb", ["update_entry", "invalidate_entry", "delete_entry"])
def test_an_entry_of_another_project_is_not_there_to_be_changed(memory, verb):
    entry = keep(memory)
    more = {"update_entry": {"content": "x"}, "delete_entry": {"confirm": True}}.get(verb, {})
    with pytest.raises(NotFound):
        getattr(memory, verb)(entry_id=entry, actor="a", project_id="other", **more)
    with pytest.raises(NotFound):
        memory.entry_history(entry_id=entry, project_id="other")
    assert read(memory, entry).status == "active"


@pytest.mark.parametrize("verb", ["update_entry", "invalidate_entry", "delete_entry"])
def test_changing_makes_no_store(memory, verb):
    more = {"delete_entry": {"confirm": True}}.get(verb, {})
    with pytest.raises(NotFound):
        getattr(memory, verb)(entry_id="e", actor="a", **more, **HOME)
    assert not memory.status().exists


@pytest.mark.parametrize("verb", ["update_entry", "invalidate_entry", "delete_entry"])
def test_a_promoted_concept_changes_only_by_review(memory, verb):
    entry = keep(memory)
    with memory._open()[0].write() as connection:
        connection.execute("UPDATE memory_entries SET source_type = ?", (CONCEPT,))
    more = {"delete_entry": {"confirm": True}, "update_entry": {"content": "x"}}.get(verb, {})
    with pytest.raises(Conflict, match="review"):
        getattr(memory, verb)(entry_id=entry, actor="a", **more, **HOME)


def test_changes_are_audited_without_what_they_say(memory):
    entry = keep(memory)
    memory.update_entry(entry_id=entry, content="A very private sentence.", **ACTOR)
    (row,) = audit(memory, "memory_update_entry")
    assert (row["entry_id"], row["actor"], row["outcome"]) == (entry, "editor", "ok")
    assert row["result"] == {"changed": ["content"], "revision": 1}
    assert "private" not in str(row)
