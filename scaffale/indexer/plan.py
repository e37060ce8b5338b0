"""What a scan has to do: the difference between the files that a walk meets and the documents that are stored. Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from scaffale.indexer import shelves
from scaffale.indexer.freshness import is_young, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scaffale.indexer.documents import Stored
    from scaffale.indexer.walk import Folder
    from scaffale.model import Skip


class Seen(NamedTuple):
    """A file as the walk met it, and the document that it is already."""

    path: str
    info: os.stat_result
    known: Stored | None = None


class Plan(NamedTuple):
    """What is to be done, by numbers alone. Files met: `added + changed + young + same`.

    `changed`: the numbers differ. `young`: they are equal and prove nothing, since the file was written within two
    seconds of being read. `missing`: documents of this source that the walk did not meet. `moved`: files out of `added`
    that hold the bytes of a document whose own file is gone.
    """

    added: list[Seen]
    changed: list[Seen]
    young: list[Seen]
    same: int
    missing: list[Stored]
    skips: list[Skip]
    moved: list[Seen]

    @property
    def seen(self) -> int:
        """How many files the walk met, taken or not."""
        return len(self.added) + len(self.moved) + len(self.changed) + len(self.young) + self.same + len(self.skips)


def plan(folders: Iterable[Folder], stored: Mapping[str, Stored], source_id: int) -> Plan:
    """The difference between what the walk meets and what is stored. Pure but for the walk itself."""
    left = dict(stored)
    added: list[Seen] = []
    changed: list[Seen] = []
    young: list[Seen] = []
    skips: list[Skip] = []
    same = 0
    for folder in folders:
        skips += folder.skips
        for path, info in folder.files:
            known = left.pop(path, None)
            if known is None:
                added.append(Seen(path, info))
            elif (
                known.mtime_ns != info.st_mtime_ns
                or known.size != info.st_size
                or known.ctime_ns != info.st_ctime_ns
                or known.inode != info.st_ino & shelves.MAX_ID
            ):
                changed.append(Seen(path, info, known))
            elif is_young(known.mtime_ns, known.checked_ns):
                young.append(Seen(path, info, known))
            else:
                same += 1
    # What was met and not taken is not missing, nor is what lies in a folder that could not be read.
    met = {each.file_path for each in skips}
    beneath = tuple(path + os.sep for path in met)
    missing = [
        known
        for path, known in left.items()
        if known.source_id == source_id and path not in met and not path.startswith(beneath)
    ]
    return Plan(added, changed, young, same, missing, skips, [])


def pair(added: Sequence[Seen], orphans: Sequence[Stored], digests: Mapping[str, str]) -> list[Seen]:
    """Added files with the orphaned document whose bytes each holds; the one of the same inode first."""
    by_inode = {(orphan.sha256, orphan.inode): orphan for orphan in orphans}
    pairs: list[Seen] = []
    others: list[Seen] = []
    for seen in added:
        orphan = by_inode.pop((digests.get(seen.path), numbers(seen.info)[3]), None)
        if orphan:
            pairs.append(seen._replace(known=orphan))
        else:
            others.append(seen)
    taken = {seen.known.id for seen in pairs if seen.known}
    by_digest: dict[str | None, list[Stored]] = {}
    for orphan in reversed(orphans):
        if orphan.id not in taken:
            by_digest.setdefault(orphan.sha256, []).append(orphan)
    for seen in others:
        left = by_digest.get(digests.get(seen.path) or "")
        if left:
            pairs.append(seen._replace(known=left.pop()))
    return pairs
