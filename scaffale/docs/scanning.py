"""The verbs that bring files onto shelves and the index level with them."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from scaffale.docs.correlation import Correlation
from scaffale.errors import NotFound, ScaffaleError, StoreBusy, StoreUnreadable
from scaffale.indexer import journal, shelves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from threading import Event

    from scaffale.indexer import scan
    from scaffale.indexer.database import Database
    from scaffale.model import ScanReport

    Progress = Callable[[int, int, str], None]

LEASE_DOCUMENTS = 2_000  # a scan commits the index that often: a lease of a second or two
COMMIT_DOCUMENTS = 16  # fewer changed documents than that are left to the background thread, when there is one


class Scanning(Correlation):
    """Scans of files and folders."""

    def scan_file(
        self, *, file_path: str, shelf: str, correlate: bool = False, progress: Progress | None = None
    ) -> ScanReport:
        """Bring one Markdown file onto a shelf, which is made if it is new. With `correlate` links are made anew for what
        changed, as `Docs.correlate` does with `only_changed`."""
        from scaffale.indexer import scan

        report = self._scan("file_path", file_path, shelf, scan.Options(), progress)
        return self._correlated(report, progress) if correlate else report

    def scan_folder(
        self,
        *,
        folder_path: str,
        shelf: str,
        recursive: bool = True,
        ignore: Sequence[str] = (),
        respect_gitignore: bool = True,
        correlate: bool = False,
        progress: Progress | None = None,
    ) -> ScanReport:
        """Bring the Markdown files of a folder onto a shelf. What is unchanged since the last scan costs a stat."""
        from scaffale.indexer import scan

        options = scan.Options(recursive=recursive, ignore=tuple(ignore), respect_gitignore=respect_gitignore)
        report = self._scan("folder_path", folder_path, shelf, options, progress)
        return self._correlated(report, progress) if correlate else report

    def resync_all(
        self,
        *,
        shelf: str | None = None,
        remove_missing: bool = False,
        correlate: bool = False,
        progress: Progress | None = None,
    ) -> tuple[ScanReport, ...]:
        """Scan again whatever was scanned before; one report a shelf. Missing files are reported, and forgotten only
        with `remove_missing`."""
        from scaffale.indexer import scan

        if self._with(shelf) is None:
            return ()
        options = scan.Options(remove_missing=remove_missing)
        reports = self._indexed(
            options, lambda database, options, on_batch: scan.resync(database, shelf, options, progress, on_batch)
        )
        return tuple(self._correlated(each, progress) if correlate else each for each in reports)

    def watch(
        self,
        *,
        shelf: str | None = None,
        remove_missing: bool = False,
        correlate: bool = False,
        stop: Event | None = None,
    ) -> Iterator[ScanReport]:
        """Keep shelves level with the folders that were scanned into them: one report for each that was scanned again,
        first for all of them. Goes on until `stop` is set. A scan that cannot be done now is done later."""
        from threading import Event

        from scaffale.docs.watching import Watched

        database, _ = self._existing()
        with database.read() as connection:
            home = shelves.shelf(connection, shelf) if shelf is not None else None
        left: frozenset[int] = frozenset()
        for touched in Watched(database, home.id if home else None).changes(stop or Event()):
            todo, left = touched | left, frozenset()
            for id in sorted(todo):
                uri = shelves.shelf_uri(id, "")
                try:
                    yield from self.resync_all(shelf=uri, remove_missing=remove_missing, correlate=correlate)
                except NotFound:  # the shelf is gone
                    continue
                except (StoreBusy, StoreUnreadable):
                    left |= {id}

    def _correlated(self, report: ScanReport, progress: Progress | None) -> ScanReport:
        done = self.correlate(shelf=report.shelf, apply=True, only_changed=True, progress=progress)
        return report._replace(correlation=done)

    def _scan(
        self, argument: str, path: str, shelf: str, options: scan.Options, progress: Progress | None
    ) -> ScanReport:
        from scaffale.indexer import paths, scan

        roots = self._settings.docs_allowed_roots or None
        stores = (self._settings.memory_db_path, self._settings.docs_db_path)
        target = paths.resolve_inside(path, roots, kind=argument, stores=stores)
        (report,) = self._indexed(
            options,
            lambda database, options, on_batch: [scan.scan(database, shelf, target, options, progress, on_batch)],
        )
        return report

    def _indexed(
        self,
        options: scan.Options,
        work: Callable[[Database, scan.Options, Callable[[int], None]], list[ScanReport]],
    ) -> list[ScanReport]:
        """Run a scan and index as it goes, in leases, so that no other writer waits longer than one of them.

        Whatever becomes of the index, everything that the scan stored is found once it has answered.
        """
        database, projection = self._open()
        options = options._replace(
            scan_id=int.from_bytes(os.urandom(7), "big"),
            max_file_bytes=self._settings.docs_max_file_bytes,
            allowed_roots=self._settings.docs_allowed_roots,
        )
        waiting = stored = 0

        def on_batch(lines: int) -> None:
            nonlocal waiting, stored
            waiting += lines
            stored += lines
            if waiting >= LEASE_DOCUMENTS and projection.catch_up(bulk=True):
                waiting = 0

        try:
            return work(database, options, on_batch)
        finally:
            left = projection.has_unfinished(options.scan_id or 0)  # by a scan that was killed, or is at work
            if stored or left:
                few = self._background and not left and waiting < COMMIT_DOCUMENTS
                bulk = waiting > 10 * COMMIT_DOCUMENTS
                level = not (waiting or left) or (not few and projection.catch_up(bulk=bulk, insist=True))
                if stored:
                    with database.write(durable=False) as connection:
                        journal.acknowledge(connection, options.scan_id or 0, projection.committed())
                if not level:
                    projection.nudge()
                with suppress(ScaffaleError):  # an idle moment will do
                    database.checkpoint()

