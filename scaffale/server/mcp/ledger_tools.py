"""The tools of sessions and concepts. Agents record and propose with them; no tool, and no argument, approves."""

from __future__ import annotations

from scaffale.model import DECISION_TYPES
from scaffale.server.mcp import ledger_prose as prose
from scaffale.server.mcp.curation_tools import asks, writes
from scaffale.server.mcp.memory_tools import ADDS, OBJECTS, PROJECT, READS
from scaffale.server.mcp.registry import choice, gives, integer, one, takes, text, texts, tool

LEDGER_TOOLS = (
    tool(
        name="ledger_open_session",
        title="Open a session",
        description="Begin a session's ledger of decisions, or go on with the one of session_id.",
        hints=ADDS._replace(idempotent=True),
        schema=takes(**PROJECT, session_id=text(), title=text(), phases=texts("In order; default F1 to F8")),
        answers=gives(session_id={"type": "string"}),
        verbs=one(writes("open_session"), prose.opened),
        domain="ledger",
        by_default=False,
    ),
    tool(
        name="ledger_record_decision",
        title="Record a decision",
        description=(
            "Append a decision to a session; nothing is ever rewritten. concept_clarified: what a term means, never a table or "
            "column. decision_withdrawn: detail seq:N. phase_reopened goes back to a phase; later ones become stale."
        ),
        hints=ADDS,
        schema=takes(
            "session_id",
            "phase",
            "type",
            **PROJECT,
            session_id=text(),
            phase=text("Of the session"),
            type=choice(*DECISION_TYPES),
            subject=text(),
            detail=text("Markdown, kept verbatim"),
            rationale=text("Cites mem-NNNN when a recalled concept was chosen"),
            question_context=text(),
            supersedes_seq=integer("The decision that this replaces", minimum=1),
            concepts=texts("Other terms that it is about"),
        ),
        answers=gives(seq={"type": "integer"}),
        verbs=one(writes("record_decision"), prose.recorded),
        domain="ledger",
        by_default=False,
    ),
    tool(
        name="ledger_session_summary",
        title="Summarise a session",
        description="What a session decided: memories approved and declined, what waits, what is hidden and why.",
        hints=READS,
        schema=takes("session_id", **PROJECT, session_id=text()),
        answers=gives(),
        verbs=one(asks("session_summary"), prose.summary),
        domain="ledger",
        by_default=False,
    ),
    tool(
        name="ledger_propose_promotion",
        title="Preview what may become memory",
        description="The concepts of a session that a person may promote, five to a page. A person decides, no tool does.",
        hints=READS,
        schema=takes("session_id", **PROJECT, session_id=text(), page=integer(minimum=1, default=1)),
        answers=gives(candidates=OBJECTS),
        verbs=one(asks("propose_promotion"), prose.preview),
        domain="ledger",
        by_default=False,
    ),
    tool(
        name="ledger_recall_concepts",
        title="Recall concepts",
        description=(
            "Promoted concepts that fit a question, without those that session_id has decided on. None is applied: ask, then "
            "record each chosen one as concept_clarified citing its mem-NNNN."
        ),
        hints=READS,
        schema=takes(query=text(), **PROJECT, session_id=text(), limit=integer(minimum=1, default=10), offset=integer(minimum=0)),
        answers=gives(results=OBJECTS),
        verbs=one(
            lambda call: call.halls.memory.recall_concepts(**{"query": "", **call.arguments}), prose.recalled
        ),
        domain="ledger",
        by_default=False,
    ),
)
