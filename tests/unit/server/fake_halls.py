"""Small stand-ins for the two halls, with the shapes of their answers. They record what they were asked."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from scaffale.errors import InvalidParam, NotFound, StoreUnreadable
from scaffale.model import Count, Document, DocumentHit, Entry, EntryHit, Project, ScanReport, Shelf, Skip
from scaffale.server.mcp.halls import Halls

WHEN = "2026-01-02T03:04:05.678Z"
ESCAPE = "\x1b[31mred\x1b[0m \u202etxt"


class Status(NamedTuple):
    db_path: str
    project: Project | None
    project_id: str | None
    counts: dict
    features: dict
    lexical_backend: str
    warnings: tuple = ()


class Added(NamedTuple):
    project_id: str
    entry_id: str
    deduped: bool
    existing_entry_id: str | None
    similar_entries: tuple
    warnings: tuple = ()


class Found(NamedTuple):
    project_id: str | None
    results: tuple
    total: int
    next_offset: int | None = None
    hint: str | None = None
    scopes: tuple | None = None
    topics: tuple | None = None
    warnings: tuple = ()


class EntryAnswer(NamedTuple):
    project_id: str
    entry: Entry
    links: dict
    warnings: tuple = ()


class Invalidated(NamedTuple):
    project_id: str
    entry_id: str
    previous_status: str
    status: str
    invalidated_at: str
    changed: bool
    warnings: tuple = ()


class Names(NamedTuple):
    project_id: str
    status: str
    items: tuple
    warnings: tuple = ()


class EntryPage(NamedTuple):
    entries: tuple
    next_after: int | None


def entry(number: int, project: str = "home") -> Entry:
    return Entry(
        f"e{number}", project, "backend", "auth", f"Title {number}", f"Content {number} {ESCAPE}", None, "decision",
        "mantis:1", None, None, "0" * 64, "active", 0.8, 4, "tester", WHEN, WHEN, None, None, ("a", "b"),
    )  # fmt: skip


def entry_hit(number: int) -> EntryHit:
    return EntryHit(
        f"e{number}", "home", "backend", "auth", f"Title {number}", "the >>>token<<< expires", ("a",), "decision",
        None, "active", None, 3, WHEN, WHEN, 1.5,
    )  # fmt: skip


class FakeMemory:
    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.closed = False
        self.entries = 250
        self.gate = threading.Event()  # a search for "wait" stands here
        self.begun = threading.Event()

    def _note(self, name: str, given: dict[str, Any]) -> None:
        self.calls.append((name, given))
        if name not in ("status", "resolve") and not (given.get("project_path") or given.get("project_id")):
            raise InvalidParam("give project_path or project_id")

    def status(self, **given):
        self._note("status", given)
        project = given.get("project_id")
        return Status("/x/memory.sqlite", Project(project) if project else None, project, {"active": 1}, {"fts": True}, "tantivy")

    def add_entry(self, **given):
        self._note("add_entry", given)
        return Added("home", "e1", False, None, ())

    def search(self, **given):
        self._note("search", given)
        query = given["query"]
        if query == "wait":
            self.begun.set()
            assert self.gate.wait(30)
        if query == "crash":
            raise RuntimeError("a detail that nobody may see")
        if query == "panic":
            raise type("PanicException", (BaseException,), {})("called `Result::unwrap()` on an `Err` value")
        if query == "unreadable":
            raise StoreUnreadable("the store at /x is damaged", project_id="home")
        if query == "nothing":
            return Found("home", (), 0, hint="Check the docs.", scopes=(Count("backend", 2),), topics=(Count("auth", 1),))
        return Found("home", (entry_hit(1), entry_hit(2)), 5, 2, warnings=("limit was clamped",))

    def read_entry(self, **given):
        self._note("read_entry", given)
        if given["entry_id"] != "e1":
            raise NotFound(f"no entry {given['entry_id']}", project_id="home")
        return EntryAnswer("home", entry(1), {"outgoing": [], "incoming_count": 0})

    def invalidate_entry(self, **given):
        self._note("invalidate_entry", given)
        return Invalidated("home", given["entry_id"], "active", "invalidated", WHEN, True)

    def _names(self, name, **given):
        self._note(name, given)
        return Names(given.get("project_id") or "home", "active", (Count("one", 2), Count("two", 1)))

    def list_scopes(self, **given):
        return self._names("list_scopes", **given)

    def list_topics(self, **given):
        return self._names("list_topics", **given)

    def list_tags(self, **given):
        return self._names("list_tags", **given)

    def list_entries(self, project_id, *, scope=None, topic=None, after=0, limit=100):
        self.calls.append(("list_entries", {"project_id": project_id, "scope": scope, "topic": topic}))
        if scope == "empty" or project_id == "stranger":
            return EntryPage((), None)
        numbers = range(after + 1, min(after + limit, self.entries) + 1)
        last = numbers[-1] if numbers else after
        return EntryPage(tuple(entry(n, project_id) for n in numbers), last if last < self.entries else None)

    def resolve_project(self, project_path, project_id):
        self._note("resolve", {"project_path": project_path, "project_id": project_id})
        return Project(project_id or "home")

    def close(self):
        self.closed = True


class Shelves(NamedTuple):
    shelves: tuple
    warnings: tuple = ()


class DocumentList(NamedTuple):
    documents: tuple
    total: int
    next_offset: int | None = None
    warnings: tuple = ()


class DocsFound(NamedTuple):
    results: tuple
    total: int
    next_offset: int | None = None
    warnings: tuple = ()


class DocumentAnswer(NamedTuple):
    document: Document
    content: str
    start_line: int
    end_line: int
    heading_path: tuple | None = None
    warnings: tuple = ()


class Features(NamedTuple):
    lexical_backend: str
    features: dict
    warnings: tuple = ()


SHELF = Shelf(7, "Guides", None, "docs://shelf/7-guides", 2, WHEN, WHEN)


def document(number: int, **more) -> Document:
    return Document(
        number, f"Document {number}", f"/docs/d{number}.md", 7, "Guides", f"docs://document/{number}",
        f"docs://document/{number}", SHELF.uri, 10, 1234, (), WHEN,
    )._replace(**more)  # fmt: skip


class FakeDocs:
    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.closed = False
        self.documents = 120
        self.scanning = threading.Event()
        self.gate = threading.Event()  # a scan of "/slow" stands here
        self.stopped = threading.Event()

    def search(self, **given):
        self.calls.append(("search", given))
        hit = DocumentHit(
            3, "Document 3", "/docs/d3.md", 7, "Guides", "docs://document/3", "docs://document/3", SHELF.uri,
            ("Install", "Linux"), 4, 9, f"run >>>install<<< {ESCAPE}", 2.5, "same",
        )  # fmt: skip
        return DocsFound((hit,), 1, warnings=("the index is 3 changes behind",))

    def read_document(self, **given):
        self.calls.append(("read_document", given))
        if given["document_id"] == 404:
            raise NotFound("no document 404")
        return DocumentAnswer(document(given["document_id"], freshness="changed"), f"# Title\n\ntext {ESCAPE}\r\n", 1, 3)

    def list_documents(self, *, limit=10, offset=0, **given):
        self.calls.append(("list_documents", {**given, "limit": limit, "offset": offset}))
        numbers = range(offset + 1, min(offset + limit, self.documents) + 1)
        return DocumentList(tuple(document(n) for n in numbers), self.documents)

    def list_shelves(self):
        self.calls.append(("list_shelves", {}))
        return Shelves((SHELF,))

    def create_shelf(self, **given):
        self.calls.append(("create_shelf", given))
        return SHELF

    def scan_folder(self, *, progress=None, **given):
        self.calls.append(("scan_folder", given))
        if given["folder_path"] == "/slow":
            self.scanning.set()
            try:
                while not self.gate.wait(0.02):
                    progress(1, 100, "/slow/one.md")
            except BaseException:
                self.stopped.set()
                raise
        for number in range(1, 101):
            progress(number, 100, f"/docs/{number}\udce9.md")
        return ScanReport("Guides", seen=3, new=1, same=1, failed=1, failures=(Skip("/docs/x\udce9.md", "not text"),))

    def resync_all(self, *, progress=None, **given):
        self.calls.append(("resync_all", given))
        return (ScanReport("Guides", seen=1, same=1, warnings=("one",)), ScanReport("Notes", warnings=("two",)))

    def feature_status(self):
        return Features("tantivy", {"vector": False})

    def close(self):
        self.closed = True


class Opened(NamedTuple):
    """Halls over fakes, with the fakes at hand."""

    halls: Halls
    memory: FakeMemory
    docs: FakeDocs


def opened() -> Opened:
    memory, docs = FakeMemory(), FakeDocs()
    return Opened(Halls(lambda: memory, lambda: docs), memory, docs)
