"""How the tests of the ledger record what is decided, and decide as a reviewer does."""

from __future__ import annotations

from scaffale.model import CONCEPT

HOME = {"project_id": "p"}
ACTOR = {"actor": "tester", **HOME}


def open_session(memory, session_id="s", **more):
    return memory.open_session(session_id=session_id, **{**ACTOR, **more})


def record(memory, phase="F1", type="table_excluded", subject="orders", detail="what of it", session_id="s", **more):
    given = {"phase": phase, "type": type, "subject": subject, "detail": detail, "session_id": session_id}
    return memory.record_decision(**{**given, **ACTOR, **more})


def clarify(memory, subject="Ablation", detail="A procedure with ablation = TRUE.", phase="F1", **more):
    return record(memory, phase, CONCEPT, subject, detail, **more)


def withdraw(memory, seq, phase="F1", **more):
    return record(memory, phase, "decision_withdrawn", "", f"seq:{seq}", **more)


def go_back(memory, phase, **more):
    return record(memory, phase, "phase_reopened", "", "", **more)


def waiting(memory, session_id="s", **more):
    """All that waits, whatever the pages."""
    found, offset = [], 0
    while offset is not None:
        page = memory.review(session_id=session_id, offset=offset, **{**HOME, **more})
        found += page.waiting
        offset = page.next_offset
    return found


def decide(memory, shown, verdict="accept", **more):
    return memory.decide(id=shown.id, verdict=verdict, digest=shown.digest, **{**ACTOR, "actor": "reviewer", **more})


def promote(memory, subject="Ablation", detail="A procedure with ablation = TRUE.", session_id="s", **more):
    """A new concept of a session, clarified and accepted."""
    seq = clarify(memory, subject, detail, session_id=session_id, **more).seq
    shown = next(each for each in waiting(memory, session_id) if each.id == f"concept/{session_id}/{seq}")
    return decide(memory, shown)
