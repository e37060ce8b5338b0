"""Small stand-ins for the two halls, with the shapes of their answers. They record what they were asked."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from scaffale.answers.docs import (
    DocsSearch,
    DocsStatus,
    DocumentAnswer,
    DocumentList,
    Match,
    Removed,
    ShelfAnswer,
    ShelfList,
)
from scaffale.answers.memory import (
    AddedEntry,
    EntryAnswer,
    EntryPage,
    Invalidated,
    MemorySearch,
    MemoryStatus,
    Names,
    SimilarEntry,
)
from scaffale.errors import InvalidParam, NotFound, StoreUnreadable
from scaffale.model import Count, Document, DocumentHit, Entry, EntryHit, Project, ScanReport, Shelf, Skip
from scaffale.server.halls import Halls

WHEN = "2026-01-02T03:04:05.678Z"
ESCAPE = "\x1b[31mred\x1b[0m \u202etxt"


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


def found(results, total, next_offset, hint, scopes, topics, warnings) -> MemorySearch:
    return MemorySearch(
        "home", "project", "active", None, None, results, total, next_offset, "tantivy", 0, hint, scopes, topics, warnings
    )


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
        known = Project(project) if project else None
        return MemoryStatus(
            "/x/memory.sqlite", True, known, project, {"active": 1}, {"fts": True}, "tantivy", {"lag": 0}, "3.51.3", 0, ()
        )

    def add_entry(self, **given):
        self._note("add_entry", given)
        if given["content"] == "again":
            return AddedEntry("home", "e1", "backend", given["topic"], (), True, "e1", (), ())
        similar = (SimilarEntry("e9", "backend", "auth", None, 0.75),)
        return AddedEntry("home", "e1", "backend", given["topic"], (), False, None, similar, ("1 active entry is similar",))

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
            exist = (Count("backend", 2),), (Count("auth", 1),)
            return found((), 0, None, "Check the docs.", *exist, ())
        return found((entry_hit(1), entry_hit(2)), 5, 2, None, None, None, ("limit was clamped",))

    def read_entry(self, **given):
        self._note("read_entry", given)
        if given["entry_id"] != "e1":
            raise NotFound(f"no entry {given['entry_id']}", project_id="home")
        return EntryAnswer("home", entry(1), {"outgoing": [], "incoming_count": 0}, ())

    def invalidate_entry(self, **given):
        self._note("invalidate_entry", given)
        return Invalidated("home", given["entry_id"], "active", "invalidated", WHEN, given["entry_id"] == "e1", ())

    def _names(self, name, **given):
        self._note(name, given)
        return Names(given.get("project_id") or "home", "active", None, None, (Count("one", 2), Count("two", 1)), ())

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

    def entry_ids(self, project_id, begun="", limit=1_000):
        self.calls.append(("entry_ids", {"project_id": project_id}))
        return tuple(each for each in ("e1", "e2", "f1") if each.startswith(begun))

    def resolve_project(self, project_path, project_id):
        self._note("resolve", {"project_path": project_path, "project_id": project_id})
        return Project(project_id or "home")

    def close(self):
        self.closed = True


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
        if given["query"] == "nothing":
            return DocsSearch((), None, 0, "tantivy", 0, "Other words may.", ("Guides", "Notes"), ())
        return DocsSearch((hit,), 10, 4, "tantivy", 3, None, None, ("the index is 3 changes behind",))

    def read_document(self, **given):
        self.calls.append(("read_document", given))
        if given["document_id"] == 404:
            raise NotFound("no document 404")
        text = f"# Title\n\ntext {ESCAPE}\r\n"
        about = document(given["document_id"])
        matches = (Match(3, 2, 3, "\ntext"),) if "search_string" in given else None
        return DocumentAnswer(
            about.id, about.title, about.file_path, about.shelf_id, about.shelf_name, {"id": 7}, about.uri, about.uri,
            about.shelf_uri, (), "changed", WHEN, 10, 1, 3, text, None, None, (("Title", "Linux"),), matches,
            {"outgoing": [], "incoming_count": 0}, ("the file has changed since it was indexed",),
        )  # fmt: skip

    def list_documents(self, *, limit=10, offset=0, **given):
        self.calls.append(("list_documents", {**given, "limit": limit, "offset": offset}))
        numbers = range(offset + 1, min(offset + limit, self.documents) + 1)
        following = offset + limit if offset + limit < self.documents else None
        return DocumentList(tuple(document(n) for n in numbers), self.documents, following, ())

    def list_shelves(self):
        self.calls.append(("list_shelves", {}))
        return ShelfList((SHELF,), ())

    def create_shelf(self, **given):
        self.calls.append(("create_shelf", given))
        return ShelfAnswer(SHELF, ())

    def remove_shelf(self, *, shelf):
        return Removed(shelf, None, 3, ())

    def remove_document(self, *, document_id):
        return Removed("Guides", document_id, 1, ())

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
        return DocsStatus("/x/docs.sqlite", True, {"vector": False}, {"documents": 3}, "tantivy", {"lag": 0}, "3.51.3", 0, ())

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
