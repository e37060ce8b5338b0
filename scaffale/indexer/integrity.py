"""Whether a store holds what it held: SQLite's own checks, ends of references, and digests of what people wrote.

Every finding is a line for a person; it names rows by id and never repeats content. It reads, and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaffale.indexer.database import Schema

MOST = 20  # findings of one kind


class Wrong(NamedTuple):
    """A row, by table and key, whose content is not what was written."""

    table: str
    key: str
    id: int | str
    finding: str


def findings(connection: apsw.Connection, schema: Schema) -> Iterator[str]:
    """What is wrong with a store: pages and indexes, references, the journal, contents."""
    contents = (each.finding for each in (schema.wrong(connection) if schema.wrong else ()))
    for lines in (_pages(connection), _references(connection), _journal(connection), contents):
        try:
            yield from _few(lines)
        except apsw.Error as error:  # so badly that the check itself stumbles
            yield f"{error}"


def _few(lines: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == MOST:
            yield "and more of this kind"
            return
        yield line


def _pages(connection: apsw.Connection) -> Iterator[str]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({MOST + 1})"):
        if line != "ok":
            yield " ".join(line.split())


def _references(connection: apsw.Connection) -> Iterator[str]:
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield f"a row of {table} names one of {parent} that is not there"


def _journal(connection: apsw.Connection) -> Iterator[str]:
    """Lines are pruned from the oldest on; those that are left follow one another."""
    first, last, count = connection.execute("SELECT min(seq), max(seq), count(*) FROM journal").get
    if not count:
        yield "the journal has no line"
    elif last - first + 1 != count:
        yield f"the journal lacks {last - first + 1 - count} of its lines {first} to {last}"
