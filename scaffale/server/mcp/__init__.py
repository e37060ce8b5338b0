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
