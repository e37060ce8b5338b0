"""`scaffale doctor`: what is wrong with stores, indexes, permissions and the configuration of clients, and how to mend it."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scaffale import safekeeping
from scaffale.errors import ScaffaleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scaffale.docs import Docs
    from scaffale.memory import Memory
    from scaffale.server.install.clients import Place
    from scaffale.settings import Settings

LITTLE_ROOM = 64 * 2**20
RESTORE = "restore a backup (scaffale restore FOLDER), or save what can be read (scaffale doctor --repair)"
FIXED_SQLITE = (3, 51, 3)  # the first release without the WAL-reset bug


class Check(NamedTuple):
    """One finding. `state` is `ok`, `warning` or `wrong`; `advice` says what to do about the last two."""

    state: str
    what: str
    finding: str
    advice: str | None = None


class Findings(NamedTuple):
    """All checks; `healthy` when none is `wrong`."""

    healthy: bool
    checks: tuple[Check, ...]
    warnings: tuple[str, ...] = ()


def examine(settings: Settings, place: Place, *, thorough: bool = False) -> Findings:
    """Look at everything that the settings name, and at the clients. Creates and changes nothing but what opening a store
    upgrades. `thorough` reads all pages and contents, and holds indexes and stores against each other."""
    checks = (*_checks(settings, thorough), *_clients(place))
    return Findings(all(check.state != "wrong" for check in checks), checks, settings.warnings)


def _checks(settings: Settings, thorough: bool) -> Iterator[Check]:
    from scaffale import __version__
    from scaffale.docs import Docs
    from scaffale.memory import Memory

    yield Check("ok", "program", f"scaffale {__version__}, Python {sys.version.split()[0]}")
    yield _sqlite()
    yield _engine()
    memory, docs = safekeeping.places(settings)
    yield from _store(memory, lambda: Memory(settings), settings.sources.get("MEMORY_DB_PATH"), thorough)
    yield from _store(docs, lambda: Docs(settings), settings.sources.get("DOCS_DB_PATH"), thorough)


def repair(settings: Settings, tell: Callable[[str], None]) -> None:
    """Mend what can be mended: a damaged store is replaced by what can be read of it, an index is built anew."""
    from scaffale.docs import Docs
    from scaffale.memory import Memory

    for place, open_hall in zip(safekeeping.places(settings), (Memory, Docs), strict=True):
        if not os.path.exists(place.path):
            continue
        try:
            wrong = safekeeping.verify(place)
        except ScaffaleError as error:
            wrong = [error.detail]
        try:
            if wrong:
                done = safekeeping.repair(place)
                rows = ", ".join(f"{count} of {table}" for table, count in done.saved.items())
                tell(f"{place.name}: {place.path} was damaged ({wrong[0]}); saved: {rows or 'nothing'}")
                tell(f"  the damaged file is kept at {done.kept}")
                for line in done.lost:
                    tell(f"  lost: {line}")
            with open_hall(settings) as hall:
                differing = hall.index_differences()
                if wrong or hall.damage(store=False)["index"] or any(differing):
                    for line in hall.maintain(rebuild=True):
                        tell(line)
        except ScaffaleError as error:
            tell(f"{place.name}: {error.detail}")


def _clients(place: Place) -> Iterator[Check]:
    from scaffale.server.install import verbs

    for finding in verbs.examine(place):
        yield Check(finding.state, f"client {finding.client}", finding.finding, finding.advice)


def _sqlite() -> Check:
    import apsw

    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")) >= FIXED_SQLITE:
        return Check("ok", "SQLite", f"{version}, through apsw {apsw.apsw_version()}")
    return Check("wrong", "SQLite", f"{version} can lose commits of several processes", "pip install --upgrade apsw")


def _engine() -> Check:
    from scaffale import backends

    engine = backends.lexical("auto")
    if engine.warning:
        return Check("warning", "search engine", engine.warning, "pip install --force-reinstall tantivy")
    return Check("ok", "search engine", engine.identity)


def _store(
    place: safekeeping.Place, open_hall: Callable[[], Memory | Docs], source: str | None, thorough: bool
) -> Iterator[Check]:
    name, path = place.name, place.path
    what = f"{name} store"
    if not os.path.exists(path):
        yield _no_store(what, path, source)
        return
    yield from _permissions(what, path)
    yield from _room(what, path)
    try:
        with open_hall() as hall:
            damage = hall.damage(store=not thorough)
            if thorough:
                damage["store"] = safekeeping.verify(place)
            differing = hall.index_differences() if thorough else (0, 0)
            status = hall.status() if hasattr(hall, "status") else hall.feature_status()
    except ScaffaleError as error:
        yield Check("wrong", what, error.detail, RESTORE)
        return
    counts = ", ".join(f"{count} {noun}" for noun, count in status.counts.items())
    yield Check("ok", what, f"{path} ({source or 'default'}): {counts}")
    for line in damage["store"]:
        yield Check("wrong", what, f"{path} is damaged: {line}", RESTORE)
    for line in damage["index"]:
        yield Check("wrong", f"{name} index", f"it is damaged: {line}", "scaffale maintain builds it anew; nothing is lost")
    for count, said in zip(differing, ("lacks", "holds, and the store does not,"), strict=True):
        if count:
            finding = f"it {said} {count} of the entries or documents"
            yield Check("wrong", f"{name} index", finding, "scaffale doctor --repair builds it anew; nothing is lost")
    lag = ", ".join(f"{count} {noun}" for noun, count in status.index_lag.items())
    yield Check("ok", f"{name} index", f"{status.lexical_backend}: {lag}")
    for warning in status.warnings:
        yield Check("warning", name, warning)


def _no_store(what: str, path: str, source: str | None) -> Check:
    """Whether a store that is not there yet could be made where the settings want it."""
    place = os.path.dirname(path)
    while not os.path.lexists(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    named = f"none yet, and none can be made at {path} ({source or 'default'})"
    if not os.path.isdir(place):
        return Check("wrong", what, f"{named}: {place} is no folder", "move it aside, or name another place")
    if not os.access(place, os.W_OK | os.X_OK):
        return Check("wrong", what, f"{named}: {place} cannot be written", f"chmod u+wx {place}, or name another place")
    return Check("ok", what, f"none yet; will be made at {path} ({source or 'default'})")


def _permissions(what: str, path: str) -> Iterator[Check]:
    """Others must not read the store. That they may see its folder is worth a word."""
    if os.name != "posix":
        return
    folder = os.path.dirname(path)
    for place, allowed, state in (
        (path, 0o600, "wrong"),
        (path + "-wal", 0o600, "wrong"),
        (folder, 0o700, "warning"),
    ):
        with suppress(OSError):
            mode = stat.S_IMODE(os.stat(place).st_mode)
            if mode & ~0o700 & 0o777:
                verb = "look into" if place == folder else "read"
                yield Check(state, what, f"others may {verb} {place} (mode {mode:o})", f"chmod {allowed:o} {place}")


def _room(what: str, path: str) -> Iterator[Check]:
    with suppress(OSError, AttributeError):  # there is no such call on Windows
        disk = os.statvfs(os.path.dirname(path))
        free = disk.f_bavail * disk.f_frsize
        if free < LITTLE_ROOM:
            yield Check("warning", what, f"only {free // 2**20} MB are free at {os.path.dirname(path)}", "free some space")
