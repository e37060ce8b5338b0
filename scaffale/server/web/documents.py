"""A document: its text, its outline, where it leads, and on demand what leads to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from scaffale.errors import InvalidParam
from scaffale.server.web import markdown
from scaffale.server.web.shared import form_of, number, page, web

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from scaffale.answers.browsing import Heading

LINKS = 50
SHORT_OUTLINE = 150  # headings beside the text; the deeper ones are left to the page of the outline
OUTLINE_PAGE = 2_000
VERDICTS = ("pin", "reject", "forget_verdict")


def show(request: Request) -> Response:
    """The document, or the part of it that begins at `from`."""
    docs = web(request).halls.docs
    id = request.path_params["id"]
    first = number(request.query_params, "from", 1)
    answer = docs.read_document(document_id=id, start_line=first if first > 1 else None, links_limit=LINKS)
    outline = docs.outline(document_id=id).headings
    follow = f"{request.scope.get('root_path', '')}/document/{id}/to"
    return page(
        request, "document.html", document=answer, outline=_short(outline), all_headings=len(outline),
        text=markdown.html(answer.content, first_line=answer.start_line, follow=follow), limit=LINKS,
    )  # fmt: skip


def incoming(request: Request) -> Response:
    """The links that lead to the document."""
    links = web(request).halls.docs.manage_document_links(
        operation="list", origin="manual", document_id=request.path_params["id"], direction="incoming", limit=LINKS,
        offset=number(request.query_params, "offset", 0),
    )  # fmt: skip
    return page(request, "incoming.html", links=links, id=request.path_params["id"])


def outline(request: Request) -> Response:
    """All headings, page by page."""
    found = web(request).halls.docs.outline(document_id=request.path_params["id"])
    offset = number(request.query_params, "offset", 0)
    return page(
        request, "outline.html", outline=found, headings=found.headings[offset : offset + OUTLINE_PAGE], offset=offset,
        step=OUTLINE_PAGE,
    )  # fmt: skip


def follow(request: Request) -> Response:
    """Where a relative link of the document leads."""
    reference = request.query_params.get("reference", "")
    found = web(request).halls.docs.follow(document_id=request.path_params["id"], reference=reference)
    return RedirectResponse(f"{request.scope.get('root_path', '')}/document/{found.document_id}", 303)


async def judge(request: Request) -> Response:
    """Pin a link, reject it, or take the word back."""
    form = await form_of(request)
    verdict, back = str(form.get("verdict")), str(form.get("document"))
    if verdict not in VERDICTS or not back.isdigit():
        raise InvalidParam(f"verdict: must be one of {', '.join(VERDICTS)}")

    def decide() -> Any:  # noqa: ANN401
        docs = web(request).halls.docs
        return docs.manage_document_links(operation=verdict, origin="manual", link_id=request.path_params["id"])

    await run_in_threadpool(decide)
    return RedirectResponse(f"{request.scope.get('root_path', '')}/document/{back}#links", 303)


def _short(headings: Sequence[Heading]) -> Sequence[Heading]:
    """As many levels of the outline as fit beside the text; the first ones of the topmost level when not even that does."""
    for deepest in range(6, 0, -1):
        shown = [each for each in headings if each.level <= deepest]
        if len(shown) <= SHORT_OUTLINE:
            return shown or headings[:SHORT_OUTLINE]
    return [each for each in headings if each.level == 1][:SHORT_OUTLINE]
