"""What the verbs of documents answer. Field names are those of the JSON answers; `None` is left out there.

Annotations are not postponed: `typing` compiles postponed ones, which would triple the price of each class at start-up.
"""

from typing import Any, NamedTuple

from scaffale.model import Document, DocumentHit, Shelf


class DocsSearch(NamedTuple):
    """A page of documents, each once, with its best section. `shelf` is where it was looked for.

    When nothing was found: `shelves` says what exists, `unmatched` names the words, `suggestions` are documents that hold
    words spelled nearly so, and `closest` those words. `vector` says, where vectors are on, what became of the search by
    meaning: its `state` (`used`, or why not), the model, and the `coverage`.
    """

    results: tuple[DocumentHit, ...]
    next_offset: int | None
    matching_sections: int
    lexical_backend: str
    lag: int
    hint: str | None
    shelves: tuple[str, ...] | None
    warnings: tuple[str, ...]
    shelf: str | None = None
    unmatched: tuple[str, ...] | None = None
    suggestions: tuple[DocumentHit, ...] | None = None
    closest: tuple[str, ...] | None = None
    vector: dict[str, Any] | None = None


class Match(NamedTuple):
    """A place where `search_string` begins, with the lines around it. Places whose surroundings overlap are one."""

    line: int
    start_line: int
    end_line: int
    content: str


class DocumentAnswer(NamedTuple):
    """A document, or the part of it that was asked for. `subsections` are those below the section that was.

    `next_start_line` is where to read on when the part was too long for one answer, else `None`.
    """

    id: int
    title: str
    file_path: str
    shelf_id: int
    shelf_name: str
    shelf: dict[str, Any]
    resource_uri: str
    uri: str
    shelf_uri: str
    tags: tuple[str, ...]
    freshness: str
    indexed_at: str
    line_count: int
    start_line: int
    end_line: int
    content: str
    next_start_line: int | None
    heading_path: tuple[str, ...] | None
    subsections: tuple[tuple[str, ...], ...] | None
    matches: tuple[Match, ...] | None
    links: dict[str, Any] | None
    warnings: tuple[str, ...]


class DocumentList(NamedTuple):
    """A page of documents by path, of one `shelf` or of all."""

    documents: tuple[Document, ...]
    total: int
    next_offset: int | None
    warnings: tuple[str, ...]
    shelf: str | None = None


class ShelfList(NamedTuple):
    """All shelves by name."""

    shelves: tuple[Shelf, ...]
    warnings: tuple[str, ...]


class ShelfAnswer(NamedTuple):
    """One shelf, as it is now."""

    shelf: Shelf
    warnings: tuple[str, ...]


class Removed(NamedTuple):
    """What was forgotten. Files stay as they are."""

    shelf: str | None
    document_id: int | None
    removed_documents: int
    warnings: tuple[str, ...]


class DocsStatus(NamedTuple):
    """What the store holds and what serves it."""

    db_path: str
    exists: bool
    features: dict[str, bool | str]
    counts: dict[str, int]
    lexical_backend: str
    index_lag: dict[str, int]
    sqlite_version: str
    wal_bytes: int
    warnings: tuple[str, ...]
