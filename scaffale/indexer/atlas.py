"""The map of documents: parents of shelves, directed links between documents, and what people said of links.

A link goes from its source to its target; nothing is implied the other way. A verdict of a person (`pinned`, `rejected`)
is about two documents, not about a row, so it outlives every recalculation. Rules as in `shelves`: every function takes a
connection and runs in the caller's transaction. Links are no part of what an index holds: they write no journal line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.answers.atlas import DocumentLink, DocumentRef, ShelfRef
from scaffale.errors import Conflict, InvalidParam, NotFound
from scaffale.indexer import clock
from scaffale.indexer.database import array
from scaffale.indexer.shelves import document, document_uri, shelf_uri
from scaffale.model import DOCUMENT_RELATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

ORIGINS = ("manual", "mcp", "heuristic", "import")
VERDICTS = ("pinned", "rejected")


class Draft(NamedTuple):
    """A link to be kept. `former_origin` is the one that an imported link had where it came from."""

    source_document_id: int
    target_document_id: int
    relation: str
    origin: str
    confidence: float | None = None
    label: str | None = None
    rationale: str | None = None
    score: float | None = None
    heuristic_version: str | None = None
    former_origin: str | None = None


def create(connection: apsw.Connection) -> None:
    """The tables, as a step of the store's migrations."""
    relations, origins = (", ".join(f"'{each}'" for each in names) for names in (DOCUMENT_RELATIONS, ORIGINS))
    for statement in (
        "CREATE TABLE shelf_links (parent_shelf_id INTEGER NOT NULL REFERENCES shelves ON DELETE CASCADE,"
        " child_shelf_id INTEGER NOT NULL REFERENCES shelves ON DELETE CASCADE, relation TEXT NOT NULL DEFAULT 'parent',"
        " created_at TEXT NOT NULL, updated_at TEXT NOT NULL, PRIMARY KEY (child_shelf_id, parent_shelf_id, relation),"
        " CHECK (parent_shelf_id <> child_shelf_id)) STRICT, WITHOUT ROWID",
        "CREATE INDEX shelf_links_by_parent ON shelf_links (parent_shelf_id)",
        "CREATE TABLE document_links (id INTEGER PRIMARY KEY AUTOINCREMENT,"
        " source_document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,"
        " target_document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,"
        f" relation TEXT NOT NULL CHECK (relation IN ({relations})), score REAL, confidence REAL,"
        f" origin TEXT NOT NULL CHECK (origin IN ({origins})), heuristic_version TEXT, label TEXT, rationale TEXT,"
        " metadata_json TEXT NOT NULL DEFAULT '{}', created_at TEXT NOT NULL, updated_at TEXT NOT NULL,"
        " UNIQUE (source_document_id, target_document_id, relation, origin),"
        " CHECK (source_document_id <> target_document_id)) STRICT",
        "CREATE INDEX document_links_by_target ON document_links (target_document_id)",
        "CREATE TABLE link_verdicts (source_document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,"
        " target_document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,"
        " verdict TEXT NOT NULL CHECK (verdict IN ('pinned', 'rejected')), created_at TEXT NOT NULL,"
        " PRIMARY KEY (source_document_id, target_document_id)) STRICT, WITHOUT ROWID",
    ):
        connection.execute(statement)


# --- shelves above shelves -------------------------------------------------------------------------------------------

_ABOVE = """
WITH RECURSIVE above (id, depth) AS (
  SELECT parent_shelf_id, 1 FROM shelf_links WHERE child_shelf_id = ?1
  UNION
  SELECT parent_shelf_id, depth + 1 FROM shelf_links JOIN above ON child_shelf_id = id WHERE depth < ?2
)
SELECT shelves.id, name, slug, min(depth) FROM above JOIN shelves ON shelves.id = above.id GROUP BY shelves.id
"""
DEEPEST = 100  # no chain of shelves is longer: a circle is refused


def parents(connection: apsw.Connection, shelf_id: int, depth: int = 1) -> list[ShelfRef]:
    """The shelves above, nearest first, then by name. `depth` 1 gives the parents alone."""
    rows = connection.execute(f"{_ABOVE} ORDER BY 4, name_key", (shelf_id, min(depth, DEEPEST)))
    return [ShelfRef(id, name, shelf_uri(id, slug), depth=depth) for id, name, slug, depth in rows]


def children(connection: apsw.Connection, shelf_id: int) -> list[ShelfRef]:
    """The shelves that have this one as a parent, by name."""
    rows = connection.execute(
        "SELECT shelves.id, name, slug FROM shelf_links JOIN shelves ON shelves.id = child_shelf_id"
        " WHERE parent_shelf_id = ? ORDER BY name_key",
        (shelf_id,),
    )
    return [ShelfRef(id, name, shelf_uri(id, slug), relation="child") for id, name, slug in rows]


def set_parents(connection: apsw.Connection, shelf_id: int, parent_ids: Sequence[int]) -> None:
    """These parents and no others."""
    connection.execute("DELETE FROM shelf_links WHERE child_shelf_id = ?", (shelf_id,))
    for parent_id in dict.fromkeys(parent_ids):
        add_parent(connection, shelf_id, parent_id)


def add_parent(connection: apsw.Connection, shelf_id: int, parent_id: int) -> None:
    """One more parent; nothing happens when it is one. `Conflict` when the shelf stands above that parent already."""
    if shelf_id == parent_id:
        raise InvalidParam("a shelf cannot be its own parent")
    if any(each.id == shelf_id for each in parents(connection, parent_id, DEEPEST)):
        raise Conflict(f"shelf {shelf_id} stands above shelf {parent_id} already: they would be above each other")
    now = clock.now()
    connection.execute(
        "INSERT INTO shelf_links (parent_shelf_id, child_shelf_id, created_at, updated_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        (parent_id, shelf_id, now, now),
    )


def remove_parent(connection: apsw.Connection, shelf_id: int, parent_id: int) -> bool:
    """Whether it was one."""
    connection.execute(
        "DELETE FROM shelf_links WHERE child_shelf_id = ? AND parent_shelf_id = ?", (shelf_id, parent_id)
    )
    return connection.changes() > 0


# --- links between documents -----------------------------------------------------------------------------------------

_LINK = """
SELECT l.id, relation, label, confidence, score, origin, rationale, heuristic_version, l.created_at, l.updated_at,
  s.id, s.title, s.file_path, ss.id, ss.name, ss.slug, t.id, t.title, t.file_path, ts.id, ts.name, ts.slug, verdict
FROM document_links AS l
  JOIN documents AS s ON s.id = l.source_document_id JOIN shelves AS ss ON ss.id = s.shelf_id
  JOIN documents AS t ON t.id = l.target_document_id JOIN shelves AS ts ON ts.id = t.shelf_id
  LEFT JOIN link_verdicts AS v
    ON v.source_document_id = l.source_document_id AND v.target_document_id = l.target_document_id
"""
_ENDS = {
    "outgoing": "l.source_document_id = ?1",
    "incoming": "l.target_document_id = ?1",
    "both": "?1 IN (l.source_document_id, l.target_document_id)",
}
_SHOWN = "verdict IS NOT 'rejected'"
_BEST_FIRST = "ORDER BY verdict IS NOT 'pinned', confidence DESC NULLS LAST, l.id"


def add_link(connection: apsw.Connection, draft: Draft) -> int:
    """Keep a link, or give the one of the same ends, relation and origin new words. Returns its id."""
    if draft.source_document_id == draft.target_document_id:
        raise InvalidParam("a document cannot be linked to itself")
    for document_id in draft[:2]:
        document(connection, document_id)
    now = clock.now()
    link_id: int = connection.execute(
        "INSERT INTO document_links (source_document_id, target_document_id, relation, origin, confidence, label,"
        " rationale, score, heuristic_version, metadata_json, created_at, updated_at)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
        " CASE WHEN ?10 IS NULL THEN '{}' ELSE json_object('former_origin', ?10) END, ?11, ?11)"
        " ON CONFLICT (source_document_id, target_document_id, relation, origin) DO UPDATE SET"
        " confidence = excluded.confidence, label = excluded.label, rationale = excluded.rationale,"
        " score = excluded.score, heuristic_version = excluded.heuristic_version,"
        " metadata_json = excluded.metadata_json, updated_at = excluded.updated_at RETURNING id",
        (*draft, now),
    ).get
    return link_id


def link(connection: apsw.Connection, link_id: int) -> DocumentLink:
    """The link of this id, or `NotFound`."""
    row = connection.execute(f"{_LINK} WHERE l.id = ?", (link_id,)).fetchone() if 0 < link_id < 2**63 else None
    if row is None:
        raise NotFound(f"no link {link_id}")
    return _link(row)


def links(
    connection: apsw.Connection, document_id: int, direction: str = "outgoing", limit: int = -1, offset: int = 0
) -> tuple[list[DocumentLink], int]:
    """The links of a document, pinned ones first, then by confidence; and how many there are. Rejected ones are left out."""
    where = f"WHERE {_ENDS[direction]} AND {_SHOWN}"
    total = connection.execute(f"SELECT count(*) FROM ({_LINK} {where})", (document_id,)).get
    rows = connection.execute(f"{_LINK} {where} {_BEST_FIRST} LIMIT ?2 OFFSET ?3", (document_id, limit, offset))
    return [_link(row) for row in rows], total


def outgoing(connection: apsw.Connection, document_ids: Iterable[int]) -> dict[int, list[DocumentLink]]:
    """All outgoing links of several documents, best first. One that has none has no item."""
    found: dict[int, list[DocumentLink]] = {}
    rows = connection.execute(
        f"{_LINK} WHERE l.source_document_id IN (SELECT value FROM json_each(?1)) AND {_SHOWN} {_BEST_FIRST}",
        (array(document_ids),),
    )
    for each in map(_link, rows):
        found.setdefault(each.source.id, []).append(each)
    return found


def incoming_counts(connection: apsw.Connection, document_ids: Iterable[int]) -> dict[int, int]:
    """How many links lead to each document that some lead to."""
    return dict(
        connection.execute(
            "SELECT l.target_document_id, count(*) FROM document_links AS l LEFT JOIN link_verdicts AS v"
            " ON v.source_document_id = l.source_document_id AND v.target_document_id = l.target_document_id"
            f" WHERE l.target_document_id IN (SELECT value FROM json_each(?)) AND {_SHOWN} GROUP BY 1",
            (array(document_ids),),
        )
    )


def remove_link(connection: apsw.Connection, link_id: int) -> DocumentLink:
    """Take a link, and return what it was."""
    gone = link(connection, link_id)
    connection.execute("DELETE FROM document_links WHERE id = ?", (link_id,))
    return gone


def remove_links(connection: apsw.Connection, document_id: int, origin: str) -> int:
    """Take all outgoing links of one origin. Returns how many there were."""
    connection.execute("DELETE FROM document_links WHERE source_document_id = ? AND origin = ?", (document_id, origin))
    return connection.changes()


def judge(connection: apsw.Connection, source_id: int, target_id: int, verdict: str | None) -> None:
    """What a person says of a link between these two; `None` takes the word back."""
    if verdict is None:
        connection.execute(
            "DELETE FROM link_verdicts WHERE source_document_id = ? AND target_document_id = ?", (source_id, target_id)
        )
    else:
        connection.execute(
            "INSERT INTO link_verdicts VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET verdict = excluded.verdict",
            (source_id, target_id, verdict, clock.now()),
        )


def _link(row: Any) -> DocumentLink:  # noqa: ANN401
    *own, s_id, s_title, s_path, ss_id, ss_name, ss_slug, t_id, t_title, t_path, ts_id, ts_name, ts_slug, verdict = row
    source = DocumentRef(s_id, s_title, s_path, ss_id, ss_name, document_uri(s_id), shelf_uri(ss_id, ss_slug))
    target = DocumentRef(t_id, t_title, t_path, ts_id, ts_name, document_uri(t_id), shelf_uri(ts_id, ts_slug))
    return DocumentLink._make((*own, source, target, verdict))
