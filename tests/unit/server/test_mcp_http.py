"""MCP over HTTP: who comes in, what their token lets them do, what they are told."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient

from scaffale.errors import LimitExceeded
from scaffale.server.halls import Halls
from scaffale.server.http.gate import Names
from scaffale.server.mcp import http
from scaffale.server.mcp.access import Pace, relative

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
NEW_ERA = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Team:
    """A server over HTTP in this process, and clients of it."""

    def __init__(self, client: TestClient, halls: Halls) -> None:
        self.client = client
        self.halls = halls

    def token(self, name: str = "ada", **what: object) -> str:
        return self.halls.memory.create_token(name=name, actor="me", **what).secret

    def post(self, method: str, params: dict, token: str | None = None, *, modern: bool = False, **headers: str):
        said = dict(HEADERS) | headers
        if token is not None:
            said["Authorization"] = f"Bearer {token}"
        if modern:
            said |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
            if "name" in params:
                said["Mcp-Name"] = params["name"]
            params = {**params, "_meta": NEW_ERA}
        return self.client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers=said)

    def ask(self, method: str, params: dict, token: str | None = None, *, modern: bool = False):
        answer = self.post(method, params, token, modern=modern)
        assert answer.status_code == 200, answer.text
        if answer.headers["content-type"].startswith("text/event-stream"):
            lines = [line for line in answer.text.splitlines() if line.startswith("data: {")]
            return json.loads(lines[-1][6:])
        return answer.json()

    def call(self, tool: str, token: str | None = None, *, modern: bool = False, **arguments: object):
        found = self.ask("tools/call", {"name": tool, "arguments": arguments}, token, modern=modern)
        return found["result"]["structuredContent"]


@pytest.fixture
def serving(make_settings):
    """`serving(guarded=True, MEMORY_ALLOWED_ROOTS=…)`: a team's server, ended after the test."""
    import contextlib

    with contextlib.ExitStack() as stack:

        def start(*, guarded: bool = True, tools: str = "all", project: str | None = None, **environ: str) -> Team:
            settings = make_settings(**environ)
            halls = Halls.over(settings)
            names = Names.of("127.0.0.1", ["team.example"], ["https://page.example"])
            app = http.application(halls, settings, tools, project, names, guarded=guarded)
            client = stack.enter_context(TestClient(app, base_url="http://127.0.0.1:7341", raise_server_exceptions=False))
            return Team(client, halls)

        yield start


def added(team: Team, project: str, token: str, content: str = "the deploy waits for a lock", **more: object):
    return team.call(
        "memory_add_entry", token, project_id=project, scope="s", topic="t", content=content, source_type="decision", **more
    )


# --- who comes in ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("modern", [False, True])
def test_both_eras_are_served(serving, modern):
    team = serving()
    token = team.token()
    assert len(team.ask("tools/list", {}, token, modern=modern)["result"]["tools"]) > 20
    assert added(team, "p", token)["ok"]
    found = team.call("memory_search", token, modern=modern, query="deploy", project_id="p")
    assert [hit["topic"] for hit in found["results"]] == ["t"]


def test_the_handshake_era_needs_no_session(serving):
    team = serving()
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "0"}}
    answer = team.post("initialize", hello, team.token())
    assert answer.status_code == 200
    assert '"name":"scaffale"' in answer.text
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "Bearer scaffale_00000000_x", "Bearer {token}x"],
)
def test_without_a_valid_token_nothing_is_answered(serving, authorization):
    team = serving()
    token = team.token()
    headers = {} if authorization is None else {"Authorization": authorization.format(token=token)}
    for path in ("/mcp", "/metrics", "/nothing"):
        answer = team.client.get(path, headers={**HEADERS, **headers})
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert team.post("tools/list", {}, **headers).status_code == 401


def test_a_revoked_token_opens_nothing_from_then_on(serving):
    team = serving()
    token = team.token()
    assert team.post("tools/list", {}, token).status_code == 200
    team.halls.memory.revoke_token(name="ada", actor="me")
    answer = team.post("tools/list", {}, token)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_other_names_and_pages_of_other_sites_are_refused(serving):
    team = serving()
    token = team.token()
    assert team.post("tools/list", {}, token, Host="evil.example").status_code == 421
    assert team.post("tools/list", {}, token, Host="team.example:443").status_code == 200
    assert team.post("tools/list", {}, token, Origin="https://evil.example").status_code == 403
    assert team.post("tools/list", {}, token, Origin="https://page.example").status_code == 200


def test_health_needs_no_token_and_tells_nothing_more(serving, monkeypatch):
    team = serving()
    assert team.client.get("/healthz").json()["ok"] is True
    from scaffale.errors import StoreUnreadable

    def unreadable(_):
        raise StoreUnreadable("/secret/place is damaged")

    monkeypatch.setattr(type(team.halls.docs), "list_shelves", unreadable)
    answer = team.client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {"ok": False, "error_code": "STORE_UNREADABLE"}


def test_metrics_count_calls_and_name_nobody(serving):
    team = serving()
    token = team.token("somebody")
    added(team, "p", token)
    team.call("memory_search", token, query="deploy", project_id="p")
    team.call("memory_read_entry", token, entry_id="nothing", project_id="p")
    text = team.client.get("/metrics", headers={"Authorization": f"Bearer {token}"}).text
    assert 'scaffale_calls_total{tool="memory_search",outcome="ok"} 1' in text
    assert 'scaffale_calls_total{tool="memory_read_entry",outcome="NOT_FOUND"} 1' in text
    assert 'scaffale_call_seconds_bucket{tool="memory_search",le="+Inf"} 1' in text
    assert "somebody" not in text
    assert "deploy" not in text
    for line in text.splitlines():
        assert line.startswith("# ") or line.rpartition(" ")[2].replace(".", "").isdigit(), line


def test_a_body_that_is_too_large_is_refused(serving):
    team = serving()
    big = "x" * (http.MOST_BODY_BYTES + 1)
    answer = team.post("tools/call", {"name": "memory_search", "arguments": {"query": big}}, team.token())
    assert answer.status_code == 413


# --- what a token lets its bearer do ------------------------------------------------------------------------------------


def test_a_token_sees_its_projects_alone(serving):
    team = serving()
    all_, some = team.token("all"), team.token("some", projects=["p", "q"])
    for project in ("p", "q", "r"):
        assert added(team, project, all_, f"the deploy of {project} waits")["ok"]
    assert team.call("memory_search", some, query="deploy", project_id="q")["total"] == 1
    for tool, arguments in (
        ("memory_search", {"query": "deploy", "project_id": "r"}),
        ("memory_search", {"query": "deploy", "mode": "cross_project"}),
        ("memory_search", {"query": "deploy"}),
        ("memory_status", {}),
        ("memory_list_tags", {"project_id": "r"}),
        ("memory_find_similar", {"text": "deploy", "mode": "cross_project"}),
        ("ledger_open_session", {"project_id": "r"}),
    ):
        answer = team.call(tool, some, **arguments)
        assert answer["ok"] is False, (tool, arguments)
        assert answer["error_code"] in ("NOT_FOUND", "INVALID_PARAM")
        assert "of r" not in json.dumps(answer)
    assert added(team, "r", some)["error_code"] == "NOT_FOUND"


def test_the_only_project_of_a_token_need_not_be_named(serving):
    team = serving()
    one = team.token("one", projects=["p"])
    assert team.call("memory_add_entry", one, scope="s", topic="t", content="a fact", source_type="decision")["project_id"] == "p"
    assert team.call("memory_search", one, query="fact")["total"] == 1


def test_entries_of_other_projects_are_not_there(serving):
    team = serving()
    all_, one = team.token("all"), team.token("one", projects=["p"])
    entry = added(team, "r", all_)["entry_id"]
    for arguments in ({"entry_id": entry}, {"entry_id": entry, "project_id": "p"}, {"entry_id": entry, "project_id": "r"}):
        assert team.call("memory_read_entry", one, **arguments)["error_code"] == "NOT_FOUND"
    crossed = team.call("memory_read_entry", one, entry_id=entry, mode="cross_project")
    assert crossed["error_code"] == "INVALID_PARAM"


def test_resources_and_prompts_keep_to_the_token_too(serving):
    team = serving(project="r")
    all_, one = team.token("all"), team.token("one", projects=["p"])
    added(team, "r", all_, "the deploy of r waits")
    uri = "memory://project/r"
    assert "contents" in team.ask("resources/read", {"uri": uri}, all_)["result"]
    assert "error" in team.ask("resources/read", {"uri": uri}, one)
    assert "error" in team.ask("resources/read", {"uri": f"{uri}/scope/s"}, one)
    listed = [[each["uri"] for each in team.ask("resources/list", {}, token)["result"]["resources"]] for token in (all_, one)]
    assert uri in listed[0]
    assert not any(each.startswith("memory://") for each in listed[1])
    assert "messages" in team.ask("prompts/get", {"name": "memory_project_brief"}, all_)["result"]
    assert "error" in team.ask("prompts/get", {"name": "memory_project_brief"}, one)
    reference = {"type": "ref/resource", "uri": "memory://project/{project_id}"}
    about = {"ref": reference, "argument": {"name": "project_id", "value": ""}}
    assert team.ask("completion/complete", about, all_)["result"]["completion"]["values"] == ["r"]
    assert team.ask("completion/complete", about, one)["result"]["completion"]["values"] == []


def test_a_token_that_may_only_read_writes_nothing(serving):
    team = serving()
    all_, reader = team.token("all"), team.token("reader", read_only=True)
    entry = added(team, "p", all_)["entry_id"]
    for tool, arguments in (
        ("memory_invalidate_entry", {"entry_id": entry, "reason": "x"}),
        ("memory_update_entry", {"entry_id": entry, "title": "x"}),
        ("memory_add_from_ticket", {"text": "x", "ticket_ref": "A-1", "apply": True}),
        ("docs_management", {"action": "create_shelf", "name": "x"}),
        ("docs_management", {"action": "manage_document_links", "operation": "pin", "link_id": 1}),
        ("ledger_open_session", {}),
    ):
        project = {} if tool == "docs_management" else {"project_id": "p"}
        answer = team.call(tool, reader, **project, **arguments)
        assert (answer["ok"], answer["error_code"]) == (False, "INVALID_PARAM"), tool
        assert "may only read" in answer["detail"]
    assert added(team, "p", reader)["ok"] is False
    assert team.call("memory_search", reader, query="deploy", project_id="p")["total"] == 1
    assert team.call("docs_management", reader, action="list_shelves")["ok"]
    assert team.halls.memory.read_entry(entry_id=entry, project_id="p").entry.status == "active"


def test_the_audit_names_the_token(serving):
    team = serving()
    entry = added(team, "p", team.token("ada"))["entry_id"]
    assert team.halls.memory.read_entry(entry_id=entry, project_id="p").entry.created_by == "ada"


def test_writes_are_paced(serving):
    now = 0.0
    pace = Pace(3, clock=lambda: now)
    for _ in range(3):
        pace.spend("ada")
    with pytest.raises(LimitExceeded, match="3 writes a minute"):
        pace.spend("ada")
    pace.spend("bob")
    now = 20.0
    pace.spend("ada")
    with pytest.raises(LimitExceeded):
        pace.spend("ada")


# --- paths ---------------------------------------------------------------------------------------------------------------


def test_without_roots_every_path_is_refused(serving, tmp_path):
    team = serving()
    token = team.token()
    for tool, arguments in (
        ("memory_search", {"query": "x", "project_path": str(tmp_path)}),
        ("memory_export_project", {"project_id": "p", "save_path": str(tmp_path / "x.json")}),
        ("memory_import_project", {"project_id": "p", "import_path": str(tmp_path / "x.json")}),
        ("memory_mine_project_notes", {"project_id": "p", "source_path": str(tmp_path)}),
        ("docs_management", {"action": "scan_folder", "shelf": "s", "folder_path": str(tmp_path)}),
        ("docs_management", {"action": "scan_file", "shelf": "s", "file_path": str(tmp_path / "a.md")}),
        ("docs_management", {"action": "export_shelf", "shelf": "s", "save_path": str(tmp_path / "x.json")}),
    ):
        answer = team.call(tool, token, **arguments)
        assert answer["error_code"] == "INVALID_PARAM", tool
        assert "takes no paths" in answer["detail"]
    assert list(tmp_path.glob("x.json")) == []


def test_inside_the_roots_a_folder_is_scanned_and_paths_are_told_relative(serving, tmp_path):
    notes = tmp_path / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "deep" / "a.md").write_text("# A\n\nthe deploy waits\n", encoding="utf-8")
    team = serving(DOCS_ALLOWED_ROOTS=str(tmp_path), MEMORY_ALLOWED_ROOTS=str(tmp_path))
    token = team.token()
    assert team.call("docs_management", token, action="scan_folder", shelf="s", folder_path=str(notes))["new"] == 1
    found = team.call("docs_navigation", token, action="search", query="deploy")
    assert found["results"][0]["file_path"] == "deep/a.md"
    read = team.call("docs_navigation", token, action="read_document", document_id=found["results"][0]["id"])
    assert read["file_path"] == "deep/a.md"
    status = team.call("memory_status", token)
    assert status["db_path"] == "memory.sqlite"
    refused = team.call("docs_management", token, action="scan_folder", shelf="s", folder_path=str(tmp_path / "nothing"))
    raw = team.post("tools/call", {"name": "docs_management", "arguments": {"action": "feature_status"}}, token).text
    for told in (found, read, status, refused, raw):
        assert str(tmp_path) not in json.dumps(told)
    shelf = team.ask("resources/read", {"uri": found["results"][0]["shelf_uri"]}, token)
    assert str(tmp_path) not in json.dumps(shelf)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/a/b/c.md", "c.md"), ("/a/b/d/c.md", "d/c.md"), ("/x/c.md", "c.md"), ("c.md", "c.md"), ("/a/b", "b"),
        ("/a/bc/d.md", "bc/d.md"),
    ],
)
def test_a_path_is_told_below_its_longest_root(path, told):
    assert relative(path, ("/a/b", "/a")) == told
