"""What the verbs answer that bring proposals, and list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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
