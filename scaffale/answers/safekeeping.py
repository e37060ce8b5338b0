"""What the verbs of safekeeping answer."""

from __future__ import annotations

from typing import NamedTuple


class KeptStore(NamedTuple):
    """A store in a backup."""

    name: str
    file: str
    bytes: int
    sha256: str
    uuid: str
    schema_version: int


class BackedUp(NamedTuple):
    """The backup that was written."""

    folder: str
    stores: tuple[KeptStore, ...]
    warnings: tuple[str, ...]


class RestoredStore(NamedTuple):
    """A store that was restored; `kept` is where the former one lies, when there was one."""

    name: str
    path: str
    schema_version: int
    kept: str | None


class Restored(NamedTuple):
    """What was put in place."""

    folder: str
    stores: tuple[RestoredStore, ...]
    warnings: tuple[str, ...]


class Repaired(NamedTuple):
    """Rows that were saved, by table; what was lost; `kept` is where the damaged file lies."""

    name: str
    path: str
    kept: str
    saved: dict[str, int]
    lost: tuple[str, ...]
    warnings: tuple[str, ...]
