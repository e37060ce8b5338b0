"""An embedder without a model: every word has a place of its own. For tests, and to try vectors without downloading.

It knows no meaning: two texts are near when they share words, or parts of words.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from typing import TYPE_CHECKING

from scaffale.text import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.backends.ports import Vector
    from scaffale.backends.spaces import Space


class Hashing:
    """Each word, and each run of four of its letters, adds to one dimension, up or down, as its digest says."""

    def __init__(self, space: Space) -> None:
        self._dimensions = space.dimensions
        self._query = space.query_prompt
        self._document = space.document_prompt

    def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        return self._embed(self._query + text)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text."""
        return [self._embed(self._document + text) for text in texts]

    def close(self) -> None:
        """There is nothing to let go of."""

    def _embed(self, text: str) -> Vector:
        sums = [0.0] * self._dimensions
        for word in words(text):
            for part in (word, *(word[at : at + 4] for at in range(len(word) - 3))):
                digest = hashlib.blake2b(part.encode("utf-8", "replace"), digest_size=8).digest()
                number = int.from_bytes(digest, "big")
                sums[number % self._dimensions] += 1.0 if number >> 63 else -1.0
        length = math.sqrt(sum(value * value for value in sums)) or 1.0
        return array("f", [value / length for value in sums])
