"""What agents pay to have the tools, and to read an answer, in tokens of `o200k_base` (offline, `bpe-openai`).

The answer is that of a search with ten hits, without contents, in its two forms. Its fixture is `ENTRIES` below: each hit
has every field that an entry may have but a summary, and a text that is longer than what is shown of it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from benchmarks.measure import Figure
from scaffale import settings
from scaffale.memory import Memory
from scaffale.server.mcp import results
from scaffale.server.mcp.registry import choose
from scaffale.server.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

ENCODING = "o200k_base"
PROJECT = "git:github.com/example/payments-gateway"
CONTENT = (
    "Auth tokens expire after ten minutes of silence because the gateway compares with `<` and not `<=`; the clock that "
    "counts is that of the server, not of the client. We decided to keep the comparison strict and to renew tokens at eight "
    "minutes, since mobile clients drift by up to a minute and a half. The renewal runs in `TokenRefresher.schedule()`."
)
ENTRIES = [
    {
        "topic": f"auth-token-expiry-{number}", "title": f"Tokens expire strictly before the limit, variant {number}",
        "content": f"{number}. {CONTENT}", "source_type": "decision", "source_ref": f"PAY-{1200 + number}",
        "tags": ["auth", "tokens", "expiry"], "importance": 4, "confidence": 0.9, "scope": "backend",
    }
    for number in range(10)
]  # fmt: skip


def count(text: str) -> int:
    """How many tokens a text is."""
    import bpe_openai

    return len(bpe_openai.get_encoding(ENCODING).encode(text))


def compact(value: object) -> str:
    """A value as it goes over the wire."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def of_tools(tools: str) -> int:
    """Tokens of `tools/list` for a tool set."""
    return count(compact({"tools": [spec.wire() for spec in choose(TOOLS, tools)]}))


def of_answer(folder: str) -> tuple[int, int]:
    """Tokens of a ten-hit answer: its text, and its structure."""
    verb = next(spec for spec in TOOLS if spec.name == "memory_search").verbs[""]
    with Memory(settings.load({"HOME": folder}, folder)) as memory:
        for entry in ENTRIES:
            memory.add_entry(actor="benchmark", project_id=PROJECT, dedupe=False, **entry)
        answer = memory.search(query="token expiry clock", project_id=PROJECT)
    assert len(answer.results) == len(ENTRIES)
    result = results.success(answer, verb)
    return count("\n".join(block["text"] for block in result["content"])), count(compact(result["structuredContent"]))


def figures(folder: str, size: int) -> Iterator[Figure]:
    """Counts, not times: they are the same on every machine."""
    home = os.path.join(folder, "home")
    os.makedirs(home, exist_ok=True)
    text, structure = of_answer(home)
    for name, value, goal in (
        ("tools/list of the default set", of_tools("default"), 3_000),
        ("tools/list of all tools", of_tools("all"), 8_000),
        ("a ten-hit answer as text", text, 1_000),
        ("a ten-hit answer as structure", structure, 2_000),
    ):
        yield Figure(f"tokens: {name}", value, goal, arms=ENCODING, slack=0.02)
