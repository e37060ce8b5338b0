"""What the verbs of the map answer: shelves above shelves, tags, links. Field names are those of the JSON answers.

Annotations are not postponed (see `answers.docs`).
"""

from typing import NamedTuple

from scaffale.model import DocumentLink, Shelf, ShelfRef, Tag


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
