"""How tests damage the files of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def replace(path: Path, data: bytes) -> None:
    """Other bytes under the same name, in a file of their own.

    Tantivy loads an index once more in a thread just after it was opened. Were the file cut that this thread has mapped,
    the whole process would die of SIGBUS.
    """
    path.unlink()
    path.write_bytes(data)
