"""The total order of answers: rounded score, importance, confidence, freshness; then what the store says of equals.

Scores are rounded so that passages that match equally well really tie, on every engine and whether they stand in a
commit or in the tail. Insertion order never decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scaffale.model import Hit

def rounded(score: float) -> float:
    """The score that ranks: two decimals, or four significant digits below 1, where scores of common words may lie."""
    return round(score, 2) if score >= 1.0 else float(f"{score:.4g}")


def sort_key(hit: Hit) -> tuple[float, int, float, int]:
    """Ascending key of the order, but for the last word among equals."""
    return (-hit.score, -hit.importance, -hit.confidence, -hit.updated)


def closed(hits: Iterable[Hit], k: int) -> list[Hit]:
    """The best `k`, sorted, and after them all that tie with the last of these in score."""
    ordered = sorted(hits, key=sort_key)
    if len(ordered) <= k:
        return ordered
    last = ordered[k - 1].score
    end = k
    while end < len(ordered) and ordered[end].score == last:
        end += 1
    return ordered[:end]


def ordered(hits: Iterable[Hit], k: int, identify: Callable[[list[int]], dict[int, tuple[object, ...]]]) -> list[Hit]:
    """Exactly the best `k` in total order. `identify` gives the final keys of passages; it is asked only about ties."""
    best = sorted(hits, key=sort_key)
    keys = [sort_key(hit) for hit in best[: k + 1]]
    # A tie matters when it lies among the first k or crosses the cut; then it goes on behind the cut to its end.
    tied = [
        best[i].id
        for i in range(len(keys))
        if (i and keys[i] == keys[i - 1]) or (i + 1 < len(keys) and keys[i] == keys[i + 1])
    ]
    if 0 < k < len(keys) and keys[k] == keys[k - 1]:
        tied += [hit.id for hit in best[k + 1 :] if sort_key(hit) == keys[k]]
    if tied:
        last_word = identify(tied)
        best.sort(key=lambda hit: (sort_key(hit), last_word.get(hit.id, ())))
    return best[:k]
