"""One file → a document ready to be stored, or the reason why it is none. It reads, and writes nothing anywhere.

Certain secrets are masked here, before the text is parsed, line for line: so no title, heading, tag, index, snippet or
excerpt of a part can hold what the whole would have masked. When the rules get better (`model.SECRET_RULES` rises), a
migration of the docs store masks what lies there by the new ones.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from scaffale import files
from scaffale.errors import InvalidParam, LimitExceeded
from scaffale.indexer.documents import MAX_TAG_CHARS, Draft
from scaffale.indexer.freshness import numbers

if TYPE_CHECKING:
    from scaffale.indexer.records import Fingerprint, Source

_LINE_END = re.compile(r"\r\n?|\n")
_ROUNDS = 5


class NotTaken(Exception):
    """Why a file is left out."""


def read(path: str, root: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a file that held still while it was read, and its numbers then; else `NotTaken`."""
    try:
        for _ in range(2):
            data, info = _read_inside(path, root, max_bytes)
            after = os.stat(path)
            if len(data) == info.st_size and numbers(after)[:2] == numbers(info)[:2]:
                return data, info
    except FileNotFoundError as error:
        raise NotTaken("it vanished while it was being scanned") from error
    except OSError as error:
        raise NotTaken(f"it cannot be read: {error.strerror}") from error
    except (InvalidParam, LimitExceeded) as error:
        raise NotTaken(error.detail.replace(path, "it", 1)) from error
    raise NotTaken("it was being written while it was read; the next scan takes it")


def _read_inside(path: str, root: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
    try:
        return files.read_with_stat(path, max_bytes)
    except InvalidParam:
        real = files.real(path)  # behind a link that the walk followed, and only there, another name will do
        if real == path or not files.is_inside(real, root):
            raise
        return files.read_with_stat(real, max_bytes)


def draft(path: str, source: Source, data: bytes, fingerprint: Fingerprint) -> Draft:
    """The document that these bytes are, or `NotTaken`."""
    from scaffale.indexer import markdown

    try:
        decoded = markdown.decode(data)
    except markdown.NotText as reason:
        raise NotTaken(f"it is {reason}") from reason
    name = os.path.basename(path)
    text, masked = _masked(decoded.text)
    parsed = markdown.parse(text, file_name=name)
    tags = tuple(tag for tag in parsed.tags if len(tag) <= MAX_TAG_CHARS)
    warnings = decoded.warnings + masked + parsed.warnings
    if len(tags) < len(parsed.tags):
        warnings += (f"{len(parsed.tags) - len(tags)} tags are left out: over {MAX_TAG_CHARS} characters",)
    return Draft(
        file_path=path,
        rel_path=name if source.is_file else path[len(source.root.rstrip(os.sep)) + 1 :],
        fingerprint=fingerprint,
        title=parsed.title,
        tags=tags,
        aliases=parsed.aliases,
        sections=parsed.sections,
        line_count=parsed.line_count,
        warnings=warnings,
    )


def _masked(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without its certain secrets, every line still in its place, and a warning when there were any."""
    from scaffale import secrets

    kinds: dict[str, None] = {}
    for _ in range(_ROUNDS):  # what stood against a secret may be one once that is gone
        found = secrets.find(text, 1)
        if not found:
            break
        parts = []
        at = 0
        for each in found:
            kinds[each.kind] = None
            parts += [text[at : each.start], f"[REDACTED:{each.kind}]", *_LINE_END.findall(text, each.start, each.end)]
            at = each.end
        text = "".join(parts) + text[at:]
    return text, (f"it holds credentials ({', '.join(kinds)}), shown masked",) if kinds else ()
