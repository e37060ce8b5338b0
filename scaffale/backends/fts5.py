"""The FTS5 engine: SQLite's own full-text index, for where Tantivy cannot be imported, and for small stores.

FTS5's own formula knows one length and one idf per passage. It only chooses the passages that are looked at: the best few
hundred are scored by the formula of all engines, from the counts that FTS5 holds of each. English is stemmed (porter),
accents are folded. Every token is quoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from scaffale.backends.overlay import (
    Clause,
    Counts,
    FieldwiseOverlay,
    Statistics,
    analysed,
    covered,
    fieldwise,
    rarity,
)
from scaffale.backends.ports import TERMS, TIED_HITS_CAP
from scaffale.backends.sqlite_index import SqliteIndex, boosts_sql, filter_sql
from scaffale.model import Hit
from scaffale.ranking import bm25
from scaffale.ranking.order import closed, rounded
from scaffale.text import fields

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scaffale.backends.overlay import Demand, Question
    from scaffale.backends.sqlite_index import Asked, Rarity
    from scaffale.model import Filter, Passage
    from scaffale.text import Query

IDENTITY = "fts5-v2"
POOL = 200  # passages that are scored by the formula, at least
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
_COLUMNS = ", ".join(bm25.FIELDS)
_WEIGHTS = "4, 2, 1, 4"  # of FTS5's own formula, which chooses the pool
_BEGUN = "\uffff"  # marks a key of counts as the words that begin like it


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
        f"CREATE VIRTUAL TABLE words USING fts5({_COLUMNS}, tokenize = 'porter unicode61 remove_diacritics 2')",
        "INSERT INTO words (words, rank) VALUES ('secure-delete', 1)",
        "CREATE VIRTUAL TABLE frequencies USING fts5vocab(words, col)",
        f"CREATE TABLE totals (documents INTEGER, {' INTEGER, '.join(bm25.FIELDS)} INTEGER) STRICT",
        f"INSERT INTO totals VALUES (0{', 0' * len(bm25.FIELDS)})",
    )

    check = "INSERT INTO words (words, rank) VALUES ('integrity-check', 0)"

    def __init__(self, folder: str) -> None:
        connection = apsw.Connection(":memory:")
        self._tokenizer = connection.fts5_tokenizer(*_TOKENIZER)
        self._splitter = connection.fts5_tokenizer(_TOKENIZER[1][0], _TOKENIZER[1][1:])
        self._seen: list[tuple[int, list[int], list[list[list[int]]]]] = []
        super().__init__(folder, FieldwiseOverlay(self.stems))

    def stems(self, text: str) -> list[str]:
        """The terms of a text."""
        return _tokens(self._tokenizer, text)

    def question(self, query: Query) -> Question:
        """The query in porter stems, and in words: a MATCH stems for itself, and of a stem porter may make another."""
        return analysed(query, self.stems, lambda text: _tokens(self._splitter, text))

    def statistics(self) -> Statistics:
        """Of the commit: passages, mean length of each field, frequencies by field and token."""
        documents, *tokens = self.connection.execute(f"SELECT documents, {_COLUMNS} FROM totals").get
        average = {
            field: count / documents if documents else 0.0 for field, count in zip(bm25.FIELDS, tokens, strict=True)
        }
        known: dict[str, dict[str, int]] = {}

        def frequency(field: str, token: str) -> int:
            if token not in known:
                rows = self.connection.execute("SELECT col, doc FROM frequencies WHERE term = ?", (token,))
                known[token] = dict(rows.fetchall())  # type: ignore[arg-type]
            return known[token].get(field, 0)

        return Statistics(documents, average, frequency)

    def rarity(self, question: Question, statistics: Statistics) -> Rarity:
        """By their frequencies in texts."""
        return rarity(question, statistics)

    def coverage(
        self, question: Question, rare: Rarity, filter: Filter, hidden: Sequence[int], exclude: Collection[int]
    ) -> float:
        """How much of the question the best title or heading covers."""
        words = _words(question)
        conditions, parameters = filter_sql(filter, hidden)
        held: list[str] = []
        matched: list[str | float] = []
        for word, weight in rare.items():
            held.append("SELECT rowid AS id, ? AS weight FROM words WHERE words MATCH ?")
            matched += [weight, f"{{title heading}} : ({' OR '.join(_quoted((words[token],)) for token in word)})"]
        if not held:
            return 0.0
        sql = (
            f"SELECT max(weight) FROM (SELECT sum(weight) AS weight FROM ({' UNION ALL '.join(held)}) AS held"
            f" CROSS JOIN passage AS p ON p.id = held.id WHERE TRUE{conditions} GROUP BY p.id)"
        )
        best = self.connection.execute(sql, (*matched, *parameters)).get or 0.0
        return covered(max(best, self._overlay.coverage(rare, filter, exclude)), rare)

    def known(self, prefix: str) -> set[str]:
        """From the vocabulary of the table."""
        rows = self.connection.execute(
            "SELECT term FROM frequencies WHERE term >= ? AND term < ? GROUP BY term ORDER BY sum(doc) DESC"
            " LIMIT ?",
            (prefix, prefix + _BEGUN, TERMS),
        )
        return {term for (term,) in rows}

    def matches(self, asked: Asked, k: int) -> tuple[list[Hit], int, bool]:
        """A pool by FTS5's formula, scored by ours; a longer one when the tied group must be closed."""
        question = asked.question
        words = _words(question)
        match = f"({' OR '.join(_sought(question, words))})"
        for demand in question.required:
            match = f"{match} AND ({_demanded(demand)})"
        for demand in question.excluded:
            match = f"{match} NOT ({_demanded(demand)})"
        added, facets = boosts_sql(asked.boosts)
        conditions, parameters = filter_sql(asked.filter, asked.hidden)
        sql = (
            f"WITH found AS MATERIALIZED (SELECT p.id, p.owner, 0{added} AS more, p.importance, p.confidence, p.updated,"
            f" bm25(words, {_WEIGHTS}) AS own FROM words CROSS JOIN passage AS p ON p.id = words.rowid"
            f" WHERE words MATCH ?{conditions})"
            " SELECT id, owner, more, importance, confidence, updated, (SELECT count(*) FROM found) FROM found"
            " ORDER BY own - more, id LIMIT ?"
        )
        limit = max(POOL, 2 * k)
        while True:
            rows: list[Any] = self.connection.execute(sql, (*facets, match, *parameters, limit)).fetchall()
            counts = self._counts(question, words, match, [row[0] for row in rows])
            scores = fieldwise(question, counts, asked.statistics, asked.coverage)
            hits = [Hit(i, o, rounded(scores.get(i, 0.0) + more), n, c, u) for i, o, more, n, c, u, _ in rows]
            total = rows[0][6] if rows else 0
            best = closed(hits, k)
            open_end = len(hits) < total and len(hits) > k and best[k - 1].score == min(hit.score for hit in hits)
            if not open_end or limit >= TIED_HITS_CAP:
                return best, total, open_end
            limit = TIED_HITS_CAP

    def prepare(self, connection: apsw.Connection) -> None:
        """Where each phrase of a MATCH stands in a row, noted as SQLite visits it."""

        def note(row: apsw.FTS5ExtensionApi, *_: object) -> None:
            lengths = [row.column_size(column) for column in range(len(bm25.FIELDS))]
            self._seen.append((row.rowid, lengths, [row.phrase_locations(n) for n in range(row.phrase_count)]))

        connection.register_fts5_function("note", note)

    def _counts(self, question: Question, words: dict[str, str], match: str, ids: Sequence[int]) -> Counts:
        """What the formula wants to know of the rows."""
        sql = f"SELECT note(words) FROM words WHERE words MATCH ? AND rowid IN ({','.join(map(str, ids))})"
        self._seen.clear()
        self.connection.execute(sql, (match,)).fetchall()
        keys = [*words, *(clause.tokens[-1] + _BEGUN for clause in question.clauses if clause.prefix)]
        postings: dict[tuple[str, str], dict[int, int]] = {}
        places: dict[tuple[int, str, str], list[int]] = {}
        lengths: dict[int, list[int]] = {}
        for id_, sizes, located in self._seen:
            lengths[id_] = sizes
            for key, columns in zip(keys, located, strict=False):
                for field, offsets in zip(bm25.FIELDS, columns, strict=True):
                    if offsets:
                        postings.setdefault((field, key), {})[id_] = len(offsets)
                        places[id_, field, key] = offsets

        def phrase(id_: int, field: str, tokens: tuple[str, ...]) -> int:
            starts = set(places.get((id_, field, tokens[0]), ()))
            for step, token in enumerate(tokens[1:], 1):
                starts &= {place - step for place in places.get((id_, field, token), ())}
            return len(starts)

        of = {field: column for column, field in enumerate(bm25.FIELDS)}
        return Counts(postings, lambda id_, field: lengths[id_][of[field]], phrase)

    def insert(self, connection: apsw.Connection, passage: Passage) -> None:
        """Store the words of a passage."""
        texts = fields(passage.title, passage.heading, passage.body, passage.labels)
        connection.execute(
            f"INSERT INTO words (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?)", (passage.id, *texts.values())
        )
        self._count(connection, [passage.id], +1)

    def erase(self, connection: apsw.Connection, ids: Sequence[int]) -> None:
        """Forget the words of passages."""
        self._count(connection, ids, -1)
        connection.executemany("DELETE FROM words WHERE rowid = ?", [(id_,) for id_ in ids])

    def _count(self, connection: apsw.Connection, ids: Sequence[int], sign: int) -> None:
        # words_docsize holds one varint a column.
        tokens = [0] * len(bm25.FIELDS)
        for id_ in ids:
            sizes = _varints(connection.execute("SELECT sz FROM words_docsize WHERE id = ?", (id_,)).get or b"")
            tokens = [total + sign * size for total, size in zip(tokens, sizes, strict=False)]
        changes = ", ".join(f"{field} = {field} + ?" for field in bm25.FIELDS)
        connection.execute(f"UPDATE totals SET documents = documents + ?, {changes}", (sign * len(ids), *tokens))


def _sought(question: Question, words: dict[str, str]) -> list[str]:
    """What makes a row match, each with a number of its own: tokens, and beginnings of words."""
    begun = [f"{_quoted(clause.tokens[-1:])} *" for clause in question.clauses if clause.prefix]
    return [*(_quoted((word,)) for word in words.values()), *begun]


def _words(question: Question) -> dict[str, str]:
    """A word for each token that is asked for: what a MATCH makes that token of."""
    found: dict[str, str] = {}
    for clause in question.clauses:
        if not clause.prefix:
            for token, word in zip(clause.tokens, clause.words, strict=True):
                found.setdefault(token, word)
    return found


def _demanded(demand: Demand) -> str:
    return " OR ".join(f"{{{field}}} : {_run(clause, field)}" for field in demand.fields for clause in demand.clauses)


def _run(clause: Clause, field: str) -> str:
    words = clause.words or clause.tokens
    if clause.prefix:
        return "(" + " AND ".join([*(_quoted((word,)) for word in words[:-1]), f"{_quoted(words[-1:])} *"]) + ")"
    if field in bm25.WITH_POSITIONS:
        return _quoted(words)
    return "(" + " AND ".join(_quoted((word,)) for word in words) + ")"


def _quoted(unit: tuple[str, ...]) -> str:
    return " + ".join('"' + token.replace('"', '""') + '"' for token in unit)


def _tokens(tokenizer: apsw.FTS5Tokenizer, text: str) -> list[str]:
    found: Any = tokenizer(text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
    return [tokens[0] for tokens in found]


def _varints(data: bytes) -> list[int]:
    values, value = [], 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            values.append(value)
            value = 0
    return values
