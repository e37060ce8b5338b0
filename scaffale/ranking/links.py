"""From evidence to a link: how sure, of which relation, and why. Arithmetic alone.

Two formulas stand side by side. `docs-links-v1` is the one this work began with: a weighted mean. `docs-links-v2` adds up
what each kind of evidence is worth, and reads from a measured curve how many links with such a sum are right: its confidence
is the share that authors of six collections had made themselves. `docs/correlation.md` has the figures.
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
CURVE = (  # of docs-links-v2: sum of evidence, share of links that are right; straight between
    (0.0, 0.0), (0.2, 0.002), (0.3, 0.02), (0.35, 0.05), (0.4, 0.13), (0.45, 0.23), (0.5, 0.35), (0.55, 0.43), (0.65, 0.48),
    (0.72, 0.55), (0.8, 0.66), (0.9, 0.74), (1.1, 0.79),
)  # fmt: skip
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


def judged(version: str, evidence: Evidence, place: Place = HERE) -> Proposal:
    """How sure the formula is of a link: 0 to 1."""
    parts = {kind: weight * getattr(evidence, kind) for kind, weight in _WEIGHTS[version].items()}
    if version == V1 and evidence.mention:  # a title in the text is a reference too
        parts["linked"] = _WEIGHTS[V1]["linked"]
    score = sum(parts.values()) + PARENT * place.direct_parent
    confidence = min(1.0, score) if version == V1 else _share_right(score)
    if not (place.same or place.above):
        confidence *= STRANGER
    ordered = sorted(((kind, part) for kind, part in parts.items() if part > 0), key=lambda each: (-each[1], each[0]))
    return Proposal(round(score, 4), round(confidence, 4), tuple(ordered))


def _share_right(score: float) -> float:
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
    for kind, part in proposal.parts[:most]:
        if part < _WORTH_NAMING:
            break
        detail = {"words": words, "tags": tags, "plain_tags": tags}.get(kind)
        said.append(f"{_WORDS[kind]}: {', '.join(detail)}" if detail else _WORDS[kind])
    return "; ".join(said) or "little evidence"
