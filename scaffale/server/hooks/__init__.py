"""The guard: what a prompt asks for, and what a call would change. Hooks start from inside this package, at every prompt.

    from scaffale.server.hooks import memory_intent, mask, segment_prompt

Everything is imported at first use; nothing here imports more than the standard library.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scaffale.server.hooks.intent import PolicyResult, memory_intent
    from scaffale.server.hooks.segments import Region, mask, segment_prompt

_HOMES = {
    "segment_prompt": "segments",
    "mask": "segments",
    "Region": "segments",
    "memory_intent": "intent",
    "PolicyResult": "intent",
}
__all__ = ["PolicyResult", "Region", "mask", "memory_intent", "segment_prompt"]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
