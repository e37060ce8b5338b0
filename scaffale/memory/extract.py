"""Texts of other tools → entries as they would be written. Pure and deterministic: fixed markers, no model, no guess.

Whatever is taken as a title, a kind or a tag is taken from words of the text, and says from which.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scaffale.answers.capture import Candidate, Taken
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaffale.indexer.git import Commit
    from scaffale.model import Section

TITLE_CHARS = 200
SUMMARY_CHARS = 500
TOPIC_WORDS = 6
FILES_NAMED = 50
SHORTEST = 20  # characters of a section that says something

_FIELD = re.compile(r"^\s*(?:[-*]\s+)?\**(?P<name>[A-Za-z][A-Za-z /_-]{1,30}?)\**\s*:\**\s*(?P<value>\S.*?)\s*$")
_TITLES = frozenset(("title", "summary", "subject", "titolo", "oggetto"))
_TAGS = frozenset(("label", "labels", "tag", "tags", "component", "components", "etichette", "componente", "componenti"))
_SUMS = frozenset(
    ("root cause", "cause", "resolution", "solution", "fix", "workaround", "decision", "outcome",
     "causa", "soluzione", "risoluzione", "decisione", "esito")
)  # fmt: skip
_PRIORITIES = frozenset(("priority", "severity", "priorita", "priorità", "gravita", "gravità"))
_IMPORTANCE = {
    "blocker": 5, "critical": 5, "highest": 5, "urgent": 5, "critica": 5, "bloccante": 5, "high": 4, "major": 4, "alta": 4,
    "medium": 3, "normal": 3, "media": 3, "low": 2, "minor": 2, "bassa": 2, "lowest": 1, "trivial": 1,
}  # fmt: skip
_KINDS = (
    ("decision", r"decisions?|decided|adr|decisione|decisioni|deciso"),
    ("bug_pattern", r"root causes?|bugs?|gotchas?|pitfalls?|causa(?: radice)?|insidie"),
    ("workaround", r"work-?arounds?|aggiramento"),
    ("handoff", r"hand-?off|next steps?|passaggio di consegne|prossimi passi"),
    ("environment_note", r"environment|set-?up|install(?:ation|ing)?|ambiente|installazione"),
    ("user_preference", r"preferences?|conventions?|style|preferenze|convenzioni|stile"),
)
_HEADING = [(kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _KINDS]
_MARKED = [
    (kind, re.compile(rf"^\s*(?:[-*+]\s+|\d+[.)]\s+|>\s*)?\**(?P<words>{words})\**\s*:\**\s*\S", re.IGNORECASE))
    for kind, words in _KINDS
]
_CONVENTIONAL = re.compile(r"(?P<type>[a-z]{2,12})(?:\((?P<scope>[^()]{1,60})\))?!?:\s+\S")


class Place(NamedTuple):
    """Where candidates are to stand, as the caller gave it."""

    scope: str | None
    topic: str | None


def ticket(text: str, reference: str, place: Place) -> Candidate:
    """The entry of a ticket: its text word for word; title, tags, importance and summary from its fields."""
    lines = text.splitlines()
    taken: list[Taken] = []
    title, tags, summary, importance = None, [], None, 3
    for number, line in enumerate(lines, 1):
        match = _FIELD.match(line)
        if not match:
            continue
        name, value = match["name"].strip().lower(), match["value"].strip().strip("*").strip()
        if name in _TITLES and title is None:
            title = value[:TITLE_CHARS]
            taken.append(Taken("title", line.strip()[:TITLE_CHARS], number))
        elif name in _TAGS:
            tags += [tag for part in re.split(r"[,;]", value) if (tag := slug(part.strip(" []\"'")))]
            taken.append(Taken("tags", line.strip()[:TITLE_CHARS], number))
        elif name in _SUMS and summary is None:
            summary = value[:SUMMARY_CHARS]
            taken.append(Taken("summary", line.strip()[:TITLE_CHARS], number))
        elif name in _PRIORITIES and value.lower() in _IMPORTANCE:
            importance = _IMPORTANCE[value.lower()]
            taken.append(Taken("importance", line.strip()[:TITLE_CHARS], number))
    if title is None:
        for number, line in enumerate(lines, 1):
            bare = line.strip().lstrip("#").strip()
            if bare:
                title = bare[:TITLE_CHARS]
                taken.append(Taken("title", bare[:TITLE_CHARS], number))
                break
    topic = place.topic
    if topic is None:
        topic = topic_of(title or reference)
        taken.append(Taken("topic", title or reference))
    return Candidate(
        place.scope, topic, title, text, summary, "ticket_summary", reference, None, None,
        tuple(dict.fromkeys(tags)), importance, tuple(taken),
    )  # fmt: skip


def commit(found: Commit, place: Place) -> Candidate:
    """The entry of a commit: its message word for word, then the files that it changed."""
    subject = found.message.split("\n", 1)[0].strip()
    taken = [Taken("title", subject[:TITLE_CHARS], 1)]
    tags: tuple[str, ...] = ()
    topic = place.topic
    conventional = _CONVENTIONAL.match(subject)
    if conventional:
        tags = (conventional["type"],)
        taken.append(Taken("tags", conventional["type"], 1))
    if topic is None:
        words = conventional["scope"] if conventional and conventional["scope"] else subject
        topic = topic_of(words)
        taken.append(Taken("topic", words, 1))
    files = list(found.files[:FILES_NAMED])
    if len(found.files) > FILES_NAMED:
        files.append(f"and {len(found.files) - FILES_NAMED} more")
    content = found.message.rstrip() + f"\n\nCommit {found.id} of {found.authored_at}"
    if files:
        content += "\nFiles:\n" + "\n".join(f"- {name}" for name in files)
    return Candidate(
        place.scope, topic, subject[:TITLE_CHARS] or None, content, None, "commit_context", found.id, None, None, tags, 3,
        tuple(taken),
    )  # fmt: skip


def notes(parts: Sequence[Section], path: str, place: Place) -> Iterator[Candidate | str]:
    """One entry for each decision, root cause or the like that a section marks, else one for the section; or, as a text,
    why a section gives none."""
    for part in parts:
        if part.level < 0 or not part.body.strip():
            continue
        lines = part.body.split("\n")
        body_from = 1 if part.level > 0 and lines and lines[0].lstrip().startswith("#") else 0
        where = " › ".join(part.heading_path) or "(before the first heading)"
        marked = list(_marked(lines, body_from))
        if marked:
            for kind, words, first, last in marked:
                taken = (Taken("source_type", words, part.start_line + first),)
                yield _note("\n".join(lines[first : last + 1]), kind, part, first, last, path, place, taken)
            continue
        text = "\n".join(lines[body_from:]).strip()
        if len(text) < SHORTEST:
            yield f"lines {part.start_line}-{part.end_line} ({where}): says too little"
            continue
        heading = part.heading_path[-1] if part.heading_path else ""
        found = ((kind, match[0]) for kind, pattern in _HEADING if (match := pattern.search(heading)))
        kind, words = next(found, ("file_observation", ""))
        why = (Taken("source_type", words, part.start_line),) if words else ()
        last = len(lines) - 1
        while last > body_from and not lines[last].strip():
            last -= 1
        yield _note("\n".join(lines[: last + 1]), kind, part, 0, last, path, place, why)


def _marked(lines: Sequence[str], start: int) -> Iterator[tuple[str, str, int, int]]:
    """Kind, words, first and last line of each paragraph that begins with a marker."""
    number = start
    while number < len(lines):
        found = next(((kind, m["words"]) for kind, pattern in _MARKED if (m := pattern.match(lines[number]))), None)
        if found is None:
            number += 1
            continue
        last = number
        while last + 1 < len(lines) and lines[last + 1].strip() and not any(p.match(lines[last + 1]) for _, p in _MARKED):
            last += 1
        yield (*found, number, last)
        number = last + 1


def _note(
    content: str, kind: str, part: Section, first: int, last: int, path: str, place: Place, taken: tuple[Taken, ...]
) -> Candidate:
    heading = part.heading_path[-1] if part.heading_path else ""
    topic = place.topic
    if topic is None:
        words = heading or content.strip().split("\n", 1)[0]
        topic = topic_of(words)
        taken = (*taken, Taken("topic", words[:TITLE_CHARS], part.start_line))
    title = " › ".join(part.heading_path)[:TITLE_CHARS] or None
    return Candidate(
        place.scope, topic, title, content, None, kind, f"lines {part.start_line + first}-{part.start_line + last}", path,
        None, (), 3, taken,
    )  # fmt: skip


def topic_of(words: str) -> str:
    """A topic from the first words of a text, without what is no word."""
    found = re.findall(r"[^\W_]+(?:[-.][^\W_]+)*", words)
    return (slug(" ".join(found[:TOPIC_WORDS])) or "unsorted")[:120]
