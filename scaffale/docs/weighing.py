"""From a library of texts to weighed candidates, source by source, on one core or on several.

Workers get a copy of the library when they start, answer with little more than numbers, and end with their parent, however
that ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scaffale.ranking import links

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from scaffale.ranking.likeness import Library

FEW_SOURCES = 200  # for fewer, workers take longer to start than to do the work
CHUNK = 32


class Weighed(NamedTuple):
    """A candidate. `relation` and `rationale` are empty below the confidence that was asked for."""

    target: int
    confidence: float
    score: float
    relation: str = ""
    rationale: str = ""


class Weigher:
    """Weighs the candidates of a source. Knows nothing of what is stored."""

    def __init__(
        self,
        library: Library,
        places: Mapping[int, links.Place],
        version: str,
        min_confidence: float,
        extending: frozenset[int],
    ) -> None:
        self._library, self._places, self._version = library, places, version
        self._min_confidence, self._extending = min_confidence, extending
        self._heads = {head.id: head for head in library.heads}

    def weigh(self, source: int) -> list[Weighed]:
        """The candidates of a source, surest first."""
        library = self._library
        found = [(target, library.evidence(source, target)) for target in library.candidates(source)]
        places = [self._places[self._heads[target].shelf_id] for target, _ in found]
        sure = links.judged(self._version, [(each[1], place) for each, place in zip(found, places, strict=True)])
        tags = set(self._heads[source].tags)
        weighed = []
        for (target, evidence), place, proposal in zip(found, places, sure, strict=True):
            relation = rationale = ""
            if proposal.confidence >= self._min_confidence:
                relation = links.relation(evidence, place, extends=source in self._extending)
                common = sorted(tags & set(self._heads[target].tags))
                rationale = links.rationale(proposal, library.words_in_common(source, target), common, place)
            weighed.append(Weighed(target, proposal.confidence, proposal.score, relation, rationale))
        weighed.sort(key=lambda each: (-each.confidence, -each.score, each.target))
        return weighed


def weighed(weigher: Weigher, sources: Sequence[int], jobs: int) -> Generator[list[Weighed], None, None]:
    """What `weigher` says of each source, in their order, by as many processes as `jobs`."""
    if jobs <= 1 or len(sources) < FEW_SOURCES:
        yield from map(weigher.weigh, sources)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # Not `fork`: this process may have threads, and Windows has no fork.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(weigher,))
    try:
        yield from executor.map(_weigh, sources, chunksize=CHUNK)
    finally:
        executor.shutdown(cancel_futures=True)


# --- in a worker -------------------------------------------------------------------------------------------------------

_own: list[Weigher] = []


def _begin(weigher: Weigher) -> None:
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _own[:] = [weigher]


def _end_with_parent() -> None:
    import os
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _weigh(source: int) -> list[Weighed]:
    return _own[0].weigh(source)
