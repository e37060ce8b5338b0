from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.errors import IndexUnusable, InvalidParam, NotFound
from scaffale.server.mcp.registry import Verb
from scaffale.server.mcp.results import failure, success
from scaffale.server.render import plain, structured, visible


class Inner(NamedTuple):
    name: str
    note: str | None = None


class Outer(NamedTuple):
    project_id: str
    inner: Inner
    items: tuple = ()
    absent: str | None = None
    warnings: tuple = ()


def test_values_become_json_with_absent_fields_left_out():
    value = Outer("p", Inner("n"), (Inner("a", "b"), 1, 2.5, True, ["x", None]), warnings=("w",))
    assert plain(value) == {
        "project_id": "p",
        "inner": {"name": "n"},
        "items": [{"name": "a", "note": "b"}, 1, 2.5, True, ["x", None]],
        "warnings": ["w"],
    }
    assert structured(value)["ok"] is True
    assert next(iter(structured(value))) == "ok"


def test_several_reports_become_a_list_with_their_warnings_in_common():
    answer = structured((Outer("p", Inner("n"), warnings=("one",)), Outer("q", Inner("m"), warnings=("two",))))
    assert answer["warnings"] == ["one", "two"]
    assert [report["project_id"] for report in answer["reports"]] == ["p", "q"]
    assert structured(()) == {"ok": True, "reports": [], "warnings": []}


def test_a_file_name_that_is_no_unicode_can_still_be_shown():
    assert plain({"file_path": "/docs/caf\udce9.md"}) == {"file_path": "/docs/caf?.md"}


def test_success_is_enough_as_text_and_as_data():
    result = success(Outer("p", Inner("n"), warnings=("w",)), Verb(lambda call: None, lambda answer: "said"), ("more",))
    assert result["content"] == [{"type": "text", "text": "said\nWarning: w\nWarning: more"}]
    assert result["structuredContent"]["warnings"] == ["w", "more"]
    assert result["isError"] is False


def test_a_listing_comes_first_as_a_json_array():
    verb = Verb(lambda call: None, lambda answer: "2 things", listing="items")
    result = success(Outer("p", Inner("n"), (Inner("a"), Inner("b\x1b")), warnings=("w",)), verb)
    first, second = (block["text"] for block in result["content"])
    assert json.loads(first) == [{"name": "a"}, {"name": "b\x1b"}]
    assert second == "2 things\nWarning: w"


def test_an_error_carries_its_code_in_text_and_data():
    result = failure(NotFound("no entry x", project_id="p"))
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "NOT_FOUND: no entry x"}]
    assert result["structuredContent"] == {
        "ok": False,
        "error_code": "NOT_FOUND",
        "detail": "no entry x",
        "project_id": "p",
    }
    assert "project_id" not in failure(InvalidParam("x"))["structuredContent"]


def test_an_error_stands_on_one_line():
    result = failure(NotFound("no entry a\r\nb\u2028c\x1b"))
    assert result["structuredContent"]["detail"] == "no entry a b c\\u001b"
    assert result["content"][0]["text"] == "NOT_FOUND: no entry a b c\\u001b"


def test_an_error_does_not_repeat_a_secret_that_it_was_given():
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    result = failure(NotFound(f"no shelf {secret!r}; there are: notes"))
    assert secret not in json.dumps(result)
    assert result["structuredContent"]["detail"] == "no shelf '[REDACTED:github-token]'; there are: notes"


ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("obey\U000e0061\U000e0062", "obey\\U000e0061\\U000e0062"),
        (f"flag {ENGLAND}!", f"flag {ENGLAND}!"),
        (f"{ENGLAND}\U000e0061", f"{ENGLAND}\\U000e0061"),
        ("\U0001f3f4" + "\U000e0061" * 9 + "\U000e007f", "\U0001f3f4" + "\\U000e0061" * 9 + "\\U000e007f"),
        ("zero\u200bwidth \u202e 👩\u200d👩 e\u0301", "zero\u200bwidth \u202e 👩\u200d👩 e\u0301"),
    ],
    ids=["hidden words", "a flag", "after a flag", "a long flag", "everything else"],
)
def test_data_is_verbatim_but_for_tag_characters(text, shown):
    assert plain({"content": text}) == {"content": shown}


def test_an_unusable_index_never_shows():
    result = failure(IndexUnusable("/x/segment.idx: bad magic"))
    assert result["structuredContent"]["error_code"] == "INTERNAL"
    assert "segment" not in json.dumps(result)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nsecond", "plain\ttext\nsecond"),
        ("windows\r\nlines", "windows\nlines"),
        ("\x1b[31mred\x1b[0m", "\\u001b[31mred\\u001b[0m"),
        ("back\x08space\x7f", "back\\bspace\\u007f"),
        ("c1 \x9b31m", "c1 \\u009b31m"),
        ("bidi \u202e", "bidi \\u202e"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag \U000e0041", "tag \\udb40\\udc41"),
        ("perché 日本 👩‍👩‍👧", "perché 日本 👩‍👩‍👧"),
        ("half \ud800", "half ?"),
    ],
)
def test_what_cannot_be_seen_is_shown_escaped(text, shown):
    assert visible(text) == shown


@given(st.text(alphabet=st.characters()))
def test_shown_text_has_nothing_hidden_and_json_stays_json(text):
    shown = visible(text)
    shown.encode()
    assert not any(ord(ch) < 32 and ch not in "\t\n" for ch in shown)
    assert json.loads(visible(json.dumps([text], ensure_ascii=False))) == [text.encode("utf-8", "replace").decode()]


UNSEEN = "\x00\x08\x1b\x7f\x9b\xad\u061c\u180e\u200b\u200e\u200f\u202a\u202e\u2060\u2064\u2066\u2069\ufeff\U000e0041"


@pytest.mark.parametrize("character", UNSEEN)
def test_characters_that_nobody_sees_are_shown_as_escapes(character):
    shown = visible(f"before {character} after")
    assert character not in shown
    assert shown.startswith("before \\")
    assert shown.endswith(" after")


def test_joiners_are_shown_where_they_hide_something_and_left_where_scripts_need_them():
    assert visible("pass\u200dword \u200c") == "pass\\u200dword \\u200c"
    assert visible("👩\u200d👩 می\u200cخواهم") == "👩\u200d👩 می\u200cخواهم"
