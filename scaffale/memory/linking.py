"""The verbs that link entries: to entries of their project, to sections of documents, to anything that has a URI."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from scaffale.errors import Conflict, InvalidParam, NotFound, quoted
from scaffale.indexer import clock, entries
from scaffale.memory.life import Life, new_id
from scaffale.memory.room import no_entry, one_of
from scaffale.model import RELATIONS, TARGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from scaffale.answers.links import Linked, LinkList, Unlinked
    from scaffale.answers.memory import SimilarEntry
    from scaffale.indexer.entries import Row
    from scaffale.indexer.links import Link
    from scaffale.indexer.projects import Resolved

_URI = r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+"


class Linking(Life):
    """Link, unlink, list links."""

    def link_entries(
        self,
        *,
        source_entry_id: str,
        actor: str,
        target_entry_id: str | None = None,
        target_uri: str | None = None,
        target_type: str | None = None,
        relation: str = "related_to",
        label: str | None = None,
        confidence: float | None = None,
        rationale: str | None = None,
        section: Sequence[str] | str | None = None,
        origin: str = "mcp",
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Linked:
        """Link an entry to another of its project, to a document (`docs://document/NUMBER`, or a section of it), or to
        any URI. `supersedes` moves an active target to `superseded`, in the same transaction.

        The same ends and relation again give the link new words. A circle of `supersedes` is a `Conflict`.
        """
        from scaffale.answers.links import Linked
        from scaffale.indexer import links, revisions

        said = {
            "source_entry_id": source_entry_id, "target_entry_id": target_entry_id, "target_uri": target_uri,
            "target_type": target_type, "relation": relation, "label": label, "confidence": confidence,
            "rationale": rationale, "section": section,
        }  # fmt: skip
        with self._audited("memory_link_entries", actor, project_id, said, source_entry_id) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            one_of("relation", relation, RELATIONS)
            wanted, warnings = self._wanted(resolved, said, origin)
            database, projection = self._of_entry(source_entry_id, resolved)
            superseded: Row | None = None
            with database.write() as connection:
                source = self._linkable(connection, source_entry_id, resolved)
                link = wanted._replace(source_entry_id=source.entry.id)
                target = None
                if link.target_entry_id is not None:
                    target = self._linkable(connection, link.target_entry_id, resolved)
                    link = link._replace(target_entry_id=target.entry.id)
                    if target.rid == source.rid:
                        raise InvalidParam("target_entry_id: an entry is not linked to itself")
                known = links.same(connection, link)
                at = clock.now()
                if known is None:
                    link = link._replace(id=new_id(), created_at=at, updated_at=at)
                else:
                    link = link._replace(id=known.id, created_at=known.created_at, updated_at=at)
                if relation == "supersedes" and target is not None:
                    if links.would_circle(connection, source.entry.id, target.entry.id):
                        raise Conflict(
                            f"entry {target.entry.id} supersedes {source.entry.id} already, be it through others",
                            project_id=resolved.project.id,
                        )
                    if target.entry.status == "active":
                        superseded = target
                        revisions.change(
                            connection, target, {"status": "superseded"}, operation="superseded", actor=actor,
                            at=revisions.next_time(target), reason=f"superseded by {source.entry.id}",
                        )  # fmt: skip
                    else:
                        warnings.append(f"the target is {target.entry.status}: its status stays")
                links.put(connection, link)
                result = {"link_id": link.id, "created": known is None, "superseded": superseded is not None}
                trail.done(connection, entry_id=source.entry.id, result=result)
            projection.nudge()
        similar: tuple[SimilarEntry, ...] = ()
        if superseded is not None:
            similar, more = self._similar_to(
                (database, projection), resolved.project.id, superseded.entry.content, superseded.rid
            )
            similar = tuple(each for each in similar if each.id != link.source_entry_id)
            warnings += more if similar else []
        with database.read() as connection:
            (shown,) = self._shown(connection, [link], link.source_entry_id)
        return Linked(
            resolved.project.id, link.id, known is None, shown, superseded.entry.id if superseded else None, similar,
            (*resolved.warnings, *warnings, *trail.warnings),
        )  # fmt: skip

    def unlink_entries(
        self, *, link_id: str, actor: str, project_path: str | None = None, project_id: str | None = None
    ) -> Unlinked:
        """Take a link. A status that it moved does not come back by itself."""
        from scaffale.answers.links import Unlinked
        from scaffale.indexer import links

        said = {"link_id": link_id}
        with self._audited("memory_unlink_entries", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            nothing = NotFound(f"no link {quoted(link_id)} in project {resolved.project.id}", project_id=resolved.project.id)
            if self._store() is None:
                raise nothing
            with self._open()[0].write() as connection:
                link = links.find(connection, link_id)
                if link is None or link.project_id != resolved.project.id:
                    raise nothing
                links.remove(connection, link_id)
                trail.done(connection, entry_id=link.source_entry_id, result={"relation": link.relation})
        warnings = []
        if link.relation == "supersedes":
            warnings.append("the superseded entry stays so; memory_update_entry with status=active restores it")
        return Unlinked(resolved.project.id, link_id, True, (*resolved.warnings, *warnings, *trail.warnings))

    def list_entry_links(
        self,
        *,
        entry_id: str,
        direction: str = "outgoing",
        limit: int = 50,
        offset: int = 0,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> LinkList:
        """The links of an entry; incoming ones only when asked for. A target that is gone is shown as such."""
        from scaffale.answers.links import LinkList
        from scaffale.indexer import links

        one_of("direction", direction, ("outgoing", "incoming", "both"))
        limit, offset = max(1, min(limit, 200)), max(0, offset)

        def ask(connection: apsw.Connection, id: str) -> tuple[tuple[Any, ...], int]:
            found = links.of(connection, id, direction, limit, offset)
            return self._shown(connection, found, id), links.count(connection, id, direction)

        resolved, row, (shown, total) = self._reached(entry_id, "project", project_path, project_id, ask)
        return LinkList(
            row.entry.project_id, row.entry.id, direction, shown, total, offset + limit if total > offset + limit else None,
            resolved.warnings if resolved else (),
        )  # fmt: skip

    # --- parts of verbs --------------------------------------------------------------------------------------------

    def _wanted(self, resolved: Resolved, said: dict[str, Any], origin: str) -> tuple[Link, list[str]]:
        """The link that was asked for, checked as far as the store of memory is not needed for it."""
        from scaffale.indexer.links import Link
        from scaffale.memory import drafts

        entry_id, uri, kind = said["target_entry_id"], said["target_uri"], said["target_type"]
        if (entry_id is None) == (uri is None):
            raise InvalidParam("give either target_entry_id or target_uri")
        if entry_id is None and uri.startswith("memory://entry/"):
            from urllib.parse import unquote

            entry_id, uri = unquote(uri.removeprefix("memory://entry/")), None
        is_document = uri is not None and uri.startswith("docs://document/")
        found = "memory_entry" if uri is None else "docs_document" if is_document else "uri"
        if kind is not None and one_of("target_type", kind, TARGETS) != found:
            raise InvalidParam(f"target_type: {kind} does not fit the target, which is a {found}")
        if uri is not None and not re.fullmatch(_URI, uri):
            raise InvalidParam("target_uri: is no URI; it begins with a scheme, such as https:, and holds no blank")
        confidence = said["confidence"]
        if confidence is not None and not 0.0 <= confidence <= 1.0:
            raise InvalidParam("confidence: must be between 0.0 and 1.0")
        settings = resolved.settings
        words = {"label": said["label"], "rationale": said["rationale"], "target_uri": uri}
        _, warnings = drafts.without_secrets(words, settings)
        path = digest = None
        if found == "docs_document":
            uri = drafts.limited("target_uri", uri, settings.max_source_uri_chars)
            _, path, digest = self._documents.cite(uri, said["section"])
        elif said["section"] is not None:
            raise InvalidParam("section: only a document has sections")
        link = Link(
            "", resolved.project.id, "", entry_id,
            drafts.limited("target_uri", uri, settings.max_source_uri_chars) if uri is not None else None,
            found, said["relation"], drafts.text("label", said["label"], settings.max_title_chars), confidence, origin,
            drafts.text("rationale", said["rationale"], settings.max_summary_chars), path, digest, "", "",
        )  # fmt: skip
        return link, warnings

    @staticmethod
    def _linkable(connection: apsw.Connection, entry_id: str, resolved: Resolved) -> Row:
        """The entry of this project; a promoted concept may be linked, too."""
        row = entries.find(connection, entry_id, resolved.project.id)
        if row is None or row.entry.project_id != resolved.project.id:
            raise no_entry(entry_id, resolved)
        return row
