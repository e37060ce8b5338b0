"""A session in short: from the lines of its ledger to what was approved, declined, waits, and is not shown. Deterministic."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scaffale.answers.ledger import LeftOut, Remembered, SessionSummary
from scaffale.indexer import entries, ledger, registry
from scaffale.memory import concepts
from scaffale.model import DECLINED, PROMOTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from scaffale.indexer.ledger import Cause, Line
    from scaffale.memory.concepts import Group, Left
    from scaffale.model import Decision, Session

SHOWN_HIDDEN = 200  # that an answer names; it counts all


def of(
    connection: apsw.Connection,
    session: Session,
    lines: Sequence[Line],
    waiting: Sequence[Group],
    left: Sequence[Left],
    causes: Mapping[int, Cause],
) -> SessionSummary:
    """The summary; project and warnings are the caller's to fill in."""
    linked = ledger.linked_names(connection, session)
    marks = list(ledger.decisions(connection, session, types=(PROMOTED, DECLINED)))
    about = {mark.about_seq for mark in marks if mark.about_seq is not None}
    originals = {each.seq: each for each in ledger.decisions(connection, session, seqs=about)}
    promoted = registry.promoted(connection, session)
    shown: dict[str, list[Remembered]] = {PROMOTED: [], DECLINED: []}
    hidden = [LeftOut(*each) for each in left]
    for mark in marks:
        original = originals.get(mark.about_seq or 0)
        why = _hidden(original, linked)
        if original is None or why is not None:
            hidden.append(LeftOut(mark.seq, mark.subject, why or ""))
            continue
        entry_id, number = promoted.get(original.seq, (None, None))
        shown[mark.type].append(
            Remembered(
                original.seq, original.subject, original.detail, original.rationale,
                entries.display_id(number) if number is not None else None, entry_id, mark.at, mark.actor,
            )
        )  # fmt: skip
    by_type = dict(sorted(Counter(line.type for line in lines).items()))
    place = lines[-1].place if lines else 0
    summary = SessionSummary(
        session.project_id, session.id, session.title, session.phases, session.phases[place], len(lines),
        len(lines) - len(causes), by_type, tuple(shown[PROMOTED]), tuple(shown[DECLINED]), len(waiting),
        tuple(hidden[:SHOWN_HIDDEN]), len(hidden), "", (),
    )  # fmt: skip
    return _masked(summary)


def _hidden(original: Decision | None, linked: set[str]) -> str | None:
    """Why a mark of the review is not shown."""
    if original is None:
        return "a mark of a decision that is not there"
    if original.type not in concepts.REUSABLE_TYPES:
        return f"a mark of {original.type}, which is no concept"
    return concepts.refusal(original.subject, linked)


def _masked(summary: SessionSummary) -> SessionSummary:
    from scaffale import secrets

    def clean(each: Remembered) -> Remembered:
        rationale = each.rationale and secrets.mask(each.rationale)
        return each._replace(subject=secrets.mask(each.subject), detail=secrets.mask(each.detail), rationale=rationale)

    summary = summary._replace(
        approved=tuple(map(clean, summary.approved)),
        declined=tuple(map(clean, summary.declined)),
        hidden=tuple(each._replace(subject=secrets.mask(each.subject)) for each in summary.hidden),
    )
    return summary._replace(markdown=_markdown(summary))


def _markdown(s: SessionSummary) -> str:
    stands = f"Session `{s.session_id}`, in phase {s.phase}: {s.decisions} decisions, {s.effective} of them effective."
    lines = [f"# Session {s.title or s.session_id}", "", stands]
    if s.by_type:
        lines += ["", *(f"- {count} × {kind}" for kind, count in s.by_type.items())]
    lines += ["", "## Memories", ""]
    if not (s.approved or s.declined):
        lines.append("None was decided on.")
    for title, found in (("Approved", s.approved), ("Declined", s.declined)):
        if found:
            lines += [f"### {title}", ""]
        for each in found:
            name = f" ({each.display_id})" if each.display_id else ""
            lines += [f"#### {' '.join(each.subject.split())}{name}", "", each.detail, ""]
            if each.rationale:
                lines += [f"Rationale: {each.rationale}", ""]
            lines += [f"Decision {each.seq}; {title.lower()} {each.at} by {each.reviewer}.", ""]
    if s.waiting:
        lines += ["", f"{s.waiting} wait for a person: `scaffale review {s.session_id}`."]
    if s.hidden_count:
        lines += ["", "## Not shown", ""]
        lines += [f"- decision {each.seq}: {' '.join(each.subject.split())}: {each.reason}" for each in s.hidden]
        if s.hidden_count > len(s.hidden):
            lines.append(f"- and {s.hidden_count - len(s.hidden)} more")
    return "\n".join(lines).rstrip() + "\n"
