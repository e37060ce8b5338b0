"""The 200 literal texts: that each is a fair question, and how many of them come first."""

from __future__ import annotations

import pytest

from benchmarks import literals

CASES = literals.cases()


def test_there_are_200_in_both_languages():
    assert len({case.literal for case in CASES}) == len(CASES) == 200
    assert {case.language for case in CASES} == {"en", "it"}
    assert sum(case.language == "it" for case in CASES) > 40
    assert all(len(case.near) >= 1 for case in CASES)


@pytest.mark.parametrize("number", range(200), ids=lambda number: CASES[number].literal)
def test_only_one_document_of_a_case_holds_its_literal(number):
    case = CASES[number]
    *others, target = literals.documents(case, number)
    assert len(others) >= 1
    assert literals.holds(target.text, case.literal)
    assert not [told for told in others if literals.holds(told.text, case.literal)]


@pytest.mark.parametrize(
    ("text", "literal", "held"),
    [
        ("use 1.2.3 now", "1.2.3", True),
        ("use 1.2.30 now", "1.2.3", False),
        ("11.2.3", "1.2.3", False),
        ("E0308:", "e0308", True),
        ("the .ENV file", ".env", True),
        ("myenv", "env", False),
        ("检索库", "索", True),
        ("a=>b", "=>", True),
        ("dell'ordine", "ordine", True),
    ],
)
def test_a_text_holds_a_literal_or_not(text, literal, held):
    assert literals.holds(text, literal) is held


# --- asked -------------------------------------------------------------------------------------------------------------

def first_hits(cases, folder, engine):
    ((_, misses),) = literals.missed(cases, str(folder), [engine])
    return [f"{miss.case.literal}: {miss.first.text}" for miss in misses]


def test_a_sample_of_them_comes_first(tmp_path, engine_name):
    assert first_hits(CASES[::8], tmp_path, engine_name) == []


@pytest.mark.slow
def test_all_of_them_come_first(tmp_path, engine_name):
    assert first_hits(CASES, tmp_path, engine_name) == []


def test_a_miss_says_what_came_instead(tmp_path):
    case = literals.Case("zebra-7", "giraffe", "en", "name", ("giraffe",))
    ((engine, (miss,)),) = literals.missed([case], str(tmp_path), ["tantivy"])
    assert (engine, miss.case, miss.rank, miss.first.role) == ("tantivy", case, None, "near")
