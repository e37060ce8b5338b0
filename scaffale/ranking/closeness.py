"""What the text of a passage says that counts of words do not: words of the question side by side, a word of it inside a
longer one of the title, the question as it stands; and what the entries of a place say for one another.

All of it only ever adds to a score, and is asked of the first hits alone. The weights were chosen on the development
halves of the retrieval sets.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from scaffale.ranking.bm25 import K1

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIDE_BY_SIDE = 0.3  # of the two words' rarity, as far as no title covers the question
IN_TITLE_WORD = 0.5  # of the word's rarity
INSIDE_AT_LEAST = 4  # letters
LITERAL = 100.0  # more than words alone ever score
COMPANY = 0.3  # of the best score of the place, half of that of the second, and so on
_WORD = re.compile(r"[^\W_]+")
_FAR = 20  # characters from one word to the next


class Pair(NamedTuple):
    """Two words that follow one another in a question: where, how far apart, and how rare they are together."""

    place: int
    gap: int
    rarity: float


def places(
    found: Sequence[tuple[int, int, str]], pairs: Mapping[tuple[str, str], Pair], text: str
) -> dict[Pair, int]:
    """How often each pair stands in the text as far apart as in the question. `found` are the places of words,
    `(start, end, stem)`, ascending."""
    counts: dict[Pair, int] = {}
    for (_, end, one), (start, _, other) in pairwise(found):
        pair = pairs.get((one, other))
        if pair and start - end < _FAR * pair.gap and len(_WORD.findall(text, end, start)) == pair.gap - 1:
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def side_by_side(found: Sequence[tuple[int, int, str]], pairs: Mapping[tuple[str, str], Pair], text: str) -> float:
    """What the pairs are worth that stand in the text so; the more often the more, with less and less added."""
    counts = places(found, pairs, text)
    return sum(pair.rarity * (K1 + 1) * count / (count + K1) for pair, count in counts.items())


def company(scores: Mapping[int, float], places: Mapping[int, object]) -> dict[int, float]:
    """What each thing, best first, gains from those of its place, itself among them: a place that holds much of what is
    asked for is likely to be the one that is meant."""
    gains: dict[object, float] = {}
    weights: dict[object, float] = {}
    for number, score in scores.items():
        place = places.get(number)
        weight = weights.get(place, COMPANY)
        gains[place] = gains.get(place, 0.0) + weight * score
        weights[place] = weight / 2
    return {number: gains[places.get(number)] for number in scores}
