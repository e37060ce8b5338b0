"""The one place where an answer or an error becomes the result of a tool.

Rules of this file: text and structured content are each enough on their own, since hosts show the model one of them
or the other; an error carries its code in both. Both are made safe to show by `render`. What an error repeats of a
caller's words is masked as stored text is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scaffale.errors import IndexUnusable, Internal, ScaffaleError
from scaffale.server.render import clean, structured, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaffale.server.mcp.registry import Answer, Verb

SEE_LOG = "something went wrong inside the server; see the server log"


def success(
    answer: object, verb: Verb, warnings: tuple[str, ...] = (), told: Callable[[Answer], Answer] | None = None
) -> dict[str, Any]:
    """The result of a verb that answered: a value of named fields, or a tuple of reports. `told` makes of an answer what
    this caller is told."""
    structure = structured(answer)
    structure["warnings"] = [*structure.get("warnings", ()), *warnings]
    if told:
        structure = told(structure)
    spoken = "\n".join([verb.speak(structure), *(f"Warning: {each}" for each in structure["warnings"])])
    if verb.listing is None:
        return _result([spoken], structure)
    listed = json.dumps(structure.get(verb.listing, []), ensure_ascii=False, separators=(",", ":"))
    return _result([listed, spoken], structure)


def failure(error: ScaffaleError, words: Callable[[str], str] | None = None) -> dict[str, Any]:
    """The result of a call that was refused or failed. `words` makes of the detail what this caller is told."""
    if isinstance(error, IndexUnusable):
        error = Internal(SEE_LOG)
    detail = told(error.detail)
    structure = {"ok": False, "error_code": error.code, "detail": words(detail) if words else detail}
    if error.project_id is not None:
        structure["project_id"] = clean(error.project_id)
    return _result([f"{error.code}: {structure['detail']}"], structure, is_error=True)


def told(detail: str) -> str:
    """What an error says, on one line, without a secret that the caller may have named."""
    from scaffale import secrets

    return visible(" ".join(secrets.mask(detail).splitlines()))


def _result(blocks: list[str], structure: Answer, *, is_error: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": visible(block)} for block in blocks]
    return {"content": content, "structuredContent": structure, "isError": is_error}
