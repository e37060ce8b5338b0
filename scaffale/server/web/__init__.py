"""The web page of `scaffale ui`: search, documents, the map, memory, what waits for review, health.

The modules, in the order of a request: `guard` (token, headers), `app` (which page), one module for each page, `shared`
(what pages share), `markdown` (stored text as HTML that can do nothing), `templates/` and `static/`. Every page asks the
verbs of the halls, as the other faces do. Importing this package alone imports nothing of the web.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaffale.settings import Settings

PORT = 7340


def serve(settings: Settings, port: int | None, token: str | None, actor: str, on_ready: Callable[[str], None]) -> None:
    """Serve the page on loopback until the process is told to stop. `on_ready` gets its address.

    `port` `None` takes 7340, or a free one when that is in use; 0 takes a free one. With a `token` every address begins
    with it; without, whoever is on this machine may read. Raises `Conflict` when the port is in use.
    """
    from scaffale.server.halls import Halls
    from scaffale.server.http import listen
    from scaffale.server.web.app import build

    socket = listen.bound("127.0.0.1", PORT if port is None else port, or_any=port is None)
    app = build(Halls.over(settings), settings, token, actor)
    prefix = f"/{token}/" if token else "/"
    listen.run(app, socket, lambda: on_ready(listen.address(socket) + prefix))
