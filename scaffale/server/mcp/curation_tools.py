"""The tools with which people and agents curate memory: they are not in the default set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.model import RELATIONS, TARGETS
from scaffale.server.mcp import prose
from scaffale.server.mcp.memory_tools import ADDS, CHANGES, OBJECTS, PROJECT, READS, RETIRES
from scaffale.server.mcp.registry import choice, flag, gives, integer, number, one, takes, text, texts, tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaffale.server.mcp.registry import Call


def asks(verb: str) -> Callable[[Call], Any]:
    """The verb of memory, asked."""
    return lambda call: getattr(call.halls.memory, verb)(**call.arguments)


def writes(verb: str) -> Callable[[Call], Any]:
    """The verb of memory, asked to write; who asks goes into the audit."""
    return lambda call: getattr(call.halls.memory, verb)(actor=call.actor, **call.arguments)


CURATION_TOOLS = (
    tool(
        name="memory_delete_entry",
        title="Delete a memory entry for good",
        description=(
            "Remove an invalidated entry with its tags, links and revisions; only a tombstone without content stays in the "
            "audit. Cannot be undone: ask the user first."
        ),
        hints=CHANGES,
        schema=takes("entry_id", "confirm", entry_id=text(), confirm=flag("Must be true"), **PROJECT, reason=text()),
        answers=gives(),
        verbs=one(writes("delete_entry"), prose.memory_deleted),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_link_entries",
        title="Link a memory entry",
        description=(
            "Link an entry to another of the project, to an indexed document (docs://document/ID, optionally a section) or "
            "to a URI. relation=supersedes marks an active target as superseded. A cited section that changes later marks "
            "the entry."
        ),
        hints=RETIRES,
        schema=takes(
            "source_entry_id",
            source_entry_id=text(),
            **PROJECT,
            target_entry_id=text("Or target_uri"),
            target_uri=text(),
            target_type=choice(*TARGETS),
            relation=choice(*RELATIONS, default="related_to"),
            label=text(),
            confidence=number(minimum=0, maximum=1),
            rationale=text(),
            section=texts("heading_path in the document"),
        ),
        answers=gives(),
        verbs=one(writes("link_entries"), prose.memory_linked),
        domain="memory",
        text_too=("section",),
        by_default=False,
    ),
    tool(
        name="memory_unlink_entries",
        title="Remove a link",
        description="Remove a link by its id. A status that it moved stays.",
        hints=CHANGES,
        schema=takes("link_id", link_id=text(), **PROJECT),
        answers=gives(),
        verbs=one(writes("unlink_entries"), prose.memory_unlinked),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_list_entry_links",
        title="List the links of an entry",
        description="The links of an entry; each says what became of its other end.",
        hints=READS,
        schema=takes(
            "entry_id",
            entry_id=text(),
            **PROJECT,
            direction=choice("outgoing", "incoming", "both", default="outgoing"),
            limit=integer(minimum=1, default=50),
            offset=integer(minimum=0),
        ),
        answers=gives(links=OBJECTS),
        verbs=one(asks("list_entry_links"), prose.memory_links),
        domain="memory",
        by_default=False,
    ),
    tool(
        name="memory_rebuild_index",
        title="Rebuild the memory index",
        description=(
            "Build the search index anew from the store and report what differed. Also takes deleted entries out of the "
            "bytes of all files."
        ),
        hints=ADDS._replace(idempotent=True),
        schema=takes(),
        answers=gives(),
        verbs=one(asks("rebuild_index"), prose.memory_rebuilt, bulk=True),
        domain="memory",
        by_default=False,
    ),
)
