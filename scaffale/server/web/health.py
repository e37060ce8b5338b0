"""How the stores and their indexes are: sizes, lag, what serves, warnings."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from scaffale.server.web.shared import page, tried, web

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def show(request: Request) -> Response:
    """The page. Reads counts and sizes, changes nothing."""
    from scaffale import __version__

    face = web(request)
    memory, no_memory = tried(face.halls.memory.status)
    docs, no_docs = tried(face.halls.docs.feature_status)
    stores = [
        ("memory", memory, no_memory, face.settings.memory_db_path),
        ("docs", docs, no_docs, face.settings.docs_db_path),
    ]
    shown = [(name, status, problem, path, *_sizes(path)) for name, status, problem, path in stores]
    return page(request, "health.html", stores=shown, version=__version__, warnings=face.settings.warnings)


def _sizes(path: str) -> tuple[int, int]:
    """Bytes of the store with its log, and of the indexes beside it."""
    return _bytes_below(path) + _bytes_below(f"{path}-wal"), _bytes_below(f"{path}.index")


def _bytes_below(path: str) -> int:
    total = 0
    with suppress(OSError):
        if os.path.isfile(path):
            return os.stat(path).st_size
        for folder, _, names in os.walk(path):
            for name in names:
                with suppress(OSError):
                    total += os.stat(os.path.join(folder, name)).st_size
    return total
