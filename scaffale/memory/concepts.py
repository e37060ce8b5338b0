"""What may be a concept, which concepts say the same, and which of a session's wait for a review. Pure.

Only a clarified concept can become memory. A table or a column may stand in its explanation; it is never the concept. The
rules are asked at every boundary: when a decision is recorded, before it is shown to a reviewer, when it is promoted,
and when a session is summed up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam
from scaffale.model import CONCEPT
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from scaffale.indexer.ledger import Cause
    from scaffale.model import Decision

REUSABLE_TYPES = frozenset((CONCEPT,))
SCOPE = "concepts"  # of all promoted entries
CITATION = re.compile(r"\bmem-[0-9]{4,12}\b")
_TABLE = re.compile(r"(?:[\w$-]+\.)*(?:fact|dim)_[\w$.-]*")
_NOUN = re.compile(r"(?:(?:the|table|column|field|view|la|il|tabella|colonna|campo|vista)\s+)+")
_MARKS = re.compile("[`*\"'\\[\\]<>\u2018\u2019\u201c\u201d\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


class Group(NamedTuple):
    """A candidate: the first decision that says it, and the later ones that say the same."""

    first: Decision
    also: tuple[Decision, ...] = ()

    @property
    def seqs(self) -> tuple[int, ...]:
        """The lines of the ledger that it stands for."""
        return (self.first.seq, *(each.seq for each in self.also))


class Left(NamedTuple):
    """A concept that is no candidate of its own, and why."""

    seq: int
    subject: str
    reason: str


def name_of(subject: str) -> str:
    """The subject as names of tables are compared: without marks of Markdown, quotes, or the word that says what it is."""
    if not subject.isascii():
        import unicodedata

        subject = unicodedata.normalize("NFKC", subject)
    return _NOUN.sub("", " ".join(_MARKS.sub("", subject).split()).casefold(), count=1).replace(" . ", ".")


def refusal(subject: str, linked: Collection[str] = ()) -> str | None:
    """Why a subject cannot be a concept; `None` when it can. `linked` are the `name_of` of the session's tables and columns."""
    name = name_of(subject)
    if _TABLE.fullmatch(name):
        return "a table or column (fact_*, dim_*) is no concept; name what it means, and the table in the detail"
    if name in linked:
        return "a table or column of this session's decisions is no concept; name what it means, and the table in the detail"
    return None


def likeness(subject: str, detail: str) -> str:
    """A key that two concepts share when they say the same but for white space, and the case of the subject."""
    import hashlib
    import unicodedata

    said = f"{slug(subject)}\x1f{' '.join(unicodedata.normalize('NFC', detail).split())}"
    return hashlib.sha256(said.encode()).hexdigest()


def sifted(
    decisions: Iterable[Decision], causes: Mapping[int, Cause], decided: Collection[int], linked: Collection[str]
) -> tuple[list[Group], list[Left]]:
    """The candidates of a session in the order of its ledger, and every other undecided concept with the reason."""
    groups: dict[str, list[Decision]] = {}
    left: list[Left] = []
    for each in decisions:
        if each.type not in REUSABLE_TYPES or each.seq in decided:
            continue
        if cause := causes.get(each.seq):
            left.append(Left(each.seq, each.subject, f"{cause.reason} by seq {cause.by}"))
        elif why := refusal(each.subject, linked):
            left.append(Left(each.seq, each.subject, why))
        else:
            group = groups.setdefault(likeness(each.subject, each.detail), [])
            if group:
                left.append(Left(each.seq, each.subject, f"says the same as seq {group[0].seq}, and is decided with it"))
            group.append(each)
    return [Group(first, tuple(also)) for first, *also in groups.values()], left


def shown(group: Group, session_id: str) -> str:
    """The text of a candidate as a reviewer reads it: all that will be kept, and where it is from."""
    lines = [group.first.subject, "", group.first.detail]
    for number, each in enumerate((group.first, *group.also)):
        told = [
            f"{label}: {text}"
            for label, text in (
                ("rationale", each.rationale), ("question", each.question_context), ("concepts", ", ".join(each.concepts)),
            )
            if text
        ]  # fmt: skip
        lines += ["", *told, f"{'again ' if number else ''}from session {session_id}, seq {each.seq}, {each.phase}, {each.at}"]
    return "\n".join(lines)


def draft_of(group: Group, session_id: str) -> dict[str, Any]:
    """The arguments of the entry that a candidate becomes."""
    first = group.first
    return {
        "scope": SCOPE, "topic": first.subject, "title": first.subject, "content": first.detail, "summary": None,
        "source_type": CONCEPT, "source_ref": f"session:{session_id} seq:{first.seq}", "source_path": None,
        "source_uri": None, "tags": [], "importance": 3, "confidence": None,
    }  # fmt: skip


def source_of(decision: Decision, session_id: str) -> dict[str, Any]:
    """Where a concept is from, and what it was clarified for, as its metadata keeps it."""
    return {
        "session_id": session_id,
        "seq": decision.seq,
        "at": decision.at,
        "rationale": decision.rationale,
        "question_context": decision.question_context,
        "concepts": list(decision.concepts),
    }


def metadata_of(sources: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The metadata of a concept with these sources, the first of which it was promoted from."""
    first, *merged = sources
    return {**first, "tables": [], **({"merged": [dict(each) for each in merged]} if merged else {})}


def sources_of(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sources that `metadata_of` was made from."""
    first = {name: value for name, value in metadata.items() if name not in ("merged", "tables")}
    return [first, *metadata.get("merged", ())]


def sources_from(record: object, seq: str = "seq", at: str = "at") -> list[dict[str, Any]]:
    """The sources of a concept as a file says them, checked; the first of them has its number and time under those names.
    Raises `InvalidParam`."""
    first = _source_from(record, seq, at)
    assert isinstance(record, dict)
    return [first, *(_source_from(each, "seq", "at") for each in _list(record, "merged"))]


def _source_from(record: object, seq: str, at: str) -> dict[str, Any]:
    """Where a concept is from. Fields of older registries are known by their names, too."""
    if not isinstance(record, dict):
        raise InvalidParam("merged: is no list of sources")
    texts = {
        "session_id": record.get("session_id", record.get("session")),
        "at": record.get("at", record.get(at)),
        "rationale": record.get("rationale"),
        "question_context": record.get("question_context"),
    }
    for name, value in texts.items():
        if value is not None and (not isinstance(value, str) or "\0" in value):
            raise InvalidParam(f"{name}: is no text")
    number = record.get(seq, record.get("seq"))
    if number is not None and (type(number) is not int or not 0 <= number < 2**53):
        raise InvalidParam(f"{seq}: is no number of a decision")
    terms = _list(record, "concepts")
    if not all(isinstance(each, str) for each in terms):
        raise InvalidParam("concepts: is no list of texts")
    return {
        "session_id": texts["session_id"] or None, "seq": number, "at": texts["at"] or None,
        "rationale": texts["rationale"] or None, "question_context": texts["question_context"] or None, "concepts": terms,
    }  # fmt: skip


def _list(record: Mapping[str, Any], name: str) -> list[Any]:
    value = record.get(name) or []
    if not isinstance(value, list) or len(value) > 1000:
        raise InvalidParam(f"{name}: is no list, or too long")
    return value
