"""Other tools' memories → entries as they would be proposed. Pure: text in, candidates out.

Three forms: the JSON lines of the official memory server (entities with observations, and relations), notes as
basic-memory writes them (front matter, a list of observations with categories), and instructions for agents
(`AGENTS.md`, `CLAUDE.md`) or any Markdown, section by section.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from scaffale.answers.capture import Candidate
from scaffale.memory import extract
from scaffale.model import SOURCE_TYPES
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaffale.memory.extract import Place

JSONL, NOTES, INSTRUCTIONS = "memory-jsonl", "basic-memory", "instructions"
KINDS = (JSONL, NOTES, INSTRUCTIONS)
_OBSERVATION = re.compile(r"^\s*[-*]\s+\[(?P<category>[^\]\n]{1,40})\]\s+(?P<text>\S.*?)\s*(?:\((?P<context>[^()]*)\))?\s*$")
_TAG = re.compile(r"(?:^|\s)#([\w/-]{1,60})")
_CATEGORIES = {
    "decision": "decision", "design": "decision", "bug": "bug_pattern", "issue": "bug_pattern", "problem": "bug_pattern",
    "root cause": "bug_pattern", "fix": "workaround", "workaround": "workaround", "preference": "user_preference",
    "convention": "user_preference", "environment": "environment_note", "setup": "environment_note",
}  # fmt: skip


def kind_of(name: str, text: str) -> str:
    """Which of the forms a file has, by its name and its first lines."""
    if name.lower().endswith((".jsonl", ".ndjson")) or text.lstrip()[:1] == "{":
        return JSONL
    if any(_OBSERVATION.match(line) for line in text.splitlines()):
        return NOTES
    return INSTRUCTIONS


def candidates(kind: str, name: str, path: str, text: str, place: Place) -> Iterator[Candidate | str]:
    """The candidates of a file, or, as texts, why a part of it gives none."""
    if kind == JSONL:
        yield from _lines(path, text, place)
    elif kind == NOTES:
        yield from _observations(path, text, place)
    else:
        from scaffale.indexer import markdown

        yield from extract.notes(markdown.parse(text, file_name=name).sections, path, place)


def _lines(path: str, text: str, place: Place) -> Iterator[Candidate | str]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            yield f"line {number}: is not JSON"
            continue
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "entity" and isinstance(item.get("name"), str) and isinstance(item.get("observations"), list):
            scope = place.scope or slug(str(item.get("entityType") or "")) or None
            for said in item["observations"]:
                if isinstance(said, str) and said.strip():
                    yield _candidate(scope, place, item["name"], said, "agent_note", path, number)
                else:
                    yield f"line {number}: an observation is no text"
        elif kind == "relation" and all(isinstance(item.get(end), str) for end in ("from", "to", "relationType")):
            said = f"{item['from']} {item['relationType']} {item['to']}"
            yield _candidate(place.scope, place, item["from"], said, "agent_note", path, number)
        else:
            yield f"line {number}: is neither an entity nor a relation"


def _observations(path: str, text: str, place: Place) -> Iterator[Candidate | str]:
    title = next((line.split(":", 1)[1].strip(" \"'") for line in text.splitlines()[:40] if line.startswith("title:")), "")
    title = title or next((line.lstrip("# ").strip() for line in text.splitlines() if line.startswith("# ")), "notes")
    for number, line in enumerate(text.splitlines(), 1):
        match = _OBSERVATION.match(line)
        if match is None:
            continue
        if len(match["category"]) <= 1:  # a box to tick
            yield f"line {number}: is a task, not an observation"
            continue
        category = match["category"].strip().lower()
        kind = _CATEGORIES.get(category, category.replace(" ", "_"))
        said = match["text"] + (f" ({match['context']})" if match["context"] else "")
        tags = tuple(dict.fromkeys(tag for each in _TAG.findall(said) if (tag := slug(each))))
        source = kind if kind in SOURCE_TYPES else "agent_note"
        yield _candidate(place.scope, place, title, said, source, path, number)._replace(tags=tags)


def _candidate(
    scope: str | None, place: Place, title: str, content: str, source_type: str, path: str, number: int
) -> Candidate:
    return Candidate(
        scope, place.topic or extract.topic_of(title), title[: extract.TITLE_CHARS], content, None, source_type,
        f"line {number}", path, None, (), 3, (),
    )  # fmt: skip
