"""The search page, and the list of results alone, which the page fetches while somebody types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.server.web.shared import number, page, tried, web

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

LIMIT = 20
WHERE = ("all", "docs", "memory")
MOST_TAGS = 40


class Asked(NamedTuple):
    """The question as the address says it."""

    query: str
    where: str
    shelf: str | None
    tags: tuple[str, ...]
    project: str | None
    status: str
    why: bool
    offset: int

    @classmethod
    def of(cls, given: Mapping[str, str], tags: list[str]) -> Asked:
        """From the query of the address; what is not understood counts as not said."""
        where = given.get("where", "all")
        return cls(
            given.get("q", ""), where if where in WHERE else "all", given.get("shelf") or None, tuple(filter(None, tags)),
            given.get("project") or None, given.get("status") or "active", "why" in given, number(given, "offset", 0),
        )  # fmt: skip

    def docs(self) -> bool:
        """Whether documents are asked."""
        return self.where != "memory" and not self.project

    def memory(self) -> bool:
        """Whether memory is asked."""
        return self.where != "docs" and not self.shelf


def home(request: Request) -> Response:
    """The whole page."""
    halls = web(request).halls
    asked = Asked.of(request.query_params, request.query_params.getlist("tag"))
    shelves, _ = tried(lambda: halls.docs.list_shelves().shelves)
    tags, _ = tried(lambda: halls.docs.list_tags().tags)
    projects, _ = tried(lambda: halls.memory.list_projects().projects)
    used = sorted((tag for tag in tags or () if tag.document_count), key=lambda tag: (-tag.document_count, tag.name))
    return page(
        request, "search.html", asked=asked, shelves=shelves or (), tags=used[:MOST_TAGS], projects=projects or (),
        **_answers(request, asked),
    )  # fmt: skip


def results(request: Request) -> Response:
    """The list alone."""
    asked = Asked.of(request.query_params, request.query_params.getlist("tag"))
    return page(request, "results.html", asked=asked, **_answers(request, asked))


def _answers(request: Request, asked: Asked) -> dict[str, Any]:
    halls = web(request).halls
    docs = memory = None
    problems: list[str] = []
    if asked.query.strip():
        if asked.docs():
            docs, problem = tried(
                lambda: halls.docs.search(
                    query=asked.query, shelf=asked.shelf, tags=asked.tags, limit=LIMIT, offset=asked.offset,
                    include_tags=True, explain=asked.why,
                )
            )
            problems += [problem] if problem else []
        if asked.memory():
            memory, problem = tried(
                lambda: halls.memory.search(
                    query=asked.query, tags=asked.tags, status=asked.status, limit=LIMIT, offset=asked.offset,
                    explain=asked.why, project_id=asked.project, mode="project" if asked.project else "cross_project",
                )
            )
            problems += [problem] if problem else []
    return {"docs": docs, "memory": memory, "problems": problems, "limit": LIMIT}
