"""The audit of one write, done or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.errors import ScaffaleError, StoreBusy, StoreUnreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from scaffale.indexer import audit
    from scaffale.indexer.projects import Resolved
    from scaffale.memory.room import Room


class Audited:
    """One audited write. `done` records success inside the change's own transaction; a refusal gets one of its own.

    Afterwards the row is mirrored, when a mirror is configured; `warnings` says when that failed.
    """

    def __init__(
        self,
        room: Room,
        operation: str,
        actor: str,
        project_id: str | None,
        said: dict[str, Any],
        entry_id: str | None = None,
    ) -> None:
        self._room = room
        self._operation = operation
        self._actor = actor
        self._given_id = project_id
        self._said = {key: value for key, value in said.items() if value is not None}
        self._entry_id = entry_id
        self._row: audit.AuditRow | None = None
        self.resolved: Resolved | None = None
        self.warnings: tuple[str, ...] = ()

    def __enter__(self) -> Audited:
        return self

    def done(
        self, connection: apsw.Connection, *, result: dict[str, Any], entry_id: str | None = None, always: bool = False
    ) -> None:
        """The change is made: record it in its own transaction; `always`, even where the audit is off."""
        self._entry_id = entry_id
        self._record(connection, "ok", None, result, always=always)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ScaffaleError):
            self._refused(error)
        mirror = self._room._settings.audit_jsonl
        if self._row and mirror:
            from scaffale.indexer import audit

            warning = audit.mirror(mirror, self._row)
            self.warnings = (warning,) if warning else ()

    def _refused(self, error: ScaffaleError) -> None:
        if error.audited:
            return
        error.audited = True
        if error.project_id is None and self.resolved:
            error.project_id = self.resolved.project.id
        if isinstance(error, StoreBusy | StoreUnreadable):
            return  # a second try would only wait as long again
        store = self._room._store()
        if store is None or store[0].read_only:
            return
        from scaffale import secrets

        try:
            with store[0].write() as connection:
                self._record(connection, "refused", error.code, {}, shown=secrets.mask)
        except ScaffaleError:
            self._row = None  # the store cannot be written: that is what the caller is being told already

    def _record(
        self,
        connection: apsw.Connection,
        outcome: str,
        code: str | None,
        result: dict[str, Any],
        *,
        always: bool = False,
        shown: Callable[[str], str] = str,  # how ids are written down: what was refused may hold anything in their place
    ) -> None:
        settings = self.resolved.settings if self.resolved else self._room._settings
        if settings.audit_log or always:
            from scaffale.indexer import audit

            project_id = self.resolved.project.id if self.resolved else self._given_id
            self._room._audit_key = self._room._audit_key or audit.store_key(connection)
            self._row = audit.record(
                connection,
                self._room._audit_key,
                operation=self._operation,
                project_id=project_id and shown(project_id),
                entry_id=self._entry_id and shown(self._entry_id),
                actor=self._actor,
                outcome=outcome,
                error_code=code,
                params=self._said,
                result=result,
            )
