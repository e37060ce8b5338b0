"""The verb that sums up what changed, for whoever takes over. Deterministic: no model, the same store gives the same text.

An open point is a line of an active entry that begins like one. The markers are fixed and shown with each point, so
that nobody has to guess why a line was taken.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scaffale.errors import InvalidParam
from scaffale.indexer import clock, entries
from scaffale.indexer.entries import EntryFilter
from scaffale.memory.reading import Reading
from scaffale.memory.room import masked
from scaffale.model import CONCEPT
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaffale.answers.handoff import HandoffSummary, Item, OpenPoint
    from scaffale.indexer.entries import Row
    from scaffale.model import Entry

LISTED = 20  # of each kind; the counts go on
LINE_CHARS = 200
_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_OPEN = (  # compiled when it is asked for: every command imports this
    r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:(?P<box>\[ \])\s*|(?P<word>todo|fixme|open(?: point| question)?|to do|next(?: step)?|"
    r"pending|blocked|da fare|aperto|aperti|in sospeso|prossimo passo|bloccato)\b\s*[:\-–]\s*)(?P<text>\S.*)"
)


class Handoff(Reading):
    """Sum up."""

    def handoff_summary(
        self,
        *,
        since: str = "7d",
        scope: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> HandoffSummary:
        """What changed since (`12h`, `7d`, `2w`, `3m`, `1y`, or a date): decisions, open points, what is not valid any more.

        Open points are those of every active entry that changed since. As data, and as Markdown.
        """
        from scaffale.answers.handoff import HandoffSummary

        resolved = self._resolve(project_path, project_id)
        moment = _moment(since)
        wanted = EntryFilter(resolved.project.id, slug(scope))
        store = self._store()
        rows: list[Row] = []
        evidence: dict[str, str] = {}
        if store:
            with store[0].read() as connection:
                rows = entries.changed_since(connection, wanted, moment)
                citing = self._citing(connection, [row.entry.id for row in rows][:500])
            evidence = self._documents.evidence(citing)[0] if citing else {}
        kinds: dict[str, list[Entry]] = {kind: [] for kind in _KINDS}
        points: list[OpenPoint] = []
        for row in rows:
            entry = masked(row)
            kinds[_kind(entry)].append(entry)
            if entry.status == "active":
                points += _open_points(entry)
        counts = {"changed": len(rows), **{kind: len(found) for kind, found in kinds.items()}, "open_points": len(points)}
        shown = {kind: tuple(_item(e, evidence.get(e.id)) for e in found[:LISTED]) for kind, found in kinds.items()}
        about = f"{resolved.project.id}{f', scope {wanted.scope}' if wanted.scope else ''}"
        return HandoffSummary(
            resolved.project.id, wanted.scope, moment, counts, shown["decisions"], tuple(points[:LISTED]), shown["notes"],
            shown["superseded"], shown["invalidated"], shown["archived"], _markdown(about, moment, counts, shown, points),
            resolved.warnings,
        )  # fmt: skip


_KINDS = ("decisions", "notes", "superseded", "invalidated", "archived")
_HEADINGS = {
    "decisions": "Decisions", "open_points": "Open points", "notes": "Also learnt", "superseded": "Superseded",
    "invalidated": "Not valid any more", "archived": "Archived",
}  # fmt: skip


def _moment(since: str) -> str:
    """The moment that is meant, as times are written. Raises `InvalidParam`."""
    from datetime import UTC, datetime

    text = since.strip()
    span = re.fullmatch(r"([0-9]{1,4})\s*([hdwmy])", text, re.IGNORECASE)
    if span:
        past = int(span[1]) * _DAYS[span[2].lower()] * 86_400_000
        return clock.iso(max(0, clock.milliseconds() - round(past)))
    try:
        at = datetime.fromisoformat(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return clock.iso(max(0, round(at.timestamp() * 1000)))
    except (ValueError, OverflowError, OSError):
        raise InvalidParam("since: a span such as 12h, 7d, 2w, 3m, 1y, or a date such as 2026-05-01") from None


def _kind(entry: Entry) -> str:
    if entry.status != "active":
        return entry.status
    return "decisions" if entry.source_type in ("decision", CONCEPT) else "notes"


def _item(entry: Entry, evidence: str | None) -> Item:
    from scaffale.answers.handoff import Item

    title = entry.title or entry.summary or entry.content
    return Item(
        entry.id, entry.scope, entry.topic, _line(title), entry.source_type, entry.status, entry.importance, entry.updated_at,
        entry.invalidation_reason, evidence,
    )  # fmt: skip


def _open_points(entry: Entry) -> Iterator[OpenPoint]:
    from scaffale.answers.handoff import OpenPoint

    for match in re.finditer(_OPEN, entry.content, re.IGNORECASE | re.MULTILINE):
        number = entry.content.count("\n", 0, match.start("text")) + 1
        marker = match["box"] or match["word"].lower()
        yield OpenPoint(entry.id, entry.scope, entry.topic, number, _line(match["text"]), marker)


def _line(text: str) -> str:
    short = " ".join(text.split())
    return short if len(short) <= LINE_CHARS else f"{short[:LINE_CHARS]}…"


def _markdown(
    about: str, since: str, counts: dict[str, int], shown: dict[str, tuple[Item, ...]], points: Sequence[OpenPoint]
) -> str:
    lines = [f"# Handoff: {about}", "", f"{counts['changed']} entries changed since {since}."]
    for kind, heading in _HEADINGS.items():
        if not counts[kind]:
            continue
        lines += ["", f"## {heading}", ""]
        if kind == "open_points":
            lines += [f"- {point.text} ({point.entry_id}, line {point.line})" for point in points[:LISTED]]
        for item in shown.get(kind, ()):
            reason = f": {item.reason}" if item.reason else ""
            doubt = f" [evidence {item.evidence}]" if item.evidence else ""
            lines.append(f"- {item.title} ({item.scope}/{item.topic}, {item.id}){reason}{doubt}")
        if counts[kind] > LISTED:
            lines.append(f"- and {counts[kind] - LISTED} more")
    return "\n".join(lines) + "\n"
