"""Backups of the stores, restoring them, and saving what can be read of a damaged one.

Stores alone are kept: indexes come back by themselves. At every moment a whole store lies at its place, the former or the
new one, and what it takes the place of is kept beside it. Programs that have a store open notice, and go on with the new one.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale import __version__, files
from scaffale.answers.safekeeping import BackedUp, KeptStore, Repaired, Restored, RestoredStore
from scaffale.errors import Conflict, InvalidParam, NotFound, StoreUnreadable
from scaffale.indexer import clock, entries, integrity, rescue, shelves
from scaffale.indexer.database import Database, Schema, exists

if TYPE_CHECKING:
    from scaffale.settings import Settings

FORMAT, VERSION = "scaffale.backup", 1
MANIFEST = "manifest.json"
MAX_MANIFEST = 1024 * 1024
_PARTS = ("", "-wal", "-shm")
MOST_LOST = 200  # rows that a report names


class Place(NamedTuple):
    """A store: what it is called, where it lies, what it holds."""

    name: str
    path: str
    schema: Schema


def places(settings: Settings) -> tuple[Place, ...]:
    """The stores of these settings, there or not."""
    return (
        Place("memory", settings.memory_db_path, entries.SCHEMA),
        Place("docs", settings.docs_db_path, shelves.SCHEMA),
    )


# --- out ---------------------------------------------------------------------------------------------------------------


def back_up(settings: Settings, folder: str) -> BackedUp:
    """Write each store, as it is at one moment, to a new folder, with a manifest of digests; others may go on meanwhile.

    The copies are examined before the folder gets its name. A store that is damaged is refused: no backup of it would help.
    """
    folder = os.path.abspath(folder)
    if os.path.lexists(folder):
        raise Conflict(f"{folder} is there already; a backup is a folder of its own")
    present = [place for place in places(settings) if exists(place.path)]
    if not present:
        raise NotFound("there is no store yet, and nothing to back up")
    import json
    import shutil

    part = f"{folder}.{os.urandom(6).hex()}.part"
    try:
        os.makedirs(part, mode=0o700)
    except OSError as error:
        raise InvalidParam(f"{part} cannot be made: {error.strerror}") from error
    try:
        kept = tuple(_copy_out(place, part) for place in present)
        manifest = {
            "format": FORMAT, "version": VERSION, "at": clock.now(), "program": __version__,
            "stores": {each.name: each._asdict() for each in kept},
        }  # fmt: skip
        files.write_whole(
            files.real(os.path.join(part, MANIFEST)), [json.dumps(manifest, indent=1).encode(), b"\n"], overwrite=False
        )
        os.rename(part, folder)
        files.sync_folder(os.path.dirname(folder))
    except OSError as error:
        raise InvalidParam(f"{folder} cannot be written: {error.strerror}; nothing is left of it") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return BackedUp(folder, kept, ())


def _copy_out(place: Place, folder: str) -> KeptStore:
    path = os.path.join(folder, f"{place.name}.sqlite")
    with closing(Database(place.path, place.schema, create=False)) as database:
        database.copy(path)
    files.make_private(path)
    wrong, version, uuid = rescue.examined(path, place.schema)
    if wrong:
        raise StoreUnreadable(
            f"{place.path} is damaged ({wrong[0]}); nothing was backed up. `scaffale doctor --repair` first.", damaged=True
        )
    return KeptStore(place.name, os.path.basename(path), os.path.getsize(path), files.digest(path), uuid, version)


# --- in ----------------------------------------------------------------------------------------------------------------


def restore(settings: Settings, folder: str) -> Restored:
    """Put the stores of a backup in place of the present ones, which are kept.

    Everything is examined before anything is changed: digests, pages, contents, versions. One that a newer program wrote is
    refused.
    """
    folder = os.path.abspath(folder)
    manifest = _manifest(folder)
    ready = []
    for place in places(settings):
        said = manifest.get(place.name)
        if said is None:
            continue
        path = os.path.join(folder, f"{place.name}.sqlite")
        if not os.path.isfile(path):
            raise InvalidParam(f"{path} is missing; nothing was restored")
        if files.digest(path) != said.get("sha256"):
            raise InvalidParam(f"{path} is not what the manifest says (SHA-256); nothing was restored")
        wrong, version, _ = rescue.examined(path, place.schema)
        if wrong:
            raise InvalidParam(f"{path} cannot be restored: {wrong[0]}; nothing was changed")
        ready.append((place, path, version))
    if not ready:
        raise InvalidParam(f"{folder} holds none of the stores")
    return Restored(folder, tuple(_restored(*each) for each in ready), ())


def _manifest(folder: str) -> dict[str, Any]:
    import json

    path = os.path.join(folder, MANIFEST)
    try:
        manifest = json.loads(files.read_regular(files.real(path), MAX_MANIFEST))
    except OSError as error:
        raise InvalidParam(f"{folder} is no backup: {MANIFEST} cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InvalidParam(f"{path} is damaged; nothing was restored") from error
    stores = manifest.get("stores") if isinstance(manifest, dict) and manifest.get("format") == FORMAT else None
    if not isinstance(stores, dict) or not all(isinstance(each, dict) for each in stores.values()):
        raise InvalidParam(f"{path} is no manifest of a backup")
    if manifest.get("version") != VERSION:
        raise InvalidParam(f"{path} is of another version than {VERSION}; it was made by a newer program")
    return stores


def _restored(place: Place, path: str, version: int) -> RestoredStore:
    if not exists(place.path):
        os.makedirs(os.path.dirname(place.path), mode=0o700, exist_ok=True)
        _put(path, place.path)
        return RestoredStore(place.name, place.path, version, None)
    kept = f"{place.path}.before-{_stamp()}"
    try:
        with closing(Database(place.path, place.schema, create=False)) as database:
            database.copy(kept)
            files.make_private(kept)
            database.pour(path)
    except StoreUnreadable as error:
        if not error.damaged:
            raise
        with suppress(FileNotFoundError):
            os.unlink(kept)
        return RestoredStore(place.name, place.path, version, _put(path, place.path))
    return RestoredStore(place.name, place.path, version, kept)


def _put(source: str, target: str) -> str | None:
    """Put a copy of a file in the place of a store. What lay there goes aside; its new path, when something did."""
    new = f"{target}.{os.urandom(6).hex()}.part"
    try:
        files.copy_private(source, new)
        return _swap(new, target)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(new)


def _swap(new: str, target: str) -> str | None:
    """Give a file the name of a store. The store keeps a name of its own until then, its log goes with it."""
    aside = f"{target}.damaged-{_stamp()}"
    found = os.path.lexists(target)
    if found:
        os.link(target, aside)
    for part in _PARTS[1:]:
        with suppress(FileNotFoundError):  # a log of the former file would be taken for one of the new
            os.rename(target + part, aside + part)
    os.replace(new, target)
    files.sync_folder(os.path.dirname(target))
    return aside if found else None


# --- what can be saved -------------------------------------------------------------------------------------------------


def verify(place: Place) -> list[str]:
    """What is wrong with a store; empty when nothing is. Reads all of it."""
    with closing(Database(place.path, place.schema, create=False)) as database, database.read() as connection:
        return list(integrity.findings(connection, place.schema))


def repair(place: Place) -> Repaired:
    """Read all rows that can be read into a new store, put it in the place of the damaged one, and name what is lost.

    The damaged file is kept. Contents that are not what was written count as lost: none of them is passed off as whole.
    """
    new = f"{place.path}.{os.urandom(6).hex()}.part"
    try:
        with closing(Database(new, place.schema)) as database:
            saved, lost = rescue.salvage(place.path, database, place.schema)
            database.rewrite()
        wrong = rescue.examined(new, place.schema)[0]
        if wrong:
            raise StoreUnreadable(f"what was saved of {place.path} is not whole ({wrong[0]}); it was left as it is")
        kept = _swap(new, place.path)
    finally:
        for part in _PARTS:
            with suppress(FileNotFoundError):
                os.unlink(new + part)
    more = [f"and {len(lost) - MOST_LOST} more"] if len(lost) > MOST_LOST else []
    return Repaired(place.name, place.path, kept or "", saved, (*lost[:MOST_LOST], *more), ())


def _stamp() -> str:
    return clock.now().replace(":", "").replace(".", "")[:15] + "-" + os.urandom(3).hex()
