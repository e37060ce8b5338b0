"""Which paths a caller may name: inside the allowed roots, with every link resolved, and of a kind that can be read.

Every path that arrives as an argument passes through here once and leaves as a real path. What is then opened is
opened with `read_regular`, which refuses a path that was swapped after the check. All refusals are `InvalidParam`
and name the argument.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from scaffale.errors import InvalidParam
from scaffale.files import describe, is_inside, read_regular, read_with_stat, real

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["is_inside", "read_regular", "read_with_stat", "real", "resolve_inside", "resolve_project_path"]

MAX_PATH_BYTES = 4096

_FOREIGN = re.compile(r"[A-Za-z]:(?:[\\/]|\Z)|\\\\|//")  # a drive, a UNC share
_DEVICE = re.compile(r"[\\/]{2}[.?][\\/]")  # \\.\pipe\..., \\?\...
_STORE_PARTS = ("", "-wal", "-shm", "-journal")

_FILE, _FOLDER, _NEW, _ANY = range(4)
_EXPECTED = {
    "source_path": _ANY,
    "save_path": _NEW,
    "import_path": _FILE,
    "file_path": _FILE,
    "folder_path": _FOLDER,
}


def resolve_project_path(path: str, roots: Sequence[str]) -> str:
    """The real path of a project's folder, inside one of the roots; without roots any folder is its own."""
    resolved = _resolved(path, "project_path", roots)
    if roots:
        _check_inside(path, resolved, "project_path", roots)
    _check_kind(path, resolved, "project_path", _FOLDER)
    return resolved


def resolve_inside(
    path: str, roots: Sequence[str] | None, *, kind: str, base: str | None = None, stores: Sequence[str] = ()
) -> str:
    """The real path of what the argument `kind` names, inside one of the roots.

    `roots=None` allows whatever the user may read, empty roots allow nothing. A relative path starts at `base`.
    `source_path` may name anything readable or nothing at all, `save_path` a file or nothing, `import_path` and
    `file_path` an existing file, `folder_path` an existing folder. `stores` are the store files of this program:
    naming one of them, by whatever alias, is refused, since opening it here would drop SQLite's locks on it.
    """
    if roots is not None and not roots:
        raise InvalidParam(f"{kind}: no allowed roots here; give a project_path, or set MEMORY_ALLOWED_ROOTS")
    _check_text(path, kind, roots or ())
    if not os.path.isabs(path):
        if base is None:
            raise InvalidParam(f"{kind} {_show(path)} is relative; give an absolute path")
        path = os.path.join(base, path)
    resolved = _resolved(path, kind, roots or ())
    if roots is not None:
        _check_inside(path, resolved, kind, roots)
    _check_kind(path, resolved, kind, _EXPECTED[kind])
    _check_no_store(path, resolved, kind, stores)
    return resolved


def _resolved(path: str, argument: str, roots: Sequence[str]) -> str:
    _check_text(path, argument, roots)
    resolved = real(path)
    if not resolved.isascii():
        _check_unicode(resolved, argument)  # a link may lead to a name that is no Unicode
    return resolved


def _check_text(path: str, argument: str, roots: Sequence[str]) -> None:
    """Refuse what is no path on this system before the file system is asked about it."""
    if not path or path.isspace():
        raise InvalidParam(f"{argument} is empty; give a path")
    if "\0" in path:
        raise InvalidParam(f"{argument} holds a NUL character")
    if len(path) > MAX_PATH_BYTES or len(_check_unicode(path, argument)) > MAX_PATH_BYTES:
        raise InvalidParam(f"{argument} is longer than {MAX_PATH_BYTES} bytes")
    if os.name != "nt":
        if _FOREIGN.match(path):
            raise InvalidParam(f"{argument} {_show(path)} is a drive or network path, which this system does not have")
    elif _DEVICE.match(path):
        raise InvalidParam(f"{argument} {_show(path)} is a device path")
    elif path[:2] in ("\\\\", "//") and not any(root.startswith("\\\\") for root in roots):
        # Asking a network share anything sends it the user's credentials.
        raise InvalidParam(f"{argument} {_show(path)} is a network path outside the allowed roots")


def _check_unicode(path: str, argument: str) -> bytes:
    try:
        return path.encode()
    except UnicodeEncodeError as error:
        raise InvalidParam(f"{argument} is not valid Unicode text") from error


def _check_inside(path: str, resolved: str, argument: str, roots: Sequence[str]) -> None:
    if not any(is_inside(resolved, root) for root in roots):
        raise InvalidParam(f"{argument} {_show(path)} lies outside the allowed roots; they are {', '.join(roots)}")


def _check_kind(path: str, resolved: str, argument: str, expected: int) -> None:
    try:
        mode = os.stat(resolved).st_mode
    except FileNotFoundError as error:
        if expected in (_NEW, _ANY):
            return
        raise InvalidParam(f"{argument} {_show(path)} does not exist") from error
    except OSError as error:
        raise InvalidParam(f"{argument} {_show(path)} cannot be used: {error.strerror}") from error
    if expected == _FOLDER and not stat.S_ISDIR(mode):
        raise InvalidParam(f"{argument} {_show(path)} is {describe(mode)}, not a folder")
    if expected in (_FILE, _NEW) and not stat.S_ISREG(mode):
        raise InvalidParam(f"{argument} {_show(path)} is {describe(mode)}, not a regular file")
    if expected == _ANY and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InvalidParam(f"{argument} {_show(path)} is {describe(mode)}, neither a file nor a folder")


def _check_no_store(path: str, resolved: str, argument: str, stores: Sequence[str]) -> None:
    for store in stores:
        for part in _STORE_PARTS:
            if _same_file(resolved, store + part):
                raise InvalidParam(f"{argument} {_show(path)} is a store of this program; choose another file")


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.normcase(one) == os.path.normcase(real(other))


def _show(path: str) -> str:
    """The path as written, short enough for a message and without characters that could disguise it."""
    return ascii(path)[1:-1] if len(path) <= 200 else ascii(path[:200])[1:-1] + "..."
