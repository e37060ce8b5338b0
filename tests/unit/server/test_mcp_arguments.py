from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.errors import InvalidParam, LimitExceeded
from scaffale.server.mcp.arguments import LONGEST_LIST, LONGEST_TEXT, Arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "status": {"type": "string", "enum": ["active", "archived"]},
        "limit": {"type": "integer", "minimum": 1},
        "importance": {"type": "integer", "minimum": 1, "maximum": 5},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "dedupe": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "few": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        "section": {"type": "array", "items": {"type": "string"}},
        "assignments": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"document_id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
                "required": ["document_id"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}
check = Arguments(SCHEMA, text_too=("section",))


def test_gives_what_was_present_as_the_verbs_take_it():
    assert check({"query": "é", "limit": 3.0, "confidence": 1, "tags": ["a", "b"], "dedupe": False}) == {
        "query": "é",
        "limit": 3,
        "confidence": 1.0,
        "tags": ("a", "b"),
        "dedupe": False,
    }
    assert type(check({"query": "", "limit": 3.0})["limit"]) is int


def test_null_counts_as_absent():
    assert check({"query": "x", "status": None, "tags": None}) == {"query": "x"}
    with pytest.raises(InvalidParam, match="query: required"):
        check({"query": None})


def test_an_object_without_named_properties_takes_any_that_are_flat():
    open_ones = Arguments({"properties": {"links": {"type": "array", "items": {"type": "object"}}}})
    said = {"target": 2.0, "weight": 0.5, "pinned": True, "label": "é", "tags": ["a", 1], "nothing": None}
    taken = {"target": 2, "weight": 0.5, "pinned": True, "label": "é", "tags": ("a", 1)}
    assert open_ones({"links": [said, {}]}) == {"links": (taken, {})}
    for value, why in [
        ("a\0", "holds a NUL"), ("\ud800", "surrogate"), (2**70, "must be a number"), (10**400, "must be a number"),
        (-1e300, "must be a number"),
        (float("inf"), "must be a number"), (float("nan"), "must be a number"), ({}, "not an object"), ([[]], "not an array"),
        (["a\0"], "holds a NUL"), ([None], "not null"), (["x"] * 1_001, "1001 items"),
    ]:  # fmt: skip
        with pytest.raises((InvalidParam, LimitExceeded), match=rf"links\[1\]\.label(\[0\])?: .*{why}"):
            open_ones({"links": [{}, {"label": value}]})
    with pytest.raises(InvalidParam, match=r"links\[0\]: must be an object"):
        open_ones({"links": ["x"]})
    with pytest.raises(InvalidParam, match=r"links\[0\]\.\\ud800x{39}\.\.\.: "):
        open_ones({"links": [{"\ud800" + "x" * 100: {}}]})


def test_no_arguments_at_all():
    assert Arguments({"type": "object", "properties": {}})(None) == {}
    with pytest.raises(InvalidParam, match="query: required"):
        check(None)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("query", 1, "query: must be a string, not a number"),
        ("query", ["x"], "query: must be a string, not an array"),
        ("query", "a\0b", "query: holds a NUL"),
        ("query", "a\ud800b", "query: holds half of a surrogate pair"),
        ("status", "Active", "status: must be one of active, archived"),
        ("status", True, "status: must be a string, not a boolean"),
        ("limit", True, "limit: must be an integer, not a boolean"),
        ("limit", "3", "limit: must be an integer, not a string"),
        ("limit", 3.5, "limit: must be an integer, not a number"),
        ("limit", 0, "limit: must be a number, at least 1"),
        ("limit", 10**30, "limit: must be a number, at least 1"),
        ("limit", 1e300, "limit: must be a number, at least 1"),
        ("importance", 6, "importance: must be a number, at least 1 and at most 5"),
        ("confidence", 1.01, "confidence: must be a number, at least 0 and at most 1"),
        ("confidence", float("nan"), "confidence: must be a number"),
        ("confidence", float("inf"), "confidence: must be a number"),
        ("confidence", "0.5", "confidence: must be a number, not a string"),
        ("confidence", True, "confidence: must be a number, not a boolean"),
        ("dedupe", 1, "dedupe: must be true or false, not a number"),
        ("dedupe", "true", "dedupe: must be true or false, not a string"),
        ("tags", "a", "tags: must be an array, not a string"),
        ("tags", ["a", 1], r"tags\[1\]: must be a string"),
        ("tags", ["a", None], r"tags\[1\]: must be a string, not null"),
        ("tags", [["a"]], r"tags\[0\]: must be a string, not an array"),
        ("tags", ["\ud800"], r"tags\[0\]: holds half"),
        ("tags", {"0": "a"}, "tags: must be an array, not an object"),
        ("section", 3, "section: must be an array"),
        ("section", "a\0", "section: holds a NUL"),
        ("assignments", [{"document_id": 1, "tags": ["a\0"]}], r"assignments\[0\]\.tags\[0\]: holds a NUL"),
        ("assignments", [{"tags": []}], r"assignments\[0\]\.document_id: required"),
        ("assignments", [{"document_id": 1, "tagz": []}], r"assignments\[0\]\.unknown argument 'tagz'; did you mean tags"),
        ("assignments", [7], r"assignments\[0\]: must be an object"),
    ],
)
def test_a_wrong_value_names_its_argument(name, value, says):
    with pytest.raises(InvalidParam, match=says):
        check({"query": "x", name: value})


def test_an_array_may_be_plain_text_where_said():
    assert check({"query": "x", "section": "Install"})["section"] == "Install"
    assert check({"query": "x", "section": ["Install", "Linux"]})["section"] == ("Install", "Linux")


def test_sizes_have_limits():
    assert len(check({"query": "x" * LONGEST_TEXT})["query"]) == LONGEST_TEXT
    for too_much in ({"query": "x" * (LONGEST_TEXT + 1)}, {"query": "", "tags": ["a"] * (LONGEST_LIST + 1)}):
        with pytest.raises(LimitExceeded):
            check(too_much)
    with pytest.raises(LimitExceeded, match="few: has 3 items"):
        check({"query": "", "few": [1, 2, 3]})


def test_unknown_arguments_name_the_closest_known_one():
    with pytest.raises(InvalidParam, match="unknown argument 'querry'; did you mean query"):
        check({"querry": "x"})
    with pytest.raises(InvalidParam, match="unknown argument 'zzz'; known are: query, status"):
        check({"query": "x", "zzz": None})


@pytest.mark.parametrize("value", ["s3cret" * 50, ["s3cret" * 50], {"s3cret" * 50: 1}])
def test_errors_repeat_no_value_and_no_long_name(value):
    for arguments in ({"query": "x", "limit": value}, {"query": "x", "status": value}, {"query": "x", "x" * 500: value}):
        with pytest.raises(InvalidParam) as caught:
            check(arguments)
        assert "s3cret" not in caught.value.detail
        assert len(caught.value.detail) < 250


def test_an_error_can_always_be_written_as_json():
    with pytest.raises(InvalidParam) as caught:
        check({"\ud800": 1})
    assert json.dumps(caught.value.detail).isascii()
    caught.value.detail.encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "stranger"]), json_values, max_size=5))
def test_any_json_is_taken_or_refused_with_a_reason(arguments):
    try:
        checked = check(arguments)
    except (InvalidParam, LimitExceeded) as error:
        assert error.detail
    else:
        assert set(checked) <= set(SCHEMA["properties"])
        assert all(value is not None for value in checked.values())
