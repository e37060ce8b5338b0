"""BM25 as the engines compute it, so that a passage that no index has yet scores as if one had it.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with Lucene's idf that
never turns negative. Tantivy keeps a field's length in one byte; `quantised` repeats that (Lucene's SmallFloat).
"""

from __future__ import annotations

import math

K1 = 1.2
B = 0.75
# Titles serve questions that name a thing and mislead those that describe one. So names (title, heading path, and the
# labels: tags, path, scope, topic) count as far as the best title or heading under the filter covers the question
# (`coverage`): 1 when it holds every word, weighed by rarity. Chosen on the development halves of five retrieval sets.
NAME_WEIGHTS = {"title": 0.7, "heading": 0.4, "labels": 0.8}
FIELDS = ("title", "heading", "body", "labels")
WITH_POSITIONS = ("title", "heading", "body")
LEAST_COVERAGE = 0.1  # a passage that matches by its name alone is found all the same
NAMED_WHOLLY = 0.5  # of all words' rarity, when title, heading and labels together hold every word
PHRASE_WEIGHT = 0.3  # the parts of an identifier side by side
PREFIX_SCORE = 2.0  # of a word that goes on as it likes: as much as a fairly common whole word
LITERAL_WEIGHTS = {"title": 6.0, "heading": 6.0, "body": 3.0}  # a whole query that looks like a literal, side by side


def field_weights(coverage: float) -> dict[str, float]:
    """What a word weighs in each field, when the best name covers that much of the question."""
    named = max(coverage, LEAST_COVERAGE)
    return {field: NAME_WEIGHTS[field] * named if field in NAME_WEIGHTS else 1.0 for field in FIELDS}


def idf(documents: int, frequency: int) -> float:
    """Inverse document frequency of a term that `frequency` of `documents` hold."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


def quantised(length: int) -> int:
    """The length that a one-byte norm remembers: exact to 40, then the next lower of a coarsening scale."""
    if length < 40:
        return length
    mantissa = length - 24
    shift = max(0, mantissa.bit_length() - 4)
    return 24 + (mantissa >> shift << shift)


def length_factors(average: float) -> tuple[float, float]:
    """`(constant, slope)` of the saturation: a term's score is `idf * (K1 + 1) * tf / (tf + constant + slope * length)`."""
    return K1 * (1 - B), K1 * B / average if average else 0.0
