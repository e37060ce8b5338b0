"""Sessions: their ledgers are appended to and never rewritten; what holds of them is a view that says why."""

from __future__ import annotations

import apsw
import pytest
from keeping import audit, files_with
from ledgers import ACTOR, HOME, clarify, go_back, open_session, record, withdraw

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, SecretDetected
from scaffale.model import CONCEPT, DECLINED, PHASES, PROMOTED

TOKEN = "ghp_" + "a1B2" * 9


def reasons(memory):
    found = memory.list_decisions(session_id="s", **HOME).decisions
    return {each.seq: (each.reason, each.by) for each in found if not each.effective}


def effective(memory):
    return [each.seq for each in memory.effective_decisions(session_id="s", **HOME)]


def test_a_session_is_opened_once_and_gone_on_with(memory):
    first = open_session(memory, title="Ablations")
    assert (first.created, first.phases, first.phase, first.decisions) == (True, PHASES, "F1", 0)
    record(memory, "F3")
    again = open_session(memory)
    assert (again.created, again.title, again.phase, again.decisions) == (False, "Ablations", "F3", 1)
    assert again.created_at == first.created_at
    with pytest.raises(Conflict, match="phases"):
        open_session(memory, phases=["a", "b"])
    assert "keeps" in open_session(memory, title="Otherwise").warnings[0]
    new = memory.open_session(**ACTOR)
    assert new.created
    assert [each.session_id for each in memory.list_sessions(**HOME).sessions] == ["s", new.session_id]
    own = memory.open_session(session_id="t", phases=[" ask ", "answer"], **ACTOR)
    assert (own.phases, own.phase) == (("ask", "answer"), "ask")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"session_id": "a b"}, InvalidParam),
        ({"session_id": "../x"}, InvalidParam),
        ({"session_id": ""}, InvalidParam),
        ({"session_id": "x" * 121}, InvalidParam),
        ({"phases": ["a", "a"]}, InvalidParam),
        ({"phases": ["a", " "]}, InvalidParam),
        ({"phases": [str(n) for n in range(65)]}, LimitExceeded),
        ({"phases": ["x" * 41]}, LimitExceeded),
        ({"title": "x" * 201}, LimitExceeded),
        ({"title": TOKEN}, SecretDetected),
        ({"session_id": TOKEN}, SecretDetected),
    ],
)
def test_a_session_that_makes_no_sense_is_refused(memory, given, error):
    with pytest.raises(error):
        memory.open_session(**given, **ACTOR)
    assert memory.list_sessions(**HOME).total == 0


def test_lines_are_numbered_and_say_everything_verbatim(memory):
    open_session(memory)
    detail = "  A *procedure*\nwith\tx = TRUE.\n"
    done = clarify(memory, "Ablation", detail, rationale="said so", question_context="how many?", concepts=["b", "b", " a  a "])
    record(memory, "F2")
    first, second = memory.list_decisions(session_id="s", **HOME).decisions
    assert (first.seq, first.at, first.phase, first.type, first.subject, first.detail) == (
        1, done.at, "F1", CONCEPT, "Ablation", detail,
    )  # fmt: skip
    assert (first.rationale, first.question_context) == ("said so", "how many?")
    assert (first.concepts, first.actor) == (("b", "a a"), "tester")
    assert (second.seq, second.effective, second.reason) == (2, True, None)


def test_nothing_of_a_ledger_can_be_rewritten(memory):
    open_session(memory)
    clarify(memory)
    database, _ = memory._open()
    for statement in (
        "UPDATE ledger_decisions SET detail = 'x'",
        "DELETE FROM ledger_decisions",
        "INSERT OR REPLACE INTO ledger_decisions SELECT * FROM ledger_decisions",
    ):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            database.connection.execute(statement)


def test_what_was_withdrawn_or_superseded_does_not_hold_and_the_view_says_why(memory):
    open_session(memory)
    for number in range(1, 5):
        clarify(memory, f"Concept {number}")
    withdraw(memory, 2)
    clarify(memory, "Concept 3", "better", supersedes_seq=3)
    withdraw(memory, 6)
    assert reasons(memory) == {2: ("withdrawn", 5), 3: ("superseded", 6), 6: ("withdrawn", 7)}
    assert effective(memory) == [1, 4, 5, 7]
    ended = memory.list_decisions(session_id="s", which="ended", **HOME)
    assert ([each.seq for each in ended.decisions], ended.total, ended.effective) == ([2, 3, 6], 7, 4)


def test_going_back_makes_later_phases_stale_and_what_is_recorded_anew_holds(memory):
    open_session(memory)
    clarify(memory, "One", phase="F1")
    clarify(memory, "Two", phase="F2")
    clarify(memory, "Three", phase="F3")
    go_back(memory, "F2")
    assert reasons(memory) == {3: ("stale", 4)}
    clarify(memory, "Three", phase="F3")
    assert effective(memory) == [1, 2, 4, 5]
    go_back(memory, "F1")
    assert reasons(memory) == {2: ("stale", 6), 3: ("stale", 4), 5: ("stale", 6)}


def test_pages_of_a_ledger_reach_every_line(memory):
    open_session(memory)
    for number in range(7):
        clarify(memory, f"Concept {number}")
    seen, after = [], 0
    while after is not None:
        page = memory.list_decisions(session_id="s", after=after, limit=3, **HOME)
        seen += [each.seq for each in page.decisions]
        after = page.next_after
    assert seen == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"phase": "F1"}, Conflict, "stands in F2"),
        ({"phase": "F9"}, InvalidParam, "one of F1"),
        ({"type": "note"}, InvalidParam, "type: must be one of"),
        ({"type": PROMOTED, "detail": "seq:1"}, InvalidParam, "review alone"),
        ({"type": DECLINED, "detail": "seq:1"}, InvalidParam, "review alone"),
        ({"type": "decision_withdrawn", "detail": "seq:99"}, NotFound, "seq:99"),
        ({"type": "decision_withdrawn", "detail": "seq:0"}, NotFound, "seq:0"),
        ({"type": "decision_withdrawn", "detail": "1"}, InvalidParam, "seq:N"),
        ({"type": "decision_withdrawn", "detail": "seq:1", "supersedes_seq": 1}, InvalidParam, "supersedes nothing"),
        ({"type": "phase_reopened", "phase": "F3"}, InvalidParam, "not reached"),
        ({"supersedes_seq": 99}, NotFound, "seq:99"),
        ({"supersedes_seq": 3}, InvalidParam, "that stands"),
        ({"type": "decision_withdrawn", "detail": "seq:3"}, InvalidParam, "that stands"),
        ({"type": "memory_rejected", "detail": "none"}, InvalidParam, "mem-NNNN"),
        ({"type": "memory_rejected", "detail": "mem-0009"}, NotFound, "mem-0009"),
        ({"subject": " "}, InvalidParam, "subject"),
        ({"detail": " "}, InvalidParam, "content"),
        ({"subject": "x" * 201}, LimitExceeded, "longer|more"),
        ({"detail": "x" * 200_001}, LimitExceeded, "longer|more"),
        ({"rationale": "x" * 200_001}, LimitExceeded, "longer|more"),
        ({"concepts": ["x" * 81]}, LimitExceeded, "longer|more"),
        ({"concepts": [str(n) for n in range(21)]}, LimitExceeded, "longer|more"),
        ({"rationale": f"token {TOKEN}"}, SecretDetected, "rationale"),
        ({"detail": f"token {TOKEN}"}, SecretDetected, "secret"),
        ({"question_context": f"token {TOKEN}"}, SecretDetected, "question_context"),
        ({"concepts": [TOKEN]}, SecretDetected, "concepts"),
    ],
)
def test_a_line_that_makes_no_sense_is_refused_and_nothing_is_appended(memory, tmp_path, given, error, says):
    open_session(memory)
    clarify(memory, "One", phase="F2")
    clarify(memory, "Two", phase="F2")
    withdraw(memory, 1, phase="F2")
    with pytest.raises(error, match=says):
        record(memory, **{"phase": "F2", "type": CONCEPT, "subject": "Three", "detail": "what it means", **given})
    assert memory.list_decisions(session_id="s", **HOME).total == 3
    refused = audit(memory, "ledger_record_decision")[-1]
    assert (refused["outcome"], refused["error_code"]) == ("refused", error.code)
    assert files_with(tmp_path / "home", TOKEN) == set()


@pytest.mark.parametrize(
    "subject",
    [
        "fact_cardioversion", "DIM_time", "`fact_x`", "**dim_time**", "dwh.fact_x", "fact_x.patient", "table fact_x",
        "la tabella dim_time", "fact\u200b_x", "\uff46act_x", '"fact_x"', "fact_*", "patients", "Patients", "`patients`",
        "the table patients", "visits.date",
    ],
)  # fmt: skip
def test_a_table_or_a_column_is_no_concept(memory, subject):
    open_session(memory)
    record(memory, "F1", "table_promoted", "patients")
    record(memory, "F1", "column_excluded", "`visits.date`")
    with pytest.raises(InvalidParam, match="no concept"):
        clarify(memory, subject)
    assert clarify(memory, "facts of patients", "rows of fact_x and of patients").seq == 3


def test_a_session_belongs_to_its_project(memory):
    open_session(memory)
    clarify(memory)
    other = {"project_id": "q"}
    with pytest.raises(NotFound, match="no session s"):
        memory.record_decision(session_id="s", phase="F1", type=CONCEPT, subject="a", detail="b", actor="x", **other)
    for read in (memory.session_summary, memory.list_decisions, memory.propose_promotion, memory.effective_decisions):
        with pytest.raises(NotFound):
            read(session_id="s", **other)
    with pytest.raises(NotFound):
        memory.recall_concepts(query="a", session_id="s", **other)
    with pytest.raises(NotFound):
        memory.review(session_id="s", **other)
    assert memory.list_sessions(**other).total == 0
    assert memory.open_session(session_id="s", actor="x", **other).created


def test_reading_sessions_makes_no_store(memory, tmp_path):
    for read in (memory.session_summary, memory.list_decisions, memory.propose_promotion, memory.review):
        with pytest.raises(NotFound):
            read(session_id="s", **HOME)
    assert memory.review(**HOME).total == memory.list_sessions(**HOME).total == 0
    assert memory.recall_concepts(query="a", **HOME).results == ()
    assert not (tmp_path / "home" / ".mcp-servers").exists()


def test_the_trail_keeps_no_word_of_a_decision(memory):
    open_session(memory)
    clarify(memory, "needleone", "needletwo", rationale="needlethree", question_context="needlefour", concepts=["needlefive"])
    row = audit(memory, "ledger_record_decision")[0]
    assert (row["outcome"], row["result"]["seq"]) == ("ok", 1)
    assert "needle" not in str(row)
