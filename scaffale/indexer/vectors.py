"""The vectors of a store, and from which text each came. The only SQL on these tables; both stores have them.

Rules of this file: a vector is known by its space and the digest of its text, so that the same text is never embedded
twice; `vector_pieces` says which pieces a passage has; `vector_owners` says of each entry or document whether its vectors
stand (`job` 0) or are still to be made (`job` 1), and counts changes, which is what vector indexes follow. Functions run
in the caller's transaction. No model is asked here.
"""

from __future__ import annotations

import array as arrays
from functools import lru_cache
from operator import add as plus
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.backends import spaces
from scaffale.indexer import clock, pieces
from scaffale.indexer.database import array
from scaffale.model import Watermark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from scaffale.backends.ports import Row, Vector
    from scaffale.backends.spaces import Space
    from scaffale.model import Passage

LEASE_SECONDS = 60.0
MARKS_KEPT = 100_000  # changes; an index further behind is built anew
_INDEX = "vectors"  # our line among the indexes that the journal is kept for


def create(connection: apsw.Connection) -> None:
    """The tables, as a step of a store's migrations."""
    for statement in (
        # `walked`: owners up to here have been looked at since line `seq`; NULL when all have.
        "CREATE TABLE vector_spaces (id INTEGER PRIMARY KEY AUTOINCREMENT, identity TEXT NOT NULL UNIQUE, space TEXT NOT NULL,"
        " ready INTEGER NOT NULL DEFAULT 0, seq INTEGER NOT NULL DEFAULT 0, nonce INTEGER NOT NULL DEFAULT 0,"
        " walked INTEGER DEFAULT 0, change INTEGER NOT NULL DEFAULT 0,"
        " lease TEXT, lease_until REAL NOT NULL DEFAULT 0, created_at TEXT NOT NULL) STRICT",
        # By what an index knows that it followed these changes, and not those of a store that was rolled back.
        "CREATE TABLE vector_marks (space INTEGER NOT NULL REFERENCES vector_spaces ON DELETE CASCADE, change INTEGER NOT NULL,"
        " mark INTEGER NOT NULL, PRIMARY KEY (space, change)) STRICT, WITHOUT ROWID",
        "CREATE TABLE vectors (space INTEGER NOT NULL REFERENCES vector_spaces ON DELETE CASCADE, digest BLOB NOT NULL,"
        " vector BLOB NOT NULL, PRIMARY KEY (space, digest)) STRICT, WITHOUT ROWID",
        "CREATE TABLE vector_pieces (space INTEGER NOT NULL REFERENCES vector_spaces ON DELETE CASCADE,"
        " owner INTEGER NOT NULL, passage INTEGER NOT NULL, number INTEGER NOT NULL, digest BLOB NOT NULL,"
        " PRIMARY KEY (space, owner, passage, number)) STRICT, WITHOUT ROWID",
        "CREATE INDEX vector_pieces_digest ON vector_pieces (space, digest)",
        "CREATE TABLE vector_owners (space INTEGER NOT NULL REFERENCES vector_spaces ON DELETE CASCADE,"
        " owner INTEGER NOT NULL, change INTEGER NOT NULL, job INTEGER NOT NULL, problem TEXT,"
        " PRIMARY KEY (space, owner)) STRICT, WITHOUT ROWID",
        "CREATE INDEX vector_owners_change ON vector_owners (space, change)",
        "CREATE INDEX vector_jobs ON vector_owners (space, owner) WHERE job",
    ):
        connection.execute(statement)


# --- what was chosen -----------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """What `vectors enable` chose for a store: the backend, how lists are fused, and the space that is wanted."""

    backend: str
    fusion: str
    identity: str


def choice(connection: apsw.Connection) -> Choice | None:
    """What was chosen; `None` while vectors are off."""
    said = connection.execute("SELECT value FROM store WHERE key = 'vectors'").get
    if not said:
        return None
    backend, fusion, identity = str(said).split(" ")
    return Choice(backend, fusion, identity)


def choose(connection: apsw.Connection, chosen: Choice | None) -> None:
    """Turn vectors on as chosen, or off. What was embedded stays until `drop`."""
    connection.execute("DELETE FROM store WHERE key = 'vectors'")
    if chosen:
        connection.execute("INSERT INTO store VALUES ('vectors', ?)", (" ".join(chosen),))
    else:
        connection.execute("DELETE FROM lexical_indexes WHERE identity = ?", (_INDEX,))


# --- spaces --------------------------------------------------------------------------------------------------------


class SpaceRow(NamedTuple):
    """A space of the store. `ready`: it has served, or may; `change` counts what its indexes have to follow."""

    id: int
    space: Space
    ready: bool
    seq: int
    nonce: int
    walked: int | None
    change: int


_SPACE = "SELECT id, space, ready, seq, nonce, walked, change FROM vector_spaces"


def all_spaces(connection: apsw.Connection) -> list[SpaceRow]:
    """The spaces, the oldest first."""
    return [_space(row) for row in connection.execute(f"{_SPACE} ORDER BY id")]


def find(connection: apsw.Connection, identity: str) -> SpaceRow | None:
    """The space of this identity."""
    row = connection.execute(f"{_SPACE} WHERE identity = ?", (identity,)).fetchone()
    return _space(row) if row else None


def serving(connection: apsw.Connection, wanted: str) -> SpaceRow | None:
    """The space that answers: the wanted one, or the one before it until that is ready."""
    chosen = find(connection, wanted)
    if chosen is None or chosen.ready:
        return chosen
    older = [each for each in all_spaces(connection) if each.ready]
    return older[-1] if older else chosen


def add(connection: apsw.Connection, space: Space) -> SpaceRow:
    """The space, made if it is new. Where its model lies may have changed."""
    connection.execute(
        "INSERT INTO vector_spaces (identity, space, created_at) VALUES (?1, ?2, ?3)"
        " ON CONFLICT (identity) DO UPDATE SET space = ?2",
        (space.identity, spaces.dumped(space), clock.now()),
    )
    found = find(connection, space.identity)
    assert found
    return found


def drop(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Forget spaces with all their vectors."""
    connection.executemany("DELETE FROM vector_spaces WHERE id = ?", [(id,) for id in ids])


def make_ready(connection: apsw.Connection, space: int) -> None:
    """From now on the space answers; those before it are forgotten."""
    connection.execute("UPDATE vector_spaces SET ready = 1 WHERE id = ?", (space,))
    connection.execute("DELETE FROM vector_spaces WHERE id < ?", (space,))


def lease(connection: apsw.Connection, space: int, who: str, now: float) -> bool:
    """Claim the making of the space's vectors, or claim it on; false while another has it."""
    connection.execute(
        "UPDATE vector_spaces SET lease = ?2, lease_until = ?3 WHERE id = ?1 AND (lease = ?2 OR lease_until < ?4"
        " OR lease_until > ?4 + 2 * ?5)",  # the clock was put back
        (space, who, now + LEASE_SECONDS, now, LEASE_SECONDS),
    )
    return bool(connection.changes())


def let_go(connection: apsw.Connection, space: int, who: str) -> None:
    """Give the claim up."""
    connection.execute("UPDATE vector_spaces SET lease = NULL, lease_until = 0 WHERE id = ? AND lease = ?", (space, who))


# --- following the journal -----------------------------------------------------------------------------------------


def begin_walk(connection: apsw.Connection, space: int, head: Watermark) -> None:
    """Every owner is to be looked at; changes from now on stand behind `head`."""
    connection.execute(
        "UPDATE vector_spaces SET seq = ?, nonce = ?, walked = 0 WHERE id = ?", (head.seq, head.nonce, space)
    )


def between(connection: apsw.Connection, space: int, after: int, upto: int | None) -> list[int]:
    """Owners that the space knows in this range: one that the store does not have any more is gone."""
    rows: list[Any] = connection.execute(
        "SELECT owner FROM vector_owners WHERE space = ?1 AND owner > ?2 AND (?3 IS NULL OR owner <= ?3)", (space, after, upto)
    ).fetchall()
    return [owner for (owner,) in rows]


def walk_on(connection: apsw.Connection, space: int, walked: int | None) -> None:
    """Owners up to this one have been looked at, or all."""
    connection.execute("UPDATE vector_spaces SET walked = ? WHERE id = ?", (walked, space))


def follow(connection: apsw.Connection, space: int, seq: int, nonce: int) -> None:
    """The journal was read up to this line."""
    connection.execute("UPDATE vector_spaces SET seq = ?, nonce = ? WHERE id = ?", (seq, nonce, space))
    connection.execute(
        "INSERT INTO lexical_indexes VALUES (?1, 1, ?2) ON CONFLICT (identity) DO UPDATE SET seq = ?2", (_INDEX, seq)
    )


class Todo(NamedTuple):
    """The pieces of an owner: passage, number among its pieces, digest, text."""

    owner: int
    pieces: tuple[tuple[int, int, bytes, str], ...]


def cut(space: Space, passages: dict[int, list[Passage]], owners: Sequence[int]) -> list[Todo]:
    """What is to be embedded of each owner; nothing of one that is gone."""
    return [
        Todo(
            owner,
            tuple(
                (passage.id, number, pieces.digest(piece), piece)
                for passage in passages.get(owner, ())
                for number, piece in enumerate(pieces.pieces(passage, space.max_tokens))
            ),
        )
        for owner in owners
    ]


def known(connection: apsw.Connection, space: int, digests: Iterable[bytes]) -> set[bytes]:
    """Which of these texts have their vector."""
    return {
        digest
        for digest in digests
        if connection.execute("SELECT 1 FROM vectors WHERE space = ? AND digest = ?", (space, digest)).get
    }


def settle(connection: apsw.Connection, space: int, todos: Sequence[Todo], problems: dict[int, str] | None = None) -> None:
    """Write down what each owner is made of. One that lacks a vector is left as a job, or with what stands in the way of
    it. Vectors that nothing refers to any more go."""
    if not todos:
        return
    change = connection.execute("SELECT change FROM vector_spaces WHERE id = ?", (space,)).get
    there = known(connection, space, {piece[2] for todo in todos for piece in todo.pieces})
    gone: list[Any] = connection.execute(
        "DELETE FROM vector_pieces WHERE space = ? AND owner IN (SELECT value FROM json_each(?)) RETURNING digest",
        (space, array(todo.owner for todo in todos)),
    ).fetchall()
    left: set[bytes] = {digest for (digest,) in gone}
    for todo in todos:
        change += 1
        job = not all(piece[2] in there for piece in todo.pieces)
        connection.execute(
            "INSERT INTO vector_owners VALUES (?1, ?2, ?3, ?4, ?5)"
            " ON CONFLICT (space, owner) DO UPDATE SET change = ?3, job = ?4, problem = ?5",
            (space, todo.owner, change, int(job), (problems or {}).get(todo.owner) if job else None),
        )
        connection.executemany(
            "INSERT INTO vector_pieces VALUES (?, ?, ?, ?, ?)",
            [(space, todo.owner, passage, number, digest) for passage, number, digest, _ in todo.pieces],
        )
        left.difference_update(piece[2] for piece in todo.pieces)
    connection.execute("UPDATE vector_spaces SET change = ? WHERE id = ?", (change, space))
    connection.execute("INSERT INTO vector_marks VALUES (?, ?, random())", (space, change))
    connection.execute("DELETE FROM vector_marks WHERE space = ? AND change < ?", (space, change - MARKS_KEPT))
    connection.executemany(
        "DELETE FROM vectors WHERE space = ?1 AND digest = ?2 AND NOT EXISTS"
        " (SELECT 1 FROM vector_pieces WHERE space = ?1 AND digest = ?2)",
        [(space, digest) for digest in left],
    )


def keep(connection: apsw.Connection, space: int, vectors: dict[bytes, bytes]) -> None:
    """Store vectors by the digest of their text."""
    connection.executemany(
        "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", [(space, digest, vector) for digest, vector in vectors.items()]
    )


def forget(connection: apsw.Connection, owner: int) -> None:
    """The owner was deleted for good: nothing of its vectors stays, in no space."""
    rows: list[Any] = connection.execute("SELECT id FROM vector_spaces").fetchall()
    for (space,) in rows:
        settle(connection, space, [Todo(owner, ())])


# --- reading -------------------------------------------------------------------------------------------------------


def jobs(connection: apsw.Connection, space: int, limit: int, after: int = 0, *, again: bool = False) -> list[int]:
    """Owners above `after` whose vectors are to be made, ascending; those with a problem only `again`."""
    rows: list[Any] = connection.execute(
        "SELECT owner FROM vector_owners WHERE space = ? AND job AND owner > ? AND (problem IS NULL OR ?)"
        " ORDER BY owner LIMIT ?",
        (space, after, again, limit),
    ).fetchall()
    return [owner for (owner,) in rows]


def level(connection: apsw.Connection, row: SpaceRow, store: str) -> Watermark:
    """The watermark of an index that has followed every change."""
    return Watermark(store, row.change, _mark(connection, row.id, row.change) or 0)


def agrees(connection: apsw.Connection, row: SpaceRow, mark: Watermark, store: str) -> bool:
    """Whether an index with this watermark has followed changes of this space, as it is now."""
    return mark.store == store and mark.seq <= row.change and _mark(connection, row.id, mark.seq) == mark.nonce


def _mark(connection: apsw.Connection, space: int, change: int) -> int | None:
    found: int | None = connection.execute(
        "SELECT mark FROM vector_marks WHERE space = ? AND change = ?", (space, change)
    ).get
    return found


def changed(connection: apsw.Connection, space: int, after: int, limit: int = -1) -> list[tuple[int, int]]:
    """Owners that changed after change number `after`, with their numbers, ascending."""
    rows: list[Any] = connection.execute(
        "SELECT owner, change FROM vector_owners WHERE space = ? AND change > ? ORDER BY change LIMIT ?",
        (space, after, limit),
    ).fetchall()
    return rows


def rows(
    connection: apsw.Connection, space: int, passages: dict[int, list[Passage]], owners: Sequence[int]
) -> list[tuple[int, list[Row]]]:
    """What a vector index holds of each owner."""
    found: dict[int, dict[int, list[bytes]]] = {owner: {} for owner in owners}
    for owner, passage, vector in connection.execute(
        "SELECT owner, passage, vector FROM json_each(?2) CROSS JOIN vector_pieces AS p ON p.space = ?1 AND owner = value"
        " CROSS JOIN vectors AS v ON v.space = ?1 AND v.digest = p.digest ORDER BY owner, passage, number",
        (space, array(owners)),
    ):
        found[owner].setdefault(passage, []).append(vector)
    return [
        (owner, [(passage, found[owner][passage.id]) for passage in passages.get(owner, ()) if passage.id in found[owner]])
        for owner in owners
    ]


def means(connection: apsw.Connection, space: int, owners: Iterable[int]) -> dict[int, Vector]:
    """The mean of each owner's vectors, as it comes; one without any is left out."""
    from scaffale.backends.codes import decode

    found: dict[int, Vector] = {}
    rows: Any = connection.execute(
        "SELECT owner, vector FROM json_each(?2) CROSS JOIN vector_pieces AS p ON p.space = ?1 AND owner = value"
        " CROSS JOIN vectors AS v ON v.space = ?1 AND v.digest = p.digest",
        (space, array(owners)),
    )
    for owner, stored in rows:
        vector = decode(stored)
        known = found.get(owner)
        found[owner] = arrays.array("f", map(plus, known, vector)) if known is not None else vector
    return found


class Coverage(NamedTuple):
    """How many owners have all their vectors, of how many, and how many never will without help."""

    embedded: int
    total: int
    problems: int = 0

    @property
    def share(self) -> float:
        """0 to 1, in thousandths, never rounded up."""
        return self.embedded * 1000 // self.total / 1000 if self.total else 1.0


def coverage(connection: apsw.Connection, row: SpaceRow, total: int) -> Coverage:
    """What of the journal has been followed; `total`: how many owners the store has."""
    jobs, problems = connection.execute(
        "SELECT count(*), count(problem) FROM vector_owners WHERE space = ? AND job", (row.id,)
    ).get
    if row.walked is not None:
        stand = connection.execute(
            "SELECT count(*) FROM vector_owners WHERE space = ? AND NOT job AND owner <= ?", (row.id, row.walked)
        ).get
        return Coverage(min(stand, total), total, problems)
    return Coverage(max(0, total - jobs), total, problems)


def problems(connection: apsw.Connection, space: int, limit: int) -> list[tuple[int, str]]:
    """Owners whose vectors could not be made, and why."""
    return list(
        connection.execute(
            "SELECT owner, problem FROM vector_owners WHERE space = ? AND problem IS NOT NULL ORDER BY owner LIMIT ?",
            (space, limit),
        )
    )


def _space(row: tuple[Any, ...]) -> SpaceRow:
    id, space, ready, *rest = row
    return SpaceRow(id, _loaded(space), bool(ready), *rest)


@lru_cache(8)
def _loaded(space: str) -> Space:
    return spaces.loaded(space)


