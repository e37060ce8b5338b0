"""The raw arms: the least that anybody could do with the bare libraries. FROZEN: `baselines.json` holds this file's digest.

Nothing here imports Scaffale. A change of this file changes what every ratio means, so it needs a new digest and its
reason in `baselines.json`.
"""

from __future__ import annotations

import os

import apsw
import pyromark
import tantivy
from tantivy import Document, Filter, Occur, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

# --- one entry: a transaction of the same rows ------------------------------------------------------------------------

ENTRY_TABLES = """
CREATE TABLE entries (rid INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, project_id TEXT NOT NULL, scope TEXT,
 topic TEXT, title TEXT, content TEXT, summary TEXT, source_type TEXT, source_ref TEXT, source_path TEXT, source_uri TEXT,
 content_sha256 TEXT, status TEXT, confidence REAL, importance INTEGER, created_by TEXT, created_at TEXT, updated_at TEXT) STRICT;
CREATE INDEX entries_hash ON entries (project_id, content_sha256);
CREATE INDEX entries_place ON entries (project_id, status, scope, topic);
CREATE TABLE tags (id INTEGER PRIMARY KEY, project_id TEXT, name TEXT, created_at TEXT, UNIQUE (project_id, name)) STRICT;
CREATE TABLE entry_tags (entry_id TEXT, tag_id INTEGER, PRIMARY KEY (entry_id, tag_id)) STRICT, WITHOUT ROWID;
CREATE TABLE audit (seq INTEGER PRIMARY KEY, id TEXT, timestamp TEXT, project_id TEXT, operation TEXT, entry_id TEXT,
 actor TEXT, outcome TEXT, error_code TEXT, params TEXT, result TEXT) STRICT;
"""


def entry_store(path: str) -> apsw.Connection:
    """A WAL database that syncs every commit, with tables shaped like a store's."""
    connection = apsw.Connection(path)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    for statement in ENTRY_TABLES.split(";"):
        if statement.strip():
            connection.execute(statement)
    return connection


def add_entry(connection: apsw.Connection, id: str, text: str, sha256: str, audit: str) -> None:
    """One transaction: the entry, two tags, the audit row."""
    now = "2026-01-01T00:00:00.000Z"
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "INSERT INTO entries (id, project_id, scope, topic, title, content, source_type, content_sha256, status,"
        " importance, created_by, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (id, "project", "scope", "topic", "title", text, "decision", sha256, "active", 3, "me", now, now),
    )
    for tag in ("one", "two"):
        connection.execute(
            "INSERT INTO tags (project_id, name, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", ("project", tag, now)
        )
        connection.execute(
            "INSERT INTO entry_tags SELECT ?, id FROM tags WHERE project_id = ? AND name = ?", (id, "project", tag)
        )
    connection.execute(
        "INSERT INTO audit (id, timestamp, project_id, operation, entry_id, actor, outcome, params, result)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (id, now, "project", "add", id, "me", "ok", audit, "{}"),
    )
    connection.execute("COMMIT")


# --- searching: Tantivy and FTS5, the same words and filters ----------------------------------------------------------


class BareTantivy:
    """Title and body as two stemmed fields, three raw filter fields, one search call."""

    def __init__(self, folder: str) -> None:
        builder = SchemaBuilder()
        builder.add_integer_field("id", indexed=True, fast=True)
        for name in ("title", "body"):
            builder.add_text_field(name, tokenizer_name="en")
        for name in ("project", "status", "source"):
            builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
        self.schema = builder.build()
        self.analyzer = (
            TextAnalyzerBuilder(Tokenizer.simple())
            .filter(Filter.remove_long(60))
            .filter(Filter.lowercase())
            .filter(Filter.stemmer("english"))
            .filter(Filter.ascii_fold())
            .build()
        )
        os.makedirs(folder, exist_ok=True)
        self.index = tantivy.Index(self.schema, folder)
        self.index.register_tokenizer("en", self.analyzer)

    def fill(self, rows: list[tuple[int, str, str, str, str, str]]) -> None:
        """`(id, title, body, project, status, source)` rows, one commit."""
        writer = self.index.writer(128_000_000, 1)
        for id, title, body, project, status, source in rows:
            document = Document()
            document.add_integer("id", id)
            document.add_text("title", title)
            document.add_text("body", body)
            document.add_text("project", project)
            document.add_text("status", status)
            document.add_text("source", source)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def query(self, words: str, project: str, status: str, source: str) -> Query:
        """Words OR-ed over title (boosted) and body, three Musts."""
        schema = self.schema
        shoulds = []
        for token in self.analyzer.analyze(words):
            shoulds.append((Occur.Should, Query.boost_query(Query.term_query(schema, "title", token), 1.5)))
            shoulds.append((Occur.Should, Query.term_query(schema, "body", token)))
        musts = [(Occur.Must, Query.boolean_query(shoulds))]
        for name, value in (("project", project), ("status", status), ("source", source)):
            musts.append((Occur.Must, Query.const_score_query(Query.term_query(schema, name, value, "basic"), 0.0)))
        return Query.boolean_query(musts)

    def search(self, words: str, project: str, status: str, source: str, limit: int = 10) -> list[object]:
        """Addresses and scores, nothing else."""
        return list(self.searcher.search(self.query(words, project, status, source), limit).hits)

    def open(self) -> None:
        """Search what the folder holds already."""
        self.index.reload()
        self.searcher = self.index.searcher()

    def search_text(self, words: str, limit: int = 10) -> list[object]:
        """Words OR-ed over title and body, no filter."""
        shoulds = []
        for token in self.analyzer.analyze(words):
            shoulds.append((Occur.Should, Query.boost_query(Query.term_query(self.schema, "title", token), 1.5)))
            shoulds.append((Occur.Should, Query.term_query(self.schema, "body", token)))
        return list(self.searcher.search(Query.boolean_query(shoulds), limit).hits)


class BareFts5:
    """One FTS5 table joined with its rows; one statement with bm25() and snippet()."""

    def __init__(self, path: str) -> None:
        self.connection = apsw.Connection(path)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = NORMAL")
        self.connection.execute(
            "CREATE TABLE rows (id INTEGER PRIMARY KEY, title TEXT, body TEXT, project TEXT, status TEXT, source TEXT)"
        )
        self.connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5(title, body, content = 'rows', content_rowid = 'id',"
            " tokenize = 'porter unicode61 remove_diacritics 2')"
        )

    def fill(self, rows: list[tuple[int, str, str, str, str, str]]) -> None:
        """The same rows as Tantivy's."""
        with self.connection:
            self.connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", rows)
            self.connection.execute("INSERT INTO words (words) VALUES ('rebuild')")

    def search(self, words: str, project: str, status: str, source: str, limit: int = 10) -> list[object]:
        """Rows with score and snippet."""
        match = " OR ".join(f'"{word}"' for word in words.split())
        return self.connection.execute(
            "SELECT r.id, r.title, r.source, bm25(words, 1.5, 1.0) AS score, snippet(words, 1, '>>>', '<<<', '…', 32)"
            " FROM words JOIN rows AS r ON r.id = words.rowid"
            " WHERE words MATCH ? AND r.project = ? AND r.status = ? AND r.source = ?"
            " ORDER BY score LIMIT ?",
            (match, project, status, source, limit),
        ).fetchall()


# --- a folder of Markdown: read, parse, ingest in bulk -----------------------------------------------------------------


def read_parse_ingest(paths: list[str], database: str, folder: str) -> int:
    """Read every file, parse it, split at headings, one SQLite transaction and one Tantivy commit for all. Returns bytes."""
    connection = apsw.Connection(database)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INTEGER, mtime_ns INTEGER)")
    connection.execute(
        "CREATE TABLE sections (id INTEGER PRIMARY KEY, document_id INTEGER, heading TEXT, start INTEGER, body TEXT)"
    )
    bare = BareTantivy(folder)
    writer = bare.index.writer(128_000_000, 1)
    size = 0
    connection.execute("BEGIN IMMEDIATE")
    for number, path in enumerate(paths):
        with open(path, "rb") as file:
            data = file.read()
        info = os.stat(path)
        size += len(data)
        starts = [0]
        for event, span in pyromark.events_with_range(data.decode()):
            if isinstance(event, dict) and isinstance(event.get("Start"), dict) and "Heading" in event["Start"]:
                starts.append(span["start"])
        connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", (number, path, info.st_size, info.st_mtime_ns))
        for start, end in zip(starts, [*starts[1:], len(data)], strict=True):
            body = data[start:end].decode()
            if not body:
                continue
            heading = body.split("\n", 1)[0]
            connection.execute(
                "INSERT INTO sections (document_id, heading, start, body) VALUES (?, ?, ?, ?)", (number, heading, start, body)
            )
            document = Document()
            document.add_integer("id", connection.last_insert_rowid())
            document.add_text("title", heading)
            document.add_text("body", body)
            document.add_text("project", "shelf")
            writer.add_document(document)
    connection.execute("COMMIT")
    writer.commit()
    writer.wait_merging_threads()
    connection.close()
    return size


def stat_all(paths: list[str]) -> int:
    """`os.stat` of every file."""
    return sum(os.stat(path).st_size for path in paths)


EMPTY_SERVER = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
import mcp_types as types

async def tools(context, params):
    return types.ListToolsResult(tools=[])

async def main():
    server = Server("empty", on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
"""An MCP server without anything, on the same SDK."""

IMPORT_ENGINES = "import apsw, tantivy"
"""The least that a search from the command line must import."""
