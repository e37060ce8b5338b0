"""Patterns that wait. Compiling is half the cost of a hook that has something to read, and most are not needed."""

from __future__ import annotations

import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Lazy:
    """A pattern that is compiled when it is first asked about a text that may match.

    `needs`: pieces of text, one of which stands in every match. Where none does, there is no match, and nothing to compile.
    """

    def __init__(self, pattern: str, flags: int = 0, needs: tuple[str, ...] = ()) -> None:
        self._pattern, self._flags, self._needs = pattern, flags, needs

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> Any:  # noqa: ANN401
        """The match that begins at `start`, or None."""
        return self._compile().match(text, start, end) if self._may_match(text, start, end) else None

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> Any:  # noqa: ANN401
        """The first match, or None."""
        return self._compile().search(text, start, end) if self._may_match(text, start, end) else None

    def __getattr__(self, method: str) -> Any:  # noqa: ANN401
        """Any other method of the pattern: `finditer`, `split`, `sub`, …"""
        if method.startswith("__"):
            raise AttributeError(method)
        return getattr(self._compile(), method)

    def _may_match(self, text: str, start: int, end: int) -> bool:
        return not self._needs or any(text.find(piece, start, end) >= 0 for piece in self._needs)

    def _compile(self) -> Any:  # noqa: ANN401
        """The pattern; from now on its methods stand in place of the ones above."""
        compiled = re.compile(self._pattern, self._flags)
        for name in ("match", "search", "finditer", "split", "sub"):
            setattr(self, name, getattr(compiled, name))
        return compiled
