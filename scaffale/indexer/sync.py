"""Journal → index: the only road by which anything is indexed. Adding an entry, scanning a folder, switching engines and
building from nothing are this road, longer or shorter.

A search first brings its handle level: what the journal has beyond the commit is shown by the overlay. Commits are made
in batches, by whoever gets the writer lock, off the path of reads and writes. An index that is missing, foreign, damaged,
or of another store or journal is built anew into a folder of the next generation, and the store's pointer is switched;
until it stands the store itself is searched. None of this is ever an error to the user: it is a warning.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from scaffale import backends
from scaffale.backends.ports import WriterBusy
from scaffale.errors import IndexUnusable, ScaffaleError
from scaffale.indexer import journal
from scaffale.model import Hits, Watermark
from scaffale.text import italian, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import apsw

    from scaffale.backends.ports import IndexWriter, LexicalIndex
    from scaffale.indexer.database import Database
    from scaffale.model import Filter, JournalLine, Passage
    from scaffale.text import Query

GROUP_SECONDS = 0.25  # a background commit waits that long for company
COMMIT_AT = 64  # changed owners; with fewer, a process without a background thread leaves them to the overlay
ROOM_BYTES = 1024 * 1024  # free space with which an index failure is not put down to a full disk
REST_SECONDS = 30.0  # after an index could not be written: a full disk is not helped by trying at every search
OVERLAY_LIMIT = 256  # beyond it a search without a background thread commits first, when the lock is free
REFRESH_AT = 16  # overlaid owners; then it is worth asking whether somebody has committed them
BATCH = 256
_WORDS_KNOWN = 20_000  # whose stems are kept at hand, when they are no longer than that:
_WORD_MOST = 40


class Source(Protocol):
    """A store, as its projections see it."""

    database: Database

    def passages(self, connection: apsw.Connection, owners: Sequence[int]) -> dict[int, list[Passage]]:
        """What the owners look like now. One that is gone has no item."""

    def owners(self, connection: apsw.Connection, after: int, limit: int) -> list[int]:
        """Ids of all owners above `after`, ascending."""

    def count(self, connection: apsw.Connection) -> int:
        """How many owners there are."""


class Answer(NamedTuple):
    """What a search of the projection gave. `lag` counts changes of running scans that are not searchable yet."""

    found: Hits
    lag: int
    warnings: tuple[str, ...]


class Projection:
    """One store's lexical index, kept level. Safe to share between threads.

    With `background=True` a thread commits what was written or found uncommitted, a moment later.
    """

    def __init__(self, source: Source, choice: str = "auto", *, background: bool = False) -> None:
        self._source = source
        self._database = source.database
        self.engine = backends.lexical(choice)
        self._guard = threading.RLock()
        self._handle: LexicalIndex | None = None
        self._stems: dict[str, list[str]] = {}  # of words met; an engine stems a word alike for good
        self._generation = 0
        self._scanned = 0
        self._refreshed = 0.0
        self._notes: list[str] = [self.engine.warning] if self.engine.warning else []
        self._trouble = ""  # what stood in the way of writing the index; it is not tried again before `_rests_until`
        self._rests_until = 0.0
        self._wake = threading.Event()
        self._closing = False
        self._worker = threading.Thread(target=self._work, daemon=True, name="scaffale-index") if background else None
        if self._worker:
            self._worker.start()

    # --- searching -------------------------------------------------------------------------------------------------

    def search(self, query: Query, filter: Filter, k: int, exclude: Collection[int] = ()) -> Answer:
        """The best `k` of everything acknowledged so far, on whatever serves. See `Hits`.

        Signs are in no index: for a query of nothing else the store itself is read.
        """
        if not query.terms:
            return Answer(self._search_store(query, filter, k, exclude) if query.literals else Hits([], 0), 0, self.warnings())
        for _ in range(2):
            try:
                handle = self._level()
                if handle is None:
                    break
                return Answer(handle.search(query, filter, k, exclude), self._scanned, self.warnings())
            except IndexUnusable as error:
                self._set_aside(error)
        reason = BUILDING if self._writable() and not self._rests() else WITHOUT_INDEX
        return Answer(self._search_store(query, filter, k, exclude), 0, (*self.warnings(), reason))

    def renew(self, owners: Collection[int]) -> set[int]:
        """Show these owners as they are in the store now, though the scan that changed them has not answered yet.

        Returns the others that wait for that answer: what the index holds of them is out of date, too.
        """
        with self._guard:
            handle = self._handle
            level = handle.level() if handle else None
            if handle is None or level is None:
                return set()
            with self._database.read() as connection:
                head = journal.head(connection, self._database.uuid)
                passages = self._source.passages(connection, list(owners))
                behind = journal.pending_owners(connection, self.committed())
            handle.overlay([(head.seq, owner, passages.get(owner, ())) for owner in owners], level)
        return behind.difference(owners)

    def stems(self, text: str) -> list[str]:
        """The terms of a text as the serving engine may have them, in English passages or Italian; for snippets."""
        stems = self._stems.get(text)
        if stems is None:
            handle = self._handle
            if handle is None:
                return []
            written = plain(text)
            stems = [*handle.stems(written), *handle.stems(italian(written))]
            if len(text) <= _WORD_MOST:
                if len(self._stems) >= _WORDS_KNOWN:
                    self._stems.clear()
                self._stems[text] = stems
        return stems

    def terms(self, prefix: str) -> set[str]:
        """The terms that begin so, of whatever serves; none while no index can."""
        handle = self._handle
        return handle.terms(prefix) if handle and prefix else set()

    def lag(self) -> dict[str, int]:
        """`uncommitted`: changes that searches show from memory; `unsearchable`: changes of running scans."""
        try:
            handle = self._level()
        except IndexUnusable as error:
            self._set_aside(error)
            handle = self._handle
        if handle is None:
            return {"uncommitted": 0, "unsearchable": 0}
        return {"uncommitted": handle.overlaid(), "unsearchable": self._scanned}

    def warnings(self) -> tuple[str, ...]:
        """What is not as it should be with this index."""
        return (*self._notes, self._trouble) if self._rests() else tuple(self._notes)

    # --- committing ------------------------------------------------------------------------------------------------

    def nudge(self) -> None:
        """Something was written. Costs nothing now; the background thread, when there is one, commits it soon."""
        self._wake.set()

    def catch_up(self, *, bulk: bool = False, insist: bool = False) -> bool:
        """Commit everything that the journal has. False when another process holds the writer lock, or nothing can be
        written here; searches show it all the same. `insist` tries even when that failed a moment ago."""
        if insist:
            self._rests_until = 0.0
        try:
            with self._guard:
                handle = self._open()
            return handle is not None and self._commit(handle, bulk=bulk)
        except IndexUnusable as error:
            self._set_aside(error)
            return self._level() is not None

    def damage(self) -> list[str]:
        """What is wrong with the files of the index; empty when nothing is. Reads all of them."""
        try:
            with self._guard:
                handle = self._open()
            if handle:
                handle.verify(deep=True)
        except IndexUnusable as error:
            return [_short(error)]
        return []

    def has_unfinished(self, scan: int) -> bool:
        """Whether changes of other scans than this one wait for a commit."""
        with self._database.read() as connection:
            return journal.has_unfinished(connection, self.engine.identity, scan)

    def committed(self) -> int:
        """The journal line up to which the index is committed, 0 for none."""
        handle = self._handle
        mark = handle.watermark() if handle else None
        return mark.seq if mark else 0

    def unpurged(self) -> bool:
        """Whether files may still hold what was deleted from the store."""
        with self._database.read() as connection:
            return bool(journal.forgotten(connection, _INDEXES) or journal.forgotten(connection, _STORE))

    def purge(self) -> bool | None:
        """Leave nothing in any file of what was deleted. True when that is so now, False when another process is in the
        way or there is no room, `None` when there was nothing to do."""
        if not self.unpurged():
            return None
        return self._purge_indexes() and self._purge_store()

    def _purge_store(self) -> bool:
        with self._database.read() as connection:
            upto = journal.forgotten(connection, _STORE)
        if not self._database.rewrite():
            return False
        with self._database.write() as connection:
            journal.purged(connection, _STORE, upto)
        return True

    def _purge_indexes(self) -> bool:
        """Engines keep the terms of what they hide. So the index is built anew from the store, and every other index
        folder of the store goes."""
        with self._database.read() as connection:
            upto = journal.forgotten(connection, _INDEXES)
        if not upto:
            return True
        if not self.rebuild():
            return False
        with self._database.write() as connection:
            journal.retire_indexes(connection, self.engine.identity)
            journal.purged(connection, _INDEXES, upto)
        mine = os.path.basename(self._folder(self._generation))
        with suppress(OSError):
            for entry in os.scandir(os.path.dirname(self._folder(self._generation))):
                if entry.name != mine:
                    _remove(entry.path)
        return True

    def maintain(self, *, rebuild: bool = False) -> list[str]:
        """Bring the index level, or build it anew, and fold the write-ahead log into the store. Says what was done."""
        damage = [] if rebuild else self.damage()
        done = self.rebuild() if rebuild or damage else self.catch_up(insist=True)
        what = f"was damaged ({damage[0]}) and is built anew" if damage else "built anew" if rebuild else "brought level"
        busy = "left as it is: another process writes it, or nothing can be written here"
        lines = [f"{self.engine.name} index {what if done else busy}"]
        if self._writable():
            gone = self.purge()
            if gone is not None:
                lines.append(PURGED if gone else NOT_PURGED)
            self._database.checkpoint()
        return [*lines, f"write-ahead log {self._database.wal_bytes()} bytes"]

    def differences(self) -> tuple[int, int]:
        """How many owners the store has and the index lacks, and how many it is the other way round, once it is level."""
        self.catch_up(insist=True)
        with self._guard:
            handle = self._open()
        indexed = handle.owners() if handle else set()
        lacking = 0
        with self._database.read() as connection:
            after = 0
            while owners := self._source.owners(connection, after, BATCH):
                absent = [owner for owner in owners if owner not in indexed]
                lacking += len(self._source.passages(connection, absent)) if absent else 0
                indexed.difference_update(owners)
                after = owners[-1]
        return lacking, len(indexed)

    def close(self) -> None:
        """Commit when much is uncommitted, then let go."""
        self._closing = True
        self._wake.set()
        if self._worker:
            self._worker.join(timeout=5)
        with self._guard:
            handle, self._handle = self._handle, None
        if handle:
            if handle.overlaid() >= COMMIT_AT or self._scanned:
                with suppress(ScaffaleError):  # the next process does it
                    self._commit(handle, bulk=False)
            handle.close()

    # --- inside ----------------------------------------------------------------------------------------------------

    def _level(self) -> LexicalIndex | None:
        """The handle, showing everything acknowledged; `None` while no index can serve."""
        with self._guard:
            handle = self._open()
            if handle is None:
                return None
            with self._database.read() as connection:
                tail = self._tail(connection, handle)
                if tail is not None:
                    shown, scanned = tail
                    if scanned or self._scanned:
                        handle.refresh()
                        mark = handle.watermark()
                        self._scanned = journal.pending(connection, mark.seq if mark else 0)
                        self._wake.set()  # should the scan have died, somebody must bring its work in
                    if len(shown) >= REFRESH_AT:  # perhaps somebody has committed them: a scan does that before it answers
                        handle.refresh()
                        shown, _ = self._tail(connection, handle) or (shown, scanned)
                    if not shown:
                        return handle
                    few = handle.overlaid() + len(shown) <= OVERLAY_LIMIT
                    if few or self._worker or not self._writable():
                        self._overlay(connection, handle, shown)
                        self._refresh_sometimes(handle)
                        self._wake.set()
                        return handle
            if tail is None:
                raise IndexUnusable("the index belongs to another state of the store")
            # Many changes and no background thread: commit them now if nobody else is at it.
            if self._commit(handle, bulk=len(shown) > 10 * OVERLAY_LIMIT):
                return handle
            with self._database.read() as connection:
                again = self._tail(connection, handle)
                if again and again[0]:
                    self._overlay(connection, handle, again[0])
            return handle

    def _tail(
        self, connection: apsw.Connection, handle: LexicalIndex
    ) -> tuple[list[JournalLine], list[JournalLine]] | None:
        if self._pointer(connection) != self._generation:
            return None
        mark = handle.level() or journal.first(connection, self._database.uuid)
        if mark is None or mark.store != self._database.uuid:
            return None
        return journal.tail(connection, mark)

    def _overlay(self, connection: apsw.Connection, handle: LexicalIndex, lines: Sequence[JournalLine]) -> None:
        last = {line.owner: line.seq for line in lines}
        for batch in _batches(list(last)):
            passages = self._source.passages(connection, batch)
            changes = [(last[owner], owner, passages.get(owner, ())) for owner in batch]
            handle.overlay(changes, Watermark(self._database.uuid, lines[-1].seq, lines[-1].nonce))

    def _refresh_sometimes(self, handle: LexicalIndex) -> None:
        if handle.overlaid() >= REFRESH_AT and time.monotonic() - self._refreshed > GROUP_SECONDS:
            self._refreshed = time.monotonic()
            handle.refresh()

    def _commit(self, handle: LexicalIndex, *, bulk: bool) -> bool:
        """Bring the index level. False when that cannot be now: another holds the lock, or nothing can be written.

        A full disk is no reason to build the index anew: the handle goes on serving, the overlay shows what is newer.
        """
        if not self._writable() or self._rests():
            return False
        lines = None
        try:
            with handle.writer(bulk=bulk) as writer, self._database.read() as connection:
                mark = writer.watermark or journal.first(connection, self._database.uuid)
                if mark and mark.store == self._database.uuid:
                    lines = journal.since(connection, mark)
                if lines:
                    self._fill(connection, writer, list(dict.fromkeys(line.owner for line in lines)))
                    writer.commit(Watermark(self._database.uuid, lines[-1].seq, lines[-1].nonce))
        except WriterBusy:
            return False
        except IndexUnusable as error:
            if self._has_room():
                raise
            self._rest(error)
            return False
        if lines is None:
            raise IndexUnusable("the index belongs to another state of the store")
        self._rests_until = 0.0
        handle.refresh()
        if lines:
            with suppress(ScaffaleError):  # the next commit notes it
                self._point(self._generation, lines[-1].seq)
        return True

    def _rest(self, error: Exception) -> None:
        self._rests_until = time.monotonic() + REST_SECONDS
        reason = _short(error)
        self._trouble = f"the {self.engine.name} index cannot be written now ({reason}); searches are complete all the same"

    def _rests(self) -> bool:
        return time.monotonic() < self._rests_until

    def _has_room(self) -> bool:
        """Whether the disk could hold the index once more: else building it anew only takes the store's last bytes."""
        folder = self._folder(self._generation)
        try:
            size = sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())
            disk = os.statvfs(folder)
        except (OSError, AttributeError):  # no folder, no such call on this system
            return True
        return disk.f_bavail * disk.f_frsize > size + ROOM_BYTES

    def _fill(self, connection: apsw.Connection, writer: IndexWriter, owners: Sequence[int]) -> None:
        for batch in _batches(owners):
            passages = self._source.passages(connection, batch)
            for owner in batch:
                writer.replace(owner, passages.get(owner, ()))

    # --- opening and building --------------------------------------------------------------------------------------

    def _open(self) -> LexicalIndex | None:
        if self._handle is not None:
            return self._handle
        generation = self._current()
        folder = self._folder(generation)
        if not self._writable() and not os.path.isdir(folder):
            return None
        try:
            handle = self.engine.open(folder)
            self._check(handle)
        except (IndexUnusable, OSError) as error:
            built = self._build(generation + 1)
            if built is None:
                return None
            self._note(f"the {self.engine.name} index was not usable and was built anew ({_short(error)})")
            handle, generation = built, generation + 1
        self._handle, self._generation = handle, generation
        return handle

    def _check(self, handle: LexicalIndex) -> None:
        with self._database.read() as connection:
            mark = handle.level() or journal.first(connection, self._database.uuid)
            if mark is None or not self._agrees(connection, mark):
                raise IndexUnusable("it belongs to another state of the store")

    def _build(self, generation: int) -> LexicalIndex | None:
        """A new index from a snapshot of the store, in the folder of `generation`. `None` when that cannot be now."""
        if not self._writable() or self._rests():
            return None
        folder = self._folder(generation)
        try:
            try:
                handle, head = self._built(folder)
            except IndexUnusable:  # what a crashed builder, or another store at this place, has left behind
                _remove(folder)
                handle, head = self._built(folder)
            self._point(generation, head.seq)
        except WriterBusy:
            return None  # another process builds it
        except (ScaffaleError, OSError) as error:
            self._rest(error)
            _remove(folder)
            return None
        self._rests_until = 0.0
        for older in range(max(1, generation - 3), generation):
            _remove(self._folder(older))
        return handle

    def _built(self, folder: str) -> tuple[LexicalIndex, Watermark]:
        handle = self.engine.open(folder)
        with handle.writer(bulk=True) as writer, self._database.read() as connection:
            head = journal.head(connection, self._database.uuid)
            if writer.watermark and not self._agrees(connection, writer.watermark):
                raise IndexUnusable("it holds another state")
            after = 0
            while owners := self._source.owners(connection, after, BATCH):
                self._fill(connection, writer, owners)
                after = owners[-1]
            if writer.watermark:  # a builder died between its commit and the pointer: owners may be gone since
                gone = journal.since(connection, writer.watermark) or []
                self._fill(connection, writer, [line.owner for line in gone])
            writer.commit(head)
        handle.refresh()
        return handle, head

    def _agrees(self, connection: apsw.Connection, mark: Watermark) -> bool:
        return mark.store == self._database.uuid and journal.since(connection, mark, 1) is not None

    def _set_aside(self, error: IndexUnusable) -> None:
        """The handle in use is no good. Somebody may have built a newer index already; else build one."""
        with self._guard:
            handle, self._handle = self._handle, None
            pointer = self._current()
            if handle is None or pointer > self._generation:
                return
            built = self._build(pointer + 1)
            if built is not None:
                self._note(f"the {self.engine.name} index was built anew ({_short(error)})")
                self._handle, self._generation = built, pointer + 1

    def rebuild(self) -> bool:
        """Build a new index now and switch to it. False when another process is building one."""
        with self._guard:
            self._rests_until = 0.0
            generation = self._current() + 1
            built = self._build(generation)
            if built is None:
                return False
            self._handle, self._generation = built, generation
            return True

    def _current(self) -> int:
        with self._database.border():
            return self._pointer(self._database.connection)

    def _pointer(self, connection: apsw.Connection) -> int:
        row = connection.execute(
            "SELECT generation FROM lexical_indexes WHERE identity = ?", (self.engine.identity,)
        ).get
        return int(row or 1)

    def _point(self, generation: int, seq: int) -> None:
        """Note in the store which folder holds the index and how far it is; prune the journal far below."""
        with self._database.write(durable=False) as connection:
            connection.execute(
                "INSERT INTO lexical_indexes VALUES (?1, ?2, ?3) ON CONFLICT (identity) DO UPDATE"
                " SET generation = max(generation, ?2), seq = ?3",
                (self.engine.identity, generation, seq),
            )
            journal.prune(connection)
        self._generation = generation

    def _folder(self, generation: int) -> str:
        return os.path.join(f"{self._database.path}.index", f"{self.engine.identity}-{generation}")

    def _writable(self) -> bool:
        return not self._database.read_only

    def _note(self, note: str) -> None:
        if note not in self._notes:
            self._notes.append(note)

    # --- without an index ------------------------------------------------------------------------------------------

    def _search_store(self, query: Query, filter: Filter, k: int, exclude: Collection[int]) -> Hits:
        from scaffale.backends.brute import search_passages

        with self._database.read() as connection:
            return search_passages(self._all_passages(connection), query, filter, k, exclude)

    def _all_passages(self, connection: apsw.Connection) -> Iterator[Passage]:
        after = 0
        while owners := self._source.owners(connection, after, BATCH):
            for passages in self._source.passages(connection, owners).values():
                yield from passages
            after = owners[-1]

    # --- the background thread -------------------------------------------------------------------------------------

    def _work(self) -> None:
        verified = False
        while not self._closing:
            self._wake.wait()
            if self._closing:
                return
            self._wake.clear()
            try:
                if not verified:  # once a process: files rot between processes, not under one
                    verified = True
                    self._verify()
                time.sleep(GROUP_SECONDS)
                if self.catch_up():
                    with suppress(ScaffaleError):  # the next idle moment will do
                        self._database.checkpoint()
                else:
                    time.sleep(GROUP_SECONDS)
            except Exception as error:  # a thread that died would never commit again
                if not self._closing:
                    self._rest(error)

    def _verify(self) -> None:
        try:
            handle = self._level()
            if handle:
                handle.verify()
        except IndexUnusable as error:
            self._set_aside(error)


_INDEXES, _STORE = "indexes", "store"
PURGED = "what was deleted is gone from every file"
NOT_PURGED = "what was deleted is still in some file: another process is in the way, or there is no room; try again later"
WITHOUT_INDEX = "no index can be used here now; the store itself was searched, word by word and without stems"
BUILDING = "the index is being built; the store itself was searched, word by word and without stems"


def _batches(owners: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(owners), BATCH):
        yield owners[start : start + BATCH]


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 160 else f"{text[:160]}…"


def _remove(folder: str) -> None:
    import shutil

    # Processes that still have it open keep their files (POSIX), or keep them from being removed (Windows).
    shutil.rmtree(folder, ignore_errors=True)
