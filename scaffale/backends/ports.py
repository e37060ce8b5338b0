"""The narrow ports behind which engines stand. Structural: an engine need not import them.

A lexical index is a projection: it may be deleted at any time and is filled from the journal. What it holds is two
layers that answer as one: what its writer committed, and an *overlay* of newer changes kept in memory by this handle
alone, so that a write costs no index commit and is found all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from types import TracebackType

    from scaffale.model import Filter, Hits, Passage, Watermark
    from scaffale.text import Query

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
