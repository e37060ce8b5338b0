"""The tools that build memory from what is there already, sum it up, check it, and carry it from store to store."""

from __future__ import annotations

from scaffale.server.mcp import prose
from scaffale.server.mcp.curation_tools import asks, writes
from scaffale.server.mcp.memory_tools import ADDS, CHANGES, MODE, OBJECTS, PROJECT, READS
from scaffale.server.mcp.registry import choice, flag, gives, integer, one, takes, text, texts, tool

PLACE = {**PROJECT, "scope": text(), "topic": text()}
APPLY = {"apply": flag("Write; default false shows a preview"), "secrets": choice("redact")}

EXCHANGE_TOOLS = (
    tool(
        name="memory_find_similar",
        title="Find similar memory entries",
        description="Active entries that share words with an entry or a text, most alike first.",
        hints=READS,
        schema=takes(entry_id=text("Or text"), text=text(), **PROJECT, limit=integer(minimum=1, default=10), mode=MODE),
        answers=gives(results=OBJECTS),
        verbs=one(asks("find_similar"), prose.memory_similar),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_handoff_summary",
        title="Summarise what changed",
        description=(
            "What changed in a project's memory since a moment: decisions, open points, what is no longer valid; as Markdown "
            "and as data."
        ),
        hints=READS,
        schema=takes(**PROJECT, since=text("12h, 7d, 2w or a date", default="7d"), scope=text()),
        answers=gives(),
        verbs=one(asks("handoff_summary"), prose.memory_handoff),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_verify_entry",
        title="Verify a memory entry",
        description=(
            "Look whether the file, document sections and commit that an entry cites are still there and unchanged; records "
            "what it saw."
        ),
        hints=ADDS._replace(idempotent=True),
        schema=takes("entry_id", entry_id=text(), **PROJECT),
        answers=gives(),
        verbs=one(writes("verify_entry"), prose.memory_verified),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_add_from_ticket",
        title="Make an entry from a ticket",
        description="Build an entry from a ticket's text, kept verbatim. Says which words gave title, tags and summary.",
        hints=ADDS,
        schema=takes("text", "ticket_ref", text=text(), ticket_ref=text(), **PLACE, **APPLY),
        answers=gives(),
        verbs=one(writes("add_from_ticket"), prose.memory_captured),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_add_from_git_context",
        title="Make entries from commits",
        description="Build entries from a commit (rev), or from each commit of a range or branch, of the project's repository.",
        hints=ADDS,
        schema=takes(rev=text("Or range"), range=text("A..B or a branch"), **PLACE, **APPLY),
        answers=gives(),
        verbs=one(writes("add_from_git_context"), prose.memory_captured, bulk=True),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_add_from_docs_result",
        title="Make an entry about a document",
        description=(
            "Note something about an indexed document or a section of it. The entry is linked to it and is marked when it "
            "changes."
        ),
        hints=ADDS,
        schema=takes(
            "document_id",
            "note",
            document_id=integer(minimum=1),
            section=texts("heading_path"),
            note=text(),
            **PLACE,
            **APPLY,
        ),
        answers=gives(),
        verbs=one(writes("add_from_docs_result"), prose.memory_captured),
        domain="memory",
        text_too=("section",),
        by_default=False,
    ),
    tool(
        name="memory_mine_project_notes",
        title="Make entries from notes",
        description="Build an entry from each marked decision, or else each section, of Markdown notes (a file or a folder).",
        hints=ADDS,
        schema=takes("source_path", source_path=text(), **PLACE, **APPLY),
        answers=gives(),
        verbs=one(writes("mine_project_notes"), prose.memory_captured, bulk=True),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_export_project",
        title="Export a project's memory",
        description="Write a project's entries, tags and links to a file inside the allowed roots.",
        hints=ADDS,
        schema=takes(
            "save_path",
            save_path=text(),
            **PROJECT,
            format=choice("json", "zip", default="json"),
            include_archived=flag(),
            include_invalidated=flag(),
            overwrite=flag(),
        ),
        answers=gives(),
        verbs=one(writes("export_project"), prose.memory_exported, bulk=True),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_import_project",
        title="Import a project's memory",
        description=(
            "Read an export, in one transaction. fail: nothing if an entry exists. merge: add what is new, fill what is "
            "missing. replace: remove the project's entries first; ask the user."
        ),
        hints=CHANGES,
        schema=takes(
            "import_path",
            import_path=text(),
            **PROJECT,
            on_conflict=choice("fail", "merge", "replace", default="fail"),
            confirm_replace=flag(),
            secrets=choice("refuse", "redact", default="refuse"),
        ),
        answers=gives(),
        verbs=one(writes("import_project"), prose.memory_imported, bulk=True),
        domain="memory",
        by_default=False,
    ),
)
