"""What a look at the evidence of an entry saw, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw


class Check(NamedTuple):
    """One thing that was looked at. `outcome` is `same`, `changed`, `gone` or `unknown`."""

    check: str
    of: str
    outcome: str
    at: str


def create(connection: apsw.Connection) -> None:
    """The table, as a step of the store's migrations. Only the last look is kept."""
    connection.execute(
        "CREATE TABLE memory_checks (seq INTEGER PRIMARY KEY, entry_id TEXT NOT NULL"
        ' REFERENCES memory_entries (id) ON DELETE CASCADE, "check" TEXT NOT NULL, "of" TEXT NOT NULL,'
        " outcome TEXT NOT NULL, at TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE INDEX memory_checks_entry ON memory_checks (entry_id)")


def put(connection: apsw.Connection, entry_id: str, found: Sequence[Check]) -> None:
    """Remember this look in place of the last one."""
    connection.execute("DELETE FROM memory_checks WHERE entry_id = ?", (entry_id,))
    connection.executemany(
        'INSERT INTO memory_checks (entry_id, "check", "of", outcome, at) VALUES (?, ?, ?, ?, ?)',
        [(entry_id, *each) for each in found],
    )


def of(connection: apsw.Connection, entry_id: str) -> list[Check]:
    """What the last look saw."""
    rows = connection.execute(
        'SELECT "check", "of", outcome, at FROM memory_checks WHERE entry_id = ? ORDER BY seq', (entry_id,)
    )
    return [Check._make(row) for row in rows]
