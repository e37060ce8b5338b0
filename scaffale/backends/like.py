"""The LIKE engine: escaped matching of whole words over folded text, for a SQLite without FTS5. Slow, exact, never absent.

Every row of the table is looked at. A passage scores the weight of each word and phrase that it holds, by field; how often
and how rare does not count. No corpus statistics, so commit and overlay agree by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.backends.overlay import Clause, Overlay, Statistics, analysed, occurrences, prefixed, units
from scaffale.backends.ports import TERMS, TIED_HITS_CAP
from scaffale.backends.sqlite_index import SqliteIndex, boosts_sql, filter_sql
from scaffale.model import Hit
from scaffale.ranking import bm25
from scaffale.ranking.order import closed, rounded
from scaffale.text import fields, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from scaffale.backends.overlay import Demand, Question
    from scaffale.backends.sqlite_index import Asked
    from scaffale.model import Passage
    from scaffale.text import Query

IDENTITY = "like-v2"


class LikeIndex(SqliteIndex):
    """`LexicalIndex` on columns of folded words, one space before and after each."""

    tables = (
        f"CREATE TABLE words (id INTEGER PRIMARY KEY, {', '.join(f'{field} TEXT NOT NULL' for field in bm25.FIELDS)}) STRICT",
    )

    def __init__(self, folder: str) -> None:
        super().__init__(folder, PresenceOverlay(words))

    def stems(self, text: str) -> list[str]:
        """The words of a text, folded; nothing is stemmed."""
        return words(text)

    def question(self, query: Query) -> Question:
        """The query in folded words."""
        return analysed(query, words)

    def known(self, prefix: str) -> set[str]:
        """By reading every row that has such a word."""
        found: set[str] = set()
        for row in self.connection.execute(
            "SELECT title || heading || body || labels FROM words WHERE title || heading || body || labels LIKE ? ESCAPE '\\'",
            (f"% {_escaped(prefix)}%",),
        ):
            found.update(word for word in str(row[0]).split(" ") if word.startswith(prefix))
            if len(found) > TERMS:
                break
        return found

    def matches(self, asked: Asked, k: int) -> tuple[list[Hit], int, bool]:
        """A scan of the table."""
        tests, patterns = [], []
        for clause in asked.question.clauses:
            for unit in units(clause):
                for field in bm25.FIELDS:
                    tests.append(f"{clause.weight * _weight(clause, field)} * (w.{field} LIKE ? ESCAPE '\\')")
                    patterns.append(_pattern(unit, prefix=clause.prefix))
        added, facets = boosts_sql(asked.boosts)
        conditions, parameters = filter_sql(asked.filter, asked.hidden)
        for negation, demands in (("", asked.question.required), ("NOT ", asked.question.excluded)):
            for demand in demands:
                held, more = _held(demand)
                conditions += f" AND {negation}({held})"
                parameters += more
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
        connection.execute("INSERT INTO words VALUES (?, ?, ?, ?, ?)", (passage.id, *columns))

    def erase(self, connection: apsw.Connection, ids: Sequence[int]) -> None:
        """Forget the words of passages."""
        connection.executemany("DELETE FROM words WHERE id = ?", [(id_,) for id_ in ids])


class PresenceOverlay(Overlay):
    """The weight of each word and phrase that a field holds."""

    def scores(self, question: Question, statistics: Statistics, coverage: float) -> dict[int, float]:
        """The same tests as the statement's, on postings."""
        scores: dict[int, float] = {}
        for clause in question.clauses:
            for unit in units(clause):
                for field in bm25.FIELDS:
                    weight = _weight(clause, field)
                    for slot in self._with(field, unit, prefix=clause.prefix) if weight else ():
                        scores[slot] = scores.get(slot, 0.0) + clause.weight * weight
        return scores

    def _with(self, field: str, unit: tuple[str, ...], *, prefix: bool) -> set[int]:
        if prefix:
            return prefixed({key: posting for key, posting in self._postings.items() if key[0] == field}, unit[-1])
        slots = self._postings.get((field, unit[0]), ())
        return {slot for slot in slots if len(unit) == 1 or occurrences(unit, self._slots[slot].tokens[field])}


WEIGHTS = {"title": 0.5, "heading": 0.5, "body": 1.0, "labels": 0.5}


def _weight(clause: Clause, field: str) -> float:
    return bm25.LITERAL_WEIGHTS.get(field, 0.0) if clause.literal else WEIGHTS[field]


def _pattern(unit: tuple[str, ...], *, prefix: bool = False) -> str:
    if prefix:
        return f"% {_escaped(unit[-1])}%"
    return f"% {_escaped(' '.join(unit))} %"


def _held(demand: Demand) -> tuple[str, list[str]]:
    """A condition on the columns, with its patterns."""
    either, patterns = [], []
    for field in demand.fields:
        for clause in demand.clauses:
            runs = (
                [clause.tokens]
                if field in bm25.WITH_POSITIONS and not clause.prefix
                else [(token,) for token in clause.tokens]
            )
            asked = [_pattern(run, prefix=clause.prefix and run is runs[-1]) for run in runs]
            either.append("(" + " AND ".join([f"w.{field} LIKE ? ESCAPE '\\'"] * len(asked)) + ")")
            patterns += asked
    return " OR ".join(either), patterns


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
