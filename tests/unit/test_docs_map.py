"""The map of documents: parents of shelves, the dictionary of tags, links and verdicts, and how they appear in answers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaffale.docs import Docs
from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, SecretDetected
from scaffale.indexer import atlas, shelves
from scaffale.settings import load

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
FILES = {
    "standard/orders.md": "# Order export, standard\n\nOrders leave every night as files.\n",
    "standard/keys.md": "---\ntags: [security]\n---\n# Keys\n\nKeys rotate weekly.\n",
    "client/orders.md": "# Order export, client\n\nThe client wants orders every hour.\n",
    "client/invoices.md": "# Invoices\n\nInvoices follow orders.\n",
}


@pytest.fixture
def docs(make_settings, tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Docs(make_settings()) as opened:
        for shelf in ("standard", "client"):
            opened.scan_folder(folder_path=str(tmp_path / "notes" / shelf), shelf=shelf)
        yield opened


def id_of(docs, name):
    return next(each.id for each in docs.list_documents(limit=100).documents if each.file_path.endswith(name))


def link(docs, source, target, **words):
    ends = {"source_document_id": id_of(docs, source), "target_document_id": id_of(docs, target)}
    return docs.manage_document_links(operation="add", origin="mcp", **ends, **words).links[0]


# --- parents of shelves ---


def test_parents_are_set_added_removed_and_listed_nearest_first(docs):
    docs.create_shelf(name="company")
    docs.manage_shelf_links(operation="add_parent", shelf="standard", parent_shelf="company")
    answer = docs.manage_shelf_links(operation="set_parents", shelf="client", parent_shelves=["standard"])
    assert [(each.name, each.depth) for each in answer.parents] == [("standard", 1), ("company", 2)]
    below = docs.manage_shelf_links(operation="list", shelf="company", include_children=True).children
    assert [each.name for each in below] == ["standard"]
    gone = docs.manage_shelf_links(operation="remove_parent", shelf="client", parent_shelf="standard")
    assert gone.parents == ()
    with pytest.raises(NotFound, match="is no parent"):
        docs.manage_shelf_links(operation="remove_parent", shelf="client", parent_shelf="standard")


def test_what_every_list_shows_is_short(docs):
    docs.create_shelf(name="told", description="d" * 2_000)
    docs.create_tag(name="told", description="d" * 2_000)
    for change in (
        lambda said: docs.create_shelf(name="new", description=said),
        lambda said: docs.update_shelf(shelf="told", new_description=said),
        lambda said: docs.create_tag(name="new", description=said),
        lambda said: docs.update_tag(tag="told", new_description=said),
    ):
        with pytest.raises(LimitExceeded, match="2000 characters; this one has 2001"):
            change("e" * 2_001)
    assert {each.description for each in docs.list_shelves().shelves if each.name in ("told", "new")} == {"d" * 2_000}
    assert [each.description for each in docs.list_tags().tags if each.name in ("told", "new")] == ["d" * 2_000]


def test_no_shelf_stands_above_itself(docs):
    docs.create_shelf(name="company")
    docs.manage_shelf_links(operation="add_parent", shelf="client", parent_shelf="standard")
    docs.manage_shelf_links(operation="add_parent", shelf="standard", parent_shelf="company")
    for parent in ("client", "standard"):
        with pytest.raises(Conflict):
            docs.manage_shelf_links(operation="add_parent", shelf="company", parent_shelf=parent)
    with pytest.raises(InvalidParam, match="its own parent"):
        docs.manage_shelf_links(operation="add_parent", shelf="company", parent_shelf="company")
    with pytest.raises(Conflict):  # and nothing of it is done
        docs.manage_shelf_links(operation="set_parents", shelf="standard", parent_shelves=["company", "client"])
    assert [each.name for each in docs.manage_shelf_links(operation="list", shelf="standard").parents] == ["company"]


@settings(max_examples=30, deadline=None)
@given(edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=25))
def test_whatever_is_asked_there_is_never_a_circle(edges, tmp_path_factory):
    home = str(tmp_path_factory.mktemp("circle"))
    with Docs(load({"HOME": home}, home)) as docs:
        for number in range(6):
            docs.create_shelf(name=f"shelf {number}")
        above = {number: set() for number in range(6)}  # the model: all ancestors, by walking
        for child, parent in edges:
            allowed = child != parent and child not in _closure(above, parent)
            try:
                docs.manage_shelf_links(operation="add_parent", shelf=f"shelf {child}", parent_shelf=f"shelf {parent}")
            except (Conflict, InvalidParam):
                assert not allowed
            else:
                assert allowed
                above[child].add(parent)
        for child in range(6):
            listed = docs.manage_shelf_links(operation="list", shelf=f"shelf {child}").parents
            assert {each.name for each in listed} == {f"shelf {each}" for each in _closure(above, child)}


def _closure(above, start):
    found, todo = set(), [start]
    while todo:
        for parent in above[todo.pop()] - found:
            found.add(parent)
            todo.append(parent)
    return found


# --- tags ---


def test_tags_come_from_the_dictionary(docs):
    keys, orders = id_of(docs, "standard/keys.md"), id_of(docs, "client/orders.md")
    with pytest.raises(NotFound, match="no tag 'billing'"):
        docs.set_document_tags(document_id=keys, tags=["billing"])
    assert docs.create_tag(name=" Billing ").tag == ("billing", None, 0)
    with pytest.raises(Conflict):
        docs.create_tag(name="BILLING")
    assert docs.set_document_tags(document_id=keys, tags=["Billing"]).documents == ((keys, ("billing", "security")),)
    assert docs.list_tags().tags == (("billing", None, 1), ("security", None, 1))
    with pytest.raises(NotFound):  # one that cannot be done undoes all
        docs.bulk_set_document_tags(
            assignments=[{"document_id": orders, "tags": ["billing"]}, {"document_id": keys, "tags": ["unknown"]}]
        )
    assert [each.document_count for each in docs.list_tags().tags] == [1, 1]
    docs.bulk_set_document_tags(assignments=[{"document_id": each, "tags": ["billing"]} for each in (orders, keys)])
    assert {hit.id for hit in docs.search(query="orders keys", tags=["billing"]).results} == {orders, keys}


def test_a_renamed_tag_is_found_by_its_new_name_alone_and_a_removed_one_by_none(docs):
    keys = id_of(docs, "standard/keys.md")
    assert docs.update_tag(tag="security", new_name="safety", new_description="of keys").tag == ("safety", "of keys", 1)
    assert [hit.id for hit in docs.search(query="rotate", tags=["safety"]).results] == [keys]
    assert docs.search(query="rotate", tags=["security"]).results == ()
    docs.remove_tag(tag="safety")
    assert docs.search(query="rotate", tags=["safety"]).results == ()
    assert docs.list_tags().tags == ()


@pytest.mark.parametrize(
    ("assignment", "error"),
    [
        ({}, InvalidParam),
        ({"document_id": "1", "tags": []}, InvalidParam),
        ({"document_id": True, "tags": []}, InvalidParam),
        ({"document_id": 1, "tags": "security"}, InvalidParam),
        ({"document_id": 1, "tags": [1]}, InvalidParam),
        ({"document_id": 999, "tags": []}, NotFound),
        ({"document_id": 2**70, "tags": []}, NotFound),
    ],
)
def test_an_odd_assignment_is_refused(docs, assignment, error):
    with pytest.raises(error):
        docs.bulk_set_document_tags(assignments=[assignment])


@pytest.mark.parametrize(("name", "error"), [("", InvalidParam), ("  ", InvalidParam), ("x" * 81, LimitExceeded)])
def test_an_odd_tag_is_refused(docs, name, error):
    with pytest.raises(error):
        docs.create_tag(name=name)


# --- links ---


def test_a_link_goes_one_way(docs):
    made = link(docs, "client/orders.md", "standard/orders.md", relation="references_standard", confidence=0.9, label="flow")
    assert (made.source.title, made.target.title) == ("Order export, client", "Order export, standard")
    assert (made.relation, made.origin, made.confidence, made.label) == ("references_standard", "mcp", 0.9, "flow")
    source, target = made.source.id, made.target.id

    def listed(document_id, direction):
        answer = docs.manage_document_links(
            operation="list", origin="mcp", document_id=document_id, direction=direction
        )
        return [each.link_id for each in answer.links]

    assert listed(source, "outgoing") == listed(target, "incoming") == listed(target, "both") == [made.link_id]
    assert listed(target, "outgoing") == listed(source, "incoming") == []
    docs.manage_document_links(operation="remove", origin="mcp", link_id=made.link_id)
    assert listed(source, "both") == []


def test_the_same_link_again_gets_new_words(docs):
    first = link(docs, "client/orders.md", "standard/orders.md", rationale="old")
    second = link(docs, "client/orders.md", "standard/orders.md", rationale="new")
    assert (second.link_id, second.rationale) == (first.link_id, "new")


def test_replacing_touches_ones_own_origin_alone(docs):
    source, target, other = (id_of(docs, name) for name in ("client/orders.md", "standard/orders.md", "standard/keys.md"))
    link(docs, "client/orders.md", "standard/orders.md")
    docs.manage_document_links(operation="add", origin="manual", source_document_id=source, target_document_id=other)
    wanted = [{"target_document_id": other, "relation": "depends_on"}]
    docs.manage_document_links(operation="replace_for_document", origin="mcp", document_id=source, links=wanted)
    left = docs.manage_document_links(operation="list", origin="mcp", document_id=source).links
    assert [(each.target.id, each.relation, each.origin) for each in left] == [
        (other, "related_to", "manual"),
        (other, "depends_on", "mcp"),
    ]
    with pytest.raises(NotFound):  # a link that cannot be made undoes all
        docs.manage_document_links(
            operation="replace_for_document", origin="mcp", document_id=source, links=[*wanted, {"target_document_id": 99}]
        )
    assert docs.manage_document_links(operation="list", origin="mcp", document_id=source).total == 2
    assert target != other


def test_what_is_pinned_comes_first_and_what_is_rejected_not_at_all(docs):
    source = id_of(docs, "client/orders.md")
    sure = link(docs, "client/orders.md", "standard/orders.md", confidence=0.9)
    less = link(docs, "client/orders.md", "standard/keys.md", confidence=0.6)

    def listed():
        answer = docs.manage_document_links(operation="list", origin="manual", document_id=source)
        assert answer.total == len(answer.links)
        return [(each.link_id, each.verdict) for each in answer.links]

    assert docs.manage_document_links(operation="pin", origin="manual", link_id=less.link_id).links[0].verdict == "pinned"
    assert listed() == [(less.link_id, "pinned"), (sure.link_id, None)]
    docs.manage_document_links(operation="reject", origin="manual", link_id=sure.link_id)
    assert listed() == [(less.link_id, "pinned")]
    link(docs, "client/orders.md", "standard/orders.md", confidence=0.95)  # found once more
    assert listed() == [(less.link_id, "pinned")]
    docs.manage_document_links(operation="forget_verdict", origin="manual", link_id=sure.link_id)
    assert listed() == [(less.link_id, "pinned"), (sure.link_id, None)]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"operation": "invent"}, InvalidParam),
        ({"operation": "add"}, InvalidParam),
        ({"operation": "add", "source_document_id": 1, "target_document_id": 1}, InvalidParam),
        ({"operation": "add", "source_document_id": 1, "target_document_id": 99}, NotFound),
        ({"operation": "add", "source_document_id": 2**70, "target_document_id": 1}, NotFound),
        ({"operation": "add", "source_document_id": 1, "target_document_id": 2, "relation": "likes"}, InvalidParam),
        ({"operation": "add", "source_document_id": 1, "target_document_id": 2, "confidence": 1.5}, InvalidParam),
        ({"operation": "add", "source_document_id": 1, "target_document_id": 2, "label": "x" * 2_001}, LimitExceeded),
        ({"operation": "add", "source_document_id": 1, "target_document_id": 2, "label": TOKEN}, SecretDetected),
        ({"operation": "list"}, InvalidParam),
        ({"operation": "list", "document_id": 99}, NotFound),
        ({"operation": "list", "document_id": 1, "direction": "sideways"}, InvalidParam),
        ({"operation": "remove", "link_id": 1}, NotFound),
        ({"operation": "remove", "link_id": 2**70}, NotFound),
        ({"operation": "pin"}, InvalidParam),
        ({"operation": "replace_for_document", "document_id": 1}, InvalidParam),
        ({"operation": "replace_for_document", "document_id": 1, "links": [{}]}, InvalidParam),
        ({"operation": "replace_for_document", "document_id": 1, "links": [{"target_document_id": 2, "label": 3}]}, InvalidParam),
    ],
)  # fmt: skip
def test_an_odd_link_is_refused_and_nothing_written(docs, said, error):
    with pytest.raises(error):
        docs.manage_document_links(origin="mcp", **said)
    database, _ = docs._open()
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM document_links").get == 0


def test_links_go_with_their_documents_and_shelves(docs):
    link(docs, "client/orders.md", "standard/orders.md")
    docs.manage_shelf_links(operation="add_parent", shelf="client", parent_shelf="standard")
    docs.remove_shelf(shelf="standard")
    assert docs.manage_shelf_links(operation="list", shelf="client").parents == ()
    assert docs.read_document(document_id=id_of(docs, "client/orders.md")).links["outgoing_count"] == 0


# --- in answers ---


def test_a_document_is_read_with_its_links_in_full_and_its_parents(docs, tmp_path):
    docs.manage_shelf_links(operation="add_parent", shelf="client", parent_shelf="standard")
    made = link(docs, "client/orders.md", "standard/orders.md", relation="references_standard", rationale="same export")
    link(docs, "client/invoices.md", "client/orders.md")
    (tmp_path / "notes" / "standard" / "orders.md").write_text("# Changed since\n")
    read = docs.read_document(document_id=made.source.id)
    assert [each["name"] for each in read.shelf["parents"]] == ["standard"]
    (shown,) = read.links["outgoing"]
    assert (shown["link_id"], shown["rationale"]) == (made.link_id, "same export")
    assert shown["target"]["resource_uri"] == f"docs://document/{made.target.id}"
    assert shown["target"]["shelf_uri"].startswith("docs://shelf/")
    assert shown["target"]["freshness"] == "changed"
    assert read.links["incoming_count"] == 1
    assert "incoming" not in read.links
    both = docs.read_document(document_id=made.source.id, links_direction="both", links_limit=1).links
    assert [each["source"]["title"] for each in both["incoming"]] == ["Invoices"]
    assert docs.read_document(document_id=made.source.id, include_links=False).links is None


def test_hits_carry_short_links_when_asked(docs):
    docs.manage_shelf_links(operation="add_parent", shelf="client", parent_shelf="standard")
    for target, confidence in (("standard/orders.md", 0.7), ("standard/keys.md", 0.9)):
        link(docs, "client/orders.md", target, confidence=confidence)
    (hit,) = docs.search(query="hour", include_links=True, links_limit=1).results
    assert hit.links["outgoing_count"] == 2
    (shown,) = hit.links["outgoing"]
    assert (shown["target_title"], shown["confidence"]) == ("Keys", 0.9)
    assert [each["name"] for each in hit.shelf_context["parents"]] == ["standard"]
    assert docs.search(query="hour").results[0].links is None


def test_lists_carry_counts_when_asked(docs):
    link(docs, "client/orders.md", "standard/orders.md", relation="depends_on")
    listed = docs.list_documents(shelf="client", link_summary=True).documents
    summaries = {each.title: each.link_summary for each in listed}
    assert summaries["Order export, client"] == {
        "outgoing_count": 1, "incoming_count": 0, "top_relations": [{"relation": "depends_on", "count": 1}],
    }  # fmt: skip
    assert summaries["Invoices"] == {"outgoing_count": 0, "incoming_count": 0, "top_relations": []}
    assert {each.shelf_context["parent_count"] for each in listed} == {0}
    assert docs.list_documents().documents[0].link_summary is None


def test_a_store_without_a_map_gets_one(make_settings, tmp_path):
    """What an older version left: no link tables. They come by migration, once, and nothing is lost."""
    from scaffale.indexer.database import Database, Schema

    settings_ = make_settings()
    old = Schema(shelves.SCHEMA.application_id, shelves.SCHEMA.migrations[:1])
    database = Database(settings_.docs_db_path, old)
    with database.write() as connection:
        shelves.create_shelf(connection, "kept")
    database.close()
    for _ in range(2):
        with Docs(settings_) as docs:
            assert [each.name for each in docs.list_shelves().shelves] == ["kept"]
            with docs._open()[0].read() as connection:
                assert connection.execute("SELECT count(*) FROM document_links").get == 0
                assert atlas.links(connection, 1) == ([], 0)
