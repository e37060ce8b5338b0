"""The dictionary of tags: the words that people may give to documents. Those of front matter enter it by themselves.

Rules as in `shelves`: every function takes a connection and runs in the caller's transaction, and what changes the tags
of a document appends a journal line for it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scaffale.answers.atlas import Tag
from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, quoted
from scaffale.indexer import clock, journal, shelves
from scaffale.indexer.documents import MAX_TAG_CHARS
from scaffale.indexer.shelves import described, refuse_secret, tag_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw


_TAG = (
    "SELECT name, description, count(DISTINCT document_id) FROM tags LEFT JOIN document_tags ON tag_id = id"
    " {where} GROUP BY id ORDER BY name"
)


def list_tags(connection: apsw.Connection) -> list[Tag]:
    """The dictionary by name, with the number of documents that bear each."""
    return [Tag(*row) for row in connection.execute(_TAG.format(where=""))]


def tag(connection: apsw.Connection, name: str) -> Tag:
    """The tag of this name, or `NotFound`."""
    row = connection.execute(_TAG.format(where="WHERE name = ?"), (tag_name(name),)).fetchone()
    if row is None:
        raise NotFound(f"no tag {quoted(name)!r}; list_tags names those that exist, create_tag makes one")
    return Tag(*row)


def create_tag(connection: apsw.Connection, name: str, description: str | None = None) -> Tag:
    """A new word of the dictionary. `Conflict` when it is there."""
    wanted = _new_tag_name(connection, name)
    now = clock.now()
    connection.execute(
        "INSERT INTO tags (name, description, created_at, updated_at) VALUES (?, ?, ?, ?)",
        (wanted, described(description), now, now),
    )
    return tag(connection, wanted)


def update_tag(
    connection: apsw.Connection, name: str, *, new_name: str | None = None, description: str | None = None
) -> Tag:
    """Rename or describe; documents keep the tag under its new name."""
    known = tag(connection, name)
    wanted = known.name
    if new_name is not None and tag_name(new_name) != known.name:
        wanted = _new_tag_name(connection, new_name)
        connection.execute("UPDATE tags SET name = ? WHERE name = ?", (wanted, known.name))
        journal.append_all(connection, _bearers(connection, wanted))
    if description is not None:
        connection.execute("UPDATE tags SET description = ? WHERE name = ?", (described(description), wanted))
    connection.execute("UPDATE tags SET updated_at = ? WHERE name = ?", (clock.now(), wanted))
    return tag(connection, wanted)


def remove_tag(connection: apsw.Connection, name: str) -> Tag:
    """The word goes from the dictionary and from every document. Returns what it was."""
    known = tag(connection, name)
    owners = _bearers(connection, known.name)
    connection.execute("DELETE FROM tags WHERE name = ?", (known.name,))
    journal.append_all(connection, owners)
    return known


def set_document_tags(connection: apsw.Connection, document_id: int, names: Iterable[str]) -> tuple[str, ...]:
    """These tags, given by people, and no others of theirs; those of the file itself stay. A tag that is not in the
    dictionary is refused. Returns all tags of the document."""
    shelves.document(connection, document_id)
    wanted = [_known(connection, name) for name in names]
    connection.execute("DELETE FROM document_tags WHERE document_id = ? AND origin = 'manual'", (document_id,))
    connection.execute(
        "INSERT INTO document_tags SELECT ?, id, 'manual' FROM tags WHERE name IN (SELECT value FROM json_each(?))",
        (document_id, json.dumps(wanted)),
    )
    journal.append(connection, document_id)
    return shelves.tags_of(connection, [document_id])[document_id]


def _known(connection: apsw.Connection, name: str) -> str:
    """The name of a tag as the dictionary has it, or `NotFound`; without counting who bears it."""
    wanted = tag_name(name)
    if not connection.execute("SELECT EXISTS (SELECT 1 FROM tags WHERE name = ?)", (wanted,)).get:
        tag(connection, name)  # raises
    return wanted


def given(connection: apsw.Connection, document_id: int) -> list[str]:
    """The tags that people gave a document, by name."""
    rows = connection.execute(
        "SELECT name FROM document_tags JOIN tags ON id = tag_id WHERE document_id = ? AND origin = 'manual' ORDER BY name",
        (document_id,),
    )
    return [row[0] for row in rows]


def _new_tag_name(connection: apsw.Connection, name: str) -> str:
    wanted = tag_name(name)
    if not wanted:
        raise InvalidParam("a tag needs a name of at least one character")
    if len(wanted) > MAX_TAG_CHARS:
        raise LimitExceeded(f"the name of a tag may have {MAX_TAG_CHARS} characters; this one has {len(wanted)}")
    refuse_secret("name", wanted)
    if connection.execute("SELECT 1 FROM tags WHERE name = ?", (wanted,)).fetchone():
        raise Conflict(f"there is a tag {wanted!r} already")
    return wanted


def _bearers(connection: apsw.Connection, name: str) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT document_id FROM document_tags JOIN tags ON tags.id = tag_id WHERE name = ? ORDER BY 1", (name,)
    )
    return [row[0] for row in rows]
