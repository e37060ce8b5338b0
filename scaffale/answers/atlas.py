"""What the verbs of the map answer: shelves above shelves, tags, links. Field names are those of the JSON answers.

Annotations are not postponed (see `answers.docs`).
"""

from typing import NamedTuple

from scaffale.model import Shelf


class Tag(NamedTuple):
    """A word of the dictionary that documents may bear."""

    name: str
    description: str | None
    document_count: int


class ShelfRef(NamedTuple):
    """A shelf as the end of a link. `depth` is 1 for a parent, 2 for its parents, and so on."""

    id: int
    name: str
    uri: str
    relation: str = "parent"
    depth: int = 1


class DocumentRef(NamedTuple):
    """A document as the end of a link."""

    id: int
    title: str
    file_path: str
    shelf_id: int
    shelf_name: str
    resource_uri: str
    shelf_uri: str


class DocumentLink(NamedTuple):
    """A link as stored, with both ends. `verdict` is what a person said of it."""

    link_id: int
    relation: str
    label: str | None
    confidence: float | None
    score: float | None
    origin: str
    rationale: str | None
    heuristic_version: str | None
    created_at: str
    updated_at: str
    source: DocumentRef
    target: DocumentRef
    verdict: str | None = None


class ShelfParents(NamedTuple):
    """The shelves above one shelf, nearest first, and below it when they were asked for."""

    shelf: Shelf
    parents: tuple[ShelfRef, ...]
    children: tuple[ShelfRef, ...] | None
    warnings: tuple[str, ...]


class TagList(NamedTuple):
    """The dictionary by name."""

    tags: tuple[Tag, ...]
    warnings: tuple[str, ...]


class TagAnswer(NamedTuple):
    """One tag: as it is now, or as it was before it was removed."""

    tag: Tag
    warnings: tuple[str, ...]


class DocumentTags(NamedTuple):
    """All tags that a document bears now."""

    document_id: int
    tags: tuple[str, ...]


class TagsSet(NamedTuple):
    """What was set."""

    documents: tuple[DocumentTags, ...]
    warnings: tuple[str, ...]


class LinkList(NamedTuple):
    """Links: those listed, made, removed or judged."""

    links: tuple[DocumentLink, ...]
    total: int
    next_offset: int | None
    direction: str
    warnings: tuple[str, ...]


class SampleLink(NamedTuple):
    """A link that a correlation proposes, with its reasons."""

    source_document_id: int
    source_title: str
    target_document_id: int
    target_title: str
    target_shelf: str
    relation: str
    confidence: float
    rationale: str


class CorrelationReport(NamedTuple):
    """What a correlation found. `candidate_links` = `applied_links` + `would_apply` + the five `skipped_…` counts of links:
    with `apply` nothing is left in `would_apply`, without it nothing was written. Documents of the shelf =
    `scanned_documents` + `unchanged_documents`."""

    mode: str
    shelf: str
    document_id: int | None
    scope: str
    apply: bool
    heuristic_version: str
    min_confidence: float
    target_shelves: tuple[str, ...]
    scanned_documents: int
    unchanged_documents: int
    candidate_links: int
    applied_links: int
    would_apply: int
    skipped_low_confidence: int
    skipped_existing: int
    skipped_over_limit: int
    skipped_rejected: int
    skipped_gone: int
    ambiguous_references: int
    sample_links: tuple[SampleLink, ...]
    warnings: tuple[str, ...]
