"""The verbs that read memory. They create nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale import search as hall
from scaffale.answers.memory import EntryAnswer, EntryPage, MemorySearch, Names, SimilarEntry
from scaffale.indexer import entries
from scaffale.indexer.entries import EntryFilter
from scaffale.memory.room import Room, masked, no_entry, one_of, slugs
from scaffale.model import CONCEPT, SOURCE_TYPES, STATUSES, Count, Entry, EntryHit, Filter
from scaffale.snippet import Highlighter
from scaffale.text import Query, parse, slug, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.indexer.database import Database
    from scaffale.indexer.sync import Projection

PLACE_BOOST = 1.0  # what an entry gains whose scope, or topic, is a word of the query or the whole of it
SIMILAR_AT = 0.6  # share of words in common from which two entries say nearly the same
SIMILAR_TERMS = 16
NOTHING_FOUND = "Nothing in memory matches. Check the documentation, the code or the tickets; nothing is invented here."


class Finding(Room):
    """Search, read, list."""

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
        explain: bool = False,
    ) -> MemorySearch:
        """Entries that match, best first; an empty query lists. One project, unless `mode` is `cross_project`."""
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
        page = self._found(store, query, wanted, limit, offset) if store else _Found((), 0, 0, ())
        hits = [_hit(found, include_content=include_content, explain=explain) for found in page.hits]
        nothing = not hits and offset == 0
        return MemorySearch(
            project_id=wanted.project_id,
            mode=mode,
            status=status,
            scope=wanted.scope,
            topic=wanted.topic,
            results=tuple(hits),
            total=page.total,
            next_offset=offset + limit if page.total > offset + limit else None,
            lexical_backend=self._engine(),
            lag=page.lag,
            hint=" ".join((NOTHING_FOUND, *self._near_scopes(store, query, wanted))) if nothing else None,
            scopes=self._names(store, "scope", wanted) if nothing else None,
            topics=self._names(store, "topic", wanted) if nothing else None,
            warnings=(*warnings, *page.warnings),
        )

    def read_entry(
        self, *, entry_id: str, project_path: str | None = None, project_id: str | None = None, mode: str = "project"
    ) -> EntryAnswer:
        """The whole entry. One of another project is not found, unless `mode` is `cross_project`."""
        resolved = self._reach(mode, project_path, project_id)
        store = self._store()
        row = None
        if store:
            with store[0].read() as connection:
                row = entries.find(connection, entry_id)
        if row is None or (resolved and row.entry.project_id != resolved.project.id):
            raise no_entry(entry_id, resolved)
        warnings = list(resolved.warnings) if resolved else []
        if row.entry.status != "active":
            reason = f" ({row.entry.invalidation_reason})" if row.entry.invalidation_reason else ""
            warnings.append(f"this entry is {row.entry.status}{reason}: do not rely on it")
        links: dict[str, Any] = {"outgoing": [], "incoming_count": 0}
        return EntryAnswer(row.entry.project_id, masked(row), links, tuple(warnings))

    def list_scopes(self, **where: Any) -> Names:  # noqa: ANN401  (the arguments of `_list`)
        """The scopes in use. Arguments: `project_path`, `project_id`, `status` (default active)."""
        return self._list("scope", **where)

    def list_topics(self, **where: Any) -> Names:  # noqa: ANN401
        """The topics in use. Arguments as for `list_scopes`, and `scope`."""
        return self._list("topic", **where)

    def list_tags(self, **where: Any) -> Names:  # noqa: ANN401
        """The tags in use. Arguments as for `list_scopes`, `scope` and `topic`."""
        return self._list("tags", **where)

    def list_entries(
        self, project_id: str, *, scope: str | None = None, topic: str | None = None, after: int = 0, limit: int = 100
    ) -> EntryPage:
        """Active entries of a project in the order of acknowledgement, for listings that are read page by page."""
        store = self._store()
        if store is None:
            return EntryPage((), None)
        wanted = EntryFilter(project_id, slug(scope), slug(topic), statuses=("active",))
        with store[0].read() as connection:
            found = entries.page_by_number(connection, wanted, after, limit + 1)
        more = found[limit - 1].rid if len(found) > limit else None
        return EntryPage(tuple(masked(row) for row in found[:limit]), more)

    # --- parts of verbs --------------------------------------------------------------------------------------------

    def _found(
        self,
        store: tuple[Database, Projection],
        text: str,
        wanted: EntryFilter,
        limit: int,
        offset: int,
    ) -> _Found:
        database, projection = store
        if not text.strip():
            with database.read() as connection:
                rows, total = entries.listing(connection, wanted, limit, offset)
            plain = Highlighter((), projection.stems)
            return _Found(tuple(_FoundEntry(masked(row), 0.0, 0.0, plain) for row in rows), total, 0, ())
        query = parse(text)
        query = query._replace(boosts=_place_boosts(query))
        page = hall.search(projection, query, _by_status(wanted), limit, offset, lambda rids: self._ids(database, rids))
        with database.read() as connection:
            found = {row.rid: masked(row) for row in entries.rows(connection, [hit.id for hit in page.hits])}
        highlighter = Highlighter(hall.stems(projection, query), projection.stems)
        hits = tuple(
            _FoundEntry(found[hit.id], hit.score, _place_score(found[hit.id], query), highlighter)
            for hit in page.hits
            if hit.id in found
        )
        return _Found(hits, page.total, page.lag, page.warnings)

    @staticmethod
    def _ids(database: Database, rids: list[int]) -> dict[int, tuple[object, ...]]:
        with database.read() as connection:
            return entries.ids(connection, rids)

    @staticmethod
    def _similar(
        store: tuple[Database, Projection], project_id: str, content: str, rid: int
    ) -> tuple[SimilarEntry, ...]:
        database, projection = store
        mine = frozenset(words(content))
        telling = sorted(mine, key=lambda word: (-len(word), word))[:SIMILAR_TERMS]
        wanted = EntryFilter(project_id, statuses=("active",))
        answer = projection.search(
            parse(" ".join(telling)), Filter(entries.facet_clauses(wanted)), 5, exclude=(rid,)
        )
        with database.read() as connection:
            rows = entries.rows(connection, [hit.id for hit in answer.found.hits[:20]])
        similar = []
        for row in rows:
            theirs = frozenset(words(row.entry.content))
            share = len(mine & theirs) / max(1, len(mine | theirs))
            if share >= SIMILAR_AT:
                e = masked(row)
                similar.append(SimilarEntry(e.id, e.scope, e.topic, e.title, round(share, 2)))
        return tuple(sorted(similar, key=lambda entry: (-entry.similarity, entry.id))[:5])

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

    def _list(
        self,
        column: str,
        *,
        project_path: str | None = None,
        project_id: str | None = None,
        status: str = "active",
        scope: str | None = None,
        topic: str | None = None,
    ) -> Names:
        resolved = self._resolve(project_path, project_id)
        statuses = () if one_of("status", status, (*STATUSES, "any")) == "any" else (status,)
        wanted = EntryFilter(resolved.project.id, slug(scope), slug(topic), statuses=statuses)
        store = self._store()
        items: tuple[Count, ...] = ()
        if store:
            with store[0].read() as connection:
                items = entries.names(connection, column, wanted)
        return Names(resolved.project.id, status, wanted.scope, wanted.topic, items, resolved.warnings)


class _FoundEntry(NamedTuple):
    entry: Entry
    score: float
    place: float
    highlighter: Highlighter


class _Found(NamedTuple):
    hits: tuple[_FoundEntry, ...]
    total: int
    lag: int
    warnings: tuple[str, ...]


def _by_status(wanted: EntryFilter) -> list[Filter]:
    """One filter per status, best first: an archived or invalidated entry never ranks before an active one."""
    statuses = wanted.statuses or STATUSES
    return [Filter(entries.facet_clauses(wanted._replace(statuses=(status,)))) for status in statuses]


def _place_boosts(query: Query) -> tuple[tuple[str, float], ...]:
    names = dict.fromkeys(name for name in (slug(query.text), *(slug(term.text) for term in query.terms)) if name)
    return tuple((f"place={name}", PLACE_BOOST) for name in list(names)[:8])


def _place_score(entry: Entry, query: Query) -> float:
    places = {f"place={entry.scope}", f"place={entry.topic}"}
    return sum(boost for facet, boost in query.boosts if facet in places)


def _hit(found: _FoundEntry, *, include_content: bool, explain: bool) -> EntryHit:
    e, highlighter = found.entry, found.highlighter
    text = e.content
    if e.summary and not highlighter.matches(text) and highlighter.matches(e.summary):
        text = e.summary
    numbers = {"lexical": round(found.score - found.place, 2), "place": found.place, "importance": e.importance}
    if e.confidence is not None:
        numbers["confidence"] = e.confidence
    return EntryHit(
        e.id, e.project_id, e.scope, e.topic, e.title, highlighter.snippet(text), e.tags, e.source_type,
        e.source_ref, e.status, e.confidence, e.importance, e.created_at, e.updated_at, found.score,
        e.content if include_content else None, numbers if explain else None,
    )  # fmt: skip
