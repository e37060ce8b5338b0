"""The edit of a promoted concept: it waits for a person, and until then the concept says what was approved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam
from scaffale.indexer import clock, proposals
from scaffale.indexer.proposals import Proposal
from scaffale.memory.life import new_id, sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from scaffale.model import Entry

_FIXED = ("scope", "tags", "importance", "confidence")  # a concept is found by what it says


def propose(connection: apsw.Connection, entry: Entry, new: Mapping[str, Any], actor: str) -> tuple[str | None, list[str]]:
    """Put the edit into the queue; the id of the proposal, `None` when nothing changes or the same waits already, and
    warnings. Raises for what may not become of a concept."""
    from scaffale.memory import concepts

    changes = {name: value for name, value in new.items() if name not in ("invalidated_at", "invalidation_reason")}
    if not changes:
        return None, []
    if fixed := [name for name in _FIXED if name in changes]:
        raise InvalidParam(f"{fixed[0]}: of a concept only title, topic, content, summary and status are edited")
    if why := concepts.refusal(str(changes.get("title") or entry.title or entry.topic)):
        raise InvalidParam(f"title: {why}")
    draft = {"revises": entry.id, "changes": changes, "source_type": entry.source_type}
    digest = sha256(json.dumps(draft, sort_keys=True, ensure_ascii=False))
    proposal = Proposal(new_id(), entry.project_id, f"an edit by {actor}", draft, clock.now())
    waits = f"{entry.display_id} stays as it is until a person accepts the edit: scaffale review"
    if not proposals.add(connection, proposal, digest):
        return None, [f"the same edit waits already; {waits}"]
    return proposal.id, [waits]
