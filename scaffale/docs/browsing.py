"""The verbs that show a person around: the outline of a document, where a reference leads, the picture of all documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.docs.room import Room
from scaffale.errors import NotFound, quoted
from scaffale.indexer import browsing, shelves

if TYPE_CHECKING:
    from scaffale.answers.browsing import Followed, Outline, Picture


class Browsing(Room):
    """Look around."""

    def outline(self, *, document_id: int) -> Outline:
        """The headings of a document in their order, with level and line. `NotFound` when there is no such document."""
        from scaffale.answers.browsing import Heading, Outline

        with self._existing()[0].read() as connection:
            document = shelves.document(connection, document_id)
            found = browsing.headings(connection, document_id)
        return Outline(document.id, document.title, tuple(Heading(*each) for each in found), ())

    def follow(self, *, document_id: int, reference: str) -> Followed:
        """Which document a reference that is written in a document means: a relative link, a path, a wiki link's name.

        `NotFound` when it leads to no document that is indexed, or fits several equally well.
        """
        from scaffale.answers.browsing import Followed
        from scaffale.docs.correlation import target
        from scaffale.indexer import correlations
        from scaffale.indexer.references import Map

        with self._existing()[0].read() as connection:
            source = shelves.document(connection, document_id)
            rows = correlations.rows(connection, [each.id for each in shelves.list_shelves(connection)])
        targets = {row.id: target(row) for row in rows}
        those = Map(list(targets.values())).meant(targets[source.id], reference)
        if len(those) != 1:
            why = "fits several documents" if those else "leads to no document that is indexed"
            raise NotFound(f"{quoted(reference)} {why}")
        return Followed(those[0].id, those[0].title, ())

    def source_roots(self) -> tuple[str, ...]:
        """The folders and files that were scanned, absolute, by name: what paths of answers begin with."""
        store = self._store()
        if store is None:
            return ()
        with store[0].read() as connection:
            return tuple(browsing.roots(connection))

    def picture(self) -> Picture:
        """All shelves, documents and links at once, for a drawing. One snapshot; nothing is left out but rejected links."""
        from scaffale.answers.browsing import Dot, Line, Picture
        from scaffale.indexer import atlas

        store = self._store()
        if store is None:
            return Picture((), {}, (), (), ())
        with store[0].read() as connection:
            known = tuple(shelves.list_shelves(connection))
            parents = {each.id: tuple(atlas.parents(connection, each.id)) for each in known}
            dots = tuple(Dot(*row) for row in browsing.places(connection))
            lines = tuple(Line(*row) for row in browsing.links(connection))
        return Picture(known, parents, dots, lines, ())
