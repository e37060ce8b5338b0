"""New texts for configuration files: all in place, or none; whole at any moment.

A file is read by descriptor, and refused when it is no plain file, has a second name, or cannot be written by its owner.
The new text is written beside it, flushed to the disk and put in its place by one rename, so that whoever reads, or finds
the machine after a power cut, has the old or the new file whole. What was there is kept beside it first.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scaffale.errors import Conflict, InvalidParam, LimitExceeded
from scaffale.files import describe, sync_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 32 * 2**20
BACKUP = ".before-scaffale"
BOM = "\ufeff"


class Source(NamedTuple):
    """A file as it is. `path` is where it really lies; `text` is None when there is none; line ends are LF in `text`, and
    `newline` is what they are in the file."""

    given: str
    path: str
    text: str | None
    data: bytes
    newline: str
    mark: tuple[int, int, int] | None  # inode, size, time of the last change

    def encoded(self, text: str) -> bytes:
        """The bytes of a new text, in the manner of the file."""
        start = BOM if self.data.startswith(BOM.encode()) else ""
        return (start + text).replace("\n", self.newline).encode()


class Change(NamedTuple):
    """A new text for a file, or None to remove it. `obsolete` are backups that go with it; then none is made."""

    source: Source
    text: str | None
    obsolete: tuple[str, ...] = ()


def read(given: str) -> Source:
    """A configuration file. Raises `InvalidParam`, `LimitExceeded` or `Conflict` when it is one that must not be touched."""
    path = os.path.realpath(given)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        if os.path.islink(given):
            raise InvalidParam(f"{given} is a link to {path}, which is not there") from None
        return Source(given, path, None, b"", "\n", None)
    except OSError as error:
        raise InvalidParam(f"{given} cannot be read: {error.strerror}") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise InvalidParam(f"{given} is {describe(found.st_mode)}, not a file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise LimitExceeded(f"{given} has more than {MAX_BYTES} bytes: hardly a configuration")
    try:
        text = data.decode("utf-8").removeprefix(BOM)
    except UnicodeDecodeError:
        raise InvalidParam(f"{given} is not UTF-8; nothing was written") from None
    newline = "\r\n" if "\r\n" in text and text.count("\r\n") == text.count("\n") else "\n"
    if newline == "\r\n":
        text = text.replace("\r\n", "\n")
    return Source(given, path, text, data, newline, (found.st_ino, found.st_size, found.st_mtime_ns))


def refuse_unwritable(source: Source) -> None:
    """Raise `Conflict` for a file that has a second name or that nobody may write."""
    if source.text is None:
        return
    found = os.stat(source.path)
    if found.st_nlink > 1:
        raise Conflict(f"{source.path} has {found.st_nlink} names (hard links): replacing one would part them")
    if not found.st_mode & stat.S_IWUSR:
        raise Conflict(f"{source.path} is read-only; make it writable first (chmod u+w)")


def apply(changes: Sequence[Change]) -> dict[str, str]:
    """Put all new texts in place. Where each backup lies, by path. On any failure what was done is undone and raised."""
    for change in changes:
        refuse_unwritable(change.source)
    done: list[Change] = []
    backups: dict[str, str] = {}
    try:
        for change in changes:
            source = change.source
            if _mark(source.path) != source.mark:
                raise Conflict(f"{source.path} was changed by someone else in the meantime; nothing was written")
            if source.text is not None and change.text is not None and not change.obsolete:
                backups[source.path] = _back_up(source)
            done.append(change)
            if change.text is None:
                os.unlink(source.path)
            else:
                _replace(source.path, source.encoded(change.text))
    except BaseException as error:
        for change in reversed(done):
            with suppress(OSError):
                _restore(change.source)
        for backup in backups.values():
            with suppress(OSError):
                os.unlink(backup)
        if isinstance(error, OSError):
            where = error.filename or source.path
            raise Conflict(f"{where} cannot be written: {error.strerror}; nothing was changed") from None
        raise
    for change in changes:
        for path in change.obsolete:
            with suppress(OSError):
                os.unlink(path)
    return backups


def backups_of(path: str) -> list[str]:
    """The backups beside a file, newest first."""
    folder, name = os.path.split(path)
    try:
        names = [each for each in os.listdir(folder or ".") if each.startswith(name + BACKUP)]
    except OSError:
        return []
    return [os.path.join(folder, each) for each in sorted(names, key=_number, reverse=True)]


def _number(name: str) -> int:
    tail = name.rpartition(BACKUP)[2].lstrip(".")
    return int(tail) if tail.isdigit() else 0


def _back_up(source: Source) -> str:
    """Keep the bytes beside the file, under a name that is free."""
    number = 0
    while True:
        path = source.path + BACKUP + (f".{number}" if number else "")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(source.data)
            file.flush()
            os.fsync(file.fileno())
        return path


def _replace(path: str, data: bytes) -> None:
    """New bytes under a name, in one step. A new file is for its owner's eyes, an old one keeps its mode."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, mode=0o700, exist_ok=True)
    mode = 0o600
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(path).st_mode)
    temporary = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}.scaffale")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.chmod(temporary, mode)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def _restore(source: Source) -> None:
    if source.text is None:
        os.unlink(source.path)
    else:
        _replace(source.path, source.data)


def _mark(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise
    return found.st_ino, found.st_size, found.st_mtime_ns
