"""What stores and SQLite indexes share: whether a file can be written here, opening it when it cannot, the switch to WAL."""

from __future__ import annotations

import os
import time

import apsw


def writable(path: str) -> bool:
    """Whether the system lets us write the file and the folder in which its `-wal` and `-shm` live."""
    return os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)


def wal_bytes(path: str) -> int:
    """Size of the write-ahead log of a database file, 0 when there is none."""
    try:
        return os.stat(path + "-wal").st_size
    except OSError:
        return 0


def is_full(error: apsw.Error) -> bool:
    """Whether a failure means that the disk has no room, be it only for what SQLite keeps beside the file."""
    return cause(error) in (apsw.SQLITE_FULL, apsw.SQLITE_IOERR_SHMSIZE)


def cause(error: apsw.Error) -> int:
    """SQLite's extended result code of a failure."""
    return getattr(error, "extendedresult", 0)  # the stubs do not know of it


def open_read_only(path: str) -> apsw.Connection:
    """A connection that reads, whatever may be written here. Raises when a log is there that cannot be read."""
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018  (a log that cannot be opened says so here)
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError):
        # No -shm may be made here. Without a log the file is all there is, and nobody of ours can be writing.
        if wal_bytes(path):
            raise
        uri = f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?immutable=1"
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    return connection


def switch_to_wal(connection: apsw.Connection, patience_ms: int) -> bool:
    """Journal in a log, durably; whether the file system allows it. `BusyError` when others did not let us in so long."""
    if connection.pragma("journal_mode") == "wal":
        return True
    # The first switch by many processes at once does not honour the busy timeout.
    deadline = time.monotonic() + patience_ms / 1000
    while True:
        try:
            return bool(connection.pragma("journal_mode", "wal") == "wal")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
