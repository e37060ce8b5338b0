"""The verbs of those who curate: shelves and what stands above them, the dictionary of tags, links between documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from scaffale.answers.docs import Removed, ShelfAnswer, ShelfList
from scaffale.docs.room import Room
from scaffale.errors import InvalidParam, LimitExceeded, NotFound, ScaffaleError
from scaffale.indexer import shelves
from scaffale.model import DIRECTIONS, DOCUMENT_RELATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    import apsw

    from scaffale.answers.atlas import LinkList, ShelfParents, Tag, TagAnswer, TagList, TagsSet
    from scaffale.indexer.atlas import Draft

T = TypeVar("T")


class Curation(Room):
    """Shelves, tags, links."""

    # --- shelves ---------------------------------------------------------------------------------------------------

    def list_shelves(self) -> ShelfList:
        """All shelves by name."""
        store = self._store()
        if store is None:
            return ShelfList((), ())
        with store[0].read() as connection:
            return ShelfList(tuple(shelves.list_shelves(connection)), ())

    def create_shelf(self, *, name: str, description: str | None = None) -> ShelfAnswer:
        """A new, empty shelf."""
        with self._open()[0].write() as connection:
            return ShelfAnswer(shelves.create_shelf(connection, name, description), ())

    def update_shelf(
        self, *, shelf: str, new_name: str | None = None, new_description: str | None = None
    ) -> ShelfAnswer:
        """Rename or describe a shelf."""
        if new_name is None and new_description is None:
            raise InvalidParam("update_shelf: give new_name or new_description")
        with self._existing()[0].write() as connection:
            found = shelves.shelf(connection, shelf)
            return ShelfAnswer(shelves.update_shelf(connection, found.id, name=new_name, description=new_description), ())

    def remove_shelf(self, *, shelf: str) -> Removed:
        """Forget a shelf and its documents."""
        database, projection = self._existing()
        with database.write() as connection:
            found = shelves.shelf(connection, shelf)
            removed = shelves.remove_shelf(connection, found.id)
        projection.catch_up()
        return Removed(found.name, None, removed, ())

    def remove_document(self, *, document_id: int) -> Removed:
        """Forget one document."""
        database, projection = self._existing()
        with database.write() as connection:
            document = shelves.document(connection, document_id)
            shelves.remove_documents(connection, [document_id])
        projection.nudge()
        return Removed(document.shelf_name, document_id, 1, ())

    def manage_shelf_links(
        self,
        *,
        operation: str,
        shelf: str,
        parent_shelf: str | None = None,
        parent_shelves: Sequence[str] | None = None,
        include_children: bool = False,
    ) -> ShelfParents:
        """Which shelves a shelf leans on: `list` them, `set_parents`, `add_parent` or `remove_parent`.

        A shelf may have several parents; one that would stand above itself is a `Conflict`.
        """
        from scaffale.answers.atlas import ShelfParents
        from scaffale.indexer import atlas

        _one_of("operation", operation, ("set_parents", "add_parent", "remove_parent", "list"))
        database, _ = self._existing()
        with database.read() if operation == "list" else database.write() as connection:
            home = shelves.shelf(connection, shelf)
            if operation == "set_parents":
                wanted = _needed(operation, "parent_shelves", parent_shelves)
                atlas.set_parents(connection, home.id, [shelves.shelf(connection, each).id for each in wanted])
            elif operation != "list":
                parent = shelves.shelf(connection, _needed(operation, "parent_shelf", parent_shelf))
                if operation == "add_parent":
                    atlas.add_parent(connection, home.id, parent.id)
                elif not atlas.remove_parent(connection, home.id, parent.id):
                    raise NotFound(f"{parent.name!r} is no parent of {home.name!r}")
            above = tuple(atlas.parents(connection, home.id, atlas.DEEPEST))
            below = tuple(atlas.children(connection, home.id)) if include_children else None
        return ShelfParents(home, above, below, ())

    # --- the dictionary of tags ------------------------------------------------------------------------------------

    def list_tags(self) -> TagList:
        """The dictionary by name."""
        from scaffale.answers.atlas import TagList
        from scaffale.indexer import dictionary

        store = self._store()
        if store is None:
            return TagList((), ())
        with store[0].read() as connection:
            return TagList(tuple(dictionary.list_tags(connection)), ())

    def create_tag(self, *, name: str, description: str | None = None) -> TagAnswer:
        """A new word of the dictionary."""
        return self._tag(lambda dictionary, connection: dictionary.create_tag(connection, name, description))

    def update_tag(self, *, tag: str, new_name: str | None = None, new_description: str | None = None) -> TagAnswer:
        """Rename or describe a tag; documents keep it under its new name."""
        if new_name is None and new_description is None:
            raise InvalidParam("update_tag: give new_name or new_description")
        return self._tag(
            lambda dictionary, connection: dictionary.update_tag(
                connection, tag, new_name=new_name, description=new_description
            )
        )

    def remove_tag(self, *, tag: str) -> TagAnswer:
        """Take a tag from the dictionary and from every document."""
        return self._tag(lambda dictionary, connection: dictionary.remove_tag(connection, tag))

    def set_document_tags(self, *, document_id: int, tags: Sequence[str]) -> TagsSet:
        """Give a document these tags of the dictionary and no others; those of its front matter stay."""
        return self.bulk_set_document_tags(assignments=[{"document_id": document_id, "tags": tags}])

    def bulk_set_document_tags(self, *, assignments: Sequence[dict[str, Any]]) -> TagsSet:
        """`set_document_tags` for several documents: all of them, or none when one cannot be done."""
        from scaffale.answers.atlas import DocumentTags, TagsSet
        from scaffale.indexer import dictionary

        database, projection = self._existing()
        done = []
        with database.write() as connection:
            for number, each in enumerate(assignments):
                document_id, names = _assignment(number, each)
                done.append(DocumentTags(document_id, dictionary.set_document_tags(connection, document_id, names)))
        projection.nudge()
        return TagsSet(tuple(done), ())

    def _tag(self, change: Callable[[ModuleType, apsw.Connection], Tag]) -> TagAnswer:
        from scaffale.answers.atlas import TagAnswer
        from scaffale.indexer import dictionary

        database, projection = self._open()
        with database.write() as connection:
            tag = change(dictionary, connection)
        projection.nudge()
        return TagAnswer(tag, ())

    # --- links between documents -----------------------------------------------------------------------------------

    def manage_document_links(
        self,
        *,
        operation: str,
        origin: str,
        source_document_id: int | None = None,
        target_document_id: int | None = None,
        document_id: int | None = None,
        link_id: int | None = None,
        relation: str = "related_to",
        confidence: float | None = None,
        label: str | None = None,
        rationale: str | None = None,
        direction: str = "outgoing",
        links: Sequence[dict[str, Any]] | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> LinkList:
        """Directed links between documents: `add`, `remove`, `list`, `replace_for_document` (the caller's own `origin`
        only), `pin`, `reject`, `forget_verdict`. What is pinned comes first; what is rejected is not shown again, and no
        recalculation brings it back."""
        from scaffale.answers.atlas import LinkList
        from scaffale.indexer import atlas

        _one_of("operation", operation, ("list", *_LINK_CHANGES))
        _one_of("direction", direction, DIRECTIONS)
        database, _ = self._existing()
        if operation == "list":
            number = _needed(operation, "document_id", document_id)
            with database.read() as connection:
                shelves.document(connection, number)
                found, total = atlas.links(connection, number, direction, max(1, limit), max(0, offset))
            more = offset + limit if total > offset + limit else None
            return LinkList(tuple(found), total, more, direction, ())
        said = {"relation": relation, "confidence": confidence, "label": label, "rationale": rationale}
        with database.write() as connection:
            if operation == "add":
                ends = (
                    _needed(operation, "source_document_id", source_document_id),
                    _needed(operation, "target_document_id", target_document_id),
                )
                made = [atlas.link(connection, atlas.add_link(connection, _link(*ends, origin, said)))]
            elif operation == "replace_for_document":
                source = _needed(operation, "document_id", document_id)
                shelves.document(connection, source)
                wanted = _needed(operation, "links", links)
                atlas.remove_links(connection, source, origin)
                drafts = [_listed(number, source, origin, each) for number, each in enumerate(wanted)]
                made = [atlas.link(connection, atlas.add_link(connection, draft)) for draft in drafts]
            elif operation == "remove":
                made = [atlas.remove_link(connection, _needed(operation, "link_id", link_id))]
            else:
                judged = atlas.link(connection, _needed(operation, "link_id", link_id))
                atlas.judge(connection, judged.source.id, judged.target.id, _VERDICTS[operation])
                made = [atlas.link(connection, judged.link_id)]
        return LinkList(tuple(made), len(made), None, direction, ())


_VERDICTS = {"pin": "pinned", "reject": "rejected", "forget_verdict": None}
_LINK_CHANGES = ("add", "remove", "replace_for_document", *_VERDICTS)
MAX_WORDS = 2_000  # characters of a label or a rationale


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InvalidParam(f"{name}: must be one of {', '.join(allowed)}")


def _needed(operation: str, name: str, value: T | None) -> T:
    if value is None:
        raise InvalidParam(f"{name}: the operation {operation} needs it")
    return value


def _assignment(number: int, said: dict[str, Any]) -> tuple[int, Sequence[str]]:
    """The document and its tags, as an item of `assignments` names them."""
    _no_strangers(f"assignments[{number}]", said, ("document_id", "tags"))
    document_id, names = said.get("document_id"), said.get("tags")
    fits = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not isinstance(document_id, int) or isinstance(document_id, bool) or not fits:
        raise InvalidParam(f"assignments[{number}]: give document_id, a number, and tags, an array of strings")
    assert names is not None
    return document_id, names


def _no_strangers(where: str, said: dict[str, Any], known: Sequence[str]) -> None:
    """What nobody would look at is refused, not passed over."""
    if any(name not in known for name in said):
        raise InvalidParam(f"{where}: takes {', '.join(known)} and nothing else")


def _listed(number: int, source: int, origin: str, said: dict[str, Any]) -> Draft:
    """A link as an item of `links` describes it."""
    where = f"links[{number}]"
    _no_strangers(where, said, ("target_document_id", "relation", "confidence", "label", "rationale"))
    try:
        return _link(source, said.get("target_document_id"), origin, said)
    except ScaffaleError as error:
        raise type(error)(f"{where}.{error.detail}") from None


def _link(source: int, target: object, origin: str, said: dict[str, Any]) -> Draft:
    """A link as somebody describes it, checked."""
    from scaffale.indexer import atlas

    if not isinstance(target, int) or isinstance(target, bool):
        raise InvalidParam("target_document_id: give the number of the document that the link leads to")
    relation, confidence = said.get("relation") or "related_to", said.get("confidence")
    _one_of("relation", relation, DOCUMENT_RELATIONS)
    if confidence is not None and not (isinstance(confidence, int | float) and 0.0 <= confidence <= 1.0):
        raise InvalidParam("confidence: must be between 0.0 and 1.0")
    words = {name: said.get(name) for name in ("label", "rationale")}
    for name, text in words.items():
        if text is not None and not isinstance(text, str):
            raise InvalidParam(f"{name}: must be a string")
        if text and len(text) > MAX_WORDS:
            raise LimitExceeded(f"{name}: longer than {MAX_WORDS} characters")
        shelves.refuse_secret(name, text or "")
    return atlas.Draft(source, target, relation, origin, confidence, words["label"], words["rationale"])
