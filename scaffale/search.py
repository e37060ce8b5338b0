"""The search hall: ask the projection, order totally, page, and cut only after the last tie is read.

It knows passages and owners, not what they are: memory and documents are answered by the same few lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scaffale.errors import InvalidParam
from scaffale.ranking.order import ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from scaffale.indexer.sync import Projection
    from scaffale.model import Filter, Hit
    from scaffale.text import Query

    Identify = Callable[[list[int]], dict[int, tuple[object, ...]]]

MAX_REACH = 10_000  # offset + limit; nobody pages that deep, and an engine must not be made to


class Page(NamedTuple):
    """One page of hits in total order. `total` counts every match. `more` says that the order goes on behind it."""

    hits: list[Hit]
    total: int
    more: bool
    lag: int
    warnings: tuple[str, ...]


def search(
    projection: Projection, query: Query, filters: Sequence[Filter], limit: int, offset: int, identify: Identify
) -> Page:
    """Passages under each filter in turn: all that the first lets through rank before those of the second.

    `identify` gives the last word between passages that tie in everything (see `ranking.order.ordered`).
    """
    reach = _reach(offset, limit)
    hits: list[Hit] = []
    warnings: dict[str, None] = {}
    total = lag = 0
    for filter in filters:
        answer = projection.search(query, filter, max(1, reach - len(hits)))
        hits += ordered(answer.found.hits, reach - len(hits), identify)
        total += answer.found.total
        lag = max(lag, answer.lag)
        warnings.update(dict.fromkeys(_warnings(answer.warnings, answer.found.truncated, query, answer.lag)))
    return Page(hits[offset:reach], total, total > reach, lag, tuple(warnings))


def search_owners(
    projection: Projection,
    query: Query,
    filter: Filter,
    limit: int,
    offset: int,
    identify: Identify,
    exclude: Collection[int] = (),
) -> Page:
    """The best passage of each owner, each owner once, refilled until the page is full or nothing is left.

    `total` counts matching passages: the number of owners behind them is not known without reading all.
    """
    reach = _reach(offset, limit)
    best: dict[int, Hit] = {}
    warnings: dict[str, None] = {}
    total, lag = 0, 0
    while True:
        answer = projection.search(query, filter, max(1, 2 * (reach + 1 - len(best))), exclude={*best, *exclude})
        found = answer.found
        total = total or found.total
        lag = max(lag, answer.lag)
        warnings.update(dict.fromkeys(_warnings(answer.warnings, found.truncated, query, answer.lag)))
        for hit in ordered(found.hits, len(found.hits), identify):
            best.setdefault(hit.owner, hit)
        if len(best) > reach or len(found.hits) >= found.total:
            break
    hits = list(best.values())
    return Page(hits[offset:reach], total, len(hits) > reach, lag, tuple(warnings))


def _reach(offset: int, limit: int) -> int:
    if offset + limit > MAX_REACH:
        raise InvalidParam(f"offset: a search answers its first {MAX_REACH} results; narrow it by words or filters instead")
    return offset + limit


def stems(projection: Projection, query: Query) -> set[str]:
    """The index's terms of the query, for snippets."""
    return {stem for term in query.terms for stem in projection.stems(term.text)}


def _warnings(given: Sequence[str], truncated: bool, query: Query, lag: int) -> list[str]:
    warnings = list(given)
    if truncated:
        warnings.append("ties_truncated: very many passages match equally well; their order stops at the first few thousand")
    if not query.terms:
        warnings.append("the query holds no letter and no digit: there is nothing to look for")
    if query.cut:
        warnings.append("the query was too long and was cut")
    if lag:
        warnings.append(f"a scan is running: {lag} of its changes are not searchable yet")
    return warnings
