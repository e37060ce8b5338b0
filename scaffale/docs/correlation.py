"""The verb that proposes links between documents, and keeps them when it is asked to.

Members from the store, candidates and evidence from `ranking.likeness`, confidence from `ranking.links`. One transaction
for each document: whoever interrupts finds the old links of a document or the new ones.
"""

from __future__ import annotations

import os
import re
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from scaffale.docs.room import Room
from scaffale.errors import InvalidParam, NotFound
from scaffale.indexer import shelves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from scaffale.answers.atlas import CorrelationReport, SampleLink
    from scaffale.docs.weighing import Weighed
    from scaffale.indexer.atlas import Draft
    from scaffale.indexer.correlations import Known, Mark, Row
    from scaffale.indexer.database import Database
    from scaffale.indexer.references import Target
    from scaffale.model import Shelf
    from scaffale.ranking.likeness import Library
    from scaffale.ranking.links import Place

    Progress = Callable[[int, int, str], None]

MODES = ("document", "shelf")
SCOPES = ("shelf", "shelf_with_parents", "cross_shelf")
SAMPLES = 20
AMBIGUOUS = 20  # references that a report names
MOST_LINKS = 100
_EXTENDS = re.compile(r"\b(?:extend(?:s|ed|ing)?|estend\w*|custom\w*|personalizz\w*)\b", re.IGNORECASE)


class _Wish(NamedTuple):
    """What was asked for, checked. `places` says of each shelf that may hold targets how it stands to the source's."""

    home: Shelf
    names: dict[int, str]
    places: dict[int, Place]
    version: str
    scope: str
    min_confidence: float
    most: int
    replace: bool

    @property
    def options(self) -> str:
        return repr((sorted(self.places.items()), self.version, self.min_confidence, self.most, self.replace))


class _Counts:
    """What became of the candidates."""

    def __init__(self) -> None:
        self.documents = self.candidates = self.kept = self.low = self.existing = self.over = self.rejected = (
            self.gone
        ) = 0
        self.samples: list[SampleLink] = []

    def sample(self, those: Iterable[SampleLink], most: int) -> None:
        """Keep the surest."""
        found = [*self.samples, *those]
        found.sort(key=lambda each: (-each.confidence, each.source_document_id, each.target_document_id))
        self.samples = found[:most]


class Correlation(Room):
    """Links by evidence."""

    def correlate(
        self,
        *,
        mode: str | None = None,
        document_id: int | None = None,
        shelf: str | None = None,
        scope: str = "shelf_with_parents",
        include_parent_depth: int = 1,
        target_shelves: Sequence[str] = (),
        allow_all_shelves: bool = False,
        min_confidence: float = 0.6,
        max_links_per_document: int = 8,
        replace_heuristic_links: bool = True,
        apply: bool = False,
        heuristic_version: str | None = None,
        only_changed: bool = False,
        jobs: int = 1,
        samples: int = SAMPLES,
        progress: Progress | None = None,
    ) -> CorrelationReport:
        """Propose links from a document, or from each document of a shelf, to documents of its scope; with `apply` keep
        them in place of the former heuristic ones. Links of people and imports are not touched, rejected pairs do not
        come back, and none runs from a shelf to one that leans on it. `only_changed` leaves out documents that are as
        they were when the same options were last applied, unless a changed one is near them. `jobs` processes do the
        work; the report names `samples` links, the surest."""
        from scaffale.docs.weighing import Weigher, weighed
        from scaffale.indexer import correlations

        mode = mode or ("document" if document_id is not None else "shelf")
        _check(mode, scope, min_confidence, max_links_per_document, include_parent_depth)
        database, _ = self._existing()
        warnings: list[str] = []
        with database.read() as connection:
            home = _home(connection, mode, document_id, shelf)
            wish = _Wish(
                home,
                {each.id: each.name for each in shelves.list_shelves(connection)},
                _places(connection, home, scope, include_parent_depth, target_shelves, allow_all_shelves, warnings),
                _version(heuristic_version), scope, min_confidence, max_links_per_document, replace_heuristic_links,
            )  # fmt: skip
            rows = {row.id: row for row in correlations.rows(connection, wish.places)}
            done = correlations.marks(connection, home.id) if only_changed else {}
        meaning = self._meaning
        by_meaning = meaning.space.identity if meaning and meaning.space else ""
        marks = correlations.marks_of(rows.values(), wish.options + by_meaning)
        sources = (
            [document_id]
            if mode == "document" and document_id is not None
            else [row.id for row in rows.values() if row.shelf_id == home.id]
        )
        changed = [id for id in sources if id not in done or done[id].own != marks[id].own]
        counts = _Counts()
        ambiguous: dict[int, Sequence[str]] = {}
        if changed:
            library, extending = _read(database, list(rows.values()), ambiguous, progress)
            if len(changed) < len(sources):
                near = _neighbours(library, changed)
                # They go first: what is left of them after an interruption is found again by what has changed.
                changed = [id for id in sources if id in near and done.get(id) != marks[id]] + changed
            if meaning:
                from scaffale.model import Filter

                within = Filter((tuple(f"shelf={each}" for each in wish.places),))
                for source, kin in meaning.kin(changed, list(rows), within):
                    library.mean(source, kin)
            weigher = Weigher(library, wish.places, wish.version, min_confidence, frozenset(extending))
            with closing(weighed(weigher, changed, jobs)) as found:
                for number, (source, candidates) in enumerate(zip(changed, found, strict=True), 1):
                    drafts = _correlate(database, wish, source, candidates, counts, marks[source] if apply else None)
                    counts.sample((_sample(wish, rows, each) for each in drafts), samples)
                    if progress:
                        progress(len(rows) + number, len(rows) + len(changed), rows[source].rel_path)
        unclear = [(id, said) for id in changed for said in ambiguous.get(id, ())]
        for id, said in unclear[:AMBIGUOUS]:
            warnings.append(f"{rows[id].rel_path}: {said!r} fits several documents; it was left out")
        if len(unclear) > AMBIGUOUS:
            warnings.append(f"{len(unclear) - AMBIGUOUS} more references fit several documents")
        return _report(
            wish, mode, document_id, counts, len(sources) - len(changed), len(unclear), warnings, apply=apply
        )


def _check(mode: str, scope: str, min_confidence: float, most: int, depth: int) -> None:
    for name, value, allowed in (("mode", mode, MODES), ("scope", scope, SCOPES)):
        if value not in allowed:
            raise InvalidParam(f"{name}: must be one of {', '.join(allowed)}")
    if not 0.0 <= min_confidence <= 1.0:
        raise InvalidParam("min_confidence: must be between 0.0 and 1.0")
    if not 1 <= most <= MOST_LINKS:
        raise InvalidParam(f"max_links_per_document: must be between 1 and {MOST_LINKS}")
    if depth < 0:
        raise InvalidParam("include_parent_depth: must be at least 0")


def _version(asked: str | None) -> str:
    from scaffale.ranking import links

    if asked is not None and asked not in links.VERSIONS:
        raise InvalidParam(f"heuristic_version: must be one of {', '.join(links.VERSIONS)}")
    return asked or links.NEWEST


def _home(connection: apsw.Connection, mode: str, document_id: int | None, shelf: str | None) -> Shelf:
    """The shelf of the sources."""
    if mode == "shelf":
        if shelf is None:
            raise InvalidParam("shelf: correlate in the mode shelf needs it")
        return shelves.shelf(connection, shelf)
    if document_id is None:
        raise InvalidParam("document_id: correlate in the mode document needs it")
    home = shelves.shelf(connection, str(shelves.document(connection, document_id).shelf_id))
    if shelf is not None and shelves.shelf(connection, shelf).id != home.id:
        raise NotFound(f"document {document_id} stands on the shelf {home.name!r}, not on {shelf!r}")
    return home


def _places(
    connection: apsw.Connection,
    home: Shelf,
    scope: str,
    depth: int,
    targets: Sequence[str],
    everywhere: bool,
    warnings: list[str],
) -> dict[int, Place]:
    """The shelves that may hold targets; never one that leans on the source's."""
    from scaffale.indexer import atlas, correlations
    from scaffale.ranking.links import Place

    above = {each.id: each.depth for each in atlas.parents(connection, home.id, atlas.DEEPEST)}
    wanted = {home.id}
    if scope == "cross_shelf":
        if everywhere:
            wanted.update(each.id for each in shelves.list_shelves(connection))
        elif targets:
            wanted.update(shelves.shelf(connection, each).id for each in targets)
        else:
            raise InvalidParam("scope cross_shelf: give target_shelves, or allow_all_shelves=true")
    elif scope == "shelf_with_parents":
        wanted.update(id for id, distance in above.items() if distance <= depth)
    under = correlations.below(connection, home.id) & wanted
    if under and not everywhere:
        names = sorted(shelves.shelf(connection, str(each)).name for each in under)
        warnings.append(f"left out, since they lean on {home.name!r}: {', '.join(names)}")
    return {
        each: Place(same=each == home.id, direct_parent=above.get(each) == 1, above=each in above)
        for each in sorted(wanted - under)
    }


def _read(
    database: Database, rows: Sequence[Row], ambiguous: dict[int, Sequence[str]], progress: Progress | None
) -> tuple[Library, set[int]]:
    """All texts of the scope, taken in; and the documents that speak of extending something."""
    from scaffale.indexer import correlations, references
    from scaffale.ranking.likeness import Head, Library

    library = Library([Head(row.id, row.shelf_id, row.rel_path, row.title, row.tags) for row in rows])
    targets = {row.id: target(row) for row in rows}
    map_ = references.Map(list(targets.values()))
    extending = set()
    with database.read() as connection:
        for number, (id, text, headings) in enumerate(correlations.texts(connection, list(targets)), 1):
            found = map_.references(targets[id], text)
            if found.ambiguous:
                ambiguous[id] = found.ambiguous
            if _EXTENDS.search(text):
                extending.add(id)
            library.read(id, text, headings, found.ids)
            if progress and number % 100 == 0:
                progress(number, 2 * len(rows), rows[number - 1].rel_path)
    return library, extending


def target(row: Row) -> Target:
    """The document as references may mean it."""
    from scaffale.indexer.references import Target

    path, relative = row.file_path, row.rel_path.replace("/", os.sep)
    root = path[: -len(relative)] if path.endswith(relative) else os.path.dirname(path)
    return Target(row.id, row.shelf_id, path, root, row.title, row.aliases)


def _neighbours(library: Library, changed: Sequence[int]) -> set[int]:
    """The documents near one of these, without these."""
    return {near for each in changed for near in library.candidates(each)} - set(changed)


def _correlate(
    database: Database, wish: _Wish, source: int, weighed: Sequence[Weighed], counts: _Counts, mark: Mark | None
) -> list[Draft]:
    """One document: the best of its candidates, which are kept when there is a `mark` to set."""
    from scaffale.indexer import correlations

    if mark is None:
        with database.read() as connection:
            drafts = _chosen(wish, source, weighed, correlations.known(connection, source), counts)
        counts.kept += len(drafts)
    else:
        with database.write(durable=False) as connection:
            drafts = _chosen(wish, source, weighed, correlations.known(connection, source), counts)
            kept = correlations.replace(connection, source, drafts, others=wish.replace)
            correlations.remember(connection, source, mark)
        counts.gone += len(drafts) - kept
        counts.kept += kept
    counts.documents += 1
    counts.candidates += len(weighed)
    return drafts


def _chosen(wish: _Wish, source: int, weighed: Sequence[Weighed], known: Known, counts: _Counts) -> list[Draft]:
    """The candidates to be kept, best first; the others are counted by the reason why not."""
    from scaffale.indexer.atlas import Draft

    pinned = {target for target, verdict in known.verdicts.items() if verdict == "pinned"}
    taken = known.made | (known.heuristic & pinned if wish.replace else known.heuristic)
    chosen: list[Draft] = []
    for each in weighed:
        if known.verdicts.get(each.target) == "rejected":
            counts.rejected += 1
        elif each.target in taken:
            counts.existing += 1
        elif each.confidence < wish.min_confidence:
            counts.low += 1
        elif len(chosen) >= wish.most:
            counts.over += 1
        else:
            chosen.append(
                Draft(
                    source, each.target, each.relation, "heuristic", each.confidence, None, each.rationale, each.score,
                    wish.version,
                )
            )  # fmt: skip
    return chosen


def _sample(wish: _Wish, rows: dict[int, Row], draft: Draft) -> SampleLink:
    from scaffale.answers.atlas import SampleLink

    source, target = rows[draft.source_document_id], rows[draft.target_document_id]
    return SampleLink(
        source.id, source.title, target.id, target.title, wish.names[target.shelf_id], draft.relation,
        draft.confidence or 0.0, draft.rationale or "",
    )  # fmt: skip


def _report(
    wish: _Wish,
    mode: str,
    document_id: int | None,
    counts: _Counts,
    unchanged: int,
    ambiguous: int,
    warnings: Sequence[str],
    *,
    apply: bool,
) -> CorrelationReport:
    from scaffale.answers.atlas import CorrelationReport

    return CorrelationReport(
        mode=mode,
        shelf=wish.home.name,
        document_id=document_id if mode == "document" else None,
        scope=wish.scope,
        apply=apply,
        heuristic_version=wish.version,
        min_confidence=wish.min_confidence,
        target_shelves=tuple(wish.names[each] for each in wish.places),
        scanned_documents=counts.documents,
        unchanged_documents=unchanged,
        candidate_links=counts.candidates,
        applied_links=counts.kept if apply else 0,
        would_apply=0 if apply else counts.kept,
        skipped_low_confidence=counts.low,
        skipped_existing=counts.existing,
        skipped_over_limit=counts.over,
        skipped_rejected=counts.rejected,
        skipped_gone=counts.gone,
        ambiguous_references=ambiguous,
        sample_links=tuple(counts.samples),
        warnings=tuple(warnings),
    )
