"""A project of 20,000 entries out to a file and in again: the same bytes, and what the way in costs beside bare SQLite.

The bare arm puts the very rows that the import wrote, in all its tables and indexes, into an empty store of the same
schema: `executemany` of prepared rows in one durable transaction. The import reads and parses the file, checks every
field, hash and secret, and writes the same rows. CPU time of the process, arms in turn.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import time
from typing import TYPE_CHECKING

from benchmarks import corpora
from benchmarks.measure import Figure, median, show
from scaffale import settings as settings_module
from scaffale.indexer import clock, entries
from scaffale.indexer.database import Database
from scaffale.memory import Memory
from scaffale.model import EntryDraft

if TYPE_CHECKING:
    from collections.abc import Iterator

ENTRIES = 20_000
ROUNDS = 3
PROJECT = "benchmark"
TABLES = ("projects", "memory_entries", "memory_tags", "memory_entry_tags", "memory_links", "journal")


def figures(folder: str, size: int) -> Iterator[Figure]:
    """Throughput of an import as a share of the bare arm's; and whether the round trip kept every byte."""
    first, second = os.path.join(folder, "1.json"), os.path.join(folder, "2.json")
    with _memory(folder, "from") as memory:
        _fill(memory)
        _export(memory, first)
    with _memory(folder, "to") as memory:
        _import(memory, first)
        _export(memory, second)
        connection = memory._open()[0].connection
        rows = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
    same = _without_date(first) == _without_date(second)
    ours, bare = [], []
    for number in range(ROUNDS):
        bare.append(_bare(os.path.join(folder, f"bare-{number}.sqlite"), rows))
        with _memory(folder, f"round-{number}") as memory:
            gc.collect()
            begin = time.process_time()
            _import(memory, first)
            ours.append(time.process_time() - begin)
    arms = show(("import", median(ours)), ("bare insert", median(bare)))
    yield Figure("round trip of 20,000 entries: bytes that differ", 0.0 if same else 1.0, 0.0, slack=0.0)
    yield Figure("import of 20,000 entries / bare insert, throughput", median(bare) / median(ours), 0.5, at_most=False, arms=arms)


def _memory(folder: str, name: str) -> Memory:
    home = os.path.join(folder, name)
    os.makedirs(home)
    return Memory(settings_module.load({"HOME": home}, home))


def _fill(memory: Memory) -> None:
    memory.add_entry(
        actor="benchmark", project_id=PROJECT, scope="first", topic="first", content="First.", source_type="decision"
    )
    pieces = corpora.sections(ENTRIES - 1)
    with memory._open()[0].write() as connection:
        for number, piece in enumerate(pieces):
            text = piece.text if piece.text.strip() else piece.heading
            draft = EntryDraft(
                f"scope-{number % 20}", f"topic-{number % 200}", text, "decision", title=piece.heading[:200] or None,
                tags=tuple(sorted({f"tag-{number % 50}", f"tag-{number % 31}"})), importance=1 + number % 5, confidence=0.5,
            )  # fmt: skip
            digest = hashlib.sha256(text.encode()).hexdigest()
            entries.add(connection, f"entry-{number:06}", PROJECT, draft, digest, "benchmark", clock.now())


def _export(memory: Memory, path: str) -> None:
    memory.export_project(actor="benchmark", project_id=PROJECT, save_path=path, anywhere=True)


def _import(memory: Memory, path: str) -> None:
    # An honest text may look like a secret to a rule; masking one is as much work.
    memory.import_project(actor="benchmark", project_id=PROJECT, import_path=path, anywhere=True, secrets="redact")


def _bare(path: str, rows: dict[str, list[tuple[object, ...]]]) -> float:
    database = Database(path, entries.SCHEMA)
    connection = database.connection
    gc.collect()
    begin = time.process_time()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM journal")
    for table, values in rows.items():
        if values:
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
    connection.execute("COMMIT")
    spent = time.process_time() - begin
    database.close()
    return spent


def _without_date(path: str) -> bytes:
    with open(path, "rb") as file:
        return re.sub(rb'"exported_at": "[^"]*"', b"", file.read())
