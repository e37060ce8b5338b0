"""What the verbs of memory answer. Field names are those of the JSON answers; `None` is left out there.

Annotations are not postponed: `typing` compiles postponed ones, which would triple the price of each class at start-up.
"""

from typing import Any, NamedTuple

from scaffale.model import Count, Entry, EntryHit, Project


class MemoryStatus(NamedTuple):
    """What the store holds and what serves it. `counts` are of the project, or of the whole store without one."""

    db_path: str
    exists: bool
    project: Project | None
    project_id: str | None
    counts: dict[str, int]
    features: dict[str, bool | str]
    lexical_backend: str
    index_lag: dict[str, int]
    sqlite_version: str
    wal_bytes: int
    warnings: tuple[str, ...]


class SimilarEntry(NamedTuple):
    """An active entry that says nearly the same. `similarity` is the share of words in common, 0 to 1."""

    id: str
    scope: str
    topic: str
    title: str | None
    similarity: float


class AddedEntry(NamedTuple):
    """`entry_id` is the new entry, or with `deduped` the one that already said exactly this."""

    project_id: str
    entry_id: str
    scope: str
    topic: str
    tags: tuple[str, ...]
    deduped: bool
    existing_entry_id: str | None
    similar_entries: tuple[SimilarEntry, ...]
    warnings: tuple[str, ...]


class LinkedDocument(NamedTuple):
    """A document that results link to. `status` is `same`, `changed`, `gone` or `unknown`."""

    uri: str
    title: str | None
    file_path: str | None
    status: str
    entry_ids: tuple[str, ...]


class MemorySearch(NamedTuple):
    """A page of results. `left_out` results of the page did not fit the budget; `next_offset` goes on with them.

    When nothing was found: `scopes` and `topics` say what exists, `unmatched` names the words, `suggestions` are entries
    that hold words spelled nearly so, and `closest` those words. `vector` says, where vectors are on, what became of the
    search by meaning: its `state` (`used`, or why not), the model, and the `coverage`.
    """

    project_id: str | None
    mode: str
    status: str
    scope: str | None
    topic: str | None
    results: tuple[EntryHit, ...]
    total: int
    next_offset: int | None
    lexical_backend: str
    lag: int
    hint: str | None
    scopes: tuple[Count, ...] | None
    topics: tuple[Count, ...] | None
    warnings: tuple[str, ...]
    documents: tuple[LinkedDocument, ...] | None = None
    left_out: int | None = None
    unmatched: tuple[str, ...] | None = None
    suggestions: tuple[EntryHit, ...] | None = None
    closest: tuple[str, ...] | None = None
    vector: dict[str, Any] | None = None


class EntryAnswer(NamedTuple):
    """The whole entry. `links` counts the incoming ones only. `next_char` says where a content that was cut goes on;
    `history` is there when it was asked for, `verified` when somebody has looked at the evidence."""

    project_id: str
    entry: Entry
    links: dict[str, Any]
    warnings: tuple[str, ...]
    next_char: int | None = None
    history: tuple[Any, ...] | None = None
    verified: tuple[Any, ...] | None = None


class Invalidated(NamedTuple):
    """`changed` is false when the entry was invalidated already."""

    project_id: str
    entry_id: str
    previous_status: str
    status: str
    invalidated_at: str
    changed: bool
    warnings: tuple[str, ...]


class Bound(NamedTuple):
    """The folder now belongs to the project; `changed` is false when it did already."""

    project_id: str
    folder: str
    changed: bool
    warnings: tuple[str, ...]


class Names(NamedTuple):
    """Scopes, topics or tags in use, most used first."""

    project_id: str
    status: str
    scope: str | None
    topic: str | None
    items: tuple[Count, ...]
    warnings: tuple[str, ...]


class EntryPage(NamedTuple):
    """Entries in the order of their acknowledgement; `next_after` continues, `None` ends."""

    entries: tuple[Entry, ...]
    next_after: int | None
