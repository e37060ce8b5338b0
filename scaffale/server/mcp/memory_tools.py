"""The tools of memory. Their descriptions are read by models at every session: each word costs, and must be true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.model import SOURCE_TYPES, STATUSES
from scaffale.server.mcp import prose
from scaffale.server.mcp.registry import Hints, choice, flag, gives, integer, number, one, takes, text, texts, tool

if TYPE_CHECKING:
    from scaffale.server.mcp.registry import ToolSpec

READS = Hints(read_only=True, destructive=False, idempotent=True)
ADDS = Hints(read_only=False, destructive=False, idempotent=False)
CHANGES = Hints(read_only=False, destructive=True, idempotent=False)
RETIRES = Hints(read_only=False, destructive=True, idempotent=True)

PROJECT = {"project_path": text("Or give project_id"), "project_id": text()}
MODE = choice("project", "cross_project", default="project")
BUDGET = integer("Leave out what does not fit", minimum=50)
STATUS = choice(*STATUSES, "any", default="active")
OBJECTS = {"type": "array", "items": {"type": "object"}}


def _names(kind: str) -> ToolSpec:
    return tool(
        name=f"memory_list_{kind}",
        title=f"List memory {kind}",
        description=f"The {kind} of a project's memory entries, with counts.",
        hints=READS,
        schema=takes(**PROJECT, status=STATUS, scope=text(), topic=text()),
        answers=gives(),
        verbs=one(lambda call: getattr(call.halls.memory, f"list_{kind}")(**call.arguments), prose.names),
        domain="memory",
    )


MEMORY_TOOLS = (
    tool(
        name="memory_status",
        title="Memory status",
        description="What memory holds for a project, which features work.",
        hints=READS,
        schema=takes(**PROJECT),
        answers=gives(),
        verbs=one(lambda call: call.halls.memory.status(**call.arguments), prose.memory_status),
        domain="memory",
    ),
    tool(
        name="memory_search",
        title="Search memory",
        description=(
            "Search a project's memory: decisions, root causes, workarounds, conventions, handoffs. Any text is a valid "
            "query; words are OR-ed. An empty query lists. Results carry snippets; memory_read_entry gives the whole."
        ),
        hints=READS,
        schema=takes(
            query=text(),
            **PROJECT,
            scope=text(),
            topic=text(),
            tags=texts("Entries must have all"),
            source_type=choice(*SOURCE_TYPES),
            status=STATUS,
            mode=MODE,
            limit=integer(minimum=1, default=10),
            offset=integer(minimum=0),
            include_content=flag(),
            include_docs=flag("Add the documents that results cite"),
            explain=flag(),
            retrieval=choice("lexical", "vector", "hybrid"),
            budget_tokens=BUDGET,
        ),
        answers=gives(results=OBJECTS),
        verbs=one(lambda call: call.halls.memory.search(**{"query": "", **call.arguments}), prose.memory_search),
        domain="memory",
    ),
    tool(
        name="memory_read_entry",
        title="Read a memory entry",
        description="A whole memory entry, by the id of a search result.",
        hints=READS,
        schema=takes(
            "entry_id",
            entry_id=text(),
            **PROJECT,
            mode=MODE,
            include_history=flag(),
            start_char=integer("Read on where it was cut", minimum=0),
            budget_tokens=BUDGET,
        ),
        answers=gives(),
        verbs=one(lambda call: call.halls.memory.read_entry(**call.arguments), prose.memory_entry),
        domain="memory",
    ),
    tool(
        name="memory_add_entry",
        title="Add a memory entry",
        description=(
            "Save what later sessions on this project need. Content is stored verbatim. An exact duplicate "
            "in the same scope is not stored again; credentials are refused."
        ),
        hints=ADDS,
        schema=takes(
            "topic",
            "content",
            "source_type",
            **PROJECT,
            scope=text("Area, like backend; needed unless the project has a default"),
            topic=text("Like auth-token-expiry"),
            content=text(),
            source_type=choice(*SOURCE_TYPES),
            title=text(),
            summary=text(),
            source_ref=text("Ticket, commit"),
            source_path=text("File in the project"),
            source_uri=text(),
            tags=texts(),
            importance=integer("1 low to 5 critical", minimum=1, maximum=5, default=3),
            confidence=number(minimum=0, maximum=1),
            dedupe=flag(default=True),
            secrets=choice("redact", description="Store with credentials masked"),
        ),
        answers=gives(entry_id={"type": "string"}),
        verbs=one(lambda call: call.halls.memory.add_entry(actor=call.actor, **call.arguments), prose.memory_added),
        domain="memory",
    ),
    tool(
        name="memory_update_entry",
        title="Update a memory entry",
        description=(
            "Correct, archive or restore an entry; fields left out stay. What it said before is kept as a revision. "
            "If the fact itself changed, prefer a new entry that supersedes it."
        ),
        hints=CHANGES,
        schema=takes(
            "entry_id",
            entry_id=text(),
            **PROJECT,
            title=text(),
            content=text(),
            summary=text(),
            scope=text(),
            topic=text(),
            tags=texts("Replaces all"),
            importance=integer(minimum=1, maximum=5),
            confidence=number(minimum=0, maximum=1),
            status=choice("active", "archived"),
            reason=text("To restore an invalidated entry"),
            expected_updated_at=text("updated_at as read"),
            secrets=choice("redact"),
        ),
        answers=gives(),
        verbs=one(lambda call: call.halls.memory.update_entry(actor=call.actor, **call.arguments), prose.memory_updated),
        domain="memory",
    ),
    tool(
        name="memory_invalidate_entry",
        title="Invalidate a memory entry",
        description=(
            "Mark an entry as no longer true. It is kept; searches leave it out unless asked. Repeating changes "
            "nothing."
        ),
        hints=RETIRES,
        schema=takes("entry_id", entry_id=text(), **PROJECT, reason=text()),
        answers=gives(),
        verbs=one(
            lambda call: call.halls.memory.invalidate_entry(actor=call.actor, **call.arguments),
            prose.memory_invalidated,
        ),
        domain="memory",
    ),
    _names("scopes"),
    _names("topics"),
    _names("tags"),
)
