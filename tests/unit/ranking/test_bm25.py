"""The formula that must be the engines' own."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from scaffale.ranking.bm25 import K1, B, idf, length_factors, quantised

# Lengths that a one-byte norm can remember, from 38 on: the steps double every eight.
REMEMBERED = [
    38, 39, 40, 42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68, 72, 76, 80, 84, 88, 96, 104, 112, 120, 128, 136, 144, 152,
    168, 184, 200, 216, 232, 248, 264, 280, 312, 344, 376, 408, 440, 472, 504, 536, 600, 664, 728, 792, 856, 920, 984,
    1_048, 1_176, 1_304, 1_432, 1_560, 1_688, 1_816, 1_944, 2_072,
]  # fmt: skip


def test_lengths_are_remembered_in_one_byte():
    assert [quantised(n) for n in range(41)] == list(range(41))
    for length in range(38, 2_072):
        assert quantised(length) == max(each for each in REMEMBERED if each <= length)


@given(st.integers(0, 10**9))
def test_a_remembered_length_is_never_longer_and_stays(length):
    assert quantised(length) <= length
    assert quantised(quantised(length)) == quantised(length)
    assert quantised(length) >= length * 0.85
    assert quantised(length) <= quantised(length + 1)


@given(st.integers(1, 10**6), st.data())
def test_rare_words_weigh_more_and_none_less_than_nothing(documents, data):
    few, many = sorted((data.draw(st.integers(0, documents)), data.draw(st.integers(0, documents))))
    assert idf(documents, few) >= idf(documents, many) > 0
    assert idf(documents, many) == math.log(1 + (documents - many + 0.5) / (many + 0.5))


def test_a_passage_of_average_length_is_neither_lifted_nor_lowered():
    constant, slope = length_factors(120.0)
    assert constant + slope * 120 == K1
    assert constant == K1 * (1 - B)
    assert length_factors(0.0)[1] == 0.0
