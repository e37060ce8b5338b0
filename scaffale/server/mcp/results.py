"""The one place where an answer or an error becomes the result of a tool.

Rules of this file: text and structured content are each enough on their own, since hosts show the model one of them
or the other; an error carries its code in both. The structure holds stored text verbatim, but for tag characters, which
say to a model what no person sees; the text shows control characters escaped too, so that nothing stored can play with
a terminal or hide from a reader. What an error repeats of a caller's words is masked as stored text is.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from scaffale.errors import IndexUnusable, Internal, ScaffaleError

if TYPE_CHECKING:
    from scaffale.server.mcp.registry import Answer, Json, Verb

SEE_LOG = "something went wrong inside the server; see the server log"

# C0 without tab and newline, DEL, C1; separators that some readers take for newlines, invisible and direction marks,
# and the tag characters, which spell text that no person sees.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_TAGS = "[\U000e0000-\U000e007f]"
_FLAG = "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"  # of England, say: that one is seen


def success(answer: object, verb: Verb, warnings: tuple[str, ...] = ()) -> dict[str, Any]:
    """The result of a verb that answered: a value of named fields, or a tuple of reports."""
    structure = structured(answer)
    structure["warnings"] = [*structure.get("warnings", ()), *warnings]
    spoken = "\n".join([verb.speak(structure), *(f"Warning: {each}" for each in structure["warnings"])])
    if verb.listing is None:
        return _result([spoken], structure)
    listed = json.dumps(structure.get(verb.listing, []), ensure_ascii=False, separators=(",", ":"))
    return _result([listed, spoken], structure)


def failure(error: ScaffaleError) -> dict[str, Any]:
    """The result of a call that was refused or failed."""
    if isinstance(error, IndexUnusable):
        error = Internal(SEE_LOG)
    structure = {"ok": False, "error_code": error.code, "detail": told(error.detail)}
    if error.project_id is not None:
        structure["project_id"] = _clean(error.project_id)
    return _result([f"{error.code}: {structure['detail']}"], structure, is_error=True)


def told(detail: str) -> str:
    """What an error says, on one line, without a secret that the caller may have named."""
    from scaffale import secrets

    return visible(" ".join(secrets.mask(detail).splitlines()))


def structured(answer: object) -> Answer:
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
        return {_clean(name): plain(each) for name, each in value.items() if each is not None}
    return value


def visible(text: str) -> str:
    """Text in which every control or invisible character is shown as its escape; lines and tabs stay."""
    return _INVISIBLE.sub(_escaped, _clean(text).replace("\r\n", "\n"))


def _without_tags(text: bytes) -> str:
    if b"\xf3\xa0" not in text:  # as they begin in UTF-8
        return text.decode()
    pieces = re.split(_FLAG, text.decode())
    pieces[::2] = [re.sub(_TAGS, lambda match: f"\\U{ord(match[0]):08x}", piece) for piece in pieces[::2]]
    return "".join(pieces)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]  # also right inside a block of JSON


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _result(blocks: list[str], structure: Answer, *, is_error: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": visible(block)} for block in blocks]
    return {"content": content, "structuredContent": structure, "isError": is_error}
