"""What every verb of memory stands on: the store, the project that is meant, the checks of what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam, NotFound, quoted
from scaffale.hall import Hall
from scaffale.indexer import entries, projects
from scaffale.indexer.entries import EntrySource
from scaffale.model import SECRET_RULES
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.indexer.database import Database, Schema
    from scaffale.indexer.projects import Known, Resolved
    from scaffale.memory.audited import Audited
    from scaffale.memory.documents import Documents
    from scaffale.model import Entry
    from scaffale.settings import Settings


class Room(Hall):
    """The store of memory, and whose memory a call is about."""

    name = "memory"

    def __init__(self, settings: Settings, *, background: bool = False) -> None:
        super().__init__(settings, settings.memory_db_path, settings.memory_lexical_backend, background=background)
        self._audit_key = b""
        self._reader: Documents | None = None

    def close(self) -> None:
        """Let go of the store and its index."""
        super().close()
        self._audit_key = b""
        reader, self._reader = self._reader, None
        if reader:
            reader.close()

    @property
    def _documents(self) -> Documents:
        if self._reader is None:
            from scaffale.memory.documents import Documents

            self._reader = Documents(self._settings)
        return self._reader

    def _audited(
        self, operation: str, actor: str, project_id: str | None, said: dict[str, Any], entry_id: str | None = None
    ) -> Audited:
        from scaffale.memory.audited import Audited

        return Audited(self, operation, actor, project_id, said, entry_id)

    def _schema(self) -> Schema:
        return entries.SCHEMA

    def _source(self, database: Database) -> EntrySource:
        return EntrySource(database)

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
        if one_of("mode", mode, ("project", "cross_project")) == "cross_project":
            return None
        if project_path is None and project_id is not None:
            # An id says everything; only a folder has to be compared with what the store knows of its project.
            return projects.resolve(self._settings, project_id=project_id)
        return self._resolve(project_path, project_id)


def slugs(texts: Sequence[str]) -> tuple[str, ...]:
    """Scopes, topics or tags in the form in which they are kept and asked for, each once; empty ones are left out."""
    return tuple(dict.fromkeys(tag for text in texts if (tag := slug(text))))


def one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    """The value, which must be among those allowed."""
    if value not in allowed:
        raise InvalidParam(f"{name}: must be one of {', '.join(allowed)}")
    return value


def no_entry(entry_id: str, resolved: Resolved | None) -> NotFound:
    """What to raise for an entry that is not there, or not to be seen."""
    where = f" in project {resolved.project.id}" if resolved else ""
    return NotFound(f"no entry {quoted(entry_id)}{where}", project_id=resolved.project.id if resolved else None)


def masked(row: entries.Row) -> Entry:
    """The entry as it may be shown. Certain secrets are masked again on every way out, since rules get better after a
    text was kept; what the present rules let in needs no second look."""
    if row.secret_rules == SECRET_RULES:
        return row.entry
    from scaffale import secrets

    masked: dict[str, Any] = {field: secrets.mask(text) for field in _SHOWN if (text := getattr(row.entry, field))}
    if row.entry.metadata:
        masked["metadata"] = _masked_value(row.entry.metadata)
    return row.entry._replace(**masked)


def _masked_value(value: Any) -> Any:  # noqa: ANN401  (any value of JSON)
    from scaffale import secrets

    if isinstance(value, str):
        return secrets.mask(value)
    if isinstance(value, dict):
        return {name: _masked_value(each) for name, each in value.items()}
    return [_masked_value(each) for each in value] if isinstance(value, list) else value


_SHOWN = ("title", "content", "summary", "source_ref", "source_path", "source_uri", "invalidation_reason")
