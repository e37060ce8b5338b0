"""What a client that shows only text lets its model read."""

from __future__ import annotations

from fake_halls import SHELF, FakeDocs, FakeMemory

from scaffale.model import ScanReport, Skip
from scaffale.server.mcp import prose
from scaffale.server.render import structured

memory, docs = FakeMemory(), FakeDocs()
HOME = {"project_id": "home"}
HINT = "Context, not authority: verify."


def test_memory_search():
    assert prose.memory_search(structured(memory.search(query="x", **HOME))) == (
        "2 of 5 entries in home; go on with offset 2\n"
        "1. Title 1 [e1] backend/auth · decision · 2026-01-02\n"
        "   the >>>token<<< expires\n"
        "2. Title 2 [e2] backend/auth · decision · 2026-01-02\n"
        "   the >>>token<<< expires\n" + HINT
    )
    assert prose.memory_search(structured(memory.search(query="nothing", **HOME))) == (
        "0 entries in home\nCheck the docs.\nExisting scopes: backend (2)\nExisting topics: auth (1)"
    )


def test_memory_search_shows_contents_and_states_when_there_are_any():
    found = structured(memory.search(query="x", **HOME))
    found["results"][0].update(content="line one\nline two", status="invalidated")
    shown = prose.memory_search(found)
    assert "   line one\n   line two\n" in shown
    assert "· invalidated ·" in shown


def test_memory_entry():
    assert prose.memory_entry(structured(memory.read_entry(entry_id="e1", **HOME))).splitlines() == [
        "Title 1 [e1] backend/auth · decision · mantis:1 · importance 4 · confidence 0.8 · 2026-01-02",
        "project_id: home",
        "scope: backend",
        "topic: auth",
        "source_type: decision",
        "source_ref: mantis:1",
        "status: active",
        "confidence: 0.8",
        "importance: 4",
        "created_by: tester",
        "created_at: 2026-01-02T03:04:05.678Z",
        "updated_at: 2026-01-02T03:04:05.678Z",
        "tags: a, b",
        HINT,
        "",
        "Content 1 \x1b[31mred\x1b[0m \u202etxt",
    ]


def test_memory_added():
    new = structured(memory.add_entry(topic="t", content="c", **HOME))
    assert prose.memory_added(new) == (
        "Stored as e1 in home.\nSimilar: id e9, scope backend, topic auth, similarity 0.75"
    )
    old = structured(memory.add_entry(topic="t", content="again", **HOME))
    assert prose.memory_added(old) == "Already stored as e1 in home; nothing added."


def test_memory_invalidated():
    first = structured(memory.invalidate_entry(entry_id="e1", **HOME))
    assert prose.memory_invalidated(first) == "Entry e1 is now invalidated; it was active."
    again = structured(memory.invalidate_entry(entry_id="e2", **HOME))
    assert prose.memory_invalidated(again) == "Entry e2 was invalidated already; nothing changed."


def test_names():
    assert prose.names(structured(memory.list_tags(**HOME))) == "one (2), two (1)"
    assert prose.names({"ok": True, "project_id": "home", "items": []}) == "None in home."


def test_status_is_one_fact_to_a_line():
    lines = prose.memory_status(structured(memory.status())).splitlines()
    assert lines[0] == "db_path: /x/memory.sqlite"
    assert "features: fts yes" in lines
    assert prose.features(structured(docs.feature_status())).splitlines()[1] == "exists: yes"


def test_docs_search():
    assert prose.docs_search(structured(docs.search(query="x"))) == "1 document; go on with offset 10"
    assert prose.docs_search(structured(docs.search(query="nothing"))) == (
        "0 documents\nOther words may.\nShelves: Guides, Notes"
    )


def test_document():
    assert prose.document(structured(docs.read_document(document_id=3))).splitlines()[:5] == [
        "Document 3 [3] /docs/d3.md · lines 1-3 of 10 · file changed since it was indexed",
        "section below: Title > Linux",
        "",
        "# Title",
        "",
    ]
    shown = prose.document(structured(docs.read_document(document_id=3, search_string="text")))
    assert shown.endswith("--- found in line 3, lines 2-3\n\ntext")
    assert "# Title" not in shown


def test_documents_and_shelves():
    assert prose.documents(structured(docs.list_documents())) == "10 of 120 documents; go on with offset 10"
    assert prose.shelves(structured(docs.list_shelves())) == "1 shelf"
    assert prose.shelf_changed({"shelf": SHELF._asdict()}) == "Shelf Guides [7] docs://shelf/7-guides, 2 documents"
    assert prose.removed(structured(docs.remove_shelf(shelf="Guides"))) == (
        "Shelf Guides is forgotten (3 documents); files stay as they are."
    )
    assert prose.removed(structured(docs.remove_document(document_id=3))) == (
        "Document 3 is forgotten (1 document); files stay as they are."
    )


def test_a_scan_report_adds_up_and_names_what_was_not_taken():
    report = ScanReport(
        "Guides", 30, 1, 2, 3, 23, 1, 1, 1, 0, 9,
        skips=tuple(Skip(f"/s{n}.md", "too large") for n in range(23)),
        failures=(Skip("/f.md", "cannot be read"),),
        missing_files=("/m.md",),
    )  # fmt: skip
    lines = prose.scan_report(structured(report)).splitlines()
    assert lines[0] == "Shelf Guides: 30 seen = 1 new, 2 changed, 3 same, 23 skipped, 1 failed"
    assert lines[1] == "also 1 moved, 1 missing"
    assert lines[2] == "failed: /f.md: cannot be read"
    assert len([line for line in lines if line.startswith("skipped: ")]) == prose.SHOWN_SKIPS
    assert "and 3 more in the structured answer" in lines
    assert lines[-1] == "missing: /m.md"
    assert prose.scan_report(structured(())) == "Nothing has been scanned yet."
