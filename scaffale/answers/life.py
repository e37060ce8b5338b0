"""What the verbs answer that change entries, and that tell how they changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scaffale.answers.memory import SimilarEntry
    from scaffale.indexer.checks import Check


class UpdatedEntry(NamedTuple):
    """`changed` names the fields that have another value now; `revision` is the number under which the earlier ones are
    kept, absent when nothing changed. `proposal_id`: it is the edit of a concept, and waits for a person's review."""

    project_id: str
    entry_id: str
    changed: tuple[str, ...]
    status: str
    previous_updated_at: str
    updated_at: str
    revision: int | None
    similar_entries: tuple[SimilarEntry, ...]
    warnings: tuple[str, ...]
    proposal_id: str | None = None


class DeletedEntry(NamedTuple):
    """The entry is gone."""

    project_id: str
    entry_id: str
    previous_status: str
    deleted: bool
    warnings: tuple[str, ...]


class Event(NamedTuple):
    """One thing that happened to an entry. `earlier` holds what the fields that changed were before."""

    number: int
    at: str
    actor: str | None
    operation: str
    reason: str | None
    earlier: dict[str, Any]


class History(NamedTuple):
    """What happened to an entry, oldest first; it begins with its creation."""

    project_id: str
    entry_id: str
    status: str
    events: tuple[Event, ...]
    warnings: tuple[str, ...]


class Rebuilt(NamedTuple):
    """What rebuilding the index found: entries that it lacked (`missing`), entries that were gone from the store
    (`surplus`), damage of its files. `purged` says that no file holds anything of what was deleted."""

    lexical_backend: str
    rebuilt: bool
    entries: int
    missing: int
    surplus: int
    damage: tuple[str, ...]
    committed_before: int
    purged: bool
    warnings: tuple[str, ...]


class Verified(NamedTuple):
    """What a look at the evidence of an entry saw. `outcome` is the worst of the checks, `none` when there was nothing to
    look at."""

    project_id: str
    entry_id: str
    outcome: str
    at: str
    checks: tuple[Check, ...]
    warnings: tuple[str, ...]
