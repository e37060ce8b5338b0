"""Whether a stored document is still its file: one test, for scans and for hits.

Size, times and inode decide, and the bytes themselves wherever these numbers cannot prove it: when they differ and the
bytes may not, and when the file was so young as it was read that it could change again within one tick of its time
stamp. It reads files and never writes one.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from scaffale import files
from scaffale.errors import ScaffaleError

if TYPE_CHECKING:
    from scaffale.indexer.records import Fingerprint

YOUNG_NS = 2_000_000_000  # the coarsest time stamps tick every two seconds
_LARGEST = 2**63 - 1  # what a store can hold


def freshness(known: Fingerprint, path: str) -> str:
    """What became of the file at `path` since it was indexed: `same`, `changed` or `gone`. Mostly one `stat`."""
    try:
        info = os.stat(path)
    except (OSError, ValueError):
        return "gone"
    if not stat.S_ISREG(info.st_mode):
        return "gone"
    if info.st_size != known.size:
        return "changed"
    if numbers(info) == known[:4] and not is_young(known.mtime_ns, known.checked_ns):
        return "same"
    try:
        data, _ = files.read_with_stat(files.real(path), known.size)
    except (OSError, ScaffaleError):
        return "changed"
    return "same" if digest(data) == known.sha256 else "changed"


def numbers(info: os.stat_result) -> tuple[int, int, int, int]:
    """Size, mtime and ctime in nanoseconds, inode; as a store can hold them."""
    return (
        info.st_size,
        max(min(info.st_mtime_ns, _LARGEST), -_LARGEST),
        max(min(info.st_ctime_ns, _LARGEST), -_LARGEST),
        info.st_ino & _LARGEST,
    )


def is_young(mtime_ns: int, checked_ns: int) -> bool:
    """Whether a file of that mtime, read at that moment, could have changed since without a trace in its numbers."""
    return -YOUNG_NS < checked_ns - mtime_ns < YOUNG_NS


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    import hashlib

    return hashlib.sha256(data).hexdigest()
