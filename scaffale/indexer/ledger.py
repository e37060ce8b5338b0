"""The ledger of sessions: decisions, appended and never rewritten. The only SQL on its tables.

What holds of a session is a view over its lines, never a change of them: a decision that was withdrawn, superseded, or
taken in a phase before which the session went back, is not effective any more, and nothing makes it so again. A session
is read with its texts left out wherever these do not matter.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.model import CONCEPT, DECLINED, PROMOTED, REJECTED, REOPENED, WITHDRAWN, Decision, Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

ACTS = frozenset((WITHDRAWN, REOPENED, PROMOTED, DECLINED))  # about other decisions, or phases: they always stand

_COLUMNS = (
    "seq, at, place, type, subject, detail, rationale, question_context, concepts_json, actor, supersedes_seq, about_seq"
)
_SESSION = "number, project_id, id, title, phases_json, created_at, created_by"


class Line(NamedTuple):
    """A decision without its texts. `place` is that of its phase among those of the session."""

    seq: int
    place: int
    type: str
    supersedes_seq: int | None
    about_seq: int | None


class Cause(NamedTuple):
    """Why a decision is not effective: it is `withdrawn`, `superseded` or `stale`, by the line `by`."""

    reason: str
    by: int


def create(connection: apsw.Connection) -> None:
    """The tables, as a step of the store's migrations."""
    for statement in (
        "CREATE TABLE ledger_sessions (number INTEGER PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),"
        " id TEXT NOT NULL, title TEXT, phases_json TEXT NOT NULL, created_at TEXT NOT NULL, created_by TEXT,"
        " UNIQUE (project_id, id)) STRICT",
        "CREATE TABLE ledger_decisions (session INTEGER NOT NULL REFERENCES ledger_sessions (number), seq INTEGER NOT NULL,"
        " at TEXT NOT NULL, place INTEGER NOT NULL, type TEXT NOT NULL, subject TEXT NOT NULL, detail TEXT NOT NULL,"
        " rationale TEXT, question_context TEXT, concepts_json TEXT, actor TEXT, supersedes_seq INTEGER,"
        " about_seq INTEGER, PRIMARY KEY (session, seq)) STRICT",
        "CREATE INDEX ledger_decisions_type ON ledger_decisions (type, session, seq)",
        "CREATE TABLE ledger_names (session INTEGER NOT NULL REFERENCES ledger_sessions (number), name TEXT NOT NULL,"
        " PRIMARY KEY (session, name)) STRICT, WITHOUT ROWID",
        "CREATE TRIGGER ledger_decisions_once BEFORE INSERT ON ledger_decisions WHEN EXISTS"
        " (SELECT 1 FROM ledger_decisions WHERE session = NEW.session AND seq = NEW.seq)"
        " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
        "CREATE TRIGGER ledger_decisions_stay BEFORE UPDATE ON ledger_decisions"
        " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
        "CREATE TRIGGER ledger_decisions_remain BEFORE DELETE ON ledger_decisions"
        " BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    ):
        connection.execute(statement)


# --- sessions ----------------------------------------------------------------------------------------------------------


def open_session(connection: apsw.Connection, session: Session) -> Session:
    """A new session, with its number. The project is there."""
    connection.execute(
        "INSERT INTO ledger_sessions (project_id, id, title, phases_json, created_at, created_by) VALUES (?, ?, ?, ?, ?, ?)",
        (
            session.project_id, session.id, session.title, json.dumps(session.phases, ensure_ascii=False), session.created_at,
            session.created_by,
        ),
    )  # fmt: skip
    return session._replace(number=connection.last_insert_rowid())


def find(connection: apsw.Connection, project_id: str, id: str) -> Session | None:
    """The session of this id in the project."""
    row = connection.execute(
        f"SELECT {_SESSION} FROM ledger_sessions WHERE project_id = ? AND id = ?", (project_id, id)
    ).fetchone()
    return _session(row) if row else None


def sessions(connection: apsw.Connection, project_id: str, limit: int = -1, offset: int = 0) -> list[Session]:
    """The sessions of a project, oldest first."""
    rows = connection.execute(
        f"SELECT {_SESSION} FROM ledger_sessions WHERE project_id = ? ORDER BY number LIMIT ? OFFSET ?",
        (project_id, limit, offset),
    )
    return [_session(row) for row in rows]


def undecided(connection: apsw.Connection, project_id: str) -> list[Session]:
    """The sessions of a project in which some clarified concept bears no mark of the review yet, oldest first."""
    rows = connection.execute(
        f"SELECT {_SESSION} FROM ledger_sessions AS s WHERE project_id = ?1 AND"
        " (SELECT count(*) FROM ledger_decisions AS c WHERE c.type = ?2 AND c.session = s.number) >"
        " (SELECT count(DISTINCT m.about_seq) FROM ledger_decisions AS m JOIN ledger_decisions AS c"
        " ON c.session = m.session AND c.seq = m.about_seq AND c.type = ?2"
        " WHERE m.type IN (?3, ?4) AND m.session = s.number) ORDER BY number",
        (project_id, CONCEPT, PROMOTED, DECLINED),
    )
    return [_session(row) for row in rows]


def count_sessions(connection: apsw.Connection, project_id: str) -> int:
    """How many sessions the project has."""
    return int(connection.execute("SELECT count(*) FROM ledger_sessions WHERE project_id = ?", (project_id,)).get)


# --- decisions ---------------------------------------------------------------------------------------------------------


def append(connection: apsw.Connection, session: Session, decision: Decision) -> int:
    """A new line at the end of the session's ledger; its number is given here and returned. Its phase is one of those of
    the session."""
    d = decision
    connection.execute(
        f"INSERT INTO ledger_decisions (session, {_COLUMNS}) SELECT ?1, 1 + coalesce(max(seq), 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
        " ?9, ?10, ?11, ?12 FROM ledger_decisions WHERE session = ?1",
        (
            session.number, d.at, session.phases.index(d.phase), d.type, d.subject, d.detail, d.rationale, d.question_context,
            json.dumps(d.concepts, ensure_ascii=False) if d.concepts else None, d.actor, d.supersedes_seq, d.about_seq,
        ),
    )  # fmt: skip
    return last(connection, session)[0]


def last(connection: apsw.Connection, session: Session) -> tuple[int, int]:
    """Number and place of phase of the last line; zeros in an empty ledger. The place is where the session stands."""
    row: Any = connection.execute(
        "SELECT seq, place FROM ledger_decisions WHERE session = ? ORDER BY seq DESC LIMIT 1", (session.number,)
    ).fetchone()
    return row or (0, 0)


def decision(connection: apsw.Connection, session: Session, seq: int) -> Decision | None:
    """The line of this number."""
    return next(iter(decisions(connection, session, seqs=(seq,))), None)


def decisions(
    connection: apsw.Connection,
    session: Session,
    *,
    seqs: Iterable[int] | None = None,
    types: Sequence[str] = (),
    after: int = 0,
    limit: int = -1,
) -> Iterator[Decision]:
    """The lines above a number, in their order; of these numbers, or of these types, when they are named."""
    where, parameters = "session = ? AND seq > ?", [session.number, after]
    if seqs is not None:
        where += " AND seq IN (SELECT value FROM json_each(?))"
        parameters.append(json.dumps(list(seqs)))  # type: ignore[arg-type]
    if types:
        where += f" AND type IN ({', '.join('?' * len(types))})"
        parameters += types  # type: ignore[arg-type]
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM ledger_decisions WHERE {where} ORDER BY seq LIMIT ?", (*parameters, limit)
    )
    phases = session.phases
    for seq, at, place, type, subject, detail, rationale, question, concepts, actor, supersedes, about in rows:
        yield Decision(
            seq, at, phases[place], type, subject, detail, rationale, question,
            tuple(json.loads(concepts)) if concepts else (), actor, supersedes, about,
        )  # fmt: skip


def citing(connection: apsw.Connection, session: Session, begun: str) -> list[Decision]:
    """The clarified concepts whose rationale holds that beginning of a name, and all rejections of concepts."""
    rows = connection.execute(
        "SELECT seq FROM ledger_decisions WHERE session = ?1 AND (type = ?2 AND instr(rationale, ?3) OR type = ?4)",
        (session.number, CONCEPT, begun, REJECTED),
    )
    seqs = [seq for (seq,) in rows]
    return list(decisions(connection, session, seqs=seqs)) if seqs else []


def outline(connection: apsw.Connection, session: Session) -> list[Line]:
    """All lines without their texts."""
    rows = connection.execute(
        "SELECT seq, place, type, supersedes_seq, about_seq FROM ledger_decisions WHERE session = ? ORDER BY seq",
        (session.number,),
    )
    return list(map(Line._make, rows))


def not_effective(lines: Sequence[Line]) -> dict[int, Cause]:
    """Which decisions of a session do not hold any more, each with the first line that made it so. All others are the
    session's effective decisions.

    Read from the end, so that for each line what came after it is known: the time it takes grows with the lines alone.
    """
    causes: dict[int, Cause] = {}
    ended: dict[int, Cause] = {}  # line → the first withdrawal or supersession of it
    stale: dict[int, int] = {}  # place → the next line, from here on, that went back before it
    highest = max((line.place for line in lines), default=0)
    for line in reversed(lines):
        if line.type not in ACTS:
            cause = ended.get(line.seq)
            back = stale.get(line.place)
            if back is not None and (cause is None or back < cause.by):
                cause = Cause("stale", back)
            if cause:
                causes[line.seq] = cause
        if line.type == WITHDRAWN and line.about_seq is not None:
            ended[line.about_seq] = Cause("withdrawn", line.seq)
        elif line.type == REOPENED:
            stale.update(dict.fromkeys(range(line.place + 1, highest + 1), line.seq))
        if line.supersedes_seq is not None:
            ended[line.supersedes_seq] = Cause("superseded", line.seq)
    return causes


def link_name(connection: apsw.Connection, session: Session, name: str) -> None:
    """A decision of the session is about the table or column of this name."""
    connection.execute("INSERT OR IGNORE INTO ledger_names VALUES (?, ?)", (session.number, name))


def linked_names(connection: apsw.Connection, session: Session, among: Iterable[str] | None = None) -> set[str]:
    """The names of tables and columns that decisions of the session are about; of those asked for."""
    if among is None:
        rows = connection.execute("SELECT name FROM ledger_names WHERE session = ?", (session.number,))
    else:
        rows = connection.execute(
            "SELECT name FROM ledger_names WHERE session = ? AND name IN (SELECT value FROM json_each(?))",
            (session.number, json.dumps(list(among))),
        )
    return {name for (name,) in rows}


def places_of(connection: apsw.Connection, session: Session, seqs: Iterable[int]) -> dict[int, int]:
    """Number → place of phase, of these lines."""
    rows = connection.execute(
        "SELECT seq, place FROM ledger_decisions WHERE session = ? AND seq IN (SELECT value FROM json_each(?))",
        (session.number, json.dumps(list(seqs))),
    )
    return dict(rows)


def _session(row: tuple[Any, ...]) -> Session:
    number, project, id, title, phases, at, by = row
    return Session(number, project, id, title, tuple(json.loads(phases)), at, by)
