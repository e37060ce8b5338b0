"""The whole server over fake halls, through the SDK's own client, in both protocol eras."""

from __future__ import annotations

import json
import logging
from contextlib import asynccontextmanager
from functools import partial

import anyio
import mcp_types as types
import pytest
from fake_halls import opened
from mcp import Client
from mcp.shared.exceptions import MCPError

from scaffale.server.mcp import server
from scaffale.server.mcp.registry import choose
from scaffale.server.mcp.tools import TOOLS

ERAS = ("legacy", "2026-07-28")


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
def halls():
    return opened()


def talk(halls, era, conversation, *, tools="default", project=None):
    """Run `conversation(client)` against a fresh server."""

    @asynccontextmanager
    async def connected():
        info = types.Implementation(name="tester", version="1.2")
        async with Client(server.build(halls.halls, tools, project), mode=era, client_info=info) as client:
            yield client

    async def main():
        with anyio.fail_after(30):
            async with connected() as client:
                return await conversation(client)

    return anyio.run(main)


def refusal(halls, era, request, **more):
    """The protocol error that a request is answered with."""

    async def conversation(client):
        with pytest.raises(MCPError) as caught:
            await request(client)
        return caught.value

    return talk(halls, era, conversation, **more)


def call(halls, era, name, arguments, **more):
    return talk(halls, era, lambda client: client.call_tool(name, arguments), **more)


# --- what is offered ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tools", ["default", "all", "memory", "docs"])
def test_clients_see_the_registry(halls, era, tools):
    listed = talk(halls, era, lambda client: client.list_tools(), tools=tools)
    seen = [json.loads(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed.tools]
    assert seen == [spec.wire() for spec in choose(TOOLS, tools)]
    assert not halls.memory.calls and not halls.docs.calls


def test_instructions_are_short_and_say_the_rules():
    assert len(server.INSTRUCTIONS) <= 2_048
    assert server.INSTRUCTIONS.isascii()
    for rule in ("context, not authority", "cross_project", "start_line", "never an instruction"):
        assert rule in server.INSTRUCTIONS


def test_the_handshake_names_the_server(halls):
    async def look(client):
        return client.server_info, client.instructions, client.server_capabilities

    info, instructions, capabilities = talk(halls, "legacy", look)
    assert info.name == "scaffale"
    assert info.version
    assert instructions == server.INSTRUCTIONS
    assert capabilities.tools and capabilities.resources and capabilities.completions
    assert capabilities.prompts and capabilities.logging is None


# --- calls ----------------------------------------------------------------------------------------------------------

CALLS = [
    ("memory_status", {}),
    ("memory_status", {"project_id": "home"}),
    ("memory_search", {"query": "x", "project_id": "home"}),
    ("memory_search", {"query": "nothing", "project_id": "home"}),
    ("memory_search", {"project_id": "home"}),
    ("memory_read_entry", {"entry_id": "e1", "project_id": "home"}),
    ("memory_add_entry", {"topic": "t", "content": "c", "source_type": "decision", "project_path": "/p"}),
    ("memory_invalidate_entry", {"entry_id": "e1", "project_id": "home"}),
    ("memory_list_scopes", {"project_id": "home"}),
    ("memory_list_topics", {"project_id": "home", "scope": "s"}),
    ("memory_list_tags", {"project_id": "home", "status": "any"}),
    ("docs_navigation", {"action": "search", "query": "x"}),
    ("docs_navigation", {"action": "read_document", "document_id": 3}),
    ("docs_navigation", {"action": "list_documents"}),
    ("docs_management", {"action": "list_shelves"}),
    ("docs_management", {"action": "create_shelf", "name": "n"}),
    ("docs_management", {"action": "scan_folder", "folder_path": "/x", "shelf": "s"}),
    ("docs_management", {"action": "resync_all"}),
    ("docs_management", {"action": "feature_status"}),
    ("docs_management", {"action": "remove_shelf", "shelf": "Guides"}),
    ("docs_management", {"action": "remove_document", "document_id": 3}),
    ("docs_navigation", {"action": "search", "query": "nothing"}),
    ("docs_navigation", {"action": "read_document", "document_id": 3, "search_string": "text"}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda part: str(part)[:60])
def test_every_answer_is_enough_as_text_and_as_data(halls, era, name, arguments):
    result = call(halls, era, name, arguments)
    assert result.is_error is False
    assert result.structured_content["ok"] is True
    assert isinstance(result.structured_content["warnings"], list)
    assert all(block.type == "text" for block in result.content)
    assert any(block.text.strip() for block in result.content)
    for warning in result.structured_content["warnings"]:
        assert any(f"Warning: {warning}" in block.text for block in result.content)
    assert not any("\x1b" in block.text or "\u202e" in block.text for block in result.content)


def test_a_search_says_in_text_what_it_found(halls, era):
    (block,) = call(halls, era, "memory_search", {"query": "x", "project_id": "home"}).content
    for part in ("2 of 5 entries in home; go on with offset 2", "[e1]", "backend/auth", "Title 1", ">>>token<<<"):
        assert part in block.text
    (block,) = call(halls, era, "memory_search", {"query": "nothing", "project_id": "home"}).content
    for part in ("0 entries", "Check the docs.", "backend (2)", "auth (1)"):
        assert part in block.text


def test_a_read_gives_all_of_the_text(halls, era):
    (block,) = call(halls, era, "memory_read_entry", {"entry_id": "e1", "project_id": "home"}).content
    assert block.text.endswith("Content 1 \\u001b[31mred\\u001b[0m \\u202etxt")
    answer = call(halls, era, "docs_navigation", {"action": "read_document", "document_id": 3})
    assert answer.structured_content["content"] == "# Title\n\ntext \x1b[31mred\x1b[0m \u202etxt\r\n"
    assert "changed since it was indexed" in answer.content[0].text


@pytest.mark.parametrize(
    ("tool", "arguments", "noun"),
    [
        ("docs_navigation", {"action": "search", "query": "x"}, "results"),
        ("docs_navigation", {"action": "list_documents"}, "documents"),
        ("docs_management", {"action": "list_shelves"}, "shelves"),
    ],
)
def test_older_clients_find_the_list_in_the_first_block(halls, era, tool, arguments, noun):
    result = call(halls, era, tool, arguments)
    assert json.loads(result.content[0].text) == result.structured_content[noun]
    assert len(result.content) == 2


def test_verbs_get_what_was_said_and_who_said_it(halls, era):
    call(halls, era, "memory_search", {"query": "x", "project_id": "p", "tags": ["a"], "limit": 3.0, "scope": None})
    assert halls.memory.calls == [("search", {"query": "x", "project_id": "p", "tags": ("a",), "limit": 3})]
    call(halls, era, "memory_add_entry", {"topic": "t", "content": "c\n", "source_type": "decision", "project_id": "p"})
    assert halls.memory.calls[-1] == (
        "add_entry",
        {"actor": "tester 1.2", "topic": "t", "content": "c\n", "source_type": "decision", "project_id": "p"},
    )
    call(halls, era, "docs_navigation", {"action": "read_document", "document_id": 3, "section": "Install"})
    assert halls.docs.calls[-1] == ("read_document", {"document_id": 3, "section": "Install"})


def test_what_an_action_ignores_is_warned_about(halls, era):
    result = call(halls, era, "docs_management", {"action": "list_shelves", "shelf": "x"})
    assert result.structured_content["warnings"] == ["the action list_shelves takes no shelf: ignored"]


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "code", "project"),
    [
        ("memory_search", {"query": 5}, "INVALID_PARAM", None),
        ("memory_search", {"query": "x"}, "INVALID_PARAM", None),
        ("memory_search", {"query": "x", "querry": "y"}, "INVALID_PARAM", None),
        ("memory_search", {"query": "x" * 2_000_000, "project_id": "p"}, "LIMIT_EXCEEDED", None),
        ("memory_search", {"query": "unreadable", "project_id": "p"}, "STORE_UNREADABLE", "home"),
        ("memory_read_entry", {"entry_id": "e2", "project_id": "p"}, "NOT_FOUND", "home"),
        ("docs_navigation", {"action": "fly"}, "INVALID_PARAM", None),
        ("docs_navigation", {"action": "read_document", "document_id": 404}, "NOT_FOUND", None),
    ],
)
def test_errors_are_data(halls, era, name, arguments, code, project):
    result = call(halls, era, name, arguments)
    assert result.is_error is True
    assert result.structured_content["ok"] is False
    assert result.structured_content["error_code"] == code
    assert result.structured_content.get("project_id") == project
    (block,) = result.content
    assert block.text == f"{code}: {result.structured_content['detail']}"
    assert "\n" not in block.text


@pytest.mark.parametrize("query", ["crash", "panic"])
def test_a_defect_is_logged_and_answered_without_its_text(halls, era, query, caplog):
    with caplog.at_level(logging.ERROR):
        result = call(halls, era, "memory_search", {"query": query, "project_id": "p"})
    assert result.structured_content["error_code"] == "INTERNAL"
    assert "see the server log" in result.content[0].text
    assert "nobody" not in result.content[0].text and "unwrap" not in result.content[0].text
    assert "memory_search failed" in caplog.text and "Traceback" in caplog.text


def test_a_defect_of_the_checks_is_no_exception(halls, era, monkeypatch, caplog):
    monkeypatch.setattr("scaffale.server.mcp.registry.require", lambda *_, **__: 1 / 0)
    result = call(halls, era, "docs_navigation", {"action": "search", "query": "x"})
    assert result.structured_content["error_code"] == "INTERNAL"
    assert "ZeroDivisionError" in caplog.text


def test_an_unknown_tool_is_a_protocol_error(halls, era):
    for name in ("no_such_tool", "docs_navigation"):
        error = refusal(halls, era, partial(Client.call_tool, name=name, arguments={}), tools="memory")
        assert error.code == types.INVALID_PARAMS
        assert error.message == f"Unknown tool: {name}"


# --- resources ------------------------------------------------------------------------------------------------------


def test_resources_are_listed_read_and_completed(halls, era):
    async def browse(client):
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        templates = await client.list_resource_templates()
        read = await client.read_resource("memory://entry/e1")
        reference = types.ResourceTemplateReference(uri="memory://project/{project_id}/scope/{scope}")
        completed = await client.complete(reference, {"name": "scope", "value": "t"})
        return first, second, templates, read, completed

    first, second, templates, read, completed = talk(halls, era, browse, project="home")
    assert len(first.resources) == 100
    assert not {resource.uri for resource in first.resources} & {resource.uri for resource in second.resources}
    assert len(templates.resource_templates) == 7
    assert json.loads(read.contents[0].text)["entry"]["id"] == "e1"
    assert completed.completion.values == ["two"]


@pytest.mark.parametrize(("era", "code"), [("legacy", -32002), ("2026-07-28", types.INVALID_PARAMS)])
def test_a_missing_resource_is_told_in_the_words_of_its_era(halls, era, code):
    error = refusal(halls, era, lambda client: client.read_resource("docs://document/404"))
    assert error.code == code
    assert error.message == "no document 404"


def test_a_foreign_cursor_is_an_error(halls, era):
    for ask in (
        lambda client: client.list_resources(cursor="zzz"),
        lambda client: client.list_tools(cursor="zzz"),
        lambda client: client.list_resource_templates(cursor="zzz"),
    ):
        assert refusal(halls, era, ask).code == types.INVALID_PARAMS


# --- long work ------------------------------------------------------------------------------------------------------


def test_a_scan_reports_its_progress_and_not_too_often(halls, era):
    seen = []

    async def scan(client):
        async def heard(progress, total, message):
            seen.append((progress, total, message))

        arguments = {"action": "scan_folder", "folder_path": "/x", "shelf": "s"}
        return await client.call_tool("docs_management", arguments, progress_callback=heard)

    result = talk(halls, era, scan)
    assert result.structured_content["failures"] == [{"file_path": "/docs/x?.md", "reason": "not text"}]
    assert seen[-1] == (100, 100, "/docs/100?.md")
    assert len(seen) < 20
    assert [progress for progress, _, _ in seen] == sorted({progress for progress, _, _ in seen})


def test_a_scan_does_not_keep_searches_waiting_and_can_be_cancelled(halls, era):
    slow = {"action": "scan_folder", "folder_path": "/slow", "shelf": "s"}

    async def both(client):
        async with anyio.create_task_group() as scans:
            for _ in range(6):  # more than there are places for quick calls
                scans.start_soon(client.call_tool, "docs_management", slow)
            await anyio.to_thread.run_sync(halls.docs.scanning.wait, 30)
            answers = [await client.call_tool("memory_search", {"query": "x", "project_id": "p"}) for _ in range(3)]
            scans.cancel_scope.cancel()
        await anyio.to_thread.run_sync(halls.docs.stopped.wait, 30)
        after = await client.call_tool("docs_management", {"action": "scan_folder", "folder_path": "/x", "shelf": "s"})
        return [*answers, after]

    assert all(not answer.is_error for answer in talk(halls, era, both))
    assert halls.docs.stopped.is_set()
    assert [name for name, _ in halls.docs.calls].count("scan_folder") == 2  # the waiting ones never began


def test_a_cancelled_call_that_has_begun_is_seen_through(halls, era):
    async def cancel_one(client):
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "memory_search", {"query": "wait", "project_id": "p"})
            await anyio.to_thread.run_sync(halls.memory.begun.wait, 30)
            calls.cancel_scope.cancel()
            halls.memory.gate.set()
        return await client.call_tool("memory_search", {"query": "x", "project_id": "p"})

    assert not talk(halls, era, cancel_one).is_error


def test_the_halls_are_closed_with_the_connection(halls, era):
    call(halls, era, "memory_status", {})
    assert halls.memory.closed
    assert not halls.docs.calls
