"""What can be read of a store's file that may be damaged: an examination of it, and its rows.

The file is read through SQLite: what SQLite cannot reach is lost, and named. Nothing here changes it.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import apsw

from scaffale.backends import sqlite_file
from scaffale.errors import StoreUnreadable
from scaffale.indexer import integrity, journal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaffale.indexer.database import Database, Schema

_OWN = ("schema_migrations", "journal", "lexical_indexes", "sqlite_sequence")  # tables that a new store fills itself
_NOT_OF_STORE = "key NOT IN ('uuid', 'forgotten') AND key NOT LIKE 'purged %'"
MOST_PROBED = 1_000_000  # keys of a table that are asked for one by one, where its pages cannot be walked


def examined(path: str, schema: Schema) -> tuple[list[str], int, str]:
    """`(what is wrong, schema version, uuid)` of a store's file that nobody has open."""
    try:
        with closing(sqlite_file.open_read_only(path)) as connection:
            if connection.pragma("application_id") != schema.application_id:
                return ["it is no store of this kind"], 0, ""
            version = connection.execute("SELECT max(version) FROM schema_migrations").get
            uuid = connection.execute("SELECT value FROM store WHERE key = 'uuid'").get
            if version > len(schema.migrations):
                return [f"it has schema version {version}; this program knows {len(schema.migrations)}"], version, uuid
            known = schema if version == len(schema.migrations) else schema._replace(wrong=None)  # other columns
            return list(integrity.findings(connection, known)), version, uuid
    except apsw.Error as error:
        return [str(error)], 0, ""


def salvage(path: str, database: Database, schema: Schema) -> tuple[dict[str, int], list[str]]:
    """Bring all rows that can be read into an empty store: how many by table, and what is lost.

    Rows whose content is not what was written are lost, and so are those that belonged to a lost one.
    """
    lost: list[str] = []
    with closing(_opened(path)) as old:
        return _salvage(old, database, schema, lost), lost


def _opened(path: str) -> apsw.Connection:
    try:
        connection = sqlite_file.open_read_only(path)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.Error as error:
        raise StoreUnreadable(
            f"nothing of {path} can be read ({error}). Restore a backup: scaffale restore FOLDER"
        ) from error
    return connection


def _salvage(old: apsw.Connection, database: Database, schema: Schema, lost: list[str]) -> dict[str, int]:
    """Rows by table, once all of them are in the new store."""
    saved: dict[str, int] = {}
    connection = database.connection
    connection.execute("PRAGMA foreign_keys = OFF")
    with database.write():
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")]
        for table in tables:
            if table not in _OWN:
                saved[table] = _save_table(old, connection, table, lost)
        for wrong in schema.wrong(connection) if schema.wrong else ():
            connection.execute(f'DELETE FROM "{wrong.table}" WHERE "{wrong.key}" = ?', (wrong.id,))
            lost.append(f"{wrong.table}: {wrong.finding}")
            saved[wrong.table] -= 1
        _drop_orphans(connection, saved, lost)
        owners = [owner for (owner,) in connection.execute(schema.owners)]
        journal.append_all(connection, owners)
    return {table: count for table, count in saved.items() if count}


def _save_table(old: apsw.Connection, new: apsw.Connection, table: str, lost: list[str]) -> int:
    there = {row[1] for row in _rows(old, f'PRAGMA table_info("{table}")')}
    info: list[Any] = new.execute(f'PRAGMA table_info("{table}")').fetchall()
    columns = [row[1] for row in info if row[1] in there]
    if not columns:
        return 0
    keys = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
    number = keys[0] if len(keys) == 1 and next(row[2] for row in info if row[1] == keys[0]) == "INTEGER" else None
    where = f" AND {_NOT_OF_STORE}" if table == "store" else ""
    named = ", ".join(f'"{column}"' for column in columns)
    insert = f'INSERT OR IGNORE INTO "{table}" ({named}) VALUES ({", ".join("?" * len(columns))})'
    before = new.execute(f'SELECT count(*) FROM "{table}"').get
    reading = _Reading(old, table, named, keys, number, where)
    for row in reading:
        try:
            new.execute(insert, row)
        except apsw.Error as error:  # of another type than the table takes: it is no row of ours any more
            lost.append(f"{table}: a row does not fit ({error})")
    lost += reading.lost
    return int(new.execute(f'SELECT count(*) FROM "{table}"').get) - int(before)


class _Reading:
    """The rows of a table as far as they can be read: from its beginning, from its end, and, where its keys are numbers, one
    by one in between."""

    def __init__(
        self, connection: apsw.Connection, table: str, columns: str, keys: list[str], number: str | None, where: str
    ) -> None:
        self._connection, self._table, self._columns, self._where = connection, table, columns, where
        self._order = ", ".join(f'"{key}"' for key in keys) or "rowid"
        self._back = ", ".join(f'"{key}" DESC' for key in keys) or "rowid DESC"
        self._number = number
        self.lost: list[str] = []

    def __iter__(self) -> Iterator[Any]:
        last: int | None = None
        try:
            for at, *row in self._walk(self._order):
                yield row
                last = at
            return
        except apsw.Error as error:
            self.lost.append(f"{self._table}: reading it broke off ({error})")
        first: int | None = None
        with suppress(apsw.Error):
            for at, *row in self._walk(self._back):
                yield row
                first = at
        if first is None:
            known = _rows(self._connection, f"SELECT seq FROM sqlite_sequence WHERE name = '{self._table}'")
            first = known[0][0] + 1 if known else None
        if self._number is None or first is None or first - (last or 0) > MOST_PROBED:
            return
        missing = 0
        for key in range((last or 0) + 1, first):
            try:
                found = self._connection.execute(
                    f'SELECT {self._columns} FROM "{self._table}" WHERE "{self._number}" = ?{self._where}', (key,)
                ).fetchone()
            except apsw.Error:
                missing += 1
                continue
            if found:
                yield found
        if missing:
            self.lost.append(f"{self._table}: {missing} rows from {(last or 0) + 1} to {first - 1} cannot be read")

    def _walk(self, order: str) -> Iterator[Any]:
        key = f'"{self._number}"' if self._number else "0"
        # Without an index in between: one of them may be what is damaged.
        return iter(
            self._connection.execute(
                f'SELECT {key}, {self._columns} FROM "{self._table}" NOT INDEXED WHERE TRUE{self._where} ORDER BY {order}'
            )
        )


def _drop_orphans(connection: apsw.Connection, saved: dict[str, int], lost: list[str]) -> None:
    """Rows whose other end is lost go, too, until every reference has two ends."""
    while True:
        orphans: list[Any] = connection.execute("PRAGMA foreign_key_check").fetchall()
        if not orphans:
            return
        for table, rowid, parent, number in orphans:
            if rowid is None:  # a table without rowids: by what it refers to
                refers = [row for row in connection.execute(f'PRAGMA foreign_key_list("{table}")') if row[0] == number]
                match = " AND ".join(f'p."{row[4] or row[3]}" = "{table}"."{row[3]}"' for row in refers)
                connection.execute(f'DELETE FROM "{table}" WHERE NOT EXISTS (SELECT 1 FROM "{parent}" AS p WHERE {match})')
            else:
                connection.execute(f'DELETE FROM "{table}" WHERE rowid = ?', (rowid,))
            gone = connection.changes()
            if gone:
                saved[table] -= gone
                lost.append(f"{table}: {gone} rows belonged to one of {parent} that is lost")


def _rows(connection: apsw.Connection, statement: str) -> list[Any]:
    try:
        return connection.execute(statement).fetchall()
    except apsw.Error:
        return []
