"""The tolerant reader of title, tags and aliases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.indexer import front_matter


def read(block):
    return front_matter.read(f"---\n{block}\n---\ntext\n")


@pytest.mark.parametrize(
    ("block", "title"),
    [
        ("title: Plain", "Plain"),
        ("Title:   spaced  ", "spaced"),
        ('title: "A: b # c"  # comment', "A: b # c"),
        ("title: 'it''s'", "it's"),
        (r'title: "tab\tu\u00e8 \"q\""', 'tab\tuè "q"'),
        (r'title: "half \ud800 pair"', "half \ufffd pair"),
        ("title: C# # not this", "C#"),
        ("title: 2024", "2024"),
        ("title: one, two", "one, two"),
        ("title: >\n  folded\n  lines", "folded lines"),
        ("title: |-\n  kept", "kept"),
        ("title: plain\n  goes on", "plain goes on"),
        ('"title": quoted key', "quoted key"),
        ("title:", ""),
        ("title: ~", ""),
        ("title: null", ""),
        ("titles: other\nsub:\n  title: nested", ""),
        ("layout: x\n\ntitle: after\ndate: y", "after"),
        ('title: "never closed', "never closed"),
    ],
)
def test_title(block, title):
    assert read(block).title == title


@pytest.mark.parametrize(
    "block",
    [
        "tags: [a, 'b c', \"d,e\", '#f']",
        "tags: [a,\n  'b c', \"d,e\",\n  '#f'\n]",
        "tags:\n  - a\n  - b c # comment\n  - \"d,e\"\n  - '#f'",
        "tags:\n- a\n- b c\n- 'd,e'\n- '#f'\nnext: x",
        "tags: # comment\n\n  -  a\n  - b c\n  - 'd,e'\n  - '#f'\n  -",
    ],
)
def test_lists(block):
    assert read(block).tags == ("a", "b c", "d,e", "f")
    assert read(block.replace("tags", "aliases")).aliases == ("a", "b c", "d,e", "#f")


def test_a_scalar_is_split_at_commas():
    assert read("tags: a, b c ,, d").tags == ("a", "b c", "d")
    assert read("tags: one").tags == ("one",)
    assert read("tags: []").tags == ()
    assert read("tags: {a: b}").tags == ("{a: b}",)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("---\na: b\n---\nx", 13),
        ("---\r\na: b\r\n---\r\nx", 16),
        ("---\na: b\n...\nx", 13),
        ("---\na: b\n---", 12),
        ("---\n---\nx", 8),
        ("---  \n\n---\t\nx", 12),
        ("---\n# comment\na: b\n---\nx", 23),
        ("+++\na = 1\n+++\nx", 14),
        ("---\na: b\n", 0),
        ("---\nprose\n---\nx", 0),
        ("---\n# Heading\n\nprose\n---\nx", 0),
        ("----\na: b\n----\n", 0),
        ("x\n---\na: b\n---\n", 0),
        (" ---\na: b\n---\n", 0),
        ("---\na: b\n ---\n", 0),
        ("+++\nx", 0),
    ],
)
def test_where_it_ends(text, end):
    assert front_matter.read(text).end == end


def test_crlf_values_are_clean():
    assert front_matter.read("---\r\ntitle: A\r\ntags:\r\n- b\r\n---\r\n") == (32, "A", ("b",), ())


@given(st.text(alphabet="tagsile: \n[]-'\",#|>\\u0\r~", max_size=60))
def test_anything_is_read_without_failing(block):
    found = read("tags: x\n" + block)
    assert all(tag == tag.strip() for tag in found.tags)
