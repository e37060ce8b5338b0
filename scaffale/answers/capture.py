"""What the verbs answer that build entries from what is there already."""

from __future__ import annotations

from typing import NamedTuple


class Taken(NamedTuple):
    """Why a field is as it is: the words that it was taken from, and the line that they stand in (1-based)."""

    field: str
    words: str
    line: int | None = None


class Candidate(NamedTuple):
    """An entry as it would be written, or with `entry_id` as it was. `existing_entry_id` says exactly this already;
    `problem` says why it cannot be written."""

    scope: str | None
    topic: str
    title: str | None
    content: str
    summary: str | None
    source_type: str
    source_ref: str | None
    source_path: str | None
    source_uri: str | None
    tags: tuple[str, ...]
    importance: int
    taken: tuple[Taken, ...]
    existing_entry_id: str | None = None
    entry_id: str | None = None
    link_id: str | None = None
    problem: str | None = None


class Captured(NamedTuple):
    """`seen` candidates = `written` + `existing` + `failed` once applied; a preview writes nothing. `skipped` names what
    was no candidate, and why."""

    project_id: str
    applied: bool
    candidates: tuple[Candidate, ...]
    seen: int
    written: int
    existing: int
    failed: int
    skipped: tuple[str, ...]
    warnings: tuple[str, ...]
