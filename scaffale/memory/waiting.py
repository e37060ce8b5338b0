"""What waits for a person, as it is shown: its text, and the digest that binds a decision to that text. Pure."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from scaffale import secrets
from scaffale.answers.ledger import Near, Waiting
from scaffale.indexer.entries import display_number
from scaffale.memory import concepts
from scaffale.model import CONCEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.indexer.entries import Row
    from scaffale.indexer.proposals import Proposal
    from scaffale.memory.concepts import Group
    from scaffale.model import Entry

_FIELDS = (
    "scope", "topic", "title", "content", "summary", "source_type", "source_ref", "source_path", "source_uri", "tags",
    "importance", "confidence",
)  # fmt: skip


def digest_of(id: str, text: str) -> str:
    """What a decision upon this text, shown under this id, has to name."""
    return hashlib.sha256(f"{id}\x1f{text}".encode("utf-8", "surrogatepass")).hexdigest()


def concept(session_id: str, group: Group, near: Sequence[Near] = ()) -> Waiting:
    """A candidate of a session."""
    id = f"concept/{session_id}/{group.first.seq}"
    text = secrets.mask(concepts.shown(group, session_id))
    title = secrets.mask(group.first.subject)
    return Waiting(id, "concept", title, text, digest_of(id, text), f"session {session_id}", tuple(near))


def proposal(found: Proposal, current: Row | None = None, near: Sequence[Near] = ()) -> Waiting:
    """A proposal in the queue; `current` is the entry that an edit is of."""
    id = f"proposal/{found.id}"
    what = kind(found)
    if what == "edit":
        title, text = _edit(found, current.entry if current else None)
    else:
        draft = found.draft
        title = str(draft.get("title") or draft.get("topic"))
        told = {**{name: draft.get(name) for name in _FIELDS if name != "content"}, **(draft.get("metadata") or {})}
        lines = [f"{name}: {_said(value)}" for name, value in told.items() if value not in (None, (), [])]
        text = "\n".join([*lines, f"from {found.origin}", "", str(draft["content"])])
    text = secrets.mask(text)
    return Waiting(id, what, secrets.mask(title), text, digest_of(id, text), found.origin, tuple(near))


def kind(found: Proposal) -> str:
    """Of what kind a proposal is: see `answers.ledger.Waiting`."""
    if "revises" in found.draft:
        return "edit"
    return "imported_concept" if found.draft.get("source_type") == CONCEPT else "proposal"


def near(entry: Entry, share: float, cited: bool) -> Near:
    """A promoted concept, as it is shown beside a candidate."""
    id = entry.display_id or ""
    digest = digest_of(id, f"{entry.title}\x1f{entry.content}\x1f{entry.status}")
    return Near(id, entry.id, entry.title, entry.content, entry.source_ref, round(share, 2), cited, digest)


def said(found: Proposal) -> dict[str, Any]:
    """The arguments of the entry that a proposal becomes."""
    given: dict[str, Any] = dict.fromkeys(_FIELDS)
    given |= {"importance": 3, **{name: value for name, value in found.draft.items() if name in _FIELDS}}
    given["tags"] = list(given["tags"] or ())
    if kind(found) == "imported_concept":
        return {**given, "scope": concepts.SCOPE, "title": given["title"] or given["topic"]}
    return {**given, "secrets": "redact"}


def sources(found: Proposal) -> list[dict[str, Any]]:
    """Where an imported concept says that it is from."""
    return concepts.sources_of(found.draft.get("metadata") or {})


def wanted_number(found: Proposal) -> int | None:
    """The number that an imported concept had where it is from."""
    return display_number(str(found.draft.get("display_id") or ""))


def _edit(found: Proposal, current: Entry | None) -> tuple[str, str]:
    """Title and text of an edit: each field that changes, what it says now and what it would say."""
    changes = found.draft["changes"]
    name = (current.display_id if current else None) or found.draft["revises"]
    title = str(changes.get("title") or (current and (current.title or current.topic)) or name)
    lines = [f"an edit of {name}, from {found.origin}"]
    for field, value in sorted(changes.items()):
        lines += ["", f"{field} now: {_said(getattr(current, field, None))}", "", f"{field} instead: {_said(value)}"]
    return title, "\n".join(lines)


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
