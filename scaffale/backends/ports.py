"""The narrow ports behind which engines stand. Structural: an engine need not import them.

A lexical index is a projection: it may be deleted at any time and is filled from the journal. What it holds is two
layers that answer as one: what its writer committed, and an *overlay* of newer changes kept in memory by this handle
alone, so that a write costs no index commit and is found all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from array import array
    from collections.abc import Collection, Iterable, Sequence
    from types import TracebackType

    from scaffale.model import Filter, Hit, Hits, Passage, Watermark
    from scaffale.text import Query

    Vector = array[float]  # four bytes each, of unit length
    Row = tuple[Passage, Sequence[bytes]]  # a passage and its vectors as they are stored, one for each piece of its text

TIED_HITS_CAP = 5_000
TERMS = 5_000  # with one beginning, the most frequent first


class WriterBusy(Exception):
    """Somebody else holds the index's writer lock. A state of affairs, not a failure: the holder does the work."""


class LexicalIndex(Protocol):
    """One open handle on one index folder. Safe to share between threads."""

    def watermark(self) -> Watermark | None:
        """What the reader in hand has committed; `None` for an empty index."""

    def refresh(self) -> None:
        """Take a reader on the newest commit, and drop from the overlay what that commit holds."""

    def overlay(self, changes: Iterable[tuple[int, int, Sequence[Passage]]], upto: Watermark) -> None:
        """Show `(seq, owner, passages)` changes on top of the commit, to this handle alone. No passages: the owner is gone."""

    def level(self) -> Watermark | None:
        """How far commit and overlay together have read the journal."""

    def overlaid(self) -> int:
        """How many owners stand in the overlay."""

    def owners(self) -> set[int]:
        """Of all passages that are committed."""

    def search(self, query: Query, filter: Filter, k: int, exclude: Collection[int] = ()) -> Hits:
        """The best `k` passages under the filter, without those of the excluded owners. See `Hits`.

        The scores of commit and overlay come from one formula with the commit's statistics.
        """

    def stems(self, text: str) -> list[str]:
        """The terms that the index would hold for this text, in order. Snippets match with them."""

    def terms(self, prefix: str) -> set[str]:
        """The terms that begin so, of texts and names, committed or not; thousands at most. For guesses at what is meant."""

    def writer(self, *, bulk: bool = False) -> IndexWriter:
        """The writer, or `WriterBusy` at once when another holds the lock."""

    def verify(self, *, deep: bool = False) -> None:
        """Read all that is committed; `IndexUnusable` when it is not as it was written. `deep` takes its time."""

    def close(self) -> None:
        """Let go of files. Nothing is lost: the journal has what was not committed."""


class IndexWriter(Protocol):
    """A short lease on the index. As a context manager it lets go at the end; uncommitted changes are lost."""

    watermark: Watermark | None
    """What is committed, read after the lock was got."""

    def replace(self, owner: int, passages: Sequence[Passage]) -> None:
        """All passages of the owner are these from now on. Doing it twice changes nothing."""

    def commit(self, upto: Watermark) -> None:
        """Make it durable together with the watermark."""

    def __enter__(self) -> IndexWriter: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class EngineAway(Exception):
    """An engine on another machine cannot be reached, or does not answer in time. Nothing is wrong with its index."""


# --- vectors -------------------------------------------------------------------------------------------------------


class EmbedderUnavailable(Exception):
    """No vector can be had of this embedder now. `reason` says why, `hint` what to do about it."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason}; {hint}" if hint else reason)
        self.reason = reason
        self.hint = hint


class Embedder(Protocol):
    """Texts to vectors of unit length. Safe to share between threads.

    A text that is longer than the model reads is read in parts, whose mean is its vector: nothing is left out silently.
    Whatever stands in the way is raised as `EmbedderUnavailable`.
    """

    def embed_query(self, text: str) -> Vector:
        """The vector of a question, with the model's prompt for questions."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, in their order, with the model's prompt for documents."""

    def close(self) -> None:
        """Let go of what was loaded."""


class VectorIndex(Protocol):
    """One open handle on one index of the vectors of one space. Safe to share between threads.

    A projection as lexical indexes are; its watermark counts the changes of the space (`indexer.vectors`). Vectors come
    as they are stored (`backends.codes`).
    """

    def watermark(self) -> Watermark | None:
        """What is committed; `None` for an empty index."""

    def apply(self, changes: Iterable[tuple[int, Sequence[Row]]], upto: Watermark | None) -> None:
        """All vectors of these owners are these from now on, none for one that is gone; committed with the watermark, or
        with `None` as a part of a longer way, under the former one. Doing it twice changes nothing. `WriterBusy` when
        another process is at it for long."""

    def search(self, vector: Vector, filter: Filter, k: int, exclude: Collection[int] = ()) -> list[Hit]:
        """The best `k` passages under the filter by cosine, without those of the excluded owners; a passage counts as
        its best piece. Best first, ties in the total order."""

    def fetch(self, passages: Collection[int]) -> dict[int, list[bytes]]:
        """The stored vectors of these passages; one without any is left out."""

    def count(self) -> int:
        """How many vectors there are."""

    def close(self) -> None:
        """Let go of files."""
