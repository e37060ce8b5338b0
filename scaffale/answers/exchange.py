"""What the verbs answer that write memory to a file, and read it from one."""

from __future__ import annotations

from typing import NamedTuple


class Exported(NamedTuple):
    """What the file holds, and what was left out of it."""

    project_id: str
    save_path: str
    format: str
    bytes: int
    entries: int
    tags: int
    links: int
    left_out: dict[str, int]
    warnings: tuple[str, ...]


class Skipped(NamedTuple):
    """An entry of the file that was not taken as it is, and why."""

    entry_id: str
    reason: str


class Imported(NamedTuple):
    """`seen` entries of the file = `new` + `changed` + `same` + `skipped` + `proposed`. `removed` lie outside.

    `changed` got metadata that they lacked; `skipped` says with each why. `proposed` are concepts: they wait for a
    person. `id_map` says which new id an entry got, where it could not keep its own. `backup` is the export that was
    taken before anything was replaced.
    """

    project_id: str
    import_path: str
    on_conflict: str
    seen: int
    new: int
    changed: int
    same: int
    skipped: int
    proposed: int
    removed: int
    kept: int
    links: int
    redacted: int
    skips: tuple[Skipped, ...]
    id_map: dict[str, str] | None
    backup: str | None
    warnings: tuple[str, ...]
