"""The total order: a permutation of the hits never changes it, and a cut never splits a tie unread."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scaffale.model import Hit
from scaffale.ranking.order import closed, ordered, rounded, sort_key

numbers = st.tuples(
    st.sampled_from([0.5, 1.0, 1.01]), st.integers(1, 2), st.sampled_from([-1.0, 0.0, 0.9]), st.integers(0, 1)
)
hits = st.lists(numbers, max_size=25).flatmap(
    lambda rows: st.permutations([Hit(n, n, *row) for n, row in enumerate(rows)])
)


def by_name(ids):
    """The last word: the greatest number first, so that it is none of the orders that come by themselves."""
    return {id: (-id,) for id in ids}


@given(hits, st.integers(0, 30))
def test_it_is_the_order_of_all_keys(shuffled, k):
    expected = sorted(shuffled, key=lambda hit: (-hit.score, -hit.importance, -hit.confidence, -hit.updated, -hit.id))
    assert ordered(shuffled, k, by_name) == expected[:k]


@given(hits, st.integers(0, 30))
def test_only_ties_are_asked_about(shuffled, k):
    asked = []
    ordered(shuffled, k, lambda ids: asked.extend(ids) or by_name(ids))
    keys = [sort_key(hit) for hit in shuffled]
    assert all(keys.count(sort_key(hit)) > 1 for hit in shuffled if hit.id in asked)
    assert len(asked) == len(set(asked))


@given(hits, st.integers(1, 30))
def test_what_is_closed_ends_between_two_scores(shuffled, k):
    kept = closed(shuffled, k)
    assert kept == sorted(kept, key=sort_key)
    assert len(kept) >= min(k, len(shuffled))
    left = [hit for hit in shuffled if hit not in kept]
    assert all(hit.score < kept[-1].score for hit in left)
    assert len(kept) <= k or kept[k - 1].score == kept[-1].score
    assert ordered(kept, k, by_name) == ordered(shuffled, k, by_name)


def test_importance_then_confidence_then_freshness_break_ties():
    base = Hit(1, 1, 2.0, 3, 0.5, 100)
    better = (
        base._replace(score=2.01), base._replace(importance=4), base._replace(confidence=0.6), base._replace(updated=101),
    )  # fmt: skip
    for hit in better:
        assert sort_key(hit) < sort_key(base)
    assert sort_key(base._replace(confidence=-1.0)) > sort_key(base._replace(confidence=0.0)), "an absent one is last"


@given(st.floats(0.0001, 1e6), st.floats(0.0001, 1e6))
def test_rounding_keeps_the_order(one, other):
    low, high = sorted((one, other))
    assert rounded(low) <= rounded(high)
    assert abs(rounded(one) - one) <= max(0.0051, one * 0.001)


def test_scores_that_differ_by_noise_tie_and_small_ones_stay_apart():
    assert rounded(3.14159) == rounded(3.1401) == 3.14
    assert rounded(0.00012341) == rounded(0.00012339)
    assert rounded(0.0001234) != rounded(0.0001244)
