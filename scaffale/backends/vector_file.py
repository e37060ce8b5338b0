"""What the embedded vector engines share: a rebuildable file of their own with the vectors of one space, and its watermark.

As with the lexical SQLite engines the file never shares a transaction with the store, and losing it costs a rebuild. A
vector is a row: which passage and owner it is of, what breaks ties, its facets, and the bytes as they are stored. One
connection serves all threads, one at a time: a search takes milliseconds.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import apsw

from scaffale.backends.ports import WriterBusy
from scaffale.backends.sqlite_index import border, connect, read_mark
from scaffale.ranking.order import sort_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from scaffale.backends.ports import Row, Vector
    from scaffale.model import Filter, Hit, Watermark

CLOSEST = 4  # digits of a cosine that rank: engines add up in other orders
TIED = 16  # as many more are looked at, so that what says the same is told apart by the total order
_TABLES = (
    "CREATE TABLE mark (store TEXT NOT NULL, seq INTEGER NOT NULL, nonce INTEGER NOT NULL) STRICT",
    "CREATE TABLE vector (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER NOT NULL, passage INTEGER NOT NULL,"
    " importance INTEGER NOT NULL, confidence REAL NOT NULL, updated INTEGER NOT NULL, facets TEXT NOT NULL,"
    " vector BLOB NOT NULL) STRICT",
    "CREATE INDEX vector_owner ON vector (owner)",
    "CREATE INDEX vector_passage ON vector (passage)",
)
_IS_THERE = "SELECT count(*) FROM sqlite_schema WHERE name = 'mark'"


class VectorFile:
    """The half of `VectorIndex` that does not depend on how neighbours are found. Engines subclass it."""

    tables: Sequence[str] = ()

    def __init__(self, folder: str, dimensions: int) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.dimensions = dimensions
        self._lock = threading.RLock()
        self._connection = connect(os.path.join(folder, "vectors.sqlite"))
        try:
            with border("open"):
                self.prepare(self._connection)
                self._create()
        except BaseException:
            self._connection.close()
            raise

    def watermark(self) -> Watermark | None:
        """What is committed."""
        with self._lock, border("read"):
            return read_mark(self._connection)

    def apply(self, changes: Iterable[tuple[int, Sequence[Row]]], upto: Watermark | None) -> None:
        """Replace all vectors of these owners, in one transaction with the watermark."""
        connection = self._connection
        try:
            with self._lock, border("write"), connection:
                for owner, rows in changes:
                    old = [id for (id,) in connection.execute("SELECT id FROM vector WHERE owner = ?", (owner,))]
                    if old:
                        self.erase(connection, old)
                        connection.execute("DELETE FROM vector WHERE owner = ?", (owner,))
                    for p, vectors in rows:
                        for vector in vectors:
                            connection.execute(
                                "INSERT INTO vector (owner, passage, importance, confidence, updated, facets, vector)"
                                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                                (owner, p.id, p.importance, p.confidence, p.updated, "\n".join(p.facets), vector),
                            )
                            self.insert(connection, connection.last_insert_rowid(), p.facets, vector)
                if upto:
                    connection.execute("DELETE FROM mark")
                    connection.execute("INSERT INTO mark VALUES (?, ?, ?)", upto)
                self.settle(connection, done=upto is not None)
        except Exception as error:
            if isinstance(error.__cause__, apsw.BusyError | apsw.LockedError):
                raise WriterBusy from None
            raise

    def search(self, vector: Vector, filter: Filter, k: int, exclude: Collection[int] = ()) -> list[Hit]:
        """The best `k` passages."""
        with self._lock, border("search"):
            wanted = k + TIED
            while True:  # several pieces of one passage may take the places of others
                found = self.nearest(vector, filter, wanted, exclude)
                hits = best_of_each(found)
                if len(hits) >= k or len(found) < wanted:
                    return hits[:k]
                wanted *= 2

    def fetch(self, passages: Collection[int]) -> dict[int, list[bytes]]:
        """The stored vectors of passages."""
        found: dict[int, list[bytes]] = {}
        with self._lock, border("read"):
            for passage, vector in self._connection.execute(
                "SELECT passage, vector FROM vector WHERE passage IN (SELECT value FROM json_each(?)) ORDER BY id",
                (ids_json(passages),),
            ):
                found.setdefault(passage, []).append(vector)
        return found

    def count(self) -> int:
        """How many vectors there are."""
        with self._lock, border("read"):
            return int(self._connection.execute("SELECT count(*) FROM vector").get)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    # --- what an engine says ---------------------------------------------------------------------------------------

    def nearest(self, vector: Vector, filter: Filter, k: int, exclude: Collection[int]) -> list[Hit]:
        """A hit for each of the `k` nearest vectors, fewer only when there are fewer; best first."""
        raise NotImplementedError

    def prepare(self, connection: apsw.Connection) -> None:
        """Teach the connection what the engine's statements need."""

    def insert(self, connection: apsw.Connection, id: int, facets: Sequence[str], vector: bytes) -> None:
        """Take a vector in."""

    def erase(self, connection: apsw.Connection, ids: Sequence[int]) -> None:
        """Forget vectors; their rows still stand."""

    def settle(self, connection: apsw.Connection, *, done: bool) -> None:
        """The last step of a batch, inside its transaction; `done` when it ends at a watermark."""

    def _create(self) -> None:
        connection = self._connection
        if connection.execute(_IS_THERE).get:
            return
        with connection:
            if not connection.execute(_IS_THERE).get:
                for statement in (*_TABLES, *self.tables):
                    connection.execute(statement)


def discard(folder: str) -> None:
    """Delete the index of a folder. Processes that have it open notice, and open anew."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def best_of_each(found: Iterable[Hit]) -> list[Hit]:
    """Each passage once, with its best piece; best first, in total order."""
    best: dict[int, Hit] = {}
    for hit in found:
        known = best.get(hit.id)
        if known is None or known.score < hit.score:
            best[hit.id] = hit
    return sorted(best.values(), key=lambda hit: (sort_key(hit), hit.id))


def ids_json(ids: Iterable[int]) -> str:
    """Numbers for `json_each`."""
    return f"[{','.join(map(str, ids))}]"
