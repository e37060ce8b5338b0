"""Who is this project: an id for a folder, the same id for every clone, worktree and subfolder of it.

Order: the id that the caller gives, `MEMORY_PROJECT_ID` of the project's `.env`, the Git remote, a hash of the path.
A folder inside a repository belongs to the repository and takes its id; an explicit id is the way to hard isolation.
Resolving never writes; a write registers the project and remembers the folder.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound
from scaffale.indexer import clock
from scaffale.model import Project
from scaffale.settings import DomainKeys, for_project

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from scaffale.indexer.repository import Repository
    from scaffale.settings import Settings

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Known(NamedTuple):
    """A project as the store has it. `folders` are the folders bound to its id, oldest first."""

    project: Project
    folders: tuple[str, ...]


class Resolved(NamedTuple):
    """A project, the settings in force for it, and what its `.env` says of it.

    `roots` are where path arguments may lead: the allowed roots, else `folder`, else nowhere. `folder` is the real
    `project_path`, absent without one; relative path arguments start there. `remember` goes to `register`, which has
    nothing to do when the project is `registered` as it is.
    """

    project: Project
    settings: Settings
    keys: DomainKeys = DomainKeys()
    warnings: tuple[str, ...] = ()
    folder: str | None = None
    roots: tuple[str, ...] = ()
    remember: bool = True
    registered: bool = False


# --- resolving -----------------------------------------------------------------------------------------------------


def resolve(
    settings: Settings,
    *,
    project_path: str | None = None,
    project_id: str | None = None,
    known: Callable[[str], Known | None] | None = None,
) -> Resolved:
    """The project that a call is about. Writes nothing.

    `known` looks an id up in the store (`find`). Raises `InvalidParam` when neither argument is given or one of them
    is not acceptable, `LimitExceeded` for an id too long, `Conflict` under `MEMORY_PROJECT_BINDING=strict` when the
    `.env` of an unbound folder claims the id of a known project.
    """
    if project_id is not None:
        _check_id(project_id, "project_id", settings)
    if project_path is None:
        if project_id is None:
            raise InvalidParam("give project_path (the folder of the project) or project_id")
        stored = known(project_id) if known else None
        project = stored.project._replace(canonical_path=None) if stored else Project(project_id)
        return Resolved(project, settings, roots=settings.memory_allowed_roots, registered=stored is not None)
    from scaffale.indexer import paths, repository

    folder = paths.resolve_project_path(project_path, settings.memory_allowed_roots)
    found = repository.around(folder)
    remote = repository.remote(found) if found else None
    effective, keys, warnings = for_project(settings, folder, top=found and found.top)
    if project_id is not None:
        name, home = project_id, folder
    elif keys.project_id is not None and keys.claimed_by is not None:
        _check_id(keys.project_id, f"MEMORY_PROJECT_ID in the .env of {keys.claimed_by}", settings)
        name, home = keys.project_id, keys.claimed_by
    else:
        name, home = _own_id(folder, found, remote, settings.max_project_id_chars)
    stored = known(name) if known else None
    if stored and name == keys.project_id != f"git:{remote}" and project_id is None and home not in stored.folders:
        warnings = (*warnings, _claim(stored, home, strict=settings.project_binding == "strict"))
    project = Project(name, _display_name(name, keys, stored, home), home, remote, stored is not None)
    return Resolved(
        project,
        effective,
        keys,
        warnings,
        folder,
        effective.memory_allowed_roots or (folder,),
        remember=project_id is None or stored is None or settings.project_binding != "strict",
        registered=stored is not None and home in stored.folders and project == stored.project._replace(canonical_path=home),
    )


def _own_id(folder: str, found: Repository | None, remote: str | None, max_chars: int) -> tuple[str, str]:
    """The id that a folder has by itself, and the folder that it stands for: the top of the repository around it."""
    if found is None:
        return path_id(folder), folder
    if remote is not None and len("git:") + len(remote) <= max_chars:
        return f"git:{remote}", found.top
    return path_id(found.home), found.top


def _display_name(id: str, keys: DomainKeys, stored: Known | None, home: str) -> str:
    if keys.display_name and keys.project_id in (None, id):  # a folder that is another project does not rename this one
        return keys.display_name
    return (stored and stored.project.display_name) or os.path.basename(home) or home


def path_id(path: str) -> str:
    """The id of a folder without a remote: 16 hex digits of its real path's hash, by the system's rules for case."""
    return "pathhash:" + _sha256(os.fsencode(os.path.normcase(path)))[:16]


def _sha256(data: bytes) -> str:
    for name in ("_sha2", "_sha256"):  # what `hashlib` stands on, without the two milliseconds of its OpenSSL
        try:
            digest: str = __import__(name).sha256(data).hexdigest()
        except ImportError:
            continue
        return digest
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _check_id(id: str, name: str, settings: Settings) -> None:
    if not id or id.isspace():
        raise InvalidParam(f"{name} is empty")
    if len(id) > settings.max_project_id_chars:
        raise LimitExceeded(f"{name} has {len(id)} characters; at most {settings.max_project_id_chars} are allowed")
    if _CONTROL.search(id):
        raise InvalidParam(f"{name} holds a control character or a line break")


def _claim(stored: Known, folder: str, *, strict: bool) -> str:
    """The warning about a folder that names itself as a known project. Raises `Conflict` when that is not enough."""
    bound = ", ".join(stored.folders) or "no folder yet"
    text = (
        f"the .env of {folder} claims project {stored.project.id}, to which this folder has not belonged before"
        f" (bound to it: {bound})"
    )
    if strict:
        raise Conflict(f"{text}; a person must bind it: scaffale project bind --project {folder}", project_id=stored.project.id)
    return f"{text}; if that is not intended, give an explicit project_id"


# --- the store -----------------------------------------------------------------------------------------------------


def create(connection: apsw.Connection) -> None:
    """The tables, as part of the store's first migration."""
    connection.execute(
        "CREATE TABLE projects (id TEXT PRIMARY KEY, canonical_path TEXT, display_name TEXT, git_remote TEXT,"
        " created_at TEXT NOT NULL, updated_at TEXT NOT NULL, metadata_json TEXT) STRICT"
    )
    connection.execute(
        "CREATE TABLE project_folders (project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,"
        " path TEXT NOT NULL, seen_at TEXT NOT NULL, PRIMARY KEY (project_id, path)) STRICT, WITHOUT ROWID"
    )


def find(connection: apsw.Connection, id: str) -> Known | None:
    """A project by id, with its folders; `None` when nothing was ever written for it."""
    rows: list[Any] = connection.execute(
        "SELECT display_name, canonical_path, git_remote, seen_at, path FROM projects"
        " LEFT JOIN project_folders ON project_id = id WHERE id = ?",
        (id,),
    ).fetchall()
    if not rows:
        return None
    name, path, remote, *_ = rows[0]
    folders = sorted((seen_at, folder) for *_, seen_at, folder in rows if folder is not None)
    return Known(Project(id, name, path, remote, True), tuple(folder for _, folder in folders))


def summaries(connection: apsw.Connection) -> list[tuple[Project, int, int, str | None]]:
    """Every project with how many entries it has, how many of them are active, and when one changed last; the newest first."""
    return [
        (Project(id, name, path, remote, True), entries, active or 0, last)
        for id, name, path, remote, entries, active, last in connection.execute(
            "SELECT p.id, display_name, canonical_path, git_remote, count(e.rid), sum(e.status = 'active'), max(e.updated_at)"
            " FROM projects AS p LEFT JOIN memory_entries AS e ON e.project_id = p.id"
            " GROUP BY p.id ORDER BY 7 DESC NULLS LAST, p.id"
        )
    ]


def register(connection: apsw.Connection, project: Project, now: str, *, remember: bool = True) -> None:
    """Make the project known and remember its folder. Call it inside a write transaction, before the first row.

    What is already so is not written again; the first folder stays the canonical path. `SecretDetected` when the id or the
    name that the project is to bear holds one.
    """
    from scaffale.indexer.shelves import refuse_secret

    refuse_secret("project_id", project.id)
    refuse_secret("name of the project", project.display_name or "")
    connection.execute(
        "INSERT INTO projects (id, canonical_path, display_name, git_remote, created_at, updated_at)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (id) DO UPDATE SET"
        " canonical_path = coalesce(canonical_path, ?2), display_name = coalesce(?3, display_name),"
        " git_remote = coalesce(?4, git_remote), updated_at = ?5"
        " WHERE canonical_path IS NOT coalesce(canonical_path, ?2) OR display_name IS NOT coalesce(?3, display_name)"
        " OR git_remote IS NOT coalesce(?4, git_remote)",
        (project.id, project.canonical_path, project.display_name, project.git_remote, now),
    )
    if remember and project.canonical_path is not None:
        connection.execute(
            "INSERT OR IGNORE INTO project_folders (project_id, path, seen_at) VALUES (?, ?, ?)",
            (project.id, project.canonical_path, now),
        )


def bind(connection: apsw.Connection, id: str, path: str) -> None:
    """A person says that the folder (a real path) belongs to the project. Raises `NotFound` for an unknown project."""
    if find(connection, id) is None:
        raise NotFound(f"no project {id} in this store", project_id=id)
    connection.execute(
        "INSERT OR IGNORE INTO project_folders (project_id, path, seen_at) VALUES (?, ?, ?)", (id, path, clock.now())
    )
