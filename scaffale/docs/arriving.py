"""A shelf on its way from a file into the store."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, NamedTuple

from scaffale.answers.shelf_exchange import ShelfImported, Unresolved
from scaffale.docs.leaving import backed_up
from scaffale.errors import Conflict, InvalidParam, ScaffaleError
from scaffale.indexer import atlas, clock, dictionary, documents, reading, shelf_transfer, shelves
from scaffale.indexer.records import Fingerprint, Source
from scaffale.model import ScanReport, Skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from scaffale.docs.manifest import Incoming, IncomingLink, IncomingVerdict, Manifest
    from scaffale.indexer import scan
    from scaffale.indexer.database import Database
    from scaffale.indexer.documents import Draft
    from scaffale.model import Shelf

    Progress = Callable[[int, int, str], None]


class _Read(NamedTuple):
    """A document of the manifest, parsed."""

    incoming: Incoming
    draft: Draft


class ArrivingShelf:
    """A manifest on its way into the store."""

    def __init__(
        self, found: Manifest, path: str, name: str, on_conflict: str, store: str, progress: Progress | None
    ) -> None:
        self._found, self._path, self._name, self._on_conflict, self._store = found, path, name, on_conflict, store
        self._progress = progress
        self.shelf: Shelf | None = None
        self._new = self._changed = self._same = self._removed = 0
        self._links = self._parents = self._verdicts = 0
        self._skips: list[Skip] = []
        self._failures: list[Skip] = []
        self._unresolved: list[Unresolved] = []
        self._warnings: list[str] = []
        self._backup: str | None = None

    def take(
        self, database: Database, options: scan.Options, on_batch: Callable[[int], None]
    ) -> list[ScanReport]:
        """Parse all, then store all in one transaction."""
        source = Source(0, 0, self._path)
        read = []
        for number, incoming in enumerate(self._found.documents, 1):
            if each := self._parse(incoming, source):
                read.append(each)
            if self._progress:
                self._progress(number, len(self._found.documents), incoming.path)
        with database.write() as connection:
            stored = self._stored(connection, source, read, options.scan_id)
        on_batch(stored)
        return []

    def answer(self) -> ShelfImported:
        """What became of it."""
        assert self.shelf is not None
        return ShelfImported(
            self.shelf.name, self._path, self._on_conflict, self._found.version, len(self._found.documents), self._new,
            self._changed, self._same, len(self._skips), len(self._failures), self._removed, self._links, self._parents,
            self._verdicts, tuple(self._skips), tuple(self._failures), tuple(self._unresolved), self._backup,
            tuple(self._warnings),
        )  # fmt: skip

    def _parse(self, incoming: Incoming, source: Source) -> _Read | None:
        time = clock.milliseconds_of(incoming.modified_at) * 1_000_000 if incoming.modified_at else 0
        print_ = Fingerprint(incoming.size, time, 0, 0, clock.milliseconds() * 1_000_000, incoming.sha256)
        path = f"{self._path}{os.sep}{incoming.path.replace('/', os.sep)}"
        try:
            draft = reading.draft(path, source, incoming.content.encode(), print_)
        except reading.NotTaken as reason:
            self._failures.append(Skip(incoming.path, str(reason)))
            return None
        self._warnings += [f"{incoming.path}: {warning}" for warning in draft.warnings]
        return _Read(incoming, draft)

    def _stored(self, connection: apsw.Connection, source: Source, read: list[_Read], scan_id: int | None) -> int:
        shelf = shelves.find_shelf(connection, self._name)
        if shelf and shelf.document_count and self._on_conflict == "fail":
            raise Conflict(
                f"shelf {shelf.name!r} holds {shelf.document_count} documents; on_conflict=merge adds to them, replace"
                " puts those of the file in their place"
            )
        if shelf and self._on_conflict == "replace" and shelf.document_count:
            self._backup = backed_up(connection, shelf, self._store)
        if shelf is None:
            shelf = shelves.create_shelf(connection, self._name, self._found.description)
        elif self._found.description and (self._on_conflict == "replace" or not shelf.description):
            shelf = shelves.update_shelf(connection, shelf.id, description=self._found.description)
        ids = {name: id for id, name in shelf_transfer.names(connection, shelf.id).items()}
        known = shelf_transfer.file_paths(connection, shelf.id)
        going: list[int] = []
        if self._on_conflict == "replace":
            wanted = {each.path for each in self._found.documents}
            going = [id for name, id in ids.items() if name not in wanted]
            self._removed = len(shelves.remove_documents(connection, going))
            shelf_transfer.clear_links(connection, shelf.id)
        drafts = list(self._to_store(read, ids, known))
        owners = documents.put_documents(connection, source._replace(shelf_id=shelf.id), [each.draft for each in drafts], scan_id)
        ids |= {each.incoming.path: id for each, id in zip(drafts, owners, strict=True)}
        self._put_tags(connection, read, ids)
        self.shelf = shelves.shelf(connection, shelf.id)
        ends = _Ends(connection, self.shelf, self._found.name, ids)
        for link in self._found.links:
            self._links += self._put_link(connection, ends, link)
        for said in self._found.verdicts:
            self._verdicts += self._put_verdict(connection, ends, said)
        for above, below in self._found.shelf_links:
            self._parents += self._put_parent(connection, above, below)
        return len(owners) + len(going)

    def _to_store(self, read: list[_Read], ids: dict[str, int], known: dict[int, tuple[str, str]]) -> Iterator[_Read]:
        """Those whose text is news. One that is there keeps the path of its file."""
        for each in read:
            if each.incoming.path not in ids:
                self._new += 1
                yield each
                continue
            path, digest = known[ids[each.incoming.path]]
            if digest == each.incoming.sha256:
                self._same += 1
            elif self._on_conflict == "replace":
                self._changed += 1
                yield each._replace(draft=each.draft._replace(file_path=path))
            else:
                self._skips.append(Skip(each.incoming.path, "the shelf has another text under this path, which is kept"))

    def _put_tags(self, connection: apsw.Connection, read: list[_Read], ids: dict[str, int]) -> None:
        """Tags of the manifest that no front matter gives are those of people."""
        there = {tag.name for tag in dictionary.list_tags(connection)}
        for each in read:
            by_itself = set(map(shelves.tag_name, each.draft.tags))
            given = [tag for tag in each.incoming.tags if tag not in by_itself]
            if self._on_conflict != "replace":
                given += [tag for tag in dictionary.given(connection, ids[each.incoming.path]) if tag not in given]
            if not given and self._on_conflict != "replace":
                continue
            for tag in given:
                if tag not in there:
                    dictionary.create_tag(connection, tag, self._found.tags.get(tag))
                    there.add(tag)
            dictionary.set_document_tags(connection, ids[each.incoming.path], given)

    def _put_link(self, connection: apsw.Connection, ends: _Ends, link: IncomingLink) -> bool:
        both = self._resolved(ends, link, "document_link")
        if both is None:
            return False
        for text in (link.label, link.rationale):
            shelves.refuse_secret("label or rationale of a link", text or "")
        atlas.add_link(
            connection,
            atlas.Draft(
                *both, link.relation, "import", link.confidence, link.label, link.rationale, former_origin=link.origin
            ),
        )
        return True

    def _put_verdict(self, connection: apsw.Connection, ends: _Ends, said: IncomingVerdict) -> bool:
        both = self._resolved(ends, said, "link_verdict")
        if both is None:
            return False
        atlas.judge(connection, *both, said.verdict)
        return True

    def _resolved(self, ends: _Ends, link: IncomingLink | IncomingVerdict, kind: str) -> tuple[int, int] | None:
        source, target = ends.own(link.source), ends.target(link)
        if isinstance(source, int) and isinstance(target, int) and source != target:
            return source, target
        why = next((each for each in (source, target) if isinstance(each, str)), "it leads to itself")
        self._unresolved.append(Unresolved(link.source, f"{kind} to {link.target}: {why}"))
        return None

    def _put_parent(self, connection: apsw.Connection, above: str, below: str) -> bool:
        from scaffale.answers.shelf_exchange import Unresolved
        assert self.shelf is not None
        ends = [
            self.shelf if name.casefold() == self._found.name.casefold() else shelves.find_shelf(connection, name)
            for name in (above, below)
        ]
        parent, child = ends
        try:
            if parent is None or child is None:
                raise InvalidParam("there is no such shelf")
            atlas.add_parent(connection, child.id, parent.id)
        except ScaffaleError as error:
            self._unresolved.append(Unresolved(below, f"shelf_link to its parent {above}: {error.detail}"))
            return False
        return True


class _Ends:
    """The documents that a manifest's links mean. What is not found, or not for certain, is said in words."""

    def __init__(self, connection: apsw.Connection, shelf: Shelf, name: str, ids: dict[str, int]) -> None:
        self._connection, self._shelf, self._name, self._ids = connection, shelf, name, ids
        self._others: dict[str, dict[str, int] | None] = {}

    def own(self, path: str) -> int | str:
        """A document of the imported shelf."""
        return self._ids.get(path, "its source is not on the shelf")

    def target(self, link: IncomingLink | IncomingVerdict) -> int | str:
        """The document that a link leads to: on the shelf it names; else on the same one, its path read from the top of the
        shelf or from the folder of the source; else the only one anywhere whose path ends so."""
        if link.shelf is not None and link.shelf.casefold() != self._name.casefold():
            names = self._of(link.shelf)
            if names is None:
                return f"there is no shelf {link.shelf!r}"
            return names.get(link.target, f"its target is not on the shelf {link.shelf!r}")
        below = posixpath.normpath(posixpath.join(posixpath.dirname(link.source), link.target))
        for path in (link.target, below):
            if path in self._ids:
                return self._ids[path]
        if link.shelf is not None:
            return "its target is not on the shelf"
        found = shelf_transfer.elsewhere(self._connection, self._shelf.id, below.removeprefix("../").replace("../", ""))
        if len(found) == 1:
            return found[0]
        return "several documents of other shelves have its path" if found else "its target is not found"

    def _of(self, name: str) -> dict[str, int] | None:
        if name not in self._others:
            shelf = shelves.find_shelf(self._connection, name)
            names = shelf_transfer.names(self._connection, shelf.id) if shelf else None
            self._others[name] = {path: id for id, path in names.items()} if names is not None else None
        return self._others[name]
