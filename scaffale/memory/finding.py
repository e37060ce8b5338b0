"""The verbs that search memory. They create nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale import search as hall
from scaffale.answers.memory import MemorySearch, SimilarEntry
from scaffale.errors import InvalidParam
from scaffale.indexer import entries
from scaffale.indexer.entries import EntryFilter
from scaffale.memory.reading import Reading
from scaffale.memory.room import masked, one_of, slugs
from scaffale.model import CONCEPT, SOURCE_TYPES, STATUSES, Count, Entry, EntryHit, Filter
from scaffale.snippet import Highlighter
from scaffale.text import Query, parse, slug, words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scaffale.answers.links import SimilarEntries
    from scaffale.answers.memory import LinkedDocument
    from scaffale.indexer.database import Database
    from scaffale.indexer.entries import Row
    from scaffale.indexer.sync import Projection
    from scaffale.meaning.hybrid import FusedPage
    from scaffale.model import Hit

PLACE_BOOST = 1.0  # what an entry gains whose scope, or topic, is a word of the query or the whole of it
SNIPPET_CHARS = 120  # a page of ten stays below two thousand tokens
SUGGESTED = 5  # entries at most, where nothing was found
SIMILAR_AT = 0.6  # share of words in common from which two entries say nearly the same
SAME_MEANING = 0.9  # cosine of vectors from which two entries say nearly the same, in whatever words
SIMILAR_TERMS = 16
SIMILAR_READ = 20  # of the best matches are compared word by word
NOTHING_FOUND = "Nothing in memory matches. Check the documentation, the code or the tickets; nothing is invented here."


class Finding(Reading):
    """Search, by words or by likeness."""

    def search(
        self,
        *,
        query: str,
        project_path: str | None = None,
        project_id: str | None = None,
        scope: str | None = None,
        topic: str | None = None,
        tags: Sequence[str] = (),
        source_type: str | None = None,
        status: str = "active",
        mode: str = "project",
        limit: int = 10,
        offset: int = 0,
        include_content: bool = False,
        include_docs: bool = False,
        explain: bool = False,
        budget_tokens: int | None = None,
        retrieval: str | None = None,
    ) -> MemorySearch:
        """Entries that match, best first; an empty query lists. One project, unless `mode` is `cross_project`.

        `include_docs` adds the documents that the results link to; `budget_tokens` leaves out what does not fit.
        `retrieval` is `lexical`, `vector` or `hybrid`, the last by default where vectors are on.
        """
        resolved = self._reach(mode, project_path, project_id)
        settings = resolved.settings if resolved else self._settings
        wanted = EntryFilter(
            project_id=resolved.project.id if resolved else None,
            scope=slug(scope),
            topic=slug(topic),
            tags=slugs(tags),
            source_type=one_of("source_type", source_type, (*SOURCE_TYPES, CONCEPT)) if source_type else None,
            statuses=() if one_of("status", status, (*STATUSES, "any")) == "any" else (status,),
        )
        warnings = list(resolved.warnings) if resolved else []
        if limit > settings.max_search_results:
            warnings.append(f"limit {limit} is above the maximum; {settings.max_search_results} is used")
        limit = max(1, min(limit, settings.max_search_results))
        offset = max(0, offset)
        store = self._store()
        page = (
            self._found(store, query, wanted, limit, offset, explain=explain, retrieval=retrieval)
            if store
            else _Found((), 0, 0, ())
        )
        evidence, documents = self._evidence(store, page.hits) if store else ({}, ())
        hits = [_hit(found, evidence.get(found.entry.id), include_content=include_content) for found in page.hits]
        nothing = not hits and offset == 0
        shown = len(hits) if budget_tokens is None else _fitting(hits, budget_tokens)
        left_out = len(hits) - shown
        if left_out:
            warnings.append(f"budget_tokens: {left_out} results of this page left out; go on with offset {offset + shown}")
        if budget_tokens is not None and shown == 1:
            whole, hits[0] = hits[0].content, _cut(hits[0], budget_tokens)
            if hits[0].content != whole:
                warnings.append("budget_tokens: the content is cut; memory_read_entry reads on with start_char")
        near = hall.nearly(store[1], parse(query)) if nothing and store else None
        close = (
            self._found(store, near, wanted, min(limit, SUGGESTED), 0, explain=explain, retrieval="lexical").hits
            if near and store
            else ()
        )
        suggestions = tuple(_hit(each, None, include_content=include_content) for each in close)
        return MemorySearch(
            project_id=wanted.project_id,
            mode=mode,
            status=status,
            scope=wanted.scope,
            topic=wanted.topic,
            results=tuple(hits[:shown]),
            total=page.total,
            next_offset=offset + (shown if left_out else limit) if left_out or page.total > offset + limit else None,
            lexical_backend=self._engine(),
            lag=page.lag,
            hint=" ".join((NOTHING_FOUND, *self._near_scopes(store, query, wanted))) if nothing else None,
            scopes=self._names(store, "scope", wanted) if nothing else None,
            topics=self._names(store, "topic", wanted) if nothing else None,
            warnings=(*warnings, *page.warnings),
            documents=_of_results(documents, hits[:shown]) if include_docs else None,
            left_out=left_out or None,
            unmatched=hall.words_of(parse(query)) if nothing else None,
            suggestions=suggestions or None,
            closest=hall.closest(each.snippet for each in suggestions) or None,
            vector=page.vector,
        )

    def find_similar(
        self,
        *,
        entry_id: str | None = None,
        text: str | None = None,
        limit: int = 10,
        mode: str = "project",
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> SimilarEntries:
        """Active entries that share words with an entry, or with a text, most alike first; with vectors, or meaning.

        `similarity` is the share of their words that both have, or the cosine of their vectors, whichever is greater.
        """
        from scaffale.answers.links import SimilarEntries

        if (entry_id is None) == (text is None):
            raise InvalidParam("give either entry_id or text")
        rid = None
        if entry_id is not None:
            resolved, row, _ = self._reached(entry_id, mode, project_path, project_id, lambda *_: None)
            text, rid = row.entry.content, row.rid
        else:
            resolved = self._reach(mode, project_path, project_id)
        limit = max(1, min(limit, (resolved.settings if resolved else self._settings).max_search_results))
        store = self._store()
        project = resolved.project.id if resolved else None
        found = self._alike(store, project, text or "", rid, max(SIMILAR_READ, limit), cosine=0.0) if store else []
        hits = []
        for share, row in found[:limit]:
            plain = _FoundEntry(masked(row), 0.0, None, Highlighter((), lambda _: []))
            hits.append(_hit(plain, None)._replace(similarity=round(share, 2), score=round(share, 2)))
        return SimilarEntries(project, entry_id, mode, tuple(hits), resolved.warnings if resolved else ())

    # --- parts of verbs --------------------------------------------------------------------------------------------

    def _found(
        self,
        store: tuple[Database, Projection],
        text: str | Query,
        wanted: EntryFilter,
        limit: int,
        offset: int,
        *,
        explain: bool = False,
        exclude: Collection[int] = (),
        retrieval: str | None = None,
    ) -> _Found:
        database, projection = store
        if isinstance(text, str) and not text.strip():
            with database.read() as connection:
                rows, total = entries.listing(connection, wanted, limit, offset, exclude)
            plain = Highlighter((), projection.stems)
            return _Found(tuple(_FoundEntry(masked(row), 0.0, {} if explain else None, plain) for row in rows), total, 0, ())
        query = parse(text) if isinstance(text, str) else text
        query = query._replace(boosts=_place_boosts(query))
        found: dict[int, Entry] = {}

        def look(rids: list[int]) -> dict[int, hall.Seen]:
            with database.read() as connection:
                new = {row.rid: masked(row) for row in entries.rows(connection, rids)}
            found.update(new)
            return {rid: _seen(entry) for rid, entry in new.items()}

        def places(rids: list[int]) -> dict[int, str]:
            with database.read() as connection:
                return entries.places(connection, rids)

        def identify(rids: list[int]) -> dict[int, tuple[object, ...]]:
            return self._ids(database, rids)

        def by_words(filters: Sequence[Filter], limit: int, offset: int) -> hall.Page:
            return hall.search(projection, query, filters, limit, offset, identify, look, places, exclude)

        page: hall.Page | FusedPage
        if self._meaning is None and retrieval is None:
            page = by_words(_by_status(wanted), limit, offset)
        else:
            from scaffale.meaning import hybrid

            asking = hybrid.Asking(by_words, identify, look, exclude=exclude)
            page = hybrid.search(self._meaning, retrieval, query, _by_status(wanted), limit, offset, asking)
        left = [hit.id for hit in page.hits if hit.id not in found]
        if left:
            look(left)
        hits = tuple(
            _FoundEntry(
                found[hit.id], hit.score, _parts(page, hit, found[hit.id], query) if explain else None, page.highlighter
            )
            for hit in page.hits
            if hit.id in found
        )
        return _Found(hits, page.total, page.lag, page.warnings, getattr(page, "vector", None))

    @staticmethod
    def _ids(database: Database, rids: list[int]) -> dict[int, tuple[object, ...]]:
        with database.read() as connection:
            return entries.ids(connection, rids)

    def _similar(
        self, store: tuple[Database, Projection], project_id: str, content: str, rid: int
    ) -> tuple[SimilarEntry, ...]:
        """The active entries that say nearly the same, at most five."""
        similar = []
        for share, row in self._alike(store, project_id, content, rid, SIMILAR_READ):
            if share >= SIMILAR_AT:
                e = masked(row)
                similar.append(SimilarEntry(e.id, e.scope, e.topic, e.title, round(share, 2)))
        return tuple(similar[:5])

    def _alike(
        self,
        store: tuple[Database, Projection],
        project_id: str | None,
        content: str,
        rid: int | None,
        most: int,
        *,
        concepts: bool = False,
        cosine: float = SAME_MEANING,
    ) -> list[tuple[float, Row]]:
        """Active entries with words of the content, and the share of words in common; the most alike first. With vectors
        also those that say the same in other words: a `cosine` from there on counts as a share does."""
        database, projection = store
        mine = frozenset(words(content))
        telling = sorted(mine, key=lambda word: (-len(word), word))[:SIMILAR_TERMS]
        wanted = EntryFilter(project_id, statuses=("active",), concepts=concepts)
        answer = projection.search(
            parse(" ".join(telling)), Filter(entries.facet_clauses(wanted)), most, exclude=() if rid is None else (rid,)
        )
        near: dict[int, float] = {}
        if self._meaning is not None:
            found = self._meaning.alike(content, rid, Filter(entries.facet_clauses(wanted)), most)
            near = {each: score for each, score in found.items() if score >= cosine}
        with database.read() as connection:
            rows = entries.rows(connection, list(dict.fromkeys((*(hit.id for hit in answer.found.hits[:most]), *near))))
        shares = []
        for row in rows:
            theirs = frozenset(words(row.entry.content))
            share = len(mine & theirs) / max(1, len(mine | theirs))
            shares.append((max(share, near.get(row.rid, 0.0)), row))
        return sorted(shares, key=lambda each: (-each[0], each[1].entry.id))

    def _evidence(
        self, store: tuple[Database, Projection], hits: Sequence[_FoundEntry]
    ) -> tuple[dict[str, str], tuple[LinkedDocument, ...]]:
        """By the id of the entry what became of the documents that it cites, where they are not the same any more; and
        these documents, in the order of the entries."""
        with store[0].read() as connection:
            found = self._citing(connection, [hit.entry.id for hit in hits])
            shaken: set[str] = set()
            if concepts := [hit.entry.id for hit in hits if hit.entry.display_id]:
                from scaffale.indexer import registry

                shaken = registry.shaken(connection, concepts)
        evidence, documents = self._documents.evidence(found) if found else ({}, ())
        return {**dict.fromkeys(shaken, "changed"), **evidence}, documents

    def _names(
        self, store: tuple[Database, Projection] | None, column: str, wanted: EntryFilter
    ) -> tuple[Count, ...] | None:
        """What exists where nothing was found; across projects that would tell one project of another."""
        if store is None or wanted.project_id is None:
            return None
        with store[0].read() as connection:
            return entries.names(connection, column, EntryFilter(wanted.project_id, statuses=wanted.statuses))[:20]

    def _near_scopes(self, store: tuple[Database, Projection] | None, text: str, wanted: EntryFilter) -> list[str]:
        """Scopes of the project that are called nearly as the one asked for, and have what was asked for."""
        scope = wanted.scope
        if store is None or wanted.project_id is None or scope is None:
            return []
        from difflib import get_close_matches

        with store[0].read() as connection:
            known = [each.name for each in entries.names(connection, "scope", wanted._replace(scope=None))]
        near = dict.fromkeys([*get_close_matches(scope, known), *(name for name in known if name in scope or scope in name)])
        counts = {name: self._found(store, text, wanted._replace(scope=name), 1, 0).total for name in list(near)[:3]}
        return [f"The scope {name} has {count} that match." for name, count in counts.items() if count]

class _FoundEntry(NamedTuple):
    entry: Entry
    score: float
    parts: dict[str, float] | None  # what the score is the sum of, when that is asked for
    highlighter: Highlighter


class _Found(NamedTuple):
    hits: tuple[_FoundEntry, ...]
    total: int
    lag: int
    warnings: tuple[str, ...]
    vector: dict[str, Any] | None = None


def _by_status(wanted: EntryFilter) -> list[Filter]:
    """One filter per status, best first: an archived or invalidated entry never ranks before an active one."""
    statuses = wanted.statuses or STATUSES
    return [Filter(entries.facet_clauses(wanted._replace(statuses=(status,)))) for status in statuses]


def _place_boosts(query: Query) -> tuple[tuple[str, float], ...]:
    names = dict.fromkeys(name for name in (slug(query.text), *(slug(term.text) for term in query.terms)) if name)
    return tuple((f"place={name}", PLACE_BOOST) for name in list(names)[:8])


def _parts(page: hall.Page | FusedPage, hit: Hit, entry: Entry, query: Query) -> dict[str, float]:
    """The parts of a score, what the place gave told from the words."""
    parts = page.explained(hit)
    if not isinstance(page, hall.Page):
        return parts
    places = {f"place={entry.scope}", f"place={entry.topic}"}
    place = sum(boost for facet, boost in query.boosts if facet in places)
    return {**parts, "words": round(parts["words"] - place, 2), "place": place}


def _seen(e: Entry) -> hall.Seen:
    return hall.Seen((e.title or e.topic,), e.content, (e.summary or "", e.scope, e.topic, *e.tags, *entries.said_of(e)))


def _hit(found: _FoundEntry, evidence: str | None, *, include_content: bool = False) -> EntryHit:
    e, highlighter = found.entry, found.highlighter
    text = e.content
    if e.summary and not highlighter.matches(text) and highlighter.matches(e.summary):
        text = e.summary
    numbers = None
    if found.parts is not None:
        numbers = {**found.parts, "importance": e.importance}
        if e.confidence is not None:
            numbers["confidence"] = e.confidence
    return EntryHit(
        e.id, e.project_id, e.scope, e.topic, e.title, highlighter.snippet(text, SNIPPET_CHARS), e.tags, e.source_type,
        e.source_ref, e.status, e.confidence, e.importance, e.created_at, e.updated_at, found.score,
        e.content if include_content else None, numbers, evidence=evidence, display_id=e.display_id,
    )  # fmt: skip


def _fitting(hits: Sequence[EntryHit], budget: int) -> int:
    """How many of the hits fit into so many tokens; one at least."""
    from scaffale.memory.budget import cost

    used = shown = 0
    for hit in hits:
        used += cost(hit)
        if shown and used > budget:
            break
        shown += 1
    return shown


def _cut(hit: EntryHit, budget: int) -> EntryHit:
    """The only hit of an answer, its content cut to what the budget leaves for it."""
    from scaffale.memory.budget import cost, cut

    if hit.content is None or cost(hit) <= budget:
        return hit
    return hit._replace(content=cut(hit.content, budget - cost(hit._replace(content=None))))


def _of_results(documents: Sequence[LinkedDocument], hits: Sequence[EntryHit]) -> tuple[LinkedDocument, ...]:
    shown = {hit.id for hit in hits}
    return tuple(document for document in documents if shown & set(document.entry_ids))
