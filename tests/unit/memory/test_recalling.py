"""Recall: promoted concepts and nothing else, without those that the session has decided on; nothing is applied."""

from __future__ import annotations

import pytest
from keeping import keep
from ledgers import HOME, clarify, decide, go_back, open_session, promote, record, waiting, withdraw


@pytest.fixture(autouse=True)
def concepts(memory):
    open_session(memory)
    for name in ("Ablation", "Admission", "Discharge"):
        promote(memory, name, f"{name} is a word of the ward.", rationale=f"said of {name}")
    open_session(memory, "t")


def recalled(memory, query="ward", **more):
    return [each.display_id for each in memory.recall_concepts(query=query, **HOME, **more).results]


def test_only_promoted_concepts_are_recalled_with_all_that_they_were_clarified_for(memory):
    keep(memory, "The ward is closed.", topic="ward", title="ward")
    clarify(memory, "Ward", "a word of the ward", session_id="t")
    decide(memory, waiting(memory, "t")[0], "decline")
    clarify(memory, "Ward two", "the ward again", session_id="t")
    assert sorted(recalled(memory)) == ["mem-0001", "mem-0002", "mem-0003"]
    (found,) = memory.recall_concepts(query="said of ablation", limit=1, **HOME).results
    assert (found.display_id, found.title, found.content) == ("mem-0001", "Ablation", "Ablation is a word of the ward.")
    assert (found.rationale, found.source_ref, found.source_type) == ("said of Ablation", "session:s seq:1", "concept_clarified")
    assert found.verification_hint
    assert sorted(recalled(memory, "")) == ["mem-0001", "mem-0002", "mem-0003"]
    assert recalled(memory, "nothing of it") == []


def test_what_the_session_has_decided_on_is_left_out_as_long_as_that_holds(memory):
    assert recalled(memory, session_id="s") == []
    clarify(memory, "Ablation", "as before", session_id="t", rationale="mem-0001 holds here, mem-00021 does not exist")
    record(memory, "F2", "memory_rejected", "mem-0003", "not here", session_id="t")
    for query in ("ward", ""):
        assert recalled(memory, query, session_id="t") == ["mem-0002"]
    answer = memory.recall_concepts(query="ward", session_id="t", **HOME)
    assert (answer.total, answer.decided) == (1, ("mem-0001", "mem-0003"))
    withdraw(memory, 1, phase="F2", session_id="t")
    assert sorted(recalled(memory, session_id="t")) == ["mem-0001", "mem-0002"]
    go_back(memory, "F1", session_id="t")
    assert sorted(recalled(memory, session_id="t")) == ["mem-0001", "mem-0002", "mem-0003"]


def test_recalling_leaves_no_mark(memory):
    before = memory.list_decisions(session_id="t", **HOME)
    recalled(memory, session_id="t")
    assert memory.list_decisions(session_id="t", **HOME) == before


def test_pages_reach_every_concept_whatever_is_left_out(memory):
    for number in range(30):
        promote(memory, f"Bed {number}", f"Bed {number} of the ward.")
    clarify(memory, "Beds", "some", session_id="t", rationale=" ".join(f"mem-{number:04d}" for number in range(1, 30)))
    for query in ("ward", ""):
        seen, offset = [], 0
        while offset is not None:
            page = memory.recall_concepts(query=query, session_id="t", limit=2, offset=offset, **HOME)
            seen += [each.display_id for each in page.results]
            offset = page.next_offset
        assert sorted(seen) == ["mem-0030", "mem-0031", "mem-0032", "mem-0033"]
    assert memory.recall_concepts(query="ward", limit=99, **HOME).warnings
