"""What the verbs answer that write a shelf to a file, and read one from it. Annotations are not postponed (see `docs`)."""

from typing import NamedTuple

from scaffale.answers.atlas import CorrelationReport
from scaffale.model import Skip


class ShelfExported(NamedTuple):
    """What the file holds."""

    shelf: str
    save_path: str
    bytes: int
    documents: int
    tags: int
    document_links: int
    shelf_links: int
    warnings: tuple[str, ...]


class Unresolved(NamedTuple):
    """A link that was left out: the document or shelf it belongs to, and why."""

    relative_path: str
    warning: str


class ShelfImported(NamedTuple):
    """`seen` documents of the file = `new` + `changed` + `same` + `skipped` + `failed`; `removed` lie outside.

    `skipped` are kept as they were, `failed` hold no text that can be taken in; each is named with its reason, and so is
    each link that was left out. `backup` is the export that was taken before anything was replaced.
    """

    shelf: str
    import_path: str
    on_conflict: str
    format_version: int
    seen: int
    new: int
    changed: int
    same: int
    skipped: int
    failed: int
    removed: int
    document_links: int
    shelf_links: int
    link_verdicts: int
    skips: tuple[Skip, ...]
    failures: tuple[Skip, ...]
    unresolved: tuple[Unresolved, ...]
    backup: str | None
    warnings: tuple[str, ...]
    correlation: CorrelationReport | None = None
