"""Answers as data and as text that plays no tricks, for every face.

The data holds stored text verbatim; text for eyes shows control and invisible characters escaped, so that nothing stored
can play with a terminal or hide from a reader.
"""

from __future__ import annotations

import re
from typing import Any

Json = Any

# C0 without tab and newline, DEL, C1; separators that some readers take for newlines, invisible and direction marks,
# and the tag characters, which spell text that no person sees.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def structured(answer: object) -> dict[str, Any]:
    """An answer as JSON: fields by name, `None` left out, and `ok`."""
    if isinstance(answer, tuple) and not hasattr(answer, "_fields"):
        reports = [plain(each) for each in answer]
        return {"ok": True, "reports": reports, "warnings": [w for each in reports for w in each.pop("warnings", ())]}
    return {"ok": True, **plain(answer)}


def plain(value: object) -> Json:
    """A value of ours as JSON knows it. Text that is not Unicode (a file name, say) gets `?` where it is not."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(each) for name, each in zip(value._fields, value, strict=True) if each is not None}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {_clean(name): plain(each) for name, each in value.items() if each is not None}
    return value


def visible(text: str) -> str:
    """Text in which every control or invisible character is shown as its escape; lines and tabs stay."""
    return _INVISIBLE.sub(_escaped, _clean(text).replace("\r\n", "\n"))


def _escaped(match: re.Match[str]) -> str:
    import json

    return json.dumps(match[0])[1:-1]  # also right inside a block of JSON


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
