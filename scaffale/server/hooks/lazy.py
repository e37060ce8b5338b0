"""Patterns that wait. Compiling is half the cost of a hook that has something to read, and most are not needed."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Lazy:
    """A pattern that is compiled when it is first asked."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, method: str) -> Any:  # noqa: ANN401
        """`match`, `search`, `fullmatch`, `finditer`, … of the pattern."""
        if method.startswith("__"):
            raise AttributeError(method)
        compiled = re.compile(self._pattern, self._flags)
        for name in ("match", "search", "fullmatch", "finditer", "findall", "split", "sub"):
            setattr(self, name, getattr(compiled, name))
        return getattr(self, method)
