"""A space: the whole identity of an embedder. Vectors compare only within one, so any change of it is a new space."""

from __future__ import annotations

from typing import NamedTuple

CUTTER = 1  # version of `indexer.pieces`: texts that are cut otherwise have other vectors
EMBEDDERS = ("sentence-transformers", "onnx", "static", "hashing")


class Space(NamedTuple):
    """Who makes the vectors, and how. `revision` is the digest of the model's files, `languages` those that its makers
    declare (none: any). `path` is where the model lies; it may move, and is no part of the identity."""

    embedder: str
    model: str
    revision: str
    dimensions: int
    query_prompt: str = ""
    document_prompt: str = ""
    pooling: str = "mean"
    max_tokens: int = 256
    languages: tuple[str, ...] = ()
    cutter: int = CUTTER
    path: str = ""

    @property
    def identity(self) -> str:
        """Twelve letters and digits that change with anything that changes vectors."""
        import hashlib

        told = repr((self[:8], self.cutter, "int8 by vector"))
        return hashlib.blake2b(told.encode(), digest_size=6).hexdigest()

    def speaks(self, language: str | None) -> bool:
        """Whether the model was made for the language; unknown ones are given the benefit of the doubt."""
        return language is None or not self.languages or language in self.languages


def dumped(space: Space) -> str:
    """The space as JSON, for the store and for the daemon."""
    import json

    return json.dumps(space._asdict(), ensure_ascii=False, sort_keys=True)


def loaded(text: str) -> Space:
    """A space from JSON. Raises `ValueError` for what is none."""
    import json

    said = json.loads(text)
    if not isinstance(said, dict) or not set(said) <= set(Space._fields):
        raise ValueError("not a space")
    try:
        space = Space(**{**said, "languages": tuple(said.get("languages", ()))})
    except TypeError as error:
        raise ValueError("not a space") from error
    if space.embedder not in EMBEDDERS or not 1 <= space.dimensions <= 8192:
        raise ValueError("not a space")
    return space
