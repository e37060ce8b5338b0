"""The journal joins truth and projections: every canonical change appends one numbered line in its own transaction.

An index keeps the number it has reached, its watermark, and catches up by reading what came after. Numbers rise in
commit order, since a line gets its number inside an IMMEDIATE transaction. The newest line is never pruned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.model import JournalLine, Watermark

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

KEEP_LINES = 10_000  # below the slowest index, so that a process with an older searcher still finds its tail
GIVE_UP_LINES = 200_000  # an index further behind is not in use any more; should it be again, a snapshot fills it


def create(connection: apsw.Connection) -> None:
    """The tables, as part of a store's first migration."""
    connection.execute(
        "CREATE TABLE journal (seq INTEGER PRIMARY KEY, nonce INTEGER NOT NULL, owner INTEGER NOT NULL,"
        " scan INTEGER) STRICT"  # the scan that wrote the line, if one did
    )
    connection.execute("INSERT INTO journal (nonce, owner) VALUES (random(), 0)")  # owner 0 is nobody: the start
    connection.execute(
        "CREATE TABLE lexical_indexes (identity TEXT PRIMARY KEY, generation INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT"
    )


def append(connection: apsw.Connection, owner: int, scan: int | None = None) -> None:
    """Note that `owner` (an entry or a document) changed, came or went. Call it inside the change's transaction."""
    connection.execute("INSERT INTO journal (nonce, owner, scan) VALUES (random(), ?, ?)", (owner, scan))


def forget(connection: apsw.Connection, owner: int) -> None:
    """Note that `owner` was deleted for good: from here on the store knows that its files have to be purged."""
    append(connection, owner)
    connection.execute(
        "INSERT INTO store VALUES ('forgotten', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1",
        (connection.last_insert_rowid(),),
    )


def forgotten(connection: apsw.Connection, what: str) -> int:
    """The line of the last deletion whose bytes `what` (the store, or an index by its identity) may still hold; 0 for none."""
    return int(
        connection.execute(
            "SELECT value FROM store WHERE key = 'forgotten'"
            " AND value > coalesce((SELECT value FROM store WHERE key = ?), 0)",
            (f"purged {what}",),
        ).get
        or 0
    )


def purged(connection: apsw.Connection, what: str, upto: int) -> None:
    """Note that `what` holds nothing any more of what was deleted up to that line."""
    connection.execute(
        "INSERT INTO store VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = max(value, ?2)", (f"purged {what}", upto)
    )


def retire_indexes(connection: apsw.Connection, but: str) -> None:
    """Whoever uses an index of another identity is to build it anew."""
    connection.execute("UPDATE lexical_indexes SET generation = generation + 1 WHERE identity <> ?", (but,))


def append_all(connection: apsw.Connection, owners: Iterable[int], scan: int | None = None) -> None:
    """`append` for many owners."""
    connection.executemany(
        "INSERT INTO journal (nonce, owner, scan) VALUES (random(), ?, ?)", [(owner, scan) for owner in owners]
    )


def acknowledge(connection: apsw.Connection, scan: int, committed: int) -> None:
    """The scan answers now: what of it the index (committed up to that line) does not hold gets lines of its own.

    New lines, since readers have passed the old ones; from here on every search shows them. The old ones become lines
    like any other, committed or not: an index that is built anew from the journal must not wait for them.
    """
    connection.execute(
        "INSERT INTO journal (nonce, owner) SELECT random(), owner FROM journal WHERE scan = ? AND seq > ? GROUP BY owner",
        (scan, committed),
    )
    connection.execute("UPDATE journal SET scan = NULL WHERE scan = ?", (scan,))


def pending(connection: apsw.Connection, committed: int) -> int:
    """How many changes of unanswered scans stand above the line up to which an index is committed."""
    return int(
        connection.execute(
            "SELECT count(DISTINCT owner) FROM journal WHERE seq > ? AND scan IS NOT NULL", (committed,)
        ).get
    )


def pending_owners(connection: apsw.Connection, committed: int) -> set[int]:
    """Whom those changes are about."""
    rows = connection.execute("SELECT DISTINCT owner FROM journal WHERE seq > ? AND scan IS NOT NULL", (committed,))
    return {owner for (owner,) in rows}


def has_unfinished(connection: apsw.Connection, identity: str, but: int) -> bool:
    """Whether lines of other scans than `but` may wait for a commit of the index: of one that runs, or that died."""
    return bool(
        connection.execute(
            "SELECT EXISTS (SELECT 1 FROM journal WHERE scan <> ? AND seq >"
            " coalesce((SELECT seq FROM lexical_indexes WHERE identity = ?), 0))",
            (but, identity),
        ).get
    )


def first(connection: apsw.Connection, store: str) -> Watermark | None:
    """The watermark of an index that has read nothing, while the journal still begins at its beginning."""
    seq, nonce = connection.execute("SELECT seq, nonce FROM journal ORDER BY seq LIMIT 1").get
    return Watermark(store, seq, nonce) if seq == 1 else None


def head(connection: apsw.Connection, store: str) -> Watermark:
    """The watermark of an index that has read everything."""
    seq, nonce = connection.execute("SELECT seq, nonce FROM journal ORDER BY seq DESC LIMIT 1").get
    return Watermark(store, seq, nonce)


def since(connection: apsw.Connection, mark: Watermark, limit: int = -1) -> list[JournalLine] | None:
    """Lines after the watermark, oldest first; `None` when the watermark is not of this journal, or too old for it."""
    rows: list[Any] = connection.execute(
        "SELECT seq, nonce, owner FROM journal WHERE seq >= ? ORDER BY seq LIMIT ?", (mark.seq, limit + 1 if limit > 0 else -1)
    ).fetchall()
    if not rows or rows[0][:2] != (mark.seq, mark.nonce):
        return None
    return [JournalLine(*row) for row in rows[1:]]


def tail(connection: apsw.Connection, mark: Watermark) -> tuple[list[JournalLine], list[JournalLine]] | None:
    """Lines after the watermark: those that a search must show, and those of scans, which only a commit brings.

    `None` as for `since`. This is the one question that every search asks.
    """
    rows: list[Any] = connection.execute(
        "SELECT seq, nonce, owner, scan FROM journal WHERE seq >= ? ORDER BY seq", (mark.seq,)
    ).fetchall()
    if not rows or rows[0][:2] != (mark.seq, mark.nonce):
        return None
    if len(rows) == 1:
        return [], []
    shown = [JournalLine(*row[:3]) for row in rows[1:] if row[3] is None]
    scanned = [JournalLine(*row[:3]) for row in rows[1:] if row[3] is not None]
    return shown, scanned


def prune(connection: apsw.Connection) -> int:
    """Drop lines far below the slowest index in use; returns how many. The newest line stays."""
    connection.execute(
        "DELETE FROM journal WHERE seq < (SELECT min(seq) FROM lexical_indexes"
        " WHERE seq > (SELECT max(seq) FROM journal) - ?) - ? AND seq < (SELECT max(seq) FROM journal)",
        (GIVE_UP_LINES, KEEP_LINES),
    )
    return int(connection.changes())
