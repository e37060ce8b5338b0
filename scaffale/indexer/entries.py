"""The memory store: entries, tags, their life. The only SQL on the memory tables.

Functions take the connection of the caller's transaction, so that an entry, its tags, its audit row and its journal line
are one change. `rid` is the entry's number inside the store, in the order of acknowledgement; the world knows `id`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.indexer import clock, journal, projects
from scaffale.indexer.database import Database, Heritage, Migration, Schema, array
from scaffale.model import SECRET_RULES, STATUSES, VERIFICATION_HINT, Count, Entry, Passage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    import apsw

    from scaffale.indexer.integrity import Wrong
    from scaffale.model import EntryDraft

APPLICATION_ID = 0x5CAF3E30


def _create_memory(connection: apsw.Connection) -> None:
    journal.create(connection)
    projects.create(connection)
    from scaffale.indexer import audit

    audit.create(connection)
    for statement in (
        "CREATE TABLE memory_entries (rid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " project_id TEXT NOT NULL REFERENCES projects (id), scope TEXT NOT NULL, topic TEXT NOT NULL, title TEXT,"
        " content TEXT NOT NULL, summary TEXT, source_type TEXT NOT NULL, source_ref TEXT, source_path TEXT,"
        " source_uri TEXT, content_sha256 TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'active', confidence REAL,"
        " importance INTEGER NOT NULL DEFAULT 3, created_by TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,"
        " invalidated_at TEXT, invalidation_reason TEXT, metadata_json TEXT, secret_rules INTEGER) STRICT",
        "CREATE INDEX memory_entries_hash ON memory_entries (project_id, content_sha256)",
        "CREATE INDEX memory_entries_place ON memory_entries (project_id, status, scope, topic)",
        "CREATE TABLE memory_tags (id INTEGER PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),"
        " name TEXT NOT NULL, description TEXT, created_at TEXT NOT NULL, UNIQUE (project_id, name)) STRICT",
        "CREATE TABLE memory_entry_tags (entry_id TEXT NOT NULL REFERENCES memory_entries (id) ON DELETE CASCADE,"
        " tag_id INTEGER NOT NULL REFERENCES memory_tags (id), PRIMARY KEY (entry_id, tag_id)) STRICT, WITHOUT ROWID",
    ):
        connection.execute(statement)


def _add_life(connection: apsw.Connection) -> None:
    from scaffale.indexer import links, predecessor, revisions

    revisions.create(connection)
    links.create(connection)
    predecessor.take_links(connection)  # those of a store that was taken over before there was a table for them


def _add_exchange(connection: apsw.Connection) -> None:
    from scaffale.indexer import checks, proposals

    proposals.create(connection)
    checks.create(connection)
    connection.execute("CREATE INDEX memory_entry_tags_tag ON memory_entry_tags (tag_id)")


def _add_ledger(connection: apsw.Connection) -> None:
    from scaffale.indexer import ledger, registry

    ledger.create(connection)
    registry.create(connection)


def _add_vectors(connection: apsw.Connection) -> None:
    from scaffale.indexer import vectors

    vectors.create(connection)


def _add_tokens(connection: apsw.Connection) -> None:
    from scaffale.indexer import tokens

    tokens.create(connection)


def _heritage() -> Heritage:
    from scaffale.indexer import predecessor

    return Heritage(predecessor.recognises, predecessor.set_aside, predecessor.take_over)


MIGRATIONS = (
    Migration("001_memory", _create_memory),
    Migration("002_life", _add_life),
    Migration("003_exchange", _add_exchange),
    Migration("004_ledger", _add_ledger),
    Migration("005_vectors", _add_vectors),
    Migration("006_tokens", _add_tokens),
)


def _wrong(connection: apsw.Connection) -> Iterator[Wrong]:
    """Entries whose content is not what was written."""
    from scaffale.indexer.integrity import Wrong

    for rid, id, content, said in connection.execute("SELECT rid, id, content, content_sha256 FROM memory_entries"):
        if not is_whole(content, said):
            yield Wrong("memory_entries", "rid", rid, f"the content of entry {id} is not what was written")


SCHEMA = Schema(APPLICATION_ID, MIGRATIONS, _heritage, "SELECT rid FROM memory_entries ORDER BY rid", _wrong)


def is_whole(content: str, digest: str) -> bool:
    """Whether a content is the one whose SHA-256 was kept."""
    from hashlib import sha256

    return sha256(content.encode()).hexdigest() == digest


_COLUMNS = (
    "e.id, e.project_id, e.scope, e.topic, e.title, e.content, e.summary, e.source_type, e.source_ref, e.source_path,"
    " e.source_uri, e.content_sha256, e.status, e.confidence, e.importance, e.created_by, e.created_at, e.updated_at,"
    " e.invalidated_at, e.invalidation_reason"
)
_TAGS = (  # none holds a blank
    "(SELECT group_concat(t.name, ' ' ORDER BY t.name) FROM memory_entry_tags AS et JOIN memory_tags AS t"
    " ON t.id = et.tag_id WHERE et.entry_id = e.id)"
)
_NUMBER = "(SELECT c.number FROM ledger_concepts AS c WHERE c.entry_id = e.id)"
_SELECT = f"SELECT e.rid, e.secret_rules, {_COLUMNS}, {_TAGS}, {_NUMBER}, e.metadata_json FROM memory_entries AS e"


class EntryFilter(NamedTuple):
    """Which entries. Absent parts do not restrict; tags must all be borne. `statuses` empty means any. `concepts`: only
    those that a person promoted."""

    project_id: str | None = None
    scope: str | None = None
    topic: str | None = None
    tags: tuple[str, ...] = ()
    source_type: str | None = None
    statuses: tuple[str, ...] = ()
    concepts: bool = False


class Row(NamedTuple):
    """An entry with its number in the store, and the version of the secret rules that its text was checked by."""

    rid: int
    entry: Entry
    secret_rules: int | None


class EntrySource:
    """The memory store, as its projections see it (`sync.Source`). An owner is an entry; it has one passage."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def owners(self, connection: apsw.Connection, after: int, limit: int) -> list[int]:
        """Entry numbers above `after`, ascending."""
        rows = connection.execute("SELECT rid FROM memory_entries WHERE rid > ? ORDER BY rid LIMIT ?", (after, limit))
        return [rid for (rid,) in rows]

    def count(self, connection: apsw.Connection) -> int:
        """How many entries there are."""
        return int(connection.execute("SELECT count(*) FROM memory_entries").get)

    def passages(self, connection: apsw.Connection, owners: Sequence[int]) -> dict[int, list[Passage]]:
        """One passage per entry."""
        return {row.rid: [passage(row)] for row in rows(connection, owners)}


def passage(row: Row) -> Passage:
    """What an index sees of an entry."""
    rid, e, _ = row
    return Passage(
        id=rid,
        owner=rid,
        title=e.title or e.topic,
        heading=e.topic if e.title else "",
        body="\n\n".join(filter(None, (e.summary, e.content, *said_of(e)))),
        labels=" ".join((e.scope, e.topic, *e.tags, *((e.display_id,) if e.display_id else ()))),
        facets=(
            f"project={e.project_id}",
            f"status={e.status}",
            f"in={e.project_id}\x1f{e.status}",
            f"scope={e.scope}",
            f"topic={e.topic}",
            f"source={e.source_type}",
            *(f"place={name}" for name in dict.fromkeys((e.scope, e.topic))),
            *(f"tag={tag}" for tag in e.tags),
            *(("registry=concept",) if e.display_id else ()),
        ),
        importance=e.importance,
        confidence=-1.0 if e.confidence is None else e.confidence,
        updated=clock.milliseconds_of(e.updated_at),
    )


def said_of(entry: Entry) -> tuple[str, ...]:
    """What is known of a concept besides its text, and found with it: of each of its sources session, rationale, question
    and concepts."""
    metadata = entry.metadata or {}
    parts: dict[str, None] = {}
    for source in (metadata, *metadata.get("merged", ())):
        texts = (source.get("rationale"), source.get("question_context"), " ".join(source.get("concepts", ())))
        parts.update(dict.fromkeys((*texts, source.get("session_id"))))
    return tuple(text for text in parts if text)


def facet_clauses(filter: EntryFilter) -> tuple[tuple[str, ...], ...]:
    """The filter in the facets of `passage`. Project and status together are one facet, hence one posting list."""
    clauses: list[tuple[str, ...]] = []
    if filter.project_id is not None and filter.statuses:
        clauses.append(tuple(f"in={filter.project_id}\x1f{status}" for status in filter.statuses))
    elif filter.project_id is not None:
        clauses.append((f"project={filter.project_id}",))
    elif filter.statuses:
        clauses.append(tuple(f"status={status}" for status in filter.statuses))
    for key, value in (("scope", filter.scope), ("topic", filter.topic), ("source", filter.source_type)):
        if value is not None:
            clauses.append((f"{key}={value}",))
    clauses += [(f"tag={tag}",) for tag in filter.tags]
    if filter.concepts:
        clauses.append(("registry=concept",))
    return tuple(clauses)


# --- writing -------------------------------------------------------------------------------------------------------


def add(connection: apsw.Connection, id: str, project_id: str, draft: EntryDraft, sha256: str, actor: str, now: str) -> int:
    """A new active entry, checked for secrets, with its tags and journal line; returns its number. The project is there."""
    d = draft
    metadata = None
    if d.metadata is not None:
        import json

        metadata = json.dumps(d.metadata, ensure_ascii=False)
    connection.execute(
        "INSERT INTO memory_entries (rid, id, project_id, scope, topic, title, content, summary, source_type, source_ref,"
        " source_path, source_uri, content_sha256, confidence, importance, created_by, created_at, updated_at,"
        f" metadata_json, secret_rules) VALUES ({NEXT_RID}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            id, project_id, d.scope, d.topic, d.title, d.content, d.summary, d.source_type, d.source_ref,
            d.source_path, d.source_uri, sha256, d.confidence, d.importance, actor, now, now,
            metadata, SECRET_RULES,
        ),
    )  # fmt: skip
    rid = connection.last_insert_rowid()
    tag_entry(connection, id, project_id, d.tags, now)
    journal.append(connection, rid)
    return rid


def find_duplicate(
    connection: apsw.Connection, project_id: str, scope: str, sha256: str, but: str = ""
) -> str | None:
    """The active entry of this project and scope with exactly this content, other than `but`."""
    found: str | None = connection.execute(
        "SELECT id FROM memory_entries WHERE project_id = ? AND content_sha256 = ? AND scope = ? AND status = 'active'"
        " AND id <> ? ORDER BY rid LIMIT 1",
        (project_id, sha256, scope, but),
    ).get
    return found


def tag_entry(connection: apsw.Connection, id: str, project_id: str, tags: Iterable[str], now: str) -> None:
    """Give the entry tags that it does not bear yet."""
    for tag in tags:
        connection.execute(_BEAR_TAG, (id, project_id, tag))
        if not connection.changes():  # the first entry of the project to bear it
            connection.execute(
                "INSERT INTO memory_tags (project_id, name, created_at) VALUES (?, ?, ?)", (project_id, tag, now)
            )
            connection.execute(_BEAR_TAG, (id, project_id, tag))


# No number is given twice: an index that lags behind must not find another entry under an old one.
NEXT_RID = (
    "max(coalesce((SELECT max(rid) FROM memory_entries), 0),"
    " coalesce((SELECT value FROM store WHERE key = 'deleted_rid'), 0)) + 1"
)
_BEAR_TAG = "INSERT INTO memory_entry_tags SELECT ?, id FROM memory_tags WHERE project_id = ? AND name = ?"


# --- reading -------------------------------------------------------------------------------------------------------


def rows(connection: apsw.Connection, rids: Sequence[int]) -> list[Row]:
    """The entries of these numbers, ascending; missing ones are left out."""
    found = connection.execute(
        f"{_SELECT} WHERE e.rid IN (SELECT value FROM json_each(?)) ORDER BY e.rid",
        (array(rids),),
    )
    return [_row(row) for row in found]


def find(connection: apsw.Connection, id: str, project_id: str | None = None) -> Row | None:
    """The entry of this id, of any project; in a project, `mem-NNNN` is the id of a concept, too."""
    row = connection.execute(f"{_SELECT} WHERE e.id = ?", (id,)).fetchone()
    if row is None and project_id is not None and (number := display_number(id)) is not None:
        row = connection.execute(
            f"{_SELECT} WHERE e.id = (SELECT entry_id FROM ledger_concepts WHERE project_id = ? AND number = ?)",
            (project_id, number),
        ).fetchone()
    return _row(row) if row else None


def display_id(number: int) -> str:
    """How a promoted concept is called in its project: `mem-0001`."""
    return f"mem-{number:04d}"


def display_number(id: str) -> int | None:
    """The number of a concept in an id such as `mem-0001`."""
    digits = id.removeprefix("mem-")
    return int(digits) if digits != id and 4 <= len(digits) <= 12 and digits.isascii() and digits.isdigit() else None


def headings(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Id → title (or topic, without one) and status, of the entries that are there."""
    found = {}
    for id in ids:
        row = connection.execute("SELECT coalesce(title, topic), status FROM memory_entries WHERE id = ?", (id,)).fetchone()
        if row:
            found[id] = row
    return found


def ids_beginning(connection: apsw.Connection, project_id: str, begun: str, limit: int) -> list[str]:
    """Ids of a project's entries that begin like this, ascending."""
    found = connection.execute(
        "SELECT id FROM memory_entries WHERE project_id = ? AND substr(id, 1, ?) = ? ORDER BY id LIMIT ?",
        (project_id, len(begun), begun, limit),
    )
    return [id for (id,) in found]


def cites_documents(connection: apsw.Connection, ids: Sequence[str]) -> bool:
    """Whether one of these entries links to a document."""
    return bool(ids) and bool(
        connection.execute(
            f"SELECT EXISTS (SELECT 1 FROM memory_links WHERE source_entry_id IN ({', '.join('?' * len(ids))})"
            " AND target_type = 'docs_document')",
            tuple(ids),
        ).get
    )


def ids(connection: apsw.Connection, rids: Sequence[int]) -> dict[int, tuple[object, ...]]:
    """Number → id: the last word on the order of entries that tie in everything else."""
    found = connection.execute(
        "SELECT rid, id FROM memory_entries WHERE rid IN (SELECT value FROM json_each(?))", (array(rids),)
    )
    return {rid: (id,) for rid, id in found}


def places(connection: apsw.Connection, rids: Sequence[int]) -> dict[int, str]:
    """Number → project and scope, as one text."""
    found = connection.execute(
        "SELECT rid, project_id || char(31) || scope FROM memory_entries WHERE rid IN (SELECT value FROM json_each(?))",
        (array(rids),),
    )
    return dict(found)


def listing(
    connection: apsw.Connection, filter: EntryFilter, limit: int, offset: int, exclude: Collection[int] = ()
) -> tuple[list[Row], int]:
    """A page in the order of searches without a query: status, importance, confidence, freshness, id; and the total."""
    where, parameters = _where(filter)
    if exclude:
        where, parameters = f"{where} AND e.rid NOT IN (SELECT value FROM json_each(?))", (*parameters, array(exclude))
    found = connection.execute(
        f"{_SELECT} WHERE {where}"
        f" ORDER BY {_STATUS_ORDER}, e.importance DESC, e.confidence DESC NULLS LAST, e.updated_at DESC, e.id"
        " LIMIT ? OFFSET ?",
        (*parameters, limit, offset),
    ).fetchall()
    total = connection.execute(f"SELECT count(*) FROM memory_entries AS e WHERE {where}", parameters).get
    return [_row(row) for row in found], int(total)


def newest(connection: apsw.Connection, filter: EntryFilter, limit: int, offset: int) -> tuple[list[Row], int]:
    """A page of entries, the newest change first, ties by id; and the total."""
    where, parameters = _where(filter)
    found = connection.execute(
        f"{_SELECT} WHERE {where} ORDER BY e.updated_at DESC, e.id LIMIT ? OFFSET ?", (*parameters, limit, offset)
    ).fetchall()
    total = connection.execute(f"SELECT count(*) FROM memory_entries AS e WHERE {where}", parameters).get
    return [_row(row) for row in found], int(total)


def page_by_number(connection: apsw.Connection, filter: EntryFilter, after: int, limit: int) -> list[Row]:
    """Entries above a number, ascending: pages that stay put while others write."""
    where, parameters = _where(filter)
    found = connection.execute(
        f"{_SELECT} WHERE {where} AND e.rid > ? ORDER BY e.rid LIMIT ?",
        (*parameters, after, limit),
    )
    return [_row(row) for row in found]


def changed_since(connection: apsw.Connection, filter: EntryFilter, since: str) -> list[Row]:
    """The entries that changed at that time or later, the newest change first; ties by id."""
    where, parameters = _where(filter)
    found = connection.execute(
        f"{_SELECT} WHERE {where} AND e.updated_at >= ? ORDER BY e.updated_at DESC, e.id", (*parameters, since)
    )
    return [_row(row) for row in found]


def count_by_status(connection: apsw.Connection, project_id: str | None) -> dict[str, int]:
    """How many entries there are of each status, and in all (`entries`)."""
    where, parameters = ("project_id = ?", (project_id,)) if project_id is not None else ("TRUE", ())
    counts: dict[str, int] = dict.fromkeys(STATUSES, 0)
    counts.update(
        connection.execute(f"SELECT status, count(*) FROM memory_entries WHERE {where} GROUP BY status", parameters)
    )
    return {"entries": sum(counts.values()), **counts}


def names(connection: apsw.Connection, column: str, filter: EntryFilter) -> tuple[Count, ...]:
    """The scopes or topics (`column`) in use, or `tags`, with their numbers of entries; most used first, then by name."""
    where, parameters = _where(filter)
    if column == "tags":
        table = "memory_entries AS e JOIN memory_entry_tags AS et ON et.entry_id = e.id JOIN memory_tags AS t ON t.id = et.tag_id"
        name = "t.name"
    else:
        table, name = "memory_entries AS e", f"e.{column}"
    found = connection.execute(
        f"SELECT {name}, count(*) AS n FROM {table} WHERE {where} GROUP BY 1 ORDER BY n DESC, 1", parameters
    )
    return tuple(Count(*row) for row in found)


_STATUS_ORDER = "CASE e.status " + " ".join(f"WHEN '{s}' THEN {i}" for i, s in enumerate(STATUSES)) + " END"


def _where(filter: EntryFilter) -> tuple[str, tuple[str, ...]]:
    conditions, parameters = ["TRUE"], []
    for column in ("project_id", "scope", "topic", "source_type"):
        value = getattr(filter, column)
        if value is not None:
            conditions.append(f"e.{column} = ?")
            parameters.append(value)
    if filter.statuses:
        conditions.append(f"e.status IN ({', '.join('?' * len(filter.statuses))})")
        parameters += filter.statuses
    for tag in filter.tags:
        conditions.append(
            "EXISTS (SELECT 1 FROM memory_entry_tags AS et JOIN memory_tags AS t ON t.id = et.tag_id"
            " WHERE et.entry_id = e.id AND t.name = ?)"
        )
        parameters.append(tag)
    if filter.concepts:
        conditions.append("EXISTS (SELECT 1 FROM ledger_concepts AS c WHERE c.entry_id = e.id)")
    return " AND ".join(conditions), tuple(parameters)


def _row(row: tuple[Any, ...]) -> Row:
    rid, rules, *columns, tags, number, metadata = row
    borne = tuple(tags.split()) if tags else ()
    if number is None:
        return Row(rid, Entry._make((*columns, borne, VERIFICATION_HINT, None, None, None)), rules)
    import json

    known = json.loads(metadata) if metadata else {}
    return Row(rid, Entry._make((*columns, borne, VERIFICATION_HINT, None, display_id(number), known)), rules)
