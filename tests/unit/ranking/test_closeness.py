"""What a close look adds."""

from __future__ import annotations

import pytest

from scaffale.ranking.closeness import COMPANY, Pair, company, places, side_by_side

TEXT = "the writer lock, then the writer holds a lock; lock the writer"
FOUND = [(4, 10, "writer"), (11, 15, "lock"), (26, 32, "writer"), (41, 45, "lock"), (47, 51, "lock"), (56, 62, "writer")]


def test_words_side_by_side_are_counted_where_they_stand_as_far_apart_as_asked():
    near, far = Pair(0, 1, 4.0), Pair(0, 3, 4.0)
    assert places(FOUND, {("writer", "lock"): near}, TEXT) == {near: 1}
    assert places(FOUND, {("writer", "lock"): far}, TEXT) == {far: 1}
    assert places(FOUND, {("lock", "reader"): near}, TEXT) == {}


def test_the_rarer_and_the_more_often_the_more():
    once = side_by_side(FOUND, {("writer", "lock"): Pair(0, 1, 4.0)}, TEXT)
    assert once == pytest.approx(4.0)
    assert side_by_side(FOUND, {("writer", "lock"): Pair(0, 1, 8.0)}, TEXT) == pytest.approx(8.0)


def test_a_place_with_much_of_what_is_asked_for_lifts_its_own():
    gains = company({1: 10.0, 2: 4.0, 3: 6.0}, {1: "a", 2: "a", 3: "b"})
    assert gains == pytest.approx({1: COMPANY * (10 + 2), 2: COMPANY * (10 + 2), 3: COMPANY * 6})
