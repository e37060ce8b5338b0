"""Engines behind narrow protocols. They are strangers to one another and are imported by name, when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaffale.backends.ports import Embedder, LexicalIndex, VectorIndex
    from scaffale.backends.spaces import Space

LEXICAL = ("tantivy", "fts5", "like")
VECTOR = ("numpy", "sqlite-vec", "exact", "milvus")


class Engine(NamedTuple):
    """A lexical engine that can serve here. `identity` changes whenever an index of it must be built anew."""

    name: str
    identity: str
    open: Callable[[str], LexicalIndex]
    warning: str | None = None


def lexical(choice: str) -> Engine:
    """The engine for `auto` or a name. One that cannot serve is replaced by the next, with a warning that says so."""
    wanted = LEXICAL[0] if choice == "auto" else choice
    for name in LEXICAL[LEXICAL.index(wanted) :]:
        engine = _load(name)
        if engine:
            warning = None if name == wanted else f"lexical engine {wanted} is not available; {name} serves"
            return engine._replace(warning=warning)
    raise AssertionError("LIKE is always available")


def _load(name: str) -> Engine | None:
    if name == "tantivy":
        try:
            from scaffale.backends import tantivy
        except ImportError:
            return None
        return Engine(name, tantivy.IDENTITY, tantivy.TantivyIndex)
    if name == "fts5":
        from scaffale.backends import fts5

        return Engine(name, fts5.IDENTITY, fts5.Fts5Index) if fts5.available() else None
    from scaffale.backends import like

    return Engine(name, like.IDENTITY, like.LikeIndex)


class Remote(NamedTuple):
    """Where an engine on another machine is, and the token that it wants, if any. Without an address it runs embedded."""

    address: str = ""
    token: str = ""


EMBEDDED = Remote()


class VectorEngine(NamedTuple):
    """A vector engine that can serve here. `open` takes the folder of an index and the dimensions of its vectors;
    `discard` deletes the index of a folder for good."""

    name: str
    identity: str
    open: Callable[[str, int], VectorIndex]
    discard: Callable[[str], None]


class NoEngine(Exception):
    """The vector engine that was asked for cannot serve here, and why."""


def vector(name: str, remote: Remote = EMBEDDED) -> VectorEngine:
    """The vector engine of this name. Raises `NoEngine`, which says what to install."""
    from scaffale.backends.vector_file import discard

    if name == "numpy":
        try:
            from scaffale.backends import numpy_bits
        except ImportError as error:
            raise NoEngine(f"numpy cannot be imported ({error}); pip install 'scaffale[vectors]' brings it") from error
        return VectorEngine(name, numpy_bits.IDENTITY, numpy_bits.NumpyBits, discard)
    if name == "sqlite-vec":
        from scaffale.backends import sqlite_vec

        reason = sqlite_vec.available()
        if reason:
            raise NoEngine(reason)
        return VectorEngine(name, sqlite_vec.IDENTITY, sqlite_vec.SqliteVec, discard)
    if name == "exact":
        from scaffale.backends import exact

        return VectorEngine(name, exact.IDENTITY, exact.Exact, discard)
    if name == "milvus":
        from functools import partial

        from scaffale.backends import milvus

        reason = milvus.available(remote.address)
        if reason:
            raise NoEngine(reason)
        return VectorEngine(
            name, milvus.IDENTITY, partial(milvus.Milvus, *remote), partial(milvus.discard, *remote)
        )
    raise NoEngine(f"there is no vector backend {name}; choose one of {', '.join(VECTOR)}")


def embedder(space: Space) -> Embedder:
    """The embedder of a space, loaded into this process. Raises `EmbedderUnavailable`."""
    if space.embedder == "hashing":
        from scaffale.backends.hashing import Hashing

        return Hashing(space)
    if space.embedder == "static":
        from scaffale.backends.static import Static

        return Static(space)
    if space.embedder == "onnx":
        from scaffale.backends.onnx import Onnx

        return Onnx(space)
    from scaffale.backends.sentence_transformers import SentenceTransformers

    return SentenceTransformers(space)
