"""The gate before everything that is served over HTTP: whose name was called, and which page is calling.

A page of some other site can make a browser send requests here, and with a name that it lets point to this machine
(DNS rebinding) even read the answers. So `Host` must be a name that we are known by, and `Origin`, when it is there, must
be ours. Rules of this file: plain ASGI, nothing of stores; a refusal is one line of text and says what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY = ("0.0.0.0", "::")  # noqa: S104  (told apart here, bound to only on request)
READING = ("GET", "HEAD", "OPTIONS")


class Names(NamedTuple):
    """The names that a request may call us by, in lower case, with any port, and other origins that may call. With
    `numbers` any IP address is one: a page can make a name of its own lead here, but no number."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    numbers: bool = False

    @classmethod
    def of(cls, host: str, more: Iterable[str] = (), origins: Iterable[str] = ()) -> Names:
        """Those of a server that listens at `host`, which is also known as `more`."""
        own = LOOPBACK if host in LOOPBACK or host in ANY else (host,)
        return cls(frozenset(name.lower().strip("[]") for name in (*own, *more)), frozenset(origins), host in ANY)

    def refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the reason with which a request is refused, or `None`."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name = name_of(host)
        if name not in self.hosts and not (self.numbers and _is_number(name)):
            return 421, "this server does not go by that name; call it by the address that it printed"
        origin = headers.get(b"origin")
        if origin is None:
            if scope["method"] not in READING and headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
                return 403, "a page of another site may not call this server"
            return None
        said = origin.decode("latin-1").lower()
        if said not in self.origins and said.partition("://")[2] != host:
            return 403, "a page of another site may not call this server"
        return None


def name_of(host: str) -> str:
    """The name in a `Host` header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _is_number(name: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Gate:
    """Lets only requests through that call us by our names, from no other site's page."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        refusal = self._names.refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refuse(send, *refusal)


async def refuse(send: Send, status: int, reason: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    """Answer with one line of text."""
    body = f"{reason}\n".encode()
    own = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body})
