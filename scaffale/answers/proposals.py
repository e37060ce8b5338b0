"""What the verbs answer that bring proposals, show them, and let a person decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scaffale.indexer.proposals import Proposal


class Proposed(NamedTuple):
    """`seen` candidates = `proposed` + `existing` + `failed`; `existing` wait already, or are entries. `skipped` names what
    was no candidate, and why."""

    project_id: str
    kind: str
    seen: int
    proposed: int
    existing: int
    failed: int
    skipped: tuple[str, ...]
    warnings: tuple[str, ...]


class ProposalList(NamedTuple):
    """What waits for a person, oldest first."""

    project_id: str
    proposals: tuple[Proposal, ...]
    total: int
    next_offset: int | None
    warnings: tuple[str, ...]


class Decided(NamedTuple):
    """`entry_id` is the entry that an accepted proposal became."""

    project_id: str
    proposal_id: str
    accepted: bool
    entry_id: str | None
    draft: dict[str, Any]
    warnings: tuple[str, ...]


class Shown(NamedTuple):
    """One proposal. `code` is what a person types to accept exactly this text."""

    project_id: str
    id: str
    origin: str
    draft: dict[str, Any]
    code: str
    warnings: tuple[str, ...]
