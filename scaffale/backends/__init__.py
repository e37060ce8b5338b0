"""Engines behind narrow protocols. They are strangers to one another and are imported by name, when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaffale.backends.ports import LexicalIndex

LEXICAL = ("tantivy", "fts5", "like")


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
