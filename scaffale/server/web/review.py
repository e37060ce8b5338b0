"""What waits for a person: proposals from other tools. Accepting is bound to the very text that the page showed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from scaffale.errors import InvalidParam
from scaffale.server.web import markdown
from scaffale.server.web.shared import form_of, page, web

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LIMIT = 20


def queue(request: Request) -> Response:
    """The queue of every project that has one."""
    memory = web(request).halls.memory
    waiting = []
    for each in memory.list_projects().projects:
        found = memory.list_proposals(project_id=each.project.id, limit=LIMIT)
        for proposal in found.proposals:
            shown = memory.proposal(proposal_id=proposal.id, project_id=each.project.id)
            waiting.append((shown, markdown.html(str(shown.draft.get("content", "")))))
    return page(request, "review.html", waiting=waiting)


async def decide(request: Request) -> Response:
    """Accept or decline one."""
    form = await form_of(request)
    act = str(form.get("act"))
    if act not in ("accept", "decline"):
        raise InvalidParam("act: must be one of accept, decline")
    face = web(request)

    def decided() -> Any:  # noqa: ANN401
        return face.halls.memory.decide_proposal(
            proposal_id=request.path_params["id"], project_id=str(form.get("project")), accept=act == "accept",
            actor=face.actor, code=str(form.get("code")),
        )  # fmt: skip

    await run_in_threadpool(decided)
    return RedirectResponse(f"{request.scope.get('root_path', '')}/review", 303)
