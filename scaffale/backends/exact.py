"""No index: every vector is compared, in plain Python. Judges the vector engines in tests, and serves where numpy is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.backends.codes import decode
from scaffale.backends.vector_file import CLOSEST, VectorFile, ids_json
from scaffale.model import Hit
from scaffale.ranking.order import sort_key

if TYPE_CHECKING:
    from collections.abc import Collection

    from scaffale.backends.ports import Vector
    from scaffale.model import Filter

IDENTITY = "exact-1"


class Exact(VectorFile):
    """See the head of this file."""

    def nearest(self, vector: Vector, filter: Filter, k: int, exclude: Collection[int]) -> list[Hit]:
        """All, by their cosine."""
        hits = []
        for passage, owner, importance, confidence, updated, facets, stored in self._connection.execute(
            "SELECT passage, owner, importance, confidence, updated, facets, vector FROM vector"
            " WHERE owner NOT IN (SELECT value FROM json_each(?)) ORDER BY id",
            (ids_json(exclude),),
        ):
            has = facets.split("\n")
            if all(any(facet in has for facet in clause) for clause in filter.clauses):
                score = sum(a * b for a, b in zip(vector, decode(stored), strict=True))
                hits.append(Hit(passage, owner, round(score, CLOSEST), importance, confidence, updated))
        return sorted(hits, key=sort_key)[:k]
