"""Memory: the projects, the timeline of one, an entry with its life; archiving and invalidating, always with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from scaffale.errors import InvalidParam
from scaffale.model import STATUSES
from scaffale.server.web import markdown
from scaffale.server.web.shared import form_of, number, page, web

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LIMIT = 50
CHANGES = ("invalidate", "archive", "restore")


def projects(request: Request) -> Response:
    """All projects."""
    return page(request, "projects.html", projects=web(request).halls.memory.list_projects().projects)


def project(request: Request) -> Response:
    """The timeline of a project, with its scopes and tags as filters."""
    memory = web(request).halls.memory
    given = request.query_params
    id, status = given.get("id", ""), given.get("status") or "any"
    if status not in (*STATUSES, "any"):
        raise InvalidParam(f"status: must be one of {', '.join((*STATUSES, 'any'))}")
    scope, tag = given.get("scope") or None, given.get("tag") or None
    timeline = memory.timeline(
        project_id=id, status=status, scope=scope, tags=(tag,) if tag else (), limit=LIMIT,
        offset=number(given, "offset", 0),
    )  # fmt: skip
    whose = {"project_id": id, "status": status}
    return page(
        request, "project.html", project=memory.resolve_project(None, id), timeline=timeline, status=status, scope=scope,
        tag=tag, statuses=("any", *STATUSES), scopes=memory.list_scopes(**whose).items[:40],
        tags=memory.list_tags(**whose).items[:40], counts=memory.status(project_id=id).counts,
    )  # fmt: skip


def entry(request: Request) -> Response:
    """An entry: its text, where it comes from, its links, what happened to it."""
    memory = web(request).halls.memory
    answer = memory.read_entry(entry_id=request.path_params["id"], mode="cross_project", include_history=True)
    return page(request, "entry.html", answer=answer, entry=answer.entry, text=markdown.html(answer.entry.content))


async def change(request: Request) -> Response:
    """Invalidate an entry, archive it, or bring it back."""
    form = await form_of(request)
    id, act, reason = request.path_params["id"], str(form.get("act")), str(form.get("reason", "")).strip()
    if act not in CHANGES:
        raise InvalidParam(f"act: must be one of {', '.join(CHANGES)}")
    if not reason:
        raise InvalidParam("reason: say why; it stays with the entry")
    face = web(request)

    def decide() -> Any:  # noqa: ANN401
        memory = face.halls.memory
        known = memory.read_entry(entry_id=id, mode="cross_project").entry
        whose = {"entry_id": id, "project_id": known.project_id, "actor": face.actor, "reason": reason}
        if act == "invalidate":
            return memory.invalidate_entry(**whose)
        status = "archived" if act == "archive" else "active"
        return memory.update_entry(status=status, expected_updated_at=str(form.get("updated_at")), **whose)

    await run_in_threadpool(decide)
    return RedirectResponse(f"{request.scope.get('root_path', '')}/memory/entry/{id}", 303)
