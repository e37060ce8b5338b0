"""Where a face on HTTP listens: the socket, the loop, and an end that lets begun requests finish.

The socket is made first, so that a port in use is an error of ours and the address that is printed is the real one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket as sockets
from typing import TYPE_CHECKING

from scaffale.errors import Conflict, InvalidParam

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

DRAIN_S = 10  # how long open requests may take to finish after the server was told to stop
BACKLOG = 512


def bound(host: str, port: int, *, or_any: bool = False) -> sockets.socket:
    """A socket that is bound and not yet listening. Port 0, or with `or_any` one that is in use, gives any free one.

    Raises `Conflict` when the port is in use, `InvalidParam` for a host or a port that cannot be had.
    """
    if not 0 <= port < 65_536:
        raise InvalidParam(f"--port: {port} is no port; 0 takes a free one")
    try:
        family, kind, protocol, _, address = sockets.getaddrinfo(host, port, type=sockets.SOCK_STREAM)[0]
    except OSError as error:
        raise InvalidParam(f"--host: {host} is no address of this machine: {error.strerror}") from error
    socket = sockets.socket(family, kind, protocol)
    if os.name == "posix":  # elsewhere it would let two servers have one port
        socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    try:
        socket.bind(address)
        socket.listen(BACKLOG)
    except OSError as error:
        socket.close()
        if error.errno == errno.EADDRINUSE:
            if or_any:
                return bound(host, 0)
            raise Conflict(f"port {port} is in use; choose another with --port, or --port 0 for a free one") from error
        if error.errno in (errno.EACCES, errno.EADDRNOTAVAIL):
            raise InvalidParam(f"{host}:{port} cannot be had: {error.strerror}") from error
        raise
    return socket


def address(socket: sockets.socket) -> str:
    """`http://HOST:PORT` of a bound socket."""
    host, port = socket.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(app: ASGIApp, socket: sockets.socket, on_ready: Callable[[], None], *, most_at_once: int | None = None) -> None:
    """Serve until SIGINT or SIGTERM; then take no more connections and let begun requests finish, for a while."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=most_at_once,
        timeout_graceful_shutdown=DRAIN_S,
        timeout_keep_alive=30,
        lifespan="on",
        ws="none",
        loop="asyncio",
        http="h11",
    )

    class Server(uvicorn.Server):
        """One that says when it is ready."""

        async def startup(self, sockets: list[sockets.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                on_ready()

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:  # uvicorn's own raises the signal again once all is done
            kept = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for each, handler in kept.items():
                    signal.signal(each, handler)

    Server(config).run(sockets=[socket])
