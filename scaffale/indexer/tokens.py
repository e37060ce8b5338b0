"""Who may ask a server over HTTP: tokens, of which only a digest is kept, what each may reach and until when.

A token is `scaffale_ID_SECRET`; the secret has 256 random bits, so that one round of SHA-256 is enough for its digest.
Rules as in `entries`: every function takes the connection of the caller's transaction.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from scaffale.indexer import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw


class Token(NamedTuple):
    """A token as it is listed: never the token itself. `projects` empty means every project; times are UTC ISO-8601."""

    id: str
    name: str
    projects: tuple[str, ...]
    read_only: bool
    created_at: str
    created_by: str
    expires_at: str | None
    revoked_at: str | None


def create(connection: apsw.Connection) -> None:
    """The table, as a step of the store's migrations."""
    connection.execute(
        "CREATE TABLE access_tokens (id TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, projects_json TEXT NOT NULL,"
        " read_only INTEGER NOT NULL, created_at TEXT NOT NULL, created_by TEXT NOT NULL, expires_at TEXT, revoked_at TEXT)"
        " STRICT"
    )
    connection.execute("CREATE UNIQUE INDEX access_tokens_name ON access_tokens (name) WHERE revoked_at IS NULL")


def add(connection: apsw.Connection, token: Token, digest: str) -> None:
    """Keep a new one. Its name must not be that of another which is not revoked."""
    connection.execute(
        "INSERT INTO access_tokens (id, name, projects_json, read_only, created_at, created_by, expires_at, revoked_at, digest)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (token.id, token.name, json.dumps(token.projects), token.read_only, *token[4:], digest),
    )


def find(connection: apsw.Connection, id: str) -> tuple[Token, str] | None:
    """The token of this id, valid or not, with its digest."""
    row = connection.execute(f"SELECT {_COLUMNS}, digest FROM access_tokens WHERE id = ?", (id,)).fetchone()
    return (_token(row[:-1]), row[-1]) if row else None


def listed(connection: apsw.Connection) -> list[Token]:
    """All of them, also those that were revoked, in the order in which they were made."""
    return [_token(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM access_tokens ORDER BY created_at, id")]


def revoke(connection: apsw.Connection, id: str) -> None:
    """It opens nothing from now on."""
    connection.execute("UPDATE access_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (clock.now(), id))


_COLUMNS = "id, name, projects_json, read_only, created_at, created_by, expires_at, revoked_at"


def _token(row: Sequence[object]) -> Token:
    id, name, projects, read_only, *rest = row
    return Token(id, name, tuple(json.loads(str(projects))), bool(read_only), *rest)  # type: ignore[arg-type]
