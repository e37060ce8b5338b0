"""No index at all: every passage is looked at. Serves while an index is being built, and judges the engines in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.backends.overlay import analysed, holds, occurrences, units
from scaffale.model import Hit, Hits
from scaffale.ranking import bm25
from scaffale.ranking.order import closed, rounded
from scaffale.text import fields, literally, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from scaffale.backends.overlay import Clause, Demand
    from scaffale.model import Filter, Passage
    from scaffale.text import Query


def search_passages(
    passages: Iterable[Passage], query: Query, filter: Filter, k: int, exclude: Collection[int] = ()
) -> Hits:
    """The best `k` by the weight of the words and phrases that a passage holds, and what ties with the last of them. For a
    query of signs alone, the passages that hold it as it stands."""
    question = analysed(query, words)
    hits = []
    for passage in passages:
        if passage.owner in exclude or not all(set(clause).intersection(passage.facets) for clause in filter.clauses):
            continue
        if not query.terms:
            if any(literally(text, query.text) for text in passage[2:6]):
                hits.append(_hit(passage, 1.0))
            continue
        texts = fields(passage.title, passage.heading, passage.body, passage.labels)
        tokens = {field: words(text) for field, text in texts.items()}
        score = sum(_score(tokens[field], clause, field) for clause in question.clauses for field in bm25.FIELDS)
        if score and all(_meets(tokens, demand) for demand in question.required):
            if any(_meets(tokens, demand) for demand in question.excluded):
                continue
            score += sum(boost for facet, boost in query.boosts if facet in passage.facets)
            hits.append(_hit(passage, score))
    return Hits(closed(hits, k), len(hits))


def _hit(passage: Passage, score: float) -> Hit:
    return Hit(passage.id, passage.owner, rounded(score), passage.importance, passage.confidence, passage.updated)


def _score(tokens: list[str], clause: Clause, field: str) -> float:
    if clause.prefix:
        return clause.weight * holds(tokens, clause, field)
    weight = bm25.LITERAL_WEIGHTS.get(field, 0.0) if clause.literal else 1.0 if field == "body" else 0.5
    return clause.weight * weight * sum(1 for unit in units(clause) if occurrences(unit, tokens))


def _meets(tokens: dict[str, list[str]], demand: Demand) -> bool:
    return any(holds(tokens[field], clause, field) for field in demand.fields for clause in demand.clauses)
