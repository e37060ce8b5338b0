"""Bytes → document: decoding, front matter, headings, sections that tile."""

from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scaffale.indexer import markdown
from scaffale.indexer.markdown import NotText, decode, parse


def paths(text):
    return [section.heading_path for section in parse(text, file_name="f.md").sections]


def headings(text):
    return [section.heading_path[-1] for section in parse(text, file_name="f.md").sections if section.level > 0]


# --- decoding ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        "perché\n".encode(),
        codecs.BOM_UTF8 + "perché\n".encode(),
        codecs.BOM_UTF16_LE + "perché\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "perché\n".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + "perché\n".encode("utf-32-le"),
        codecs.BOM_UTF32_BE + "perché\n".encode("utf-32-be"),
        "perché\n".encode("utf-16-le"),
        "perché\n".encode("utf-16-be"),
    ],
)
def test_decodes_unicode_with_and_without_mark(data):
    assert decode(data) == ("perché\n", ())


def test_empty_file_is_empty_text():
    assert decode(b"") == ("", ())


def test_keeps_line_ends():
    assert decode(b"a\r\nb\rc\n").text == "a\r\nb\rc\n"


def test_invalid_utf8_is_replaced_with_a_warning():
    text, warnings = decode(b"caff\xe8 nero\n")
    assert text == "caff\ufffd nero\n"
    assert len(warnings) == 1
    assert "UTF-8" in warnings[0]


def test_truncated_utf16_is_replaced_with_a_warning():
    text, warnings = decode(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le") + b"c")
    assert text == "ab\ufffd"
    assert len(warnings) == 1


def test_stray_nul_is_replaced_with_a_warning():
    text, warnings = decode(b"# Title\n\nsome\x00 text\x00 here\n")
    assert text == "# Title\n\nsome\ufffd text\ufffd here\n"
    assert len(warnings) == 1
    assert "NUL" in warnings[0]


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0\x08\x06\0\0\0\xaa\xbb\xcc\xdd" * 20,
        b"\x7fELF\x02\x01\x01" + bytes(300),
        bytes(range(256)) * 8,
    ],
)
def test_binary_is_refused_with_a_reason(data):
    with pytest.raises(NotText, match="binary"):
        decode(data)


@given(st.text())
def test_decode_gives_back_any_utf8_without_nul(text):
    text = text.replace("\0", "").removeprefix("\ufeff")
    assert decode(text.encode()) == (text.removeprefix("\ufeff"), ())


@given(st.binary())
def test_decode_never_fails_otherwise(data):
    try:
        text, _ = decode(data)
    except NotText:
        return
    text.encode()
    assert "\0" not in text


# --- title, tags, aliases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From matter\n---\n# One\n", "From matter"),
        ("## Two\n\n# One\n", "One"),
        ("## Two\n\n### Three\n", "Two"),
        ("prose\n", "notes.v2"),
        ("", "notes.v2"),
        ("#\n\n# \n", "notes.v2"),
    ],
)
def test_title_order(text, title):
    assert parse(text, file_name="notes.v2.md").title == title


def test_file_name_without_stem_or_suffix_is_a_title():
    assert parse("", file_name=".md").title == ".md"
    assert parse("", file_name="README").title == "README"


def test_heading_text_is_plain_one_line_and_bounded():
    assert headings("# A *b* **c** `d` [e](http://f 'g') ![h](i) &amp; \\# <b>j</b> ##\n") == ["A b c d e h & # j"]
    assert headings("two\nlines\n===\n") == ["two lines"]
    assert len(headings("# " + "x" * 1_000_000 + "\n")[0]) == markdown.MAX_HEADING_CHARS


def test_reference_links_in_headings_resolve_where_they_are_defined():
    assert headings("# See [text][ref]\n\n[ref]: http://x\n") == ["See text"]
    assert headings("# See [text][ref]\n") == ["See [text][ref]"]


# --- headings ------------------------------------------------------------------------------------------------------


def test_heading_paths():
    text = "intro\n# A\n## B\n#### D\n## C\n# E\n"
    assert paths(text) == [(), ("A",), ("A", "B"), ("A", "B", "D"), ("A", "C"), ("E",)]


def test_empty_headings_begin_a_section_and_add_no_name():
    assert paths("# A\n##\ntext\n### C\n") == [("A",), ("A",), ("A", "C")]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~ py\n# no\n~~\n",
        "````\n```\n# no\n````\n",
        "    # no\n",
        "\t# no\n",
        "#no\n",
        "#\u00a0no\n",
        "####### no\n",
        "\\# no\n",
        "<!--\n# no\n\n# no\n-->\n",
        "<div>\n# no\n</div>\n",
        "<pre>\n\n# no\n</pre>\n",
        "> # no\n",
        "- # no\n",
        "1. a\n\n   # no\n",
        "a\n\n---\n",
        "- a\n  ```\n  # no\n  ```\n",
    ],
)
def test_not_a_heading(text):
    assert headings(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "# yes",
        "   # yes\n",
        "#\tyes #\n",
        "yes\n===\n",
        "yes\n  --  \n",
        "prose\n# yes\n",
        "- item\n# yes\n",
        "> quote\n# yes\n",
        "```\ncode\n```\n# yes\n",
        "- ```\n  code\n# yes\n",
        "``` not `a fence\n# yes\n",
        "<!-- a --> \n# yes\n",
        "<div>\n\n# yes\n",
        "<div>\n<!--\n\n# yes\n-->\n",
        "\r\n# yes\r\n\r\n",
        "prose\r# yes\rprose",
        "- a\n  ```\n  # no\n  ```\n\n# yes\n",
        "---\ntitle: x\n---\n# yes\n",
    ],
)
def test_a_heading(text):
    assert headings(text) == ["yes"]


BLOCKS = "# H;## A `b` [c];#; # I;    # no;\t# t;# \\# é &lt #;é # x;===;---; --;-;;;* * *;\\;[c]: /url;| a |;|---|"
CONTAINERS = "prose;  prose;   three;- item;- # item;1. one;> quote;> ```"
FENCES = "```;```py;````;~~~;  ```;    ```;`` a ```"
HTML = "<div>;</div>; <b>;<http://a.b>;<!--;-->;<!-- c -->; <!--;<pre>;</pre>;<?x;?>"
LINES = st.sampled_from(";".join((BLOCKS, CONTAINERS, FENCES, HTML)).split(";"))


@settings(max_examples=1_000)
@given(st.lists(LINES, max_size=14), st.sampled_from(["\n", "\r\n", "\r"]))
@example(["- a", "```", "# H"], "\n")
@example(["<div>", "<!--", "", "# H", "-->"], "\n")
@example(["<!--", "```", "-->", "# H"], "\n")
def test_the_reader_of_plain_cases_agrees_with_commonmark(lines, end):
    text = end.join(lines).replace("\r", "\n") if end == "\r" else end.join(lines)
    try:
        plain = markdown._plain_headings("\n" + text, 0)
    except markdown._Doubt:
        return
    assert plain == markdown._parsed_headings(text, 0)


# --- sections ------------------------------------------------------------------------------------------------------


@settings(max_examples=500)
@given(
    st.one_of(
        st.text(),
        st.lists(LINES, max_size=30).map("\n".join),
        st.lists(LINES, max_size=30).map("\r\n".join),
        st.text(alphabet="\r\n# -=`<", max_size=60),
    )
)
def test_sections_tile_the_text(text):
    parsed = parse(text, file_name="f.md")
    assert "".join(section.body for section in parsed.sections) == text
    line = 1
    lines = markdown.lines(text)
    assert "".join(lines) == text
    for section in parsed.sections:
        assert section.start_line == line
        assert section.body == "".join(lines[section.start_line - 1 : section.end_line])
        line = section.end_line + 1
    assert parsed.line_count == len(lines) == line - 1


def test_text_before_the_first_heading_has_no_path():
    first, second = parse("intro\n\n# A\ntext", file_name="f.md").sections
    assert first == ((), markdown.PREAMBLE, 1, 2, "intro\n\n")
    assert second == (("A",), 1, 3, 4, "# A\ntext")


def test_front_matter_is_a_section_of_its_own():
    matter, body = parse("---\ntitle: T\n---\ntext\n", file_name="f.md").sections
    assert matter == ((), markdown.FRONT_MATTER, 1, 3, "---\ntitle: T\n---\n")
    assert body == ((), markdown.PREAMBLE, 4, 4, "text\n")


def test_a_long_section_is_cut_at_blank_lines_outside_fences():
    prose = "word " * 100 + "\n\n"
    fence = "```\n" + "code\n\n" * 200 + "```\n\n"
    text = "# Long\n\n" + prose * 6 + fence + prose * 20
    pieces = parse(text, file_name="f.md").sections
    assert len(pieces) > 3
    assert {piece.heading_path for piece in pieces} == {("Long",)}
    assert all(len(piece.body) <= markdown.LONG_SECTION for piece in pieces)
    assert all(piece.body.count("```") in (0, 2) for piece in pieces)
    assert all(piece.body.endswith("\n\n") for piece in pieces)


def test_a_long_block_is_cut_at_line_ends_and_a_giant_line_stays_whole():
    giant = "x" * 1_000_000
    text = "# A\n```\n" + "code line\n" * 1_000 + "```\n" + giant + "\nend\n"
    parsed = parse(text, file_name="f.md")
    assert all(piece.body.endswith("\n") for piece in parsed.sections)
    assert [len(piece.body) for piece in parsed.sections if len(piece.body) > markdown.LONG_SECTION] == [len(giant) + 1]
    assert len(parsed.warnings) == 1
    assert "very long" in parsed.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "- " * 10_000 + "x\n",
        "> " * 10_000 + "x\n",
        "[a](b) " * 100_000,
        "[" * 100_000,
        "[a][" * 50_000 + "\n\n[a]: b\n",
        "# h\n" * 100_000,
        "x\n===\n" * 50_000,
        "`" * 100_000 + "\nx\n---\n",
        "".join("`" * length + " " for length in range(500)) + "\nx\n---\n",
        "*a **b " * 50_000 + "\n===\n",
        "<" * 100_000 + "\nx\n===\n",
        "<div>\n" * 50_000 + "# h\n",
        "---\ntags: [" + '"' * 100_000 + "\n---\nx\n===\n",
        "---\n" + "a: b\n" * 100_000,
        "\n" * 200_000 + "x\n===\n",
        ("\n" + " " * 200) * 2_000 + "x\n===\n",
        "&" * 200_000 + "\n===\n",
        "![" * 50_000 + "\n===\n",
        "| a " * 20_000 + "\n" + "|---" * 20_000 + "\n===\n",
        "x " * 1_000_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_cost_linear_time(text):
    began = time.process_time()
    parsed = parse(text, file_name="f.md")
    assert time.process_time() - began < 5  # tens of milliseconds; a quadratic road would take minutes
    assert "".join(section.body for section in parsed.sections) == text


def test_too_many_headings_are_cut_with_a_warning():
    parsed = parse("# h\n" * (markdown.MAX_HEADINGS + 5), file_name="f.md")
    assert sum(section.level > 0 for section in parsed.sections) == markdown.MAX_HEADINGS
    assert len(parsed.warnings) == 1
    assert "headings" in parsed.warnings[0]
