"""What one caller may do: which projects, whether to write, whether to name paths, and how paths are told to it.

Whoever started the server on stdio may do what they may do anyway (`LOCAL`). A caller over HTTP is known by its token; its
calls are checked here, before any verb is asked. Rules of this file: it knows names of arguments, no store and no wire.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam, LimitExceeded, NotFound, quoted
from scaffale.server.hooks import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scaffale.server.halls import Halls
    from scaffale.settings import Settings

MEMORY_PATHS = ("project_path", "source_path", "save_path", "import_path")
DOCS_PATHS = ("file_path", "folder_path", "save_path", "import_path")
TOLD_AS_PATHS = frozenset(
    ("file_path", "db_path", "canonical_path", "source_path", "save_path", "import_path", "backup", "folder", "missing_files")
)


class Access(NamedTuple):
    """What a caller may do. `projects` `None` means every project, `name` is who it is for the audit, `None` for whoever
    the client says. With `remote` paths are refused where no roots bound them, and told relative."""

    name: str | None = None
    projects: tuple[str, ...] | None = None
    read_only: bool = False
    remote: bool = False
    settings: Settings | None = None
    pace: Pace | None = None

    def arguments(self, tool: str, domain: str, given: Mapping[str, Any], halls: Halls) -> dict[str, Any]:
        """The arguments with which the call may go on: the only project of the token is filled in. Raises what the caller
        is to be told otherwise."""
        allowed = dict(given)
        if not self.remote:
            return allowed
        if calls.changes(tool, given):
            if self.read_only:
                raise InvalidParam(f"this token may only read; {tool} as it was called would write")
            if self.pace:
                self.pace.spend(self.name or "")
        self._check_paths(allowed, domain)
        if domain != "docs" and self.projects is not None:
            allowed |= self._project(allowed, halls)
        return allowed

    def reaches(self, project_id: str) -> bool:
        """Whether it may see that project."""
        return self.projects is None or project_id in self.projects

    def check(self, project_id: str) -> None:
        """Raise `NotFound` for a project out of reach, in the same words as for one that is not there."""
        if not self.reaches(project_id):
            raise NotFound(f"no project {quoted(project_id)} for this token", project_id=project_id)

    def _check_paths(self, given: Mapping[str, Any], domain: str) -> None:
        assert self.settings is not None
        roots = self.settings.docs_allowed_roots if domain == "docs" else self.settings.memory_allowed_roots
        named = [name for name in (DOCS_PATHS if domain == "docs" else MEMORY_PATHS) if given.get(name) is not None]
        if named and not roots:
            key = "DOCS_ALLOWED_ROOTS" if domain == "docs" else "MEMORY_ALLOWED_ROOTS"
            instead = "; give project_id" if named == ["project_path"] else ""
            raise InvalidParam(f"{named[0]}: this server takes no paths: whoever runs it has set no {key}{instead}")

    def _project(self, given: Mapping[str, Any], halls: Halls) -> dict[str, Any]:
        """The project of the call, checked. A call that names none means the only one of the token."""
        assert self.projects is not None
        if given.get("mode") == "cross_project":
            raise InvalidParam(f"mode: this token is for {', '.join(self.projects)}; it may not cross projects")
        path, id = given.get("project_path"), given.get("project_id")
        if path is None and id is None:
            if len(self.projects) == 1:
                return {"project_id": self.projects[0]}
            raise InvalidParam(f"project_id: this token is for {', '.join(self.projects)}; say which is meant")
        if not isinstance(path, str | None) or not isinstance(id, str | None):
            return {}  # the schema refuses it
        self.check(halls.memory.resolve_project(path, id).id)
        return {}


LOCAL = Access()


class Pace:
    """How often each caller may write: so many times a minute, with as many saved up. Safe to share between threads."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def spend(self, caller: str) -> None:
        """Count one write. Raises `LimitExceeded` when there are too many."""
        now = self._clock()
        with self._lock:
            left, at = self._left.get(caller, (self._most, now))
            left = min(self._most, left + (now - at) * self._most / 60)
            self._left[caller] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            raise LimitExceeded(f"more than {self._most:.0f} writes a minute; wait some seconds, then call again")


class Places:
    """How paths of this machine are told to somebody else: relative to the shelf, the project or the store they lie in."""

    def __init__(self, settings: Settings, halls: Halls) -> None:
        self._halls = halls
        self._fixed = {*settings.memory_allowed_roots, *settings.docs_allowed_roots}
        self._fixed |= {os.path.dirname(settings.memory_db_path), os.path.dirname(settings.docs_db_path)}
        self._known: tuple[float, tuple[str, ...]] = (float("-inf"), ())

    def told(self, structure: dict[str, Any]) -> dict[str, Any]:
        """An answer as data, with its paths relative. Stored text stays as it is."""
        roots = self._roots()
        shown: dict[str, Any] = _told(structure, roots, None)
        return shown

    def words(self, text: str) -> str:
        """An error or a warning, with paths of ours relative."""
        return _shorter(text, self._roots())

    def _roots(self) -> tuple[str, ...]:
        at, roots = self._known
        if time.monotonic() - at > 5:
            found = self._fixed | set(self._halls.docs.source_roots())
            found |= {each.project.canonical_path or "" for each in self._halls.memory.list_projects().projects}
            roots = tuple(sorted((root for root in found if len(root) > 1), key=len, reverse=True))
            self._known = (time.monotonic(), roots)
        return roots


def _told(value: Any, roots: tuple[str, ...], name: str | None) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _told(each, roots, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_told(each, roots, name) for each in value]
    if isinstance(value, str):
        if name in TOLD_AS_PATHS:
            return relative(value, roots)
        if name in ("warnings", "reason", "hint", "skipped"):
            return _shorter(value, roots)
    return value


def relative(path: str, roots: tuple[str, ...]) -> str:
    """The path below the longest root that it lies in; its last part alone when it lies in none."""
    if not os.path.isabs(path):
        return path
    for root in roots:
        if path.startswith(root.rstrip(os.sep) + os.sep):
            return path[len(root.rstrip(os.sep)) + 1 :]
    return os.path.basename(path.rstrip(os.sep))


def _shorter(text: str, roots: tuple[str, ...]) -> str:
    for root in roots:
        text = text.replace(root.rstrip(os.sep) + os.sep, "").replace(root, os.path.basename(root) or "it")
    return text
