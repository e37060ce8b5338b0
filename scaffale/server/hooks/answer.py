"""`scaffale-hook HOST [EVENT]`: one payload of a host on stdin, one answer or nothing on stdout, exit code 0.

It runs at every prompt and before every call of ours, so it imports the standard library alone, most of it only when bytes
that could matter are there. It fails open: whatever goes wrong, or takes longer than a second, gives no output. It writes
nothing but its answer, keeps nothing, and sees no store.
"""

from __future__ import annotations

import sys
import time
from _thread import start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SECONDS = 0.9
MAX_BYTES = 4 * 1024 * 1024
HINT = (
    "A possible explicit request for persistent memory was detected in the current user message, outside quoted and code "
    "regions. Verify independently that the user directly asked to keep something beyond this session. If so, show the exact "
    "content, the project scope and the operation, and obtain explicit confirmation before any memory tool that writes is "
    "used. Otherwise ignore this hint."
)
GUARD = (
    "This call changes stored knowledge: before it proceeds, verify the project scope, the source, duplicates and conflicts, "
    "that no sensitive data is in it, and that the user explicitly confirmed exactly this change."
)
# One of these stands in every payload that gets an answer: pieces of the heads of `wording`, and of the tools of `calls`.
WORDS = (
    b"remember", b"memor", b"forget", b"remind", b"mind", b"note", b" down", b"save", b"store", b"keep", b"retain", b"record",
    b"log", b"persist", b"capture", b"track", b"document", b"from now", b"from here", b"this point", b"forward", b"henceforth",
    b"appunt", b"knowledge", b"ricord", b"rammen", b"dimentic", b"scord", b"mente", b"nota", b"annot", b"segn", b"scriviti",
    b"present", b"conto", b"salva", b"conserva", b"registra", b"mantieni", b"tieni", b"archivia", b"in poi", b"in avanti",
    b"docs_management", b"ledger_",
)  # fmt: skip
PLAIN = b"\\u00"  # a letter may be spelled like this
ALWAYS_ASKED = ("antigravity",)  # a host that wants an answer to every call


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, decide, answer. Always 0: a hook never stands in the host's way."""
    try:
        start_new_thread(_give_up, ())
        given = sys.argv[1:] if arguments is None else arguments
        answer = respond(given, _read())
        if answer:
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()
    except BaseException:  # noqa: S110  (whatever it is, the host goes on)
        pass
    return 0


def respond(given: Sequence[str], data: bytes) -> bytes:
    """The answer to a payload as bytes of ASCII JSON; nothing when there is none to give, or anything at all goes wrong."""
    try:
        return reply(given[0] if given else "", given[1] if len(given) > 1 else "", data)
    except Exception:
        return b""


def _give_up() -> None:
    """The thread that ends a hook which takes too long: a stdin that never closes, a prompt without end."""
    time.sleep(SECONDS)
    import os  # here alone: it costs a millisecond

    os._exit(0)


def _read() -> bytes:
    """The payload; what is longer than any host sends is nothing. All of it is taken, so that the host can finish writing."""
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) <= MAX_BYTES:
        return data
    while sys.stdin.buffer.read(MAX_BYTES):
        pass
    return b""


def reply(host: str, event: str, data: bytes) -> bytes:
    """The answer of a host's hook, or nothing. `event` counts where the payload names none."""
    lowered = data.lower()
    if host not in ALWAYS_ASKED and PLAIN not in lowered and not any(word in lowered for word in WORDS):
        return b""
    import json

    answer = _answer(host, event, json.loads(data))
    return b"" if answer is None else json.dumps(answer).encode("ascii")


def _answer(host: str, event: str, payload: Any) -> Any:  # noqa: ANN401  (JSON)
    from scaffale.server.hooks.hosts import CALL, HOSTS, PROMPT

    known = HOSTS.get(host)
    if known is None or not isinstance(payload, dict):
        return None
    if host == "claude-code" and "cursor_version" in payload:
        return None  # Cursor runs the hooks of Claude Code, too, and has its own
    named = payload.get("hook_event_name", event)
    kind = known.events.get(named) if isinstance(named, str) else None
    if kind == PROMPT:
        from scaffale.server.hooks.intent import memory_intent

        prompt = known.prompt(payload)
        if isinstance(prompt, str) and memory_intent(prompt).decision == "hint":
            return known.hint(HINT)
    elif kind == CALL:
        from scaffale.server.hooks.calls import changes

        return known.guard(GUARD) if changes(*known.call(payload)) else known.otherwise
    return None
