"""Patterns that wait: they find what the pattern finds, and compile only when something may be found."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaffale.server.hooks import lazy, wording
from scaffale.server.hooks.lazy import Lazy

NEEDY = {name: value for name, value in vars(wording).items() if isinstance(value, Lazy) and value._needs}


def test_there_are_patterns_with_needs() -> None:
    assert {"LATER", "REQUEST", "INTO_MEMORY"} <= set(NEEDY)


@pytest.mark.parametrize("name", NEEDY)
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], max_examples=200)
@given(data=st.data())
def test_every_match_holds_a_piece_that_it_needs(name: str, data: st.DataObject) -> None:
    pattern = NEEDY[name]._pattern
    text = data.draw(st.from_regex(pattern, alphabet=st.characters(max_codepoint=0xFF)))
    for found in re.finditer(pattern, text):
        assert any(piece in found[0] for piece in NEEDY[name]._needs), found[0]


def test_nothing_is_compiled_where_no_piece_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = Lazy("a+b", needs=("ab",))
    monkeypatch.setattr(lazy.re, "compile", None)
    assert pattern.match("aac") is None
    assert pattern.search("xab", 0, 2) is None
    monkeypatch.undo()
    found = pattern.search("xaab", 1)
    assert found.span() == (1, 4)
    assert pattern.match("xaab") is None
    assert [match[0] for match in pattern.finditer("ab aab")] == ["ab", "aab"]
