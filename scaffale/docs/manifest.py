"""A shelf as a file: JSON, with the text of its documents. Pure: bytes in, values out; it knows no store.

Version 2 holds links between documents (by relative path) and between shelves (by name); version 1 is the same without
them, and is read. Reading trusts nothing: a file that is damaged, too large, or leads out of its folder is refused whole.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam
from scaffale.indexer.atlas import ORIGINS, VERDICTS
from scaffale.indexer.documents import MAX_TAG_CHARS
from scaffale.indexer.portable import Table, value
from scaffale.indexer.shelves import MAX_DESCRIPTION_CHARS
from scaffale.model import DOCUMENT_RELATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT, VERSION = "scaffale.shelf-export", 2
MOST_TAGS = 1_000
MAX_WORDS = 2_000  # characters of a label or a rationale
MAX_PATH_CHARS = 4_096


class Incoming(NamedTuple):
    """A document of a manifest. `path` is relative, with `/` between its parts; `size` and `sha256` are those of the
    source's bytes, which need not be UTF-8; `modified_at` is its time."""

    path: str
    content: str
    tags: tuple[str, ...]
    size: int
    sha256: str
    modified_at: str | None


class IncomingLink(NamedTuple):
    """A link of a manifest. `shelf` names the target's when it is another than the source's."""

    source: str
    target: str
    shelf: str | None
    relation: str
    origin: str
    confidence: float | None
    label: str | None
    rationale: str | None


class IncomingVerdict(NamedTuple):
    """What somebody said of a link between two documents."""

    source: str
    target: str
    shelf: str | None
    verdict: str


class Manifest(NamedTuple):
    """What a file holds, checked. `tags` gives the description of each, `shelf_links` are (parent, child) by name."""

    version: int
    name: str
    description: str | None
    documents: list[Incoming]
    tags: dict[str, str | None]
    shelf_links: list[tuple[str, str]]
    links: list[IncomingLink]
    verdicts: list[IncomingVerdict]


def read(data: bytes, max_bytes: int) -> Manifest:
    """What the file holds; no document of it is longer than `max_bytes`. Raises for anything that is wrong with it."""
    whole = value(data, "the file")
    if not isinstance(whole, dict) or whole.get("format", FORMAT) != FORMAT or "format_version" not in whole:
        raise InvalidParam(f"import_path: the file is no export of a shelf (format {FORMAT})")
    version = whole["format_version"]
    if type(version) is not int or not 1 <= version <= VERSION:
        raise InvalidParam(f"import_path: format_version is none that this program reads, 1 to {VERSION}")
    shelf = Table("shelf", [whole.get("shelf")])
    (name,) = shelf.texts("name", 1000, needed=True)
    (description,) = shelf.texts("description", MAX_DESCRIPTION_CHARS)
    tags = Table("tags", whole.get("tags", []))
    described = zip(tags.names("name", MAX_TAG_CHARS), tags.texts("description", MAX_DESCRIPTION_CHARS), strict=True)
    documents = _documents(Table("documents", whole.get("documents")), max_bytes)
    if version < 2:
        return Manifest(version, name, description, documents, dict(described), [], [], [])
    above = Table("shelf_links", whole.get("shelf_links", []))
    ends = (above.texts(end, 1000, needed=True) for end in ("parent_shelf_name", "child_shelf_name"))
    return Manifest(
        version, name, description, documents, dict(described), list(zip(*ends, strict=True)),
        _links(Table("document_links", whole.get("document_links", []))),
        _verdicts(Table("link_verdicts", whole.get("link_verdicts", []))),
    )  # fmt: skip


def _documents(table: Table, max_bytes: int) -> list[Incoming]:
    paths = _paths(table, "relative_path")
    table.refuse_twice("relative_path", paths)
    contents = table.texts("content", max_bytes)
    table.refuse("content", [content is None for content in contents], "is missing")
    data = [content.encode() for content in contents]
    table.refuse_longer("content", data, max_bytes, "bytes")
    digests = [hashlib.sha256(each).hexdigest() for each in data]
    said = table.column("content_sha256")
    wrong = [each not in (None, digest) for each, digest in zip(said, digests, strict=True)]
    table.refuse("content_sha256", wrong, "is not that of the content")
    sources = table.texts("source_sha256", 64)
    sizes = table.numbers("source_bytes", 0, 2**53, whole=True)
    return [
        Incoming(path, content, tags, len(encoded) if size is None else int(size), source or digest, time)
        for path, content, encoded, digest, tags, size, source, time in zip(
            paths, contents, data, digests, table.name_lists("tags", MOST_TAGS, MAX_TAG_CHARS), sizes, sources,
            table.times("modified_at", needed=False), strict=True,
        )
    ]


def _links(table: Table) -> list[IncomingLink]:
    columns: list[Sequence[Any]] = [
        *_ends(table),
        table.words("relation", DOCUMENT_RELATIONS, "related_to"),
        table.words("origin", ORIGINS, "import"),
        table.numbers("confidence", 0.0, 1.0),
        table.texts("label", MAX_WORDS),
        table.texts("rationale", MAX_WORDS),
    ]
    return [IncomingLink._make(row) for row in zip(*columns, strict=True)]


def _verdicts(table: Table) -> list[IncomingVerdict]:
    columns: list[Sequence[Any]] = [*_ends(table), table.words("verdict", VERDICTS)]
    return [IncomingVerdict._make(row) for row in zip(*columns, strict=True)]


def _ends(table: Table) -> tuple[list[str], list[str], list[str | None]]:
    return (
        table.texts("source_relative_path", MAX_PATH_CHARS, needed=True),
        table.texts("target_relative_path", MAX_PATH_CHARS, needed=True),
        table.texts("target_shelf_name", 1000),
    )


def _paths(table: Table, field: str) -> list[str]:
    """Paths that stay where they belong."""
    paths = table.texts(field, MAX_PATH_CHARS, needed=True)
    wrong = [bool({"", ".", ".."}.intersection(path.replace("\\", "/").split("/"))) for path in paths]
    table.refuse(field, wrong, "is no plain relative path")
    return paths
