"""The application: routes, errors as pages, the pool of threads in which the halls are asked.

Handlers are plain functions; Starlette runs each in a worker thread, so that nothing of SQLite ever holds the loop.
"""

from __future__ import annotations

import logging
import os
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from scaffale.errors import Internal, ScaffaleError
from scaffale.server.http.gate import Gate, Names
from scaffale.server.web import atlas, documents, health, memory, review, search
from scaffale.server.web.guard import Guard
from scaffale.server.web.shared import Web, page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from scaffale.server.halls import Halls
    from scaffale.settings import Settings

HERE = os.path.dirname(os.path.abspath(__file__))
THREADS = 8  # of SQLite work at once; more would only wait for each other
STATUS = {
    "INVALID_PARAM": 400,
    "NOT_FOUND": 404,
    "CONFLICT": 409,
    "LIMIT_EXCEEDED": 413,
    "SECRET_DETECTED": 422,
    "STORE_BUSY": 503,
    "STORE_UNREADABLE": 500,
    "INTERNAL": 500,
}


def build(halls: Halls, settings: Settings, token: str | None, actor: str) -> Starlette:
    """The page over these halls. It closes them when it ends. `actor` is who decides here, for the audit."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        import anyio.to_thread

        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        try:
            yield
        finally:
            await anyio.to_thread.run_sync(halls.close)

    routes = [
        Route("/", search.home, name="search"),
        Route("/results", search.results),
        Route("/document/{id:int}", documents.show),
        Route("/document/{id:int}/incoming", documents.incoming),
        Route("/document/{id:int}/outline", documents.outline),
        Route("/document/{id:int}/to", documents.follow),
        Route("/link/{id:int}", documents.judge, methods=["POST"]),
        Route("/map", atlas.show),
        Route("/map/picture", atlas.picture),
        Route("/memory", memory.projects),
        Route("/memory/project", memory.project),
        Route("/memory/entry/{id}", memory.entry),
        Route("/memory/entry/{id}", memory.change, methods=["POST"]),
        Route("/review", review.queue),
        Route("/review/decide", review.decide, methods=["POST"]),
        Route("/health", health.show),
        Mount("/static", StaticFiles(directory=os.path.join(HERE, "static"))),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[
            Middleware(Gate, names=Names.of("127.0.0.1")),
            Middleware(Guard, token=token),
            Middleware(GZipMiddleware, minimum_size=2_000, compresslevel=5),
        ],
        exception_handlers={ScaffaleError: refused, HTTPException: missing, Exception: failed},
    )
    app.state.web = Web(halls, settings, actor, secrets.token_urlsafe(24))
    return app


def refused(request: Request, error: Any) -> Response:  # noqa: ANN401  (ScaffaleError, as Starlette types it)
    """An error that was raised on purpose, as a page."""
    return page(request, "error.html", http_status=STATUS.get(error.code, 500), code=error.code, detail=error.detail)


def missing(request: Request, error: Any) -> Response:  # noqa: ANN401
    """An address that is none."""
    return page(request, "error.html", http_status=error.status_code, code="NOT_FOUND", detail="there is no such page")


def failed(request: Request, error: Exception) -> Response:
    """A defect: the log has it, the page does not."""
    logging.getLogger("scaffale.server").error("%s failed", request.url.path, exc_info=error)
    return refused(request, Internal("something went wrong inside the server; its log says what"))
