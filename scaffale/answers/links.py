"""What the verbs answer that link entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scaffale.answers.memory import SimilarEntry
    from scaffale.model import EntryHit


class LinkShown(NamedTuple):
    """A link as it is shown. `title` and `status` are those of the other end: an entry's status, or what became of the
    document (`same`, `changed`, `gone`, `unknown`). `direction` is absent for an outgoing link."""

    id: str
    relation: str
    target_type: str
    target_uri: str
    source_entry_id: str | None
    direction: str | None
    title: str | None
    status: str | None
    file_path: str | None
    section: tuple[str, ...] | None
    label: str | None
    confidence: float | None
    rationale: str | None
    origin: str
    created_at: str


class Linked(NamedTuple):
    """`created` is false when a link of the same ends and relation was there; then it has new words. `superseded` names
    the entry whose status this link moved, `similar_entries` the others that say nearly what that one said."""

    project_id: str
    link_id: str
    created: bool
    link: LinkShown
    superseded: str | None
    similar_entries: tuple[SimilarEntry, ...]
    warnings: tuple[str, ...]


class Unlinked(NamedTuple):
    """The link is gone; what it did to a status stays."""

    project_id: str
    link_id: str
    removed: bool
    warnings: tuple[str, ...]


class LinkList(NamedTuple):
    """The links of an entry in the order in which they were made."""

    project_id: str
    entry_id: str
    direction: str
    links: tuple[LinkShown, ...]
    total: int
    next_offset: int | None
    warnings: tuple[str, ...]


class SimilarEntries(NamedTuple):
    """Entries that share words with the one of `entry_id`, or with a text; most alike first."""

    project_id: str | None
    entry_id: str | None
    mode: str
    results: tuple[EntryHit, ...]
    warnings: tuple[str, ...]
