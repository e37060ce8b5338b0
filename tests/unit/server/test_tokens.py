"""What agents pay, in tokens: the list of tools, and an answer."""

from __future__ import annotations

import pytest

from benchmarks import tokens

pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated")  # in the tokenizer's package


def test_the_lists_of_tools_are_within_their_budgets():
    assert tokens.of_tools("default") <= 3_000
    assert tokens.of_tools("all") <= 8_000


def test_a_ten_hit_answer_is_within_its_budget_in_both_forms(tmp_path):
    text, structure = tokens.of_answer(str(tmp_path))
    assert text <= 1_000
    assert structure <= 2_000
