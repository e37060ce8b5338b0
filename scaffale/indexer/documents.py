"""Documents as a scan reads and writes them. With `shelves.py` the only SQL on the tables of the docs store.

Rules of this file: as there. A path is one document of a shelf and keeps its id, whatever becomes of its text; what
people gave a document (its tags, later its links) outlives every scan.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.indexer import clock, journal
from scaffale.indexer.shelves import tag_name, text_digest, updated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from scaffale.indexer.records import Fingerprint, Source
    from scaffale.model import Section

MAX_TAG_CHARS = 80
FROM_MATTER = "front_matter"  # who gave a document its tag; a scan replaces its own alone


class Stored(NamedTuple):
    """What a scan needs to know of a document that is there already."""

    file_path: str
    id: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    checked_ns: int
    source_id: int | None
    sha256: str | None = None  # read only where it decides something


class Draft(NamedTuple):
    """A document as a scan read it. `tags` as written in its front matter."""

    file_path: str
    rel_path: str
    fingerprint: Fingerprint
    title: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    sections: tuple[Section, ...]
    line_count: int
    warnings: tuple[str, ...] = ()


def fingerprints(connection: apsw.Connection, shelf_id: int, root: str) -> dict[str, Stored]:
    """The documents of the shelf at or below `root`, by file path, without digests."""
    folder = root.rstrip(os.sep) + os.sep
    select = (
        "SELECT file_path, id, size, mtime_ns, ctime_ns, inode, checked_ns, source_id FROM documents"
        " WHERE shelf_id = ? AND file_path"
    )
    rows = connection.execute(
        f"{select} = ? UNION ALL {select} > ? AND file_path < ?",
        (shelf_id, root, shelf_id, folder, folder[:-1] + chr(ord(os.sep) + 1)),
    )
    return {row[0]: Stored(*row) for row in rows}


def digests(connection: apsw.Connection, document_ids: Iterable[int]) -> dict[int, str]:
    """The SHA-256 of each document's bytes when they were read."""
    rows = _rows(
        connection,
        "SELECT id, content_sha256 FROM documents WHERE id IN (SELECT value FROM json_each(?))",
        json.dumps(list(document_ids)),
    )
    return dict(rows)


def paths(connection: apsw.Connection, document_ids: Iterable[int]) -> dict[int, str]:
    """Where each of these documents that is still there has its file."""
    wanted = json.dumps(list(document_ids))
    return dict(
        _rows(connection, "SELECT id, file_path FROM documents WHERE id IN (SELECT value FROM json_each(?))", wanted)
    )


def of_size(connection: apsw.Connection, shelf_id: int, sizes: Iterable[int]) -> list[Stored]:
    """The documents of the shelf whose file had one of these sizes, with digests."""
    rows = _rows(
        connection,
        "SELECT file_path, id, size, mtime_ns, ctime_ns, inode, checked_ns, source_id, content_sha256 FROM documents"
        " WHERE shelf_id = ? AND size IN (SELECT value FROM json_each(?)) ORDER BY id",
        shelf_id,
        json.dumps(sorted(set(sizes))),
    )
    return [Stored(*row) for row in rows]


def put_documents(
    connection: apsw.Connection, source: Source, drafts: Sequence[Draft], scan: int | None = None
) -> list[int]:
    """Store each document whole, new or in place of its former state; returns their ids. A path is one document of a
    shelf and keeps its id. Tags that people gave stay."""
    now = clock.now()
    owners: list[int] = []
    for draft in drafts:
        owner = connection.execute(
            _PUT,
            (
                source.shelf_id,
                source.id or None,  # of an import there is none
                draft.title,
                draft.file_path,
                draft.rel_path,
                *draft.fingerprint,
                draft.line_count,
                _json(draft.warnings) if draft.warnings else "[]",
                now,
                now,
                now,
                _json({"aliases": draft.aliases}) if draft.aliases else "{}",
                text_digest(draft.sections),
            ),
        ).get
        connection.execute("DELETE FROM sections WHERE document_id = ?", (owner,))
        connection.executemany(
            "INSERT INTO sections (document_id, level, heading_path, start_line, end_line, body)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [(owner, each.level, "\n".join(each.heading_path), *each[2:]) for each in draft.sections],
        )
        _set_tags(connection, owner, draft.tags, FROM_MATTER)
        owners.append(owner)
    journal.append_all(connection, owners, scan)
    return owners


_PUT = """
INSERT INTO documents (shelf_id, source_id, title, file_path, rel_path, size, mtime_ns, ctime_ns, inode, checked_ns,
  content_sha256, line_count, warnings_json, indexed_at, created_at, updated_at, metadata_json, text_sha256)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (shelf_id, file_path) DO UPDATE SET
  source_id = coalesce(source_id, excluded.source_id), title = excluded.title, size = excluded.size,
  mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode, checked_ns = excluded.checked_ns,
  content_sha256 = excluded.content_sha256, line_count = excluded.line_count, warnings_json = excluded.warnings_json,
  indexed_at = excluded.indexed_at, updated_at = excluded.updated_at, text_sha256 = excluded.text_sha256,
  metadata_json = json_patch(json_remove(metadata_json, '$.aliases'), excluded.metadata_json)
RETURNING id
"""


def move_document(
    connection: apsw.Connection, known: Stored, source: Source, draft: Draft, scan: int | None = None
) -> bool:
    """The same bytes lie at another path now: the document keeps its id, tags and links, and its sections too. False,
    and nothing done, when the document or its new place is no longer as `known`."""
    connection.execute(
        "UPDATE OR IGNORE documents SET source_id = ?, file_path = ?, rel_path = ?, title = ?, size = ?, mtime_ns = ?,"
        " ctime_ns = ?, inode = ?, checked_ns = ?, updated_at = ? WHERE id = ? AND file_path = ?",
        (
            source.id,
            draft.file_path,
            draft.rel_path,
            draft.title,
            *draft.fingerprint[:5],
            clock.now(),
            known.id,
            known.file_path,
        ),
    )
    if not connection.changes():
        return False
    journal.append(connection, known.id, scan)
    return True


def touch_document(
    connection: apsw.Connection, known: Stored, fingerprint: Fingerprint, scan: int | None = None
) -> bool:
    """The bytes are the same, what the file system says of them is not. Returns whether an index must hear of it: the
    time of a document breaks ties."""
    connection.execute(
        "UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, checked_ns = ? WHERE id = ?",
        (*fingerprint[:5], known.id),
    )
    if updated(known.mtime_ns) == updated(fingerprint.mtime_ns):
        return False
    journal.append(connection, known.id, scan)
    return True


def _set_tags(connection: apsw.Connection, document_id: int, names: Iterable[str], origin: str) -> None:
    connection.execute("DELETE FROM document_tags WHERE document_id = ? AND origin = ?", (document_id, origin))
    now = clock.now() if names else ""
    for name in dict.fromkeys(filter(None, map(tag_name, names))):
        connection.execute(
            "INSERT INTO tags (name, created_at, updated_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (name, now, now)
        )
        connection.execute(
            "INSERT INTO document_tags SELECT ?, id, ? FROM tags WHERE name = ?", (document_id, origin, name)
        )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _rows(connection: apsw.Connection, statement: str, *values: int | str) -> list[Any]:
    return connection.execute(statement, values).fetchall()
