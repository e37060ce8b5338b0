"""What the verbs of sessions, of concepts and of their review answer."""

from __future__ import annotations

from typing import Any, NamedTuple


class OpenedSession(NamedTuple):
    """`created` is false when the session was open already. `phase` is where it stands, `decisions` how many lines it has."""

    project_id: str
    session_id: str
    title: str | None
    phases: tuple[str, ...]
    phase: str
    decisions: int
    created: bool
    created_at: str
    warnings: tuple[str, ...]


class SessionShown(NamedTuple):
    """A session, as lists show it."""

    session_id: str
    title: str | None
    phase: str
    decisions: int
    created_at: str


class SessionList(NamedTuple):
    """The sessions of a project, oldest first."""

    project_id: str
    sessions: tuple[SessionShown, ...]
    total: int
    next_offset: int | None
    warnings: tuple[str, ...]


class Recorded(NamedTuple):
    """`seq` is the number of the new line. `shaken` are promoted concepts whose decision it ended."""

    project_id: str
    session_id: str
    seq: int
    at: str
    phase: str
    type: str
    shaken: tuple[str, ...]
    warnings: tuple[str, ...]


class DecisionShown(NamedTuple):
    """A line of a ledger, and whether it holds; `reason` and `by` say why not."""

    seq: int
    at: str
    phase: str
    type: str
    subject: str
    detail: str
    rationale: str | None
    question_context: str | None
    concepts: tuple[str, ...]
    actor: str | None
    supersedes_seq: int | None
    effective: bool
    reason: str | None
    by: int | None


class DecisionList(NamedTuple):
    """Lines of a ledger in their order; `next_after` continues, `None` ends."""

    project_id: str
    session_id: str
    decisions: tuple[DecisionShown, ...]
    total: int
    effective: int
    next_after: int | None
    warnings: tuple[str, ...]


class Near(NamedTuple):
    """A promoted concept that says nearly what a candidate says. `similarity` is the share of words in common, 0 to 1;
    `cited`, that the candidate names it. `digest` is that of its text."""

    display_id: str
    entry_id: str
    title: str | None
    content: str
    source_ref: str | None
    similarity: float
    cited: bool
    digest: str


class Candidate(NamedTuple):
    """A concept of a session that a person may promote. `also` are later decisions that say the same."""

    seq: int
    phase: str
    subject: str
    detail: str
    rationale: str | None
    question_context: str | None
    concepts: tuple[str, ...]
    also: tuple[int, ...]
    similar: tuple[dict[str, Any], ...]


class LeftOut(NamedTuple):
    """A concept that is not shown on its own, and why."""

    seq: int
    subject: str
    reason: str


class Preview(NamedTuple):
    """A page of candidates; `total` counts all of them, `next_page` leads on. `left_out` are the other undecided concepts."""

    project_id: str
    session_id: str
    candidates: tuple[Candidate, ...]
    total: int
    page: int
    next_page: int | None
    left_out: tuple[LeftOut, ...]
    hint: str
    warnings: tuple[str, ...]


class Waiting(NamedTuple):
    """Something that waits for a person. `kind` is `concept` (of a session), `imported_concept`, `proposal` (of a peer) or
    `edit` (of a promoted concept); `text` is what is decided upon, and `digest` binds the decision to it."""

    id: str
    kind: str
    title: str
    text: str
    digest: str
    origin: str
    similar: tuple[Near, ...]


class Review(NamedTuple):
    """A page of what waits: concepts by session and line, then proposals, oldest first."""

    project_id: str
    session_id: str | None
    waiting: tuple[Waiting, ...]
    total: int
    next_offset: int | None
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]


class Reviewed(NamedTuple):
    """What a person decided. `changed` is false when the same was decided before. `display_id` is that of the concept."""

    project_id: str
    id: str
    verdict: str
    entry_id: str | None
    display_id: str | None
    changed: bool
    warnings: tuple[str, ...]


class Concept(NamedTuple):
    """A promoted concept that a later session may choose."""

    display_id: str
    id: str
    project_id: str
    scope: str
    topic: str
    title: str | None
    content: str
    rationale: str | None
    question_context: str | None
    concepts: tuple[str, ...]
    source_type: str
    source_ref: str | None
    status: str
    confidence: float | None
    importance: int
    created_at: str
    updated_at: str
    score: float
    verification_hint: str
    evidence: str | None


class Recall(NamedTuple):
    """Concepts that fit, best first; none is applied. `decided` were left out: this session has decided on them."""

    project_id: str
    session_id: str | None
    results: tuple[Concept, ...]
    total: int
    next_offset: int | None
    decided: tuple[str, ...]
    hint: str
    warnings: tuple[str, ...]


class Remembered(NamedTuple):
    """A decision of the review, with the concept that it is about."""

    seq: int
    subject: str
    detail: str
    rationale: str | None
    display_id: str | None
    entry_id: str | None
    at: str
    reviewer: str | None


class SessionSummary(NamedTuple):
    """A session in short. `approved` and `declined` are resolved to their decisions; `waiting` are candidates without a
    decision; `hidden` are concepts and marks that are not shown, with the reason."""

    project_id: str
    session_id: str
    title: str | None
    phases: tuple[str, ...]
    phase: str
    decisions: int
    effective: int
    by_type: dict[str, int]
    approved: tuple[Remembered, ...]
    declined: tuple[Remembered, ...]
    waiting: int
    hidden: tuple[LeftOut, ...]
    hidden_count: int
    markdown: str
    warnings: tuple[str, ...]


class ExportedConcepts(NamedTuple):
    """`lines` concepts stand in the file, by number."""

    project_id: str
    save_path: str | None
    lines: int
    bytes: int
    masked: int
    warnings: tuple[str, ...]


class ImportedConcepts(NamedTuple):
    """`seen` records = `proposed` + `existing` + `kept` + `failed`. `kept` are no concepts: they are history, and found by
    nothing; `skips` says what is wrong with those that failed."""

    project_id: str
    seen: int
    proposed: int
    existing: int
    kept: int
    failed: int
    skips: tuple[str, ...]
    warnings: tuple[str, ...]
