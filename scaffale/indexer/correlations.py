"""What a correlation reads from the docs store, and how it writes heuristic links: the old ones of a document or the new
ones, never a mixture. Rules as in `atlas`; links of people and of imports are read here, never changed.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.indexer import atlas
from scaffale.indexer.database import array
from scaffale.indexer.shelves import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from scaffale.indexer.atlas import Draft

_BATCH = 200  # documents whose texts are read at once


class Row(NamedTuple):
    """A document as a correlation sees it, without its text."""

    id: int
    shelf_id: int
    title: str
    file_path: str
    rel_path: str
    sha256: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]


class Known(NamedTuple):
    """The outgoing links of a document: targets of links that people made or brought, targets of heuristic ones, and what
    people said of pairs."""

    made: frozenset[int]
    heuristic: frozenset[int]
    verdicts: dict[int, str]


class Mark(NamedTuple):
    """A document as it was correlated: a digest of its own, and one of all documents of the scope."""

    own: str
    whole: str


def create(connection: apsw.Connection) -> None:
    """The table that says which documents were correlated, as a step of the store's migrations."""
    connection.execute(
        "CREATE TABLE document_correlations (document_id INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,"
        " mark TEXT NOT NULL) STRICT"
    )


def rows(connection: apsw.Connection, shelf_ids: Iterable[int]) -> list[Row]:
    """The documents of these shelves, by id."""
    found: list[Any] = list(
        connection.execute(
            "SELECT id, shelf_id, title, file_path, rel_path, content_sha256, metadata_json FROM documents"
            " WHERE shelf_id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (array(shelf_ids),),
        )
    )
    tags = tags_of(connection, [row[0] for row in found])
    return [Row._make((*known, tuple(json.loads(more).get("aliases", ())), tags[known[0]])) for *known, more in found]


def texts(connection: apsw.Connection, ids: Sequence[int]) -> Iterator[tuple[int, str, list[str]]]:
    """Of each document its id, its text, and its headings below the title."""
    for at in range(0, len(ids), _BATCH):
        bodies: dict[int, list[str]] = {id: [] for id in ids[at : at + _BATCH]}
        headings: dict[int, dict[str, None]] = {id: {} for id in bodies}
        for id, path, level, body in connection.execute(
            "SELECT document_id, heading_path, level, body FROM sections"
            " WHERE document_id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (array(bodies),),
        ):
            bodies[id].append(body)
            if level > 1 and path:
                headings[id][path.rsplit("\n", 1)[-1]] = None
        for id, parts in bodies.items():
            yield id, "".join(parts), list(headings[id])


def known(connection: apsw.Connection, document_id: int) -> Known:
    """What there is already from this document."""
    made: set[int] = set()
    heuristic: set[int] = set()
    for target, origin in connection.execute(
        "SELECT target_document_id, origin FROM document_links WHERE source_document_id = ?", (document_id,)
    ):
        (heuristic if origin == "heuristic" else made).add(target)
    verdicts = dict(
        connection.execute(
            "SELECT target_document_id, verdict FROM link_verdicts WHERE source_document_id = ?", (document_id,)
        )
    )
    return Known(frozenset(made), frozenset(heuristic), verdicts)


def replace(connection: apsw.Connection, document_id: int, drafts: Sequence[Draft], *, others: bool) -> int:
    """Keep these heuristic links of a document and, with `others`, no more but pinned ones. Returns how many were kept:
    a target that is gone meanwhile gets none."""
    here = {
        row[0]
        for row in connection.execute(
            "SELECT id FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (array([document_id, *(draft.target_document_id for draft in drafts)]),),
        )
    }
    drafts = [each for each in drafts if {each.source_document_id, each.target_document_id} <= here]
    wanted = {(each.target_document_id, each.relation) for each in drafts}
    if others:
        old: list[Any] = list(
            connection.execute(
                "SELECT id, target_document_id, relation FROM document_links AS l"
                " WHERE source_document_id = ? AND origin = 'heuristic' AND NOT EXISTS (SELECT 1 FROM link_verdicts AS v"
                " WHERE v.source_document_id = l.source_document_id AND v.target_document_id = l.target_document_id"
                " AND verdict = 'pinned')",
                (document_id,),
            )
        )
        for id, target, relation in old:
            if (target, relation) not in wanted:
                connection.execute("DELETE FROM document_links WHERE id = ?", (id,))
    for draft in drafts:
        atlas.add_link(connection, draft)
    return len(drafts)


def marks_of(rows: Iterable[Row], options: str) -> dict[int, Mark]:
    """What a correlation of each document, with these options, depends on."""
    own = {row.id: _digest([row.sha256, row.title, row.rel_path, row.tags, row.aliases, options]) for row in rows}
    whole = _digest(sorted(own.items()))
    return {id: Mark(each, whole) for id, each in own.items()}


def marks(connection: apsw.Connection, shelf_id: int) -> dict[int, Mark]:
    """The marks of the documents of a shelf that were correlated."""
    found = connection.execute(
        "SELECT document_id, mark FROM document_correlations JOIN documents ON documents.id = document_id"
        " WHERE shelf_id = ?",
        (shelf_id,),
    )
    return {id: Mark(*said.split(":")) for id, said in found}


def remember(connection: apsw.Connection, document_id: int, mark: Mark) -> None:
    """That a document was correlated; nothing when it is gone."""
    connection.execute(
        "INSERT INTO document_correlations SELECT id, ? FROM documents WHERE id = ?"
        " ON CONFLICT DO UPDATE SET mark = excluded.mark",
        (":".join(mark), document_id),
    )


def _digest(said: object) -> str:
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def below(connection: apsw.Connection, shelf_id: int) -> set[int]:
    """All shelves that lean on this one, at any depth."""
    return {
        row[0]
        for row in connection.execute(
            "WITH RECURSIVE below (id) AS (SELECT child_shelf_id FROM shelf_links WHERE parent_shelf_id = ?"
            " UNION SELECT child_shelf_id FROM shelf_links JOIN below ON parent_shelf_id = id) SELECT id FROM below",
            (shelf_id,),
        )
    }
