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
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    import apsw

    from scaffale.answers.life import History
    from scaffale.answers.links import LinkShown
    from scaffale.indexer.database import Database
    from scaffale.indexer.entries import Row
    from scaffale.indexer.links import Link
    from scaffale.indexer.projects import Resolved
    from scaffale.indexer.sync import Projection

    _More = TypeVar("_More")

PLACE_BOOST = 1.0  # what an entry gains whose scope, or topic, is a word of the query or the whole of it
SIMILAR_AT = 0.6  # share of words in common from which two entries say nearly the same
SIMILAR_TERMS = 16
SHOWN_LINKS = 20  # of an entry that is read; memory_list_entry_links pages through all
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
        resolved, row, links = self._reached(entry_id, mode, project_path, project_id, self._links_of)
        warnings = list(resolved.warnings) if resolved else []
        if row.entry.status != "active":
            reason = f" ({row.entry.invalidation_reason})" if row.entry.invalidation_reason else ""
            warnings.append(f"this entry is {row.entry.status}{reason}: do not rely on it")
        return EntryAnswer(row.entry.project_id, masked(row), links, tuple(warnings))

    def entry_history(
        self, *, entry_id: str, project_path: str | None = None, project_id: str | None = None, mode: str = "project"
    ) -> History:
        """What happened to an entry, oldest first, with the values that each change replaced. Isolation as for `read_entry`."""
        from scaffale.answers.life import Event, History
        from scaffale.indexer import revisions

        resolved, row, found = self._reached(entry_id, mode, project_path, project_id, revisions.of)
        entry = row.entry
        created = Event(0, entry.created_at, entry.created_by, "created", None, {})
        events = [Event(*revision[:5], _masked_values(revision.earlier)) for revision in found]
        return History(
            entry.project_id, entry_id, entry.status, (created, *events), tuple(resolved.warnings) if resolved else ()
        )

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

    def _links_of(self, connection: apsw.Connection, entry_id: str) -> dict[str, Any]:
        """What `read_entry` says of links: the outgoing ones, and how many come in."""
        from scaffale.indexer import links

        outgoing = links.of(connection, entry_id, "outgoing", SHOWN_LINKS)
        return {
            "outgoing": self._shown(connection, outgoing, entry_id) if outgoing else (),
            "outgoing_count": links.count(connection, entry_id, "outgoing"),
            "incoming_count": links.count(connection, entry_id, "incoming"),
        }

    def _shown(self, connection: apsw.Connection, found: Sequence[Link], entry_id: str) -> tuple[LinkShown, ...]:
        """Links as they are shown to somebody who looks from that entry."""
        from scaffale import secrets
        from scaffale.answers.links import LinkShown

        cited = self._documents.look(found) if any(link.target_type == "docs_document" for link in found) else {}
        ends = {link.source_entry_id for link in found} | {link.target_entry_id for link in found if link.target_entry_id}
        known = entries.headings(connection, ends - {entry_id})
        shown = []
        for link in found:
            incoming = link.target_entry_id == entry_id
            other = link.source_entry_id if incoming else link.target_entry_id
            title, status = known.get(other, (None, None)) if other else (None, None)
            document = cited.get(link.id)
            if document:
                title, status = document.title, document.evidence
            uri = f"memory://entry/{link.target_entry_id}" if link.target_entry_id else link.target_uri or ""
            words = {"uri": uri, "title": title, "label": link.label, "rationale": link.rationale}
            said = {name: secrets.mask(text) if text else None for name, text in words.items()}
            shown.append(
                LinkShown(
                    link.id,
                    link.relation,
                    link.target_type,
                    said["uri"] or "",
                    link.source_entry_id if incoming else None,
                    "incoming" if incoming else None,
                    said["title"],
                    status,
                    document.file_path if document else None,
                    link.section,
                    said["label"],
                    link.confidence,
                    said["rationale"],
                    link.origin,
                    link.created_at,
                )
            )
        return tuple(shown)

    def _reached(
        self,
        entry_id: str,
        mode: str,
        project_path: str | None,
        project_id: str | None,
        more: Callable[[apsw.Connection, str], _More],
    ) -> tuple[Resolved | None, Row, _More]:
        """The entry that a read is about, and what else is asked of it in the same snapshot."""
        resolved = self._reach(mode, project_path, project_id)
        store = self._store()
        if store:
            with store[0].read() as connection:
                row = entries.find(connection, entry_id)
                if row and (resolved is None or row.entry.project_id == resolved.project.id):
                    return resolved, row, more(connection, entry_id)
        raise no_entry(entry_id, resolved)

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


def _masked_values(values: dict[str, Any]) -> dict[str, Any]:
    from scaffale import secrets

    shown = {name: value for name, value in values.items() if name != "content_sha256"}
    return {name: secrets.mask(value) if isinstance(value, str) else value for name, value in shown.items()}


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
