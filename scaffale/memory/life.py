"""The verbs that write entries: how one comes, changes and goes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scaffale.answers.memory import AddedEntry, Invalidated
from scaffale.errors import Conflict, ScaffaleError
from scaffale.indexer import clock, entries, projects
from scaffale.memory.finding import Finding
from scaffale.memory.room import no_entry
from scaffale.model import CONCEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.answers.memory import SimilarEntry


class Life(Finding):
    """Add, invalidate."""

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
                if existing is None:
                    if not resolved.registered:
                        projects.register(connection, resolved.project, now, remember=resolved.remember)
                    rid = entries.add(connection, entry_id, resolved.project.id, draft, digest, actor, now)
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
        with self._audited("memory_invalidate_entry", actor, project_id, said, entry_id) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            from scaffale.memory import drafts

            reason = drafts.text("reason", reason, resolved.settings.max_summary_chars)
            _, warnings = drafts.without_secrets(said, resolved.settings)
            if self._store() is None:
                raise no_entry(entry_id, resolved)
            database, projection = self._open()
            with database.write() as connection:
                row = entries.find(connection, entry_id)
                if row is None or row.entry.project_id != resolved.project.id:
                    raise no_entry(entry_id, resolved)
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


def sha256(text: str) -> str:
    """The hash of a content, as it is kept beside it."""
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def new_id() -> str:
    """A random UUID (RFC 9562, version 4), without the 2 ms that importing `uuid` costs a command."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
