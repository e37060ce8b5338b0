"""How a vector is kept: one byte for each dimension, of -127 to 127, and a scale of four bytes behind them.

The scale belongs to the vector alone, so that vectors of all batches compare, and gives it unit length again. On real
embeddings 99 of 100 nearest neighbours stay what they were. Pure Python: who has numpy reads the same bytes faster.
"""

from __future__ import annotations

import math
import struct
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SCALE = struct.Struct("<f")
SCALE_BYTES = _SCALE.size


class NoVector(ValueError):
    """What came from an embedder is none: of another length, not a number, or nothing but zeros."""


def checked(values: Sequence[float], dimensions: int) -> array[float]:
    """The vector at unit length. Raises `NoVector`."""
    vector = array("f", values)
    if len(vector) != dimensions:
        raise NoVector(f"a vector of {len(vector)} dimensions came; the space has {dimensions}")
    length = math.sqrt(math.sumprod(vector, vector)) if hasattr(math, "sumprod") else math.sqrt(sum(x * x for x in vector))
    if not math.isfinite(length):
        raise NoVector("a vector came that holds what is no number")
    if length < 1e-12:
        raise NoVector("a vector of zeros came, which says nothing")
    if abs(length - 1.0) < 1e-6:
        return vector
    return array("f", [value / length for value in vector])


def encode(vector: Sequence[float]) -> bytes:
    """A vector of unit length as it is stored."""
    factor = 127 / max(*vector, -min(vector))
    steps = array("b", [round(value * factor) for value in vector])
    return steps.tobytes() + _SCALE.pack(1 / math.sqrt(sum(step * step for step in steps)))


def decode(stored: bytes) -> array[float]:
    """The vector again, but for what a byte cannot tell."""
    (scale,) = _SCALE.unpack_from(stored, len(stored) - SCALE_BYTES)
    return array("f", [value * scale for value in array("b", stored[:-SCALE_BYTES])])


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """How alike two vectors are, -1 to 1, whatever their lengths."""
    product = sum(a * b for a, b in zip(one, other, strict=True))
    lengths = math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))
    return product / lengths if lengths else 0.0
