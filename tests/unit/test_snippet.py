"""Excerpts: they show why a text matched, mark only what matched, and invent nothing."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.snippet import WIDTH, Highlighter
from scaffale.text import words


def stem(word):
    """A small stemmer: folded, without a plural's letter."""
    return [each.removesuffix("s") or each for each in words(word)]


def highlighter(query):
    return Highlighter({each for word in query.split() for each in stem(word)}, stem)


def snippet(text, query, **more):
    return highlighter(query).snippet(text, **more)


def bare(shown):
    return shown.replace(">>>", "").replace("<<<", "").removeprefix("… ").removesuffix(" …")


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("The writer holds the lock.", "lock", "The writer holds the >>>lock<<<."),
        ("Locks and LOCK and clocks", "lock", ">>>Locks<<< and >>>LOCK<<< and clocks"),
        ("nothing here", "lock", "nothing here"),
        ("", "lock", ""),
        ("  lines\n\n and\ttabs  lock ", "lock", "lines and tabs >>>lock<<<"),
        ("日本語 città 🙂 lock", "CITTA", "日本語 >>>città<<< 🙂 lock"),
        ("snake_case and file.name", "case name", "snake_>>>case<<< and file.>>>name<<<"),
        ("a>>>b lock", "lock", "a>>>b >>>lock<<<"),
    ],
)
def test_matches_stand_between_marks(text, query, expected):
    assert snippet(text, query) == expected


def test_the_window_holds_the_most_distinct_words():
    text = "lock " * 30 + "filler " * 200 + "lock by the writer " + "filler " * 200
    shown = snippet(text, "writer lock")
    assert ">>>lock<<< by the >>>writer<<<" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")


def test_what_matches_late_is_shown_with_a_lead():
    shown = snippet("filler " * 500 + "before it the lock and after it " + "filler " * 500, "lock")
    assert "before it the >>>lock<<< and after it" in shown
    assert len(bare(shown)) <= WIDTH + 30


def test_words_are_not_cut():
    text = " ".join(f"word{n:03}" for n in range(500))
    assert all(re.fullmatch(r"word\d{3}", word) for word in bare(snippet(text, "word250")).split())


def test_a_stem_may_differ_in_its_last_letter():
    """As of the English stemmer's `dry`, which is `dri`."""
    shown = Highlighter({"dri"}, lambda word: ["dri"] if word in {"dry", "dries"} else [word]).snippet("a dry run, a drum")
    assert shown == "a >>>dry<<< run, a drum"


def spelled_out(word):
    """As Tantivy folds: letters become the ASCII letters that they stand for."""
    for letter, ascii in {"ß": "ss", "ﬁ": "fi", "ø": "o", "ł": "l", "æ": "ae"}.items():
        word = word.replace(letter, ascii)
    return stem(word)


@pytest.mark.parametrize(
    ("text", "stems", "expected"),
    [
        ("Die Straße und die strasse", {"strasse"}, "Die >>>Straße<<< und die >>>strasse<<<"),
        ("a conﬁg ﬁle", {"file"}, "a conﬁg >>>ﬁle<<<"),
        ("Ørsted of Łódź, 2 kitaplık", {"orsted", "lodz"}, ">>>Ørsted<<< of >>>Łódź<<<, 2 kitaplık"),
    ],
)
def test_letters_that_an_engine_spells_out_are_marked_too(text, stems, expected):
    assert Highlighter(stems, spelled_out).snippet(text) == expected


@pytest.mark.parametrize(
    ("text", "stems", "expected"),
    [
        ("C++ and c++11, not C", {"cpp"}, ">>>C++<<< and >>>c++<<<11, not C"),
        ("C# or F# on .NET", {"csharp", "dotnet"}, ">>>C#<<< or F# on >>>.NET<<<"),
        ("c, then C++", {"c", "cpp"}, ">>>c<<<, then >>>C++<<<"),
        ("cpp, C++", {"cpp"}, ">>>cpp<<<, >>>C++<<<"),
    ],
)
def test_symbols_are_marked_as_they_stand(text, stems, expected):
    assert Highlighter(stems, stem).snippet(text) == expected


def test_each_form_of_a_word_is_stemmed_once():
    asked = []
    marker = Highlighter({"lock"}, lambda word: asked.append(word) or stem(word))
    for _ in range(3):
        marker.snippet("locks lock locked lock locks")
    assert sorted(asked) == ["lock", "locked", "locks"]


pieces = st.sampled_from(
    ["\n", "\u2028", "\x1f", "\ud83d", *"lock Locks writer città citta\u0301 🙂 検索 _ - . > < … İ ß".split()]
)
texts = st.one_of(
    st.lists(st.one_of(pieces, st.text(max_size=5)), max_size=200).map(" ".join),
    st.lists(st.one_of(pieces, st.text(st.characters(codec=None), max_size=5)), max_size=300).map("".join),
).filter(lambda text: ">>>" not in text and "<<<" not in text)
queries = st.lists(st.one_of(st.sampled_from(["lock", "writer", "città", "🙂", "索"]), st.text(max_size=4)), max_size=4)


@given(text=texts, query=queries.map(" ".join), width=st.integers(1, 400))
def test_a_snippet_without_its_marks_is_a_part_of_the_text(text, query, width):
    marker = highlighter(query)
    shown = marker.snippet(text, width=width)
    collapsed = " ".join(text.split())
    assert bare(shown) in collapsed
    assert "\n" not in shown
    assert len(bare(shown)) <= width + 30
    assert shown.count(">>>") == shown.count("<<<")
    wanted = {each for word in query.split() for each in stem(word)}
    for word in re.findall(r">>>(.*?)<<<", shown):
        assert wanted & set(stem(word))


@given(text=texts, query=queries.map(" ".join))
def test_matches_are_words_of_the_text_in_order(text, query):
    found = highlighter(query).matches(text)
    assert found == sorted(found)
    for (start, end, _), (following, _, _) in pairwise(found):
        assert start < end <= following
    for start, end, _ in found:
        assert not text[start - 1 : start].isalnum()
        assert not text[end : end + 1].isalnum()


@given(st.lists(st.sampled_from(["lock", "filler", "word,", "città", "(writer)"]), min_size=1, max_size=300))
def test_a_match_that_there_is_is_shown(parts):
    shown = snippet(" ".join(parts), "lock writer")
    assert (">>>" in shown) == bool({"lock", "(writer)"} & set(parts))
