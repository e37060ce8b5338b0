"""From evidence to confidence, relation and reasons; and what a library of documents makes of texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.ranking import links
from scaffale.ranking.likeness import LIST, Evidence, Head, Library

KINDS = st.builds(Evidence, *[st.floats(0, 1)] * len(Evidence._fields))


@pytest.mark.parametrize("version", links.VERSIONS)
@given(evidence=st.lists(KINDS, max_size=6))
def test_confidence_is_a_share_and_follows_the_score(version, evidence):
    found = links.judged(version, [(each, links.HERE) for each in evidence])
    assert len(found) == len(evidence)
    assert all(0 <= each.confidence <= 1 for each in found)
    by_score = sorted(found, key=lambda each: each.score)
    for less, more in pairwise(by_score):
        assert less.confidence <= more.confidence + 0.001  # scores are rounded


@pytest.mark.parametrize("version", links.VERSIONS)
@given(evidence=KINDS)
def test_a_direct_parent_gains_and_a_stranger_loses(version, evidence):
    places = links.HERE, links.Place(same=False, direct_parent=True, above=True), links.Place(same=False)
    (here,), (parent,), (stranger,) = (links.judged(version, [(evidence, place)]) for place in places)
    assert parent.confidence >= here.confidence
    assert stranger.confidence == pytest.approx(here.confidence * links.STRANGER, abs=1e-3)


def test_the_curve_rises():
    assert list(links.CURVE) == sorted(links.CURVE)
    assert [share for _, share in links.CURVE] == sorted(share for _, share in links.CURVE)


def test_what_the_author_said_is_the_first_reason():
    (found,) = links.judged(links.V2, [(Evidence(words=1, name=1, linked=1), links.HERE)])
    said = links.rationale(found, ["disk"], [], links.HERE)
    assert said.startswith("the text refers to it; similar names; similar words: disk")
    assert links.rationale(links.Proposal(0, 0, ()), [], [], links.HERE) == "little evidence"


@pytest.mark.parametrize(
    ("evidence", "place", "extends", "relation"),
    [
        (Evidence(cosine=0.97), links.HERE, False, "duplicates"),
        (Evidence(words=0.9), links.Place(same=False, above=True), False, "references_standard"),
        (Evidence(), links.Place(same=False, above=True), True, "extends_standard"),
        (Evidence(title=0.6), links.HERE, False, "same_topic"),
        (Evidence(linked=1), links.HERE, False, "mentions"),
        (Evidence(), links.HERE, False, "related_to"),
    ],
)
def test_relations_follow_from_evidence_and_place(evidence, place, extends, relation):
    assert links.relation(evidence, place, extends=extends) == relation


def test_candidates_are_few_however_many_documents_there_are():
    count = 3 * LIST
    library = Library([Head(n, 1, f"a/page-{n}.md", f"Page {n}", ("same",)) for n in range(count)])
    for n in range(count):
        library.read(n, f"common words of page {n} and word{n % 50}")
    assert max(len(library.candidates(n)) for n in range(0, count, 50)) < count / 2


def test_an_index_page_is_told_from_a_passing_mention():
    library = Library([Head(n, 1, f"{n}.md", title) for n, title in enumerate(["Volumes", "Guide", "Story"])])
    library.read(0, "A volume holds blocks.")
    library.read(1, "[v](volumes.md)", links=[0])
    library.read(2, "Once upon a time " * 40, links=[0])
    guide, story = library.evidence(0, 1), library.evidence(0, 2)
    assert guide.linked_back == story.linked_back == 1
    assert guide.indexed > 3 * story.indexed


def test_an_empty_library_and_empty_texts_are_no_defect():
    library = Library([Head(1, 1, "a.md", ""), Head(2, 1, "b.md", "")])
    library.read(1, "")
    assert library.evidence(1, 2).cosine == 0
    assert set(library.candidates(1)) <= {2}
