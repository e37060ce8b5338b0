"""The two halls, opened at the first call that needs them.

A server that is only listed, or only asked about documents, opens no store of memory. Opening happens in a worker
thread, under a lock, once; a hall that cannot be opened is tried again by the next call.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaffale.docs import Docs
    from scaffale.memory import Memory
    from scaffale.settings import Settings


class _Closable(Protocol):
    def close(self) -> None: ...


_Hall = TypeVar("_Hall", bound=_Closable)


class Halls:
    """Access to memory and docs. Safe to share between threads; after `close` the next use opens again."""

    def __init__(self, open_memory: Callable[[], Memory], open_docs: Callable[[], Docs]) -> None:
        self._memory = _Door(open_memory)
        self._docs = _Door(open_docs)

    @classmethod
    def over(cls, settings: Settings) -> Halls:
        """The halls that these settings describe."""

        def open_memory() -> Memory:
            from scaffale.memory import Memory

            return Memory(settings, background=True)

        def open_docs() -> Docs:
            from scaffale.docs import Docs

            return Docs(settings, background=True)

        return cls(open_memory, open_docs)

    @property
    def memory(self) -> Memory:
        """The memory hall. Raises what opening a store raises."""
        return self._memory.open()

    @property
    def docs(self) -> Docs:
        """The docs hall. Raises what opening a store raises."""
        return self._docs.open()

    def close(self) -> None:
        """Close what is open."""
        self._memory.close()
        self._docs.close()


class _Door(Generic[_Hall]):
    def __init__(self, opening: Callable[[], _Hall]) -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._hall: _Hall | None = None

    def open(self) -> _Hall:
        hall = self._hall
        if hall is None:
            with self._lock:
                hall = self._hall
                if hall is None:
                    hall = self._hall = self._opening()
        return hall

    def close(self) -> None:
        with self._lock:
            hall, self._hall = self._hall, None
        if hall is not None:
            hall.close()
