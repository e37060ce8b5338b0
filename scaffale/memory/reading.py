"""The verbs that read entries one by one and list what exists. They create nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.answers.memory import EntryAnswer, EntryPage, Names
from scaffale.hall import DAMAGED
from scaffale.indexer import entries
from scaffale.indexer.entries import EntryFilter
from scaffale.memory.room import Room, masked, no_entry, one_of, slugs
from scaffale.model import STATUSES, Count
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    import apsw

    from scaffale.answers.browsing import ProjectList, Timeline
    from scaffale.answers.life import Event, History
    from scaffale.answers.links import LinkShown
    from scaffale.indexer.checks import Check
    from scaffale.indexer.entries import Row
    from scaffale.indexer.links import Link
    from scaffale.indexer.projects import Resolved
    from scaffale.indexer.revisions import Revision
    from scaffale.model import Entry

    _More = TypeVar("_More")

SHAKEN = "evidence changed: a decision that this concept was promoted from does not hold any more; ask before relying on it"
SHOWN_LINKS = 20  # of an entry that is read; memory_list_entry_links pages through all


class Reading(Room):
    """Read, list, tell the history."""

    def read_entry(
        self,
        *,
        entry_id: str,
        project_path: str | None = None,
        project_id: str | None = None,
        mode: str = "project",
        include_history: bool = False,
        start_char: int = 0,
        budget_tokens: int | None = None,
    ) -> EntryAnswer:
        """The whole entry. One of another project is not found, unless `mode` is `cross_project`.

        `budget_tokens` cuts the content; `start_char` reads on where it was cut.
        """

        from scaffale.indexer import checks, registry

        def ask(
            connection: apsw.Connection, id: str
        ) -> tuple[dict[str, Any], list[Link], list[Revision], list[Check], set[str]]:
            changes: list[Revision] = []
            if include_history:
                from scaffale.indexer import revisions

                changes = revisions.of(connection, id)
            links, citing = self._links_of(connection, id), self._citing(connection, [id])
            return links, citing, changes, checks.of(connection, id), registry.shaken(connection, [id])

        resolved, row, (links, citing, changes, seen, shaken) = self._reached(entry_id, mode, project_path, project_id, ask)
        warnings = list(resolved.warnings) if resolved else []
        if row.entry.status != "active":
            reason = f" ({row.entry.invalidation_reason})" if row.entry.invalidation_reason else ""
            warnings.append(f"this entry is {row.entry.status}{reason}: do not rely on it")
        if not entries.is_whole(row.entry.content, row.entry.content_sha256):
            warnings.append(f"this content {DAMAGED}")
        entry = masked(row)
        evidence = self._documents.evidence(citing)[0].get(entry.id) if citing else None
        if evidence:
            warnings.append(f"evidence {evidence}: a document that this entry cites is not what it was; look at it first")
        if shaken:
            evidence = evidence or "changed"
            warnings.append(SHAKEN)
        content, next_char = _part(entry.content, start_char, budget_tokens)
        if next_char is not None:
            warnings.append(f"the content is cut: read on with start_char={next_char}")
        return EntryAnswer(
            row.entry.project_id, entry._replace(content=content, evidence=evidence), links, tuple(warnings), next_char,
            _events(row.entry, changes) if include_history else None, tuple(seen) or None,
        )  # fmt: skip

    def entry_history(
        self, *, entry_id: str, project_path: str | None = None, project_id: str | None = None, mode: str = "project"
    ) -> History:
        """What happened to an entry, oldest first, with the values that each change replaced. Isolation as for `read_entry`."""
        from scaffale.answers.life import History
        from scaffale.indexer import revisions

        resolved, row, found = self._reached(entry_id, mode, project_path, project_id, revisions.of)
        entry = row.entry
        warnings = resolved.warnings if resolved else ()
        return History(entry.project_id, entry.id, entry.status, _events(entry, found), warnings)

    def list_scopes(self, **where: Any) -> Names:  # noqa: ANN401  (the arguments of `_list`)
        """The scopes in use. Arguments: `project_path`, `project_id`, `status` (default active)."""
        return self._list("scope", **where)

    def list_topics(self, **where: Any) -> Names:  # noqa: ANN401
        """The topics in use. Arguments as for `list_scopes`, and `scope`."""
        return self._list("topic", **where)

    def list_tags(self, **where: Any) -> Names:  # noqa: ANN401
        """The tags in use. Arguments as for `list_scopes`, `scope` and `topic`."""
        return self._list("tags", **where)

    def entry_ids(self, project_id: str, begun: str = "", limit: int = 1_000) -> tuple[str, ...]:
        """Ids of a project's entries that begin like this, for completion."""
        store = self._store()
        if store is None:
            return ()
        with store[0].read() as connection:
            return tuple(entries.ids_beginning(connection, project_id, begun, limit))

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

    def list_projects(self) -> ProjectList:
        """The projects that memory knows, the one that changed last first. For people: no tool of agents asks this."""
        from scaffale.answers.browsing import ProjectList, ProjectSummary
        from scaffale.indexer import projects

        store = self._store()
        if store is None:
            return ProjectList((), ())
        with store[0].read() as connection:
            found = projects.summaries(connection)
        return ProjectList(tuple(ProjectSummary(*each) for each in found), ())

    def timeline(
        self,
        *,
        project_path: str | None = None,
        project_id: str | None = None,
        status: str = "any",
        scope: str | None = None,
        topic: str | None = None,
        tags: Sequence[str] = (),
        limit: int = 50,
        offset: int = 0,
    ) -> Timeline:
        """The entries of a project in the order of their last change, the newest first."""
        from scaffale.answers.browsing import Timeline

        resolved = self._resolve(project_path, project_id)
        statuses = () if one_of("status", status, (*STATUSES, "any")) == "any" else (status,)
        wanted = EntryFilter(resolved.project.id, slug(scope), slug(topic), tags=slugs(tags), statuses=statuses)
        limit, offset = max(1, min(limit, 200)), max(0, offset)
        found: list[Row] = []
        total = 0
        store = self._store()
        if store:
            with store[0].read() as connection:
                found, total = entries.newest(connection, wanted, limit, offset)
        more = offset + limit if total > offset + limit else None
        shown = tuple(masked(row) for row in found)
        return Timeline(
            resolved.project.id, status, wanted.scope, wanted.topic, shown, total, more, resolved.warnings
        )

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

    @staticmethod
    def _citing(connection: apsw.Connection, entry_ids: Sequence[str]) -> list[Link]:
        """The links of these entries to documents."""
        if not entries.cites_documents(connection, entry_ids):
            return []
        from scaffale.indexer import links

        return links.to_documents(connection, entry_ids)

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
                row = entries.find(connection, entry_id, resolved.project.id if resolved else None)
                if row and (resolved is None or row.entry.project_id == resolved.project.id):
                    return resolved, row, more(connection, row.entry.id)
        raise no_entry(entry_id, resolved)

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


def _part(content: str, start: int, budget: int | None) -> tuple[str, int | None]:
    """The content from that character on, as far as the budget goes, and where it goes on."""
    from scaffale.memory.budget import cut

    rest = content[max(0, start) :]
    shown = rest if budget is None else cut(rest, budget)
    return shown, max(0, start) + len(shown) if len(shown) < len(rest) else None


def _events(entry: Entry, changes: Sequence[Revision]) -> tuple[Event, ...]:
    """What happened to an entry, from its creation on."""
    from scaffale.answers import life

    created = life.Event(0, entry.created_at, entry.created_by, "created", None, {})
    return (created, *(life.Event(*change[:5], _masked_values(change.earlier)) for change in changes))


def _masked_values(values: dict[str, Any]) -> dict[str, Any]:
    from scaffale import secrets

    shown = {name: value for name, value in values.items() if name not in ("content_sha256", "metadata")}
    return {name: secrets.mask(value) if isinstance(value, str) else value for name, value in shown.items()}
