"""Opening and comparing paths without being fooled. It knows nothing of roots, projects or arguments.

A path that was checked can be swapped before it is opened; a file can turn out to be a pipe that never answers. So
reading goes by descriptor: opened without following a link and without waiting, asked what it is and where it lies,
and only then read.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from scaffale.errors import Conflict, InvalidParam, LimitExceeded

if TYPE_CHECKING:
    from collections.abc import Iterable

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer must not hold us
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_BY_FOLDER = os.open in os.supports_dir_fd  # names are looked up in the folder that was checked
_CHUNK = 1024 * 1024
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link",
}


def describe(mode: int) -> str:
    """What a file mode says that the file is: `a folder`, `a named pipe`, ..., `a file`."""
    return _KINDS.get(stat.S_IFMT(mode), "a file")


def is_inside(path: str, root: str) -> bool:
    """Whether `path` is `root` or lies beneath it. Both are real paths; letters compare by the system's rules."""
    path, root = os.path.normcase(path), os.path.normcase(root)
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)


def real(path: str) -> str:
    """The absolute path without links, in the spelling of the file system. What does not exist is kept as written."""
    resolved = os.path.realpath(path)
    return _spelling(resolved) if sys.platform == "darwin" else resolved


def read_regular(path: str, max_bytes: int) -> bytes:
    """The bytes of a regular file. See `read_with_stat`."""
    return read_with_stat(path, max_bytes)[0]


def read_with_stat(path: str, max_bytes: int) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file, and what the open file said of itself before it was read.

    `path` is a real path: a link at its end, or a folder on the way that became one, is refused. Raises `InvalidParam`
    for what is not a regular file at that place, `LimitExceeded` above `max_bytes`, `OSError` when the system refuses.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):  # the second is FreeBSD's word for it
            raise InvalidParam(f"{path} is a symbolic link; name the file that it points to") from error
        if error.errno == errno.ENXIO:
            raise InvalidParam(f"{path} is a socket or a device, not a regular file") from error
        raise
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise InvalidParam(f"{path} is {describe(info.st_mode)}, not a regular file")
        if not _lies_at(descriptor, path, info):
            raise InvalidParam(f"{path} was swapped for another file while it was opened; nothing was read")
        if info.st_size > max_bytes:
            raise LimitExceeded(f"{path} holds {info.st_size} bytes; the limit is {max_bytes}")
        return _read_all(descriptor, path, max_bytes), info
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, path: str, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    left = max_bytes + 1  # one more than allowed: a file may grow while it is read
    while left > 0 and (part := os.read(descriptor, min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    if left == 0:
        raise LimitExceeded(f"{path} holds more than {max_bytes} bytes")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _lies_at(descriptor: int, path: str, info: os.stat_result) -> bool:
    """Whether the open file is the one at `path`, with no link on the way."""
    try:
        where = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:  # no such view here: ask by name whether path and file still agree
        try:
            return os.path.realpath(path) == os.path.abspath(path) and os.path.samestat(os.stat(path), info)
        except OSError:
            return False
    return where in (path, path + " (deleted)")  # replaced by a rename after it was opened: still what lay there


def _spelling(path: str) -> str:
    """macOS compares names without case but keeps them with it; ask for the kept form of the part that exists."""
    import fcntl

    rest = ""
    head = path
    while True:
        try:
            descriptor = os.open(head, _FLAGS)
        except OSError:
            head, name = os.path.split(head)
            if not name:
                return path
            rest = os.path.join(name, rest) if rest else name
            continue
        try:
            raw = fcntl.fcntl(descriptor, 50, bytes(1024))  # F_GETPATH
        finally:
            os.close(descriptor)
        known = os.fsdecode(raw.rstrip(b"\0"))
        return os.path.join(known, rest) if rest else known


def write_whole(path: str, parts: Iterable[bytes], *, overwrite: bool) -> int:
    """Write a new file (mode 0600) that is there whole or not at all, and return its size.

    It is written beside its place under another name, brought to the disk, and then named. `path` is a real path in an
    existing folder; a folder that was swapped for a link meanwhile is refused. Raises `Conflict` when the file is there
    and may not be overwritten, `InvalidParam` for a folder that is not there, `OSError` when the system refuses.
    """
    folder, name = os.path.split(path)
    temporary = f".{name[:100]}.{os.urandom(6).hex()}.part"
    try:
        place = os.open(folder, _FOLDER) if _BY_FOLDER else None
    except OSError as error:
        raise InvalidParam(f"{folder} is no folder that can be written: {error.strerror}") from error
    prefix = "" if place is not None else folder + os.sep
    try:
        if place is not None and not _lies_at(place, folder, os.fstat(place)):
            raise InvalidParam(f"{folder} was swapped for another folder meanwhile; nothing was written")
        descriptor = os.open(prefix + temporary, _NEW, 0o600, dir_fd=place)
        size = 0
        try:
            with os.fdopen(descriptor, "wb") as file:
                for part in parts:
                    size += file.write(part)
                file.flush()
                os.fsync(file.fileno())
            if overwrite:
                os.replace(prefix + temporary, prefix + name, src_dir_fd=place, dst_dir_fd=place)
            else:
                os.link(prefix + temporary, prefix + name, src_dir_fd=place, dst_dir_fd=place, follow_symlinks=False)
        except FileExistsError:
            raise Conflict(f"{path} is there already; choose another file, or overwrite it on purpose") from None
        finally:
            with suppress(FileNotFoundError):
                os.unlink(prefix + temporary, dir_fd=place)
        if place is not None:
            os.fsync(place)  # the name, too
        return size
    finally:
        if place is not None:
            os.close(place)


def export_whole(path: str, parts: Iterable[bytes], *, overwrite: bool) -> int:
    """`write_whole` for what a caller named as `save_path`: what the system refuses is `InvalidParam`, too."""
    try:
        return write_whole(path, parts, overwrite=overwrite)
    except OSError as error:
        raise InvalidParam(f"save_path: {path} cannot be written: {error.strerror}") from error


def backup_path(store: str, name: str) -> str:
    """A new name in the folder `backups` beside a store, which is made, for an export taken before something is replaced."""
    folder = os.path.join(os.path.dirname(store), "backups")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return real(os.path.join(folder, f"{name}-{os.urandom(6).hex()}.json"))


def digest(path: str) -> str:
    """SHA-256 of a file in hexadecimal, read in pieces. Not for a store that somebody may have open."""
    from hashlib import file_digest

    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def make_private(path: str) -> None:
    """Mode 0600, and on the disk. Not for a store that somebody may have open."""
    os.chmod(path, 0o600)
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def copy_private(source: str, target: str) -> None:
    """A copy of a file that nobody has open, made private."""
    import shutil

    shutil.copyfile(source, target)
    make_private(target)


def sync_folder(folder: str) -> None:
    """What was renamed in the folder reaches the disk, where the system lets folders be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
