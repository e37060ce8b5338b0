"""The main job through MCP: real halls on a real folder, in memory in both eras and as processes that share a store."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import anyio
import pytest
from mcp import Client, StdioServerParameters

from scaffale.server.halls import Halls
from scaffale.server.mcp import server

ENTRY = os.path.join(os.path.dirname(__file__), "real_server.py")
GUIDE = "# Guide\n\nIntro.\n\n## Linux\n\nRun the frobnicator.\n\n## Mac\n\nDrag it.\n"


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "guide.md").write_text(GUIDE, encoding="utf-8")
    (folder / "bad.md").write_bytes(b"# Bad\n\n\xff\xfe\n")
    return folder


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture(params=["legacy", "2026-07-28"])
def talk(request, make_settings):
    def talk(conversation, project=None):
        async def main():
            with anyio.fail_after(30):
                served = server.build(Halls.over(make_settings()), "all", project)
                async with Client(served, mode=request.param) as client:
                    return await conversation(client)

        return anyio.run(main)

    return talk


async def ask(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error is not True, result.content[0].text
    return result.structured_content


async def refused(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error is True
    return result.structured_content["error_code"]


def test_a_folder_is_scanned_asked_and_read(talk, notes):
    before = {path.name: path.read_bytes() for path in notes.iterdir()}

    async def conversation(client):
        report = await ask(client, "docs_management", action="scan_folder", folder_path=str(notes), shelf="notes")
        assert (report["seen"], report["new"], report["failed"]) == (2, 2, 0)
        assert any("bad.md" in warning for warning in report["warnings"])
        (hit,) = (await ask(client, "docs_navigation", action="search", query="frobnicator"))["results"]
        assert hit["heading_path"] == ["Guide", "Linux"]
        assert ">>>frobnicator<<<" in hit["snippet"]
        wanted = {"action": "read_document", "document_id": hit["id"]}
        lines = {"start_line": hit["start_line"], "end_line": hit["end_line"]}
        for part in (lines, {"section": hit["heading_path"]}, {"section": "Guide > Linux"}, {"section": ["Guide > Linux"]}):
            read = await ask(client, "docs_navigation", **wanted, **part)
            assert read["content"] == "## Linux\n\nRun the frobnicator.\n\n", part
        assert (await ask(client, "docs_navigation", **wanted))["content"] == GUIDE
        again = await ask(client, "docs_management", action="resync_all")
        assert [each["same"] for each in again["reports"]] == [2]
        assert (await client.read_resource(hit["uri"])).contents[0].text == GUIDE
        removed = await ask(client, "docs_management", action="remove_shelf", shelf="notes")
        assert removed["removed_documents"] == 2
        assert (await ask(client, "docs_navigation", action="search", query="frobnicator"))["results"] == []

    talk(conversation)
    assert {path.name: path.read_bytes() for path in notes.iterdir()} == before


def test_a_map_is_made_by_lists_of_objects(talk, notes):
    async def conversation(client):
        await ask(client, "docs_management", action="scan_folder", folder_path=str(notes), shelf="notes")
        await ask(client, "docs_management", action="create_tag", name="setup")
        one, two = [each["id"] for each in (await ask(client, "docs_navigation", action="list_documents"))["documents"]]
        both = [{"document_id": one, "tags": ["setup"]}, {"document_id": two, "tags": []}]
        tagged = await ask(client, "docs_management", action="bulk_set_document_tags", assignments=both)
        assert tagged["documents"] == [{"document_id": one, "tags": ["setup"]}, {"document_id": two, "tags": []}]
        odd = [*both, {"document_id": "2", "tags": []}]
        assert await refused(client, "docs_management", action="bulk_set_document_tags", assignments=odd) == "INVALID_PARAM"
        way = {"action": "manage_document_links", "operation": "replace_for_document", "document_id": one}
        full = {"target_document_id": two, "relation": "mentions", "confidence": 0.5, "label": "see", "rationale": "It says so."}
        (link,) = (await ask(client, "docs_management", **way, links=[full]))["links"]
        assert (link["target"]["id"], link["origin"]) == (two, "mcp")
        assert {name: link[name] for name in ("relation", "confidence", "label", "rationale")} == {
            name: full[name] for name in ("relation", "confidence", "label", "rationale")
        }
        for wrong in ({}, {"target_document_id": two, "weight": 1}, {"target_document_id": True}, {"target_document_id": one}):
            assert await refused(client, "docs_management", **way, links=[full, wrong]) == "INVALID_PARAM"
        kept = await ask(client, "docs_management", **{**way, "operation": "list"})
        assert [each["link_id"] for each in kept["links"]] == [link["link_id"]]

    talk(conversation)


def test_links_are_proposed_and_kept_when_asked(talk, notes):
    async def conversation(client):
        await ask(client, "docs_management", action="scan_folder", folder_path=str(notes), shelf="notes")
        way = {"action": "correlate", "shelf": "notes", "min_confidence": 0.0}
        shown = await ask(client, "docs_management", **way)
        assert shown["would_apply"] > 0 == shown["applied_links"]
        kept = await ask(client, "docs_management", **way, apply=True, scope="cross_shelf", target_shelves=["notes"])
        assert kept["applied_links"] == shown["would_apply"]
        assert kept["sample_links"][0]["rationale"]
        assert await refused(client, "docs_management", **way, scope="cross_shelf") == "INVALID_PARAM"
        again = await ask(client, "docs_management", action="resync_all", correlate=True)
        assert again["reports"][0]["correlation"]["apply"] is True

    talk(conversation)


def test_a_shelf_goes_through_a_file(talk, notes, tmp_path):
    async def conversation(client):
        await ask(client, "docs_management", action="scan_folder", folder_path=str(notes), shelf="notes")
        path = str(tmp_path / "notes.json")
        left = await ask(client, "docs_management", action="export_shelf", shelf="notes", save_path=path)
        assert json.loads((tmp_path / "notes.json").read_text())["format_version"] == 2
        again = {"action": "import_shelf", "import_path": path}
        assert await refused(client, "docs_management", **again) == "CONFLICT"
        assert await refused(client, "docs_management", **again, on_conflict="ask") == "INVALID_PARAM"
        came = await ask(client, "docs_management", **again, on_conflict="merge", correlate=True)
        assert came["seen"] == came["same"] == left["documents"] > 0
        copied = await ask(client, "docs_management", **again, shelf="copy")
        assert copied["new"] == left["documents"]

    talk(conversation)


def test_a_decision_is_kept_found_and_retired(talk, project):
    where = {"project_path": str(project)}
    said = {**where, "scope": "backend", "topic": "auth", "content": "Expiry is inclusive.\n", "source_type": "decision"}

    async def conversation(client):
        assert (await ask(client, "memory_status", **where))["exists"] is False
        added = await ask(client, "memory_add_entry", **said)
        assert (await ask(client, "memory_add_entry", **said))["existing_entry_id"] == added["entry_id"]
        (hit,) = (await ask(client, "memory_search", query="inclusive expiry", **where))["results"]
        assert hit["id"] == added["entry_id"]
        entry = (await ask(client, "memory_read_entry", entry_id=hit["id"], **where))["entry"]
        assert entry["content"] == said["content"]
        uri = f"memory://entry/{hit['id']}"
        assert uri in {resource.uri for resource in (await client.list_resources()).resources}
        assert json.loads((await client.read_resource(uri)).contents[0].text)["entry"] == entry
        assert (await ask(client, "memory_list_scopes", **where))["items"] == [{"name": "backend", "count": 1}]
        retired = await ask(client, "memory_invalidate_entry", entry_id=hit["id"], reason="changed", **where)
        assert retired["changed"] is True
        assert (await ask(client, "memory_search", query="expiry", **where))["results"] == []
        assert (await ask(client, "memory_search", query="expiry", status="any", **where))["total"] == 1

    talk(conversation, project=str(project))


def test_projects_are_kept_apart(talk):
    said = {"scope": "s", "topic": "t", "content": "a secret plan", "source_type": "agent_note"}

    async def conversation(client):
        entry_id = (await ask(client, "memory_add_entry", project_id="one", **said))["entry_id"]
        assert (await ask(client, "memory_search", query="plan", project_id="two"))["total"] == 0
        assert await refused(client, "memory_read_entry", entry_id=entry_id, project_id="two") == "NOT_FOUND"
        assert await refused(client, "memory_search", query="plan") == "INVALID_PARAM"
        assert (await ask(client, "memory_search", query="plan", mode="cross_project"))["total"] == 1

    talk(conversation)


def test_hostile_queries_find_nothing_and_break_nothing(talk, notes):
    hostile = ['"', "'", "NEAR(", "a AND (", "* OR *", "-x", "key:value", "(" * 20_000, "😀" * 5_000, "x" * 1_000_000, "\\", "%_"]

    async def conversation(client):
        await ask(client, "docs_management", action="scan_folder", folder_path=str(notes), shelf="notes")
        for query in hostile:
            await ask(client, "docs_navigation", action="search", query=query)
            await ask(client, "memory_search", query=query, project_id="p")
        assert await refused(client, "docs_navigation", action="search", query="a\0b") == "INVALID_PARAM"
        assert (await ask(client, "docs_navigation", action="search", query="frobnicator"))["results"]

    talk(conversation)


def test_two_processes_share_a_store(tmp_path, project):
    """What one agent's server acknowledged, the next search of another's finds."""
    environment = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    parameters = StdioServerParameters(command=sys.executable, args=[ENTRY], env=environment, cwd=str(tmp_path))
    where = {"project_path": str(project)}

    async def main():
        with anyio.fail_after(60):
            async with Client(parameters) as one, Client(parameters) as two:
                for number in range(20):
                    writer, reader = (one, two) if number % 2 else (two, one)
                    added = await ask(
                        writer, "memory_add_entry", **where, scope="s", topic="t", source_type="agent_note",
                        content=f"fact number{number} of many",
                    )  # fmt: skip
                    found = await ask(reader, "memory_search", query=f"number{number}", **where)
                    assert found["results"][0]["id"] == added["entry_id"]

    anyio.run(main)


@pytest.mark.parametrize(
    ("imported", "unwanted"),
    [
        ("scaffale.server.mcp", "mcp mcp_types anyio apsw tantivy"),
        ("scaffale.server.mcp.server", "apsw tantivy pathspec pyromark scaffale.memory scaffale.docs"),
        ("scaffale.server.mcp.stdio", "apsw tantivy pathspec pyromark scaffale.memory scaffale.docs"),
    ],
)
def test_nothing_is_imported_before_it_is_needed(imported, unwanted):
    program = f"import sys, {imported}; print(*sorted({set(unwanted.split())} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
