"""What waits for a person: concepts of sessions, proposals, edits. A decision is bound to the very text that the page showed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from scaffale.server.render import visible
from scaffale.server.web.shared import form_of, page, web

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LIMIT = 20


def queue(request: Request) -> Response:
    """The queue of every project that has one. Texts stand as they are, not as pages: Markdown can hide what it says."""
    memory = web(request).halls.memory
    waiting = []
    for each in memory.list_projects().projects:
        found = memory.review(project_id=each.project.id, limit=LIMIT)
        for shown in found.waiting:
            near = [(beside, visible(beside.content)) for beside in shown.similar]
            waiting.append((each.project.id, shown, visible(shown.text), near))
    return page(request, "review.html", waiting=waiting)


async def decide(request: Request) -> Response:
    """Accept or decline one, or merge it into the concept beside it."""
    form = await form_of(request)
    act, _, into = str(form.get("act")).partition(" ")
    face = web(request)

    def decided() -> Any:  # noqa: ANN401
        return face.halls.memory.decide(
            id=str(form.get("id")), project_id=str(form.get("project")), verdict=act, digest=str(form.get("digest")),
            actor=face.actor, into=into or None, into_digest=str(form.get(f"digest {into}")) if into else None,
        )  # fmt: skip

    await run_in_threadpool(decided)
    return RedirectResponse(f"{request.scope.get('root_path', '')}/review", 303)
