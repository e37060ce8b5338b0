"""Answers of the ledger's verbs in words. The rules are those of `prose`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaffale.server.mcp.registry import Answer

SHOWN_LINES = 12  # of a concept; all of it stands in the structure


def opened(answer: Answer) -> str:
    """Which session, and where it stands."""
    verb = "Opened" if answer.get("created") else "Going on with"
    phases = ", ".join(answer.get("phases", ()))
    return (
        f"{verb} session {answer.get('session_id')} of {answer.get('project_id')}: phase {answer.get('phase')} of {phases}; "
        f"{answer.get('decisions')} decisions."
    )


def recorded(answer: Answer) -> str:
    """The number of the new line."""
    what = f"{answer.get('type')}, {answer.get('phase')}"
    return f"Recorded as seq {answer.get('seq')} ({what}) of session {answer.get('session_id')}."


def summary(answer: Answer) -> str:
    """The summary as it was written."""
    return str(answer.get("markdown", ""))


def preview(answer: Answer) -> str:
    """The candidates of the page, and what was left out."""
    found = answer.get("candidates", [])
    lines = [f"{answer.get('total', 0)} candidates in session {answer.get('session_id')}; page {answer.get('page')}."]
    for each in found:
        again = f" (again as seq {', '.join(map(str, each['also']))})" if each.get("also") else ""
        lines += [f"seq {each.get('seq')}: {each.get('subject')}{again}", *_indented(each.get("detail", ""))]
        for near in each.get("similar", ()):
            lines.append(f"    near {near.get('display_id')} {near.get('title')} ({near.get('similarity'):.0%})")
    for each in answer.get("left_out", ()):
        lines.append(f"left out: seq {each.get('seq')} {each.get('subject')}: {each.get('reason')}")
    if answer.get("next_page"):
        lines.append(f"More on page {answer['next_page']}.")
    return "\n".join([*lines, str(answer.get("hint", ""))])


def recalled(answer: Answer) -> str:
    """The concepts, each with its text."""
    found = answer.get("results", [])
    lines = [f"{answer.get('total', 0)} concepts of {answer.get('project_id')} fit; {len(found)} shown."]
    for each in found:
        worn = f" [evidence {each['evidence']}]" if each.get("evidence") else ""
        lines += [f"{each.get('display_id')}: {each.get('title')}{worn}  ({each.get('source_ref')}, {each.get('updated_at')})"]
        lines += _indented(each.get("content", ""))
        if each.get("rationale"):
            lines += _indented(f"rationale: {each['rationale']}")
    if answer.get("decided"):
        lines.append(f"decided in this session already: {', '.join(answer['decided'])}")
    if answer.get("next_offset"):
        lines.append(f"More with offset {answer['next_offset']}.")
    if found:
        lines.append(str(found[0].get("verification_hint", "")))
    return "\n".join([*lines, str(answer.get("hint", ""))])


def _indented(text: str) -> list[str]:
    lines = text.splitlines()
    return [f"    {line}" for line in lines[:SHOWN_LINES]] + (["    ..."] if len(lines) > SHOWN_LINES else [])
