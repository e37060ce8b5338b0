"""MCP over streamable HTTP, for a team: `/mcp` in both protocol eras, `/healthz`, `/metrics`.

Every request stands alone: no session is kept, so none can be taken over, and a server may be restarted between two calls.
The SDK reads the protocol; here stands who may come in, how much, and how it ends. In the order of a request: `Counted`,
the gate (`server/http/gate.py`), `Doorkeeper`, then the SDK.
"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from scaffale import __version__
from scaffale.errors import InvalidParam, ScaffaleError
from scaffale.server.halls import Halls
from scaffale.server.http import listen
from scaffale.server.http.gate import LOOPBACK, Gate, Names, refuse
from scaffale.server.mcp.access import Access, Pace, Places
from scaffale.server.mcp.metrics import CONTENT_TYPE, Metrics
from scaffale.server.mcp.server import build

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from scaffale.settings import Settings

MOST_BODY_BYTES = 4 * 1024 * 1024
MOST_AT_ONCE = 512  # open connections; more are answered with 503
SLOWEST_BODY_S = 30  # a request that is not here by then is given up
WRITES_A_MINUTE = 3_000  # of one token
OPEN = ("/healthz",)  # what needs no token
ACCESS = "scaffale.access"  # where a request carries what its caller may do

log = logging.getLogger("scaffale.server")


def serve(
    settings: Settings,
    *,
    tools: str,
    project: str | None,
    host: str,
    port: int,
    names: Sequence[str],
    origins: Sequence[str],
    on_ready: Callable[[str], None],
) -> int:
    """Serve a team until the process is told to stop, and return the exit code. `on_ready` gets the address.

    `names` are further names that clients call this server by, `origins` those of pages that may call it. Raises
    `InvalidParam` for a host beyond loopback while there is no token, `Conflict` for a port in use.
    """
    logging.basicConfig(format="scaffale: %(levelname)s %(message)s", level=logging.WARNING)
    halls = Halls.over(settings)
    guarded = bool(halls.memory.list_tokens().tokens)
    if host not in LOOPBACK and not guarded:
        halls.close()
        raise InvalidParam(f"--host: {host} can be reached from elsewhere: first make a token, `scaffale token create NAME`")
    app = application(halls, settings, tools, project, Names.of(host, names, origins), guarded=guarded)
    socket = listen.bound(host, port)
    listen.run(app, socket, lambda: on_ready(f"{listen.address(socket)}/mcp"), most_at_once=MOST_AT_ONCE)
    return 0


def application(
    halls: Halls, settings: Settings, tools: str, project: str | None, names: Names, *, guarded: bool
) -> Starlette:
    """The server as an ASGI application. With `guarded` every caller needs a token; it closes the halls when it ends."""
    metrics = Metrics()
    pace = Pace(WRITES_A_MINUTE)
    places = Places(settings, halls)
    server = build(halls, tools, project, access_of=_access_of, metrics=metrics, places=places)
    # json_response stays off: progress of long calls is streamed.
    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=MOST_BODY_BYTES)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    def health(_: Request) -> Response:
        try:
            halls.memory.list_tokens()
            halls.docs.list_shelves()
        except ScaffaleError as error:
            return JSONResponse({"ok": False, "error_code": error.code}, 503)
        return JSONResponse({"ok": True, "version": __version__})

    def scraped(_: Request) -> Response:
        return PlainTextResponse(metrics.text(), media_type=CONTENT_TYPE)

    return Starlette(
        routes=[
            Route("/healthz", health),
            Route("/metrics", scraped),
            Route("/mcp", _Endpoint(manager.handle_request)),
        ],
        lifespan=lifespan,
        middleware=[
            Middleware(Counted, metrics=metrics),
            Middleware(Gate, names=names),
            Middleware(Doorkeeper, halls=halls, settings=settings, pace=pace, guarded=guarded),
        ],
    )


class _Endpoint:
    """An ASGI application as a route that takes every method."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class Counted:
    """Counts answers, and gives a request up whose body does not come."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, whole = False, False

        async def counted(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                self._metrics.answered(message["status"])
            await send(message)

        async def in_time() -> Message:
            nonlocal whole
            if whole:
                return await receive()
            with anyio.fail_after(SLOWEST_BODY_S):
                message = await receive()
            whole = not message.get("more_body", False)
            return message

        self._metrics.open_requests += 1
        try:
            await self._app(scope, in_time, counted)
        except ClientDisconnect:
            pass  # whoever asked has left before the question was out
        except TimeoutError:
            if begun:
                raise
            await refuse(counted, 408, "the request did not come to its end in time")
        finally:
            self._metrics.open_requests -= 1


class Doorkeeper:
    """Lets in who bears a token, and writes down what its bearer may do."""

    def __init__(self, app: ASGIApp, halls: Halls, settings: Settings, pace: Pace, *, guarded: bool) -> None:
        self._app = app
        self._halls = halls
        self._settings = settings
        self._pace = pace
        self._guarded = guarded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http" or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        if not self._guarded:
            access = Access(remote=True, settings=self._settings)
        else:
            scheme, _, text = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1").partition(" ")
            if scheme.lower() != "bearer" or not text.strip():
                await _unknown(send, "give a token: Authorization: Bearer TOKEN")
                return
            try:
                look = partial(self._halls.memory.recognise_token, text.strip())
                token = await anyio.to_thread.run_sync(look)
            except ScaffaleError as error:
                log.error("tokens cannot be read: %s", error.detail)
                await refuse(send, 503, "the store of tokens cannot be read now")
                return
            if token is None:
                await _unknown(send, "this token is wrong, revoked or expired", b'Bearer error="invalid_token"')
                return
            access = Access(token.name, token.projects or None, token.read_only, True, self._settings, self._pace)
        await self._app({**scope, ACCESS: access}, receive, send)


async def _unknown(send: Send, reason: str, challenge: bytes = b"Bearer") -> None:
    await refuse(send, 401, reason, [(b"www-authenticate", challenge)])


def _access_of(request: Request | None) -> Access:
    """What the request's caller may do."""
    assert request is not None
    access: Access = request.scope[ACCESS]
    return access
