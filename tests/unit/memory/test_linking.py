"""Links: to entries, to sections of documents, to anything else; and what supersession moves."""

from __future__ import annotations

import pytest
from keeping import HOME, audit, keep, read

from scaffale.docs import Docs
from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, SecretDetected
from scaffale.model import RELATIONS

ACTOR = {"actor": "linker", **HOME}
GUIDE = "# Guide\n\nIntroduction.\n\n## Locks\n\nThe writer holds the lock.\n\n## Other\n\nSomething else.\n"


@pytest.fixture
def guide(make_settings, tmp_path):
    """A scanned document: its path, its URI, and how to scan it again."""
    path = tmp_path / "guide.md"
    path.write_text(GUIDE, encoding="utf-8")

    class Guide:
        uri = ""

        def __init__(self):
            self.path = path
            self.scan()

        def scan(self):
            with Docs(make_settings()) as docs:
                docs.scan_folder(folder_path=str(tmp_path), shelf="s", recursive=False)
                self.uri = docs.list_documents().documents[0].uri

        def forget(self):
            with Docs(make_settings()) as docs:
                docs.remove_document(document_id=int(self.uri.rpartition("/")[2]))

    return Guide()


def links(memory, entry, **more):
    return memory.list_entry_links(entry_id=entry, **{**HOME, **more}).links


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_link_is_made_shown_from_both_ends_and_taken(memory, relation):
    one, two = keep(memory, "One.", title="First"), keep(memory, "Two.", title="Second")
    given = {"label": "because", "confidence": 0.7, "rationale": "It follows."}
    done = memory.link_entries(source_entry_id=one, target_entry_id=two, relation=relation, **given, **ACTOR)
    assert done.created
    (out,) = links(memory, one)
    assert (out.id, out.relation, out.target_uri, out.title) == (done.link_id, relation, f"memory://entry/{two}", "Second")
    assert (out.label, out.confidence, out.rationale, out.origin) == ("because", 0.7, "It follows.", "mcp")
    assert links(memory, two) == ()
    (incoming,) = links(memory, two, direction="incoming")
    assert (incoming.direction, incoming.source_entry_id, incoming.title) == ("incoming", one, "First")
    assert len(links(memory, two, direction="both")) == 1
    seen = memory.read_entry(entry_id=one, **HOME).links
    assert ([each.id for each in seen["outgoing"]], seen["incoming_count"]) == ([done.link_id], 0)
    assert memory.read_entry(entry_id=two, **HOME).links["incoming_count"] == 1
    assert memory.unlink_entries(link_id=done.link_id, **ACTOR).removed
    with pytest.raises(NotFound):
        memory.unlink_entries(link_id=done.link_id, **ACTOR)
    assert links(memory, one) == ()


def test_the_same_link_again_has_new_words(memory):
    one, two = keep(memory, "One."), keep(memory, "Two.")
    first = memory.link_entries(source_entry_id=one, target_entry_id=two, label="a", **ACTOR)
    again = memory.link_entries(source_entry_id=one, target_uri=f"memory://entry/{two}", label="b", **ACTOR)
    assert (first.link_id, first.created, again.created) == (again.link_id, True, False)
    assert [each.label for each in links(memory, one)] == ["b"]
    memory.link_entries(source_entry_id=one, target_entry_id=two, relation="blocks", **ACTOR)
    assert len(links(memory, one)) == 2


def test_links_page(memory):
    hub = keep(memory, "Hub.")
    made = [
        memory.link_entries(source_entry_id=hub, target_uri=f"https://example.org/{n}", **ACTOR).link_id for n in range(5)
    ]
    first = memory.list_entry_links(entry_id=hub, limit=2, **HOME)
    assert (first.total, first.next_offset) == (5, 2)
    rest = memory.list_entry_links(entry_id=hub, limit=3, offset=2, **HOME)
    assert rest.next_offset is None
    assert [each.id for each in (*first.links, *rest.links)] == made


# --- supersession ------------------------------------------------------------------------------------------------------


def test_superseding_moves_the_other_in_one_transaction_and_names_who_says_nearly_the_same(memory):
    old = keep(memory, "Tokens expire after ten minutes of silence, the clock is that of the server.")
    near = keep(memory, "Tokens expire after ten minutes of silence, the clock is that of the client.")
    new = keep(memory, "Sessions do not end any more.")
    before = read(memory, old).updated_at
    done = memory.link_entries(source_entry_id=new, target_entry_id=old, relation="supersedes", **ACTOR)
    assert done.superseded == old
    assert [each.id for each in done.similar_entries] == [near]
    after = read(memory, old)
    assert after.status == "superseded"
    assert after.updated_at > before
    event = memory.entry_history(entry_id=old, **HOME).events[-1]
    assert (event.operation, event.earlier["status"]) == ("superseded", "active")
    assert new in event.reason
    assert memory.search(query="tokens expire", **HOME).results[0].id == near
    assert any("superseded" in warning for warning in memory.read_entry(entry_id=old, **HOME).warnings)


def test_only_an_active_target_is_moved_and_unlinking_does_not_restore(memory):
    new, old = keep(memory, "New."), keep(memory, "Old.")
    memory.invalidate_entry(entry_id=old, **ACTOR)
    done = memory.link_entries(source_entry_id=new, target_entry_id=old, relation="supersedes", **ACTOR)
    assert done.superseded is None
    assert any("invalidated" in warning for warning in done.warnings)
    assert read(memory, old).status == "invalidated"
    other = keep(memory, "Other.")
    link = memory.link_entries(source_entry_id=new, target_entry_id=other, relation="supersedes", **ACTOR).link_id
    memory.unlink_entries(link_id=link, **ACTOR)
    assert read(memory, other).status == "superseded"
    memory.update_entry(entry_id=other, status="active", **ACTOR)
    assert read(memory, other).status == "active"


def test_a_circle_of_supersession_is_refused(memory):
    a, b, c = (keep(memory, text) for text in ("A.", "B.", "C."))
    memory.link_entries(source_entry_id=a, target_entry_id=b, relation="supersedes", **ACTOR)
    memory.link_entries(source_entry_id=b, target_entry_id=c, relation="supersedes", **ACTOR)
    for source, target in ((b, a), (c, a)):
        with pytest.raises(Conflict, match="supersedes"):
            memory.link_entries(source_entry_id=source, target_entry_id=target, relation="supersedes", **ACTOR)
    assert read(memory, a).status == "active"
    memory.link_entries(source_entry_id=c, target_entry_id=a, relation="related_to", **ACTOR)


# --- documents ---------------------------------------------------------------------------------------------------------


def test_a_link_to_a_section_notices_when_the_section_changes_or_goes(memory, guide):
    entry = keep(memory)
    whole = keep(memory, "Of the whole document.")
    memory.link_entries(source_entry_id=entry, target_uri=guide.uri, section="Locks", relation="derived_from", **ACTOR)
    memory.link_entries(source_entry_id=whole, target_uri=guide.uri, **ACTOR)

    def states():
        return [links(memory, each)[0].status for each in (entry, whole)]

    (shown,) = links(memory, entry)
    assert (shown.target_type, shown.title, shown.section) == ("docs_document", "Guide", ("Guide", "Locks"))
    assert states() == ["same", "same"]
    guide.path.write_text(GUIDE.replace("Something else.", "Something new."), encoding="utf-8")
    assert states() == ["same", "changed"], "before a scan: the file itself is looked at"
    guide.scan()
    assert states() == ["same", "changed"]
    guide.path.write_text(GUIDE.replace("holds the lock", "holds two locks"), encoding="utf-8")
    assert states() == ["changed", "changed"]
    guide.scan()
    assert states() == ["changed", "changed"]
    guide.path.write_text(GUIDE.replace("## Locks", "## Keys"), encoding="utf-8")
    assert states() == ["gone", "changed"]
    guide.path.write_text(GUIDE, encoding="utf-8")
    guide.scan()
    assert states() == ["same", "same"]
    guide.path.unlink()
    assert states() == ["gone", "gone"]
    guide.path.write_text(GUIDE, encoding="utf-8")
    guide.forget()
    assert states() == ["gone", "gone"]
    assert links(memory, entry)[0].title is None


def test_a_document_or_section_that_is_not_there_cannot_be_linked(memory, guide):
    entry = keep(memory)
    for uri, section, error in (
        ("docs://document/9999", None, NotFound),
        ("docs://document/nine", None, InvalidParam),
        (guide.uri, "No such heading", NotFound),
    ):
        with pytest.raises(error):
            memory.link_entries(source_entry_id=entry, target_uri=uri, section=section, **ACTOR)
    assert links(memory, entry) == ()


def test_a_store_of_documents_that_cannot_be_read_hides_no_link(memory, guide, make_settings):
    entry = keep(memory)
    memory.link_entries(source_entry_id=entry, target_uri=guide.uri, **ACTOR)
    memory.close()
    with open(make_settings().docs_db_path, "r+b") as file:
        file.write(b"no database at all, whatever the name says")
    (shown,) = links(memory, entry)
    assert (shown.target_uri, shown.status) == (guide.uri, "unknown")


# --- what is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, InvalidParam), ({"target_entry_id": "x", "target_uri": "https://x"}, InvalidParam),
        ({"target_entry_id": "absent"}, NotFound), ({"target_uri": "no uri"}, InvalidParam),
        ({"target_uri": "https://x", "target_type": "docs_document"}, InvalidParam),
        ({"target_uri": "https://x", "target_type": "nonsense"}, InvalidParam),
        ({"target_uri": "https://x", "relation": "likes"}, InvalidParam),
        ({"target_uri": "https://x", "confidence": 2.0}, InvalidParam),
        ({"target_uri": "https://x", "section": "Locks"}, InvalidParam),
        ({"target_uri": "https://x", "label": "x" * 201}, LimitExceeded),
        ({"target_uri": "https://x", "rationale": "x" * 501}, LimitExceeded),
        ({"target_uri": "https://" + "x" * 1000}, LimitExceeded),
        ({"target_uri": "https://x", "rationale": "ghp_" + "a1B2" * 9}, SecretDetected),
        ({"target_uri": "https://user:hunter2secret@example.org/"}, SecretDetected),
    ],
)  # fmt: skip
def test_a_link_that_is_wrong_is_refused(memory, given, error):
    entry = keep(memory)
    with pytest.raises(error):
        memory.link_entries(source_entry_id=entry, **given, **ACTOR)
    assert links(memory, entry) == ()
    (row,) = audit(memory, "memory_link_entries")
    assert (row["outcome"], row["error_code"]) == ("refused", error.code)


def test_an_entry_is_not_linked_to_itself_nor_to_one_of_another_project(memory):
    mine, theirs = keep(memory, "Mine."), keep(memory, "Theirs.", project_id="q")
    with pytest.raises(InvalidParam, match="itself"):
        memory.link_entries(source_entry_id=mine, target_entry_id=mine, **ACTOR)
    for source, target in ((mine, theirs), (theirs, mine)):
        with pytest.raises(NotFound):
            memory.link_entries(source_entry_id=source, target_entry_id=target, **ACTOR)
    link = memory.link_entries(source_entry_id=mine, target_uri="https://example.org", **ACTOR).link_id
    with pytest.raises(NotFound):
        memory.unlink_entries(link_id=link, actor="a", project_id="q")
    with pytest.raises(NotFound):
        memory.list_entry_links(entry_id=mine, project_id="q")
