"""What the verbs answer that show a person around: outlines, the picture of all documents, projects, a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scaffale.answers.atlas import ShelfRef
    from scaffale.model import Entry, Project, Shelf


class Heading(NamedTuple):
    """A heading of a document: its text, its level (1 to 6) and the line that it stands in (1-based)."""

    text: str
    level: int
    line: int


class Outline(NamedTuple):
    """The headings of a document in their order. Pieces of one long section are one heading."""

    document_id: int
    title: str
    headings: tuple[Heading, ...]
    warnings: tuple[str, ...]


class Dot(NamedTuple):
    """A document of the picture. `place` is its path inside the folder that was scanned, with `/` between folders."""

    id: int
    shelf_id: int
    title: str
    place: str


class Line(NamedTuple):
    """A link of the picture, from source to target."""

    source: int
    target: int
    relation: str
    confidence: float | None
    origin: str


class Picture(NamedTuple):
    """All shelves (by name), the parents of each, all documents (by id) and all links between them that nobody rejected
    (by source, target, id). Everything is in it, however much it is."""

    shelves: tuple[Shelf, ...]
    parents: dict[int, tuple[ShelfRef, ...]]
    documents: tuple[Dot, ...]
    links: tuple[Line, ...]
    warnings: tuple[str, ...]


class Followed(NamedTuple):
    """The document that a reference in another one leads to."""

    document_id: int
    title: str
    warnings: tuple[str, ...]


class ProjectSummary(NamedTuple):
    """A project that memory knows. `entries` counts all of them, `last_change` is the newest change of one."""

    project: Project
    entries: int
    active: int
    last_change: str | None


class ProjectList(NamedTuple):
    """The projects of the store, the one that changed last first."""

    projects: tuple[ProjectSummary, ...]
    warnings: tuple[str, ...]


class Timeline(NamedTuple):
    """Entries of a project, the newest change first."""

    project_id: str
    status: str
    scope: str | None
    topic: str | None
    entries: tuple[Entry, ...]
    total: int
    next_offset: int | None
    warnings: tuple[str, ...]
