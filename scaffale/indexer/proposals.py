"""What waits for a person: entries that somebody else's memory brought, outside every search until they are accepted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw


class Proposal(NamedTuple):
    """A proposed entry. `origin` says where it is from; `draft` holds its fields as an export writes them."""

    id: str
    project_id: str
    origin: str
    draft: dict[str, Any]
    created_at: str


def create(connection: apsw.Connection) -> None:
    """The table, as a step of the store's migrations. What was proposed once is known by its digest."""
    connection.execute(
        "CREATE TABLE memory_proposals (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " project_id TEXT NOT NULL REFERENCES projects (id), origin TEXT NOT NULL, digest TEXT NOT NULL,"
        " draft_json TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (project_id, digest)) STRICT"
    )


def add(connection: apsw.Connection, proposal: Proposal, digest: str) -> bool:
    """Propose an entry; False when the same was proposed before and still waits."""
    connection.execute(
        "INSERT OR IGNORE INTO memory_proposals (id, project_id, origin, digest, draft_json, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            proposal.id, proposal.project_id, proposal.origin, digest, json.dumps(proposal.draft, ensure_ascii=False),
            proposal.created_at,
        ),
    )  # fmt: skip
    return bool(connection.changes())


def of_project(connection: apsw.Connection, project_id: str, limit: int, offset: int = 0) -> Sequence[Proposal]:
    """What waits, oldest first."""
    rows = connection.execute(
        "SELECT id, project_id, origin, draft_json, created_at FROM memory_proposals WHERE project_id = ? ORDER BY seq"
        " LIMIT ? OFFSET ?",
        (project_id, limit, offset),
    )
    return [Proposal(id, project, origin, json.loads(draft), at) for id, project, origin, draft, at in rows]


def count(connection: apsw.Connection, project_id: str) -> int:
    """How many wait."""
    return int(connection.execute("SELECT count(*) FROM memory_proposals WHERE project_id = ?", (project_id,)).get)


def find(connection: apsw.Connection, id: str) -> Proposal | None:
    """The proposal of this id, of any project."""
    row = connection.execute(
        "SELECT id, project_id, origin, draft_json, created_at FROM memory_proposals WHERE id = ?", (id,)
    ).fetchone()
    return Proposal(row[0], row[1], row[2], json.loads(row[3]), row[4]) if row else None


def remove(connection: apsw.Connection, id: str) -> None:
    """It was decided upon."""
    connection.execute("DELETE FROM memory_proposals WHERE id = ?", (id,))
