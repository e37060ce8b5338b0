"""The table of calls that change something, held to the tools that the server has."""

import pytest

from scaffale.server.hooks.calls import changes, ours
from scaffale.server.mcp.tools import TOOLS


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_the_table_knows_every_tool_that_writes(spec):
    actions = [action for action in spec.verbs if action]
    if spec.hints.read_only:
        assert ours(spec.name) is None
    elif actions:
        writing = {action for action in actions if changes(spec.name, {"action": action, "apply": True})}
        assert writing == {action for action in actions if not action.startswith(("list_", "feature_"))}
    else:
        assert changes(spec.name, {"apply": True})


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("mcp__scaffale__memory_delete_entry", {}, True),
        ("mcp__any-name__memory_link_entries", {}, True),
        ("mcp__plugin_a_b__memory_unlink_entries", {}, True),
        ("MCP:shelf:memory_add_entry", {}, True),
        ("shelf/memory_add_entry", {}, True),
        ("mcp_shelf_memory_add_entry", {}, True),
        ("mcp_memory_add_entry", {}, False),
        ("memory_mine_project_notes", {"apply": True}, True),
        ("memory_mine_project_notes", {"apply": False}, False),
        ("memory_mine_project_notes", {}, False),
        ("docs_management", {"action": "remove_shelf"}, True),
        ("docs_management", {"action": "list_tags"}, False),
        ("docs_management", {"action": "manage_document_links", "operation": "list"}, False),
        ("docs_management", {"action": "manage_document_links", "operation": "add"}, True),
        ("docs_management", {"action": "correlate"}, False),
        ("docs_management", {"action": "correlate", "apply": True}, True),
        ("docs_management", {"action": "something new"}, True),
        ("docs_management", "not an object", True),
        ("ledger_record_decision", {}, True),
        ("ledger_recall_concepts", {}, False),
        ("Memory_Add_Entry", {}, False),
        ("memory_add_entry ", {}, False),
        (None, {}, False),
    ],
)
def test_calls(name, arguments, expected):
    assert changes(name, arguments) is expected
