"""The verbs that write entries: how one comes, changes and goes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scaffale.answers.memory import AddedEntry, Invalidated
from scaffale.errors import Conflict, InvalidParam, ScaffaleError
from scaffale.indexer import clock, entries, projects
from scaffale.memory.finding import Finding
from scaffale.memory.room import no_entry, one_of
from scaffale.model import CONCEPT, EntryDraft

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from scaffale.answers.life import DeletedEntry, UpdatedEntry
    from scaffale.answers.memory import SimilarEntry
    from scaffale.indexer.database import Database
    from scaffale.indexer.entries import Row
    from scaffale.indexer.projects import Resolved
    from scaffale.indexer.sync import Projection
    from scaffale.model import Entry


PURGE = "its bytes leave the files with the next maintenance (scaffale maintain, or memory_rebuild_index)"
_OF_A_DUPLICATE = (
    "topic", "title", "summary", "source_type", "source_ref", "source_path", "source_uri", "tags", "importance", "confidence",
)  # fmt: skip
_BESIDES = ("content_sha256", "invalidated_at", "invalidation_reason")  # change along with something else


class Life(Finding):
    """Add, update, invalidate, delete."""

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
        with self._audited("memory_add_entry", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            from scaffale.memory import drafts

            draft, warnings = drafts.checked(resolved, said)
            database, projection = self._open()
            digest = sha256(draft.content)
            rid = None
            with database.write() as connection:
                now = clock.now()
                existing = (
                    entries.find_duplicate(connection, resolved.project.id, draft.scope, digest) if dedupe else None
                )
                entry_id = existing or new_id()
                kept: EntryDraft | Entry = draft
                if (row := entries.find(connection, entry_id)) is not None:
                    kept = row.entry
                    warnings = [*warnings, *_not_taken(draft, kept)]
                else:
                    if not resolved.registered:
                        projects.register(connection, resolved.project, now, remember=resolved.remember)
                    rid = entries.add(connection, entry_id, resolved.project.id, draft, digest, actor, now)
                trail.done(connection, entry_id=entry_id, result={"deduped": existing is not None})
            projection.nudge()
        similar: tuple[SimilarEntry, ...] = ()
        if rid is not None:
            similar, more = self._similar_to((database, projection), resolved.project.id, draft.content, rid)
            warnings += more
        return AddedEntry(
            resolved.project.id, entry_id, kept.scope, kept.topic, kept.tags, existing is not None, existing,
            similar, (*resolved.warnings, *warnings, *trail.warnings),
        )  # fmt: skip

    def update_entry(
        self,
        *,
        entry_id: str,
        actor: str,
        project_path: str | None = None,
        project_id: str | None = None,
        title: str | None = None,
        content: str | None = None,
        summary: str | None = None,
        scope: str | None = None,
        topic: str | None = None,
        tags: Sequence[str] | None = None,
        importance: int | None = None,
        confidence: float | None = None,
        status: str | None = None,
        reason: str | None = None,
        expected_updated_at: str | None = None,
        secrets: str | None = None,
    ) -> UpdatedEntry:
        """Give an entry other values; what they replace is kept as a revision. `None` leaves a field as it is.

        `status` archives an entry or makes it active again; an invalidated one comes back only with a `reason`. The edit of
        a promoted concept becomes a proposal: the concept stays as it is until a person's review accepts it. `Conflict` when
        the entry is not the one of `expected_updated_at` any more.
        """
        from scaffale.answers.life import UpdatedEntry
        from scaffale.indexer import revisions
        from scaffale.memory import drafts

        said = {
            "title": title, "content": content, "summary": summary, "scope": scope, "topic": topic,
            "tags": list(tags) if tags is not None else None, "importance": importance, "confidence": confidence,
            "status": status, "reason": reason, "expected_updated_at": expected_updated_at, "secrets": secrets,
        }  # fmt: skip
        with self._audited("memory_update_entry", actor, project_id, said, entry_id) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            if status is not None:
                one_of("status", status, ("active", "archived"))
            reason = drafts.text("reason", reason, resolved.settings.max_summary_chars)
            _, warnings = drafts.without_secrets({"reason": reason}, resolved.settings)
            database, projection = self._of_entry(entry_id, resolved)
            with database.write() as connection:
                row = self._entry(connection, entry_id, resolved, concept_too=True)
                entry_id, entry = row.entry.id, row.entry
                if expected_updated_at is not None and expected_updated_at != entry.updated_at:
                    raise Conflict(
                        f"the entry is the one of {entry.updated_at}, not the expected one: read it again",
                        project_id=resolved.project.id,
                    )
                new, more = drafts.changed(resolved, said, entry)
                warnings += more
                operation = "updated"
                if status is not None and status != entry.status:
                    if entry.status == "invalidated" and reason is None:
                        raise InvalidParam("reason: needed to bring an invalidated entry back")
                    operation = "restored" if status == "active" else "archived"
                    new |= {"status": status, "invalidated_at": None, "invalidation_reason": None}
                at, number, proposal_id = entry.updated_at, 0, None
                if entry.display_id:
                    from scaffale.memory import edits

                    proposal_id, more = edits.propose(connection, entry, new, actor)
                    warnings += more
                    new = {}
                if "content" in new:
                    new["content_sha256"] = sha256(new["content"])
                if new:
                    at = revisions.next_time(row)
                    number = revisions.change(
                        connection, row, new, operation=operation, actor=actor, at=at, reason=reason
                    )
                    if {"content", "scope", "status"} & new.keys():
                        warnings += self._twin(connection, row, {**entry._asdict(), **new})
                shown = tuple(name for name in new if name not in _BESIDES)
                result = {"changed": list(shown), "revision": number, **({"proposal_id": proposal_id} if proposal_id else {})}
                trail.done(connection, entry_id=entry_id, result=result)
            projection.nudge()
        similar: tuple[SimilarEntry, ...] = ()
        if "content" in new:
            similar, more = self._similar_to((database, projection), resolved.project.id, new["content"], row.rid)
            warnings += more
        return UpdatedEntry(
            resolved.project.id, entry_id, shown, new.get("status", entry.status), entry.updated_at, at, number or None,
            similar, (*resolved.warnings, *warnings, *trail.warnings), proposal_id,
        )  # fmt: skip

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
        from scaffale.indexer import revisions
        from scaffale.memory import drafts

        said = {"reason": reason}
        with self._audited("memory_invalidate_entry", actor, project_id, said, entry_id) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            reason = drafts.text("reason", reason, resolved.settings.max_summary_chars)
            _, warnings = drafts.without_secrets(said, resolved.settings)
            database, projection = self._of_entry(entry_id, resolved)
            with database.write() as connection:
                row = self._entry(connection, entry_id, resolved)
                changed = row.entry.status != "invalidated"
                at = revisions.next_time(row) if changed else row.entry.invalidated_at or row.entry.updated_at
                if changed:
                    revisions.invalidate(connection, row, reason, actor, at)
                trail.done(connection, entry_id=entry_id, result={"changed": changed})
            projection.nudge()
        return Invalidated(
            resolved.project.id, entry_id, row.entry.status, "invalidated", at, changed,
            (*resolved.warnings, *warnings, *trail.warnings),
        )  # fmt: skip

    def delete_entry(
        self,
        *,
        entry_id: str,
        actor: str,
        confirm: bool = False,
        reason: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> DeletedEntry:
        """Take an invalidated entry out of the store, with its tags, links and revisions. There is no way back.

        A tombstone without content stays in the audit, even where that is off. The bytes leave the files with the next
        `maintain`.
        """
        from scaffale.answers.life import DeletedEntry
        from scaffale.indexer import audit, revisions
        from scaffale.memory import drafts

        said = {"confirm": confirm, "reason": reason}
        with self._audited("memory_delete_entry", actor, project_id, said, entry_id) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            if not confirm:
                raise InvalidParam("confirm: must be true to delete an entry for good")
            drafts.text("reason", reason, resolved.settings.max_summary_chars)
            _, warnings = drafts.without_secrets(said, resolved.settings)
            database, projection = self._of_entry(entry_id, resolved)
            with database.write() as connection:
                row = self._entry(connection, entry_id, resolved)
                entry = row.entry
                if entry.status != "invalidated":
                    raise Conflict(
                        f"the entry is {entry.status}; only an invalidated one is deleted: invalidate it first",
                        project_id=resolved.project.id,
                    )
                key = audit.store_key(connection)
                audit.forget(connection, key, {entry_id})
                tombstone = revisions.tombstone(connection, key, row)
                trail.done(connection, entry_id=entry_id, result=tombstone, always=True)
            projection.nudge()
        return DeletedEntry(
            resolved.project.id, entry_id, entry.status, True, (*resolved.warnings, *warnings, PURGE, *trail.warnings)
        )

    # --- parts of verbs --------------------------------------------------------------------------------------------

    def _of_entry(self, entry_id: str, resolved: Resolved) -> tuple[Database, Projection]:
        """The store, to change an entry in it. A change makes no store."""
        if self._store() is None:
            raise no_entry(entry_id, resolved)
        return self._open()

    @staticmethod
    def _entry(connection: apsw.Connection, entry_id: str, resolved: Resolved, *, concept_too: bool = False) -> Row:
        """The entry of this project that is to be changed."""
        row = entries.find(connection, entry_id, resolved.project.id)
        if row is None or row.entry.project_id != resolved.project.id:
            raise no_entry(entry_id, resolved)
        if row.entry.source_type == CONCEPT and not (concept_too and row.entry.display_id):
            raise Conflict("a promoted concept changes only by a person's review", project_id=resolved.project.id)
        return row

    @staticmethod
    def _twin(connection: apsw.Connection, row: Row, now: dict[str, Any]) -> list[str]:
        """A warning when another active entry of the scope says exactly what this one says now."""
        if now["status"] != "active":
            return []
        twin = entries.find_duplicate(
            connection, row.entry.project_id, now["scope"], now["content_sha256"], but=row.entry.id
        )
        return [f"entry {twin} of the same scope says exactly this, too"] if twin else []

    def _similar_to(
        self, store: tuple[Database, Projection], project_id: str, content: str, rid: int
    ) -> tuple[tuple[SimilarEntry, ...], list[str]]:
        """Entries that say nearly the same as one that is kept already: nothing from here on may say otherwise."""
        try:
            similar = self._similar(store, project_id, content, rid)
        except ScaffaleError as error:
            return (), [f"similar entries could not be looked up: {error.detail}"]
        return similar, [f"{len(similar)} active entries say nearly the same; see similar_entries"] if similar else []


def _not_taken(draft: EntryDraft, kept: Entry) -> list[str]:
    """A warning that names what was said of a duplicate and is not said of the entry that is kept."""
    plain = (None, (), EntryDraft._field_defaults["importance"])  # said by nobody
    lost = [name for name in _OF_A_DUPLICATE if getattr(draft, name) not in (*plain, getattr(kept, name))]
    return [f"the entry that says this already keeps its own {', '.join(lost)}; memory_update_entry changes it"] if lost else []


def sha256(text: str) -> str:
    """The hash of a content, as it is kept beside it."""
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def new_id() -> str:
    """A random UUID (RFC 9562, version 4), without the 2 ms that importing `uuid` costs a command."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
