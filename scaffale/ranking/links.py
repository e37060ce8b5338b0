"""From evidence to a link: how sure, of which relation, and why. Arithmetic alone.

Two formulas stand side by side. `docs-links-v1` is the one this work began with: a weighted mean. `docs-links-v2` adds up
what each kind of evidence is worth, compares the sum with those of the source's best candidates, and reads from a measured
curve how many such links are right: about the share that authors of six collections had made themselves, a little
more from 0.6 on.
`docs/correlation.md` has the figures.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.ranking.likeness import Evidence

V1, V2 = "docs-links-v1", "docs-links-v2"
VERSIONS = (V1, V2)
NEWEST = V2
_WEIGHTS = {
    V1: {"title": 0.25, "headings": 0.20, "plain_tags": 0.20, "found": 0.15, "path": 0.10, "linked": 0.10},
    V2: {
        "words": 0.12, "words_back": 0.10, "name": 0.18, "mention": 0.12, "mentioned": 0.05, "mentioned_in_index": 0.16,
        "linked": 0.06, "linked_back": 0.05, "listed": 0.09, "indexed": 0.20, "path": 0.15, "tags": 0.03, "fame": 0.03,
    },
}  # fmt: skip
CURVE = (  # of docs-links-v2: score, share of links that are right; straight between, with a step at 0.6
    (0.0, 0.0), (0.1, 0.005), (0.2, 0.03), (0.275, 0.06), (0.325, 0.13), (0.375, 0.2), (0.425, 0.3), (0.475, 0.39),
    (0.525, 0.43), (0.6, 0.49), (0.6, 0.6), (0.85, 0.63), (1.0, 0.7), (1.2, 0.77),
)  # fmt: skip
INDEX = ("mentioned", "mentioned_in_index", "linked_back", "listed", "indexed")  # an index page speaks in all of these
INDEX_MOST = 0.3  # of the sum, together
FIRST = 3  # a source's best candidates: how far another falls behind them speaks against it
PARENT = 0.05  # for a target on a direct parent shelf
STRANGER = 0.8  # what is left of a confidence when the target's shelf is neither the source's nor above it
CLOSE = 0.5  # from here on titles or tags are much alike
SAME = 0.95  # likeness of texts that say the same
_WORTH_NAMING = 0.02
_WORDS = {
    "words": "similar words", "words_back": "none is more like it",
    "name": "similar names", "mention": "the text names its title",
    "mentioned": "its text names this title", "mentioned_in_index": "its list names this title",
    "linked": "the text refers to it", "linked_back": "its text refers to this", "listed": "it refers to this as few others do",
    "indexed": "its index lists this", "path": "shared folders", "tags": "tags", "fame": "many texts refer to it",
    "title": "similar titles", "headings": "shared headings", "plain_tags": "tags", "found": "titles find each other",
}  # fmt: skip


class Place(NamedTuple):
    """How the target's shelf stands to the source's."""

    same: bool = True
    direct_parent: bool = False
    above: bool = False


HERE = Place()


class Proposal(NamedTuple):
    """A link as evidence suggests it. `parts` are what each kind of evidence added to the sum, largest first."""

    score: float
    confidence: float
    parts: tuple[tuple[str, float], ...]


def judged(version: str, candidates: Sequence[tuple[Evidence, Place]]) -> list[Proposal]:
    """How sure the formula is of each candidate of one source, in their order."""
    weighed = [_parts(version, evidence) for evidence, _ in candidates]
    sums = [
        sum(parts.values()) + PARENT * place.direct_parent
        for parts, (_, place) in zip(weighed, candidates, strict=True)
    ]
    first = sorted(sums, reverse=True)[:FIRST]
    best = sum(first) / len(first) if first else 0.0
    proposals = []
    for parts, score, (_, place) in zip(weighed, sums, candidates, strict=True):
        confidence = min(1.0, score) if version == V1 else _share_right(2 * score - best)
        if not (place.same or place.above):
            confidence *= STRANGER
        ordered = sorted(
            ((kind, part) for kind, part in parts.items() if part > 0), key=lambda each: (-each[1], each[0])
        )
        proposals.append(Proposal(round(score, 4), round(confidence, 4), tuple(ordered)))
    return proposals


def _parts(version: str, evidence: Evidence) -> dict[str, float]:
    """What each kind of evidence adds to the sum."""
    parts = {kind: weight * getattr(evidence, kind) for kind, weight in _WEIGHTS[version].items()}
    if version == V1:
        if evidence.mention:  # a title in the text is a reference too
            parts["linked"] = _WEIGHTS[V1]["linked"]
    elif (indexed := sum(parts[kind] for kind in INDEX)) > INDEX_MOST:
        parts |= {kind: parts[kind] * INDEX_MOST / indexed for kind in INDEX}
    return parts


def _share_right(score: float) -> float:
    if score <= 0:
        return 0.0
    for (low, least), (high, most) in pairwise(CURVE):
        if score < high:
            return least + (most - least) * (score - low) / (high - low)
    return CURVE[-1][1]


def relation(evidence: Evidence, place: Place, *, extends: bool) -> str:
    """What kind of link it is likely to be. `extends` says that the source's text speaks of extending something."""
    if evidence.cosine >= SAME:
        return "duplicates"
    if place.above:
        if extends:
            return "extends_standard"
        if evidence.linked or evidence.mention or max(evidence.title, evidence.name, evidence.words) >= CLOSE:
            return "references_standard"
    elif place.same and max(evidence.title, evidence.plain_tags) >= CLOSE:
        return "same_topic"
    return "mentions" if evidence.linked or evidence.mention else "related_to"


def rationale(proposal: Proposal, words: Sequence[str], tags: Sequence[str], place: Place, most: int = 4) -> str:
    """Which evidence spoke, most telling first."""
    said = ["target on a parent shelf"] if place.direct_parent else []
    telling = [each for each in proposal.parts[:most] if each[1] >= _WORTH_NAMING]
    stated = [each for each in proposal.parts if each[0] == "linked"]  # what the author said himself goes first
    for kind, _ in dict.fromkeys([*stated, *telling]):
        detail = {"words": words, "tags": tags, "plain_tags": tags}.get(kind)
        said.append(f"{_WORDS[kind]}: {', '.join(detail)}" if detail else _WORDS[kind])
    return "; ".join(said) or "little evidence"
