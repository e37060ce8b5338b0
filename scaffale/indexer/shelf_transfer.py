"""A shelf as it leaves for a manifest, and what an import needs to know of the shelves that are there.

Rules as in `shelves`: every function takes a connection and runs in the caller's transaction.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from scaffale.indexer import shelves
from scaffale.indexer.database import array

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw


class Leaving(NamedTuple):
    """A document with its text. `tags` are all that it bears, from its front matter too."""

    name: str
    title: str
    tags: tuple[str, ...]
    size: int
    mtime_ns: int
    sha256: str
    text: str


class LeavingLink(NamedTuple):
    """A link out of the shelf, between ids. `origin` is the one that it had first."""

    source_document_id: int
    target_document_id: int
    relation: str
    origin: str
    confidence: float | None
    label: str | None
    rationale: str | None


def names(connection: apsw.Connection, shelf_id: int) -> dict[int, str]:
    """What the manifest calls each document of the shelf: its path below the folder that was scanned, with `/` between its
    parts, and more of the path before it where two documents would bear one name."""
    parts: dict[int, list[str]] = {}
    depth: dict[int, int] = {}
    found: dict[int, str] = {}
    for id, path, below in connection.execute("SELECT id, file_path, rel_path FROM documents WHERE shelf_id = ?", (shelf_id,)):
        parts[id] = path.split(os.sep)
        depth[id] = below.count(os.sep) + 1
        found[id] = below.replace(os.sep, "/")
    while True:
        taken = Counter(found.values())
        crowded = [id for id, name in found.items() if taken[name] > 1 and depth[id] < len(parts[id])]
        if not crowded:
            return found
        for id in crowded:
            depth[id] += 1
            found[id] = "/".join(parts[id][-depth[id] :])


def leaving(connection: apsw.Connection, shelf_id: int) -> Iterator[Leaving]:
    """The documents of the shelf by name, one at a time."""
    for id, name in sorted(names(connection, shelf_id).items(), key=lambda item: item[1]):
        document = shelves.document(connection, id)
        print_ = shelves.fingerprint(connection, id)
        text = "".join(section.body for section in shelves.sections(connection, id))
        yield Leaving(name, document.title, document.tags, print_.size, print_.mtime_ns, print_.sha256, text)


def links(connection: apsw.Connection, shelf_id: int) -> list[LeavingLink]:
    """All links out of the documents of the shelf, rejected ones too."""
    rows = connection.execute(
        "SELECT source_document_id, target_document_id, relation, coalesce(l.metadata_json ->> 'former_origin', origin),"
        " confidence, label, rationale FROM document_links AS l JOIN documents AS d ON d.id = source_document_id"
        " WHERE d.shelf_id = ? ORDER BY l.id",
        (shelf_id,),
    )
    return [LeavingLink(*row) for row in rows]


def verdicts(connection: apsw.Connection, shelf_id: int) -> list[tuple[int, int, str]]:
    """`(source, target, verdict)` of what people said of links out of the shelf."""
    rows = connection.execute(
        "SELECT source_document_id, target_document_id, verdict FROM link_verdicts"
        " JOIN documents AS d ON d.id = source_document_id WHERE d.shelf_id = ? ORDER BY 1, 2",
        (shelf_id,),
    )
    return [(source, target, verdict) for source, target, verdict in rows]


def shelf_of(connection: apsw.Connection, document_ids: set[int]) -> dict[int, int]:
    """On which shelf each document lies."""
    rows = connection.execute(
        "SELECT id, shelf_id FROM documents WHERE id IN (SELECT value FROM json_each(?))", (array(document_ids),)
    )
    return dict(rows)


def elsewhere(connection: apsw.Connection, shelf_id: int, tail: str) -> list[int]:
    """Documents of other shelves whose path ends with this one."""
    tail = tail.replace("/", os.sep)
    ending = os.sep + tail
    rows = connection.execute(
        "SELECT id FROM documents WHERE shelf_id <> ?1 AND (rel_path = ?2 OR substr(file_path, -length(?3)) = ?3) LIMIT 2",
        (shelf_id, tail, ending),
    )
    return [row[0] for row in rows]


def file_paths(connection: apsw.Connection, shelf_id: int) -> dict[int, tuple[str, str]]:
    """`(file path, SHA-256 of the source's bytes)` of each document of the shelf."""
    rows = connection.execute("SELECT id, file_path, content_sha256 FROM documents WHERE shelf_id = ?", (shelf_id,))
    return {id: (path, digest) for id, path, digest in rows}


def clear_links(connection: apsw.Connection, shelf_id: int) -> None:
    """Take all links out of the shelf's documents, and what people said of them."""
    for table in ("document_links", "link_verdicts"):
        connection.execute(
            f"DELETE FROM {table} WHERE source_document_id IN (SELECT id FROM documents WHERE shelf_id = ?)", (shelf_id,)
        )
