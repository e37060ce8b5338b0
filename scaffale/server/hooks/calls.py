"""Which calls change what is kept. Structural: the name of the tool and its arguments, never the words in them.

`tests/unit/server/hooks/test_calls.py` holds the table to the tools that the server really has.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALWAYS = frozenset(
    """
    memory_add_entry memory_update_entry memory_invalidate_entry memory_delete_entry memory_link_entries memory_unlink_entries
    memory_import_project memory_export_project memory_rebuild_index memory_verify_entry
    ledger_open_session ledger_record_decision
    """.split()
)
WITH_APPLY = frozenset(
    "memory_add_from_ticket memory_add_from_git_context memory_add_from_docs_result memory_mine_project_notes".split()
)
BY_ACTION = "docs_management"
READING_ACTIONS = frozenset(("list_shelves", "list_tags", "feature_status"))
LISTING = frozenset(("manage_shelf_links", "manage_document_links"))  # read when their `operation` is to list
TOOLS = ALWAYS | WITH_APPLY | {BY_ACTION}
ENDS = tuple(TOOLS)


def changes(name: object, arguments: object) -> bool:
    """Whether this call, as a host names it, is one of ours that changes something; the server may have any name."""
    tool = ours(name)
    if tool is None:
        return False
    given: dict[str, Any] = arguments if isinstance(arguments, dict) else {}
    if tool in ALWAYS:
        return True
    if tool in WITH_APPLY:
        return given.get("apply") not in (None, False)
    action = given.get("action")
    if action in LISTING:
        return given.get("operation") != "list"
    if action == "correlate":
        return given.get("apply") not in (None, False)
    return action not in READING_ACTIONS


def ours(name: object) -> str | None:
    """The tool of ours that a host's name for a tool means: bare, or behind `mcp__server__`, `mcp_server_`, `MCP:server:`,
    `server/`, `server.`. None for all others, and for names that merely end like one of ours."""
    if not isinstance(name, str) or not name.endswith(ENDS):
        return None
    if name in TOOLS:
        return name
    for separator in ("__", ":", "/", "."):
        prefix, found, tool = name.rpartition(separator)
        if found and tool in TOOLS:
            return tool if prefix else None
    if name.startswith("mcp_") and "__" not in name:  # one sign everywhere: the longest that fits, behind a server's name
        fitting = [tool for tool in TOOLS if name.endswith("_" + tool) and len(name) > len(tool) + 5]
        return max(fitting, key=len, default=None)
    return None
