"""The memory hall: every verb on a project's operational memory, for all faces alike.

Each verb resolves the project, checks what it was given, asks the rooms, and answers with one value. Reading creates
nothing, not even the store. What is refused is audited too, in a transaction of its own.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale import search as hall
from scaffale.answers.memory import (
    AddedEntry,
    Bound,
    EntryAnswer,
    EntryPage,
    Invalidated,
    MemorySearch,
    MemoryStatus,
    Names,
    SimilarEntry,
)
from scaffale.errors import (
    Conflict,
    InvalidParam,
    LimitExceeded,
    NotFound,
    ScaffaleError,
    SecretDetected,
    StoreBusy,
    StoreUnreadable,
)
from scaffale.indexer import clock, entries, projects
from scaffale.indexer.database import Database, exists
from scaffale.indexer.entries import EntryFilter, EntrySource
from scaffale.indexer.sync import Projection
from scaffale.model import (
    CONCEPT,
    SECRET_RULES,
    SOURCE_TYPES,
    STATUSES,
    Count,
    Entry,
    EntryDraft,
    EntryHit,
    Filter,
    Project,
)
from scaffale.snippet import Highlighter
from scaffale.text import Query, parse, slug, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from scaffale.indexer import audit
    from scaffale.indexer.projects import Known, Resolved
    from scaffale.settings import Settings

PLACE_BOOST = 1.0  # what an entry gains whose scope, or topic, is a word of the query or the whole of it
SIMILAR_AT = 0.6  # share of words in common from which two entries say nearly the same
SIMILAR_TERMS = 16
NOTHING_FOUND = "Nothing in memory matches. Check the documentation, the code or the tickets; nothing is invented here."


class Memory:
    """The operational memory of projects. Safe to share between threads; `close` lets go of files and threads."""

    def __init__(self, settings: Settings, *, background: bool = False) -> None:
        self._settings = settings
        self._background = background
        self._opening = threading.Lock()
        self._database: Database | None = None
        self._projection: Projection | None = None
        self._audit_key = b""

    # --- verbs -----------------------------------------------------------------------------------------------------

    def status(self, *, project_path: str | None = None, project_id: str | None = None) -> MemoryStatus:
        """What there is. Creates nothing."""
        import apsw

        store = self._store()
        resolved = self._resolve(project_path, project_id) if project_path or project_id else None
        index: dict[str, int] = {}
        counts = {"entries": 0, **dict.fromkeys(STATUSES, 0)}
        warnings = [*self._settings.warnings, *(resolved.warnings if resolved else ())]
        if store:
            with store[0].read() as connection:
                counts = entries.count_by_status(connection, resolved.project.id if resolved else None)
            index = store[1].lag()
            warnings += store[1].warnings()
            if store[0].report:
                warnings.append(store[0].report)
            if store[0].read_only:
                warnings.append(f"{store[0].path} is read-only here: writes are refused")
        return MemoryStatus(
            db_path=self._settings.memory_db_path,
            exists=store is not None,
            project=resolved.project if resolved else None,
            project_id=resolved.project.id if resolved else None,
            counts=counts,
            features={
                "fts": self._engine() != "like",
                "lexical_backend": self._engine(),
                "vector": False,
                "audit_log": self._settings.audit_log,
            },
            lexical_backend=self._engine(),
            index_lag=index,
            sqlite_version=apsw.sqlite_lib_version(),
            wal_bytes=store[0].wal_bytes() if store else 0,
            warnings=tuple(warnings),
        )

    def add_entry(
        self,
        *,
        topic: str,
        content: str,
        source_type: str,
        actor: str,
        project_path: str | None = None,
        project_id: str | None = None,
        scope: str | None = None,
        title: str | None = None,
        summary: str | None = None,
        source_ref: str | None = None,
        source_path: str | None = None,
        source_uri: str | None = None,
        tags: Sequence[str] = (),
        importance: int = 3,
        confidence: float | None = None,
        dedupe: bool = True,
        secrets: str | None = None,
    ) -> AddedEntry:
        """Keep one entry, durably. An exact duplicate in the same scope is not kept twice unless `dedupe` is false."""
        said = {
            "scope": scope, "topic": topic, "content": content, "source_type": source_type, "title": title,
            "summary": summary, "source_ref": source_ref, "source_path": source_path, "source_uri": source_uri,
            "tags": list(tags), "importance": importance, "confidence": confidence, "dedupe": dedupe, "secrets": secrets,
        }  # fmt: skip
        with _Audited(self, "memory_add_entry", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            draft, warnings = self._draft(resolved, said)
            database, projection = self._open()
            sha256 = _sha256(draft.content)
            rid = None
            with database.write() as connection:
                now = clock.now()
                existing = (
                    entries.find_duplicate(connection, resolved.project.id, draft.scope, sha256) if dedupe else None
                )
                entry_id = existing or _new_id()
                if existing is None:
                    if not resolved.registered:
                        projects.register(connection, resolved.project, now, remember=resolved.remember)
                    rid = entries.add(connection, entry_id, resolved.project.id, draft, sha256, actor, now)
                trail.done(connection, entry_id=entry_id, result={"deduped": existing is not None})
            projection.nudge()
        similar: tuple[SimilarEntry, ...] = ()
        if rid is not None:
            try:
                similar = self._similar((database, projection), resolved.project.id, draft.content, rid)
            except ScaffaleError as error:  # the entry is kept: nothing from here on may say otherwise
                warnings.append(f"similar entries could not be looked up: {error.detail}")
        if similar:
            warnings.append(f"{len(similar)} active entries say nearly the same; see similar_entries")
        return AddedEntry(
            resolved.project.id, entry_id, draft.scope, draft.topic, draft.tags, existing is not None, existing,
            similar, (*resolved.warnings, *warnings, *trail.warnings),
        )  # fmt: skip

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
            tags=_slugs(tags),
            source_type=_one_of("source_type", source_type, (*SOURCE_TYPES, CONCEPT)) if source_type else None,
            statuses=() if _one_of("status", status, (*STATUSES, "any")) == "any" else (status,),
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
            raise _no_entry(entry_id, resolved)
        warnings = list(resolved.warnings) if resolved else []
        if row.entry.status != "active":
            reason = f" ({row.entry.invalidation_reason})" if row.entry.invalidation_reason else ""
            warnings.append(f"this entry is {row.entry.status}{reason}: do not rely on it")
        links: dict[str, Any] = {"outgoing": [], "incoming_count": 0}
        return EntryAnswer(row.entry.project_id, _masked(row), links, tuple(warnings))

    def invalidate_entry(
        self,
        *,
        entry_id: str,
        actor: str,
        reason: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Invalidated:
        """Mark an entry as not valid any more, with the reason. Soft, and idempotent."""
        said = {"reason": reason}
        with _Audited(self, "memory_invalidate_entry", actor, project_id, said, entry_id) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            reason = _text("reason", reason, resolved.settings.max_summary_chars)
            _, warnings = _without_secrets(said, resolved.settings)
            if self._store() is None:
                raise _no_entry(entry_id, resolved)
            database, projection = self._open()
            with database.write() as connection:
                row = entries.find(connection, entry_id)
                if row is None or row.entry.project_id != resolved.project.id:
                    raise _no_entry(entry_id, resolved)
                if row.entry.source_type == CONCEPT:
                    raise Conflict("a promoted concept changes only by a person's review", project_id=resolved.project.id)
                changed = row.entry.status != "invalidated"
                at = clock.now() if changed else row.entry.invalidated_at or row.entry.updated_at
                if changed:
                    entries.invalidate(connection, row.rid, reason, at)
                trail.done(connection, entry_id=entry_id, result={"changed": changed})
            projection.nudge()
        return Invalidated(
            resolved.project.id, entry_id, row.entry.status, "invalidated", at, changed,
            (*resolved.warnings, *warnings, *trail.warnings),
        )  # fmt: skip

    def bind_project(self, *, actor: str, project_path: str, project_id: str | None = None) -> Bound:
        """A person says that the folder belongs to the project that its `.env` claims, or to the one of `project_id`.

        Asked for where `MEMORY_PROJECT_BINDING=strict`; no tool of agents does this.
        """
        said = {"project_path": project_path}
        with _Audited(self, "project_bind", actor, project_id, said) as trail:
            resolved = trail.resolved = projects.resolve(
                self._settings._replace(project_binding="warn"),
                project_path=project_path,
                project_id=project_id,
                known=self._known if self._store() else None,
            )
            project, folder = resolved.project, resolved.project.canonical_path or ""
            if not project.known:
                raise NotFound(f"no project {project.id} in memory yet: the first entry binds its folder", project_id=project.id)
            with self._open()[0].write() as connection:
                known = projects.find(connection, project.id)
                changed = known is not None and folder not in known.folders
                projects.bind(connection, project.id, folder)
                trail.done(connection, result={"folder": folder, "changed": changed})
        return Bound(project.id, folder, changed, trail.warnings)

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
        return EntryPage(tuple(_masked(row) for row in found[:limit]), more)

    def resolve_project(self, project_path: str | None, project_id: str | None) -> Project:
        """Which project the arguments mean. Creates nothing."""
        return self._resolve(project_path, project_id).project

    def damage(self) -> dict[str, list[str]]:
        """What is broken inside the files of the `store` and of the `index`; empty when nothing is. Reads all of them."""
        store = self._store()
        return {"store": store[0].damage(), "index": store[1].damage()} if store else {"store": [], "index": []}

    def maintain(self, *, rebuild: bool = False) -> list[str]:
        """Commit the index, or build it anew, and fold the write-ahead log in. Says what was done."""
        store = self._store()
        if store is None:
            return ["memory: nothing to do, there is no store yet"]
        return [f"memory: {line}" for line in store[1].maintain(rebuild=rebuild)]

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store and its index."""
        with self._opening:
            database, projection = self._database, self._projection
            self._database = self._projection = None
            self._audit_key = b""
        if projection:
            projection.close()
        if database:
            database.close()

    # --- the store -------------------------------------------------------------------------------------------------

    def _open(self) -> tuple[Database, Projection]:
        """Store and projection, created when they are not there yet."""
        with self._opening:
            if self._database and not self._database.is_current():
                self._let_go(self._database)
            if self._database is None or self._projection is None:
                self._database = Database(self._settings.memory_db_path, entries.SCHEMA)
                self._projection = Projection(
                    EntrySource(self._database), self._settings.memory_lexical_backend, background=self._background
                )
            return self._database, self._projection

    def _let_go(self, database: Database) -> None:
        """Raise, once, for a store that was taken away while it was open; the next call opens what lies there then."""
        projection, self._database, self._projection = self._projection, None, None
        if projection:
            projection.close()
        raise database.taken_away()

    def _store(self) -> tuple[Database, Projection] | None:
        """Store and projection, or `None` while nothing was ever kept."""
        if self._database is not None or exists(self._settings.memory_db_path):
            return self._open()
        return None

    def _engine(self) -> str:
        if self._projection:
            return self._projection.engine.name
        from scaffale import backends

        return backends.lexical(self._settings.memory_lexical_backend).name

    def _resolve(self, project_path: str | None, project_id: str | None) -> Resolved:
        return projects.resolve(
            self._settings, project_path=project_path, project_id=project_id, known=self._known if self._store() else None
        )

    def _known(self, project_id: str) -> Known | None:
        database, _ = self._open()
        with database.border():
            return projects.find(database.connection, project_id)

    def _reach(self, mode: str, project_path: str | None, project_id: str | None) -> Resolved | None:
        """The project of a read, or `None` when the caller asked to cross projects."""
        if _one_of("mode", mode, ("project", "cross_project")) == "cross_project":
            return None
        if project_path is None and project_id is not None:
            # An id says everything; only a folder has to be compared with what the store knows of its project.
            return projects.resolve(self._settings, project_id=project_id)
        return self._resolve(project_path, project_id)

    # --- parts of verbs --------------------------------------------------------------------------------------------

    def _draft(self, resolved: Resolved, said: dict[str, Any]) -> tuple[EntryDraft, list[str]]:
        settings, keys = resolved.settings, resolved.keys
        scope = said["scope"] if said["scope"] is not None else keys.scope_default
        if scope is None or not slug(scope):
            raise InvalidParam("scope: give one, or set MEMORY_SCOPE_DEFAULT in the .env of the project")
        if not slug(said["topic"]):
            raise InvalidParam("topic: must not be empty")
        if not said["content"].strip():
            raise InvalidParam("content: must not be empty")
        if said["source_type"] == CONCEPT:
            raise InvalidParam(f"source_type: {CONCEPT} is written only by the review of a session's concepts")
        _one_of("source_type", said["source_type"], SOURCE_TYPES)
        if not 1 <= said["importance"] <= 5:
            raise InvalidParam("importance: must be between 1 (low) and 5 (critical)")
        if said["confidence"] is not None and not 0.0 <= said["confidence"] <= 1.0:
            raise InvalidParam("confidence: must be between 0.0 and 1.0")
        if len(said["content"].encode()) > settings.max_entry_bytes:
            raise LimitExceeded(f"content: longer than {settings.max_entry_bytes} bytes (MEMORY_MAX_ENTRY_BYTES)")
        said, warnings = _without_secrets(said, settings)
        warnings += _unseen(said)
        source_path = said["source_path"]
        if source_path is not None:
            from scaffale.indexer import paths

            source_path = paths.resolve_inside(
                source_path, resolved.roots, kind="source_path", base=resolved.folder,
                stores=(settings.memory_db_path, settings.docs_db_path),
            )  # fmt: skip
        draft = EntryDraft(
            scope=_limited("scope", slug(scope), settings.max_scope_chars),
            topic=_limited("topic", slug(said["topic"]), settings.max_topic_chars),
            content=said["content"],
            source_type=said["source_type"],
            title=_text("title", said["title"], settings.max_title_chars),
            summary=_text("summary", said["summary"], settings.max_summary_chars),
            source_ref=_text("source_ref", said["source_ref"], settings.max_source_ref_chars),
            source_path=source_path,
            source_uri=_text("source_uri", said["source_uri"], settings.max_source_uri_chars),
            tags=self._tags(said["tags"], resolved),
            importance=said["importance"],
            confidence=said["confidence"],
        )
        return draft, warnings

    @staticmethod
    def _tags(said: Sequence[str], resolved: Resolved) -> tuple[str, ...]:
        tags = _slugs(said)
        if len(tags) > resolved.settings.max_tags:
            raise LimitExceeded(f"tags: more than {resolved.settings.max_tags} (MEMORY_MAX_TAGS)")
        for tag in tags:
            _limited("tags", tag, resolved.settings.max_tag_chars)
        allowed = resolved.keys.allowed_tags
        if allowed is not None:
            unknown = [tag for tag in tags if tag not in _slugs(allowed)]
            if unknown:
                raise InvalidParam(
                    f"tags: {', '.join(unknown)} not among MEMORY_ALLOWED_TAGS of this project ({', '.join(allowed)})"
                )
        return tags

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
            return _Found(tuple(_FoundEntry(_masked(row), 0.0, 0.0, plain) for row in rows), total, 0, ())
        query = parse(text)
        query = query._replace(boosts=_place_boosts(query))
        page = hall.search(projection, query, _by_status(wanted), limit, offset, lambda rids: self._ids(database, rids))
        with database.read() as connection:
            found = {row.rid: _masked(row) for row in entries.rows(connection, [hit.id for hit in page.hits])}
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
                e = _masked(row)
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
        statuses = () if _one_of("status", status, (*STATUSES, "any")) == "any" else (status,)
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


class _Audited:
    """One audited write. `done` records success inside the change's own transaction; a refusal gets one of its own.

    Afterwards the row is mirrored, when a mirror is configured; `warnings` says when that failed.
    """

    def __init__(
        self,
        memory: Memory,
        operation: str,
        actor: str,
        project_id: str | None,
        said: dict[str, Any],
        entry_id: str | None = None,
    ) -> None:
        self._memory = memory
        self._operation = operation
        self._actor = actor
        self._given_id = project_id
        self._said = {key: value for key, value in said.items() if value is not None}
        self._entry_id = entry_id
        self._row: audit.AuditRow | None = None
        self.resolved: Resolved | None = None
        self.warnings: tuple[str, ...] = ()

    def __enter__(self) -> _Audited:
        return self

    def done(self, connection: apsw.Connection, *, result: dict[str, Any], entry_id: str | None = None) -> None:
        self._entry_id = entry_id
        self._record(connection, "ok", None, result)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ScaffaleError):
            self._refused(error)
        mirror = self._memory._settings.audit_jsonl
        if self._row and mirror:
            from scaffale.indexer import audit

            warning = audit.mirror(mirror, self._row)
            self.warnings = (warning,) if warning else ()

    def _refused(self, error: ScaffaleError) -> None:
        if error.project_id is None and self.resolved:
            error.project_id = self.resolved.project.id
        if isinstance(error, StoreBusy | StoreUnreadable):
            return  # a second try would only wait as long again
        store = self._memory._store()
        if store is None or store[0].read_only:
            return
        try:
            with store[0].write() as connection:
                self._record(connection, "refused", error.code, {})
        except ScaffaleError:
            self._row = None  # the store cannot be written: that is what the caller is being told already

    def _record(self, connection: apsw.Connection, outcome: str, code: str | None, result: dict[str, Any]) -> None:
        settings = self.resolved.settings if self.resolved else self._memory._settings
        if settings.audit_log:
            from scaffale.indexer import audit

            self._memory._audit_key = self._memory._audit_key or audit.store_key(connection)
            self._row = audit.record(
                connection,
                self._memory._audit_key,
                operation=self._operation,
                project_id=self.resolved.project.id if self.resolved else self._given_id,
                entry_id=self._entry_id,
                actor=self._actor,
                outcome=outcome,
                error_code=code,
                params=self._said,
                result=result,
            )


# --- small things ----------------------------------------------------------------------------------------------------


def _slugs(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for text in texts if (tag := slug(text))))


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


def _masked(row: entries.Row) -> Entry:
    """The entry as it may be shown. Certain secrets are masked again on every way out, since rules get better after a
    text was kept; what the present rules let in needs no second look."""
    if row.secret_rules == SECRET_RULES:
        return row.entry
    from scaffale import secrets

    masked: dict[str, Any] = {field: secrets.mask(text) for field in _SHOWN if (text := getattr(row.entry, field))}
    return row.entry._replace(**masked)


_SHOWN = ("title", "content", "summary", "source_ref", "source_path", "source_uri", "invalidation_reason")
_SEARCHED_FOR_SECRETS = (
    "content", "title", "summary", "topic", "scope", "source_ref", "source_path", "source_uri", "reason", "tags",
)  # fmt: skip


def _without_secrets(said: dict[str, Any], settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """What was said, with certain secrets masked where the caller wants that, and warnings about probable ones.
    `SecretDetected` for a certain one otherwise."""
    from scaffale import secrets

    redact = said.get("secrets") is not None and _one_of("secrets", said["secrets"], ("redact",)) == "redact"
    given = {field: said[field] for field in _SEARCHED_FOR_SECRETS if said.get(field)}
    texts = {field: value if isinstance(value, list) else [value] for field, value in given.items()}
    if not secrets.find("\n\n".join(text for each in texts.values() for text in each)):  # one look: nearly always none
        return said, []
    warnings: dict[str, None] = {}
    clean = dict(said)
    for field, value in given.items():
        for text in texts[field]:
            for found in secrets.find(text):
                if found.tier == 1 and not redact and found.kind not in settings.allowed_secrets:
                    again = ", or send it again with secrets=\"redact\"" if "secrets" in said else ""
                    raise SecretDetected(
                        f"{field}: looks like a secret ({found.kind}) at characters {found.start}–{found.end}; nothing was"
                        f" written. Remove it{again}."
                    )
                if found.tier > 1:
                    warnings[f"{field}: may hold a secret ({found.kind}) at characters {found.start}–{found.end}"] = None
        if redact:
            clean[field] = [secrets.mask(text) for text in value] if isinstance(value, list) else secrets.mask(value)
    return clean, list(warnings)


def _unseen(said: dict[str, Any]) -> list[str]:
    """A warning for each text with characters that no person sees: zero width, direction marks, tags."""
    warnings = []
    for field in ("title", "content", "summary"):
        text = said[field]
        if text and not text.isascii():
            import re

            found = re.search("[\u180e\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e01ef]", text)
            if found:
                what = f"U+{ord(found[0]):04X} at character {found.start()}"
                warnings.append(f"{field}: holds characters that nobody sees ({what} is the first); kept as given")
    return warnings


def _text(name: str, text: str | None, limit: int) -> str | None:
    return None if text is None or not text.strip() else _limited(name, text, limit)


def _limited(name: str, text: str | None, limit: int) -> str:
    if text is not None and len(text) > limit:
        raise LimitExceeded(f"{name}: longer than {limit} characters")
    return text or ""


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise InvalidParam(f"{name}: must be one of {', '.join(allowed)}")
    return value


def _no_entry(entry_id: str, resolved: Resolved | None) -> NotFound:
    where = f" in project {resolved.project.id}" if resolved else ""
    return NotFound(f"no entry {entry_id[:80]}{where}", project_id=resolved.project.id if resolved else None)


def _sha256(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def _new_id() -> str:
    """A random UUID (RFC 9562, version 4), without the 2 ms that importing `uuid` costs a command."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
