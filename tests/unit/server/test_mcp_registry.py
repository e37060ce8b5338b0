from __future__ import annotations

import inspect
import json
import os
import re

import pytest

from scaffale.docs import Docs
from scaffale.errors import InvalidParam
from scaffale.memory import Memory
from scaffale.server.mcp.registry import TOOL_SETS, choose
from scaffale.server.mcp.tools import TOOLS

GOLDEN = os.path.join(os.path.dirname(__file__), "golden_tools_list.json")
BY_NAME = {spec.name: spec for spec in TOOLS}
KEYWORDS = {
    "string": {"enum"},
    "boolean": set(),
    "integer": {"minimum", "maximum"},
    "number": {"minimum", "maximum"},
    "array": {"items", "maxItems"},
    "object": set(),
}


CHECKED_BY_THE_HALL = re.compile(r"_id\Z|\A(?:start|end)_line\Z|confidence\Z")  # with words that say more than a bound


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
class TestEveryTool:
    def test_has_a_portable_name_and_says_what_it_does(self, spec):
        assert re.fullmatch(r"[a-z0-9_]{1,40}", spec.name)
        assert 0 < len(spec.title) <= 60
        assert 20 < len(spec.description) < 2_048
        assert spec.description.isascii()

    def test_takes_a_flat_closed_object(self, spec):
        schema = spec.schema
        assert set(schema) <= {"type", "properties", "required", "additionalProperties"}
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(schema.get("required", ())) <= set(schema["properties"])
        assert not {"oneOf", "anyOf", "allOf", "$ref", "const", "not"} & set(re.findall(r'"([^"]+)":', json.dumps(schema)))

    def test_has_explicit_properties(self, spec):
        for name, rule in spec.schema["properties"].items():
            assert re.fullmatch(r"[a-z][a-z_]*", name)
            assert set(rule) <= KEYWORDS[rule["type"]] | {"type", "description", "default"}, name
            if rule["type"] == "array":
                assert rule["items"]["type"] in KEYWORDS
            if rule["type"] in {"integer", "number"} and not CHECKED_BY_THE_HALL.search(name):
                assert "minimum" in rule, name
            if "enum" in rule:
                assert len(set(rule["enum"])) == len(rule["enum"]) > 0
            if "default" in rule:
                assert spec.arguments({**_required(spec), name: rule["default"]})[name] == rule["default"]

    def test_promises_only_ok(self, spec):
        assert spec.answers["type"] == "object"
        assert spec.answers["required"] == ["ok"]
        assert spec.answers["properties"]["ok"] == {"type": "boolean"}
        assert "additionalProperties" not in spec.answers

    def test_carries_all_annotations(self, spec):
        wire = spec.wire()
        assert set(wire) == {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
        hints = wire["annotations"]
        assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert all(type(value) is bool for value in hints.values())
        assert hints["openWorldHint"] is False
        assert not (hints["readOnlyHint"] and hints["destructiveHint"])

    def test_offers_exactly_its_verbs(self, spec):
        if "" in spec.verbs:
            assert list(spec.verbs) == [""]
            return
        properties = spec.schema["properties"]
        assert properties["action"]["enum"] == list(spec.verbs)
        used = {name for verb in spec.verbs.values() for name in verb.required + verb.optional}
        assert used | {"action"} == set(properties)


def test_only_tools_that_change_nothing_are_read_only():
    assert {spec.name for spec in TOOLS if not spec.hints.read_only} == {
        "memory_add_entry",
        "memory_update_entry",
        "memory_invalidate_entry",
        "memory_delete_entry",
        "memory_link_entries",
        "memory_unlink_entries",
        "memory_rebuild_index",
        "memory_verify_entry",
        "memory_add_from_ticket",
        "memory_add_from_git_context",
        "memory_add_from_docs_result",
        "memory_mine_project_notes",
        "memory_export_project",
        "memory_import_project",
        "docs_management",
        "ledger_open_session",
        "ledger_record_decision",
    }


def test_names_are_unique_and_sets_are_as_agreed():
    assert len(BY_NAME) == len(TOOLS)
    assert {spec.name for spec in choose(TOOLS, "default")} == {
        "memory_status",
        "memory_search",
        "memory_read_entry",
        "memory_add_entry",
        "memory_update_entry",
        "memory_invalidate_entry",
        "memory_list_scopes",
        "memory_list_topics",
        "memory_list_tags",
        "docs_navigation",
        "docs_management",
    }
    assert choose(TOOLS, "all") == TOOLS
    assert all(spec.name.startswith("memory_") for spec in choose(TOOLS, "memory"))
    assert [spec.name for spec in choose(TOOLS, "docs")] == ["docs_navigation", "docs_management"]
    assert all(spec.name.startswith("ledger_") for spec in choose(TOOLS, "ledger"))
    with pytest.raises(InvalidParam, match="default, all, memory, docs, ledger"):
        choose(TOOLS, "everything")
    assert all(choose(TOOLS, name) for name in TOOL_SETS)


ONLY_PEOPLE = {  # what a command takes, and the tool does not
    "docs_management export_shelf": {"overwrite"},
    "ledger_propose_promotion": {"page_size"},
}
NAMES = {"list_scopes", "list_topics", "list_tags"}


def _verbs_of_the_halls():
    for spec in TOOLS:
        properties = spec.schema["properties"]
        if spec.domain in ("memory", "ledger"):
            name = spec.name.removeprefix("memory_").removeprefix("ledger_")
            yield spec.name, getattr(Memory, "_list" if name in NAMES else name), properties, ()
        else:
            for action, verb in spec.verbs.items():
                used = verb.required + verb.optional
                yield f"{spec.name} {action}", getattr(Docs, action), {n: properties[n] for n in used}, verb.required


@pytest.mark.parametrize(("name", "verb", "properties", "required"), [*_verbs_of_the_halls()])
def test_what_a_schema_offers_is_what_the_hall_takes(name, verb, properties, required):
    """Names, required ones and defaults: a default that a client reads is the one that holds."""
    parameters = inspect.signature(verb).parameters
    ours = {"self", "actor", "progress", "column", "origin", "anywhere", "only_changed", "jobs", "samples"}
    assert set(properties) == set(parameters) - ours - ONLY_PEOPLE.get(name, set()), name
    for each, rule in properties.items():
        if "default" in rule:
            assert parameters[each].default == rule["default"], each
        if parameters[each].default is inspect.Parameter.empty:
            assert each in {*required, *BY_NAME.get(name, BY_NAME["memory_search"]).schema.get("required", ()), "query"}


def test_the_list_is_the_golden_one():
    """What clients see changes only on purpose: `SCAFFALE_WRITE_GOLDEN=1 pytest` writes it anew."""
    listed = [spec.wire() for spec in TOOLS]
    if os.environ.get("SCAFFALE_WRITE_GOLDEN"):
        with open(GOLDEN, "w", encoding="utf-8") as file:
            json.dump(listed, file, indent=1, ensure_ascii=False)
            file.write("\n")
    with open(GOLDEN, encoding="utf-8") as file:
        assert listed == json.load(file)


def test_an_action_chooses_the_verb_and_its_arguments():
    spec = BY_NAME["docs_navigation"]
    verb, arguments, warnings = spec.prepare({"action": "search", "query": "x", "tags": ["a"], "limit": 3.0})
    assert verb is spec.verbs["search"]
    assert arguments == {"query": "x", "tags": ("a",), "limit": 3}
    assert warnings == ()


def test_an_argument_that_the_action_does_not_take_is_ignored_aloud():
    _, arguments, warnings = BY_NAME["docs_management"].prepare(
        {"action": "scan_file", "file_path": "/x.md", "shelf": "s", "recursive": True, "name": None}
    )
    assert arguments == {"file_path": "/x.md", "shelf": "s"}
    assert warnings == ("the action scan_file takes no recursive: ignored",)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "action: required"),
        ({"action": "delete_all"}, "action: must be one of search, read_document, list_documents"),
        ({"action": "search"}, "query: required for the action search"),
        ({"action": "read_document", "query": "x"}, "document_id: required for the action read_document"),
    ],
)
def test_a_call_without_what_the_action_needs_is_refused(arguments, says):
    with pytest.raises(InvalidParam, match=says):
        BY_NAME["docs_navigation"].prepare(arguments)


def _required(spec):
    samples = {"string": "x", "integer": 1}
    properties = spec.schema["properties"]
    return {
        name: properties[name].get("enum", [samples[properties[name]["type"]]])[0]
        for name in spec.schema.get("required", ())
    }
