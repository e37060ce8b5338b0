"""What waits for a person, as a checklist: concepts of sessions, proposals, edits. Each decision is bound to the very text
that the page showed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from scaffale.errors import ScaffaleError
from scaffale.server.render import visible
from scaffale.server.web.shared import form_of, number, page, web

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from scaffale.server.web.shared import Web

LIMIT = 10  # on a page; the others are on the next ones


def queue(request: Request) -> Response:
    """The queues of all projects, or of the one that `project` names, page by page. Texts stand as they are, not as pages:
    Markdown can hide what it says."""
    return _shown(request, ())


def _shown(request: Request, failed: tuple[str, ...]) -> Response:
    memory = web(request).halls.memory
    only, offset = request.query_params.get("project"), number(request.query_params, "offset", 0)
    queues = []
    for each in memory.list_projects().projects:
        if only is None or each.project.id == only:
            found = memory.review(project_id=each.project.id, limit=LIMIT, offset=offset if only else 0)
            items = [
                (shown, visible(shown.text), [(beside, visible(beside.content)) for beside in shown.similar])
                for shown in found.waiting
            ]
            if items:
                queues.append((found, items))
    return page(request, "review.html", queues=queues, offset=offset, step=LIMIT, failed=failed)


async def decide(request: Request) -> Response:
    """Do what was ticked on one page: accept, decline, merge into the concept beside it, or leave. One that cannot be done
    does not hold the others back, and is said."""
    form = await form_of(request)
    face = web(request)
    failed = await run_in_threadpool(_decided, face, form)
    if failed:
        return await run_in_threadpool(_shown, request, failed)
    return RedirectResponse(f"{request.scope.get('root_path', '')}/review", 303)


def _decided(face: Web, form: FormData) -> tuple[str, ...]:
    failed = []
    for place, id in enumerate(form.getlist("id")):
        verdict, _, into = str(form.get(f"verdict {place}", "leave")).partition(" ")
        if verdict == "leave":
            continue
        try:
            face.halls.memory.decide(
                id=str(id), project_id=str(form.get("project")), verdict=verdict, digest=str(form.get(f"digest {place}")),
                actor=face.actor, into=into or None,
                into_digest=str(form.get(f"digest {place} {into}")) if into else None,
            )  # fmt: skip
        except ScaffaleError as error:
            failed.append(f"{id}: {error.detail}")
    return tuple(failed)
