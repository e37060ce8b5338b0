"""The one way to a SQLite file: pragmas, waiting, transactions, ordered migrations, errors in our own words.

Rules of this file: every write is `BEGIN IMMEDIATE` and short; every migration is atomic with its record; nothing but
`apsw` ever opens the file, since closing any other descriptor on it would drop SQLite's locks (POSIX). One connection
belongs to one thread.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import apsw

from scaffale.backends import sqlite_file
from scaffale.errors import ScaffaleError, StoreBusy, StoreUnreadable
from scaffale.indexer import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from scaffale.indexer.integrity import Wrong

BUSY_TIMEOUT_MS = 30_000
CHECKPOINT_SECONDS = 5.0  # how long another checkpoint is waited for
WAL_LIMIT_BYTES = 32 * 1024 * 1024

_WRITING = (
    apsw.SQLITE_IOERR_WRITE,
    apsw.SQLITE_IOERR_FSYNC,
    apsw.SQLITE_IOERR_DIR_FSYNC,
    apsw.SQLITE_IOERR_TRUNCATE,
    apsw.SQLITE_IOERR_DELETE,
)
_creating = threading.Lock()


class Migration(NamedTuple):
    """A named step. `apply` runs inside the transaction that also records it."""

    name: str
    apply: Callable[[apsw.Connection], None]


class Heritage(NamedTuple):
    """How the file of a predecessor is taken over: told from others, its tables set aside, then read into the new ones.

    The last two run in one transaction, before and after the migrations; `take_over` says what came over.
    """

    recognises: Callable[[apsw.Connection], bool]
    set_aside: Callable[[apsw.Connection], None]
    take_over: Callable[[apsw.Connection], str]


class Schema(NamedTuple):
    """What kind of store a file is. `application_id` (SQLite header field) tells our files from others'.

    `owners` selects the ids that an index goes by; `wrong` names rows that do not hold what was once written.
    """

    application_id: int
    migrations: Sequence[Migration]
    heritage: Callable[[], Heritage] | None = None
    owners: str = "SELECT 0 WHERE FALSE"
    wrong: Callable[[apsw.Connection], Iterator[Wrong]] | None = None


class Database:
    """A SQLite file with a schema, opened lazily by each thread that uses it.

    `uuid` names this store for ever. Opening creates the file (mode 0600, folder 0700) unless `create=False`, takes what
    others may do with an older one from them, brings the schema up to date, and refuses, without touching it, a file that
    is foreign or written by a newer program.

    `read_only` is true while nothing can be written: no permission, or no room for what SQLite keeps beside the file.
    Then writes are refused and reads go on. Each use asks again, so that a remedy needs no restart.
    """

    def __init__(self, path: str, schema: Schema, *, create: bool = True) -> None:
        self.path = os.path.abspath(path)
        self.read_only = False
        self._schema = schema
        self._local = threading.local()
        self._connections: dict[threading.Thread, apsw.Connection] = {}
        self._guard = threading.Lock()
        self._file: tuple[int, int] | None = None
        self.uuid = ""
        self.report: str | None = None  # what opening did to the file, when it did something that people want to know
        if not exists(self.path):
            if not create:
                raise StoreUnreadable(f"no store at {self.path}")
            _create_private(self.path)
        try:
            with self.border():
                connection = self.connection
                self._migrate(connection)
                self.uuid = connection.execute("SELECT value FROM store WHERE key = 'uuid'").get
            self._file = _identity(self.path)
        except BaseException:
            self.close()
            raise

    @property
    def connection(self) -> apsw.Connection:
        """This thread's connection."""
        try:
            connection: apsw.Connection = self._local.connection
        except AttributeError:
            return self._connect()
        return self._connect() if self.read_only else connection

    def read(self) -> Transaction:
        """`with database.read() as connection:` sees one snapshot of the store."""
        return Transaction(self, "BEGIN")

    def write(self, *, durable: bool = True) -> Transaction:
        """`with database.write() as connection:` commits at the end, or leaves nothing when the block raises.

        A durable commit has reached the disk (`synchronous=FULL`); with `durable=False` a power cut may lose it, a
        crash of the process may not.
        """
        if self.read_only:
            self._connect()
        if self.read_only:
            raise StoreUnreadable(self._refusal())
        return Transaction(self, "BEGIN IMMEDIATE", "FULL" if durable else "NORMAL")

    def said(self, key: str) -> str | None:
        """What the store says under a key of its own; `None` when that is nothing."""
        with self.border():
            found: str | None = self.connection.execute("SELECT value FROM store WHERE key = ?", (key,)).get
        return found

    def border(self) -> Border:
        """`with database.border():` around a single statement on `connection`: its failures in our own words."""
        return Border(self.path)

    def is_current(self) -> bool:
        """Whether the file that was opened still lies at the path. One that was removed or replaced takes every write
        that it gets with it."""
        return _identity(self.path) == self._file

    def taken_away(self) -> StoreUnreadable:
        """What to raise when the file is not current."""
        return StoreUnreadable(
            f"{self.path} was removed or replaced while it was open; nothing was read or written. The next call goes on with"
            " what lies there now: if that was not meant, restore a backup first."
        )

    def checkpoint(self) -> None:
        """Move the WAL into the database file, without waiting for readers, or for whoever is doing so. For idle moments."""
        with self.border(), suppress(apsw.BusyError):
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def rewrite(self) -> bool:
        """Write the file anew without its free pages, and empty the write-ahead log: nothing that was deleted is left in
        them. False when others are in the way, or the disk has no room; nothing is lost then."""
        with self.border():
            connection = self.connection
            try:
                connection.execute("VACUUM")
            except (apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.ReadOnlyError):
                return False
            until = time.monotonic() + CHECKPOINT_SECONDS
            while True:
                try:
                    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                    return True
                except apsw.BusyError:  # somebody else is at a checkpoint: SQLite does not wait for that
                    if time.monotonic() > until:
                        return False
                    time.sleep(0.05)

    def copy(self, path: str) -> None:
        """Write the store as it is at this moment to a new file, compact; this one is only read."""
        with self.border():
            self.connection.execute("VACUUM INTO ?", (path,))

    def pour(self, path: str) -> None:
        """Take in the pages of another store's file, all of them in one transaction: whoever has this store open sees it as
        one."""
        with self.border():
            given = sqlite_file.open_read_only(path)
            deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
            try:
                with self.connection.backup("main", given, "main") as backup:
                    while not backup.done:
                        try:
                            backup.step(-1)
                        except (apsw.BusyError, apsw.LockedError):
                            if time.monotonic() > deadline:
                                raise
                            time.sleep(0.05)
            finally:
                given.close()

    def damage(self, most: int = 5) -> list[str]:
        """What SQLite finds wrong with the file, a few lines at most; empty when nothing is. Reads the whole file."""
        found: list[str] = []
        with self.border():
            try:
                found += [line for (line,) in self.connection.execute(f"PRAGMA quick_check({most})") if line != "ok"]
                for table, _, parent, _ in () if found else self.connection.execute("PRAGMA foreign_key_check"):
                    found.append(f"a row of {table} names one of {parent} that is not there")
            except apsw.CorruptError as error:  # so badly that the check itself stumbles
                found.append(str(error))
        return found[:most]

    def wal_bytes(self) -> int:
        """Size of the write-ahead log, 0 when there is none."""
        return sqlite_file.wal_bytes(self.path)

    def close(self) -> None:
        """Close every thread's connection, but for one in use: that goes when its thread is done with it.

        The last one to leave the file checkpoints it.
        """
        with self._guard:
            connections, self._connections = self._connections, {}
        for connection in connections.values():
            with suppress(apsw.ThreadingViolationError):
                connection.close()
        self._local = threading.local()

    # --- opening ---------------------------------------------------------------------------------------------------

    def _connect(self) -> apsw.Connection:
        try:
            connection = self._open()
        except apsw.Error as error:
            raise translate(error, self.path) from error
        self._local.connection = connection
        with self._guard:
            for thread in [thread for thread in self._connections if not thread.is_alive()]:
                self._connections.pop(thread).close()  # servers come by new threads all day
            self._connections[threading.current_thread()] = connection
        return connection

    def _open(self) -> apsw.Connection:
        """The best connection that the file and its folder allow now."""
        if sqlite_file.writable(self.path):
            try:
                connection = self._open_writable()
                self.read_only = False
                return connection
            except apsw.Error as error:
                if not sqlite_file.is_full(error) or self.wal_bytes():
                    raise
        connection = sqlite_file.open_read_only(self.path)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        self.read_only = True
        return connection

    def _open_writable(self) -> apsw.Connection:
        unfolded = self.wal_bytes()
        connection = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if not self.uuid:
            self._look_first(connection, unfolded)
            _keep_private(self.path)  # before SQLite makes files beside it with its mode
        if not sqlite_file.switch_to_wal(connection, BUSY_TIMEOUT_MS):
            raise StoreUnreadable(f"{self.path} lies on a file system without shared memory; choose a local disk")
        # One statement each: a string of several pragmas stops at the first that returns a row.
        for pragma in (
            "foreign_keys = ON",
            "secure_delete = ON",
            "synchronous = FULL",
            f"journal_size_limit = {WAL_LIMIT_BYTES}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _look_first(self, connection: apsw.Connection, unfolded: int) -> None:
        """Refuse what is not ours before anything of it is changed, be it by the checkpoint of closing."""
        try:
            self._pending(connection)
        except BaseException:
            if unfolded:
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.close()
            raise

    def _refusal(self) -> str:
        if sqlite_file.writable(self.path):
            return f"disk full: {self.path} cannot be written; nothing was written. Free some space and try again."
        return f"{self.path} is read-only here: reading and searching go on, writing needs permission"

    def _migrate(self, connection: apsw.Connection) -> None:
        if self._pending(connection) == 0:
            return
        if self.read_only:
            raise StoreUnreadable(f"{self.path} needs an upgrade, which this read-only folder does not allow")
        backup = self._back_up(connection) if self._heritage(connection) else None
        with self.write():
            # Asked again inside the lock: another process may have migrated while this one waited.
            done = len(self._schema.migrations) - self._pending(connection)
            heritage = self._heritage(connection)
            if heritage:
                heritage.set_aside(connection)
            if done == 0:
                _create_base(connection, self._schema.application_id)
            for version, migration in enumerate(self._schema.migrations[done:], done + 1):
                migration.apply(connection)
                connection.execute(
                    "INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)",
                    (version, migration.name, clock.now()),
                )
            if heritage:
                self.report = f"{heritage.take_over(connection)}; the store as it was is kept at {backup}"
                connection.execute("INSERT INTO store VALUES ('heritage', ?)", (self.report,))

    def _heritage(self, connection: apsw.Connection) -> Heritage | None:
        """How to take the file over, when it is a predecessor's."""
        heritage = self._schema.heritage() if self._schema.heritage else None
        return heritage if heritage and heritage.recognises(connection) else None

    def _back_up(self, connection: apsw.Connection) -> str:
        """A copy of the file as it is, beside it. Several processes at once make one; none is ever half there."""
        final = f"{self.path}.predecessor"
        if not os.path.exists(final):
            part = f"{final}.{os.urandom(6).hex()}"
            connection.execute("VACUUM INTO ?", (part,))
            os.chmod(part, 0o600)
            os.replace(part, final)
        return final

    def _pending(self, connection: apsw.Connection) -> int:
        """How many migrations are still to run. Refuses what is not ours or comes from the future."""
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
        application_id = connection.pragma("application_id")
        if not tables and not application_id:
            return len(self._schema.migrations)
        if application_id != self._schema.application_id:
            if not application_id and self._heritage(connection):
                return len(self._schema.migrations)
            raise StoreUnreadable(
                f"{self.path} is a SQLite database of another program (application id {application_id:#x}); "
                "it was left untouched. Choose another path for this store."
            )
        version = connection.execute("SELECT max(version) FROM schema_migrations").get or 0
        known = len(self._schema.migrations)
        if version > known:
            raise StoreUnreadable(
                f"{self.path} has schema version {version}; this program knows {known}. "
                "It was left untouched: upgrade the program, or restore a backup made before the upgrade."
            )
        return known - version


class Transaction:
    """One transaction as a context manager. Created by `Database.read` and `Database.write`."""

    __slots__ = ("_begin", "_connection", "_database", "_synchronous")

    def __init__(self, database: Database, begin: str, synchronous: str | None = None) -> None:
        self._database = database
        self._begin = begin
        self._synchronous = synchronous

    def __enter__(self) -> apsw.Connection:
        self._connection = connection = self._database.connection
        try:
            if self._synchronous == "NORMAL":
                connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(self._begin)
        except apsw.Error as error:
            self._restore()
            raise translate(error, self._database.path) from error
        return connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection = self._connection
        try:
            if kind is None:
                connection.execute("COMMIT")
        except apsw.Error as failure:
            raise translate(failure, self._database.path) from failure
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._restore()
        if isinstance(error, apsw.Error):
            raise translate(error, self._database.path) from error

    def _restore(self) -> None:
        if self._synchronous == "NORMAL" and not self._connection.in_transaction:
            self._connection.execute("PRAGMA synchronous = FULL")


def translate(error: apsw.Error, path: str) -> ScaffaleError | apsw.Error:
    """A SQLite failure in the words of its cause. A defect of ours (a wrong statement) comes back as it was."""
    if isinstance(error, apsw.BusyError | apsw.LockedError | apsw.ProtocolError):
        return StoreBusy(f"{path} was busy for {BUSY_TIMEOUT_MS // 1000} s; nothing was written. Try again.")
    if sqlite_file.is_full(error):
        return StoreUnreadable(f"disk full: {path} cannot grow; nothing was written. Free some space and try again.")
    if isinstance(error, apsw.ReadOnlyError):
        return StoreUnreadable(f"{path} cannot be written: read-only file or folder; nothing was written.")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return StoreUnreadable(
            f"{path} is damaged or not a SQLite database ({error}). Restore a backup of it with `scaffale restore`, or save what"
            " can be read with `scaffale doctor --repair`.",
            damaged=True,
        )
    if isinstance(error, apsw.IOError) and sqlite_file.cause(error) in _WRITING:
        return StoreUnreadable(
            f"{path} cannot be written ({error}): the disk fails, or a quota or limit on file sizes is reached;"
            " nothing was acknowledged. Look after the disk and try again."
        )
    if isinstance(error, apsw.CantOpenError | apsw.IOError | apsw.PermissionsError | apsw.AuthError):
        return StoreUnreadable(f"{path} {_why_unreadable(error, path)}")
    return error


def _why_unreadable(error: apsw.Error, path: str) -> str:
    if os.path.isdir(path):
        return "is a folder; a store is a file. Choose another path for this store."
    if sqlite_file.wal_bytes(path) and not sqlite_file.writable(path):
        return "was not closed in order, and putting that right needs permission to write. Open it once with that permission."
    return f"cannot be opened or read ({error}). Check the disk and the file's permissions."


class Border:
    """What SQLite raises in the block leaves in the words of its cause."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, apsw.Error):
            raise translate(error, self._path) from error


def exists(path: str) -> bool:
    """Whether a store lies at the path. One that may not be looked at is no store that is not there: `StoreUnreadable`."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreUnreadable(f"{path} cannot be looked at: {error.strerror}") from error
    return True


def _identity(path: str) -> tuple[int, int] | None:
    """What tells the file at the path from any that takes its place."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _create_private(path: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreUnreadable(f"cannot create the folder of {path}: {error.strerror}") from error
    try:
        with _creating:  # no SQLite connection of this process may be open on the file while this descriptor closes
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        pass  # another process was first
    except OSError as error:
        raise StoreUnreadable(f"cannot create {path}: {error.strerror}") from error


def _keep_private(path: str) -> None:
    """Take from others what they may do with an older file, a predecessor's say; by name, without a descriptor."""
    for part in ("", "-wal", "-shm"):
        with suppress(OSError):  # not there, or somebody else's: `doctor` says so
            mode = os.stat(path + part).st_mode
            if mode & 0o077 and os.name == "posix":
                os.chmod(path + part, mode & 0o700)


def _create_base(connection: apsw.Connection, application_id: int) -> None:
    connection.execute(f"PRAGMA application_id = {application_id}")
    connection.execute(
        "CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
    )
    connection.execute("CREATE TABLE store (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID")
    connection.execute("INSERT INTO store VALUES ('uuid', lower(hex(randomblob(16))))")
    connection.execute("INSERT INTO store VALUES ('key', randomblob(32))")


def array(numbers: Iterable[int]) -> str:
    """The numbers as a JSON array, for `json_each`; without the millisecond that importing `json` costs a command."""
    return f"[{','.join(map(str, numbers))}]"
