"""Answers as data and as text that plays no tricks, for every face.

The data holds stored text verbatim, but for tag characters, which say to a model what no person sees. Text for eyes
shows control and invisible characters escaped too, so that nothing stored can play with a terminal or hide from a reader.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

Json = Any

_TAGS = "[\U000e0000-\U000e007f]"
_FLAG = "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"  # of England, say: that one is seen


def structured(answer: object) -> dict[str, Any]:
    """An answer as JSON: fields by name, `None` left out, and `ok`."""
    if isinstance(answer, tuple) and not hasattr(answer, "_fields"):
        reports = [plain(each) for each in answer]
        return {"ok": True, "reports": reports, "warnings": [w for each in reports for w in each.pop("warnings", ())]}
    return {"ok": True, **plain(answer)}


def plain(value: object) -> Json:
    """A value of ours as JSON knows it. Text that is not Unicode (a file name, say) gets `?` where it is not; tag
    characters are shown as escapes."""
    if isinstance(value, str):
        return value if value.isascii() else _without_tags(value.encode("utf-8", "replace"))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(each) for name, each in zip(value._fields, value, strict=True) if each is not None}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {clean(name): plain(each) for name, each in value.items() if each is not None}
    return value


def visible(text: str) -> str:
    """Text in which every control or invisible character is shown as its escape; lines and tabs stay."""
    text = clean(text)
    if text.isascii() and text.isprintable():
        return text
    return _invisible().sub(_escaped, text.replace("\r\n", "\n"))


def clean(text: str) -> str:
    """The text with `?` for what is not Unicode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


@cache
def _invisible() -> re.Pattern[str]:
    """C0 without tab and newline, DEL, C1; separators that some readers take for newlines, invisible and direction
    marks, and the tag characters; joiners, but where scripts and emoji need them. Compiled when the first text asks for
    it: the commands of a script print none."""
    return re.compile(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
        "\U000e0000-\U000e007f]"
        "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
    )


def _escaped(match: re.Match[str]) -> str:
    import json

    return json.dumps(match[0])[1:-1]  # also right inside a block of JSON


def _without_tags(text: bytes) -> str:
    if b"\xf3\xa0" not in text:  # as they begin in UTF-8
        return text.decode()
    pieces = re.split(_FLAG, text.decode())
    pieces[::2] = [re.sub(_TAGS, lambda match: f"\\U{ord(match[0]):08x}", piece) for piece in pieces[::2]]
    return "".join(pieces)
