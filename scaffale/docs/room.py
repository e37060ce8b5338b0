"""What every verb of documents stands on: the store, and the source of its index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.errors import NotFound, quoted
from scaffale.hall import Hall
from scaffale.indexer import shelves

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from scaffale.indexer.database import Database, Schema
    from scaffale.indexer.sync import Projection
    from scaffale.model import Passage
    from scaffale.settings import Settings


class DocsSource:
    """The docs store, as its projections see it (`sync.Source`). An owner is a document; its sections are passages."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def owners(self, connection: apsw.Connection, after: int, limit: int) -> list[int]:
        """Document ids above `after`, ascending."""
        return shelves.owners(connection, after, limit)

    def count(self, connection: apsw.Connection) -> int:
        """How many documents there are."""
        return shelves.count(connection)

    def passages(self, connection: apsw.Connection, owners: Sequence[int]) -> dict[int, list[Passage]]:
        """The sections of each document that say something."""
        return shelves.passages(connection, owners)


class Room(Hall):
    """The store of documents."""

    name = "docs"

    def __init__(self, settings: Settings, *, background: bool = False) -> None:
        super().__init__(settings, settings.docs_db_path, settings.docs_lexical_backend, background=background)

    def _schema(self) -> Schema:
        return shelves.SCHEMA

    def _source(self, database: Database) -> DocsSource:
        return DocsSource(database)

    def _with(self, shelf: str | None) -> tuple[Database, Projection] | None:
        """As `_store`; but while nothing was ever scanned a named `shelf` is `NotFound`."""
        store = self._store()
        if store is None and shelf is not None:
            raise NotFound(f"no shelf {quoted(shelf)!r}; none exists yet")
        return store

    def _existing(self) -> tuple[Database, Projection]:
        store = self._store()
        if store is None:
            raise NotFound("there are no shelves yet")
        return store
