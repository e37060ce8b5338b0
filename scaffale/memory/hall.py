"""All verbs of memory together, and those on the store as a whole.

Each verb resolves the project, checks what it was given, asks the rooms, and answers with one value. Reading creates
nothing, not even the store. What is refused is audited too, in a transaction of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.answers.memory import Bound, MemoryStatus
from scaffale.errors import NotFound
from scaffale.indexer import entries, projects
from scaffale.indexer.sync import NOT_PURGED
from scaffale.memory.access import Access
from scaffale.memory.capture import Capture
from scaffale.memory.carrying import Carrying
from scaffale.memory.exchange import Exchange
from scaffale.memory.handoff import Handoff
from scaffale.memory.verification import Verification
from scaffale.model import STATUSES

if TYPE_CHECKING:
    from scaffale.answers.life import Rebuilt
    from scaffale.model import Project

class Memory(Capture, Handoff, Exchange, Verification, Carrying, Access):
    """The operational memory of projects. Safe to share between threads; `close` lets go of files and threads."""

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
            if store[1].unpurged():
                warnings.append("deleted entries are still in the bytes of some file: scaffale maintain takes them out")
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
                "vector": self._meaning is not None,
                "audit_log": self._settings.audit_log,
            },
            lexical_backend=self._engine(),
            index_lag=index,
            sqlite_version=apsw.sqlite_lib_version(),
            wal_bytes=store[0].wal_bytes() if store else 0,
            warnings=tuple(warnings),
        )

    def rebuild_index(self) -> Rebuilt:
        """Build the index anew from the store, say what was wrong with the old one, and leave nothing of what was deleted
        in any file."""
        from scaffale.answers.life import Rebuilt

        store = self._store()
        if store is None:
            raise NotFound("there is no memory yet, and no index of it")
        database, projection = store
        damage = projection.damage()
        missing, surplus = projection.differences()
        before = projection.committed()
        rebuilt = projection.rebuild()
        gone = projection.purge()
        with database.read() as connection:
            count = entries.count_by_status(connection, None)["entries"]
        warnings = list(projection.warnings())
        if not rebuilt:
            warnings.append("another process writes the index, or it cannot be written here: it stays as it is")
        if gone is False:
            warnings.append(NOT_PURGED)
        return Rebuilt(
            self._engine(), rebuilt, count, missing, surplus, tuple(damage), before, gone is not False, tuple(warnings)
        )

    def bind_project(self, *, actor: str, project_path: str, project_id: str | None = None) -> Bound:
        """A person says that the folder belongs to the project that its `.env` claims, or to the one of `project_id`.

        Asked for where `MEMORY_PROJECT_BINDING=strict`; no tool of agents does this.
        """
        said = {"project_path": project_path}
        with self._audited("project_bind", actor, project_id, said) as trail:
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

    def resolve_project(self, project_path: str | None, project_id: str | None) -> Project:
        """Which project the arguments mean. Creates nothing."""
        return self._resolve(project_path, project_id).project
