"""The vectors of one store, as its hall asks for them: the vector of a question in time, and what lies near it.

A question waits for its vector no longer than the deadline; then words answer alone, and the answer says so. A vector that
comes too late is kept for the next time. No model is ever loaded into a process of an agent: another process has it
(`backends.daemon`).
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scaffale.backends.codes import NoVector, checked, cosine
from scaffale.backends.daemon import Warming
from scaffale.backends.ports import EmbedderUnavailable, EngineAway
from scaffale.errors import IndexUnusable, ScaffaleError
from scaffale.indexer import embedding

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from scaffale.backends.ports import Embedder, Vector
    from scaffale.backends.spaces import Space
    from scaffale.indexer.vector_sync import Near, VectorProjection
    from scaffale.model import Filter

    EmbedderOf = Callable[[Space], Embedder]

USED, WARMING, TIMEOUT, UNAVAILABLE = "used", "warming", "timeout", "unavailable"
KIN, KIN_PASSAGES = 30, 120  # owners near another, and passages that are asked for to find them
OWN = 8  # pieces of an owner whose neighbours are looked for
REMEMBERED = 64  # vectors of questions
LOOK_SECONDS = 1.0  # how often the background looks for something to do
REST_SECONDS = 30.0  # after an embedder was not to be had


class State(NamedTuple):
    """What became of the question: `used` with a vector, or `warming`, `timeout`, `unavailable` and the reason."""

    state: str
    reason: str = ""


class Meaning:
    """Safe to share between threads. With `background=True` a thread takes in what was written, a moment later, while the
    other process with the model is there anyway."""

    def __init__(
        self,
        projection: VectorProjection,
        embedder_of: EmbedderOf,
        *,
        fusion: str,
        deadline: float,
        background: bool = False,
    ) -> None:
        self.projection = projection
        self.fusion = fusion
        self.deadline = deadline
        self._embedder_of = embedder_of
        self._embedders: dict[str, Embedder] = {}
        self._vectors: dict[tuple[str, str], Vector] = {}
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._worker = threading.Thread(target=self._work, daemon=True, name="scaffale-vectors") if background else None
        if self._worker:
            self._worker.start()

    @property
    def space(self) -> Space | None:
        """The space that answers now."""
        return self.projection.space

    def begin(self, text: str) -> Asked:
        """Ask for the vector of a question; go on with something else, then take it."""
        return Asked(self, self.projection.space, text)

    def near(self, space: Space, vector: Vector, filter: Filter, k: int, exclude: Collection[int] = ()) -> Near:
        """The best `k` passages. Raises `IndexUnusable`."""
        return self.projection.search(space.identity, vector, filter, k, exclude)

    def alike(self, text: str, owner: int | None, filter: Filter, k: int) -> dict[int, float]:
        """Cosines of passages near an owner, by its own vectors, or near a text, when its vector comes in time. A text is
        asked about only where the model has answered already: nothing is started, and no writer waits, for this."""
        space = self.projection.space
        if space is None:
            return {}
        vectors = self.projection.own(space.identity, owner) if owner is not None else []
        if not vectors and space.identity in self._embedders:
            vector, _ = self.begin(text).vector()
            vectors = [vector] if vector is not None else []
        found: dict[int, float] = {}
        with suppress(IndexUnusable):
            for vector in vectors[:OWN]:
                exclude = () if owner is None else (owner,)
                for hit in self.projection.search(space.identity, vector, filter, k, exclude).hits:
                    found[hit.id] = max(hit.score, found.get(hit.id, -1.0))
        return found

    def kin(self, owners: Sequence[int], among: Sequence[int], filter: Filter) -> Iterator[tuple[int, dict[int, float]]]:
        """For each of the owners those of `among` that lie near it, by the cosine of their mean vectors, where vectors are
        made. No model is asked."""
        space = self.projection.space
        if space is None:
            return
        means = self.projection.means(space.identity, among)
        with suppress(IndexUnusable):
            for owner in owners:
                if owner in means:
                    mine = checked(means[owner], space.dimensions)
                    near = self.projection.search(space.identity, mine, filter, KIN_PASSAGES, (owner,)).hits
                    found = dict.fromkeys(hit.owner for hit in near if hit.owner in means)
                    yield owner, {each: cosine(mine, means[each]) for each in list(found)[:KIN]}

    def fetch(self, passages: Collection[int]) -> Mapping[int, list[bytes]]:
        """The stored vectors of passages."""
        return self.projection.fetch(passages)

    def maintain(self, *, rebuild: bool) -> list[str]:
        """Follow the journal, so that nothing of what is gone is kept, and bring the index level, or build it anew. No
        model is asked. Says what was done."""
        embedding.follow(self.projection.source, self.projection.wanted)
        try:
            done = self.projection.rebuild() if rebuild else self.projection.catch_up()
        except (IndexUnusable, EngineAway) as error:
            return [f"{self.projection.engine.name} index of vectors left as it is: {error}"]
        what = "built anew" if rebuild else "brought level"
        return [f"{self.projection.engine.name} index of vectors {what if done else 'left as it is: there is none'}"]

    def close(self) -> None:
        """Let go of the index and the embedder."""
        self._stop.set()
        if self._worker:
            self._worker.join(timeout=5)
        with self._guard:
            embedders, self._embedders = self._embedders, {}
        for embedder in embedders.values():
            embedder.close()
        self.projection.close()

    def vector(self, space: Space, text: str) -> Vector:
        """The vector of a question. Takes as long as it takes; raises `EmbedderUnavailable`."""
        key = space.identity, text
        known = self._vectors.get(key)
        if known is not None:
            return known
        try:
            found = checked(self._embedder(space).embed_query(text), space.dimensions)
        except NoVector as error:
            raise EmbedderUnavailable(str(error)) from error
        with self._guard:
            while len(self._vectors) >= REMEMBERED:
                del self._vectors[next(iter(self._vectors))]
            self._vectors[key] = found
        return found

    def _embedder(self, space: Space) -> Embedder:
        with self._guard:
            embedder = self._embedders.get(space.identity)
            if embedder is None:
                embedder = self._embedders[space.identity] = self._embedder_of(space)
            return embedder

    def _work(self) -> None:
        source, wanted = self.projection.source, self.projection.wanted
        while not self._stop.wait(LOOK_SECONDS):
            try:
                while not embedding.follow(source, wanted, 512) and not self._stop.is_set():
                    pass
                space = self.projection.space
                if space and space.identity in self._embedders:  # somebody has asked a question
                    embedding.embed(source, wanted, self._embedder(space), stop=self._stop.is_set)
                self.projection.catch_up()
            except (EmbedderUnavailable, EngineAway, ScaffaleError, OSError):
                self._stop.wait(REST_SECONDS)


class Asked:
    """A question whose vector is on its way."""

    def __init__(self, meaning: Meaning, space: Space | None, text: str) -> None:
        self.space = space
        self._meaning = meaning
        self._until = time.monotonic() + meaning.deadline
        self._found: Vector | None = None
        self._error: EmbedderUnavailable | None = None
        self._done = threading.Event()
        if space is None:
            self._error = EmbedderUnavailable("no vectors have been made yet", "scaffale vectors build makes them")
            self._done.set()
        else:
            threading.Thread(target=self._ask, args=(space, text), daemon=True, name="scaffale-question").start()

    def vector(self) -> tuple[Vector | None, State]:
        """The vector, when it comes before the deadline; and what became of the question."""
        if not self._done.wait(max(0.0, self._until - time.monotonic())):
            return None, State(TIMEOUT, "the model did not answer in time")
        if self._error is not None:
            return None, State(WARMING if isinstance(self._error, Warming) else UNAVAILABLE, str(self._error))
        return self._found, State(USED)

    def _ask(self, space: Space, text: str) -> None:
        try:
            self._found = self._meaning.vector(space, text)
        except EmbedderUnavailable as error:
            self._error = error
        except Exception as error:  # a thread has nobody else to tell
            self._error = EmbedderUnavailable(f"the embedder failed ({type(error).__name__})")
        self._done.set()
