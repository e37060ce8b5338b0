"""BM25 as the engines compute it, so that a passage that no index has yet scores as if one had it.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with Lucene's idf that
never turns negative. Tantivy keeps a field's length in one byte; `quantised` repeats that (Lucene's SmallFloat).
"""

from __future__ import annotations

import math

K1 = 1.2
B = 0.75
# What a word weighs in the title and heading, in the text, in tags, path, scope and topic; and the parts of an
# identifier side by side. Swept on the development halves of five retrieval sets: titles serve questions that name a
# thing and mislead those that describe one, so they count half.
FIELD_WEIGHTS = {"head": 0.5, "body": 1.0, "labels": 0.5}
PHRASE_WEIGHT = 0.5
LITERAL_WEIGHTS = {"head": 6.0, "body": 3.0}  # of a whole query that looks like a literal, found as it stands


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
