"""Values of the docs store that only this room knows: a file as it was met, read and kept.

Annotations are not postponed: `typing` compiles postponed ones, which would triple the price of each class at start-up.
"""

from typing import NamedTuple


class Fingerprint(NamedTuple):
    """What the file system said of a file when it was read at `checked_ns` (our clock), and the digest of its bytes."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    checked_ns: int
    sha256: str


class Source(NamedTuple):
    """A folder (or file) that was scanned into a shelf, and how. `id` 0: not yet remembered."""

    id: int
    shelf_id: int
    root: str
    is_file: bool = False
    recursive: bool = True
    respect_gitignore: bool = True
    ignore: tuple[str, ...] = ()


class SectionRow(NamedTuple):
    """A section with all that a hit says of it and its document. `body` is cut where indexes cut it."""

    document_id: int
    title: str
    file_path: str
    shelf_id: int
    shelf_name: str
    shelf_uri: str
    heading_path: tuple[str, ...]
    level: int
    start_line: int
    end_line: int
    body: str
    fingerprint: Fingerprint
