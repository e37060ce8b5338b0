"""What hosts can browse and attach: documents, shelves and the memory of one project, by URI.

Rules of this file: it asks the halls what the tools ask, so the same isolation holds, and everything here can be had
through a tool too. Lists name things and never carry their text. Memory is listed and completed only for the project
that the server was started for; a server without one offers templates, and reads the projects that a URI names.
"""

from __future__ import annotations

import json
import re
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam, NotFound, quoted
from scaffale.server.mcp.access import LOCAL
from scaffale.server.render import plain, structured, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scaffale.server.halls import Halls
    from scaffale.server.mcp.access import Access, Places

PAGE = 100  # resources in one answer of a list
LISTED = 100  # members named when a shelf, a scope or a topic is read
COMPLETED = 100  # the protocol's limit

JSON, MARKDOWN = "application/json", "text/markdown"

SHELF = "docs://shelf/{id}-{slug}"
DOCUMENT = "docs://document/{id}"
ENTRY = "memory://entry/{entry_id}"
HISTORY = "memory://entry/{entry_id}/history"
PROJECT = "memory://project/{project_id}"
SCOPE = "memory://project/{project_id}/scope/{scope}"
TOPIC = "memory://project/{project_id}/topic/{topic}"

_TEMPLATES = (
    ("docs", SHELF, "shelf", "Shelf", "A shelf and the documents on it", JSON),
    ("docs", DOCUMENT, "document", "Document", "The text of an indexed document", MARKDOWN),
    ("memory", ENTRY, "entry", "Memory entry", "A memory entry of the server's project", JSON),
    ("memory", HISTORY, "history", "History of a memory entry", "What happened to an entry, oldest first", JSON),
    ("memory", PROJECT, "project", "Project memory", "What memory holds for a project: counts, scopes, topics", JSON),
    ("memory", SCOPE, "scope", "Memory scope", "The entries of a scope, without their text", JSON),
    ("memory", TOPIC, "topic", "Memory topic", "The entries of a topic, without their text", JSON),
)

_DOCUMENT = re.compile(r"docs://document/(\d{1,15})")
_SHELF = re.compile(r"docs://shelf/(\d{1,15})(?:-[^/]*)?")
_ENTRY = re.compile(r"memory://entry/([^/]+)")
_HISTORY = re.compile(r"memory://entry/([^/]+)/history")
_PROJECT = re.compile(r"memory://project/(.+?)(?:/(scope|topic)/([^/]+))?")


class Home(NamedTuple):
    """The project that a server was started for, as given: a folder, or a project id."""

    project_path: str | None
    project_id: str | None

    @classmethod
    def of(cls, given: str) -> Home:
        """Read `PATH|ID`: what looks like a path or is a folder is one; anything else is an id."""
        import os

        if given.startswith(("git:", "pathhash:")):
            return cls(None, given)
        path = os.path.abspath(os.path.expanduser(given))
        looks_like_path = given.startswith((".", "~")) or os.path.isabs(given)
        return cls(path, None) if looks_like_path or os.path.isdir(path) else cls(None, given)


class Catalogue:
    """Lists, reads and completes resources. Its methods block, and return results as the protocol writes them."""

    def __init__(self, halls: Halls, home: Home | None, domains: Iterable[str], places: Places | None = None) -> None:
        self._halls = halls
        self.home = home
        self._domains = frozenset(domains)
        self._home_id: str | None = None
        self._places = places
        self._access = LOCAL

    def seen_by(self, access: Access) -> Catalogue:
        """The same as this caller sees it."""
        if access is LOCAL:
            return self
        seen = copy(self)
        seen._access = access
        return seen

    # --- lists ------------------------------------------------------------------------------------------------------

    def templates(self) -> dict[str, Any]:
        """All templates of the domains that are served."""
        listed = [
            {"uriTemplate": uri, "name": name, "title": title, "description": description, "mimeType": mime}
            for domain, uri, name, title, description, mime in _TEMPLATES
            if domain in self._domains
        ]
        return {"resourceTemplates": listed}

    def page(self, cursor: str | None) -> dict[str, Any]:
        """One page of the list. Raises `InvalidParam` for a cursor that this list never gave out."""
        listers = self._listers()
        which, after = _decoded(cursor) if cursor is not None else (0, "")
        if which >= max(len(listers), 1):
            raise _bad_cursor()
        resources: list[dict[str, Any]] = []
        for number in range(which, len(listers)):
            found, going_on = listers[number](after, PAGE - len(resources))
            resources += found
            if going_on is not None:
                return {"resources": resources, "nextCursor": _encoded(number, going_on)}
            after = ""
        return {"resources": resources}

    def _listers(self) -> list[Callable[[str, int], tuple[list[dict[str, Any]], str | None]]]:
        listers: list[Callable[[str, int], tuple[list[dict[str, Any]], str | None]]] = []
        if "docs" in self._domains:
            listers += [self._list_shelves, self._list_documents]
        if "memory" in self._domains and self._at_home():
            listers += [self._list_project, self._list_entries]
        return listers

    def _list_shelves(self, after: str, room: int) -> tuple[list[dict[str, Any]], str | None]:
        shelves = self._halls.docs.list_shelves().shelves
        return _slice([_listed(s.uri, s.name, s.name, JSON) for s in shelves], after, room)

    def _list_documents(self, after: str, room: int) -> tuple[list[dict[str, Any]], str | None]:
        if not room:
            return [], after or "0"
        answer = self._halls.docs.list_documents(limit=room, offset=_number(after))
        listed = [
            _listed(d.uri, d.file_path.replace("\\", "/").rpartition("/")[2], d.title, MARKDOWN, size=d.size)
            for d in answer.documents
        ]
        return listed, None if answer.next_offset is None else str(answer.next_offset)

    def _list_project(self, after: str, room: int) -> tuple[list[dict[str, Any]], str | None]:
        project = self.home_project()
        base = PROJECT.format(project_id=_quoted(project))
        listed = [_listed(base, project, f"Memory of {project}", JSON)]
        for kind, names in (("scope", self._names("scopes")), ("topic", self._names("topics"))):
            listed += [_listed(f"{base}/{kind}/{_quoted(name)}", name, f"{kind} {name}", JSON) for name in names]
        return _slice(listed, after, room)

    def _list_entries(self, after: str, room: int) -> tuple[list[dict[str, Any]], str | None]:
        if not room:
            return [], after or "0"
        found = self._halls.memory.list_entries(self.home_project(), after=_number(after), limit=room)
        listed = [
            _listed(ENTRY.format(entry_id=_quoted(e.id)), e.id, e.title or f"{e.scope}/{e.topic}", JSON)
            for e in found.entries
        ]
        return listed, None if found.next_after is None else str(found.next_after)

    # --- reading ----------------------------------------------------------------------------------------------------

    def read(self, uri: str) -> dict[str, Any]:
        """The contents behind a URI. Raises `NotFound` for anything that is not there or not to be seen here."""
        for domain, pattern, reader in (
            ("docs", _DOCUMENT, self._read_document),
            ("docs", _SHELF, self._read_shelf),
            ("memory", _ENTRY, self._read_entry),
            ("memory", _HISTORY, self._read_history),
            ("memory", _PROJECT, self._read_project),
        ):
            match = pattern.fullmatch(uri)
            if match and domain in self._domains:
                return {"contents": [{"uri": uri, **reader(*match.groups())}]}
        raise NotFound(f"no resource {visible(quoted(uri, 200))}")

    def _read_document(self, number: str) -> dict[str, Any]:
        answer = self._halls.docs.read_document(document_id=int(number))
        about = {"scaffale/freshness": answer.freshness, "scaffale/warnings": plain(answer.warnings)}
        return {"mimeType": MARKDOWN, "text": plain(answer.content), "_meta": about}

    def _read_shelf(self, number: str) -> dict[str, Any]:
        docs = self._halls.docs
        shelf = next((s for s in docs.list_shelves().shelves if s.id == int(number)), None)
        if shelf is None:
            raise NotFound(f"no shelf {number}")
        documents = plain(docs.list_documents(shelf=shelf.uri, limit=LISTED))
        return self._json({"shelf": plain(shelf), **documents})

    def _read_entry(self, entry: str) -> dict[str, Any]:
        entry_id = _unquoted(entry)
        if self.home is None:
            raise NotFound("entries are resources of a server started with --project; use memory_read_entry")
        answer = self._halls.memory.read_entry(entry_id=entry_id, project_path=None, project_id=self.home_project())
        return self._json(structured(answer))

    def _read_history(self, entry: str) -> dict[str, Any]:
        if self.home is None:
            raise NotFound("entries are resources of a server started with --project; use memory_read_entry")
        memory = self._halls.memory
        return self._json(structured(memory.entry_history(entry_id=_unquoted(entry), project_id=self.home_project())))

    def _read_project(self, project: str, kind: str | None, name: str | None) -> dict[str, Any]:
        project_id = _unquoted(project)
        if self.home is not None and project_id != self.home_project():
            raise NotFound(f"this server is for another project than {visible(quoted(project_id, 200))}")
        self._access.check(project_id)
        memory = self._halls.memory
        if kind is None or name is None:
            about = structured(memory.status(project_id=project_id))
            for noun, ask in (("scopes", memory.list_scopes), ("topics", memory.list_topics)):
                about[noun] = plain(ask(project_path=None, project_id=project_id).items)
            return self._json(about)
        place = _unquoted(name)
        scope, topic = (place, None) if kind == "scope" else (None, place)
        found = memory.list_entries(project_id, scope=scope, topic=topic, limit=LISTED)
        if not found.entries:
            raise NotFound(f"no entries in the {kind} {visible(quoted(place, 200))}")
        entries = [_without_text(plain(entry)) for entry in found.entries]
        return self._json({"project_id": project_id, "entries": entries, "complete": found.next_after is None})

    # --- completion -------------------------------------------------------------------------------------------------

    def candidates(self, template: str, argument: str, begun: str) -> list[str]:
        """Values for a variable of a template; of entries only those that begin like this."""
        if template == SHELF and "docs" in self._domains and argument in {"id", "slug"}:
            ends = [shelf.uri.removeprefix("docs://shelf/") for shelf in self._halls.docs.list_shelves().shelves]
            return [end.partition("-")[0 if argument == "id" else 2] for end in ends]
        if "memory" not in self._domains or not self._at_home() or not template.startswith("memory://"):
            return []
        if argument == "project_id":
            return [self.home_project()]
        if argument in {"scope", "topic"}:
            return self._names(f"{argument}s")
        if argument == "entry_id":
            return list(self._halls.memory.entry_ids(self.home_project(), begun))
        return []

    # --- the server's project ---------------------------------------------------------------------------------------

    def home_project(self) -> str:
        """The id of the project that the server was started for."""
        if self._home_id is None:
            assert self.home is not None
            self._home_id = self._halls.memory.resolve_project(*self.home).id
        self._access.check(self._home_id)
        return self._home_id

    def _at_home(self) -> bool:
        """Whether the server was started for a project, and this caller may see it."""
        if self.home is None:
            return False
        try:
            self.home_project()
        except NotFound:
            return False
        return True

    def _json(self, value: dict[str, Any]) -> dict[str, Any]:
        told = self._places.told(value) if self._places else value
        return {"mimeType": JSON, "text": json.dumps(told, ensure_ascii=False)}

    def _names(self, kind: str) -> list[str]:
        listing = getattr(self._halls.memory, f"list_{kind}")(project_path=None, project_id=self.home_project())
        return [each.name for each in listing.items]


# --- pieces ---------------------------------------------------------------------------------------------------------


def completed(candidates: list[str], begun: str) -> dict[str, Any]:
    """Those of the candidates that begin like this, at most a hundred, as the protocol writes it."""
    values = [value for value in candidates if value.lower().startswith(begun.lower())]
    first = values[:COMPLETED]
    return {"completion": {"values": first, "total": len(values), "hasMore": len(values) > len(first)}}


def _listed(uri: str, name: str, title: str, mime: str, size: int | None = None) -> dict[str, Any]:
    resource = {"uri": uri, "name": visible(name), "title": visible(title), "mimeType": mime}
    return resource if size is None else {**resource, "size": size}


def _without_text(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in {"content", "content_sha256"}}


def _slice(items: list[dict[str, Any]], after: str, room: int) -> tuple[list[dict[str, Any]], str | None]:
    start = _number(after)
    end = start + room
    return items[start:end], str(end) if end < len(items) else None


def _number(after: str) -> int:
    if not after:
        return 0
    if not after.isdecimal() or len(after) > 15:
        raise _bad_cursor()
    return int(after)


def _encoded(which: int, after: str) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(f"{which}:{after}".encode()).decode()


def _decoded(cursor: str) -> tuple[int, str]:
    from base64 import urlsafe_b64decode

    try:
        which, colon, after = urlsafe_b64decode(cursor.encode("ascii")).decode().partition(":")
    except ValueError:
        raise _bad_cursor() from None
    if not colon or which not in {"0", "1", "2", "3"}:
        raise _bad_cursor()
    return int(which), after


def _bad_cursor() -> InvalidParam:
    return InvalidParam("cursor is not one that this server gave out; list again from the start")


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def _unquoted(text: str) -> str:
    from urllib.parse import unquote

    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise NotFound("the URI holds an escape that is not UTF-8") from None
    if "\0" in decoded:
        raise NotFound("the URI holds a NUL character")
    return decoded
