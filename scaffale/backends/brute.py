"""No index at all: every passage is looked at. Serves while an index is being built, and judges the engines in tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.backends.overlay import analysed, occurrences, units
from scaffale.model import Hit, Hits
from scaffale.ranking import bm25
from scaffale.ranking.order import closed, rounded
from scaffale.text import fields, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from scaffale.model import Filter, Passage
    from scaffale.text import Query


def search_passages(
    passages: Iterable[Passage], query: Query, filter: Filter, k: int, exclude: Collection[int] = ()
) -> Hits:
    """The best `k` by the weight of the words and phrases that a passage holds, and what ties with the last of them."""
    wanted = [(unit, clause.weight) for clause in analysed(query, words) for unit in units(clause)]
    hits = []
    for passage in passages:
        if passage.owner in exclude or not all(set(clause).intersection(passage.facets) for clause in filter.clauses):
            continue
        score = 0.0
        for field, text in fields(passage.title, passage.heading, passage.body, passage.labels).items():
            tokens = words(text)
            score += sum(weight * bm25.FIELD_WEIGHTS[field] for unit, weight in wanted if occurrences(unit, tokens))
        if score:
            score += sum(boost for facet, boost in query.boosts if facet in passage.facets)
            hits.append(
                Hit(passage.id, passage.owner, rounded(score), passage.importance, passage.confidence, passage.updated)
            )
    return Hits(closed(hits, k), len(hits))
