"""JSON with comments, changed in place: strict where it reads, silent about the rest of the text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaffale.server.install import jsonc

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
INDENTS = st.sampled_from((None, 2, 4, "\t"))


@settings(max_examples=300, deadline=None)
@given(VALUES, INDENTS)
def test_plain_json_is_read_as_the_standard_library_reads_it(value, indent):
    assert jsonc.parse(json.dumps(value, indent=indent)).plain == value


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='{}[]",:/*\n\\ a1truefalsenull.-', max_size=40))
def test_no_text_makes_it_fail_otherwise(text):
    try:
        found = jsonc.parse(text).plain
    except jsonc.Ambiguous:
        return
    if text.strip() and "/" not in text:
        bare = text
        try:
            expected = json.loads(bare)
        except ValueError:
            return  # trailing commas
        assert found == expected


@settings(max_examples=300, deadline=None)
@given(OBJECTS, INDENTS, st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=3), VALUES)
def test_putting_means_that_and_no_other_change(value, indent, path, new):
    text = json.dumps(value, indent=indent)
    try:
        after = jsonc.put(text, tuple(path), new)
    except jsonc.Ambiguous:
        return  # something that is no object stands in the way
    expected = json.loads(text)
    inner = expected
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    inner[path[-1]] = new
    assert json.loads(after) == expected


@settings(max_examples=300, deadline=None)
@given(OBJECTS, INDENTS, st.text(min_size=5, max_size=6), VALUES)
def test_removing_gives_the_former_text_back(value, indent, key, new):
    text = json.dumps(value, indent=indent)
    if value:
        assert jsonc.remove(jsonc.put(text, (key,), new), (key,)) == text
    else:
        assert jsonc.parse(jsonc.remove(jsonc.put(text, (key,), new), (key,))).plain == {}


COMMENTED = """{
    // servers of mine
    "mcpServers": {
        "other": { "command": "x" }, // keep me
        /* and me */
    },
    "a": [1, 2,], // trailing
}
"""


def test_comments_order_and_trailing_commas_survive():
    after = jsonc.put(COMMENTED, ("mcpServers", "scaffale"), {"command": "c"})
    assert [line for line in COMMENTED.splitlines() if line not in after.splitlines()] == []
    assert jsonc.parse(after).plain["mcpServers"] == {"other": {"command": "x"}, "scaffale": {"command": "c"}}
    assert jsonc.parse(jsonc.put(COMMENTED, ("a", -1), 3)).plain["a"] == [1, 2, 3]
    assert jsonc.remove(after, ("mcpServers", "scaffale")) == COMMENTED


def test_a_remark_stays_with_its_value():
    text = '{\n  "a": 1 // of a\n}\n'
    after = jsonc.put(text, ("b",), 2)
    assert after == '{\n  "a": 1, // of a\n  "b": 2\n}\n'
    assert jsonc.remove(after, ("b",)) == text


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"a": 1, "a": 2}', "stands twice"),
        ('{"a": {"b": 1,\n "b": 2}}', "line 2"),
        ("{", "a value is expected"),
        ('{"a" 1}', "colon"),
        ('{"a": 1 "b": 2}', "comma"),
        ("{} {}", "more behind"),
        ("{'a': 1}", "value is expected"),
        ("{1: 2}", "key is expected"),
        ("[" * 500, "too deeply"),
        ('{"a": "\\x"}', "escape"),
        ("// only a remark\n{", "line 2"),
        ('{"a": NaN}', "value is expected"),
    ],
)
def test_what_is_ambiguous_is_refused_with_its_line(text, what):
    with pytest.raises(jsonc.Ambiguous, match=what):
        jsonc.parse(text)


@pytest.mark.parametrize("text", ["", " \n", "{}", "{ }", "// nothing yet\n", "{\n  // nothing yet\n}\n"])
def test_an_empty_file_can_be_filled(text):
    after = jsonc.put(text, ("mcpServers", "scaffale"), {"command": "c"})
    assert jsonc.parse(after).plain == {"mcpServers": {"scaffale": {"command": "c"}}}
    assert all(line in after for line in text.splitlines() if "//" in line)
