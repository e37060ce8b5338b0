"""Neighbours by numpy: the signs of a vector as bits, compared in memory, and the nearest few by the bytes in the file.

One bit for each dimension tells at a glance what is far: 100,000 vectors of 384 dimensions are 4.8 MB, which are compared
in a millisecond. The few hundred nearest by bits are read from the file and ranked by their cosine. The bits of vectors
stand in the file packed, so that a process has them at once; what came since the last packing is compared whole.

Bits are taken of a vector less the mean of all: the vectors of most models lie to one side.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from scaffale.backends.vector_file import CLOSEST, VectorFile, ids_json
from scaffale.model import Hit
from scaffale.ranking.order import sort_key

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import apsw

    from scaffale.backends.ports import Vector
    from scaffale.model import Filter

    Array = np.ndarray[Any, Any]

IDENTITY = "numpy-1"
RESCORED = (100, 400)  # of the nearest by bits, at least and at most: three of a thousand, four for each that is wanted
SHARE = 0.003
LOOSE = 512  # vectors that may stay unpacked, and a part of those that are packed; much more in the midst of a long way


class NumpyBits(VectorFile):
    """See the head of this file."""

    tables = (
        "CREATE TABLE pack (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE gone (number INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL) STRICT",
    )

    def __init__(self, folder: str, dimensions: int) -> None:
        super().__init__(folder, dimensions)
        self._pack = 0  # the highest id that is packed, which names the packing
        self._version: tuple[object, int] | None = None
        self._base = _Base.empty(dimensions)
        self._loose = _Loose(dimensions)
        self._gone = 0

    def nearest(self, vector: Vector, filter: Filter, k: int, exclude: Collection[int]) -> list[Hit]:
        """The nearest by bits, and all that are loose, by their cosine."""
        self._refresh()
        query = np.frombuffer(vector, dtype=np.float32)
        near = self._base.nearest(query, filter, 4 * k, exclude)
        hits = [*self._rescored(near, query, k), *self._loose.nearest(query, filter, k, exclude)]
        return sorted(hits, key=sort_key)[:k]

    def erase(self, connection: apsw.Connection, ids: Sequence[int]) -> None:
        """Other processes have them in memory, too."""
        connection.executemany("INSERT INTO gone (id) VALUES (?)", [(id,) for id in ids])

    def settle(self, connection: apsw.Connection, *, done: bool) -> None:
        """Pack anew when much is loose or gone."""
        packed = _number(connection, "upto")
        base = _number(connection, "count")
        loose = connection.execute("SELECT count(*) FROM vector WHERE id > ?", (packed,)).get
        gone = connection.execute("SELECT count(*) FROM gone WHERE id <= ?", (packed,)).get
        may = LOOSE + base // 128 if done else 16 * LOOSE + base // 2
        if loose <= may and gone <= LOOSE + base // 4:
            return
        for name, data in _packed(connection, self.dimensions).items():
            connection.execute("INSERT OR REPLACE INTO pack VALUES (?, ?)", (name, data))
        connection.execute("DELETE FROM gone")

    def _rescored(self, ids: Array, query: Array, k: int) -> list[Hit]:
        """The best `k` of these ids by the cosine of their stored vectors."""
        connection = self._connection
        rows: list[Any] = connection.execute(
            "SELECT v.id, v.vector FROM json_each(?) CROSS JOIN vector AS v ON v.id = value", (ids_json(ids.tolist()),)
        ).fetchall()
        if not rows:
            return []
        scores = _matrix([row[1] for row in rows], self.dimensions) @ query
        best = np.argpartition(-scores, k)[:k] if k < len(rows) else np.arange(len(rows))
        cosines = {rows[at][0]: round(float(scores[at]), CLOSEST) for at in best.tolist()}
        found: list[Any] = connection.execute(
            "SELECT v.id, passage, owner, importance, confidence, updated FROM json_each(?)"
            " CROSS JOIN vector AS v ON v.id = value",
            (ids_json(cosines),),
        ).fetchall()
        return [Hit(row[1], row[2], cosines[row[0]], *row[3:]) for row in found]

    def _refresh(self) -> None:
        """Take in what any process has committed since."""
        connection = self._connection
        version = (connection.pragma("data_version"), connection.total_changes())
        if version == self._version:
            return
        with connection:  # one snapshot
            packed = _number(connection, "upto")
            if packed != self._pack:
                self._base = _Base.read(connection, self.dimensions)
                self._loose = _Loose(self.dimensions)
                self._pack, self._gone = packed, 0
            after = max(self._pack, self._loose.last)
            rows = connection.execute(
                "SELECT id, passage, owner, importance, confidence, updated, facets, vector FROM vector WHERE id > ? ORDER BY id",
                (after,),
            ).fetchall()
            gone: list[Any] = connection.execute("SELECT number, id FROM gone WHERE number > ?", (self._gone,)).fetchall()
        self._loose.add(rows)
        if gone:
            self._gone = gone[-1][0]
            ids = {id for _, id in gone}
            self._base.drop(ids)
            self._loose.drop(ids)
        self._version = version


class _Base:
    """Packed vectors: ids ascending, owners, a column of 64 bits for every 64 dimensions, and the places of each facet."""

    def __init__(self, mean: Array, ids: Array, owners: Array, columns: Array, facets: dict[str, Array]) -> None:
        self._mean = mean
        self._ids = ids
        self._owners = owners
        self._columns = columns
        self._facets = facets
        self._dead: set[int] = set()  # places

    @classmethod
    def empty(cls, dimensions: int) -> _Base:
        none = np.empty(0, dtype=np.int64)
        return cls(np.zeros(dimensions, np.float32), none, none, np.empty((_words(dimensions), 0), np.uint64), {})

    @classmethod
    def read(cls, connection: apsw.Connection, dimensions: int) -> _Base:
        pack = dict(connection.execute("SELECT name, data FROM pack"))
        if not pack:
            return cls.empty(dimensions)
        ids = np.frombuffer(pack["ids"], dtype=np.int64)
        places = np.frombuffer(pack["places"], dtype=np.int32)
        facets, at = {}, 0
        for name, count in json.loads(pack["facets"]):
            facets[name] = places[at : at + count]
            at += count
        columns = np.frombuffer(pack["columns"], dtype=np.uint64).reshape(_words(dimensions), len(ids))
        return cls(
            np.frombuffer(pack["mean"], dtype=np.float32),
            ids,
            np.frombuffer(pack["owners"], dtype=np.int64),
            columns,
            facets,
        )

    def drop(self, ids: set[int]) -> None:
        wanted = np.fromiter(ids, dtype=np.int64, count=len(ids))
        places = np.searchsorted(self._ids, wanted)
        inside = places < len(self._ids)
        places, wanted = places[inside], wanted[inside]
        self._dead.update(places[self._ids[places] == wanted].tolist())

    def nearest(self, query: Array, filter: Filter, count: int, exclude: Collection[int]) -> Array:
        """Ids of the nearest by bits, `count` or more, in no order."""
        places = self._under(filter)
        columns = self._columns if places is None else self._columns[:, places]
        total = columns.shape[1]
        if not total:
            return self._ids[:0]
        least, most = (each * max(1, 384 // len(query)) for each in RESCORED)  # fewer bits tell less
        count = max(count, min(max(int(total * SHARE), least), most))
        asked = _bits(query[None, :] - self._mean)[:, 0]
        far, never = np.zeros(total, dtype=np.uint16), 64 * len(columns) + 1
        for column, bits in zip(columns, asked, strict=True):
            far += np.bitwise_count(column ^ bits)
        if self._dead:
            dead = np.fromiter(self._dead, dtype=np.int64, count=len(self._dead))
            far[dead if places is None else np.isin(places, dead)] = never
        if exclude:
            owners = self._owners if places is None else self._owners[places]
            far[np.isin(owners, np.fromiter(exclude, dtype=np.int64))] = never
        # How many are how far: telling the nearest so takes a fifth of the time of a partition.
        upto = np.searchsorted(np.cumsum(np.bincount(far, minlength=never + 1)), count)
        near = np.flatnonzero(far <= min(int(upto), never - 1))[: 4 * count]  # very many may be as far as the last
        return self._ids[near if places is None else places[near]]

    def _under(self, filter: Filter) -> Array | None:
        """The places that pass, ascending; `None` for all."""
        passing: Array | None = None
        for clause in filter.clauses:
            sets = [self._facets[facet] for facet in dict.fromkeys(clause) if facet in self._facets]
            places = np.unique(np.concatenate(sets)) if len(sets) > 1 else sets[0] if sets else np.empty(0, np.int32)
            if len(places) < len(self._ids):
                passing = places if passing is None else np.intersect1d(passing, places, assume_unique=True)
        return passing


class _Loose:
    """Vectors that are not packed yet, each whole."""

    def __init__(self, dimensions: int) -> None:
        self.last = 0
        self._dimensions = dimensions
        self._rows: list[tuple[int, Hit, frozenset[str]]] = []
        self._matrix = np.empty((0, dimensions), np.float32)

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        if not rows:
            return
        for id, passage, owner, importance, confidence, updated, facets, _ in rows:
            self._rows.append(
                (id, Hit(passage, owner, 0.0, importance, confidence, updated), frozenset(facets.split("\n")))
            )
        self.last = rows[-1][0]
        self._matrix = np.concatenate((self._matrix, _matrix([row[7] for row in rows], self._dimensions)))

    def drop(self, ids: set[int]) -> None:
        kept = [place for place, (id, _, _) in enumerate(self._rows) if id not in ids]
        if len(kept) < len(self._rows):
            self._rows = [self._rows[place] for place in kept]
            self._matrix = self._matrix[kept]

    def nearest(self, query: Array, filter: Filter, k: int, exclude: Collection[int]) -> list[Hit]:
        if not self._rows:
            return []
        if not exclude and not filter.clauses:
            places: Sequence[int] = range(len(self._rows))
        else:
            places = [
                place
                for place, (_, hit, facets) in enumerate(self._rows)
                if hit.owner not in exclude and not any(facets.isdisjoint(clause) for clause in filter.clauses)
            ]
        scores = (self._matrix if len(places) == len(self._rows) else self._matrix[places]) @ query
        best = np.argsort(-scores, kind="stable")[:k]
        return [
            self._rows[places[place]][1]._replace(score=round(float(scores[place]), CLOSEST)) for place in best.tolist()
        ]


def _packed(connection: apsw.Connection, dimensions: int) -> dict[str, bytes]:
    """Everything that the file holds, as `_Base.read` wants it."""
    rows: list[Any] = connection.execute("SELECT id, owner, facets FROM vector ORDER BY id").fetchall()
    mean = np.zeros(dimensions, np.float32)
    for (vector,) in connection.execute("SELECT vector FROM vector ORDER BY id LIMIT 20000"):
        mean += _matrix([vector], dimensions)[0]
    mean /= max(1, min(len(rows), 20_000))
    columns = np.empty((_words(dimensions), len(rows)), np.uint64)
    at = 0
    batch: list[bytes] = []
    for (vector,) in connection.execute("SELECT vector FROM vector ORDER BY id"):
        batch.append(vector)
        if len(batch) == 4_096 or at + len(batch) == len(rows):
            columns[:, at : at + len(batch)] = _bits(_matrix(batch, dimensions) - mean)
            at += len(batch)
            batch = []
    places: dict[str, list[int]] = {}
    split: dict[str, list[str]] = {}  # most vectors share their facets with others
    for place, (_, _, facets) in enumerate(rows):
        for facet in split.setdefault(facets, facets.split("\n")):
            places.setdefault(facet, []).append(place)
    return {
        "upto": str(rows[-1][0] if rows else 0).encode(),
        "count": str(len(rows)).encode(),
        "mean": mean.tobytes(),
        "ids": np.fromiter((row[0] for row in rows), np.int64, len(rows)).tobytes(),
        "owners": np.fromiter((row[1] for row in rows), np.int64, len(rows)).tobytes(),
        "columns": columns.tobytes(),
        "facets": json.dumps([(name, len(found)) for name, found in places.items()]).encode(),
        "places": b"".join(np.array(found, np.int32).tobytes() for found in places.values()),
    }


def _number(connection: apsw.Connection, name: str) -> int:
    return int(connection.execute("SELECT data FROM pack WHERE name = ?", (name,)).get or 0)


def _words(dimensions: int) -> int:
    return -(-dimensions // 64)


def _bits(matrix: Array) -> Array:
    """For every 64 dimensions a row of the signs of all vectors."""
    signs = np.packbits(matrix > 0, axis=1)
    padded = np.zeros((len(matrix), 8 * _words(matrix.shape[1])), np.uint8)
    padded[:, : signs.shape[1]] = signs
    return np.ascontiguousarray(padded.view(np.uint64).T)


def _matrix(stored: Sequence[bytes], dimensions: int) -> Array:
    """Stored vectors as rows of a matrix. `ValueError` for one of another length."""
    raw = np.frombuffer(b"".join(stored), dtype=np.int8).reshape(len(stored), dimensions + 4)
    scales = np.ascontiguousarray(raw[:, dimensions:]).view(np.float32)
    return raw[:, :dimensions].astype(np.float32) * scales
