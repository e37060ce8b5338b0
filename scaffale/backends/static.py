"""Static embeddings: a vector for each token, and their mean for a text. No network is run, so it takes microseconds.

It reads what model2vec writes: `tokenizer.json` and `model.safetensors` with one matrix (`embeddings`), in 32, 16 or 8
bits, and with it, in newer models, a weight for each token and a mapping of tokens to rows.
"""

from __future__ import annotations

import json
import os
from array import array
from typing import TYPE_CHECKING, Any

from scaffale.backends import models, tokens
from scaffale.backends.ports import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.backends.ports import Vector
    from scaffale.backends.spaces import Space

MATRIX = ("embeddings", "embedding.weight")
_MOST_HEADER = 100_000_000


class Static:
    """See the head of this file. The matrix is mapped, not read."""

    def __init__(self, space: Space) -> None:
        try:
            import numpy
        except ImportError as error:
            raise EmbedderUnavailable("numpy is not installed", "pip install 'scaffale[vectors]' brings it") from error
        self._np = numpy
        self._space = space
        models.verify(space.path, space.revision, space.model)
        self._tokenizer = tokens.tokenizer(space.path)
        tensors = _tensors(numpy, os.path.join(space.path, "model.safetensors"))
        matrix = next((tensors[name] for name in MATRIX if name in tensors), None)
        if matrix is None or matrix.ndim != 2:
            raise EmbedderUnavailable(f"{space.path} holds no matrix of static embeddings")
        self._matrix = matrix
        self._weights = tensors.get("weights")
        self._mapping = tensors.get("mapping")

    def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        return self._embed(self._space.query_prompt + text)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text."""
        return [self._embed(self._space.document_prompt + text) for text in texts]

    def close(self) -> None:
        """The mapping goes with this object."""

    def _embed(self, text: str) -> Vector:
        np = self._np
        ids = np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, np.int64)
        if not len(ids):  # blank, or signs that the model has no token for: no vector, which is refused behind us
            return array("f", bytes(4 * self._space.dimensions))
        rows = self._matrix[self._mapping[ids] if self._mapping is not None else ids].astype(np.float32)
        if self._weights is not None:
            rows = rows * self._weights[ids][:, None]
        mean = rows.mean(axis=0)
        return array("f", (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32).tobytes())


def _tensors(np: Any, path: str) -> dict[str, Any]:  # noqa: ANN401
    """The tensors of a safetensors file, mapped. Raises `EmbedderUnavailable`."""
    kinds = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I8": np.int8}
    try:
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if size > _MOST_HEADER:
                raise ValueError("its header is too long")
            header = json.loads(file.read(size))
        raw = np.memmap(path, np.uint8, "r", offset=8 + size)
        found = {}
        for name, said in header.items():
            if name != "__metadata__":
                start, end = said["data_offsets"]
                found[name] = raw[start:end].view(kinds[said["dtype"]]).reshape(said["shape"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderUnavailable(f"{path} cannot be read as safetensors ({error})") from error
    return found
