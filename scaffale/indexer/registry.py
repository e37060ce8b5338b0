"""The registry of concepts: which entries a person promoted, under which number, from which decisions.

Each decision is promoted once, and each number given once: the tables themselves say so, whoever comes at the same time.
Beside it the history: records of other kinds that an older registry held, kept as they were and read by nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from scaffale.model import Session


class Source(NamedTuple):
    """A decision that a concept was promoted from. `shaken_by` is the line of its ledger that ended it later."""

    session_id: str
    seq: int
    shaken_by: int | None


def create(connection: apsw.Connection) -> None:
    """The tables, as a step of the store's migrations."""
    for statement in (
        "CREATE TABLE ledger_concepts (project_id TEXT NOT NULL REFERENCES projects (id), number INTEGER NOT NULL,"
        " entry_id TEXT NOT NULL UNIQUE REFERENCES memory_entries (id), likeness TEXT NOT NULL,"
        " PRIMARY KEY (project_id, number)) STRICT",
        "CREATE INDEX ledger_concepts_likeness ON ledger_concepts (project_id, likeness)",
        "CREATE TABLE ledger_sources (session INTEGER NOT NULL, seq INTEGER NOT NULL, entry_id TEXT NOT NULL"
        " REFERENCES ledger_concepts (entry_id), shaken_by INTEGER, PRIMARY KEY (session, seq),"
        " FOREIGN KEY (session, seq) REFERENCES ledger_decisions (session, seq)) STRICT",
        "CREATE INDEX ledger_sources_entry ON ledger_sources (entry_id)",
        "CREATE TABLE ledger_history (seq INTEGER PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),"
        " digest TEXT NOT NULL, type TEXT NOT NULL, record_json TEXT NOT NULL, imported_at TEXT NOT NULL,"
        " UNIQUE (project_id, digest)) STRICT",
    ):
        connection.execute(statement)


def add(connection: apsw.Connection, project_id: str, entry_id: str, likeness: str, wanted: int | None = None) -> int:
    """Register an entry as a concept of the project; returns its number, the one that is wanted if nobody has it."""
    taken = wanted is None or connection.execute(
        "SELECT EXISTS (SELECT 1 FROM ledger_concepts WHERE project_id = ? AND number = ?)", (project_id, wanted)
    ).get
    number = wanted
    if taken:
        number = 1 + int(
            connection.execute("SELECT coalesce(max(number), 0) FROM ledger_concepts WHERE project_id = ?", (project_id,)).get
        )
    connection.execute("INSERT INTO ledger_concepts VALUES (?, ?, ?, ?)", (project_id, number, entry_id, likeness))
    return int(number or 0)


def like(connection: apsw.Connection, project_id: str, likeness: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Likeness → entry and number of the active concept that says the same, of those asked for."""
    rows = connection.execute(
        "SELECT c.likeness, c.entry_id, c.number FROM ledger_concepts AS c JOIN memory_entries AS e ON e.id = c.entry_id"
        " WHERE c.project_id = ? AND e.status = 'active' AND c.likeness IN (SELECT value FROM json_each(?))"
        " ORDER BY c.number DESC",  # so that of several the oldest stays
        (project_id, json.dumps(list(likeness))),
    )
    return {key: (entry_id, number) for key, entry_id, number in rows}


def liken(connection: apsw.Connection, entry_id: str, likeness: str) -> None:
    """The concept says something else now."""
    connection.execute("UPDATE ledger_concepts SET likeness = ? WHERE entry_id = ?", (likeness, entry_id))


def numbers(connection: apsw.Connection, project_id: str) -> dict[int, str]:
    """Number → entry, of all concepts of the project."""
    return dict(connection.execute("SELECT number, entry_id FROM ledger_concepts WHERE project_id = ?", (project_id,)))


# --- sources -----------------------------------------------------------------------------------------------------------


def add_source(connection: apsw.Connection, session: Session, seq: int, entry_id: str) -> None:
    """The concept was promoted from this decision, too."""
    connection.execute("INSERT INTO ledger_sources VALUES (?, ?, ?, NULL)", (session.number, seq, entry_id))


def promoted(connection: apsw.Connection, session: Session) -> dict[int, tuple[str, int]]:
    """Decision → entry and number of the concept, of all that were promoted from this session."""
    rows = connection.execute(
        "SELECT s.seq, s.entry_id, c.number FROM ledger_sources AS s JOIN ledger_concepts AS c USING (entry_id)"
        " WHERE s.session = ? ORDER BY s.seq",
        (session.number,),
    )
    return {seq: (entry_id, number) for seq, entry_id, number in rows}


def decided(connection: apsw.Connection, session: Session, numbers: Iterable[int]) -> dict[int, int]:
    """Number of the entry in the store → number of the concept, of those promoted from the session and of those numbers."""
    rows = connection.execute(
        "SELECT e.rid, c.number FROM ledger_concepts AS c JOIN memory_entries AS e ON e.id = c.entry_id WHERE c.project_id = ?1"
        " AND c.number IN (SELECT value FROM json_each(?2))"
        " UNION SELECT e.rid, c.number FROM ledger_sources AS s JOIN ledger_concepts AS c USING (entry_id)"
        " JOIN memory_entries AS e ON e.id = c.entry_id WHERE s.session = ?3",
        (session.project_id, json.dumps(list(numbers)), session.number),
    )
    return dict(rows)


def standing(connection: apsw.Connection, session: Session) -> list[int]:
    """The promoted decisions of the session that are still effective."""
    rows = connection.execute("SELECT seq FROM ledger_sources WHERE session = ? AND shaken_by IS NULL", (session.number,))
    return [seq for (seq,) in rows]


def shake(connection: apsw.Connection, session: Session, seqs: Iterable[int], by: int) -> None:
    """These promoted decisions have just been ended by a line of their ledger."""
    connection.executemany(
        "UPDATE ledger_sources SET shaken_by = ? WHERE session = ? AND seq = ? AND shaken_by IS NULL",
        [(by, session.number, seq) for seq in seqs],
    )


def shaken(connection: apsw.Connection, entry_ids: Iterable[str]) -> set[str]:
    """Which of the entries come from a decision that does not hold any more."""
    rows = connection.execute(
        "SELECT DISTINCT entry_id FROM ledger_sources WHERE shaken_by IS NOT NULL"
        " AND entry_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(entry_ids)),),
    )
    return {entry_id for (entry_id,) in rows}


def sources(connection: apsw.Connection, entry_id: str) -> list[Source]:
    """Which decisions a concept comes from, in the order of sessions and lines."""
    rows = connection.execute(
        "SELECT o.id, s.seq, s.shaken_by FROM ledger_sources AS s JOIN ledger_sessions AS o ON o.number = s.session"
        " WHERE s.entry_id = ? ORDER BY s.session, s.seq",
        (entry_id,),
    )
    return list(map(Source._make, rows))


# --- history -----------------------------------------------------------------------------------------------------------


def keep(connection: apsw.Connection, project_id: str, digest: str, type: str, record: dict[str, Any], at: str) -> bool:
    """Keep a record that is no concept; False when it is kept already."""
    connection.execute(
        "INSERT OR IGNORE INTO ledger_history (project_id, digest, type, record_json, imported_at) VALUES (?, ?, ?, ?, ?)",
        (project_id, digest, type, json.dumps(record, ensure_ascii=False, sort_keys=True), at),
    )
    return bool(connection.changes())
