"""Folder → plan → store: what is new is read, what changed is read again, what is the same costs a `stat`.

Rules of this file: no file is read inside a transaction, and none is ever written; one bad file never stops a scan; the
counts of a report add up, and whatever was not taken is named with its reason. A batch is one short transaction, so a
scan that is killed leaves whole documents and goes on where it stopped. The same unchanged folder again writes nothing,
but for one note on files that were too young to be trusted when they were read (freshness.py).
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from scaffale import files
from scaffale.errors import Conflict, InvalidParam, ScaffaleError
from scaffale.indexer import clock, documents, reading, shelves
from scaffale.indexer.freshness import digest, is_young, numbers
from scaffale.indexer.plan import Plan, Seen, pair, plan
from scaffale.indexer.records import Fingerprint, Source
from scaffale.indexer.walk import SUFFIXES, Folder, check_patterns, is_markdown, is_unicode, skip, walk
from scaffale.model import ScanReport, Shelf, Skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import apsw

    from scaffale.indexer.database import Database
    from scaffale.indexer.documents import Draft, Stored

    Progress = Callable[[int, int, str], None]
    OnBatch = Callable[[int], None]

MAX_FILE_BYTES = 10 * 1024 * 1024
BATCH_FILES = 500
BATCH_BYTES = 8 * 1024 * 1024


class Options(NamedTuple):
    """How to scan. `ignore` holds `.gitignore` patterns relative to the root. Roots must lie inside one of the
    `allowed_roots` (real paths) unless there are none. Journal lines carry `scan_id` until the caller acknowledges it.
    """

    recursive: bool = True
    respect_gitignore: bool = True
    ignore: tuple[str, ...] = ()
    max_file_bytes: int = MAX_FILE_BYTES
    remove_missing: bool = False
    allowed_roots: tuple[str, ...] = ()
    scan_id: int | None = None


AS_USUAL = Options()


# --- the faces of this room ----------------------------------------------------------------------------------------


def scan(
    database: Database,
    shelf_name: str,
    root: str,
    options: Options = AS_USUAL,
    progress: Progress | None = None,
    on_batch: OnBatch | None = None,
) -> ScanReport:
    """Bring a folder, or one file, onto a shelf, which is made if it is new. The source is remembered for `resync`.

    `progress(done, total, path)` counts files met, `on_batch(lines)` comes after each commit with the number of its
    journal lines. Raises `InvalidParam` for a root that is none; whatever is wrong inside is reported instead.
    """
    root = files.real(root)
    is_file = _examine(root, options.allowed_roots)
    if options.ignore:
        check_patterns(options.ignore)
    ignore = () if is_file else options.ignore
    wanted = Source(0, 0, root, is_file, is_file or options.recursive, options.respect_gitignore, ignore)
    shelf, source = _open(database, shelf_name, wanted)
    run = _Run(database, shelf, options, _Counter(progress), on_batch)
    run.scan(source)
    return run.finish()


def resync(
    database: Database,
    shelf: int | str | None = None,
    options: Options = AS_USUAL,
    progress: Progress | None = None,
    on_batch: OnBatch | None = None,
) -> list[ScanReport]:
    """Scan again whatever was scanned into the shelf, or into every shelf, as it was scanned then; one report a shelf.

    Documents whose files are gone are reported, and forgotten with `remove_missing` only. Of the options, `recursive`,
    `respect_gitignore` and `ignore` are those remembered with each source.
    """
    with database.read() as connection:
        wanted = shelves.list_shelves(connection) if shelf is None else [shelves.shelf(connection, shelf)]
        sources = {each.id: shelves.sources(connection, each.id) for each in wanted}
    counter = _Counter(progress)
    reports = []
    for each in wanted:
        run = _Run(database, each, options, counter, on_batch, several=len(sources[each.id]) > 1)
        for source in sources[each.id]:
            run.scan_again(source)
        reports.append(run.finish())
    return reports


# --- one shelf's run -----------------------------------------------------------------------------------------------


class _Counter:
    """Progress over all sources of a call: it only rises."""

    def __init__(self, tell: Progress | None) -> None:
        self._tell = tell
        self._done = self._total = 0

    def expect(self, count: int) -> None:
        self._total += count

    def step(self, path: str, count: int = 1) -> None:
        self._done += count
        if self._tell is not None:
            self._tell(self._done, self._total, path)


class _Batch:
    """Documents read and not yet stored."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.moves: list[tuple[Stored, Draft]] = []
        self.touches: list[tuple[Stored, Fingerprint]] = []
        self.bytes = 0

    def __len__(self) -> int:
        return len(self.drafts) + len(self.moves) + len(self.touches)


class _Run:
    """The scan of one shelf: counts, reasons, and the batch in hand."""

    def __init__(
        self,
        database: Database,
        shelf: Shelf,
        options: Options,
        counter: _Counter,
        on_batch: OnBatch | None,
        several: bool = False,
    ) -> None:
        self._several = several  # sources, which may overlap
        self._database = database
        self._shelf = shelf
        self._options = options
        self._counter = counter
        self._on_batch = on_batch
        self._batch = _Batch()
        self._met: set[str] = set()  # by earlier sources of this run: a file is counted once
        self._missing: dict[int, Stored] = {}
        self._skips: list[Skip] = []
        self._failures: list[Skip] = []
        self._warnings: list[str] = []
        self._new = self._changed = self._same = self._moved = self._removed = self._sections = 0

    def scan_again(self, source: Source) -> None:
        """`scan` for a source that was remembered: its root may be gone, or out of bounds by now."""
        gone, reason = _root_state(source, self._options.allowed_roots)
        if gone:
            self._lose(source)
        elif reason:
            self._skips.append(skip(source.root, reason))
        else:
            self.scan(source)

    def scan(self, source: Source) -> None:
        """Walk, plan, read and store one source."""
        with self._database.read() as connection:
            stored = documents.fingerprints(connection, self._shelf.id, source.root)
        the_plan = plan(self._folders(source), stored, source.id)
        the_plan = self._with_moves(the_plan, source)
        self._missing.update((known.id, known) for known in the_plan.missing)
        self._skips += the_plan.skips
        self._same += the_plan.same
        self._counter.expect(the_plan.seen)
        self._counter.step(source.root, the_plan.same + len(the_plan.skips))
        todo = sorted(the_plan.added + the_plan.moved + the_plan.changed + the_plan.young)
        if todo:
            self._read_all(todo, source, the_plan)

    def finish(self) -> ScanReport:
        """Forget what is missing, if asked, and say what happened."""
        missing = self._really_missing()
        if missing and self._options.remove_missing:
            self._forget(missing)
            missing = []
        elif missing:
            self._warnings.append(
                f"not met again: {len(missing)} document{'s' if len(missing) > 1 else ''}. The files are gone, or left out by"
                " the rules of this scan. What was indexed stays, and answers say what became of the files; resync with"
                " remove_missing=true forgets it."
            )
        seen = self._new + self._changed + self._same + len(self._skips) + len(self._failures)
        return ScanReport(
            shelf=self._shelf.name,
            seen=seen,
            new=self._new,
            changed=self._changed,
            same=self._same,
            skipped=len(self._skips),
            failed=len(self._failures),
            moved=self._moved,
            missing=len(missing),
            removed=self._removed,
            sections=self._sections,
            skips=tuple(self._skips),
            failures=tuple(self._failures),
            missing_files=tuple(known.file_path for known in missing),
            warnings=tuple(self._warnings),
        )

    # --- what is there ---------------------------------------------------------------------------------------------

    def _folders(self, source: Source) -> Iterator[Folder]:
        if source.is_file:
            met = iter([_folder_of_one(source.root)])
        else:
            met = walk(
                source.root,
                recursive=source.recursive,
                respect_gitignore=source.respect_gitignore,
                ignore=source.ignore,
            )
        for folder in met:
            if self._met:
                folder = Folder(  # noqa: PLW2901
                    [each for each in folder.files if each[0] not in self._met],
                    [each for each in folder.skips if each.file_path not in self._met],
                )
            yield folder
            if self._several:
                self._met.update([path for path, _ in folder.files])
                self._met.update([each.file_path for each in folder.skips])

    def _lose(self, source: Source) -> None:
        with self._database.read() as connection:
            stored = documents.fingerprints(connection, self._shelf.id, source.root)
        lost = {known.id: known for known in stored.values() if known.source_id == source.id}
        self._missing.update(lost)
        kind = "file" if source.is_file else "folder"
        self._warnings.append(f"the {kind} {source.root} is gone; {len(lost)} documents came from it")

    def _with_moves(self, the_plan: Plan, source: Source) -> Plan:
        """Find among the added files those that hold the bytes of a document whose file is gone."""
        if not the_plan.added:
            return the_plan
        with self._database.read() as connection:
            known = documents.of_size(connection, self._shelf.id, (each.info.st_size for each in the_plan.added))
        orphans = [each for each in known if _is_gone(each.file_path)]
        if not orphans:
            return the_plan
        sizes = {each.size for each in orphans}
        digests = {
            each.path: self._digest_of(each, source) for each in the_plan.added if each.info.st_size in sizes
        }
        moved = pair(the_plan.added, orphans, digests)
        gone = {each.known.id for each in moved if each.known}
        paths = {each.path for each in moved}
        return the_plan._replace(
            added=[each for each in the_plan.added if each.path not in paths],
            missing=[each for each in the_plan.missing if each.id not in gone],
            moved=moved,
        )

    def _digest_of(self, seen: Seen, source: Source) -> str:
        try:
            return digest(reading.read(seen.path, source.root, self._options.max_file_bytes)[0])
        except (reading.NotTaken, OSError, ScaffaleError):
            return ""  # its reading will say why

    def _really_missing(self) -> list[Stored]:
        """Documents that no source of this run met, as the store knows them now, by path."""
        if not self._missing:
            return []
        with self._database.read() as connection:
            there = documents.paths(connection, self._missing)
        return sorted(
            known
            for known in self._missing.values()
            # Elsewhere by now: it moved. In a folder that does not tell: nobody knows.
            if there.get(known.id) == known.file_path
            and known.file_path not in self._met
            and _is_gone(known.file_path) is not None
        )

    def _forget(self, missing: Sequence[Stored]) -> None:
        for start in range(0, len(missing), BATCH_FILES):
            some = [known.id for known in missing[start : start + BATCH_FILES]]
            with self._database.write() as connection:
                removed = shelves.remove_documents(connection, some, self._options.scan_id)
            self._removed += len(removed)
            self._tell_batch(len(removed))

    # --- reading and storing ---------------------------------------------------------------------------------------

    def _read_all(self, todo: Sequence[Seen], source: Source, the_plan: Plan) -> None:
        moved = {each.path for each in the_plan.moved}
        with self._database.read() as connection:
            digests = documents.digests(connection, [each.known.id for each in todo if each.known])
        for seen in todo:
            try:
                self._take(seen, source, digests, seen.path in moved)
            except reading.NotTaken as reason:
                self._skips.append(skip(seen.path, str(reason)))
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # a parser's panic is no Exception
                self._failures.append(skip(seen.path, f"it could not be taken in: {type(error).__name__}"))
            self._counter.step(seen.path)
            if len(self._batch) >= BATCH_FILES or self._batch.bytes >= BATCH_BYTES:
                self._store(source)
        self._store(source)

    def _take(self, seen: Seen, source: Source, digests: Mapping[int, str], moved: bool) -> None:
        data, info = reading.read(seen.path, source.root, self._options.max_file_bytes)
        fingerprint = Fingerprint(*numbers(info), clock.milliseconds() * 1_000_000, digest(data))
        known = seen.known
        if known and not moved and digests.get(known.id) == fingerprint.sha256:
            self._same += 1
            if self._is_news(known, fingerprint):
                self._batch.touches.append((known, fingerprint))
            return
        draft = reading.draft(seen.path, source, data, fingerprint)
        self._warnings += [f"{seen.path}: {warning}" for warning in draft.warnings]
        self._batch.bytes += len(data)
        if known and moved and digests.get(known.id) == fingerprint.sha256:
            self._same += 1
            self._moved += 1
            self._batch.moves.append((known, draft))
            return
        if known and not moved:
            self._changed += 1
        else:
            self._new += 1
            if known:  # moved, and written to since the plan: another document
                self._missing[known.id] = known
        self._sections += len(draft.sections)
        self._batch.drafts.append(draft)

    def _is_news(self, known: Stored, fingerprint: Fingerprint) -> bool:
        """Whether the store should note these numbers for the same bytes: they differ, or have come of age."""
        if self._database.read_only:
            return False
        return known[2:6] != fingerprint[:4] or not is_young(fingerprint.mtime_ns, fingerprint.checked_ns)

    def _store(self, source: Source) -> None:
        batch, self._batch = self._batch, _Batch()
        if not len(batch):
            return
        scan_id = self._options.scan_id
        lines = len(batch.drafts) + len(batch.moves)
        with self._database.write(durable=False) as connection:
            if not shelves.has_source(connection, source.id):
                raise Conflict(f"shelf {self._shelf.name!r} was removed while it was scanned; no more of it was stored")
            for known, draft in batch.moves:
                if not documents.move_document(connection, known, source, draft, scan_id):
                    batch.drafts.append(draft)
            documents.put_documents(connection, source, batch.drafts, scan_id)
            for known, fingerprint in batch.touches:
                lines += documents.touch_document(connection, known, fingerprint, scan_id)
        self._tell_batch(lines)

    def _tell_batch(self, lines: int) -> None:
        if lines and self._on_batch is not None:
            self._on_batch(lines)


# --- roots, shelves, sources ---------------------------------------------------------------------------------------


def _open(database: Database, shelf_name: str, wanted: Source) -> tuple[Shelf, Source]:
    """The shelf and the remembered source. Nothing is written when both are known as they are."""
    with database.read() as connection:
        shelf = shelves.find_shelf(connection, shelf_name)
        known = shelves.sources(connection, shelf.id) if shelf else []
    for source in known:
        if source[2:] == wanted[2:]:
            assert shelf is not None
            return shelf, source
    with database.write() as connection:
        shelf = shelves.find_shelf(connection, shelf_name) or _new_shelf(connection, shelf_name)
        return shelf, shelves.remember_source(connection, wanted._replace(shelf_id=shelf.id))


def _new_shelf(connection: apsw.Connection, name: str) -> Shelf:
    if name.strip().startswith("docs://"):
        return shelves.shelf(connection, name)  # raises: a URI names what exists
    return shelves.create_shelf(connection, name)


def _examine(root: str, allowed_roots: Sequence[str]) -> bool:
    """Whether the root is a file. `InvalidParam` when it can be no root."""
    if not is_unicode(root):
        raise InvalidParam(f"{os.fsencode(root)!r} is not valid UTF-8; rename the folder to scan it")
    if not _is_allowed(root, allowed_roots):
        raise InvalidParam(f"{root} lies outside the allowed roots: {', '.join(allowed_roots)}")
    try:
        mode = os.stat(root).st_mode
    except OSError as error:
        raise InvalidParam(f"{root} cannot be scanned: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        return False
    if not stat.S_ISREG(mode):
        raise InvalidParam(f"{root} is {files.describe(mode)}; name a folder or a Markdown file")
    if not is_markdown(root):
        raise InvalidParam(f"{root} is no Markdown file; their names end in {', '.join(SUFFIXES)}")
    return True


def _is_allowed(root: str, allowed_roots: Sequence[str]) -> bool:
    return not allowed_roots or any(files.is_inside(root, each) for each in allowed_roots)


def _root_state(source: Source, allowed_roots: Sequence[str]) -> tuple[bool, str]:
    """Whether a remembered root is gone, and why else it cannot be scanned again."""
    root = source.root
    if not _is_allowed(root, allowed_roots):
        return False, "it lies outside the allowed roots"
    try:
        if stat.S_ISDIR(os.stat(root).st_mode) == source.is_file:
            return True, ""
    except (FileNotFoundError, NotADirectoryError):
        return True, ""
    except OSError as error:
        return False, f"it cannot be scanned: {error.strerror}"
    real = files.real(root)
    return False, "" if real == root else f"a link leads from it to {real}: scan that instead"


def _folder_of_one(path: str) -> Folder:
    try:
        info = os.stat(path)
    except OSError as error:
        return Folder([], [skip(path, f"it cannot be examined: {error.strerror}")])
    if not stat.S_ISREG(info.st_mode):
        return Folder([], [skip(path, f"it is {files.describe(info.st_mode)}, not a regular file")])
    return Folder([(path, info)], [])


def _is_gone(path: str) -> bool | None:
    """Whether nothing lies at the path; `None` when the system does not tell."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return None
    return False
