"""What the verb answers that sums up what changed."""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """One entry of a summary, in a line. `reason` says why it is not valid any more, or what supersedes it."""

    id: str
    scope: str
    topic: str
    title: str
    source_type: str
    status: str
    importance: int
    updated_at: str
    reason: str | None = None
    evidence: str | None = None


class OpenPoint(NamedTuple):
    """A line that says that something is still to be done. `line` is that of the entry's content, 1-based; `marker` is what
    it was known by."""

    entry_id: str
    scope: str
    topic: str
    line: int
    text: str
    marker: str


class HandoffSummary(NamedTuple):
    """What changed in a project, or a scope of it, since a moment. `counts` add up: `changed` is the sum of the others but
    `open_points`; lists are cut to the first of each kind, counts are not."""

    project_id: str
    scope: str | None
    since: str
    counts: dict[str, int]
    decisions: tuple[Item, ...]
    open_points: tuple[OpenPoint, ...]
    notes: tuple[Item, ...]
    superseded: tuple[Item, ...]
    invalidated: tuple[Item, ...]
    archived: tuple[Item, ...]
    markdown: str
    warnings: tuple[str, ...]
