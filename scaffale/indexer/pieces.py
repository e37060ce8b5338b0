"""A passage → the pieces of text that are embedded. Pure.

A model reads some hundred tokens. A longer text is cut where paragraphs, lines, sentences or words end, and each piece bears
the passage's title and heading, since what a piece is about is often said only there. Nothing is left out.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaffale.model import Passage

CHARS_A_TOKEN = 3.2  # of prose, with a margin; what is denser is read in parts by the embedder
MOST_CHARS = 2_000  # of a piece, whatever the model could read: one vector tells no more apart
HEAD_CHARS = 240
LEAST_CHARS = 120
_ENDS = re.compile(r"\n\s*\n|\n|(?<=[.!?;:])\s|\s")


def pieces(passage: Passage, max_tokens: int) -> list[str]:
    """The texts to be embedded; none for a passage without words. `max_tokens` 0: the model reads any length."""
    head = "\n".join(filter(None, (passage.title.strip(), passage.heading.strip())))[:HEAD_CHARS]
    most = min(MOST_CHARS, int(max_tokens * CHARS_A_TOKEN)) if max_tokens else MOST_CHARS
    room = max(LEAST_CHARS, most - len(head))
    body = passage.body.strip()
    if not body:
        return [head] if head else []
    return [f"{head}\n\n{part}" if head else part for part in _parts(body, room)]


def digest(piece: str) -> bytes:
    """By which a piece is known: the same text has the same vector."""
    return hashlib.blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _parts(text: str, room: int) -> list[str]:
    """The text in parts of at most `room` characters, about as long as one another."""
    parts = []
    start = 0
    while len(text) - start > room:
        end = _cut(text, start, room)
        parts.append(text[start:end].strip())
        start = end
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _cut(text: str, start: int, room: int) -> int:
    """Where the part that begins at `start` ends: at the strongest end in its last half."""
    best, end = 0, start + room
    for match in _ENDS.finditer(text, start + room // 2, start + room):
        said = match[0]
        weight = 4 if said.count("\n") > 1 else 3 if "\n" in said else 2 if text[match.start() - 1] in ".!?;:" else 1
        if weight >= best:
            best, end = weight, match.end()
    return end
