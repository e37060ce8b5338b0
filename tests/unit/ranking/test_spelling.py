"""Guesses at what a word was meant for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.ranking.spelling import closest, distance, parted

TERMS = ("backup", "restor", "migrat", "lock", "fire", "accessibilit", "index", "pool")


@pytest.mark.parametrize(
    ("word", "term"),
    [("bakcup", "backup"), ("migratoin", "migrat"), ("poool", "pool"), ("lokc", "lock"), ("accesibilita", "accessibilit")],
)
def test_a_slip_is_near_its_word(word, term):
    assert closest([word], TERMS)[0] == term


def test_short_terms_and_far_ones_are_not_near():
    assert closest(["firewall"], TERMS) == []
    assert closest(["zebra"], TERMS) == []


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("ab", "ba", 1), ("abc", "abc", 0), ("abcd", "abd", 1), ("abcde", "abxde", 1), ("migrating", "migrat", 3 * 0.3)],
)
def test_edits_are_counted_and_endings_cost_little(one, other, edits):
    assert distance(one, other) == pytest.approx(edits)


@given(st.text("abc", min_size=1, max_size=6), st.text("abc", min_size=1, max_size=6))
def test_the_distance_is_none_only_between_equals(one, other):
    assert (distance(one, other) == 0) == (one == other)
    assert distance(one, other) <= max(len(one), len(other))


@pytest.mark.parametrize(
    ("word", "pieces"), [("lockedout", ["locked", "out"]), ("quaydburl", ["quay", "db", "url"]), ("locked", []), ("lockedx", [])]
)
def test_a_joined_word_is_parted_into_known_pieces(word, pieces):
    assert parted(word, {"locked", "out", "quay", "db", "url", "lock"}.__contains__) == pieces
