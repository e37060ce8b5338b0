"""A memory store that the predecessor server (`memory-node`) wrote: recognised, and taken over with all it holds.

It is a SQLite file of the same name at the same place, with no application id and an FTS5 table kept by triggers. A copy
is made beside it first (`Database`); then, in the transaction that creates the new schema, its tables are set aside, read
over, and dropped. Contents stay word for word; scopes, topics and tags take the form in which they are asked for.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from scaffale.indexer import clock, journal
from scaffale.model import RELATIONS, SOURCE_TYPES, STATUSES
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

_TABLES = {"projects", "memory_entries", "memory_tags", "memory_entry_tags"}
_MARKS = {"id", "project_id", "scope", "topic", "content", "content_sha256", "source_type", "status"}
_OLD = "predecessor_"
_LINKS = f"{_OLD}memory_links"
_DROPPED_LAST = [f"{_OLD}{table}" for table in ("memory_entry_tags", "memory_tags", "memory_entries", "projects")]
_ENTRY = (
    "id", "project_id", "scope", "topic", "title", "content", "summary", "source_type", "source_ref", "source_path",
    "source_uri", "status", "confidence", "importance", "created_by", "created_at", "updated_at", "invalidated_at",
    "invalidation_reason", "metadata_json",
)  # fmt: skip


def recognises(connection: apsw.Connection) -> bool:
    """Whether the file is one of the predecessor's. Changes nothing."""
    return connection.pragma("application_id") == 0 and _names(connection, "table") >= _TABLES and _columns(
        connection, "memory_entries"
    ) >= _MARKS


def set_aside(connection: apsw.Connection) -> None:
    """Rename the predecessor's tables out of the way of the new ones; drop what only served its search."""
    for trigger in sorted(_names(connection, "trigger")):
        connection.execute(f'DROP TRIGGER "{trigger}"')
    for table in [name for name in _names(connection, "table") if name.endswith("_fts")]:
        connection.execute(f'DROP TABLE "{table}"')
    for table in _names(connection, "table"):
        if not table.startswith("sqlite_"):
            connection.execute(f'ALTER TABLE "{table}" RENAME TO "{_OLD}{table}"')
    for index in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").fetchall():
        connection.execute(f'DROP INDEX "{index[0]}"')


def take_over(connection: apsw.Connection) -> str:
    """Read the tables that were set aside into the new ones, drop them, and say what came over."""
    for row in _rows(connection, "projects", ("id", "canonical_path", "display_name", "git_remote", "created_at", "updated_at")):
        id_, path, name, remote, created, updated = row
        connection.execute(
            "INSERT INTO projects (id, canonical_path, display_name, git_remote, created_at, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (id_, path, name, remote, _time(created), _time(updated)),
        )
        if path:
            connection.execute("INSERT INTO project_folders VALUES (?, ?, ?)", (id_, path, _time(created)))
    entries = sum(_take_entry(connection, dict(zip(_ENTRY, row, strict=True))) for row in _entries(connection))
    _take_tags(connection)
    _take_audit(connection)
    if _LINKS in _names(connection, "table"):
        _copy_links(connection)
    old = {name for name in _names(connection, "table") if name.startswith(_OLD)}
    for table in sorted(old, key=lambda name: _DROPPED_LAST.index(name) if name in _DROPPED_LAST else -1):
        connection.execute(f'DROP TABLE "{table}"')
    return f"{entries} entries were taken over from the predecessor's store"


def _entries(connection: apsw.Connection) -> Iterator[tuple[Any, ...]]:
    yield from _rows(connection, "memory_entries", _ENTRY, order="created_at, rowid")


def _take_entry(connection: apsw.Connection, old: dict[str, Any]) -> int:
    new = old | {
        "scope": slug(old["scope"]) or "unsorted",
        "topic": slug(old["topic"]) or "unsorted",
        "content_sha256": sha256(old["content"].encode()).hexdigest(),
        "source_type": old["source_type"] if old["source_type"] in SOURCE_TYPES else "agent_note",
        "status": old["status"] if old["status"] in STATUSES else "archived",
        "importance": min(5, max(1, int(old["importance"] or 3))),
        "confidence": None if old["confidence"] is None else min(1.0, max(0.0, float(old["confidence"]))),
        "created_at": _time(old["created_at"]),
        "updated_at": _time(old["updated_at"]),
        "invalidated_at": _time(old["invalidated_at"]) if old["invalidated_at"] else None,
    }
    connection.execute("INSERT OR IGNORE INTO projects (id, created_at, updated_at) VALUES (?, ?, ?)",
                       (new["project_id"], new["created_at"], new["created_at"]))  # fmt: skip
    connection.execute(
        f"INSERT INTO memory_entries ({', '.join(new)}) VALUES ({', '.join('?' * len(new))})", tuple(new.values())
    )
    journal.append(connection, connection.last_insert_rowid())
    return 1


def _take_tags(connection: apsw.Connection) -> None:
    born = connection.execute(
        f"SELECT et.entry_id, e.project_id, t.name, e.created_at FROM {_OLD}memory_entry_tags AS et"
        f" JOIN {_OLD}memory_tags AS t ON t.id = et.tag_id JOIN memory_entries AS e ON e.id = et.entry_id"
    ).fetchall()
    for entry, project, name, at in born:
        tag = slug(str(name))
        if tag:
            connection.execute(
                "INSERT OR IGNORE INTO memory_tags (project_id, name, created_at) VALUES (?, ?, ?)", (project, tag, at)
            )
            connection.execute(
                "INSERT OR IGNORE INTO memory_entry_tags SELECT ?, id FROM memory_tags WHERE project_id = ? AND name = ?",
                (entry, project, tag),
            )


def _take_audit(connection: apsw.Connection) -> None:
    if f"{_OLD}audit_log" not in _names(connection, "table"):
        return
    columns = ("id", "timestamp", "project_id", "operation", "entry_id", "actor", "params_redacted_json", "result_json")
    for id_, at, project, operation, entry, actor, params, result in _rows(connection, "audit_log", columns):
        connection.execute(
            "INSERT INTO audit_log (id, timestamp, project_id, operation, entry_id, actor, outcome, params_redacted_json,"
            " result_json) VALUES (?, ?, ?, ?, ?, ?, 'ok', ?, ?)",
            (id_, _time(at), project, operation, entry, actor, params or "{}", result or "{}"),
        )


def take_links(connection: apsw.Connection) -> None:
    """The links of a store that was taken over when there was no table for them: they waited under the old name."""
    tables = _names(connection, "table")
    if _LINKS in tables and f"{_OLD}memory_entries" not in tables:
        _copy_links(connection)
        connection.execute(f'DROP TABLE "{_LINKS}"')


def _copy_links(connection: apsw.Connection) -> None:
    columns = ("id", "project_id", "source_entry_id", "target_entry_id", "relation", "label", "created_at", "metadata_json")
    for id_, project, source, target, relation, label, at, metadata in _rows(connection, "memory_links", columns):
        connection.execute(
            "INSERT OR IGNORE INTO memory_links (id, project_id, source_entry_id, target_entry_id, target_type, relation,"
            " label, origin, metadata_json, created_at, updated_at) SELECT ?, ?, ?, ?, 'memory_entry', ?, ?, 'manual', ?, ?, ?"
            " WHERE (SELECT count(*) FROM memory_entries WHERE id IN (?, ?) AND project_id = ?) = 2",  # both ends are there
            (
                id_, project, source, target, relation if relation in RELATIONS else "related_to", label, metadata, _time(at),
                _time(at), source, target, project,
            ),
        )  # fmt: skip


def _rows(
    connection: apsw.Connection, table: str, columns: tuple[str, ...], *, order: str = "rowid"
) -> list[tuple[Any, ...]]:
    """The columns of a table that was set aside; one that it lacks is null."""
    there = _columns(connection, _OLD + table)
    wanted = ", ".join(column if column in there else "NULL" for column in columns)
    return connection.execute(f"SELECT {wanted} FROM {_OLD}{table} ORDER BY {order}").fetchall()


def _names(connection: apsw.Connection, kind: str) -> set[str]:
    found: list[Any] = connection.execute("SELECT name FROM sqlite_schema WHERE type = ?", (kind,)).fetchall()
    return {name for (name,) in found}


def _columns(connection: apsw.Connection, table: str) -> set[str]:
    found: list[Any] = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    return {name for (name,) in found}


def _time(text: object) -> str:
    """Whatever form a time had, in ours; the present where it had none."""
    try:
        at = datetime.fromisoformat(str(text))
    except ValueError:
        return clock.now()
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return clock.iso(int(at.timestamp() * 1000))
