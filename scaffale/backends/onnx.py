"""A torch-free embedder: a transformer in ONNX, run by onnxruntime, with the model's own tokenizer.

The folder holds `tokenizer.json` and one `.onnx` file (`onnx/model.onnx`, a quantised one beside it, or any other). The
last hidden states are pooled by their mean or taken at the first token, as the space says, and brought to unit length.
"""

from __future__ import annotations

import os
import threading
from array import array
from typing import TYPE_CHECKING, Any

from scaffale.backends import models, tokens
from scaffale.backends.ports import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.backends.ports import Vector
    from scaffale.backends.spaces import Space

AT_ONCE = 16  # windows in one run
_PREFERRED = ("onnx/model.onnx", "model.onnx")


class Onnx:
    """See the head of this file. Loading takes half a second."""

    def __init__(self, space: Space) -> None:
        try:
            import numpy
            import onnxruntime
        except ImportError as error:
            raise EmbedderUnavailable(f"{error.name} is not installed", "pip install 'scaffale[onnx]' brings it") from error
        self._np = numpy
        self._space = space
        models.verify(space.path, space.revision, space.model)
        self._tokenizer = tokens.tokenizer(space.path)
        self._lock = threading.Lock()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = min(4, os.cpu_count() or 1)
        try:
            self._session = onnxruntime.InferenceSession(
                _file(space.path), options, providers=["CPUExecutionProvider"]
            )
        except EmbedderUnavailable:
            raise
        except Exception as error:
            raise EmbedderUnavailable(f"{space.model} cannot be loaded ({type(error).__name__})") from error
        self._inputs = {each.name for each in self._session.get_inputs()}

    def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        return self._embed([self._space.query_prompt + text])[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text."""
        return self._embed([self._space.document_prompt + text for text in texts])

    def close(self) -> None:
        """The session goes with this object."""

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        with self._lock:
            encoded = self._tokenizer.encode_batch(list(texts))
        owned = [(number, ids) for number, each in enumerate(encoded) for ids in tokens.windows(each, self._space.max_tokens)]
        sums = [0.0] * len(texts)
        order = sorted(range(len(owned)), key=lambda at: len(owned[at][1]))  # of like length, so that little is padding
        for start in range(0, len(order), AT_ONCE):
            batch = [owned[at] for at in order[start : start + AT_ONCE]]
            for (number, ids), vector in zip(batch, self._run([ids for _, ids in batch]), strict=True):
                sums[number] = sums[number] + len(ids) * vector
        return [self._unit(each) for each in sums]

    def _run(self, batch: Sequence[list[int]]) -> Any:  # noqa: ANN401  (a matrix, one row each)
        np = self._np
        width = max(map(len, batch))
        ids = np.zeros((len(batch), width), np.int64)
        mask = np.zeros((len(batch), width), np.int64)
        for row, each in enumerate(batch):
            ids[row, : len(each)] = each
            mask[row, : len(each)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            states = self._session.run(None, {name: value for name, value in given.items() if name in self._inputs})[0]
        except MemoryError as error:
            raise EmbedderUnavailable(f"{self._space.model} ran out of memory") from error
        except Exception as error:
            raise EmbedderUnavailable(f"{self._space.model} failed ({type(error).__name__})") from error
        if states.ndim == 2:  # pooled already
            pooled = states
        elif self._space.pooling == "cls":
            pooled = states[:, 0]
        else:
            weights = mask[:, :, None].astype(np.float32)
            pooled = (states * weights).sum(axis=1) / weights.sum(axis=1)
        return pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)

    def _unit(self, total: Any) -> Vector:  # noqa: ANN401
        np = self._np
        return array("f", (total / max(float(np.linalg.norm(total)), 1e-12)).astype(np.float32).tobytes())


def _file(folder: str) -> str:
    """The network to be run."""
    for name in _PREFERRED:
        if os.path.isfile(os.path.join(folder, *name.split("/"))):
            return os.path.join(folder, *name.split("/"))
    found = sorted(
        os.path.join(where, name) for where, _, names in os.walk(folder) for name in names if name.endswith(".onnx")
    )
    if not found:
        raise EmbedderUnavailable(f"{folder} holds no .onnx file")
    return found[0]
