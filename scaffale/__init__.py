"""Scaffale: a local-first knowledge server for coding agents and the people who work with them.

    import scaffale

    with scaffale.open_docs() as docs:
        docs.scan_folder(folder_path="/path/to/notes", shelf="notes")
        print(docs.search(query="write-ahead log").results[0].snippet)

    with scaffale.open_memory() as memory:
        memory.add_entry(actor="me", project_path=".", scope="backend", topic="auth", content="…", source_type="decision")

Everything is imported at first use: hooks start from inside this package, at every prompt.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scaffale.docs import Docs
    from scaffale.memory import Memory
    from scaffale.settings import Settings

_HOMES = {
    "Docs": "docs",
    "Memory": "memory",
    "Settings": "settings",
    **dict.fromkeys(
        ("Document", "DocumentHit", "Entry", "EntryHit", "Project", "ScanReport", "Section", "Shelf"), "model"
    ),
    **dict.fromkeys(
        (
            "Conflict",
            "Internal",
            "InvalidParam",
            "LimitExceeded",
            "NotFound",
            "ScaffaleError",
            "SecretDetected",
            "StoreBusy",
            "StoreUnreadable",
        ),
        "errors",
    ),
}
__all__ = [  # noqa: PLE0604  (names are strings; the rest of them stand above)
    "__version__",
    "load_settings",
    "open_docs",
    "open_memory",
    *_HOMES,
]


def load_settings() -> Settings:
    """The settings of this process: environment, configuration file and the nearest `.env`. See `scaffale.settings`."""
    import os

    from scaffale import settings

    return settings.load(os.environ, os.getcwd())


def open_memory(settings: Settings | None = None) -> Memory:
    """The operational memory of projects, in the store that the settings name. A context manager."""
    from scaffale.memory import Memory

    return Memory(settings or load_settings())


def open_docs(settings: Settings | None = None) -> Docs:
    """The shelves of documents, in the store that the settings name. A context manager."""
    from scaffale.docs import Docs

    return Docs(settings or load_settings())


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'scaffale' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"scaffale.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
