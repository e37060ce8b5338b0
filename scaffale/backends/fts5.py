"""The FTS5 engine: SQLite's own full-text index, for where Tantivy cannot be imported, and for small stores.

Its formula is FTS5's `bm25()`: one length and one idf per passage, weights on term frequencies. Hence its scores are not
Tantivy's; filters, ties and literal matches are. English is stemmed (porter), accents are folded. Every token is quoted.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import apsw

from scaffale.backends.overlay import Clause, Overlay, Statistics, analysed, occurrences, units
from scaffale.backends.ports import TIED_HITS_CAP
from scaffale.backends.sqlite_index import SqliteIndex, boosts_sql, filter_sql
from scaffale.model import Hit
from scaffale.ranking import bm25
from scaffale.ranking.order import closed, rounded
from scaffale.text import fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.backends.sqlite_index import Boosts
    from scaffale.model import Filter, Passage
    from scaffale.text import Query

IDENTITY = "fts5-v1"
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
# On term frequencies, as `bm25()` weighs: they saturate together, so a title must count several times to be felt at all.
# Swept on the development halves of five retrieval sets.
COLUMN_WEIGHTS = {"head": 4.0, "body": 1.0, "labels": 4.0}
LITERAL_TIMES = 8
_WEIGHTS = ", ".join(map(str, COLUMN_WEIGHTS.values()))


def available() -> bool:
    """Whether this SQLite has FTS5."""
    try:
        apsw.Connection(":memory:").execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except apsw.SQLError:
        return False
    return True


class Fts5Index(SqliteIndex):
    """`LexicalIndex` on an FTS5 table."""

    tables = (
        "CREATE VIRTUAL TABLE words USING fts5(head, body, labels, tokenize = 'porter unicode61 remove_diacritics 2')",
        "INSERT INTO words (words, rank) VALUES ('secure-delete', 1)",
        "CREATE TABLE totals (documents INTEGER NOT NULL, tokens INTEGER NOT NULL) STRICT",
        "INSERT INTO totals VALUES (0, 0)",
    )

    check = "INSERT INTO words (words, rank) VALUES ('integrity-check', 0)"

    def __init__(self, folder: str) -> None:
        connection = apsw.Connection(":memory:")
        self._tokenizer = connection.fts5_tokenizer(*_TOKENIZER)
        self._splitter = connection.fts5_tokenizer(_TOKENIZER[1][0], _TOKENIZER[1][1:])
        super().__init__(folder, RowwiseOverlay(self.stems))

    def stems(self, text: str) -> list[str]:
        """The terms of a text."""
        return _tokens(self._tokenizer, text)

    def clauses(self, query: Query) -> list[Clause]:
        """The query in porter stems, and in words: a MATCH stems for itself, and of a stem porter may make another."""
        return analysed(query, self.stems, lambda text: _tokens(self._splitter, text))

    def statistics(self, clauses: Sequence[Clause]) -> Statistics:
        """Of the commit: passages, mean length of a row, frequencies by token or phrase."""
        connection = self.connection
        documents, tokens = connection.execute("SELECT documents, tokens FROM totals").get
        return Statistics(documents, {"row": tokens / documents if documents else 0.0}, self._frequency)

    def matches(
        self, clauses: Sequence[Clause], boosts: Boosts, filter: Filter, k: int, hidden: Sequence[int]
    ) -> tuple[list[Hit], int, bool]:
        """One statement ranks them all; the tied group is closed from a longer list when it must be."""
        match = " OR ".join(_quoted(words) for words, times in _asked(clauses).values() for _ in range(times))
        added, facets = boosts_sql(boosts)
        conditions, parameters = filter_sql(filter, hidden)
        sql = (
            f"WITH found AS MATERIALIZED (SELECT p.id, p.owner, -bm25(words, {_WEIGHTS}){added} AS score,"
            " p.importance, p.confidence, p.updated FROM words CROSS JOIN passage AS p ON p.id = words.rowid"
            f" WHERE words MATCH ?{conditions})"
            " SELECT *, (SELECT count(*) FROM found) FROM found ORDER BY score DESC LIMIT ?"
        )
        limit = k + 40
        while True:
            rows: list[Any] = self.connection.execute(sql, (*facets, match, *parameters, limit)).fetchall()
            hits = [Hit(i, o, rounded(s), n, c, u) for i, o, s, n, c, u, _ in rows]
            total = rows[0][6] if rows else 0
            open_end = len(hits) < total and len(hits) > k and hits[k - 1].score == hits[-1].score
            if not open_end or limit >= TIED_HITS_CAP:
                return closed(hits, k), total, open_end
            limit = TIED_HITS_CAP

    def insert(self, connection: apsw.Connection, passage: Passage) -> None:
        """Store the words of a passage."""
        texts = fields(passage.title, passage.heading, passage.body, passage.labels)
        connection.execute("INSERT INTO words (rowid, head, body, labels) VALUES (?, ?, ?, ?)", (passage.id, *texts.values()))
        self._count(connection, [passage.id], +1)

    def erase(self, connection: apsw.Connection, ids: Sequence[int]) -> None:
        """Forget the words of passages."""
        self._count(connection, ids, -1)
        connection.executemany("DELETE FROM words WHERE rowid = ?", [(id_,) for id_ in ids])

    def _count(self, connection: apsw.Connection, ids: Sequence[int], sign: int) -> None:
        # words_docsize holds one varint a column: the lengths that bm25() uses.
        tokens = 0
        for id_ in ids:
            tokens += sum(_varints(connection.execute("SELECT sz FROM words_docsize WHERE id = ?", (id_,)).get or b""))
        connection.execute(
            "UPDATE totals SET documents = documents + ?, tokens = tokens + ?", (sign * len(ids), sign * tokens)
        )

    def _frequency(self, field: str, expression: str) -> int:
        """Passages that match a quoted word or phrase in any column: FTS5's formula knows no fields."""
        return int(self.connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).get)


class RowwiseOverlay(Overlay):
    """FTS5's formula: weighted term frequency over all columns, one length and one idf per passage."""

    def scores(self, clauses: Sequence[Clause], statistics: Statistics) -> dict[int, float]:
        """Each token and each phrase is a unit of its own, once per distinct expression, as in the MATCH."""
        scores: dict[int, float] = {}
        few = statistics.documents <= len(self._slots)  # then the overlay's own numbers count too
        documents = statistics.documents + len(self._slots) * few
        average = self._mean_length() if few else statistics.average["row"]
        constant, slope = bm25.length_factors(average)
        for unit, (words, times) in _asked(clauses).items():
            weighted = self._weighted_frequencies(unit)
            if not weighted:
                continue
            idf = _idf(documents, statistics.frequency("row", _quoted(words)) + len(weighted) * few)
            for slot, tf in weighted.items():
                length = sum(self._slots[slot].lengths.values())
                scores[slot] = scores.get(slot, 0.0) + times * idf * tf * (bm25.K1 + 1) / (tf + constant + slope * length)
        return scores

    def _weighted_frequencies(self, unit: tuple[str, ...]) -> dict[int, float]:
        found: dict[int, float] = {}
        for field, weight in COLUMN_WEIGHTS.items():
            for slot, tf in self._postings.get((field, unit[0]), {}).items():
                count = tf if len(unit) == 1 else occurrences(unit, self._slots[slot].tokens[field])
                if count:
                    found[slot] = found.get(slot, 0.0) + weight * count
        return found

    def _mean_length(self) -> float:
        return sum(sum(slot.lengths.values()) for slot in self._slots.values()) / max(1, len(self._slots))


def _quoted(unit: tuple[str, ...]) -> str:
    return " + ".join('"' + token.replace('"', '""') + '"' for token in unit)


def _asked(clauses: Sequence[Clause]) -> dict[tuple[str, ...], tuple[tuple[str, ...], int]]:
    """Each distinct phrase or token in stems, with its words, and how often it is asked for: the only weight there is."""
    asked: dict[tuple[str, ...], tuple[tuple[str, ...], int]] = {}
    for clause in clauses:
        times = LITERAL_TIMES if clause.literal else 1
        for unit, words in zip(units(clause), units(clause._replace(tokens=clause.words)), strict=True):
            if asked.get(unit, ((), 0))[1] < times:
                asked[unit] = words, times
    return asked


def _tokens(tokenizer: apsw.FTS5Tokenizer, text: str) -> list[str]:
    found: Any = tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
    return [tokens[0] for tokens in found]


def _idf(documents: int, frequency: int) -> float:
    """FTS5's own: a word of more than half of the passages is worth next to nothing, never less."""
    value = math.log((documents - frequency + 0.5) / (frequency + 0.5)) if documents >= frequency else 0.0
    return value if value > 0 else 1e-6


def _varints(data: bytes) -> list[int]:
    values, value = [], 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            values.append(value)
            value = 0
    return values
