"""Models of sentence-transformers, its static ones too. Imports torch: seconds and hundreds of megabytes, which is why no
process of an agent loads this, only the embedding daemon and the batch command.

Loaded offline always (`local_files_only`), never with code of the model's own. Vectors are quantised by us: the library's
`precision` takes its buckets from each batch, so that vectors of two batches do not compare.
"""

from __future__ import annotations

import threading
from array import array
from typing import TYPE_CHECKING, Any

from scaffale.backends import models
from scaffale.backends.ports import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.backends.ports import Vector
    from scaffale.backends.spaces import Space

HINT = (
    "install CPU torch first (pip install torch --index-url https://download.pytorch.org/whl/cpu), then"
    " pip install 'scaffale[st]'"
)


class SentenceTransformers:
    """See the head of this file."""

    def __init__(self, space: Space) -> None:
        models.verify(space.path, space.revision, space.model)
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EmbedderUnavailable(f"sentence-transformers cannot be imported ({error})", HINT) from error
        self._space = space
        self._lock = threading.Lock()
        try:
            self._model: Any = SentenceTransformer(
                space.path,
                device="cpu",
                local_files_only=True,
                prompts={"query": space.query_prompt, "document": space.document_prompt},
            )
            full = self._model.get_embedding_dimension()
        except MemoryError as error:
            raise EmbedderUnavailable(f"{space.model} ran out of memory") from error
        except Exception as error:  # OSError, ValueError, ImportError and bare ones, by whatever the model lacks
            raise EmbedderUnavailable(f"{space.model} cannot be loaded ({type(error).__name__})") from error
        self._truncate = space.dimensions if full and space.dimensions < full else None
        self._most = int(self._model.max_seq_length) if self._model.max_seq_length not in (None, float("inf")) else 0

    def embed_query(self, text: str) -> Vector:
        """The vector of a question."""
        return self._embed([text], self._model.encode_query, self._space.query_prompt)[0]

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text."""
        return self._embed(texts, self._model.encode_document, self._space.document_prompt)

    def close(self) -> None:
        """The model goes with this object."""

    def _embed(self, texts: Sequence[str], encode: Any, prompt: str) -> list[Vector]:  # noqa: ANN401
        parts = [(number, part) for number, text in enumerate(texts) for part in self._within(text, prompt)]
        try:
            with self._lock:
                made = encode(
                    [part for _, part in parts],
                    normalize_embeddings=True, truncate_dim=self._truncate, show_progress_bar=False, convert_to_numpy=True,
                )  # fmt: skip
        except MemoryError as error:
            raise EmbedderUnavailable(f"{self._space.model} ran out of memory") from error
        except Exception as error:
            raise EmbedderUnavailable(f"{self._space.model} failed ({type(error).__name__})") from error
        sums: list[Any] = [0.0] * len(texts)
        for (number, part), vector in zip(parts, made, strict=True):
            sums[number] = sums[number] + len(part) * vector
        return [array("f", (total / max(float((total**2).sum()) ** 0.5, 1e-12)).astype("float32").tobytes()) for total in sums]

    def _within(self, text: str, prompt: str) -> list[str]:
        """The text in parts that the model reads whole; their mean stands for it."""
        if not self._most or len(text) <= self._most:  # no token is shorter than a character
            return [text]
        with self._lock:
            count = len(self._model.tokenizer(prompt + text, truncation=False, verbose=False)["input_ids"])
        if count <= self._most:
            return [text]
        middle = len(text) // 2
        cut = text.rfind(" ", middle // 2, middle)
        at = cut if cut > 0 else middle
        return [*self._within(text[:at], prompt), *self._within(text[at:], prompt)]
