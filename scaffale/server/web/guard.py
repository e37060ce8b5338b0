"""What protects the page beyond the gate: the token in its address, and headers that leave stored text no power.

Every address begins with a random token, so that neither other users of this machine nor pages in the same browser can
read anything; nothing is kept in cookies, which browsers share between all ports of a host. What changes something wants
a second token, which only our own pages carry.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from scaffale.server.http.gate import refuse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # with none at all browsers send `Origin: null` with our own forms
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class Guard:
    """Takes the token from the path and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        if self._token:
            first = scope["path"].split("/", 2)[1] if scope["path"].startswith("/") else ""
            if not hmac.compare_digest(first.encode(), self._token.encode()):
                await refuse(protected, 403, "open the address that `scaffale ui` printed; it changes with every start")
                return
            scope = {**scope, "root_path": f"/{self._token}"}
        await self._app(scope, receive, protected)
