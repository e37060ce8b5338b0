"""The MCP face: validate, call one verb of a hall, render.

The modules, in the order of a call: `lines` and `stdio` (bytes to messages), `server` (methods to handlers), `tools`,
`registry` and `arguments` (which verb, with what), `desk` (the step into a worker thread), `results` and
`prose` (the answer as data and as text); `resources` beside them. `http` serves a team, with `access` (what a caller may do)
and `metrics`. Only here may the SDK be imported, and importing
this package alone does not do so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaffale.settings import Settings


def serve(settings: Settings, tools: str = "default", project: str | None = None) -> int:
    """Serve one client over stdin and stdout until it leaves, and return the exit code.

    `tools` is one of `default`, `all`, `memory`, `docs`, `ledger`; `project` is the folder or the id of the project whose memory
    is listed as resources. Raises `InvalidParam` for an unknown set, before anything is served.
    """
    import gc

    gc.disable()  # the SDK's import makes a great many objects and no garbage: looking for some costs a tenth of it
    try:
        from scaffale.server.mcp import server
    finally:
        gc.freeze()
        gc.enable()
    return server.serve(settings, tools, project)


def serve_http(
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
    """Serve a team over HTTP until the process is told to stop (see `server.mcp.http.serve`), and return the exit code."""
    from scaffale.server.mcp import http

    return http.serve(
        settings, tools=tools, project=project, host=host, port=port, names=names, origins=origins, on_ready=on_ready
    )
