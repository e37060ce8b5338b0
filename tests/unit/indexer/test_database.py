"""The one way to a SQLite file: opening, refusing, transactions, threads, migrations."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import threading

import apsw
import pytest

from scaffale.errors import StoreUnreadable
from scaffale.indexer.database import Database, Migration, Schema

FIRST = Migration("001_things", lambda connection: connection.execute("CREATE TABLE thing (name TEXT) STRICT") and None)
SECOND = Migration("002_more", lambda connection: connection.execute("ALTER TABLE thing ADD COLUMN more TEXT") and None)
SCHEMA = Schema(0x5CAF0001, (FIRST,))


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "folder" / "store.sqlite")


@pytest.fixture
def database(path):
    opened = Database(path, SCHEMA)
    yield opened
    opened.close()


def put(database, name):
    with database.write() as connection:
        connection.execute("INSERT INTO thing (name) VALUES (?)", (name,))


def names(database):
    with database.read() as connection:
        return [name for (name,) in connection.execute("SELECT name FROM thing ORDER BY rowid")]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def in_thread(work):
    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(work()))
    thread.start()
    thread.join(30)
    assert outcome, "the thread did not come to an end"
    return outcome[0]


# --- opening -----------------------------------------------------------------------------------------------------------


def test_a_new_store_is_private_and_durable(path, database):
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    connection = database.connection
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2
    assert connection.pragma("secure_delete") == 1
    assert connection.pragma("foreign_keys") == 1


def test_a_store_keeps_its_uuid(path, database):
    again = Database(path, SCHEMA)
    assert again.uuid == database.uuid
    assert len(again.uuid) == 32
    again.close()


def test_without_create_a_missing_store_stays_missing(path):
    with pytest.raises(StoreUnreadable, match="no store"):
        Database(path, SCHEMA, create=False)
    assert not os.path.exists(os.path.dirname(path))


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_a_database_of_another_program_is_refused_and_left_byte_for_byte(path, journal_mode):
    os.makedirs(os.path.dirname(path))
    other = sqlite3.connect(path)
    other.execute(f"PRAGMA journal_mode = {journal_mode}")
    with other:
        other.execute("CREATE TABLE theirs (a)")
    other.close()
    before = content(path)
    with pytest.raises(StoreUnreadable, match="another program"):
        Database(path, SCHEMA)
    assert content(path) == before
    assert os.listdir(os.path.dirname(path)) == ["store.sqlite"]


def test_a_database_in_use_by_another_program_is_not_even_checkpointed(path):
    os.makedirs(os.path.dirname(path))
    other = apsw.Connection(path)
    other.pragma("journal_mode", "wal")
    other.execute("CREATE TABLE theirs (a)")
    before = content(path)
    with pytest.raises(StoreUnreadable, match="another program"):
        Database(path, SCHEMA)
    assert content(path) == before
    assert other.execute("SELECT count(*) FROM theirs").get == 0
    other.close()


def test_a_store_from_the_future_is_refused_and_left_byte_for_byte(path):
    Database(path, Schema(SCHEMA.application_id, (FIRST, SECOND))).close()
    before = content(path)
    with pytest.raises(StoreUnreadable, match="schema version 2; this program knows 1"):
        Database(path, SCHEMA)
    assert content(path) == before
    assert os.listdir(os.path.dirname(path)) == ["store.sqlite"]


def test_a_store_of_the_past_is_brought_up_to_date_once(path, database):
    put(database, "old")
    newer = Schema(SCHEMA.application_id, (FIRST, SECOND))
    for _ in range(2):
        upgraded = Database(path, newer)
        with upgraded.read() as connection:
            assert connection.execute("SELECT name, more FROM thing").fetchall() == [("old", None)]
            steps = connection.execute("SELECT version, name FROM schema_migrations").fetchall()
            assert steps == [(1, "001_things"), (2, "002_more")]
        upgraded.close()


def test_a_migration_that_fails_leaves_nothing_of_itself(path, database):
    def half(connection):
        connection.execute("CREATE TABLE half (a)")
        raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        Database(path, Schema(SCHEMA.application_id, (FIRST, Migration("002_half", half))))
    again = Database(path, SCHEMA)
    with again.read() as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").get == 0
        assert connection.execute("SELECT max(version) FROM schema_migrations").get == 1
    again.close()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x00\x01\x02 not a database " * 400, "damaged"),
        (b"SQLite format 3\x00" + b"\xff" * 5_000, "damaged"),
        (b"abc", "damaged"),
    ],
    ids=["noise", "header alone", "three bytes"],
)
def test_what_is_no_database_is_refused_and_left_alone(path, data, message):
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as file:
        file.write(data)
    with pytest.raises(StoreUnreadable, match=message) as refusal:
        Database(path, SCHEMA)
    assert path in refusal.value.detail
    assert content(path) == data
    assert os.listdir(os.path.dirname(path)) == ["store.sqlite"]


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_what_others_may_do_with_an_older_store_is_taken_from_them(path):
    Database(path, SCHEMA).close()
    os.chmod(path, 0o664)
    database = Database(path, SCHEMA)
    put(database, "first")
    modes = {name: stat.S_IMODE(os.stat(f"{path}{name}").st_mode) for name in ("", "-wal", "-shm")}
    database.close()
    assert modes == {"": 0o600, "-wal": 0o600, "-shm": 0o600}


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_the_mode_of_what_is_not_ours_is_left(path):
    os.makedirs(os.path.dirname(path))
    foreign = apsw.Connection(path)
    foreign.execute("CREATE TABLE other (x)")
    foreign.close()
    os.chmod(path, 0o644)
    with pytest.raises(StoreUnreadable):
        Database(path, SCHEMA)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o644


def test_a_folder_where_the_store_should_be_is_named_as_such(path):
    os.makedirs(path)
    with pytest.raises(StoreUnreadable, match="is a folder"):
        Database(path, SCHEMA)


def test_a_file_of_no_bytes_is_a_store_that_nobody_has_begun(path):
    os.makedirs(os.path.dirname(path))
    with open(path, "wb"):
        pass
    database = Database(path, SCHEMA)
    put(database, "first")
    assert names(database) == ["first"]
    database.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    path = str(tmp_path / "file" / "store.sqlite")
    with pytest.raises(StoreUnreadable, match="cannot create the folder"):
        Database(path, SCHEMA)


# --- transactions ------------------------------------------------------------------------------------------------------


def test_a_block_that_raises_leaves_nothing(database):
    put(database, "kept")
    with pytest.raises(ValueError, match="no"), database.write() as connection:
        connection.execute("INSERT INTO thing (name) VALUES ('lost')")
        raise ValueError("no")
    assert names(database) == ["kept"]
    put(database, "after")
    assert names(database) == ["kept", "after"]


def test_a_write_that_need_not_be_durable_does_not_make_the_next_one_so(database):
    with database.write(durable=False) as connection:
        assert connection.pragma("synchronous") == 1
    with database.write() as connection:
        assert connection.pragma("synchronous") == 2


def test_a_reader_sees_one_state(database):
    put(database, "one")
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM thing").get == 1
        in_thread(lambda: put(database, "two") or True)
        assert connection.execute("SELECT count(*) FROM thing").get == 1
    assert names(database) == ["one", "two"]


# --- threads -----------------------------------------------------------------------------------------------------------


def test_each_thread_has_a_connection_of_its_own(database):
    mine = database.connection
    assert in_thread(lambda: database.connection) is not mine
    assert database.connection is mine


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts open files in /proc")
def test_threads_that_come_and_go_leave_no_files_open(database):
    in_thread(lambda: names(database) or True)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(30):
        in_thread(lambda: names(database) or True)
    assert len(os.listdir("/proc/self/fd")) <= before + 3


def test_after_closing_the_next_use_opens_again(database):
    put(database, "one")
    database.close()
    assert names(database) == ["one"]
    assert not os.path.exists(database.path + "-journal")


def test_closing_leaves_a_statement_that_runs_to_its_thread(database):
    put(database, "one")
    running, closed = threading.Event(), threading.Event()

    def slow():
        running.set()
        assert closed.wait(30)
        return 1

    def read():
        with database.read() as connection:
            connection.create_scalar_function("slow", slow)
            return connection.execute("SELECT name FROM thing WHERE slow()").get

    outcome = []
    thread = threading.Thread(target=lambda: outcome.append(read()))
    thread.start()
    assert running.wait(30)
    database.close()
    closed.set()
    thread.join(30)
    assert outcome == ["one"]
    assert names(database) == ["one"]


def test_a_checkpoint_that_another_is_making_is_left_to_it(database, monkeypatch):
    class Busy:
        def wal_checkpoint(self, mode):
            raise apsw.BusyError("database is locked")

    put(database, "one")
    with monkeypatch.context() as patched:
        patched.setattr(database._local, "connection", Busy())
        database.checkpoint()
    database.checkpoint()
    assert names(database) == ["one"]


def test_damage_is_told_and_a_sound_file_says_nothing(database, path):
    for n in range(200):
        put(database, f"name {n} " + "filler " * 30)
    assert database.damage() == []
    database.close()
    with open(path, "r+b") as file:
        file.seek(-4096, os.SEEK_END)
        file.write(b"\xff" * 4096)
    again = Database(path, SCHEMA)
    assert any("page" in line.lower() or "malformed" in line for line in again.damage())
    again.close()
