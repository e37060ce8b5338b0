from __future__ import annotations

import json

import pytest
from fake_halls import ESCAPE, opened

from scaffale.errors import InvalidParam, NotFound
from scaffale.server.mcp.resources import (
    DOCUMENT,
    ENTRY,
    HISTORY,
    PROJECT,
    SCOPE,
    SHELF,
    TOPIC,
    Catalogue,
    Home,
    completed,
)

BOTH = ("docs", "memory")


@pytest.fixture
def halls():
    return opened()


def catalogue(halls, home="home", domains=BOTH):
    return Catalogue(halls.halls, Home.of(home) if home else None, domains)


def walk(catalogue):
    found, cursor = [], None
    while True:
        page = catalogue.page(cursor)
        assert len(page["resources"]) <= 100
        found += page["resources"]
        cursor = page.get("nextCursor")
        if cursor is None:
            return found


# --- lists ----------------------------------------------------------------------------------------------------------


def test_the_list_is_complete_in_pages_and_names_each_thing_once(halls):
    found = [resource["uri"] for resource in walk(catalogue(halls))]
    assert len(found) == len(set(found)) == 1 + 120 + (1 + 2 + 2) + 250
    assert found[:2] == ["docs://shelf/7-guides", "docs://document/1"]
    assert found[-1] == "memory://entry/e250"


@pytest.mark.parametrize("documents", [0, 99, 100, 198, 199, 200])
@pytest.mark.parametrize("entries", [0, 1, 95, 100])
def test_pages_add_up_at_their_edges(halls, documents, entries):
    halls.docs.documents, halls.memory.entries = documents, entries
    assert len(walk(catalogue(halls))) == 1 + documents + 5 + entries


def test_lists_never_carry_contents(halls):
    listed = json.dumps(walk(catalogue(halls)))
    assert "Content" not in listed
    assert set().union(*walk(catalogue(halls))) <= {"uri", "name", "title", "mimeType", "size"}


def test_without_a_project_no_memory_is_listed(halls):
    assert all(each["uri"].startswith("docs://") for each in walk(catalogue(halls, home=None)))
    assert not halls.memory.calls


def test_only_the_domains_served_are_listed(halls):
    assert all(each["uri"].startswith("memory://") for each in walk(catalogue(halls, domains=("memory",))))
    assert all(each["uri"].startswith("docs://") for each in walk(catalogue(halls, domains=("docs",))))
    assert walk(catalogue(halls, home=None, domains=("memory",))) == []
    templates = catalogue(halls, domains=("docs",)).templates()["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == [SHELF, DOCUMENT]


@pytest.mark.parametrize("cursor", ["", "x", "é", "OTk6MQ==", "MTp4", "MTotMQ==", "MDox" * 1000, "MDo5OTk5OTk5OTk5OTk5OTk5OTk5"])
def test_a_foreign_cursor_is_refused(halls, cursor):
    with pytest.raises(InvalidParam, match="cursor"):
        catalogue(halls).page(cursor)


def test_all_templates_are_offered(halls):
    templates = catalogue(halls, home=None).templates()["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == [SHELF, DOCUMENT, ENTRY, HISTORY, PROJECT, SCOPE, TOPIC]
    assert all(each["description"] and each["mimeType"] for each in templates)


# --- reading --------------------------------------------------------------------------------------------------------


def read(catalogue, uri):
    (content,) = catalogue.read(uri)["contents"]
    assert content["uri"] == uri
    return content


def test_a_document_is_its_text_and_says_when_it_is_stale(halls):
    content = read(catalogue(halls), "docs://document/3")
    assert content["mimeType"] == "text/markdown"
    assert content["text"] == f"# Title\n\ntext {ESCAPE}\r\n"
    assert content["_meta"] == {
        "scaffale/freshness": "changed",
        "scaffale/warnings": ["the file has changed since it was indexed"],
    }


@pytest.mark.parametrize("uri", ["docs://shelf/7-guides", "docs://shelf/7", "docs://shelf/7-renamed-since"])
def test_a_shelf_names_its_documents(halls, uri):
    content = json.loads(read(catalogue(halls), uri)["text"])
    assert content["shelf"]["name"] == "Guides"
    assert len(content["documents"]) == 100
    assert content["next_offset"] == 100
    assert halls.docs.calls[-1] == ("list_documents", {"shelf": "docs://shelf/7-guides", "limit": 100, "offset": 0})


def test_an_entry_is_whole_and_of_the_servers_project(halls):
    content = json.loads(read(catalogue(halls), "memory://entry/e1")["text"])
    assert content["entry"]["content"].startswith("Content 1")
    assert content["entry"]["verification_hint"]
    assert halls.memory.calls[-1] == ("read_entry", {"entry_id": "e1", "project_path": None, "project_id": "home"})


def test_without_a_project_no_entry_is_found(halls):
    with pytest.raises(NotFound, match="--project"):
        catalogue(halls, home=None).read("memory://entry/e1")


def test_a_project_tells_its_counts_scopes_and_topics(halls):
    content = json.loads(read(catalogue(halls), "memory://project/home")["text"])
    assert content["counts"] == {"active": 1}
    assert content["scopes"][0] == {"name": "one", "count": 2}


@pytest.mark.parametrize(
    ("uri", "asked"),
    [
        ("memory://project/home/scope/one", {"project_id": "home", "scope": "one", "topic": None}),
        ("memory://project/home/topic/a%20b%2Fc", {"project_id": "home", "scope": None, "topic": "a b/c"}),
    ],
)
def test_a_scope_or_topic_names_its_entries_without_their_text(halls, uri, asked):
    content = json.loads(read(catalogue(halls), uri)["text"])
    assert halls.memory.calls[-1] == ("list_entries", asked)
    assert len(content["entries"]) == 100
    assert content["complete"] is False
    assert "content" not in content["entries"][0]


@pytest.mark.parametrize("project", ["git:host/owner/repo", "git%3Ahost%2Fowner%2Frepo"])
def test_a_uri_may_name_a_project_when_the_server_has_none(halls, project):
    content = json.loads(read(catalogue(halls, home=None), f"memory://project/{project}/scope/x")["text"])
    assert content["project_id"] == "git:host/owner/repo"


@pytest.mark.parametrize(
    "uri",
    [
        "memory://project/other",
        "memory://project/other/scope/one",
        "memory://project/home/scope/empty",
        "memory://project/home/scope/%FF",
        "memory://project/home/scope/%00",
        "memory://project/",
        "memory://entry/",
        "memory://entry/e2",
        "memory://entry/a/b",
        "docs://document/404",
        "docs://document/-1",
        "docs://document/99999999999999999999",
        "docs://document/3?x=1",
        "docs://document/../../etc/passwd",
        "docs://shelf/8",
        "docs://shelf/7-a/b",
        "file:///etc/passwd",
        "",
        "DOCS://document/3",
    ],
)
def test_what_is_not_there_or_not_for_here_is_not_found(halls, uri):
    with pytest.raises(NotFound):
        catalogue(halls).read(uri)


def test_a_domain_that_is_not_served_is_not_read(halls):
    with pytest.raises(NotFound):
        catalogue(halls, domains=("docs",)).read("memory://entry/e1")
    with pytest.raises(NotFound):
        catalogue(halls, domains=("memory",)).read("docs://document/3")


# --- completion and the project -------------------------------------------------------------------------------------


def values(catalogue, template, argument, begun=""):
    return completed(catalogue.candidates(template, argument, begun), begun)["completion"]["values"]


def test_variables_complete_for_the_servers_project_only(halls):
    here, nowhere = catalogue(halls), catalogue(halls, home=None)
    assert values(here, SCOPE, "scope", "O") == ["one"]
    assert values(here, TOPIC, "topic") == ["one", "two"]
    assert values(here, PROJECT, "project_id") == ["home"]
    assert values(here, SHELF, "slug", "gu") == ["guides"]
    assert values(here, SHELF, "id") == ["7"]
    assert values(here, DOCUMENT, "id") == []
    assert values(nowhere, SCOPE, "scope") == values(nowhere, PROJECT, "project_id") == []


@pytest.mark.parametrize(
    ("given", "path", "project"),
    [
        ("git:host/o/r", None, "git:host/o/r"),
        ("pathhash:0123456789abcdef", None, "pathhash:0123456789abcdef"),
        ("client/app", None, "client/app"),
        ("/no/such/folder", "/no/such/folder", None),
    ],
)
def test_a_project_is_given_as_a_folder_or_an_id(given, path, project):
    assert Home.of(given) == (path, project)


def test_a_folder_that_exists_is_a_folder(tmp_path, monkeypatch):
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path)
    assert Home.of("app") == (str(tmp_path / "app"), None)
    assert Home.of(".") == (str(tmp_path), None)
