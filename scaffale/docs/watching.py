"""Which shelves have to be scanned again, as files change. It reads no file and writes nothing; a scan does both.

The system tells of changes (`watchfiles`); a burst of them is one answer, given once it is quiet or has gone on for
`LONGEST` seconds. What the system may have kept to itself, since too much happened at once, comes up in a look at everything
now and then. Folders that were scanned meanwhile, or are back, are watched from the next second on.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from scaffale.files import is_inside
from scaffale.indexer import shelves
from scaffale.indexer.walk import is_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from threading import Event

    from watchfiles import Change

    from scaffale.indexer.database import Database

QUIET_MS, LONGEST_MS = 300, 5_000  # a burst ends after so long without a change; one without end is cut there
RECHECK_MS = 1_000  # how often folders that are to be watched are asked for
EVERY = 600.0  # seconds between two looks at everything
_IGNORE_FILE = ".gitignore"


class Watched:
    """The folders behind some shelves. `database` may come to hold more of them, or others, at any time."""

    def __init__(self, database: Database, shelf_id: int | None) -> None:
        self._database, self._shelf_id = database, shelf_id

    def changes(self, stop: Event) -> Iterator[frozenset[int]]:
        """Ids of shelves to scan again, until `stop` is set: first all, then those whose files changed; every second or so,
        none where nothing did."""
        from watchfiles import watch

        polling: bool | None = None
        while not stop.is_set():
            roots = self._roots()
            present = {root: ids for root, ids in roots.items() if os.path.lexists(root)}
            if not present:
                yield frozenset()
                stop.wait(RECHECK_MS / 1000)
                continue
            due = 0.0  # what happened before somebody watched is found by looking
            try:
                for batch in watch(
                    *present,
                    watch_filter=_Filter(present),
                    step=QUIET_MS,
                    debounce=LONGEST_MS,
                    rust_timeout=RECHECK_MS,
                    yield_on_timeout=True,
                    stop_event=stop,
                    force_polling=polling,
                ):
                    if time.monotonic() >= due:
                        due = time.monotonic() + EVERY
                        touched = frozenset().union(*roots.values())
                    else:
                        touched = self._touched(present, batch)
                    yield touched
                    # A file that was put in place of a watched one is not watched itself.
                    if any(path in present and not os.path.isdir(path) for _, path in batch):
                        break
                    if self._roots() != roots or any(os.path.lexists(root) != (root in present) for root in roots):
                        break
            except OSError:  # no more of its watches are to be had, say
                if polling:
                    raise
                polling = True

    def _roots(self) -> dict[str, frozenset[int]]:
        """What was scanned, and for which shelves."""
        found: dict[str, frozenset[int]] = {}
        with self._database.read() as connection:
            ids = [each.id for each in shelves.list_shelves(connection)] if self._shelf_id is None else [self._shelf_id]
            for id in ids:
                for source in shelves.sources(connection, id):
                    found[source.root] = found.get(source.root, frozenset()) | {id}
        return found

    def _touched(self, roots: dict[str, frozenset[int]], batch: set[tuple[Change, str]]) -> frozenset[int]:
        """The shelves that these changes may be news for."""
        touched: set[int] = set()
        for _, path in batch:
            ids = frozenset().union(*(ids for root, ids in roots.items() if is_inside(path, root)))
            if not ids <= touched and self._is_news(path, ids):
                touched |= ids
        return frozenset(touched)

    def _is_news(self, path: str, shelf_ids: frozenset[int]) -> bool:
        """Not what happens to a file that no scan would take; folders come and go, and so do the documents in them."""
        if is_markdown(path) or os.path.basename(path) == _IGNORE_FILE or os.path.isdir(path):
            return True
        if os.path.lexists(path):
            return False
        with self._database.read() as connection:
            return any(shelves.has_documents_below(connection, id, path) for id in shelf_ids)


class _Filter:
    """Leaves out what lies in folders that no scan enters. Asked for every change, so it only looks at the name."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = tuple(roots)

    def __call__(self, _: Change, path: str) -> bool:
        below = next((path[len(root) :] for root in self._roots if is_inside(path, root)), path)
        *folders, name = below.split(os.sep)
        if name.startswith(".") and name != _IGNORE_FILE:
            return False
        return not any(folder.startswith(".") or folder == "node_modules" for folder in folders)
