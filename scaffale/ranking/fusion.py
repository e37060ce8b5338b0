"""Two ranked lists of the same things, one by words and one by meaning, as one. Arithmetic alone.

By default ranks are fused (reciprocal rank fusion: Cormack, Clarke and Büttcher, 2009), which needs no two scores to mean
the same. The alternative is a convex sum of scores, made comparable by how far they stand out of their own list.
`docs/vectors.md` has what both were measured to give.

What a leg cannot know of, it does not speak against: a thing that has no vector yet counts by meaning as it does by words.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

RRF, CONVEX = "rrf", "convex"
METHODS = (RRF, CONVEX)
RRF_K = 10
WEIGHTS = {RRF: 0.4, CONVEX: 0.45}  # of meaning; words have the rest
DEPTH = 100  # of each list


class Listed(NamedTuple):
    """A thing in a list, best first, with its score there."""

    key: int
    score: float


class Contribution(NamedTuple):
    """What the lists gave a thing; its score is the sum of `words` and `meaning`. A rank is `None` in a list without it."""

    words: float
    meaning: float
    words_rank: int | None
    meaning_rank: int | None
    cosine: float | None

    @property
    def score(self) -> float:
        """What ranks."""
        return self.words + self.meaning


def fused(
    method: str,
    words: Sequence[Listed],
    meaning: Sequence[Listed],
    with_vector: Collection[int],
) -> dict[int, Contribution]:
    """Every thing of either list. `with_vector` names things of the first list that could have been in the second."""
    weight = WEIGHTS[method]
    lexical = _shares(method, words)
    semantic = _shares(method, meaning)
    ranks = {each.key: rank for rank, each in enumerate(words, 1)}
    other_ranks = {each.key: rank for rank, each in enumerate(meaning, 1)}
    cosines = {each.key: each.score for each in meaning}
    found = {}
    for key in dict.fromkeys((*ranks, *other_ranks)):
        by_words = lexical.get(key, 0.0)
        by_meaning = semantic.get(key, 0.0 if key in with_vector or key not in ranks else by_words)
        found[key] = Contribution(
            (1 - weight) * by_words, weight * by_meaning, ranks.get(key), other_ranks.get(key), cosines.get(key)
        )
    return found


def _shares(method: str, listed: Sequence[Listed]) -> dict[int, float]:
    """What a list says for each of its things, 0 and above; 0 is what it says for others."""
    if method == RRF:
        return {each.key: (RRF_K + 1) / (RRF_K + rank) for rank, each in enumerate(listed, 1)}
    return _calibrated(listed)


def _calibrated(listed: Sequence[Listed]) -> dict[int, float]:
    """How far each score stands out of the last of its list, in deviations of the list."""
    if not listed:
        return {}
    mean = sum(each.score for each in listed) / len(listed)
    spread = math.sqrt(sum((each.score - mean) ** 2 for each in listed) / len(listed))
    least = min(each.score for each in listed)
    return {each.key: (each.score - least) / spread if spread else 1.0 for each in listed}
