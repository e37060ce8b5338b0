"""The LIKE engine: escaped matching of whole words over folded text, for a SQLite without FTS5. Slow, exact, never absent.

Every row of the table is looked at. A passage scores the weight of each word and phrase that it holds, by field; how often
and how rare does not count. No corpus statistics, so commit and overlay agree by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.backends.overlay import Clause, Overlay, Statistics, analysed, occurrences, units
from scaffale.backends.ports import TIED_HITS_CAP
from scaffale.backends.sqlite_index import SqliteIndex, boosts_sql, filter_sql
from scaffale.model import Hit
from scaffale.ranking import bm25
from scaffale.ranking.order import closed, rounded
from scaffale.text import fields, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from scaffale.backends.sqlite_index import Boosts
    from scaffale.model import Filter, Passage
    from scaffale.text import Query

IDENTITY = "like-v1"


class LikeIndex(SqliteIndex):
    """`LexicalIndex` on columns of folded words, one space before and after each."""

    tables = ("CREATE TABLE words (id INTEGER PRIMARY KEY, head TEXT NOT NULL, body TEXT NOT NULL, labels TEXT NOT NULL) STRICT",)

    def __init__(self, folder: str) -> None:
        super().__init__(folder, PresenceOverlay(words))

    def stems(self, text: str) -> list[str]:
        """The words of a text, folded; nothing is stemmed."""
        return words(text)

    def clauses(self, query: Query) -> list[Clause]:
        """The query in folded words."""
        return analysed(query, words)

    def statistics(self, clauses: Sequence[Clause]) -> Statistics:
        """None are needed."""
        return Statistics(0, {}, lambda field, token: 0)

    def matches(
        self, clauses: Sequence[Clause], boosts: Boosts, filter: Filter, k: int, hidden: Sequence[int]
    ) -> tuple[list[Hit], int, bool]:
        """A scan of the table."""
        tests, patterns = [], []
        for clause in clauses:
            for unit in units(clause):
                for field in bm25.FIELD_WEIGHTS:
                    tests.append(f"{clause.weight * _weight(clause, field)} * (w.{field} LIKE ? ESCAPE '\\')")
                    patterns.append(f"% {_escaped(' '.join(unit))} %")
        added, facets = boosts_sql(boosts)
        conditions, parameters = filter_sql(filter, hidden)
        sql = (
            "SELECT id, owner, held + more AS score, importance, confidence, updated, count(*) OVER () FROM"
            f" (SELECT p.*, {' + '.join(tests)} AS held, 0{added} AS more FROM words AS w JOIN passage AS p ON p.id = w.id"
            f" WHERE TRUE{conditions}) WHERE held > 0 ORDER BY score DESC LIMIT {TIED_HITS_CAP}"
        )
        rows: list[Any] = self.connection.execute(sql, (*patterns, *facets, *parameters)).fetchall()
        hits = [Hit(i, o, rounded(s), n, c, u) for i, o, s, n, c, u, _ in rows]
        total = rows[0][6] if rows else 0
        open_end = len(hits) < total and len(hits) > k and hits[k - 1].score == hits[-1].score
        return closed(hits, k), total, open_end

    def insert(self, connection: apsw.Connection, passage: Passage) -> None:
        """Store the folded words of a passage."""
        texts = fields(passage.title, passage.heading, passage.body, passage.labels)
        columns = [f" {' '.join(words(text))} " for text in texts.values()]
        connection.execute("INSERT INTO words VALUES (?, ?, ?, ?)", (passage.id, *columns))

    def erase(self, connection: apsw.Connection, ids: Sequence[int]) -> None:
        """Forget the words of passages."""
        connection.executemany("DELETE FROM words WHERE id = ?", [(id_,) for id_ in ids])


class PresenceOverlay(Overlay):
    """The weight of each word and phrase that a field holds."""

    def scores(self, clauses: Sequence[Clause], statistics: Statistics) -> dict[int, float]:
        """The same tests as the statement's, on postings."""
        scores: dict[int, float] = {}
        for clause in clauses:
            for unit in units(clause):
                for field in bm25.FIELD_WEIGHTS:
                    weight = _weight(clause, field)
                    for slot in self._postings.get((field, unit[0]), ()):
                        if len(unit) == 1 or occurrences(unit, self._slots[slot].tokens[field]):
                            scores[slot] = scores.get(slot, 0.0) + clause.weight * weight
        return scores


def _weight(clause: Clause, field: str) -> float:
    return bm25.LITERAL_WEIGHTS.get(field, 0.0) if clause.literal else bm25.FIELD_WEIGHTS[field]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
