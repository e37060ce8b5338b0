"""A hall: one store and its projection, opened at the first use, shared by threads, let go of at the end.

What memory and documents have in common, and nothing of what they are about.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from scaffale.indexer.database import Database, exists
from scaffale.indexer.sync import Projection

if TYPE_CHECKING:
    from typing import Self

    from scaffale.indexer.database import Schema
    from scaffale.indexer.sync import Source
    from scaffale.meaning import Meaning
    from scaffale.settings import Settings


class Hall:
    """What every hall is. Safe to share between threads; `close` lets go of files and threads, the next use opens again.

    `path` is the file of the store, `choice` the engine that is wanted for it.
    """

    name = ""

    def __init__(self, settings: Settings, path: str, choice: str, *, background: bool) -> None:
        self._settings = settings
        self._path = path
        self._choice = choice
        self._background = background
        self._opening = threading.Lock()
        self._database: Database | None = None
        self._projection: Projection | None = None
        self._meaning: Meaning | None = None  # while vectors are on

    def damage(self) -> dict[str, list[str]]:
        """What is broken inside the files of the `store` and of the `index`; empty when nothing is. Reads all of them."""
        store = self._store()
        return {"store": store[0].damage(), "index": store[1].damage()} if store else {"store": [], "index": []}

    def maintain(self, *, rebuild: bool = False) -> list[str]:
        """Commit the index, or build it anew, and fold the write-ahead log in. Says what was done."""
        store = self._store()
        if store is None:
            return [f"{self.name}: nothing to do, there is no store yet"]
        return [f"{self.name}: {line}" for line in store[1].maintain(rebuild=rebuild)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store and its index."""
        with self._opening:
            database, projection, meaning = self._database, self._projection, self._meaning
            self._database = self._projection = self._meaning = None
        if meaning:
            meaning.close()
        if projection:
            projection.close()
        if database:
            database.close()

    # --- what a hall says ------------------------------------------------------------------------------------------

    def _schema(self) -> Schema:
        raise NotImplementedError

    def _source(self, database: Database) -> Source:
        raise NotImplementedError

    # --- the store -------------------------------------------------------------------------------------------------

    def _open(self) -> tuple[Database, Projection]:
        """Store and projection, created when they are not there yet."""
        with self._opening:
            if self._database and not self._database.is_current():
                self._let_go(self._database)
            if self._database is None or self._projection is None:
                self._database = Database(self._path, self._schema())
                source = self._source(self._database)
                self._projection = Projection(source, self._choice, background=self._background)
                if may_have_vectors(self._settings, self.name, self._database):
                    from scaffale import vectors

                    self._meaning = vectors.meaning(self._settings, self.name, source, background=self._background)
            return self._database, self._projection

    def _let_go(self, database: Database) -> None:
        """Raise, once, for a store that was taken away while it was open; the next call opens what lies there then."""
        projection, self._database, self._projection = self._projection, None, None
        meaning, self._meaning = self._meaning, None
        if meaning:
            meaning.close()
        if projection:
            projection.close()
        raise database.taken_away()

    def _store(self) -> tuple[Database, Projection] | None:
        """Store and projection, or `None` while nothing was ever kept."""
        if self._database is not None or exists(self._path):
            return self._open()
        return None

    def _engine(self) -> str:
        if self._projection:
            return self._projection.engine.name
        from scaffale import backends

        return backends.lexical(self._choice).name
