"""Links from entries to entries of the same project, to sections of documents, and to anything that has a URI.

A link to a document keeps the hash of the section that it cites, so that a later look can tell whether the evidence
still says what it said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw


class Link(NamedTuple):
    """A link as stored. Either `target_entry_id` or `target_uri` is set; `section` is a heading path."""

    id: str
    project_id: str
    source_entry_id: str
    target_entry_id: str | None
    target_uri: str | None
    target_type: str
    relation: str
    label: str | None
    confidence: float | None
    origin: str
    rationale: str | None
    section: tuple[str, ...] | None
    section_sha256: str | None
    created_at: str
    updated_at: str


_COLUMNS = ", ".join(Link._fields)
_BETWEEN = "\x1f"  # headings of a section; none holds it


def create(connection: apsw.Connection) -> None:
    """The table, as a step of the store's migrations."""
    for statement in (
        "CREATE TABLE memory_links (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " project_id TEXT NOT NULL REFERENCES projects (id),"
        " source_entry_id TEXT NOT NULL REFERENCES memory_entries (id) ON DELETE CASCADE,"
        " target_entry_id TEXT REFERENCES memory_entries (id) ON DELETE CASCADE, target_uri TEXT,"
        " target_type TEXT NOT NULL, relation TEXT NOT NULL, label TEXT, confidence REAL, origin TEXT NOT NULL,"
        " rationale TEXT, section TEXT, section_sha256 TEXT, metadata_json TEXT, created_at TEXT NOT NULL,"
        " updated_at TEXT NOT NULL, CHECK ((target_entry_id IS NULL) <> (target_uri IS NULL))) STRICT",
        "CREATE INDEX memory_links_source ON memory_links (source_entry_id)",
        "CREATE INDEX memory_links_target ON memory_links (target_entry_id)",
    ):
        connection.execute(statement)


def put(connection: apsw.Connection, link: Link) -> None:
    """A new link, or new words for the one of this id."""
    values = link._replace(section=_BETWEEN.join(link.section) if link.section is not None else None)  # type: ignore[arg-type]
    connection.execute(
        f"INSERT INTO memory_links ({_COLUMNS}) VALUES ({', '.join('?' * len(Link._fields))}) ON CONFLICT (id) DO UPDATE SET"
        " label = excluded.label, confidence = excluded.confidence, rationale = excluded.rationale,"
        " section_sha256 = excluded.section_sha256, updated_at = excluded.updated_at",
        values,
    )


def same(connection: apsw.Connection, link: Link) -> Link | None:
    """The link that says what this one says: same ends, section and relation."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM memory_links WHERE source_entry_id = ? AND target_entry_id IS ? AND target_uri IS ?"
        " AND relation = ? AND section IS ?",
        (
            link.source_entry_id, link.target_entry_id, link.target_uri, link.relation,
            _BETWEEN.join(link.section) if link.section is not None else None,
        ),
    ).fetchone()  # fmt: skip
    return _link(row) if row else None


def find(connection: apsw.Connection, id: str) -> Link | None:
    """The link of this id, of any project."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM memory_links WHERE id = ?", (id,)).fetchone()
    return _link(row) if row else None


def remove(connection: apsw.Connection, id: str) -> None:
    """Take the link. What it did to the status of an entry stays."""
    connection.execute("DELETE FROM memory_links WHERE id = ?", (id,))


def of(connection: apsw.Connection, entry_id: str, direction: str, limit: int = -1, offset: int = 0) -> list[Link]:
    """The links of an entry, `outgoing`, `incoming` or `both`, in the order in which they were made."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM memory_links WHERE {_ENDS[direction]} ORDER BY seq LIMIT ?2 OFFSET ?3",
        (entry_id, limit, offset),
    )
    return [_link(row) for row in found]


def count(connection: apsw.Connection, entry_id: str, direction: str) -> int:
    """How many links an entry has."""
    return int(connection.execute(f"SELECT count(*) FROM memory_links WHERE {_ENDS[direction]}", (entry_id,)).get)


_ENDS = {
    "outgoing": "source_entry_id = ?1",
    "incoming": "target_entry_id = ?1",
    "both": "?1 IN (source_entry_id, target_entry_id)",
}


def to_documents(connection: apsw.Connection, entry_ids: Sequence[str]) -> list[Link]:
    """The links to documents of these entries, in the order of their making."""
    if not entry_ids:
        return []
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM memory_links WHERE source_entry_id IN ({', '.join('?' * len(entry_ids))})"
        " AND target_type = 'docs_document' ORDER BY seq",
        tuple(entry_ids),
    )
    return [_link(row) for row in found]


def would_circle(connection: apsw.Connection, source: str, target: str) -> bool:
    """Whether `target` supersedes `source` already, be it through others."""
    return bool(
        connection.execute(
            "WITH RECURSIVE below (id) AS (SELECT ?2 UNION SELECT l.target_entry_id FROM memory_links AS l JOIN below"
            " ON l.source_entry_id = below.id WHERE l.relation = 'supersedes' AND l.target_entry_id IS NOT NULL)"
            " SELECT EXISTS (SELECT 1 FROM below WHERE id = ?1)",
            (source, target),
        ).get
    )


def of_project(connection: apsw.Connection, project_id: str) -> list[Link]:
    """All links of a project, in the order of their making."""
    found = connection.execute(f"SELECT {_COLUMNS} FROM memory_links WHERE project_id = ? ORDER BY seq", (project_id,))
    return [_link(row) for row in found]


def _link(row: Any) -> Link:  # noqa: ANN401
    link = Link._make(row)
    return link._replace(section=tuple(row[11].split(_BETWEEN))) if row[11] is not None else link
