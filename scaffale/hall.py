"""A hall: one store and its projection, opened at the first use, shared by threads, let go of at the end.

What memory and documents have in common, and nothing of what they are about.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from scaffale.indexer.database import Database, exists
from scaffale.indexer.sync import Projection

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scaffale.backends.ports import Embedder
    from scaffale.backends.spaces import Space
    from scaffale.indexer.database import Schema
    from scaffale.indexer.sync import Source
    from scaffale.meaning.asking import Meaning
    from scaffale.meaning.managing import Built, VectorStatus
    from scaffale.settings import Settings

DAMAGED = "is not what was once written: the store is damaged. `scaffale doctor --verify` says more."


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

    def damage(self, *, store: bool = True) -> dict[str, list[str]]:
        """What is broken inside the files of the `store`, unless it is left out, and of the `index`; empty when nothing is.
        Reads all of them."""
        opened = self._store()
        if opened is None:
            return {"store": [], "index": []}
        return {"store": opened[0].damage() if store else [], "index": opened[1].damage()}

    def index_differences(self) -> tuple[int, int]:
        """How many of the store's entries or documents the index lacks, and how many it holds that the store does not."""
        store = self._store()
        return store[1].differences() if store else (0, 0)

    def maintain(self, *, rebuild: bool = False) -> list[str]:
        """Commit the index, or build it anew, and fold the write-ahead log in. Says what was done."""
        store = self._store()
        if store is None:
            return [f"{self.name}: nothing to do, there is no store yet"]
        lines = store[1].maintain(rebuild=rebuild)
        if self._meaning is not None:
            lines += self._meaning.maintain(rebuild=rebuild)
        return [f"{self.name}: {line}" for line in lines]

    # --- vectors ---------------------------------------------------------------------------------------------------

    def enable_vectors(self, *, space: Space, backend: str = "numpy", fusion: str = "rrf") -> VectorStatus:
        """Turn search by meaning on, with the embedder that `managing.space_of` describes. Nothing is embedded yet; what
        an earlier space holds serves until `build_vectors` is done with this one."""
        from scaffale.meaning import managing

        database, _ = self._open()
        managing.enable(self._settings, self._source(database), space, backend, fusion)
        self.close()  # the next use opens with vectors
        return self.vector_status()

    def vector_status(self) -> VectorStatus:
        """What stands of vectors. Creates nothing."""
        from scaffale.meaning import managing

        store = self._store()
        if store is None:
            return managing.VectorStatus(self.name, "off")
        return managing.status(self._settings, self.name, self._source(store[0]))

    def build_vectors(
        self,
        *,
        again: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
        load: Callable[[Space], Embedder] | None = None,
    ) -> Built:
        """Make every vector that is missing, with the model in this process. `again` tries what had a problem, too."""
        from scaffale import backends
        from scaffale.meaning import managing

        database, _ = self._open()
        return managing.build(
            self._settings, self.name, self._source(database), again=again, progress=progress, load=load or backends.embedder
        )

    def disable_vectors(self, *, drop: bool = False) -> VectorStatus:
        """Turn search by meaning off; with `drop` forget the vectors."""
        from scaffale.meaning import managing

        store = self._store()
        if store is not None:
            managing.disable(self._source(store[0]), drop=drop)
            self.close()
        return self.vector_status()

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
                if self._database.said("vectors") is not None:
                    from scaffale.meaning import managing

                    self._meaning = managing.meaning(self._settings, self.name, source, background=self._background)
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
