"""The docs store: its tables, shelves and their sources, documents and tags as people ask for them, the projection.

Rules of this file: with `documents.py`, which a scan writes through, it holds the only SQL on these tables; every
function takes a connection and runs in the caller's transaction; whatever changes what a search could find appends a
journal line for the document in that transaction. It opens no file and knows no engine.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, SecretDetected, quoted
from scaffale.indexer import clock, journal
from scaffale.indexer.database import Migration, Schema, array
from scaffale.indexer.records import Fingerprint, SectionRow, Source
from scaffale.model import Document, Passage, Section, Shelf
from scaffale.text import MAX_BODY_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from scaffale.indexer.integrity import Wrong

MAX_NAME_CHARS = 200
MAX_DESCRIPTION_CHARS = 2_000
MAX_ID = 2**63 - 1
_BETWEEN = " \u203a "  # headings of a path, for people


# --- schema --------------------------------------------------------------------------------------------------------


def _create(connection: apsw.Connection) -> None:
    journal.create(connection)
    for statement in _TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)


# Ids are never given twice (AUTOINCREMENT): an index that lags behind must not find another thing under an old id.
_TABLES = """
CREATE TABLE shelves (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, name_key TEXT NOT NULL UNIQUE, slug TEXT NOT NULL,
  description TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, metadata_json TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE TABLE scan_sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT, shelf_id INTEGER NOT NULL REFERENCES shelves ON DELETE CASCADE,
  root TEXT NOT NULL, is_file INTEGER NOT NULL, recursive INTEGER NOT NULL, respect_gitignore INTEGER NOT NULL,
  ignore_json TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, UNIQUE (shelf_id, root)
) STRICT;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY AUTOINCREMENT, shelf_id INTEGER NOT NULL REFERENCES shelves ON DELETE CASCADE,
  source_id INTEGER REFERENCES scan_sources ON DELETE SET NULL, title TEXT NOT NULL,
  file_path TEXT NOT NULL, rel_path TEXT NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  checked_ns INTEGER NOT NULL, content_sha256 TEXT NOT NULL, line_count INTEGER NOT NULL, warnings_json TEXT NOT NULL,
  indexed_at TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, metadata_json TEXT NOT NULL,
  UNIQUE (shelf_id, file_path)
) STRICT;
CREATE INDEX documents_by_source ON documents (source_id);
CREATE TABLE sections (
  id INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  level INTEGER NOT NULL, heading_path TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX sections_by_document ON sections (document_id);
CREATE TABLE tags (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, description TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) STRICT;
CREATE TABLE document_tags (
  document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
  tag_id INTEGER NOT NULL REFERENCES tags ON DELETE CASCADE,
  origin TEXT NOT NULL CHECK (origin IN ('front_matter', 'manual')), PRIMARY KEY (document_id, tag_id, origin)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_tags_by_tag ON document_tags (tag_id);
CREATE TABLE feature_state (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at TEXT NOT NULL) STRICT, WITHOUT ROWID
"""


def _add_map(connection: apsw.Connection) -> None:
    from scaffale.indexer import atlas

    atlas.create(connection)


def _add_correlations(connection: apsw.Connection) -> None:
    from scaffale.indexer import correlations

    correlations.create(connection)


def _add_vectors(connection: apsw.Connection) -> None:
    from scaffale.indexer import vectors

    vectors.create(connection)


def _add_digests(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE documents ADD COLUMN text_sha256 TEXT")  # of what its sections say; of older ones none


def _wrong(connection: apsw.Connection) -> Iterator[Wrong]:
    """Documents whose sections do not make up the text that was stored."""
    from scaffale.indexer.integrity import Wrong

    for (id,) in _rows(connection, "SELECT id FROM documents ORDER BY id"):
        if not is_whole(connection, id, sections(connection, id)):
            yield Wrong("documents", "id", id, f"the text of document {id} is not what was stored")


SCHEMA = Schema(
    0x5CAFD0C5,
    (
        Migration("001 shelves, documents, sections, tags, sources", _create),
        Migration("002 links of shelves and of documents, verdicts", _add_map),
        Migration("003 which documents were correlated", _add_correlations),
        Migration("004 vectors", _add_vectors),
        Migration("005 digests of texts", _add_digests),
    ),
    None,
    "SELECT id FROM documents ORDER BY id",
    _wrong,
)


# --- names ---------------------------------------------------------------------------------------------------------


def shelf_uri(shelf_id: int, slug: str) -> str:
    """`docs://shelf/{id}-{slug}`."""
    return f"docs://shelf/{shelf_id}-{slug}"


def document_uri(document_id: int) -> str:
    """`docs://document/{id}`."""
    return f"docs://document/{document_id}"


def slug(name: str) -> str:
    """The name in ASCII letters, digits and hyphens, `shelf` when nothing of it is left."""
    if not name.isascii():
        import unicodedata

        name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60].strip("-") or "shelf"


def shelf_name(name: str) -> str:
    """The name as a shelf bears it: NFC, single spaces. Raises `InvalidParam` or `LimitExceeded` when it is none, and
    `SecretDetected` when it holds one."""
    name = " ".join(_nfc(name).split())
    if not name:
        raise InvalidParam("a shelf needs a name of at least one character")
    if len(name) > MAX_NAME_CHARS:
        raise LimitExceeded(f"the name of a shelf may have {MAX_NAME_CHARS} characters; this one has {len(name)}")
    if not all(character.isprintable() or character in "\u200c\u200d" for character in name):
        raise InvalidParam("the name of a shelf may hold no control or invisible characters")
    refuse_secret("name", name)
    return name


def described(description: str | None) -> str | None:
    """What is said of a shelf or a tag, as it is kept; `None` when that is nothing. Every list shows it: it is short."""
    said = storable((description or "").strip())
    if len(said) > MAX_DESCRIPTION_CHARS:
        raise LimitExceeded(f"a description may have {MAX_DESCRIPTION_CHARS} characters; this one has {len(said)}")
    refuse_secret("description", said)
    return said or None


def refuse_secret(what: str, text: str) -> None:
    """`SecretDetected` when the text holds one."""
    from scaffale import secrets

    for found in secrets.find(text, 1):
        raise SecretDetected(
            f"the {what} looks like a secret ({found.kind}) at characters {found.start}–{found.end};"
            " nothing was written. Remove it."
        )


def tag_name(name: str) -> str:
    """The tag as stores and filters know it: NFC, lower case, inner white space as `-`. Empty when nothing is left."""
    return "-".join(_nfc(name).lower().split())


def updated(mtime_ns: int) -> int:
    """The time of a file as a passage has it: milliseconds since the epoch."""
    return mtime_ns // 1_000_000


def text_digest(parts: Iterable[Section]) -> str:
    """SHA-256 of what the sections of a document say, in hexadecimal."""
    from hashlib import sha256

    digest = sha256()
    for part in parts:
        digest.update(part.body.encode())
    return digest.hexdigest()


def _nfc(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", storable(text))


def storable(text: str) -> str:
    """The text with `?` for halves of surrogate pairs, which no store can hold."""
    return text.encode("utf-8", "replace").decode()


# --- shelves -------------------------------------------------------------------------------------------------------

_SHELF = """
SELECT id, name, description, slug, (SELECT count(*) FROM documents WHERE shelf_id = shelves.id), created_at, updated_at
FROM shelves
"""


def create_shelf(connection: apsw.Connection, name: str, description: str | None = None) -> Shelf:
    """A new, empty shelf. `Conflict` when one bears the name already, in whatever letters."""
    name = shelf_name(name)
    said = described(description)
    _refuse_taken(connection, name, 0)
    now = clock.now()
    connection.execute(
        "INSERT INTO shelves (name, name_key, slug, description, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
        (name, name.casefold(), slug(name), said, now, now),
    )
    return shelf(connection, connection.last_insert_rowid())


def find_shelf(connection: apsw.Connection, reference: int | str) -> Shelf | None:
    """The shelf of an id, a name, an `{id}-{slug}` or a URI; a name goes before an id. `None` when there is none."""
    if isinstance(reference, int):
        return _one_shelf(connection, "id = ?", reference) if 0 < reference <= MAX_ID else None
    reference = reference.strip()
    if reference.startswith("docs://shelf/"):
        number = re.match(r"[0-9]{1,18}(?=-|\Z)", reference.removeprefix("docs://shelf/"))
        return _one_shelf(connection, "id = ?", int(number[0])) if number else None
    named = _one_shelf(connection, "name_key = ?", " ".join(_nfc(reference).split()).casefold())
    if named:
        return named
    number = re.match(r"[0-9]{1,18}(?=-|\Z)", reference)
    by_id = _one_shelf(connection, "id = ?", int(number[0])) if number else None
    # A bare `{id}-{slug}` must fit whole: `2024-notes` is rather a name than the shelf of that number.
    return by_id if by_id and number and reference in (number[0], by_id.uri.rpartition("/")[2]) else None


def shelf(connection: apsw.Connection, reference: int | str) -> Shelf:
    """`find_shelf`, or `NotFound` with the names that exist."""
    found = find_shelf(connection, reference)
    if found is None:
        names = [each.name for each in list_shelves(connection)]
        known = f"there are: {', '.join(names[:10])}{', …' if len(names) > 10 else ''}" if names else "there is none"
        raise NotFound(f"no shelf {quoted(str(reference))!r}; {known}")
    return found


def list_shelves(connection: apsw.Connection) -> list[Shelf]:
    """All shelves by name."""
    return [_shelf(row) for row in connection.execute(f"{_SHELF} ORDER BY name_key")]


def update_shelf(
    connection: apsw.Connection, shelf_id: int, *, name: str | None = None, description: str | None = None
) -> Shelf:
    """Rename or describe; `None` leaves as it is, an empty description removes it. The URI follows, the id stays."""
    if name is not None:
        name = shelf_name(name)
        _refuse_taken(connection, name, shelf_id)
        connection.execute(
            "UPDATE shelves SET name = ?, name_key = ?, slug = ? WHERE id = ?",
            (name, name.casefold(), slug(name), shelf_id),
        )
    if description is not None:
        connection.execute("UPDATE shelves SET description = ? WHERE id = ?", (described(description), shelf_id))
    connection.execute("UPDATE shelves SET updated_at = ? WHERE id = ?", (clock.now(), shelf_id))
    return shelf(connection, shelf_id)


def remove_shelf(connection: apsw.Connection, shelf_id: int) -> int:
    """The shelf and its documents are forgotten, files untouched. Returns how many documents."""
    shelf(connection, shelf_id)
    owners = [row[0] for row in _rows(connection, "SELECT id FROM documents WHERE shelf_id = ?", shelf_id)]
    connection.execute("DELETE FROM shelves WHERE id = ?", (shelf_id,))
    journal.append_all(connection, owners)
    return len(owners)


def _one_shelf(connection: apsw.Connection, condition: str, value: int | str) -> Shelf | None:
    row = connection.execute(f"{_SHELF} WHERE {condition}", (value,)).fetchone()
    return _shelf(row) if row else None


def _shelf(row: Any) -> Shelf:  # noqa: ANN401
    shelf_id, name, description, its_slug, *rest = row
    return Shelf(shelf_id, name, description, shelf_uri(shelf_id, its_slug), *rest)


def _refuse_taken(connection: apsw.Connection, name: str, but: int) -> None:
    row = connection.execute(
        "SELECT id, name FROM shelves WHERE name_key = ? AND id <> ?", (name.casefold(), but)
    ).fetchone()
    if row:
        raise Conflict(f"shelf {row[0]} bears the name {row[1]!r} already; names must differ in more than case")


# --- scan sources --------------------------------------------------------------------------------------------------


def sources(connection: apsw.Connection, shelf_id: int) -> list[Source]:
    """What was scanned into the shelf, in the order of first scans."""
    import json

    rows = _rows(
        connection,
        "SELECT id, shelf_id, root, is_file, recursive, respect_gitignore, ignore_json FROM scan_sources"
        " WHERE shelf_id = ? ORDER BY id",
        shelf_id,
    )
    return [
        Source(id_, shelf, root, bool(is_file), bool(recursive), bool(respect), tuple(json.loads(ignore)))
        for id_, shelf, root, is_file, recursive, respect, ignore in rows
    ]


def has_source(connection: apsw.Connection, source_id: int) -> bool:
    """Whether the source is still remembered; it goes with its shelf."""
    return connection.execute("SELECT 1 FROM scan_sources WHERE id = ?", (source_id,)).fetchone() is not None


def remember_source(connection: apsw.Connection, source: Source) -> Source:
    """The source with its id; a root scanned again in another way is remembered in that way."""
    import json

    now = clock.now()
    row = connection.execute(
        "INSERT INTO scan_sources"
        " (shelf_id, root, is_file, recursive, respect_gitignore, ignore_json, created_at, updated_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (shelf_id, root) DO UPDATE SET is_file = excluded.is_file, recursive = excluded.recursive,"
        " respect_gitignore = excluded.respect_gitignore, ignore_json = excluded.ignore_json,"
        " updated_at = excluded.updated_at RETURNING id",
        (*source[1:6], json.dumps(source.ignore), now, now),
    ).get
    return source._replace(id=row)


# --- documents and tags --------------------------------------------------------------------------------------------

_TAGS_OF = (  # a tag holds no white space
    "(SELECT group_concat(name, ' ') FROM (SELECT DISTINCT name FROM document_tags JOIN tags ON tags.id = tag_id"
    " WHERE document_id = documents.id ORDER BY name))"
)
_DOCUMENT = f"""
SELECT documents.id, documents.title, file_path, shelf_id, shelves.name, slug, line_count, size, indexed_at, {_TAGS_OF}
FROM documents JOIN shelves ON shelves.id = shelf_id
"""


def document(connection: apsw.Connection, document_id: int) -> Document:
    """One document, `freshness` not yet asked for. `NotFound` when there is none of that id."""
    row = None
    if 0 < document_id <= MAX_ID:
        row = connection.execute(f"{_DOCUMENT} WHERE documents.id = ?", (document_id,)).fetchone()
    if row is None:
        raise NotFound(f"no document {document_id}; a search names the ids that exist")
    return _document(row)


def list_documents(
    connection: apsw.Connection,
    *,
    shelf_id: int | None = None,
    tags: Sequence[str] = (),
    tagged: bool | None = None,
    limit: int = 10,
    offset: int = 0,
) -> tuple[list[Document], int]:
    """A page of documents by path, and how many there are in all. `tags` must all be there; `tagged` asks for some tag
    or for none."""
    conditions = ["true"]
    values: list[Any] = []
    if shelf_id is not None:
        conditions.append("shelf_id = ?")
        values.append(shelf_id)
    for tag in tags:
        conditions.append(
            "documents.id IN (SELECT document_id FROM document_tags JOIN tags ON tags.id = tag_id WHERE name = ?)"
        )
        values.append(tag_name(tag))
    if tagged is not None:
        some = "EXISTS (SELECT 1 FROM document_tags WHERE document_id = documents.id)"
        conditions.append(some if tagged else f"NOT {some}")
    where = f"WHERE {' AND '.join(conditions)}"
    total = connection.execute(f"SELECT count(*) FROM documents {where}", values).get
    rows = connection.execute(
        f"{_DOCUMENT} {where} ORDER BY file_path, documents.id LIMIT ? OFFSET ?",
        (*values, max(limit, 0), max(offset, 0)),
    )
    return [_document(row) for row in rows], total


def sections(connection: apsw.Connection, document_id: int) -> list[Section]:
    """The sections of a document in order. Their bodies, joined, are its text."""
    rows = connection.execute(
        "SELECT heading_path, level, start_line, end_line, body FROM sections WHERE document_id = ? ORDER BY id",
        (document_id,),
    )
    return [Section(_path(row[0]), *row[1:]) for row in rows]


def is_whole(connection: apsw.Connection, document_id: int, parts: Iterable[Section]) -> bool:
    """Whether these sections say what was stored; of a document of former versions that is not known, and true."""
    said = connection.execute("SELECT text_sha256 FROM documents WHERE id = ?", (document_id,)).get
    return said is None or said == text_digest(parts)


def fingerprint(connection: apsw.Connection, document_id: int) -> Fingerprint:
    """What was known of the file when it was read. `NotFound` when there is no such document."""
    document(connection, document_id)
    return Fingerprint(
        *connection.execute(
            "SELECT size, mtime_ns, ctime_ns, inode, checked_ns, content_sha256 FROM documents WHERE id = ?",
            (document_id,),
        ).get
    )


def remove_documents(connection: apsw.Connection, document_ids: Iterable[int], scan: int | None = None) -> list[int]:
    """Forget documents, files untouched. Returns the ids of those that were there."""
    rows = _rows(
        connection,
        "DELETE FROM documents WHERE id IN (SELECT value FROM json_each(?)) RETURNING id",
        array(document_ids),
    )
    owners = sorted(row[0] for row in rows)
    journal.append_all(connection, owners, scan)
    return owners


def has_documents_below(connection: apsw.Connection, shelf_id: int, folder: str) -> bool:
    """Whether files below this folder are on the shelf."""
    found = connection.execute(
        "SELECT 1 FROM documents WHERE shelf_id = ? AND file_path > ? AND file_path < ? LIMIT 1",
        (shelf_id, folder + os.sep, folder + chr(ord(os.sep) + 1)),
    )
    return found.fetchone() is not None


def tags_of(connection: apsw.Connection, document_ids: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """The tags of each document by name; a document without tags, or unknown, has none."""
    ids = list(document_ids)
    rows = connection.execute(
        f"SELECT id, {_TAGS_OF} FROM documents WHERE id IN (SELECT value FROM json_each(?))", (array(ids),)
    )
    return dict.fromkeys(ids, ()) | {row[0]: _split(row[1]) for row in rows}


def counts(connection: apsw.Connection) -> dict[str, int]:
    """How many shelves, documents, sections, tags and scan sources there are."""
    tables = ("shelves", "documents", "sections", "tags", "scan_sources")
    return {table: connection.execute(f"SELECT count(*) FROM {table}").get for table in tables}


def _document(row: Any) -> Document:  # noqa: ANN401
    document_id, title, path, shelf_id, name, its_slug, line_count, size, indexed_at, tags = row
    uri = document_uri(document_id)
    of_shelf = shelf_uri(shelf_id, its_slug)
    return Document(
        document_id, title, path, shelf_id, name, uri, uri, of_shelf, line_count, size, _split(tags), indexed_at
    )


# --- the projection ------------------------------------------------------------------------------------------------


def owners(connection: apsw.Connection, after: int, limit: int) -> list[int]:
    """Document ids above `after`, ascending: how a new index is filled."""
    rows = _rows(connection, "SELECT id FROM documents WHERE id > ? ORDER BY id LIMIT ?", after, limit)
    return [row[0] for row in rows]


def count(connection: apsw.Connection) -> int:
    """How many documents there are."""
    return int(connection.execute("SELECT count(*) FROM documents").get)


def passages(connection: apsw.Connection, owners: Sequence[int]) -> dict[int, list[Passage]]:
    """What an index holds of each document: a passage for each section that says something, in order; nothing for a
    document that is gone. A passage's id is its section's."""
    wanted = array(owners)
    found: dict[int, list[Passage]] = {owner: [] for owner in owners}
    heads = {
        row[0]: _head(*row[1:])
        for row in connection.execute(
            f"SELECT id, title, rel_path, shelf_id, mtime_ns, metadata_json, {_TAGS_OF}"
            " FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (wanted,),
        )
    }
    rows = _rows(
        connection,
        "SELECT document_id, sections.id, level, heading_path, iif(octet_length(body) > ?1, substr(body, 1, ?1), body)"
        " FROM json_each(?2) CROSS JOIN sections ON document_id = value",
        MAX_BODY_CHARS,
        wanted,
    )
    bare: dict[int, Passage] = {}
    for owner, section_id, level, path, body in rows:
        title, labels, facets, updated = heads[owner]
        if level >= 0 and not body.isspace():
            heading = _below(title, path)
            found[owner].append(Passage(section_id, owner, title, heading, body, labels, facets, updated=updated))
        elif not found[owner]:
            bare.setdefault(owner, Passage(section_id, owner, title, "", "", labels, facets, updated=updated))
    for owner, passage in bare.items():
        if not found[owner]:  # nothing but front matter: found by title and tags
            found[owner].append(passage)
    for each in found.values():
        each.sort()
    return found


def rows(connection: apsw.Connection, passage_ids: Iterable[int]) -> dict[int, SectionRow]:
    """For each passage that is still there, all that a hit says of it. One select for a page."""
    answer = _rows(
        connection,
        "SELECT sections.id, documents.id, documents.title, file_path, shelf_id, shelves.name, slug, heading_path,"
        " level, start_line, end_line, substr(body, 1, ?), size, mtime_ns, ctime_ns, inode, checked_ns, content_sha256"
        " FROM json_each(?) CROSS JOIN sections ON sections.id = value"
        " CROSS JOIN documents ON documents.id = document_id CROSS JOIN shelves ON shelves.id = shelf_id",
        MAX_BODY_CHARS,
        array(passage_ids),
    )
    found: dict[int, SectionRow] = {}
    for row in answer:
        passage_id, document_id, title, path, shelf_id, name, its_slug, names, level, start, end, body, *numbers = row
        uri = shelf_uri(shelf_id, its_slug)
        found[passage_id] = SectionRow(
            document_id, title, path, shelf_id, name, uri, _path(names), level, start, end, body, Fingerprint(*numbers)
        )
    return found


def _head(
    title: str, rel_path: str, shelf_id: int, mtime_ns: int, metadata: str, tags: str | None
) -> tuple[str, str, tuple[str, ...], int]:
    import json

    names = _split(tags)
    aliases = json.loads(metadata).get("aliases", ()) if metadata != "{}" else ()
    facets = (f"shelf={shelf_id}", *(f"tag={name}" for name in names))
    return title, "\n".join((*names, *aliases, rel_path)), facets, updated(mtime_ns)


def _below(title: str, path: str) -> str:
    """The heading path without the title of the document, for people."""
    if path == title:
        return ""
    return path.removeprefix(f"{title}\n").replace("\n", _BETWEEN)


def _path(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()


def _split(tags: str | None) -> tuple[str, ...]:
    return tuple(tags.split(" ")) if tags else ()


def _rows(connection: apsw.Connection, statement: str, *values: int | str) -> list[Any]:
    return connection.execute(statement, values).fetchall()
