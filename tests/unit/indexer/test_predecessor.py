"""A store that the predecessor server wrote: taken over once, whole, with a copy of it as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import apsw
import pytest

from scaffale.errors import StoreUnreadable
from scaffale.indexer import entries
from scaffale.indexer.database import Database

# The tables as `memory-node` made them, its full-text table and triggers included.
SCHEMA = """
CREATE TABLE schema_migrations (id TEXT PRIMARY KEY, applied_at TEXT NOT NULL);
CREATE TABLE projects (id TEXT PRIMARY KEY, canonical_path TEXT, display_name TEXT, git_remote TEXT, created_at TEXT NOT NULL,
 updated_at TEXT NOT NULL, metadata_json TEXT);
CREATE TABLE memory_entries (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, scope TEXT NOT NULL, topic TEXT NOT NULL, title TEXT,
 content TEXT NOT NULL, summary TEXT, source_type TEXT NOT NULL, source_ref TEXT, source_path TEXT, source_uri TEXT,
 content_sha256 TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active', confidence REAL, importance INTEGER DEFAULT 3,
 created_by TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, invalidated_at TEXT, invalidation_reason TEXT,
 metadata_json TEXT, FOREIGN KEY(project_id) REFERENCES projects(id));
CREATE INDEX idx_entries_project ON memory_entries(project_id);
CREATE VIRTUAL TABLE memory_entries_fts USING fts5(entry_id UNINDEXED, title, content, summary, scope, topic);
CREATE TRIGGER entries_ai AFTER INSERT ON memory_entries BEGIN INSERT INTO memory_entries_fts(entry_id, title, content, summary,
 scope, topic) VALUES (new.id, new.title, new.content, new.summary, new.scope, new.topic); END;
CREATE TABLE memory_tags (id INTEGER PRIMARY KEY AUTOINCREMENT, project_id TEXT NOT NULL, name TEXT NOT NULL, description TEXT,
 created_at TEXT NOT NULL, UNIQUE(project_id, name));
CREATE TABLE memory_entry_tags (entry_id TEXT NOT NULL, tag_id INTEGER NOT NULL, PRIMARY KEY(entry_id, tag_id),
 FOREIGN KEY(entry_id) REFERENCES memory_entries(id), FOREIGN KEY(tag_id) REFERENCES memory_tags(id));
CREATE TABLE memory_links (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, source_entry_id TEXT NOT NULL, target_entry_id TEXT NOT
 NULL, relation TEXT NOT NULL, label TEXT, created_at TEXT NOT NULL, metadata_json TEXT);
CREATE TABLE audit_log (id TEXT PRIMARY KEY, timestamp TEXT NOT NULL, project_id TEXT, operation TEXT NOT NULL, entry_id TEXT,
 actor TEXT, params_redacted_json TEXT, result_json TEXT)
"""


@pytest.fixture
def store(make_settings):
    path = make_settings().memory_db_path
    os.makedirs(os.path.dirname(path), mode=0o700)
    connection = apsw.Connection(path)
    body, statement = SCHEMA.split(";\n"), ""
    for part in body:
        statement += part + ";\n"
        if statement.count("BEGIN") == statement.count("END;"):
            connection.execute(statement)
            statement = ""
    at = "2026-05-12T10:00:00.000Z"
    connection.execute("INSERT INTO projects VALUES ('cliente-x/app', '/work/app', 'App', NULL, ?, ?, NULL)", (at, at))
    for n, (scope, status, when, importance) in enumerate(
        [("Back End", "active", at, 4), ("backend", "invalidated", "2026-05-13 11:30:00", None), ("web", "weird", at, 9)], 1
    ):
        connection.execute(
            "INSERT INTO memory_entries (id, project_id, scope, topic, content, source_type, content_sha256, status, importance,"
            " created_at, updated_at) VALUES (?, 'cliente-x/app', ?, 'Auth', ?, 'decision', 'x', ?, ?, ?, ?)",
            (f"entry-{n}", scope, f"The middleware note number {n}.\r\n", status, importance, when, when),
        )
    connection.execute("INSERT INTO memory_tags VALUES (7, 'cliente-x/app', 'Bug Fix', NULL, ?)", (at,))
    connection.execute("INSERT INTO memory_entry_tags VALUES ('entry-1', 7)")
    project = "cliente-x/app"
    connection.execute(
        "INSERT INTO memory_links VALUES ('l', ?, 'entry-1', 'entry-2', 'supersedes', NULL, ?, NULL)", (project, at)
    )
    connection.execute(
        "INSERT INTO audit_log VALUES ('a', ?, ?, 'memory_add_entry', 'entry-1', 'x', '{}', '{}')", (at, project)
    )
    connection.close()
    return path


def test_everything_is_taken_over_once_and_the_old_file_is_kept(store, open_memory):
    memory = open_memory()
    found = memory.search(query="middleware", project_id="cliente-x/app", status="any")
    assert {hit.id for hit in found.results} == {"entry-1", "entry-2", "entry-3"}
    assert [hit.id for hit in memory.search(query="middleware", project_id="cliente-x/app").results] == ["entry-1"]
    entry = memory.read_entry(entry_id="entry-1", project_id="cliente-x/app").entry
    assert (entry.content, entry.scope, entry.tags) == ("The middleware note number 1.\r\n", "back-end", ("bug-fix",))
    assert (entry.importance, entry.updated_at) == (4, "2026-05-12T10:00:00.000Z")
    later = memory.read_entry(entry_id="entry-2", project_id="cliente-x/app").entry
    assert (later.status, later.importance, later.created_at) == ("invalidated", 3, "2026-05-13T11:30:00.000Z")
    odd = memory.read_entry(entry_id="entry-3", project_id="cliente-x/app").entry
    assert (odd.status, odd.importance) == ("archived", 5)
    (report,) = [warning for warning in memory.status().warnings if "predecessor" in warning]
    assert "3 entries" in report
    assert f"{store}.predecessor" in report
    kept = apsw.Connection(f"{store}.predecessor")
    assert kept.execute("SELECT count(*) FROM memory_entries_fts WHERE memory_entries_fts MATCH 'middleware'").get == 3
    kept.close()
    assert os.stat(f"{store}.predecessor").st_mode & 0o077 == 0
    memory.close()
    assert not open_memory().status().warnings


def test_links_and_the_audit_come_along(store, open_memory):
    memory = open_memory()
    memory.add_entry(actor="t", project_id="cliente-x/app", scope="s", topic="t", content="New.", source_type="decision")
    database, _ = memory._open()
    link = database.connection.execute("SELECT id, relation, target_type FROM memory_links").get
    assert link == ("l", "supersedes", "memory_entry")
    rows = database.connection.execute("SELECT operation, outcome FROM audit_log ORDER BY seq").fetchall()
    assert rows == [("memory_add_entry", "ok"), ("memory_add_entry", "ok")]
    tables = {name for (name,) in database.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert not {name for name in tables if name.startswith("predecessor_")}
    assert not any("fts" in name for name in tables)


def test_a_duplicate_of_an_old_entry_is_recognised(store, open_memory):
    added = open_memory().add_entry(
        actor="t", project_id="cliente-x/app", scope="back end", topic="t", content="The middleware note number 1.\r\n",
        source_type="decision",
    )  # fmt: skip
    assert added.existing_entry_id == "entry-1"


def test_many_at_once_take_it_over_once(store):
    opened, barrier = [], threading.Barrier(4)

    def open_it():
        barrier.wait()
        opened.append(Database(store, entries.SCHEMA))

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 4
    assert sum(database.report is not None for database in opened) == 1
    assert {database.uuid for database in opened} == {opened[0].uuid}
    assert opened[0].connection.execute("SELECT count(*) FROM memory_entries").get == 3
    for database in opened:
        database.close()
    assert sorted(os.listdir(os.path.dirname(store))) == ["memory.sqlite", "memory.sqlite.predecessor"]


def test_what_fails_half_way_leaves_the_old_store(store, monkeypatch):
    from scaffale.indexer import predecessor

    monkeypatch.setattr(predecessor, "_take_tags", lambda connection: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Database(store, entries.SCHEMA)
    monkeypatch.undo()
    database = Database(store, entries.SCHEMA)
    assert database.connection.execute("SELECT count(*) FROM memory_entry_tags").get == 1
    database.close()


def test_any_other_store_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE projects (id TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnreadable):
        Database(str(path), entries.SCHEMA)
    assert path.read_bytes() == before


def test_the_command_line_opens_it_too(store, tmp_path):
    environ = {**os.environ, "HOME": str(tmp_path / "home"), "MEMORY_DEBUG": "1"}
    command = [sys.executable, "-c", "from scaffale.server.cli import main; raise SystemExit(main())"]
    answer = subprocess.run(
        [*command, "search", "--memory", "--project-id", "cliente-x/app", "middleware"],
        env=environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "entry-1" in answer.stdout
