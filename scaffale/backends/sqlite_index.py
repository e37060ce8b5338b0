"""What the two SQLite engines share: a rebuildable file of their own, its writer lock and its watermark.

The file never shares a transaction with the store; losing it costs a rebuild. The writer lock is SQLite's own
(`BEGIN IMMEDIATE`, no waiting), so it dies with its process, and a commit is cheap: no fsync is needed for what can be
rebuilt.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import apsw

from scaffale.backends import sqlite_file
from scaffale.backends.overlay import Statistics, by_token
from scaffale.backends.ports import WriterBusy
from scaffale.errors import IndexUnusable
from scaffale.model import Hits, Watermark
from scaffale.ranking.order import closed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from types import TracebackType

    from scaffale.backends.overlay import Overlay, Question
    from scaffale.model import Filter, Hit, Passage
    from scaffale.text import Query

    Boosts = Sequence[tuple[str, float]]
    Rarity = Mapping[tuple[str, ...], float]

BUSY_TIMEOUT_MS = 10_000
_TABLES = (
    "CREATE TABLE mark (store TEXT NOT NULL, seq INTEGER NOT NULL, nonce INTEGER NOT NULL) STRICT",
    "CREATE TABLE passage (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, importance INTEGER NOT NULL,"
    " confidence REAL NOT NULL, updated INTEGER NOT NULL) STRICT",
    "CREATE INDEX passage_owner ON passage (owner)",
    "CREATE TABLE facet (value TEXT, id INTEGER, PRIMARY KEY (value, id)) STRICT, WITHOUT ROWID",
    "CREATE INDEX facet_id ON facet (id)",
)


class Asked(NamedTuple):
    """One search of the commit."""

    question: Question
    statistics: Statistics
    coverage: float
    boosts: Boosts
    filter: Filter
    hidden: Sequence[int]


class SqliteIndex:
    """The half of `LexicalIndex` that does not depend on how words are matched. Engines subclass it."""

    tables: Sequence[str] = ()
    check = ""  # a statement that fails when words and texts disagree

    def __init__(self, folder: str, overlay: Overlay) -> None:
        self._path = os.path.join(folder, "index.sqlite")
        self._lock = threading.Lock()
        self._local = threading.local()
        self._guard = threading.Lock()  # of the next; not `_lock`, under which a thread may open its connection
        self._connections: dict[threading.Thread, apsw.Connection] = {}
        self._overlay = overlay
        self._level: Watermark | None = None
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with border("open"):
            self._create(self.connection)
        self.refresh()

    @property
    def connection(self) -> apsw.Connection:
        """This thread's connection to the index file."""
        try:
            return self._local.connection  # type: ignore[no-any-return]
        except AttributeError:
            connection = self._local.connection = connect(self._path)
            self.prepare(connection)
            with self._guard:
                for thread in [thread for thread in self._connections if not thread.is_alive()]:
                    self._connections.pop(thread).close()
                self._connections[threading.current_thread()] = connection
            return connection

    def watermark(self) -> Watermark | None:
        """What is committed. SQLite readers are always on the newest commit."""
        with border("read"):
            return read_mark(self.connection)

    def refresh(self) -> None:
        """Drop from the overlay what the newest commit holds."""
        committed = self.watermark()
        if committed is None:
            return
        with self._lock:
            self._overlay.settle(committed.seq)
            if self._level is None or self._level.seq < committed.seq:
                self._level = committed

    def overlay(self, changes: Iterable[tuple[int, int, Sequence[Passage]]], upto: Watermark) -> None:
        """Show changes on top of the commit."""
        with self._lock:
            for seq, owner, passages in changes:
                self._overlay.put(seq, owner, passages, committed=True)
            self._level = upto

    def level(self) -> Watermark | None:
        """How far commit and overlay have read."""
        return self._level

    def overlaid(self) -> int:
        """How many owners stand in the overlay."""
        return len(self._overlay)

    def owners(self) -> set[int]:
        """Of all passages that are committed."""
        with border("read"):
            return {owner for (owner,) in self.connection.execute("SELECT DISTINCT owner FROM passage")}

    def search(self, query: Query, filter: Filter, k: int, exclude: Collection[int] = ()) -> Hits:
        """The best `k` and what ties with the last of them."""
        question = self.question(query)
        if not question.clauses:
            return Hits([], 0)
        with border("search"), self._lock:
            # Under one lock: the commit that is read and the overlay that hides parts of it belong together.
            statistics = self._overlay.enough(self.statistics())
            hidden = [*self._overlay.hidden, *exclude]
            rare = self.rarity(question, statistics)
            coverage = self.coverage(question, rare or {}, filter, hidden, exclude)
            newer: list[Hit] = []
            if len(self._overlay):
                newer = self._overlay.search(question, query.boosts, filter, statistics, exclude, coverage)
            asked = Asked(question, statistics, coverage, query.boosts, filter, hidden)
            committed, total, truncated = self.matches(asked, k)
        hits = closed([*committed, *newer], k)
        return Hits(hits, total + len(newer), truncated, coverage, None if rare is None else by_token(rare))

    def terms(self, prefix: str) -> set[str]:
        """The terms that begin so."""
        with border("read"), self._lock:
            return self._overlay.terms(prefix) | self.known(prefix)

    def writer(self, *, bulk: bool = False) -> SqliteWriter:
        """The writer, or `WriterBusy` at once."""
        return SqliteWriter(connect(self._path), self.insert, self.erase)

    def verify(self, *, deep: bool = False) -> None:
        """By SQLite's quick check; `deep` also compares the words with what the engine makes of them."""
        connection = connect(self._path)  # a new one: FTS5 checks against what a connection remembers of earlier states
        with border("check"):
            found = connection.execute("PRAGMA quick_check(1)").get
            if found != "ok":
                raise IndexUnusable(f"the index file is damaged: {found}")
            if deep and self.check:
                with suppress(apsw.BusyError, apsw.ReadOnlyError):  # it counts as writing
                    connection.execute(self.check)
        connection.close()

    def close(self) -> None:
        """Close every thread's connection, but for one in use: that goes when its thread is done with it."""
        with self._guard:
            connections, self._connections = self._connections, {}
        for connection in connections.values():
            with suppress(apsw.ThreadingViolationError):
                connection.close()
        self._local = threading.local()

    # --- what an engine says ---------------------------------------------------------------------------------------

    def question(self, query: Query) -> Question:
        """The query in the engine's own tokens."""
        raise NotImplementedError

    def statistics(self) -> Statistics:
        """What the engine's formula needs of the commit; by default nothing."""
        return Statistics(0, {}, lambda field, token: 0)

    def rarity(self, question: Question, statistics: Statistics) -> Rarity | None:
        """What each word of the question weighs; `None` where the formula does not ask."""
        return None

    def coverage(
        self, question: Question, rare: Rarity, filter: Filter, hidden: Sequence[int], exclude: Collection[int]
    ) -> float:
        """How much of the question the best title or heading covers; 1 where the formula does not ask."""
        return 1.0

    def known(self, prefix: str) -> set[str]:
        """The terms of the commit that begin so."""
        raise NotImplementedError

    def matches(self, asked: Asked, k: int) -> tuple[list[Hit], int, bool]:
        """The best of the commit with the tied group closed, how many there are, and whether the cap cut the group."""
        raise NotImplementedError

    def prepare(self, connection: apsw.Connection) -> None:
        """Teach a new connection what the engine's statements need."""

    def insert(self, connection: apsw.Connection, passage: Passage) -> None:
        """Store the words of a passage."""
        raise NotImplementedError

    def erase(self, connection: apsw.Connection, ids: Sequence[int]) -> None:
        """Forget the words of passages."""
        raise NotImplementedError

    def _create(self, connection: apsw.Connection) -> None:
        if connection.execute("SELECT count(*) FROM sqlite_schema").get:
            return
        with connection:
            if not connection.execute("SELECT count(*) FROM sqlite_schema").get:
                for statement in (*_TABLES, *self.tables):
                    connection.execute(statement)


class SqliteWriter:
    """One write transaction on the index file."""

    def __init__(
        self,
        connection: apsw.Connection,
        insert: Callable[[apsw.Connection, Passage], None],
        erase: Callable[[apsw.Connection, Sequence[int]], None],
    ) -> None:
        self._connection = connection
        self._insert = insert
        self._erase = erase
        connection.set_busy_timeout(0)
        try:
            with border("lock"):
                connection.execute("BEGIN IMMEDIATE")
                self.watermark = read_mark(connection)
        except IndexUnusable as error:
            connection.close()
            if isinstance(error.__cause__, apsw.BusyError | apsw.LockedError):
                raise WriterBusy from None
            raise

    def replace(self, owner: int, passages: Sequence[Passage]) -> None:
        """Delete what stands for the owner, add its passages."""
        connection = self._connection
        with border("write"):
            old = [row[0] for row in connection.execute("SELECT id FROM passage WHERE owner = ?", (owner,))]
            if old:
                self._erase(connection, old)
                keys = [(id_,) for id_ in old]
                connection.executemany("DELETE FROM facet WHERE id = ?", keys)
                connection.executemany("DELETE FROM passage WHERE id = ?", keys)
            for p in passages:
                connection.execute(
                    "INSERT INTO passage VALUES (?, ?, ?, ?, ?)", (p.id, owner, p.importance, p.confidence, p.updated)
                )
                connection.executemany(
                    "INSERT OR IGNORE INTO facet VALUES (?, ?)", [(facet, p.id) for facet in p.facets]
                )
                self._insert(connection, p)

    def commit(self, upto: Watermark) -> None:
        """Batch and watermark become visible in one commit; the lease goes on."""
        with border("commit"):
            self._connection.execute("DELETE FROM mark")
            self._connection.execute("INSERT INTO mark VALUES (?, ?, ?)", upto)
            self._connection.execute("COMMIT")
            self._connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            self._connection.execute("BEGIN IMMEDIATE")
        self.watermark = upto

    def __enter__(self) -> SqliteWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.close()


def connect(path: str) -> apsw.Connection:
    """A connection to an index file: WAL, no fsync per commit, deletes that erase. Where nothing can be written it reads."""
    with border("open"):
        if os.path.exists(path) and not sqlite_file.writable(path):
            return sqlite_file.open_read_only(path)
        try:
            return _open_writable(path)
        except apsw.Error as error:
            if not sqlite_file.is_full(error):
                raise
            return sqlite_file.open_read_only(path)


def _open_writable(path: str) -> apsw.Connection:
    connection = apsw.Connection(path)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.transaction_mode = "IMMEDIATE"
    sqlite_file.switch_to_wal(connection, BUSY_TIMEOUT_MS)
    for pragma in ("synchronous = NORMAL", "secure_delete = ON", "journal_size_limit = 33554432"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def read_mark(connection: apsw.Connection) -> Watermark | None:
    """The watermark that the file's newest commit holds."""
    row = connection.execute("SELECT store, seq, nonce FROM mark").get
    return Watermark(*row) if row else None


def boosts_sql(boosts: Boosts) -> tuple[str, list[str]]:
    """What the facets of `p` add to its score, as a term of a sum, with its parameters."""
    terms = [f" + {weight} * EXISTS (SELECT 1 FROM facet WHERE value = ? AND id = p.id)" for _, weight in boosts]
    return "".join(terms), [facet for facet, _ in boosts]


def filter_sql(filter: Filter, hidden: Sequence[int]) -> tuple[str, list[str]]:
    """Conditions on `p`, a row of `passage`, with their parameters."""
    conditions: list[str] = []
    parameters: list[str] = []
    for facets in filter.clauses:
        marks = ", ".join("?" * len(facets))
        conditions.append(f" AND EXISTS (SELECT 1 FROM facet WHERE value IN ({marks}) AND id = p.id)")
        parameters += facets
    if hidden:
        conditions.append(" AND p.owner NOT IN (SELECT value FROM json_each(?))")
        parameters.append(f"[{','.join(map(str, hidden))}]")
    return "".join(conditions), parameters


class border:  # noqa: N801  (reads as a statement)
    """SQLite failures on the index file leave as `IndexUnusable`."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error | TypeError | ValueError):  # a damaged file yields values of any type
            raise IndexUnusable(f"the index file could not {self._doing}: {error}") from error
