"""Deletion, down to the bytes. The probe is first shown to find what lives, wherever it lives."""

from __future__ import annotations

import time

import apsw
import pytest
import tantivy
from keeping import HOME, audit, files_with, ids, keep, read

from scaffale.errors import Conflict, InvalidParam, NotFound
from scaffale.indexer import journal
from scaffale.ranking import bm25

ACTOR = {"actor": "curator", **HOME}
WORD, TITLE, LATER, TAG, REASON = "qwertzneedlex", "zebraneedlex", "zweitneedlex", "tagneedlex", "becauseneedlex"
NEEDLES = (WORD, TITLE, LATER, TAG, REASON)


def gone(memory, entry):
    memory.invalidate_entry(entry_id=entry, **ACTOR)
    return memory.delete_entry(entry_id=entry, confirm=True, **ACTOR)


def committed(memory):
    """Everything stands in the index; a thread of the hall's own may be at it."""
    for _ in range(200):
        if memory._open()[1].catch_up(insist=True):
            return
        time.sleep(0.05)
    raise AssertionError("the index was never free")


def terms(memory, *words):
    """Which of the words stand in the committed index's own dictionary of terms, deleted passages included."""
    _, projection = memory._open()
    folder = projection._folder(projection._current())
    if projection.engine.name == "tantivy":
        searcher = tantivy.Index.open(folder).searcher()
        return {word for word in words if any(searcher.doc_freq(field, word) for field in bm25.FIELDS)}
    connection = apsw.Connection(f"{folder}/index.sqlite", flags=apsw.SQLITE_OPEN_READONLY)
    try:
        if projection.engine.name == "fts5":
            connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, row)")
            return {word for word in words if connection.execute("SELECT 1 FROM vocabulary WHERE term = ?", (word,)).get}
        texts = str(connection.execute("SELECT * FROM words").fetchall())
        return {word for word in words if word in texts}
    finally:
        connection.close()


@pytest.mark.parametrize("background", [False, True])
def test_nothing_of_a_deleted_entry_is_left_in_any_file(open_memory, engine_name, tmp_path, background):
    memory = open_memory(MEMORY_LEXICAL_BACKEND=engine_name, background=background)
    others = [keep(memory, f"Another entry, number {n}: " + "filler words of some length. " * 40) for n in range(40)]
    entry = keep(memory, f"Something about {WORD}. " * 300, title=TITLE, tags=[TAG])
    committed(memory)
    memory.update_entry(entry_id=entry, content=f"Now it is {LATER}. " * 500, **ACTOR)
    memory.link_entries(source_entry_id=others[0], target_entry_id=entry, relation="blocks", rationale=WORD, **ACTOR)
    committed(memory)
    memory.invalidate_entry(entry_id=entry, reason=REASON, **ACTOR)
    committed(memory)

    # The probe finds what lives: in the store, and in the dictionary of the index.
    assert "home/.mcp-servers/memory/memory.sqlite-wal" in files_with(tmp_path, WORD)
    for needle in NEEDLES:
        assert files_with(tmp_path, needle), needle
    assert terms(memory, LATER, TITLE) == {LATER, TITLE}

    memory.delete_entry(entry_id=entry, confirm=True, **ACTOR)
    assert memory.list_entry_links(entry_id=others[0], **HOME).links == ()
    assert any("deleted" in warning for warning in memory.status().warnings)
    assert any("gone from every file" in line for line in memory.maintain())

    assert files_with(tmp_path, *NEEDLES) == set()
    assert terms(memory, *NEEDLES) == set()
    assert not any("deleted" in warning for warning in memory.status().warnings)
    assert len(ids(memory.search(query="filler words", limit=50, **HOME))) == 40
    memory.close()
    assert files_with(tmp_path, *NEEDLES) == set()


def test_indexes_of_other_engines_are_purged_too(open_memory, tmp_path):
    first = open_memory(MEMORY_LEXICAL_BACKEND="fts5")
    entry = keep(first, f"Something about {WORD}.")
    assert ids(first.search(query=WORD, **HOME)) == [entry]
    committed(first)
    second = open_memory(MEMORY_LEXICAL_BACKEND="tantivy")
    assert ids(second.search(query=WORD, **HOME)) == [entry]
    other = keep(second, "Another word.")
    assert any("fts5" in name for name in files_with(tmp_path, WORD))
    gone(second, entry)
    second.maintain()
    first.close()
    assert files_with(tmp_path, WORD) == set()
    assert ids(first.search(query="word", **HOME)) == [other]
    assert ids(first.search(query=WORD, **HOME)) == []


def test_an_index_in_use_elsewhere_goes_on_after_a_purge(open_memory, engine_name):
    one, two = (open_memory(MEMORY_LEXICAL_BACKEND=engine_name) for _ in range(2))
    entry, other = keep(one, f"Something about {WORD}."), keep(one, "Another something.")
    assert set(ids(two.search(query="something", **HOME))) == {entry, other}
    gone(one, entry)
    one.maintain()
    assert ids(two.search(query="something", **HOME)) == [other]
    added = keep(two, "A third something.")
    assert set(ids(one.search(query="something", **HOME))) == {other, added}


def test_only_an_invalidated_entry_is_deleted_and_only_when_it_is_meant(memory):
    entry = keep(memory)
    archived = keep(memory, "Archived.")
    memory.update_entry(entry_id=archived, status="archived", **ACTOR)
    superseded = keep(memory, "Superseded.")
    memory.link_entries(source_entry_id=entry, target_entry_id=superseded, relation="supersedes", **ACTOR)
    for each, state in ((entry, "active"), (archived, "archived"), (superseded, "superseded")):
        with pytest.raises(Conflict, match=state):
            memory.delete_entry(entry_id=each, confirm=True, **ACTOR)
        assert read(memory, each).status == state
    memory.invalidate_entry(entry_id=entry, **ACTOR)
    with pytest.raises(InvalidParam, match="confirm"):
        memory.delete_entry(entry_id=entry, **ACTOR)
    done = memory.delete_entry(entry_id=entry, confirm=True, reason="a test", **ACTOR)
    assert (done.entry_id, done.previous_status, done.deleted) == (entry, "invalidated", True)
    for _ in range(2):
        with pytest.raises(NotFound):
            memory.delete_entry(entry_id=entry, confirm=True, **ACTOR)
    with pytest.raises(NotFound):
        memory.read_entry(entry_id=entry, **HOME)


@pytest.mark.parametrize("on", ["1", "0"])
def test_a_tombstone_without_content_stays_even_where_the_audit_is_off(open_memory, on):
    memory = open_memory(MEMORY_AUDIT_LOG=on)
    entry = keep(memory, f"Something about {WORD}.", title=TITLE)
    created = read(memory, entry).created_at
    gone(memory, entry)
    (tombstone,) = audit(memory, "memory_delete_entry")
    assert (tombstone["entry_id"], tombstone["outcome"]) == (entry, "ok")
    result = tombstone["result"]
    assert (result["deleted"], result["created_at"], result["revisions"]) == (True, created, 1)
    assert len(result["content_digest"]) == 32
    assert not any(needle in str(audit(memory)) for needle in (WORD, TITLE))
    assert len(audit(memory)) == (3 if on == "1" else 1)


def test_a_number_is_never_given_twice(memory):
    first, last = keep(memory, "First."), keep(memory, "Last.")
    database, _ = memory._open()
    numbers = "SELECT rid FROM memory_entries WHERE id = ?"
    highest = database.connection.execute(numbers, (last,)).get
    gone(memory, last)
    gone(memory, first)
    assert database.connection.execute(numbers, (keep(memory, "Next."),)).get == highest + 1


def test_a_purge_that_others_stand_in_the_way_of_is_tried_again(memory, tmp_path, monkeypatch):
    gone(memory, keep(memory, f"Something about {WORD}."))
    database, _ = memory._open()
    with monkeypatch.context() as patch:
        patch.setattr(type(database), "rewrite", lambda self: False)
        assert any("still in some file" in line for line in memory.maintain())
    with database.read() as connection:
        assert journal.forgotten(connection, "store")
    assert any("gone from every file" in line for line in memory.maintain())
    assert files_with(tmp_path, WORD) == set()
    assert not any("gone from every file" in line for line in memory.maintain())


def test_rebuilding_says_what_was_wrong_with_the_index(open_memory, engine_name):
    memory = open_memory(MEMORY_LEXICAL_BACKEND=engine_name)
    with pytest.raises(NotFound):
        memory.rebuild_index()
    kept = [keep(memory, f"Entry {n}.") for n in range(3)]
    committed(memory)
    first = memory.rebuild_index()
    assert (first.rebuilt, first.entries, first.missing, first.surplus, first.purged) == (True, 3, 0, 0, True)
    database, _ = memory._open()
    with database.write() as connection:  # behind the journal's back
        connection.execute("DELETE FROM memory_entries WHERE id = ?", (kept[0],))
        connection.execute("UPDATE memory_entries SET rid = 77 WHERE id = ?", (kept[1],))
    again = memory.rebuild_index()
    assert (again.entries, again.missing, again.surplus) == (2, 1, 2)
    third = memory.rebuild_index()
    assert (third.missing, third.surplus) == (0, 0)
    assert set(ids(memory.search(query="entry", **HOME))) == set(kept[1:])
