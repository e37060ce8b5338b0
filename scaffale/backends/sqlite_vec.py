"""Neighbours by sqlite-vec: the vectors in a `vec0` table of the index's own file, compared by SQLite.

What was met with version 0.1.9, and is minded here: a partition key makes inserting 17 times slower, and asking for
several partitions answers `k` of each; REPLACE and UPSERT do not work; `k` ends at 4,096; NaN and zero vectors are taken in
(the embedding road refuses them); deleted rows give no space back until a whole chunk is empty, so the table is made
anew; and without the extension the table can neither be read nor dropped, which is why it stands in a file that can be deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from scaffale.backends.codes import decode
from scaffale.backends.vector_file import CLOSEST, VectorFile, ids_json
from scaffale.errors import IndexUnusable
from scaffale.model import Hit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scaffale.backends.ports import Vector
    from scaffale.model import Filter

IDENTITY = "sqlite-vec-1"
CHUNK = 1_024  # vectors that the table makes room for at once
SPARE = 4 * CHUNK
MOST = 4_096  # neighbours that one statement may ask for


def available() -> str | None:
    """`None`, or what stands in the way of loading the extension."""
    try:
        connection = apsw.Connection(":memory:")
        _load(connection)
    except ImportError:
        return "the package sqlite-vec is not installed; pip install 'scaffale[vectors]' brings it"
    except (apsw.Error, AttributeError, OSError) as error:
        return f"sqlite-vec cannot be loaded on this platform ({error})"
    return None


def _load(connection: apsw.Connection) -> None:
    import sqlite_vec

    connection.enable_load_extension(True)
    try:
        connection.load_extension(sqlite_vec.loadable_path())
    finally:
        connection.enable_load_extension(False)


class SqliteVec(VectorFile):
    """See the head of this file."""

    tables: Sequence[str] = ("CREATE TABLE facet (value TEXT, id INTEGER, PRIMARY KEY (value, id)) STRICT, WITHOUT ROWID",)

    def prepare(self, connection: apsw.Connection) -> None:
        """Load the extension."""
        try:
            _load(connection)
        except (ImportError, apsw.Error, AttributeError) as error:
            raise IndexUnusable(f"sqlite-vec cannot be loaded: {error}") from error
        self._near = f"CREATE VIRTUAL TABLE near USING vec0(vector float[{self.dimensions}] distance_metric=cosine)"
        self.tables = (*type(self).tables, self._near)

    def insert(self, connection: apsw.Connection, id: int, facets: Sequence[str], vector: bytes) -> None:
        """Into the table of vectors and that of facets."""
        connection.execute("INSERT INTO near (rowid, vector) VALUES (?, ?)", (id, decode(vector).tobytes()))
        connection.executemany("INSERT OR IGNORE INTO facet VALUES (?, ?)", [(facet, id) for facet in facets])

    def erase(self, connection: apsw.Connection, ids: Sequence[int]) -> None:
        """Out of both."""
        for id in ids:
            facets = connection.execute("SELECT facets FROM vector WHERE id = ?", (id,)).get
            connection.executemany("DELETE FROM facet WHERE value = ? AND id = ?", [(f, id) for f in facets.split("\n")])
            connection.execute("DELETE FROM near WHERE rowid = ?", (id,))

    def settle(self, connection: apsw.Connection, *, done: bool) -> None:
        """Make the table of vectors anew when it is more than half empty: it gives no space back by itself."""
        if not done:
            return
        there = connection.execute("SELECT count(*) FROM vector").get
        if connection.execute("SELECT count(*) FROM near_chunks").get * CHUNK <= 2 * there + SPARE:
            return
        rows: list[Any] = connection.execute("SELECT id, vector FROM vector ORDER BY id").fetchall()
        connection.execute("DROP TABLE near")
        connection.execute(self._near)
        connection.executemany(
            "INSERT INTO near (rowid, vector) VALUES (?, ?)", ((id, decode(vector).tobytes()) for id, vector in rows)
        )

    def nearest(self, vector: Vector, filter: Filter, k: int, exclude: Collection[int]) -> list[Hit]:
        """By one statement, the filter inside it."""
        allowed: list[str] = []
        values: list[object] = []
        for clause in filter.clauses:
            allowed.append(f"SELECT id FROM facet WHERE value IN ({', '.join('?' * len(clause))})")
            values += clause
        if exclude:
            allowed.append("SELECT id FROM vector WHERE owner NOT IN (SELECT value FROM json_each(?))")
            values.append(ids_json(exclude))
        inside = f" AND rowid IN ({' INTERSECT '.join(allowed)})" if allowed else ""
        rows: list[Any] = self._connection.execute(
            "SELECT passage, owner, 1.0 - distance, importance, confidence, updated FROM"
            f" (SELECT rowid AS found, distance FROM near WHERE vector MATCH ? AND k = ?{inside})"
            " CROSS JOIN vector ON id = found ORDER BY distance, id",
            (bytes(vector), min(k, MOST), *values),
        ).fetchall()
        return [Hit(row[0], row[1], round(row[2], CLOSEST), *row[3:]) for row in rows]
