"""Vectors of the store → a vector index: the same road as for words, with the changes of a space for a journal.

A search brings the handle level first: what the journal has is written down (`embedding.follow`), and what changed since
is applied to the index. Owners of whom that could not be done, since too much is new or nothing can be written, are left
out of answers by vectors; words find them. An index that is missing, damaged, foreign or of a store that was rolled back
is deleted and filled from the store.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scaffale.backends.codes import decode
from scaffale.backends.ports import EngineAway, WriterBusy
from scaffale.errors import IndexUnusable, ScaffaleError
from scaffale.indexer import embedding, journal, vectors
from scaffale.model import Watermark

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import apsw

    from scaffale.backends import VectorEngine
    from scaffale.backends.ports import Vector, VectorIndex
    from scaffale.backends.spaces import Space
    from scaffale.indexer.sync import Source
    from scaffale.indexer.vectors import Coverage, SpaceRow
    from scaffale.model import Filter, Hit

    Progress = Callable[[int, int, str], None]

AT_ONCE = 256  # owners that a search takes in; more are left to whoever works in the background
BATCH = 256
REST_SECONDS = 5.0  # after an engine on another machine did not answer


class Near(NamedTuple):
    """Passages near a vector, best first, and how much of the store they were chosen from."""

    hits: list[Hit]
    coverage: Coverage


class VectorProjection:
    """One store's vector index, kept level. Safe to share between threads.

    `wanted` is the identity of the space that was chosen; while it is being filled for the first time the one before it
    answers.
    """

    def __init__(self, source: Source, engine: VectorEngine, wanted: str) -> None:
        self.source = source
        self.engine = engine
        self.wanted = wanted
        self._database = source.database
        self._guard = threading.RLock()
        self._handle: VectorIndex | None = None
        self._folder = ""
        self._inode = 0
        self._space = ""
        self._trouble = ""  # why an engine elsewhere is not asked before `_rests_until`
        self._rests_until = 0.0
        self._counted: tuple[object, Coverage] | None = None

    @property
    def space(self) -> Space | None:
        """The space that answers; `None` when the wanted one was dropped."""
        with self._database.read() as connection:
            row = vectors.serving(connection, self.wanted)
        return row.space if row else None

    def search(self, identity: str, vector: Vector, filter: Filter, k: int, exclude: Collection[int] = ()) -> Near:
        """The best `k` passages by the vector, which is of the space `identity`. Raises `IndexUnusable` when no index can
        be had now."""
        if time.monotonic() < self._rests_until:
            raise IndexUnusable(self._trouble)
        for attempt in (1, 2):
            try:
                with self._guard:
                    handle, stale, coverage = self._level(identity, AT_ONCE)
                return Near(handle.search(vector, filter, k, stale.union(exclude)), coverage)
            except EngineAway as error:
                self._trouble = str(error)
                self._rests_until = time.monotonic() + REST_SECONDS
                raise IndexUnusable(self._trouble) from error
            except (IndexUnusable, OSError) as error:
                if attempt == 2:
                    raise IndexUnusable(str(error)) from error
                self._remove()
        raise AssertionError

    def own(self, identity: str, owner: int) -> list[Vector]:
        """The vectors of an owner in this space, piece by piece; none while they are not made."""
        with self._database.read() as connection:
            row = vectors.find(connection, identity)
            if row is None:
                return []
            passages = self.source.passages(connection, [owner])
            ((_, rows),) = vectors.rows(connection, row.id, passages, [owner])
        return [decode(stored) for _, pieces in rows for stored in pieces]

    def means(self, identity: str, owners: Collection[int]) -> dict[int, Vector]:
        """The mean of each owner's vectors; one without any is left out."""
        with self._database.read() as connection:
            row = vectors.find(connection, identity)
            return vectors.means(connection, row.id, owners) if row else {}

    def fetch(self, passages: Collection[int]) -> dict[int, list[bytes]]:
        """The stored vectors of passages, as the last search saw them; none without one."""
        handle = self._handle
        try:
            return handle.fetch(passages) if handle else {}
        except (IndexUnusable, EngineAway):
            return {}

    def catch_up(self, progress: Progress | None = None) -> bool:
        """Bring the index of the serving space level, however long that takes; false when that cannot be now."""
        with self._database.read() as connection:
            row = vectors.serving(connection, self.wanted)
        if row is None:
            return False
        try:
            with self._guard:
                self._level(row.space.identity, None, progress)
        except (IndexUnusable, OSError):
            self._remove()
            with self._guard:
                self._level(row.space.identity, None, progress)
        return True

    def coverage(self) -> Coverage | None:
        """How much of the store has its vectors in the serving space."""
        with self._database.read() as connection:
            row = vectors.serving(connection, self.wanted)
            return vectors.coverage(connection, row, self.source.count(connection)) if row else None

    def rebuild(self) -> bool:
        """Delete the index, and fill it from the store."""
        self.catch_up()  # opens it, wherever it is
        self._remove()
        return self.catch_up()

    def close(self) -> None:
        """Let go of the index."""
        with self._guard:
            handle, self._handle = self._handle, None
        if handle:
            handle.close()

    # --- inside ----------------------------------------------------------------------------------------------------

    def _level(
        self, identity: str, most: int | None, progress: Progress | None = None
    ) -> tuple[VectorIndex, set[int], Coverage]:
        """The handle, taken up to the newest change; owners of whom it shows nothing true; the coverage."""
        with self._database.read() as connection:
            row = self._row(connection, identity)
            behind = self._behind(connection, row)
        if behind is None or behind:
            if not self._database.read_only and (most is None or (behind is not None and len(behind) <= most)):
                with suppress(ScaffaleError):  # whoever can will do it; these owners are left out until then
                    embedding.follow(self.source, identity, most)
            with self._database.read() as connection:
                row = self._row(connection, identity)
                behind = self._behind(connection, row)
        if behind is None:
            raise IndexUnusable("the journal does not go back to where these vectors stand; they are being looked through")
        handle = self._open(row)
        stale = behind | self._follow(handle, row, most, progress)
        return handle, stale, self._coverage(row, behind)

    def _follow(self, handle: VectorIndex, row: SpaceRow, most: int | None, progress: Progress | None) -> set[int]:
        """Apply what changed in the space; returns owners of whom that is still to be done."""
        with self._database.read() as connection:
            mark = handle.watermark()
            level = vectors.level(connection, row, self._database.uuid)
            if mark == level or not row.change:
                return set()
            if mark and not vectors.agrees(connection, row, mark, self._database.uuid):
                raise IndexUnusable("the index belongs to another state of the store")
            changed = [owner for owner, _ in vectors.changed(connection, row.id, mark.seq if mark else 0)]
        if most is not None and len(changed) > most and mark:
            return set(changed)
        for start in range(0, len(changed), BATCH):
            owners = changed[start : start + BATCH]
            with self._database.read() as connection:
                rows = vectors.rows(connection, row.id, self.source.passages(connection, owners), owners)
            try:
                handle.apply(rows, level if start + BATCH >= len(changed) else None)
            except WriterBusy:
                return set(changed[start:])
            if progress:
                progress(min(start + BATCH, len(changed)), len(changed), "")
        return set()

    def _behind(self, connection: apsw.Connection, row: SpaceRow) -> set[int] | None:
        """Owners with changes that the space does not know; `None` when the journal cannot tell."""
        if row.seq == 0:
            return None
        lines = journal.since(connection, Watermark(self._database.uuid, row.seq, row.nonce))
        return None if lines is None else {line.owner for line in lines}

    def _row(self, connection: apsw.Connection, identity: str) -> SpaceRow:
        row = vectors.find(connection, identity)
        if row is None:
            raise IndexUnusable("these vectors were dropped meanwhile")
        return row

    def _coverage(self, row: SpaceRow, behind: set[int]) -> Coverage:
        key = (row.id, row.change, row.walked, frozenset(behind))
        if self._counted is None or self._counted[0] != key:
            with self._database.read() as connection:
                counted = vectors.coverage(connection, row, self.source.count(connection))
            self._counted = key, counted._replace(embedded=max(0, counted.embedded - len(behind)))
        return self._counted[1]

    def _open(self, row: SpaceRow) -> VectorIndex:
        """The index of the space. One whose file was taken away is opened anew."""
        folder = os.path.join(
            f"{self._database.path}.index",
            f"vectors-{self.engine.identity}-{row.space.identity}-{self._database.uuid[:12]}-{row.id}",
        )
        if self._handle and (folder != self._folder or _inode(folder) != self._inode):
            self._handle.close()
            self._handle = None
        if self._handle is None:
            self._folder = folder
            self._handle = self.engine.open(folder, row.space.dimensions)
            self._inode = _inode(folder)
        return self._handle

    def _remove(self) -> None:
        with self._guard:
            folder = self._folder
            self.close()
            if folder and not self._database.read_only:
                self.engine.discard(folder)


def _inode(folder: str) -> int:
    try:
        return os.stat(folder).st_ino
    except OSError:
        return -1
