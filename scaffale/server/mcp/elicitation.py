"""The review by way of the client's own form, where the launcher has switched it on (`MEMORY_REVIEW_ELICITATION`).

Off by default, since some hosts answer such forms themselves. The form shows every text of the page whole; its fields are
named after the digests of these texts, so that an answer is bound to what was shown, in both eras of the protocol. A
model cannot fill it in: the answer comes from the host, never as an argument of a tool.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scaffale.errors import ScaffaleError
from scaffale.server.render import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp.server.session import ServerSession
    from mcp_types import CallToolRequestParams

    from scaffale.answers.ledger import Waiting
    from scaffale.server.mcp.desk import Desk

TOOL = "ledger_propose_promotion"
FORM = "review"
KEY_CHARS = 24


def is_offered(session: ServerSession) -> bool:
    """Whether the client can show a form."""
    capabilities = session.client_capabilities
    elicitation = capabilities.elicitation if capabilities else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


async def page(desk: Desk, params: CallToolRequestParams) -> Sequence[Waiting]:
    """What the page that was asked for shows, with its digests."""
    from scaffale.memory.reviewing import PAGE

    given = {name: value for name, value in (params.arguments or {}).items() if value is not None}
    offset = (int(given.pop("page", None) or 1) - 1) * PAGE
    found: dict[str, Any] = {}

    def ask() -> dict[str, Any]:
        found["waiting"] = desk.halls.memory.review(limit=PAGE, offset=offset, **given).waiting
        return {}

    await desk.ask(ask)
    shown: Sequence[Waiting] = found["waiting"]
    return shown


def message(waiting: Sequence[Waiting]) -> str:
    """All that the person decides upon."""
    texts = [f"{number}. {visible(each.text)}" for number, each in enumerate(waiting, start=1)]
    return "\n\n".join(("Which of these concepts become memory? What is left unticked is declined.", *texts))


def schema(waiting: Sequence[Waiting]) -> dict[str, Any]:
    """The form: a box for each, ticked."""
    boxes = {
        each.digest[:KEY_CHARS]: {"type": "boolean", "title": f"{number}. {visible(each.title)}"[:80], "default": True}
        for number, each in enumerate(waiting, start=1)
    }
    return {"type": "object", "properties": boxes, "required": list(boxes)}


def form(waiting: Sequence[Waiting]) -> dict[str, Any]:
    """The form as the result of a call, as the stateless era wants it: the client calls again with the answer."""
    params = {"mode": "form", "message": message(waiting), "requestedSchema": schema(waiting)}
    return {"resultType": "input_required", "inputRequests": {FORM: {"method": "elicitation/create", "params": params}}}


async def decided(
    desk: Desk, params: CallToolRequestParams, waiting: Sequence[Waiting], content: Mapping[str, Any], actor: str
) -> list[dict[str, Any]]:
    """Decide as the form says. A text whose digest it does not name is left as it is."""
    where = {name: value for name, value in (params.arguments or {}).items() if name in ("project_path", "project_id")}
    done: list[dict[str, Any]] = []
    for each in waiting:
        said = content.get(each.digest[:KEY_CHARS])
        if type(said) is bool:
            verdict = "accept" if said else "decline"
            done.append(await desk.ask(partial(_decide, desk, each, verdict, f"{actor}, by its form", where)))
    return done


def _decide(desk: Desk, shown: Waiting, verdict: str, actor: str, where: dict[str, Any]) -> dict[str, Any]:
    try:
        done = desk.halls.memory.decide(id=shown.id, verdict=verdict, digest=shown.digest, actor=actor, **where)
    except ScaffaleError as error:
        return {"id": shown.id, "verdict": verdict, "error_code": error.code, "detail": error.detail}
    return {"id": shown.id, "verdict": verdict, **({"display_id": done.display_id} if done.display_id else {})}
