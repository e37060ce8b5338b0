"""The docs store: names, shelves, documents, tags, and what the projection sees of them."""

from __future__ import annotations

import pytest

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, SecretDetected
from scaffale.indexer import dictionary, documents, shelves
from scaffale.indexer.database import Database
from scaffale.indexer.documents import Draft, Stored
from scaffale.indexer.records import Fingerprint, Source
from scaffale.model import Section

PRINT = Fingerprint(10, 2_000_000, 3, 4, 5, "ab")


@pytest.fixture
def connection(tmp_path):
    database = Database(str(tmp_path / "docs.sqlite"), shelves.SCHEMA)
    with database.write() as connection:
        yield connection
    database.close()


@pytest.fixture
def source(connection):
    shelf = shelves.create_shelf(connection, "Notes")
    return shelves.remember_source(connection, Source(0, shelf.id, "/root"))


def draft(path="/root/a.md", *, title="T", tags=(), aliases=(), sections=None, **changes):
    if sections is None:
        sections = (Section(("T",), 1, 1, 1, "# T\n"), Section(("T", "U"), 2, 2, 3, "## U\ntext\n"))
    made = Draft(path, path.removeprefix("/root/"), PRINT, title, tags, aliases, sections, 3)
    return made._replace(**changes)


def put(connection, source, *drafts):
    return documents.put_documents(connection, source, drafts)


def journal_owners(connection):
    return [row[0] for row in connection.execute("SELECT owner FROM journal WHERE owner > 0 ORDER BY seq")]


# --- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "slug"),
    [("My Notes", "my-notes"), ("Città & C++!", "citta-c"), ("日本", "shelf"), ("--a__b--", "a-b"), ("x" * 99, "x" * 60)],
)
def test_slug(name, slug):
    assert shelves.slug(name) == slug


@pytest.mark.parametrize(
    ("tag", "name"),
    [(" Two  Words\t", "two-words"), ("PERCHE\u0301", "perché"), ("c++", "c++"), ("  ", ""), ("\ud800x", "?x")],
)
def test_tag_name(tag, name):
    assert shelves.tag_name(tag) == name


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", InvalidParam),
        (" \t\n", InvalidParam),
        ("a\0b", InvalidParam),
        ("a\x1bb", InvalidParam),
        ("a\u202eb", InvalidParam),
        ("x" * 201, LimitExceeded),
    ],
)
def test_a_bad_name_is_refused(connection, name, error):
    with pytest.raises(error):
        shelves.create_shelf(connection, name)
    assert shelves.list_shelves(connection) == []


def test_a_secret_is_no_name_and_no_description(connection):
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    made = shelves.create_shelf(connection, "notes", "about the ghp_ prefix")
    for attempt in (
        lambda: shelves.create_shelf(connection, f"of {secret}"),
        lambda: shelves.create_shelf(connection, "other", f"see {secret}"),
        lambda: shelves.update_shelf(connection, made.id, name=f"of {secret}"),
        lambda: shelves.update_shelf(connection, made.id, description=f"see {secret}"),
    ):
        with pytest.raises(SecretDetected, match="github-token") as caught:
            attempt()
        assert secret not in caught.value.detail
    assert shelves.list_shelves(connection) == [made]


def test_names_are_composed_trimmed_and_unique_whatever_the_case(connection):
    assert shelves.create_shelf(connection, "  citta\u0300   nuova ").name == "città nuova"
    with pytest.raises(Conflict, match="città nuova"):
        shelves.create_shelf(connection, "CITTÀ NUOVA")
    assert shelves.create_shelf(connection, "x" * 200).name == "x" * 200


# --- shelves -------------------------------------------------------------------------------------------------------


def test_a_shelf_is_found_by_id_name_slug_and_uri(connection):
    shelf = shelves.create_shelf(connection, "My Notes", "what I know")
    assert shelf[1:5] == ("My Notes", "what I know", f"docs://shelf/{shelf.id}-my-notes", 0)
    for reference in (shelf.id, str(shelf.id), "my notes", " MY  NOTES ", f"{shelf.id}-my-notes", shelf.uri):
        assert shelves.find_shelf(connection, reference) == shelf
    assert shelves.find_shelf(connection, f"docs://shelf/{shelf.id}-former-name") == shelf
    assert shelves.find_shelf(connection, f"docs://shelf/{shelf.id}") == shelf


@pytest.mark.parametrize(
    "reference", [0, -1, 10**30, "", "99", "9" * 5000, "1-other", "1x", "docs://shelf/", "docs://shelf/x", "\ud800", "²"]
)
def test_what_is_no_shelf_is_not_found(connection, reference):
    shelves.create_shelf(connection, "Only")
    assert shelves.find_shelf(connection, reference) is None
    with pytest.raises(NotFound, match="Only"):
        shelves.shelf(connection, reference)


def test_a_name_goes_before_an_id(connection):
    first = shelves.create_shelf(connection, "2")
    second = shelves.create_shelf(connection, "other")
    assert second.id == 2
    assert shelves.find_shelf(connection, "2") == first
    assert shelves.find_shelf(connection, 2) == second


def test_update_renames_and_describes(connection):
    shelf = shelves.create_shelf(connection, "Old", "said")
    taken = shelves.create_shelf(connection, "Taken")
    renamed = shelves.update_shelf(connection, shelf.id, name="OLD")
    assert (renamed.name, renamed.description) == ("OLD", "said")
    assert shelves.update_shelf(connection, shelf.id, name="New name", description="").description is None
    assert shelves.shelf(connection, shelf.id).uri == f"docs://shelf/{shelf.id}-new-name"
    with pytest.raises(Conflict):
        shelves.update_shelf(connection, shelf.id, name=taken.name)
    with pytest.raises(NotFound):
        shelves.update_shelf(connection, 99, name="x")


def test_removing_a_shelf_forgets_all_of_it_and_tells_the_journal(connection, source):
    owners = put(connection, source, draft(), draft("/root/b.md", tags=("x",)))
    before = len(journal_owners(connection))
    assert shelves.remove_shelf(connection, source.shelf_id) == 2
    assert journal_owners(connection)[before:] == owners
    counts = shelves.counts(connection)
    assert counts == {"shelves": 0, "documents": 0, "sections": 0, "tags": 1, "scan_sources": 0}
    with pytest.raises(NotFound):
        shelves.remove_shelf(connection, source.shelf_id)


def test_ids_are_never_given_twice(connection, source):
    (first,) = put(connection, source, draft())
    sections = [row[0] for row in connection.execute("SELECT id FROM sections")]
    shelves.remove_documents(connection, [first])
    (second,) = put(connection, source, draft())
    assert second > first
    assert min(row[0] for row in connection.execute("SELECT id FROM sections")) > max(sections)


def test_a_source_scanned_in_another_way_is_one_source(connection, source):
    again = shelves.remember_source(connection, source._replace(id=0, recursive=False, ignore=("*.tmp.md", "é")))
    assert again.id == source.id
    assert shelves.sources(connection, source.shelf_id) == [again]
    assert shelves.has_source(connection, source.id)
    assert not shelves.has_source(connection, 99)


# --- documents -----------------------------------------------------------------------------------------------------


def test_a_document_reads_back(connection, source):
    (owner,) = put(connection, source, draft(tags=("Two Words", "b", "b"), aliases=("Other",)))
    document = shelves.document(connection, owner)
    assert document.title == "T"
    assert document.uri == document.resource_uri == f"docs://document/{owner}"
    assert document.shelf_uri == f"docs://shelf/{source.shelf_id}-notes"
    assert document.tags == ("b", "two-words")
    assert document.freshness is None
    assert shelves.sections(connection, owner) == list(draft().sections)
    assert shelves.fingerprint(connection, owner) == PRINT


@pytest.mark.parametrize("unknown", [0, -1, 99, 10**30])
def test_an_unknown_document_is_not_found(connection, unknown):
    with pytest.raises(NotFound, match=str(unknown)):
        shelves.document(connection, unknown)


def test_a_path_is_one_document_and_keeps_its_id(connection, source):
    (owner,) = put(connection, source, draft(tags=("old",), aliases=("a",)))
    connection.execute("INSERT INTO document_tags SELECT ?, id, 'manual' FROM tags WHERE name = 'old'", (owner,))
    connection.execute("INSERT INTO tags (name, created_at, updated_at) VALUES ('mine', '', '')")
    connection.execute("INSERT INTO document_tags SELECT ?, id, 'manual' FROM tags WHERE name = 'mine'", (owner,))
    body = Section((), 0, 1, 1, "other")
    assert put(connection, source, draft(title="U", tags=("new",), sections=(body,))) == [owner]
    assert shelves.document(connection, owner).tags == ("mine", "new", "old")
    assert shelves.sections(connection, owner) == [body]
    assert connection.execute("SELECT metadata_json FROM documents").get == "{}"
    assert journal_owners(connection) == [owner, owner]


def test_a_document_stays_with_the_source_that_brought_it(connection, source):
    other = shelves.remember_source(connection, source._replace(id=0, root="/root/sub"))
    (owner,) = put(connection, source, draft("/root/sub/a.md"))
    assert put(connection, other, draft("/root/sub/a.md", title="new")) == [owner]
    (known,) = documents.fingerprints(connection, source.shelf_id, "/root").values()
    assert (known.id, known.source_id) == (owner, source.id)


def test_the_same_file_on_two_shelves_is_two_documents(connection, source):
    other = shelves.remember_source(connection, Source(0, shelves.create_shelf(connection, "B").id, "/root"))
    assert len({*put(connection, source, draft()), *put(connection, other, draft())}) == 2


def test_journal_lines_carry_the_scan(connection, source):
    documents.put_documents(connection, source, [draft()], scan=7)
    assert connection.execute("SELECT scan FROM journal WHERE owner > 0").get == 7


def test_a_moved_document_keeps_id_tags_and_sections(connection, source):
    (owner,) = put(connection, source, draft(tags=("t",)))
    sections = [row[0] for row in connection.execute("SELECT id FROM sections")]
    known = Stored("/root/a.md", owner, *PRINT[:5], source.id)
    assert documents.move_document(connection, known, source, draft("/root/sub/z.md"))
    document = shelves.document(connection, owner)
    assert (document.file_path, document.tags) == ("/root/sub/z.md", ("t",))
    assert [row[0] for row in connection.execute("SELECT id FROM sections")] == sections
    assert journal_owners(connection) == [owner, owner]


def test_a_move_that_the_store_has_overtaken_does_nothing(connection, source):
    first, second = put(connection, source, draft(), draft("/root/b.md"))
    known = Stored("/root/a.md", first, *PRINT[:5], source.id)
    assert not documents.move_document(connection, known, source, draft("/root/b.md"))
    assert not documents.move_document(connection, known._replace(id=99), source, draft("/root/c.md"))
    assert not documents.move_document(connection, known._replace(file_path="/root/0.md"), source, draft("/root/c.md"))
    assert documents.paths(connection, [first, second, 99]) == {first: "/root/a.md", second: "/root/b.md"}
    assert journal_owners(connection) == [first, second]


def test_a_touched_document_is_news_to_an_index_only_when_its_time_changed(connection, source):
    (owner,) = put(connection, source, draft())
    known = Stored("/root/a.md", owner, *PRINT[:5], source.id)
    assert not documents.touch_document(connection, known, PRINT._replace(mtime_ns=2_000_001, inode=9))
    assert documents.touch_document(connection, known, PRINT._replace(mtime_ns=3_000_000))
    assert journal_owners(connection) == [owner, owner]
    assert shelves.fingerprint(connection, owner).mtime_ns == 3_000_000


def test_removing_documents_tells_which_were_there(connection, source):
    first, second = put(connection, source, draft(), draft("/root/b.md"))
    assert shelves.remove_documents(connection, [second, 99, first]) == [first, second]
    assert journal_owners(connection) == [first, second, first, second]
    assert shelves.remove_documents(connection, [first]) == []


def test_fingerprints_are_those_at_or_below_the_root(connection, source):
    names = ["/root/a.md", "/root/sub/b.md", "/root-other/c.md", "/root.md", "/roo/d.md", "/root/\U0010ffff.md"]
    put(connection, source, *map(draft, names))
    assert set(documents.fingerprints(connection, source.shelf_id, "/root")) == {names[0], names[1], names[5]}
    assert set(documents.fingerprints(connection, source.shelf_id, "/root/a.md")) == {names[0]}
    assert len(documents.fingerprints(connection, source.shelf_id, "/")) == len(names)
    assert documents.fingerprints(connection, 99, "/root") == {}


def test_list_documents_by_path_in_pages_and_by_tags(connection, source):
    put(connection, source, draft("/root/c.md"), draft("/root/a.md", tags=("x", "y")), draft("/root/b.md", tags=("x",)))

    def listed(**filters):
        page, total = shelves.list_documents(connection, **filters)
        return [document.file_path[6:7] for document in page], total

    assert listed() == (["a", "b", "c"], 3)
    assert listed(limit=1, offset=1) == (["b"], 3)
    assert listed(tags=["X"]) == (["a", "b"], 2)
    assert listed(tags=["x", "y"]) == (["a"], 1)
    assert listed(tags=["z"]) == ([], 0)
    assert listed(tagged=False) == (["c"], 1)
    assert listed(tagged=True, shelf_id=source.shelf_id) == (["a", "b"], 2)
    assert listed(shelf_id=99) == ([], 0)


def test_tags(connection, source):
    first, second = put(connection, source, draft(tags=("b", "a")), draft("/root/b.md"))
    assert shelves.tags_of(connection, [first, second, 99]) == {first: ("a", "b"), second: (), 99: ()}
    shelves.remove_documents(connection, [first])
    assert dictionary.list_tags(connection) == [("a", None, 0), ("b", None, 0)]


# --- the projection ------------------------------------------------------------------------------------------------


def test_passages_are_the_sections_that_say_something(connection, source):
    sections = (
        Section((), -1, 1, 3, "---\ntitle: T\n---\n"),
        Section((), 0, 4, 5, " \n\n"),
        Section(("T",), 1, 6, 6, "# T\n"),
        Section(("T", "U"), 2, 7, 7, "## U\n"),
        Section(("Other", "U"), 2, 8, 8, "## U\n"),
    )
    (owner,) = put(connection, source, draft("/root/sub/a.md", tags=("x y",), aliases=("Alias",), sections=sections))
    ids = [row[0] for row in connection.execute("SELECT id FROM sections ORDER BY id")]
    passages = shelves.passages(connection, [owner, 99])
    assert passages[99] == []
    assert [each.id for each in passages[owner]] == ids[2:]
    assert [each.heading for each in passages[owner]] == ["", "U", "Other \u203a U"]
    first = passages[owner][0]
    assert first[1:] == (
        owner, "T", "", "# T\n", "x-y\nAlias\nsub/a.md", (f"shelf={source.shelf_id}", "tag=x-y"), 0, -1.0, 2,
    )  # fmt: skip


def test_a_document_of_front_matter_alone_is_found_by_its_title(connection, source):
    (owner,) = put(connection, source, draft(sections=(Section((), -1, 1, 3, "---\ntitle: T\n---\n"),)))
    ((passage,),) = shelves.passages(connection, [owner]).values()
    assert (passage.title, passage.body) == ("T", "")


def test_owners_come_in_order_and_pages(connection, source):
    owners = put(connection, source, *(draft(f"/root/{number}.md") for number in range(5)))
    assert shelves.owners(connection, 0, 3) == owners[:3]
    assert shelves.owners(connection, owners[2], 3) == owners[3:]


def test_rows_hold_what_a_hit_says(connection, source):
    (owner,) = put(connection, source, draft())
    passage = shelves.passages(connection, [owner])[owner][1]
    rows = shelves.rows(connection, [passage.id, 99])
    assert rows == {
        passage.id: (
            owner, "T", "/root/a.md", source.shelf_id, "Notes", f"docs://shelf/{source.shelf_id}-notes",
            ("T", "U"), 2, 2, 3, "## U\ntext\n", PRINT,
        )
    }  # fmt: skip
