"""The road from the journal to an index: level, commit, rebuild, repair, whoever holds the lock."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw
import pytest
from damage import replace

from scaffale import backends
from scaffale.backends import sqlite_file
from scaffale.errors import IndexUnusable
from scaffale.indexer import entries, journal, sync
from scaffale.indexer.database import Database
from scaffale.indexer.entries import EntrySource
from scaffale.indexer.sync import Projection
from scaffale.model import EntryDraft, Filter
from scaffale.text import parse


@pytest.fixture
def database(tmp_path):
    opened = Database(str(tmp_path / "memory.sqlite"), entries.SCHEMA)
    yield opened
    opened.close()


@pytest.fixture
def make_projection(database, engine_name):
    opened = []

    def make(**options):
        opened.append(Projection(EntrySource(database), engine_name, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def add(database, content, id=None, project="p"):
    with database.write() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO projects (id, created_at, updated_at) VALUES (?, 'now', 'now')", (project,)
        )
        draft = EntryDraft("scope", "topic", content, "decision")
        id = id or f"id-{content}"
        return entries.add(connection, id, project, draft, "hash", "tester", "2026-01-01T00:00:00.000Z")


def remove(database, rid):
    with database.write() as connection:
        connection.execute("DELETE FROM memory_entries WHERE rid = ?", (rid,))
        journal.append(connection, rid)


def found(projection, text="note"):
    return sorted(hit.id for hit in projection.search(parse(text), Filter(), 1_000).found.hits)


def _raise(error):
    def fail(*args):
        raise error

    return fail


def folders(database):
    return sorted(os.listdir(database.path + ".index"))


def test_a_write_is_found_by_every_handle_before_any_commit(database, make_projection):
    mine, other = make_projection(), make_projection()
    rid = add(database, "note one")
    assert found(mine) == found(other) == [rid]
    assert mine.committed() == 0
    assert mine.lag()["uncommitted"] == 1


def test_catching_up_empties_the_overlay_and_changes_no_answer(database, make_projection):
    projection, other = make_projection(), make_projection()
    rids = [add(database, f"note {n}") for n in range(20)]
    assert found(other) == rids
    assert projection.catch_up()
    assert projection.lag() == {"uncommitted": 0, "unsearchable": 0}
    assert found(projection) == found(other) == rids
    remove(database, rids[0])
    assert found(projection) == found(other) == rids[1:]


def test_many_changes_are_committed_by_the_search_that_meets_them(database, make_projection):
    projection = make_projection()
    rids = [add(database, f"note {n}") for n in range(sync.OVERLAY_LIMIT + 5)]
    assert found(projection) == rids
    assert projection.committed() > 0
    assert projection.lag()["uncommitted"] == 0


def test_a_held_writer_lock_delays_nothing(database, make_projection):
    holder, projection = make_projection(), make_projection()
    add(database, "note before")
    holder.catch_up()
    with holder._handle.writer():
        rids = [add(database, f"note {n}") for n in range(sync.OVERLAY_LIMIT + 5)]
        assert not projection.catch_up()
        assert found(projection)[1:] == rids
    assert projection.catch_up()
    assert found(projection)[1:] == rids


def test_a_background_thread_commits_soon(database, make_projection):
    projection = make_projection(background=True)
    rid = add(database, "note")
    projection.nudge()
    projection._worker.join(timeout=0)
    for _ in range(200):
        if projection.committed():
            break
        projection._worker.join(timeout=0.05)
    assert projection.committed() > 0
    assert found(projection) == [rid]


def test_a_missing_index_is_built_anew(database, make_projection):
    rids = [add(database, f"note {n}") for n in range(5)]
    make_projection().catch_up()
    shutil.rmtree(database.path + ".index")
    assert found(make_projection()) == rids


def test_an_index_that_vanishes_under_a_running_process_is_no_error(database, make_projection):
    projection = make_projection()
    rids = [add(database, f"note {n}") for n in range(5)]
    projection.catch_up()
    shutil.rmtree(database.path + ".index")
    rids.append(add(database, "note after"))
    assert found(projection) == rids
    assert found(make_projection()) == rids


def test_a_damaged_index_is_built_anew_with_a_warning(database, make_projection):
    rids = [add(database, f"note {n}") for n in range(5)]
    make_projection().catch_up()
    for file in Path(database.path + ".index").rglob("*"):
        if file.is_file() and not file.name.endswith(".lock"):
            replace(file, b"\x00garbage" * 64)
    projection = make_projection()
    answer = projection.search(parse("note"), Filter(), 10)
    assert sorted(hit.id for hit in answer.found.hits) == rids
    assert any("built anew" in warning for warning in answer.warnings)
    assert folders(database)[-1].endswith("-2")
    assert found(make_projection()) == rids


def harm(database):
    """Damage that searches may not notice: a few bytes in the pages of every large file, which stays as long as it is."""
    for file in Path(database.path + ".index").rglob("*"):
        if file.is_file() and file.stat().st_size > 1_000 and file.name != "meta.json":
            data = bytearray(file.read_bytes())
            for start in range(min(6_000, len(data) // 2), len(data), 4_096):
                data[start : start + 8] = bytes(byte ^ 0x11 for byte in data[start : start + 8])
            with file.open("r+b") as opened:
                opened.write(data)


def test_maintenance_finds_damage_that_searches_do_not_notice(database, make_projection, engine_name):
    if engine_name == "like":
        pytest.skip("its text is its index: there is nothing to compare with")
    rids = [add(database, f"note {n} " + f"of word{n} " * 30) for n in range(100)]
    make_projection().catch_up()
    projection = make_projection()
    assert projection.damage() == []
    projection.close()
    harm(database)
    projection = make_projection()
    assert projection.damage()
    assert any("was damaged" in line for line in projection.maintain())
    assert projection.damage() == []
    assert found(projection) == rids
    assert found(projection, "word77") == [rids[77]]


def test_an_index_of_another_store_is_not_trusted(database, make_projection, tmp_path, engine_name):
    other = Database(str(tmp_path / "other.sqlite"), entries.SCHEMA)
    for n in range(30):
        add(other, f"note of the other store {n}")
    foreign = Projection(EntrySource(other), engine_name)
    foreign.catch_up()
    foreign.close()
    other.close()
    shutil.copytree(other.path + ".index", database.path + ".index")
    rid = add(database, "note of mine")
    assert found(make_projection()) == [rid]


def test_a_store_put_back_from_a_backup_is_noticed_though_numbers_repeat(database, make_projection, tmp_path):
    kept = add(database, "note kept")
    backup = tmp_path / "backup.sqlite"
    database.connection.execute("VACUUM INTO ?", (str(backup),))
    lost = add(database, "note lost later")
    first = make_projection()
    assert first.catch_up()
    assert found(first) == [kept, lost]
    first.close()
    database.close()
    os.replace(backup, database.path)
    newer = add(database, "note written after the restore")
    assert newer == lost, "the number is used again"
    assert sorted(found(make_projection(), "note")) == [kept, newer]
    assert found(make_projection(), "lost") == []


def test_a_pruned_journal_means_a_snapshot(database, make_projection, monkeypatch):
    monkeypatch.setattr(journal, "KEEP_LINES", 0)
    rids = [add(database, f"note {n}") for n in range(10)]
    make_projection().catch_up()
    rids.append(add(database, "note more"))
    make_projection().catch_up()
    with database.read() as connection:
        assert journal.first(connection, database.uuid) is None
    shutil.rmtree(database.path + ".index")
    assert found(make_projection()) == rids


def test_lines_of_a_scan_wait_for_its_answer(database, make_projection):
    projection, other = make_projection(), make_projection()
    rid = add(database, "note scanned")
    with database.write() as connection:
        connection.execute("UPDATE journal SET scan = 1 WHERE owner = ?", (rid,))
    answer = other.search(parse("note"), Filter(), 10)
    assert answer.found.hits == []
    assert answer.lag == 1
    written = add(database, "note written meanwhile")
    assert found(other) == [written]
    with database.write() as connection:
        journal.acknowledge(connection, 1, projection.committed())
    assert found(other) == [rid, written]
    assert projection.catch_up()
    assert other.search(parse("note"), Filter(), 10).lag == 0
    assert found(other) == found(projection) == [rid, written]


def test_while_another_process_builds_the_store_itself_is_searched(database, make_projection, engine_name, monkeypatch):
    rids = [add(database, f"note {n}") for n in range(5)]
    make_projection().catch_up()
    for file in Path(database.path + ".index").rglob("*"):
        if file.is_file() and not file.name.endswith(".lock"):
            replace(file, b"\x00garbage" * 64)
    engine = backends.lexical(engine_name)
    builder = engine.open(os.path.join(database.path + ".index", f"{engine.identity}-2"))
    with builder.writer():
        answer = make_projection().search(parse("note"), Filter(), 10)
    assert sorted(hit.id for hit in answer.found.hits) == rids
    assert sync.BUILDING in answer.warnings
    assert found(make_projection()) == rids
    builder.close()


def test_where_no_index_can_be_made_the_store_itself_is_searched(database, make_projection, monkeypatch):
    rids = [add(database, f"note {n}") for n in range(5)]
    builder, projection = make_projection(), make_projection()
    builder.catch_up()
    shutil.rmtree(database.path + ".index")
    Path(database.path + ".index").write_text("a file where the folder should be")
    answer = projection.search(parse("note"), Filter(), 10)
    assert sorted(hit.id for hit in answer.found.hits) == rids
    assert sync.WITHOUT_INDEX in answer.warnings
    assert projection.lag() == {"uncommitted": 0, "unsearchable": 0}
    os.remove(database.path + ".index")
    monkeypatch.setattr(projection, "_rests_until", 0.0)
    answer = projection.search(parse("note"), Filter(), 10)
    assert sorted(hit.id for hit in answer.found.hits) == rids
    assert not answer.warnings


def test_an_index_that_cannot_be_written_goes_on_serving(database, make_projection, monkeypatch):
    projection = make_projection()
    rids = [add(database, f"note {n}") for n in range(5)]
    projection.catch_up()
    monkeypatch.setattr(projection, "_fill", _raise(IndexUnusable("no space left on device")))
    monkeypatch.setattr(projection, "_has_room", lambda: False)
    rids += [add(database, f"note {n}") for n in range(5, sync.OVERLAY_LIMIT + 10)]
    assert not projection.catch_up()
    answer = projection.search(parse("note"), Filter(), 1_000)
    assert sorted(hit.id for hit in answer.found.hits) == rids
    assert any("cannot be written now" in warning for warning in answer.warnings)
    assert projection.lag()["uncommitted"] == sync.OVERLAY_LIMIT + 5
    assert len(folders(database)) == 1
    monkeypatch.undo()
    projection.maintain()
    answer = projection.search(parse("note"), Filter(), 1_000)
    assert sorted(hit.id for hit in answer.found.hits) == rids
    assert not answer.warnings


def test_an_index_that_cannot_be_written_though_there_is_room_is_built_anew(database, make_projection, monkeypatch):
    projection = make_projection()
    rids = [add(database, f"note {n}") for n in range(5)]
    projection.catch_up()
    rids.append(add(database, "note more"))
    fill = projection._fill
    attempts = iter([_raise(IndexUnusable("a damaged segment"))])
    monkeypatch.setattr(projection, "_fill", lambda *given: next(attempts, fill)(*given))
    assert projection.catch_up()
    assert found(projection) == rids
    assert folders(database)[-1].endswith("-2")


def test_rebuilding_switches_every_handle(database, make_projection):
    projection, other = make_projection(), make_projection()
    rids = [add(database, f"note {n}") for n in range(5)]
    projection.catch_up()
    assert found(other) == rids
    assert projection.rebuild()
    rids.append(add(database, "note after"))
    assert found(projection) == found(other) == rids
    assert len(folders(database)) == 1


def test_switching_engines_needs_no_ceremony(database):
    rids = [add(database, f"note {n}") for n in range(5)]
    for turn, name in enumerate(("tantivy", "fts5", "like", "tantivy")):
        projection = Projection(EntrySource(database), name)
        assert projection.catch_up()
        assert found(projection) == rids
        projection.close()
        rids.append(add(database, f"note after {turn}"))


def test_a_read_only_store_is_searched(database, make_projection, engine_name, monkeypatch):
    rids = [add(database, f"note {n}") for n in range(5)]
    make_projection().catch_up()
    rids.append(add(database, "note uncommitted"))
    monkeypatch.setattr(sqlite_file, "writable", lambda path: False)
    reader = Database(database.path, entries.SCHEMA)
    projection = Projection(EntrySource(reader), engine_name)
    assert found(projection) == rids
    assert not projection.catch_up()
    assert not projection.rebuild()
    projection.close()
    reader.close()


def test_a_damaged_store_is_not_an_index_matter(database, make_projection):
    with pytest.raises(apsw.ConstraintError), database.write() as connection:
        connection.execute("INSERT INTO journal (seq, nonce, owner) VALUES (1, 1, 1)")
    add(database, "note")
    assert len(found(make_projection())) == 1


def test_an_engine_that_is_not_used_any_more_does_not_hold_the_journal(database, monkeypatch):
    monkeypatch.setattr(journal, "KEEP_LINES", 0)
    monkeypatch.setattr(journal, "GIVE_UP_LINES", 20)
    abandoned = Projection(EntrySource(database), "like")
    add(database, "note first")
    abandoned.catch_up()
    abandoned.close()
    used = Projection(EntrySource(database), "fts5")
    rids = [1, *(add(database, f"note {n}") for n in range(30))]
    used.catch_up()
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM journal").get == 1
    used.close()
    again = Projection(EntrySource(database), "like")
    assert found(again) == rids
    again.close()
