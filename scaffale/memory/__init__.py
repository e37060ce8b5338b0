"""The memory hall: every verb on a project's operational memory, for all faces alike.

The verbs stand by what they do: `reading` and `finding` read, `life` writes, `linking` links, `capture` builds entries
from what is there, `handoff` sums up, `exchange` exports and imports, `verification` looks at the evidence,
`proposing` keeps what waits for a person. `room` is what all stand on, and `hall` is all of them together, imported when
it is first asked for: a command that only searches is content with `finding`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaffale.memory.hall import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> object:
    if name == "Memory":
        from scaffale.memory.hall import Memory

        return Memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
