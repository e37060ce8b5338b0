"""A shelf as a file, and a file as a shelf: round trips, conflicts, links by name and path, files that are made to harm."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaffale.docs import Docs
from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, ScaffaleError, SecretDetected
from scaffale.indexer import atlas

FILES = {
    "standard/orders.md": "# Order export, standard\n\nOrders leave every night as files.\n",
    "client/orders.md": "---\ntags: [export]\n---\n# Order export, client\n\nThe client wants orders every hour.\n",
    "client/deep/invoices.md": "# Invoices\r\n\r\nInvoices follow orders. \U0001f4e6\r\n",
}


@pytest.fixture
def notes(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path / "notes"


@pytest.fixture
def docs(make_settings, notes):
    with Docs(make_settings()) as opened:
        for shelf in ("standard", "client"):
            opened.scan_folder(folder_path=str(notes / shelf), shelf=shelf)
        opened.update_shelf(shelf="client", new_description="What one client needs")
        opened.create_tag(name="howto", description="Steps to follow")
        opened.set_document_tags(document_id=id_of(opened, "client/orders.md"), tags=["howto"])
        opened.manage_shelf_links(operation="add_parent", shelf="client", parent_shelf="standard")
        link(opened, "client/orders.md", "standard/orders.md", relation="extends_standard", confidence=0.9, label="standard flow")
        link(opened, "client/orders.md", "invoices.md", relation="related_to", rationale="invoices name orders")
        rejected = link(opened, "invoices.md", "standard/orders.md")
        opened.manage_document_links(operation="reject", origin="manual", link_id=rejected.link_id)
        yield opened


@pytest.fixture
def other(make_settings, tmp_path):
    """Another store, with nothing in it."""
    with Docs(make_settings(DOCS_DB_PATH=str(tmp_path / "other" / "docs.sqlite"))) as opened:
        yield opened


@pytest.fixture
def exported(docs, tmp_path):
    docs.export_shelf(shelf="client", save_path=str(tmp_path / "client.json"))
    docs.export_shelf(shelf="standard", save_path=str(tmp_path / "standard.json"))
    return tmp_path / "client.json"


def id_of(docs, name):
    return next(each.id for each in docs.list_documents(limit=100).documents if each.file_path.endswith(name))


def link(docs, source, target, **words):
    ends = {"source_document_id": id_of(docs, source), "target_document_id": id_of(docs, target)}
    return docs.manage_document_links(operation="add", origin="mcp", **ends, **words).links[0]


def written(path, **changes):
    """The manifest at `path`, changed."""
    manifest = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps(manifest))
    return str(path)


def undated(path):
    return [line for line in Path(path).read_bytes().splitlines() if b'"exported_at"' not in line]


def everything(docs):
    """All that the store holds, in a form that compares."""
    return [
        (d.id, d.title, d.file_path, d.tags, docs.read_document(document_id=d.id).content)
        for d in docs.list_documents(limit=100).documents
    ]


# --- what a file holds ---


def test_a_manifest_holds_texts_tags_and_links_by_name_and_path(docs, tmp_path):
    path = tmp_path / "client.json"
    answer = docs.export_shelf(shelf="client", save_path=str(path))
    assert (answer.shelf, answer.documents, answer.tags, answer.document_links, answer.shelf_links) == ("client", 2, 2, 3, 1)
    assert answer.bytes == path.stat().st_size
    manifest = json.loads(path.read_text())
    assert manifest["format_version"] == 2
    assert manifest["shelf"] == {"name": "client", "description": "What one client needs"}
    assert manifest["tags"] == [{"name": "export"}, {"name": "howto", "description": "Steps to follow"}]
    assert manifest["shelf_links"] == [
        {"parent_shelf_name": "standard", "child_shelf_name": "client", "relation": "parent"}
    ]
    invoices, orders = manifest["documents"]
    assert (invoices["relative_path"], orders["relative_path"]) == ("deep/invoices.md", "orders.md")
    assert orders["content"] == FILES["client/orders.md"]
    assert orders["tags"] == ["export", "howto"]
    assert manifest["document_links"] == [
        {
            "source_relative_path": "deep/invoices.md", "target_relative_path": "orders.md", "target_shelf_name": "standard",
            "relation": "related_to", "origin": "mcp",
        },
        {
            "source_relative_path": "orders.md", "target_relative_path": "deep/invoices.md",
            "relation": "related_to", "origin": "mcp", "rationale": "invoices name orders",
        },
        {
            "source_relative_path": "orders.md", "target_relative_path": "orders.md", "target_shelf_name": "standard",
            "relation": "extends_standard", "origin": "mcp", "confidence": 0.9, "label": "standard flow",
        },
    ]  # fmt: skip
    assert manifest["link_verdicts"] == [
        {
            "source_relative_path": "deep/invoices.md", "target_relative_path": "orders.md", "target_shelf_name": "standard",
            "verdict": "rejected",
        }
    ]  # fmt: skip


def test_sources_stay_as_they_are(docs, notes, tmp_path, other):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in notes.rglob("*.md")}
    docs.export_shelf(shelf="client", save_path=str(tmp_path / "client.json"))
    other.import_shelf(import_path=str(tmp_path / "client.json"))
    assert before == {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in notes.rglob("*.md")}


def test_a_file_that_is_there_is_kept_unless_it_may_be_overwritten(docs, tmp_path):
    path = tmp_path / "client.json"
    path.write_text("mine")
    with pytest.raises(Conflict):
        docs.export_shelf(shelf="client", save_path=str(path))
    assert path.read_text() == "mine"
    docs.export_shelf(shelf="client", save_path=str(path), overwrite=True)
    assert json.loads(path.read_text())["format_version"] == 2


def test_paths_obey_the_roots_of_documents(make_settings, docs, tmp_path, exported):
    inside = tmp_path / "inside"
    inside.mkdir()
    with Docs(make_settings(DOCS_ALLOWED_ROOTS=str(inside))) as bound:
        with pytest.raises(InvalidParam, match="save_path"):
            bound.export_shelf(shelf="client", save_path=str(tmp_path / "out.json"))
        with pytest.raises(InvalidParam, match="import_path"):
            bound.import_shelf(import_path=str(exported), shelf="again")
        assert bound.export_shelf(shelf="client", save_path=str(inside / "out.json")).documents == 2


def test_documents_of_one_name_get_longer_ones(make_settings, tmp_path, other):
    for folder in ("one", "two"):
        (tmp_path / folder / "docs").mkdir(parents=True)
        (tmp_path / folder / "docs" / "readme.md").write_text(f"# About {folder}\n")
        (tmp_path / folder / "docs" / f"{folder}.md").write_text(f"# Only {folder}\n")
    with Docs(make_settings()) as docs:
        for folder in ("one", "two"):
            docs.scan_folder(folder_path=str(tmp_path / folder / "docs"), shelf="both")
        docs.export_shelf(shelf="both", save_path=str(tmp_path / "both.json"))
    names = [each["relative_path"] for each in json.loads((tmp_path / "both.json").read_text())["documents"]]
    assert names == ["one.md", "one/docs/readme.md", "two.md", "two/docs/readme.md"]
    assert other.import_shelf(import_path=str(tmp_path / "both.json")).new == 4


# --- in ---


def test_a_round_trip_is_stable_but_for_the_date(other, exported, tmp_path):
    other.import_shelf(import_path=str(tmp_path / "standard.json"))
    answer = other.import_shelf(import_path=str(exported))
    assert (answer.seen, answer.new, answer.document_links, answer.shelf_links, answer.link_verdicts) == (2, 2, 3, 1, 1)
    assert answer.unresolved == ()
    other.export_shelf(shelf="client", save_path=str(tmp_path / "again.json"))
    assert undated(tmp_path / "again.json") == undated(exported)


def test_what_was_imported_is_found_and_read(other, exported):
    other.import_shelf(import_path=str(exported))
    (hit,) = other.search(query="invoices follow").results[:1]
    assert hit.freshness == "gone"
    assert hit.file_path == f"{exported}{os.sep}deep{os.sep}invoices.md"
    assert other.read_document(document_id=hit.id).content == FILES["client/deep/invoices.md"]
    orders = other.list_documents(tag="howto").documents[0]
    assert orders.tags == ("export", "howto")
    assert other.list_shelves().shelves[0].description == "What one client needs"


def test_imported_links_say_so_and_keep_where_they_came_from(other, exported, tmp_path):
    other.import_shelf(import_path=str(tmp_path / "standard.json"))
    other.import_shelf(import_path=str(exported))
    found = other.manage_document_links(
        operation="list", origin="manual", document_id=id_of(other, "client.json/orders.md")
    ).links
    assert {each.origin for each in found} == {"import"}
    connection = other._store()[0]
    with connection.read() as read:
        kept = read.execute("SELECT DISTINCT metadata_json ->> 'former_origin' FROM document_links").fetchall()
    assert kept == [("mcp",)]


def test_a_rejection_comes_with_the_shelf(other, exported, tmp_path):
    other.import_shelf(import_path=str(tmp_path / "standard.json"))
    other.import_shelf(import_path=str(exported))
    assert other.manage_document_links(operation="list", origin="manual", document_id=id_of(other, "invoices.md")).total == 0


def test_a_scan_takes_over_what_was_imported(other, exported, notes):
    other.import_shelf(import_path=str(exported))
    before = {each.title: each.id for each in other.list_documents().documents}
    report = other.scan_folder(folder_path=str(notes / "client"), shelf="client")
    assert (report.seen, report.same, report.moved) == (2, 2, 2)
    after = other.list_documents().documents
    assert {each.title: each.id for each in after} == before
    assert {each.freshness for each in after} == {"same"}
    assert other.manage_document_links(operation="list", origin="manual", document_id=id_of(other, "orders.md")).total == 1


def test_links_whose_ends_are_missing_are_named_and_left_out(other, exported):
    answer = other.import_shelf(import_path=str(exported))
    assert (answer.new, answer.document_links, answer.shelf_links) == (2, 1, 0)
    assert sorted((each.relative_path, each.warning) for each in answer.unresolved) == [
        ("client", "shelf_link to its parent standard: there is no such shelf"),
        ("deep/invoices.md", "document_link to orders.md: there is no shelf 'standard'"),
        ("deep/invoices.md", "link_verdict to orders.md: there is no shelf 'standard'"),
        ("orders.md", "document_link to orders.md: there is no shelf 'standard'"),
    ]


def test_a_target_may_be_written_from_the_folder_of_its_source_and_beyond_the_shelf(docs, other, exported, tmp_path, notes):
    other.scan_folder(folder_path=str(notes / "standard"), shelf="elsewhere")
    links = [
        {"source_relative_path": "deep/invoices.md", "target_relative_path": "../orders.md", "relation": "mentions"},
        {"source_relative_path": "orders.md", "target_relative_path": "../standard/orders.md", "relation": "depends_on"},
        {"source_relative_path": "orders.md", "target_relative_path": "../nowhere.md", "relation": "mentions"},
    ]
    written(exported, document_links=links, link_verdicts=[])
    answer = other.import_shelf(import_path=str(exported))
    assert answer.document_links == 2
    assert [each.warning for each in answer.unresolved if "document" in each.warning] == [
        "document_link to ../nowhere.md: its target is not found"
    ]
    (found,) = other.manage_document_links(
        operation="list", origin="manual", document_id=id_of(other, "client.json/orders.md")
    ).links
    assert found.target.file_path == str(notes / "standard" / "orders.md")


def test_a_target_that_several_documents_could_be_is_not_guessed(other, exported, notes):
    for shelf in ("one", "two"):
        other.scan_folder(folder_path=str(notes / "standard"), shelf=shelf)
    links = [{"source_relative_path": "orders.md", "target_relative_path": "../standard/orders.md"}]
    written(exported, document_links=links)
    answer = other.import_shelf(import_path=str(exported))
    assert answer.document_links == 0
    assert "several documents" in next(each.warning for each in answer.unresolved if "document_link" in each.warning)


def test_a_link_that_would_close_a_circle_of_shelves_is_left_out(other, exported):
    other.create_shelf(name="standard")
    other.create_shelf(name="client")
    other.manage_shelf_links(operation="add_parent", shelf="standard", parent_shelf="client")
    answer = other.import_shelf(import_path=str(exported))
    assert answer.shelf_links == 0
    assert any("above each other" in each.warning for each in answer.unresolved)


def test_version_one_is_the_same_without_links(other, exported):
    manifest = json.loads(exported.read_text())
    documents = [
        {name: each[name] for name in ("relative_path", "title", "tags", "content")} for each in manifest["documents"]
    ]
    exported.write_text(json.dumps({"format_version": 1, "shelf": {"name": "client"}, "documents": documents}))
    answer = other.import_shelf(import_path=str(exported))
    assert (answer.format_version, answer.new, answer.document_links) == (1, 2, 0)
    assert other.search(query="invoices").results[0].title == "Invoices"


def test_a_shelf_may_take_another_name(docs, exported):
    answer = docs.import_shelf(import_path=str(exported), shelf="client copy")
    assert (answer.shelf, answer.new, answer.document_links) == ("client copy", 2, 3)
    above = docs.manage_shelf_links(operation="list", shelf="client copy").parents
    assert [each.name for each in above] == ["standard"]


# --- what is there already ---


def test_fail_changes_nothing_where_documents_are(docs, exported):
    before = everything(docs)
    with pytest.raises(Conflict, match="on_conflict=merge"):
        docs.import_shelf(import_path=str(exported))
    assert everything(docs) == before


def test_merge_adds_what_is_new_and_keeps_what_differs(other, exported, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "orders.md").write_text("# My orders\n\nEntirely mine.\n")
    (mine / "extra.md").write_text("# Extra\n")
    other.scan_folder(folder_path=str(mine), shelf="client")
    answer = other.import_shelf(import_path=str(exported), on_conflict="merge")
    assert (answer.seen, answer.new, answer.changed, answer.same, answer.skipped) == (2, 1, 0, 0, 1)
    assert [each.file_path for each in answer.skips] == ["orders.md"]
    assert other.read_document(document_id=id_of(other, "mine/orders.md")).content.endswith("Entirely mine.\n")
    again = other.import_shelf(import_path=str(exported), on_conflict="merge")
    assert (again.new, again.same, again.skipped) == (0, 1, 1)
    assert [each.title for each in other.list_documents().documents] == ["Invoices", "Extra", "My orders"]


def test_merge_keeps_tags_that_people_gave(other, exported):
    other.import_shelf(import_path=str(exported))
    other.create_tag(name="mine")
    orders = id_of(other, "orders.md")
    other.set_document_tags(document_id=orders, tags=["mine"])
    other.import_shelf(import_path=str(exported), on_conflict="merge")
    assert other.read_document(document_id=orders).tags == ("export", "howto", "mine")


def test_replace_makes_the_shelf_what_the_file_says_after_an_export(other, exported, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "orders.md").write_text("# My orders\n\nEntirely mine.\n")
    (mine / "extra.md").write_text("# Extra\n")
    other.scan_folder(folder_path=str(mine), shelf="client")
    answer = other.import_shelf(import_path=str(exported), on_conflict="replace")
    assert (answer.seen, answer.new, answer.changed, answer.removed) == (2, 1, 1, 1)
    assert not other.search(query="entirely mine").results
    replaced = next(each for each in other.list_documents().documents if each.file_path.endswith("mine/orders.md"))
    assert replaced.freshness == "changed"
    saved = json.loads(Path(answer.backup).read_text())
    assert [each["relative_path"] for each in saved["documents"]] == ["extra.md", "orders.md"]
    assert os.stat(answer.backup).st_mode & 0o777 == 0o600
    assert other.resync_all(shelf="client")[0].changed == 1
    assert other.search(query="entirely mine").results


# --- files that are wrong, or made to harm ---

BAD = {
    "no object": [],
    "another format": {"format": "something", "format_version": 2, "shelf": {"name": "x"}, "documents": []},
    "no version": {"shelf": {"name": "x"}, "documents": []},
    "a version to come": {"format_version": 3, "shelf": {"name": "x"}, "documents": []},
    "a version that is no number": {"format_version": True, "shelf": {"name": "x"}, "documents": []},
    "no documents": {"format_version": 2, "shelf": {"name": "x"}},
    "no name": {"format_version": 2, "shelf": {}, "documents": []},
    "an empty name": {"format_version": 2, "shelf": {"name": " \n "}, "documents": []},
    "a long name": {"format_version": 2, "shelf": {"name": "x" * 300}, "documents": []},
    "content that is no text": {
        "format_version": 2, "shelf": {"name": "x"}, "documents": [{"relative_path": "a.md", "content": 1}]
    },
    "no content": {"format_version": 2, "shelf": {"name": "x"}, "documents": [{"relative_path": "a.md"}]},
    "another content than its digest": {
        "format_version": 2, "shelf": {"name": "x"},
        "documents": [{"relative_path": "a.md", "content": "# A", "content_sha256": "0" * 64}],
    },
    "a path twice": {
        "format_version": 2, "shelf": {"name": "x"},
        "documents": [{"relative_path": "a.md", "content": ""}, {"relative_path": "a.md", "content": ""}],
    },
    "an unknown relation": {
        "format_version": 2, "shelf": {"name": "x"}, "documents": [],
        "document_links": [{"source_relative_path": "a", "target_relative_path": "b", "relation": "loves"}],
    },
    "half a surrogate": {
        "format_version": 2, "shelf": {"name": "x"}, "documents": [{"relative_path": "a.md", "content": "\ud800"}]
    },
    **{
        f"a path that leads elsewhere: {path!r}": {
            "format_version": 2, "shelf": {"name": "x"}, "documents": [{"relative_path": path, "content": "# A"}]
        }
        for path in ("../a.md", "/etc/a.md", "a/../../b.md", "a//b.md", "..\\a.md", "./a.md", "", "a\0.md", "x" * 5_000)
    },
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_is_wrong_is_refused_whole(other, tmp_path, what):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(BAD[what]))
    with pytest.raises((InvalidParam, LimitExceeded)):
        other.import_shelf(import_path=str(path))
    assert other.list_shelves().shelves == ()


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused_whole(other, exported, cut):
    data = exported.read_bytes()
    exported.write_bytes(data[: int(len(data) * cut)])
    with pytest.raises(InvalidParam, match="not JSON"):
        other.import_shelf(import_path=str(exported))
    assert other.list_shelves().shelves == ()


@pytest.mark.parametrize("name", ["a/b.md", "caff\u00e8 \U0001f600.md", "line\nbreak.md", "n" * 250 + ".md", "con.md"])
def test_odd_names_come_through(other, tmp_path, name):
    path = tmp_path / "odd.json"
    documents = [{"relative_path": name, "content": "# Odd\n\nzebra\n"}]
    path.write_text(json.dumps({"format_version": 2, "shelf": {"name": "odd"}, "documents": documents}))
    assert other.import_shelf(import_path=str(path)).new == 1
    assert other.search(query="zebra").results[0].title == "Odd"


def test_a_secret_in_a_text_is_masked_and_one_in_a_link_refused(other, exported):
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    manifest = json.loads(exported.read_text())
    manifest["documents"][1]["content"] = f"# Keys\n\ntoken {token}\n"
    del manifest["documents"][1]["content_sha256"]
    exported.write_text(json.dumps(manifest))
    answer = other.import_shelf(import_path=str(exported))
    assert any("credentials" in warning for warning in answer.warnings)
    assert token not in other.read_document(document_id=id_of(other, "orders.md")).content
    manifest["document_links"][1]["rationale"] = f"because of {token}"
    exported.write_text(json.dumps(manifest))
    with pytest.raises(SecretDetected):
        other.import_shelf(import_path=str(exported), shelf="again")
    assert [each.name for each in other.list_shelves().shelves] == ["client"]


def test_a_document_that_is_no_text_is_named_and_left_out(other, tmp_path, monkeypatch):
    from scaffale.indexer import reading

    real = reading.draft

    def draft(path, *rest):
        if path.endswith("bad.md"):
            raise reading.NotTaken("it is no text")
        return real(path, *rest)

    monkeypatch.setattr(reading, "draft", draft)
    path = tmp_path / "some.json"
    documents = [{"relative_path": name, "content": "# A\n"} for name in ("bad.md", "good.md")]
    path.write_text(json.dumps({"format_version": 2, "shelf": {"name": "some"}, "documents": documents}))
    answer = other.import_shelf(import_path=str(path))
    assert (answer.seen, answer.new, answer.failed) == (2, 1, 1)
    assert [(each.file_path, each.reason) for each in answer.failures] == [("bad.md", "it is no text")]


def test_an_import_that_breaks_off_leaves_nothing(other, exported, monkeypatch):
    def broken(*arguments):
        raise RuntimeError("the disk went away")

    monkeypatch.setattr(atlas, "add_link", broken)
    with pytest.raises(RuntimeError):
        other.import_shelf(import_path=str(exported))
    assert other.list_shelves().shelves == ()
    assert other.search(query="invoices").results == ()


def test_progress_counts_the_documents(other, exported):
    seen = []
    other.import_shelf(import_path=str(exported), progress=lambda done, total, path: seen.append((done, total, path)))
    assert seen == [(1, 2, "deep/invoices.md"), (2, 2, "orders.md")]


def test_an_import_may_correlate(docs, tmp_path, other):
    shutil.copy(tmp_path / "notes" / "client" / "orders.md", tmp_path / "notes" / "client" / "copy.md")
    docs.resync_all()
    docs.export_shelf(shelf="client", save_path=str(tmp_path / "client.json"))
    answer = other.import_shelf(import_path=str(tmp_path / "client.json"), correlate=True)
    assert answer.correlation.scanned_documents == 3


def test_what_is_not_there_is_not_exported_or_imported(docs, tmp_path):
    with pytest.raises(NotFound):
        docs.export_shelf(shelf="nothing", save_path=str(tmp_path / "x.json"))
    assert not (tmp_path / "x.json").exists()
    with pytest.raises(InvalidParam, match="import_path"):
        docs.import_shelf(import_path=str(tmp_path / "nothing.json"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)
parts = st.fixed_dictionaries(
    {"format_version": st.sampled_from([1, 2]), "shelf": st.just({"name": "x"}) | json_values, "documents": json_values},
    optional={"tags": json_values, "shelf_links": json_values, "document_links": json_values, "link_verdicts": json_values},
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(manifest=parts)
def test_whatever_a_file_says_is_taken_or_refused_with_a_code(other, tmp_path, manifest):
    path = tmp_path / "any.json"
    path.write_text(json.dumps(manifest))
    try:
        answer = other.import_shelf(import_path=str(path), on_conflict="merge")
    except ScaffaleError:
        return
    assert answer.seen == answer.new + answer.changed + answer.same + answer.skipped + answer.failed
