"""How an entry changes and goes: its revisions, and deletion. With `entries.py` and `links.py` the only SQL on memory.

A revision keeps what the change replaced, so the newest text stands in the entry and the older ones behind it, in the
order of acknowledgement. Deleting takes all of it; what stays is the trail of ids, times and digests.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.indexer import clock, journal
from scaffale.indexer.entries import Row, tag_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from scaffale.model import Entry

_COLUMNS = frozenset(
    "scope topic title content summary source_type source_ref source_path source_uri content_sha256 status confidence"
    " importance invalidated_at invalidation_reason".split()
)


class Revision(NamedTuple):
    """One change. `earlier` holds the fields that it replaced, as they were; absent ones are `None`."""

    number: int
    at: str
    actor: str | None
    operation: str
    reason: str | None
    earlier: dict[str, Any]


def create(connection: apsw.Connection) -> None:
    """The table, as a step of the store's migrations."""
    connection.execute(
        "CREATE TABLE memory_revisions (seq INTEGER PRIMARY KEY, entry_id TEXT NOT NULL"
        " REFERENCES memory_entries (id) ON DELETE CASCADE, number INTEGER NOT NULL, at TEXT NOT NULL, actor TEXT,"
        " operation TEXT NOT NULL, reason TEXT, earlier_json TEXT NOT NULL, UNIQUE (entry_id, number)) STRICT"
    )


def next_time(row: Row) -> str:
    """The time of a change that is made now: later than the entry's last one, whatever the clock says."""
    return clock.iso(max(clock.milliseconds(), clock.milliseconds_of(row.entry.updated_at) + 1))


def change(
    connection: apsw.Connection,
    row: Row,
    new: Mapping[str, Any],
    *,
    operation: str,
    actor: str | None,
    at: str,
    reason: str | None = None,
) -> int:
    """Give the entry new values, keep the old ones as a revision, and note it in the journal. Returns its number."""
    entry = row.entry
    number = int(
        connection.execute("SELECT coalesce(max(number), 0) + 1 FROM memory_revisions WHERE entry_id = ?", (entry.id,)).get
    )
    earlier = {name: getattr(entry, name) for name in new}
    connection.execute(
        "INSERT INTO memory_revisions (entry_id, number, at, actor, operation, reason, earlier_json)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (entry.id, number, at, actor, operation, reason, json.dumps(earlier, ensure_ascii=False)),
    )
    values = {name: value for name, value in new.items() if name in _COLUMNS}
    if "metadata" in new:
        values["metadata_json"] = json.dumps(new["metadata"], ensure_ascii=False)
    connection.execute(
        f"UPDATE memory_entries SET {', '.join(f'{name} = ?' for name in (*values, 'updated_at'))} WHERE rid = ?",
        (*values.values(), at, row.rid),
    )
    if "tags" in new:
        connection.execute("DELETE FROM memory_entry_tags WHERE entry_id = ?", (entry.id,))
        tag_entry(connection, entry.id, entry.project_id, new["tags"], at)
        _drop_unused_tags(connection, entry)
    journal.append(connection, row.rid)
    return number


def invalidate(connection: apsw.Connection, row: Row, reason: str | None, actor: str | None, at: str) -> None:
    """The entry is not valid any more. It stays readable, and leaves the searches that do not ask for it."""
    new = {"status": "invalidated", "invalidated_at": at, "invalidation_reason": reason}
    change(connection, row, new, operation="invalidated", actor=actor, at=at, reason=reason)


def of(connection: apsw.Connection, entry_id: str) -> list[Revision]:
    """The changes of an entry, oldest first."""
    found = connection.execute(
        "SELECT number, at, actor, operation, reason, earlier_json FROM memory_revisions WHERE entry_id = ? ORDER BY number",
        (entry_id,),
    )
    return [Revision._make((*row[:5], json.loads(row[5]))) for row in found]


def tombstone(connection: apsw.Connection, key: bytes, row: Row) -> dict[str, Any]:
    """Delete the entry with its tags, links and revisions, and return what is remembered of it: times and digests.

    The files still hold its bytes until they are purged (`Projection.purge`); the journal remembers that.
    """
    from scaffale.indexer import audit, vectors

    entry = row.entry
    stone = {
        "deleted": True,
        "content_digest": audit.digest(key, entry.content),
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
        "invalidated_at": entry.invalidated_at,
    }
    for name, what in (
        ("links", "memory_links WHERE source_entry_id = ?1 OR target_entry_id = ?1"),
        ("revisions", "memory_revisions WHERE entry_id = ?1"),
    ):
        stone[name] = int(connection.execute(f"SELECT count(*) FROM {what}", (entry.id,)).get)
    connection.execute(  # its number is never given again: an index that lags must not find another entry under it
        "INSERT INTO store VALUES ('deleted_rid', ?1) ON CONFLICT (key) DO UPDATE SET value = max(value, ?1)", (row.rid,)
    )
    connection.execute("DELETE FROM memory_entries WHERE rid = ?", (row.rid,))
    _drop_unused_tags(connection, entry)
    vectors.forget(connection, row.rid)
    journal.forget(connection, row.rid)
    return stone


def _drop_unused_tags(connection: apsw.Connection, entry: Entry) -> None:
    """Of the tags that the entry bore, those that no entry bears any more."""
    connection.executemany(
        "DELETE FROM memory_tags WHERE project_id = ? AND name = ? AND NOT EXISTS"
        " (SELECT 1 FROM memory_entry_tags WHERE tag_id = memory_tags.id)",
        [(entry.project_id, tag) for tag in entry.tags],
    )
