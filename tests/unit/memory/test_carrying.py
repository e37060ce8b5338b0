"""The registry of concepts as JSON lines: the same bytes each time; what comes in is proposed, or kept where nothing finds it."""

from __future__ import annotations

import json

import pytest
from keeping import audit, files_with, read
from ledgers import ACTOR, HOME, clarify, decide, open_session, promote, waiting, withdraw

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, SecretDetected
from scaffale.memory import Memory, carrying
from scaffale.model import CONCEPT

TOKEN = "ghp_" + "a1B2" * 9
LEGACY = [
    {"id": "mem-0007", "timestamp": "2025-01-02T03:04:05Z", "session_id": "old", "decision_seq": 3, "type": CONCEPT,
     "subject": "Ablation", "detail": "flag = TRUE", "rationale": "needleone", "question_context": "needletwo",
     "tables": ["fact_x"], "concepts": ["needlethree"]},
    {"id": "mem-0008", "session_id": "old", "decision_seq": 4, "type": "table_promoted", "subject": "needlefour", "detail": "x"},
    {"id": "mem-0009", "session_id": "old", "decision_seq": 5, "type": CONCEPT, "subject": "dim_time", "detail": "needlefive"},
    {"id": "mem-0010", "session_id": "old", "decision_seq": 6, "type": "table_excluded", "subject": "needlesix", "detail": "x"},
]  # fmt: skip


def export(memory, path):
    memory.export_concepts(save_path=str(path), overwrite=True, anywhere=True, **ACTOR)
    return path.read_bytes()


def bring(memory, path, records=None, **more):
    if records is not None:
        path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in records), encoding="utf-8")
    return memory.import_concepts(import_path=str(path), anywhere=True, **{**ACTOR, **more})


def registry(memory):
    open_session(memory)
    told = {"rationale": "said so", "question_context": "how many?", "concepts": ["b"]}
    promote(memory, "Ablation", "A **procedure** è x.\nTwo lines.", **told)
    promote(memory, "Stay", "Days.")
    open_session(memory, "t")
    promote(memory, "stay", "Days.", session_id="t", rationale="again")


def test_an_export_is_byte_stable_and_by_number(memory, tmp_path):
    registry(memory)
    first = export(memory, tmp_path / "a.jsonl")
    records = [json.loads(line) for line in first.decode().splitlines()]
    assert [each["id"] for each in records] == ["mem-0001", "mem-0002"]
    assert list(records[0]) == [
        "id", "at", "session_id", "decision_seq", "type", "subject", "detail", "rationale", "question_context", "tables",
        "concepts",
    ]  # fmt: skip
    assert (records[0]["detail"], records[0]["tables"]) == ("A **procedure** è x.\nTwo lines.", [])
    assert records[1]["merged"][0]["session_id"] == "t"
    assert first == export(memory, tmp_path / "b.jsonl")
    memory.maintain(rebuild=True)
    assert first == export(memory, tmp_path / "c.jsonl")
    with pytest.raises(Conflict):
        memory.export_concepts(save_path=str(tmp_path / "a.jsonl"), anywhere=True, **ACTOR)
    with pytest.raises(InvalidParam):
        memory.export_concepts(save_path=str(tmp_path / "a.jsonl"), **ACTOR)  # no root was allowed
    withdraw(memory, 1, phase="F1")
    assert json.loads(export(memory, tmp_path / "d.jsonl").splitlines()[0])["evidence"] == "changed"


def test_a_registry_that_is_brought_elsewhere_and_accepted_is_the_same_bytes(memory, make_settings, tmp_path):
    registry(memory)
    first = export(memory, tmp_path / "a.jsonl")
    with Memory(make_settings(HOME=str(tmp_path / "elsewhere"))) as other:
        done = bring(other, tmp_path / "a.jsonl")
        assert (done.seen, done.proposed, done.existing, done.kept, done.failed) == (2, 2, 0, 0, 0)
        assert other.search(query="procedure", **HOME).total == 0
        again = bring(other, tmp_path / "a.jsonl")
        assert (again.proposed, again.existing) == (0, 2)
        shown = waiting(other, None)
        assert [each.kind for each in shown] == ["imported_concept"] * 2
        assert all(part in shown[0].text for part in ("A **procedure**", "said so", "how many?"))
        for each in reversed(shown):  # they keep their numbers, in whatever order they are accepted
            decide(other, each)
        assert export(other, tmp_path / "b.jsonl") == first
        assert (bring(other, tmp_path / "a.jsonl").existing, other.review(**HOME).total) == (2, 0)


def test_of_an_older_registry_only_concepts_are_proposed_and_the_rest_is_kept_and_found_by_nothing(memory, tmp_path):
    done = bring(memory, tmp_path / "registry.jsonl", LEGACY)
    assert (done.seen, done.proposed, done.existing, done.kept, done.failed) == (4, 1, 0, 3, 0)
    again = bring(memory, tmp_path / "registry.jsonl", LEGACY)
    assert (again.proposed, again.existing, again.kept) == (0, 4, 0)
    (shown,) = waiting(memory, None)
    done = decide(memory, shown)
    assert done.display_id == "mem-0007"
    entry = read(memory, "mem-0007")
    assert (entry.content, entry.source_ref, entry.metadata["tables"]) == ("flag = TRUE", "session:old seq:3", [])
    assert memory.search(query="needleone needletwo needlethree", **HOME).total == 1
    for word in ("needlefour", "needlefive", "needlesix", "dim_time"):
        assert memory.search(query=word, status="any", **HOME).total == 0
        assert memory.recall_concepts(query=word, **HOME).total == 0
        assert word not in str(memory.review(**HOME)) + str(memory.list_proposals(**HOME))
        assert word.encode() not in export(memory, tmp_path / "out.jsonl")
    kept = memory._open()[0].connection.execute("SELECT type, record_json FROM ledger_history ORDER BY seq").fetchall()
    assert [type for type, _ in kept] == ["table_promoted", CONCEPT, "table_excluded"]
    assert json.loads(kept[0][1]) == LEGACY[1]
    open_session(memory)
    assert promote(memory, "New").display_id == "mem-0008"


def test_an_imported_concept_that_is_known_becomes_a_source_or_is_merged(memory, tmp_path):
    registry(memory)
    record = {**LEGACY[0], "id": "mem-0002", "subject": "STAY", "detail": "Days."}
    near = {**LEGACY[0], "id": "mem-0001", "subject": "Ablations", "detail": "A procedure è x. Two lines"}
    bring(memory, tmp_path / "r.jsonl", [record, near])
    same, alike = waiting(memory, None)
    assert decide(memory, same).display_id == "mem-0002"
    (beside,) = alike.similar
    assert decide(memory, alike, "merge", into="mem-0001", into_digest=beside.digest).display_id == "mem-0001"
    assert read(memory, "mem-0001").content == "A **procedure** è x.\nTwo lines."
    assert [each["session_id"] for each in read(memory, "mem-0001").metadata["merged"]] == ["old"]
    assert memory.search(query="needleone", **HOME).total == 2


def test_an_edited_file_is_read_line_by_line_and_what_is_wrong_is_named(memory, tmp_path):
    good = LEGACY[0]
    lines = [
        "\ufeff" + json.dumps(good), "", "{", "[]", '{"type": 1}', '{"type": "concept_clarified"}', '"x"', "NaN",
        {**good, "decision_seq": "3"}, {**good, "decision_seq": -1}, {**good, "concepts": "b"}, {**good, "concepts": [1]},
        {**good, "rationale": 7}, {**good, "merged": [7]}, {**good, "merged": 7},
        {**good, "subject": " "}, {**good, "detail": " "},
        {**good, "detail": "x" * 200_001}, {**good, "subject": "x" * 201}, {**good, "rationale": "x" * 400_001},
        '{"type": "concept_clarified", "subject": "a", "detail": "\\ud800"}', {**good, "rationale": "a\0b"},
        {**good, "detail": "a\0b"},
        {**good, "detail": "another", "id": 7}, {**good, "detail": "more", "id": "mem-9"},
    ]  # fmt: skip
    done = bring(memory, tmp_path / "r.jsonl", lines)
    assert (done.seen, done.proposed, done.failed, done.kept) == (24, 3, 21, 0)
    assert done.seen == done.proposed + done.existing + done.kept + done.failed
    assert done.skips[0] == "line 3: is not JSON"
    assert [decide(memory, each).display_id for each in waiting(memory, None)] == ["mem-0007", "mem-0008", "mem-0009"]
    with pytest.raises(InvalidParam, match="UTF-8"):
        (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe")
        bring(memory, tmp_path / "b.jsonl")
    with pytest.raises(InvalidParam):
        bring(memory, tmp_path / "none.jsonl")


def test_a_secret_in_a_registry_is_refused_or_masked(memory, tmp_path):
    for record in ({**LEGACY[0], "rationale": TOKEN}, {**LEGACY[0], "detail": TOKEN}, {**LEGACY[1], "detail": TOKEN}):
        with pytest.raises(SecretDetected, match="line 2"):
            bring(memory, tmp_path / "r.jsonl", [LEGACY[3], record])
    records = [{**LEGACY[0], "rationale": f"a {TOKEN}"}, {**LEGACY[1], "detail": TOKEN}]
    assert bring(memory, tmp_path / "r.jsonl", records, secrets="redact").proposed == 1
    (tmp_path / "r.jsonl").unlink()
    assert "REDACTED" in waiting(memory, None)[0].text
    assert not files_with(tmp_path, TOKEN)


def test_a_file_that_is_too_large_is_refused_whole(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(carrying, "MAX_BYTES", 10)
    with pytest.raises(LimitExceeded):
        bring(memory, tmp_path / "r.jsonl", LEGACY)
    assert audit(memory, "ledger_import") == []


def test_an_export_of_the_project_carries_concepts_whole_and_they_are_proposals(memory, make_settings, tmp_path):
    registry(memory)
    path = str(tmp_path / "p.json")
    memory.export_project(save_path=path, anywhere=True, **ACTOR)
    first = export(memory, tmp_path / "a.jsonl")
    with Memory(make_settings(HOME=str(tmp_path / "elsewhere"))) as other:
        done = other.import_project(import_path=path, anywhere=True, **ACTOR)
        assert (done.seen, done.proposed, done.new) == (2, 2, 0)
        assert other.search(query="procedure", **HOME).total == 0
        for each in waiting(other, None):
            decide(other, each)
        assert export(other, tmp_path / "b.jsonl") == first
    whole = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    for wrong in ("x", {"seq": "1"}, {"merged": [1]}):
        whole["entries"][0]["metadata"] = wrong
        (tmp_path / "p.json").write_text(json.dumps(whole), encoding="utf-8")
        with pytest.raises(InvalidParam, match=r"entries\[0\].metadata"):
            memory.import_project(import_path=path, anywhere=True, on_conflict="merge", **ACTOR)


def test_what_was_clarified_is_not_lost_to_a_replacing_import(memory, tmp_path):
    registry(memory)
    clarify(memory, "Other", phase="F1")
    path = str(tmp_path / "p.json")
    memory.export_project(save_path=path, anywhere=True, **ACTOR)
    before = export(memory, tmp_path / "a.jsonl")
    memory.import_project(import_path=path, on_conflict="replace", confirm_replace=True, anywhere=True, **ACTOR)
    assert export(memory, tmp_path / "b.jsonl") == before
    assert len(waiting(memory)) == 1
