"""A shelf on its way into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale import files
from scaffale.docs.manifest import FORMAT, VERSION
from scaffale.indexer import atlas, clock, dictionary, portable, shelf_transfer, shelves
from scaffale.indexer.freshness import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from scaffale.indexer.shelf_transfer import Leaving
    from scaffale.model import Shelf


def backed_up(connection: apsw.Connection, shelf: Shelf, store: str) -> str:
    """An export of the shelf in `backups` beside the store; its path."""
    path = files.backup_path(store, shelves.slug(shelf.name))
    files.export_whole(path, LeavingShelf(connection, shelf).parts(), overwrite=False)
    return path


class LeavingShelf:
    """A shelf on its way into a manifest. What is said of it is short and read at once; its documents pass one by one."""

    def __init__(self, connection: apsw.Connection, shelf: Shelf) -> None:
        self._connection = connection
        self.shelf = shelf
        self.documents = 0
        mine = shelf_transfer.names(connection, shelf.id)
        links = shelf_transfer.links(connection, shelf.id)
        verdicts = shelf_transfer.verdicts(connection, shelf.id)
        targets = {link.target_document_id for link in links} | {target for _, target, _ in verdicts}
        self._names = _Names(connection, shelf.id, mine, targets)
        self.links = sorted(
            (
                {
                    **self._names.ends(each.source_document_id, each.target_document_id),
                    **_present(each._asdict(), ("relation", "origin", "confidence", "label", "rationale")),
                }
                for each in links
            ),
            key=_by_ends,
        )
        self._verdicts = [{**self._names.ends(source, target), "verdict": said} for source, target, said in verdicts]
        self._verdicts.sort(key=_by_ends)
        self.shelf_links = [
            {"parent_shelf_name": above, "child_shelf_name": below, "relation": "parent"}
            for above, below in (
                *((each.name, shelf.name) for each in atlas.parents(connection, shelf.id)),
                *((shelf.name, each.name) for each in atlas.children(connection, shelf.id)),
            )
        ]
        borne = {tag for tags in shelves.tags_of(connection, mine).values() for tag in tags}
        self.tags = [
            _present(each._asdict(), ("name", "description"))
            for each in dictionary.list_tags(connection)
            if each.name in borne
        ]

    def parts(self) -> Iterator[bytes]:
        """The file."""
        head = {
            "format": FORMAT,
            "format_version": VERSION,
            "exported_at": clock.now(),
            "shelf": _present(self.shelf._asdict(), ("name", "description")),
        }
        documents = map(self._document, shelf_transfer.leaving(self._connection, self.shelf.id))
        return portable.written(
            head,
            {
                "tags": self.tags,
                "documents": documents,
                "shelf_links": self.shelf_links,
                "document_links": self.links,
                "link_verdicts": self._verdicts,
            },
        )

    def _document(self, leaving: Leaving) -> dict[str, Any]:
        self.documents += 1
        return {
            "relative_path": leaving.name,
            "title": leaving.title,
            "tags": leaving.tags,
            "modified_at": clock.iso(shelves.updated(leaving.mtime_ns)),
            "source_bytes": leaving.size,
            "source_sha256": leaving.sha256,
            "content_sha256": digest(leaving.text.encode()),
            "content": leaving.text,
        }


class _Names:
    """What a manifest calls the ends of links."""

    def __init__(self, connection: apsw.Connection, home: int, mine: dict[int, str], targets: set[int]) -> None:
        self._names = dict(mine)
        self._shelves: dict[int, str] = {}
        homes = shelf_transfer.shelf_of(connection, targets - mine.keys())
        for other in set(homes.values()) - {home}:
            names = shelf_transfer.names(connection, other)
            name = shelves.shelf(connection, other).name
            for id in names.keys() & homes.keys():
                self._names[id], self._shelves[id] = names[id], name

    def ends(self, source: int, target: int) -> dict[str, str]:
        named = {"source_relative_path": self._names[source], "target_relative_path": self._names[target]}
        return {**named, "target_shelf_name": self._shelves[target]} if target in self._shelves else named


def _present(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names if values[name] is not None}


def _by_ends(link: dict[str, Any]) -> tuple[str, ...]:
    ends = ("source_relative_path", "target_shelf_name", "target_relative_path", "relation", "origin")
    return tuple(link.get(name, "") for name in ends)
