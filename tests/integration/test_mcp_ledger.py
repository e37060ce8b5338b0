"""The ledger over MCP: a session from its opening to its recall, and that nothing that a model can say approves a concept."""

from __future__ import annotations

import json
import os
import sys

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from scaffale import settings as settings_module
from scaffale.memory import Memory
from scaffale.model import CONCEPT, DECLINED, PROMOTED
from scaffale.server.halls import Halls
from scaffale.server.mcp import server
from scaffale.server.mcp.tools import TOOLS

ERAS = ("legacy", "2026-07-28")
HOME = {"project_id": "p"}


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
def settings(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return settings_module.load({"HOME": str(home), "MEMORY_LEXICAL_BACKEND": "fts5"}, str(home))


def talk(settings, conversation, *, era="2026-07-28", elicit=False, form=None):
    async def main():
        with anyio.fail_after(300):
            built = server.build(Halls.over(settings), "all", elicit=elicit)
            async with Client(built, mode=era, elicitation_callback=form) as client:
                return await conversation(client)

    return anyio.run(main)


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content[0].text
    return result.structured_content, "\n".join(block.text for block in result.content)


def fill(settings, count=2):
    """A session with concepts, and a proposal of a peer."""
    with Memory(settings) as memory:
        memory.open_session(session_id="s", actor="a", **HOME)
        for number in range(1, count + 1):
            memory.record_decision(
                session_id="s", phase="F1", type=CONCEPT, subject=f"Concept {number}", detail=f"It means {number}.", actor="a",
                **HOME,
            )  # fmt: skip
        return memory.review(**HOME).waiting


def marks(settings):
    with Memory(settings) as memory:
        found = memory.list_decisions(session_id="s", **HOME).decisions
        return [(each.type, each.detail) for each in found if each.type in (PROMOTED, DECLINED)]


def test_a_session_over_mcp_says_enough_on_either_channel(settings, era):
    async def live(client):
        opened, text = await call(client, "ledger_open_session", title="Ablations", session_id="s", **HOME)
        assert (opened["session_id"], "session s" in text) == ("s", True)
        given = {"session_id": "s", "phase": "F1", **HOME}
        recorded, text = await call(
            client, "ledger_record_decision", type=CONCEPT, subject="Ablation", detail="A **procedure**.", rationale="said so",
            concepts=["heart"], **given,
        )  # fmt: skip
        assert (recorded["seq"], "seq 1" in text) == (1, True)
        await call(client, "ledger_record_decision", type=CONCEPT, subject="ablation", detail="A **procedure**.", **given)
        preview, text = await call(client, "ledger_propose_promotion", session_id="s", **HOME)
        assert [(each["seq"], each["also"]) for each in preview["candidates"]] == [(1, [2])]
        for needed in ("seq 1", "Ablation", "A **procedure**.", "again as seq 2", "scaffale review s"):
            assert needed in text
        assert "digest" not in json.dumps(preview)

    talk(settings, live, era=era)
    with Memory(settings) as memory:
        (shown,) = memory.review(**HOME).waiting
        memory.decide(id=shown.id, verdict="accept", digest=shown.digest, actor="reviewer", **HOME)

    async def later(client):
        recalled, text = await call(client, "ledger_recall_concepts", query="procedure heart", **HOME)
        (found,) = recalled["results"]
        assert (found["display_id"], found["content"], found["source_ref"]) == ("mem-0001", "A **procedure**.", "session:s seq:1")
        for name in ("source_type", "status", "created_at", "updated_at", "verification_hint"):
            assert found[name]
        for needed in ("mem-0001", "Ablation", "A **procedure**.", "said so", "Nothing is applied", "verify"):
            assert needed in text
        nothing, text = await call(client, "ledger_recall_concepts", query="procedure", session_id="s", **HOME)
        assert (nothing["results"], nothing["decided"]) == ([], ["mem-0001"])
        summary, text = await call(client, "ledger_session_summary", session_id="s", **HOME)
        assert summary["markdown"].strip() == text.strip()
        assert "#### Ablation (mem-0001)" in text
        entry, text = await call(client, "memory_read_entry", entry_id="mem-0001", **HOME)
        assert (entry["entry"]["display_id"], entry["entry"]["metadata"]["rationale"]) == ("mem-0001", "said so")
        edited, text = await call(client, "memory_update_entry", entry_id="mem-0001", content="Else.", **HOME)
        assert (edited["changed"], bool(edited["proposal_id"]), "until a person accepts" in text) == ([], True, True)

    talk(settings, later, era=era)


def test_nothing_that_a_tool_can_be_told_approves(settings, tmp_path, monkeypatch):
    """Every tool with every argument, each with whatever a reviewer would say; and tools and arguments that there are not."""
    monkeypatch.chdir(tmp_path)  # whatever a call may write goes here
    (tmp_path / "AGENTS.md").write_text("# Style\n\nWrite short sentences, always and everywhere.\n", encoding="utf-8")
    with Memory(settings) as memory:
        memory.propose(source_path=str(tmp_path / "AGENTS.md"), actor="a", scope="app", anywhere=True, **HOME)
    waiting = fill(settings)
    texts = ("s", "p", "accept", "approve", "seq:1", "mem-0001", CONCEPT, PROMOTED, "F1")
    texts += tuple(text for each in waiting for text in (each.id, each.id.rpartition("/")[2], each.digest, each.digest[:6]))
    pool = {"string": texts, "integer": (1, 2), "number": (1.0,), "boolean": (True,), "object": ({},)}
    pool["array"] = tuple([text] for text in texts)

    def values(rule):
        return rule["enum"] if "enum" in rule else pool[rule["type"]]

    def calls():
        for spec in TOOLS:
            rules = spec.schema["properties"]
            whole = {name: "p" if name == "project_id" else values(rule)[0] for name, rule in rules.items()}
            always = {*spec.schema.get("required", ()), "project_id", "session_id", "entry_id"}
            needed = {name: value for name, value in whole.items() if name in always}
            for action in [action for action in spec.verbs if action] or [None]:
                said = {} if action is None else {"action": action}
                yield spec.name, {**whole, **said}
                for name, rule in rules.items():
                    if name != "action" and (spec.domain != "docs" or name in ("document_id", "shelf", "link_id")):
                        yield from ((spec.name, {**needed, **said, name: value}) for value in values(rule))
            for name in ("verdict", "digest", "code", "approve", "accept", "confirm", "actor", "anywhere", "reviewed"):
                yield spec.name, {**needed, name: "accept"}
        for name in ("decide", "review", "ledger_decide", "ledger_review", "ledger_promote", "memory_decide", "memory_accept"):
            yield name, {"id": waiting[0].id, "verdict": "accept", "digest": waiting[0].digest, **HOME}

    tried, refused = 0, set()

    async def try_everything(client):
        nonlocal tried
        for name, arguments in calls():
            tried += 1
            try:
                await client.call_tool(name, arguments)
            except MCPError:
                refused.add(name)

    talk(settings, try_everything)
    assert tried > 1_000
    assert "ledger_review" in refused
    assert marks(settings) == []
    with Memory(settings) as memory:
        still = {each.id for each in memory.review(limit=200, **HOME).waiting}  # a call may have superseded a concept
        assert {each.id for each in waiting if each.kind == "proposal"} <= still
        assert any(id.startswith("concept/s/") for id in still)
        database, _ = memory._open()
        assert database.connection.execute("SELECT count(*) FROM ledger_concepts").get == 0
        assert database.connection.execute("SELECT count(*) FROM memory_entries WHERE source_type = ?", (CONCEPT,)).get == 0
        texts = [row[0] for row in database.connection.execute("SELECT content FROM memory_entries")]
        assert not any("short sentences, always" in text or "It means" in text for text in texts)


def answer(verdicts, action="accept"):
    """A form that a person fills in, and what it showed."""
    seen = []

    async def form(context, params):
        seen.append(params)
        boxes = list(params.requested_schema["properties"])
        return types.ElicitResult(action=action, content=dict(zip(boxes, verdicts, strict=False)) if action == "accept" else None)

    return form, seen


def propose(settings, era, form, *, elicit, **arguments):
    return talk(settings, lambda client: call(client, "ledger_propose_promotion", session_id="s", **HOME, **arguments),
                era=era, elicit=elicit, form=form)  # fmt: skip


def test_a_form_of_the_client_decides_only_where_that_is_switched_on(settings, era):
    fill(settings, 3)
    form, seen = answer([True, True, True])
    preview, _ = propose(settings, era, form, elicit=False)
    assert (seen, len(preview["candidates"]), marks(settings)) == ([], 3, [])
    form, seen = answer([True, False])
    decided, text = propose(settings, era, form, elicit=True)
    (asked,) = seen
    assert all(f"Concept {number}" in asked.message and f"It means {number}." in asked.message for number in (1, 2, 3))
    assert [box["default"] for box in asked.requested_schema["properties"].values()] == [True] * 3
    verdicts = [(each["id"], each["verdict"]) for each in decided["decided"]]
    assert verdicts == [("concept/s/1", "accept"), ("concept/s/2", "decline")]
    assert ("mem-0001" in text, [each["seq"] for each in decided["candidates"]]) == (True, [3])
    assert marks(settings) == [(PROMOTED, "seq:1"), (DECLINED, "seq:2")]


def test_a_form_is_answered_over_stdio(settings, era, tmp_path):
    fill(settings)
    environment = {
        **os.environ, "HOME": str(tmp_path / "home"), "MEMORY_LEXICAL_BACKEND": "fts5", "MEMORY_REVIEW_ELICITATION": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }  # fmt: skip
    served = StdioServerParameters(
        command=sys.executable, args=["-m", "scaffale.server.cli", "serve", "--tools", "ledger"], env=environment
    )

    async def main():
        with anyio.fail_after(60):
            async with Client(served, mode=era, elicitation_callback=answer([False, True])[0]) as client:
                decided, _ = await call(client, "ledger_propose_promotion", session_id="s", **HOME)
                return [each["verdict"] for each in decided["decided"]]

    assert anyio.run(main) == ["decline", "accept"]
    assert marks(settings) == [(DECLINED, "seq:1"), (PROMOTED, "seq:2")]


def test_what_may_decide_does_not_say_that_it_only_reads(settings):
    async def listed(client):
        found = {tool.name: tool.annotations.read_only_hint for tool in (await client.list_tools()).tools}
        return found["ledger_propose_promotion"]

    assert talk(settings, listed) is True
    assert talk(settings, listed, elicit=True) is False


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_form_that_is_closed_decides_nothing(settings, era, action):
    fill(settings)
    preview, _ = propose(settings, era, answer([], action)[0], elicit=True)
    assert (len(preview["candidates"]), "decided" in preview, marks(settings)) == (2, False, [])


def test_a_client_without_forms_gets_the_preview(settings, era):
    fill(settings)
    preview, _ = propose(settings, era, None, elicit=True)
    assert (len(preview["candidates"]), marks(settings)) == (2, [])


def test_a_form_is_bound_to_the_texts_that_it_showed(settings, era):
    fill(settings)

    async def form(context, params):
        with Memory(settings) as memory:
            memory.record_decision(session_id="s", phase="F1", type="decision_withdrawn", detail="seq:1", actor="a", **HOME)
            memory.record_decision(
                session_id="s", phase="F1", type=CONCEPT, subject="Concept 2", detail="It means 2.", actor="a", **HOME
            )
        return types.ElicitResult(action="accept", content=dict.fromkeys(params.requested_schema["properties"], True))

    decided, _ = propose(settings, era, form, elicit=True)
    assert {each.get("error_code") for each in decided["decided"]} <= {"CONFLICT"}
    assert marks(settings) == []


def test_the_setting_is_off_and_no_project_can_switch_it_on(tmp_path):
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    (project / ".env").write_text("MEMORY_REVIEW_ELICITATION=1\n", encoding="utf-8")
    loaded = settings_module.load({"HOME": str(home)}, str(project))
    assert loaded.review_elicitation is False
    assert any("MEMORY_REVIEW_ELICITATION" in warning for warning in loaded.warnings)
    assert settings_module.load({"HOME": str(home), "MEMORY_REVIEW_ELICITATION": "1"}, str(home)).review_elicitation
