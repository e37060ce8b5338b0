"""A person decides upon what waits: bound to the very text, once, in one transaction, and nothing is lost on the way."""

from __future__ import annotations

import json
import threading

import pytest
from keeping import audit, ids, keep, read
from ledgers import ACTOR, HOME, clarify, decide, go_back, open_session, promote, record, waiting, withdraw

from scaffale.errors import Conflict, InvalidParam, NotFound, SecretDetected
from scaffale.indexer import ledger
from scaffale.model import CONCEPT, DECLINED, PROMOTED, Decision

WRITES = ("memory_entries", "ledger_concepts", "ledger_sources", "ledger_decisions", "audit_log", "journal")


@pytest.fixture(autouse=True)
def session(memory):
    return open_session(memory)


def marks(memory, session_id="s"):
    found = memory.list_decisions(session_id=session_id, limit=1000, **HOME).decisions
    return [(each.type, each.detail) for each in found if each.type in (PROMOTED, DECLINED)]


def subjects(memory, page=1, **more):
    return [each.subject for each in memory.propose_promotion(session_id="s", page=page, **HOME, **more).candidates]


# --- what is proposed --------------------------------------------------------------------------------------------------


def test_candidates_come_in_the_order_of_the_ledger_five_to_a_page_and_all_are_reached(memory):
    for number in range(12):
        clarify(memory, f"Concept {number:02}", f"meaning {number}")
    pages, page = [], 1
    while page is not None:
        found = memory.propose_promotion(session_id="s", page=page, **HOME)
        assert found.total == 12
        pages.append([each.subject for each in found.candidates])
        page = found.next_page
    assert [len(each) for each in pages] == [5, 5, 2]
    shown = [subject for page in pages for subject in page]
    assert shown == [f"Concept {number:02}" for number in range(12)]
    assert [each.title for each in waiting(memory)] == shown
    assert memory.propose_promotion(session_id="s", page=9, **HOME).candidates == ()
    assert memory.propose_promotion(session_id="s", **HOME) == memory.propose_promotion(session_id="s", **HOME)


def test_a_preview_takes_effective_concepts_alone_and_says_why_others_are_left_out(memory):
    clarify(memory, "One")
    clarify(memory, "Two")
    clarify(memory, "Three", phase="F1")
    withdraw(memory, 2)
    record(memory, "F2", "table_promoted", "three")
    clarify(memory, "Four", phase="F3")
    go_back(memory, "F2")
    found = memory.propose_promotion(session_id="s", **HOME)
    assert [each.subject for each in found.candidates] == ["One"]
    assert {each.seq: each.reason.split(";")[0] for each in found.left_out} == {
        2: "withdrawn by seq 4", 3: "a table or column of this session's decisions is no concept", 6: "stale by seq 7",
    }  # fmt: skip


def test_equal_concepts_are_shown_once_and_decided_together(memory):
    clarify(memory, "Ablation", "x = TRUE, per patient.", rationale="first")
    clarify(memory, "Ablation", "x = true, per patient.")  # another case may be another code
    clarify(memory, " ablation", "x =  TRUE,\nper patient. ", rationale="again", concepts=["heart"])
    found = memory.propose_promotion(session_id="s", **HOME)
    assert [(each.seq, each.also) for each in found.candidates] == [(1, (3,)), (2, ())]
    assert [(each.seq, each.reason) for each in found.left_out] == [(3, "says the same as seq 1, and is decided with it")]
    first, _ = waiting(memory)
    assert "rationale: again" in first.text
    done = decide(memory, first)
    assert marks(memory) == [(PROMOTED, "seq:1"), (PROMOTED, "seq:3")]
    metadata = read(memory, done.entry_id).metadata
    assert (metadata["seq"], [each["seq"] for each in metadata["merged"]]) == (1, [3])
    assert ids(memory.search(query="again heart", **HOME)) == [done.entry_id]


def test_near_concepts_of_other_sessions_are_shown_beside(memory):
    done = promote(memory, "Ablation", "A procedure with the flag ablation set, counted once per patient and year.")
    promote(memory, "Length of stay", "Days between admission and discharge, at least one.")
    open_session(memory, "t")
    near = "A procedure with the flag ablation set, counted once per patient and month."
    clarify(memory, "Ablations", near, session_id="t")
    clarify(memory, "Ablation", "Something else altogether.", session_id="t")
    clarify(memory, "Unlike", "Nothing in common.", session_id="t", rationale="as in mem-0002")
    alike, named, cited = waiting(memory, "t")
    assert [(each.display_id, each.cited) for each in alike.similar] == [("mem-0001", False)]
    assert (alike.similar[0].entry_id, 0.6 <= alike.similar[0].similarity < 1) == (done.entry_id, True)
    assert [each.display_id for each in named.similar] == ["mem-0001"]
    assert [(each.display_id, each.cited) for each in cited.similar] == [("mem-0002", True)]
    (first, *_) = memory.propose_promotion(session_id="t", **HOME).candidates
    assert first.similar[0]["display_id"] == "mem-0001"


def test_the_review_of_a_project_has_all_that_waits_on_its_pages(memory, tmp_path):
    clarify(memory, "One")
    open_session(memory, "t")
    clarify(memory, "Two", session_id="t")
    (tmp_path / "AGENTS.md").write_text("# Style\n\nWrite short sentences, always and everywhere.\n", encoding="utf-8")
    memory.propose(source_path=str(tmp_path / "AGENTS.md"), scope="app", anywhere=True, **ACTOR)
    first = memory.review(limit=1, **HOME)
    assert (first.total, first.next_offset) == (3, 1)
    assert [each.kind for each in waiting(memory, None, limit=1)] == ["concept", "concept", "proposal"]
    assert [each.kind for each in waiting(memory, None, limit=2)] == ["concept", "concept", "proposal"]


# --- what is decided ---------------------------------------------------------------------------------------------------


def test_accepting_makes_an_entry_a_number_a_mark_an_audit_row_and_a_journal_line(memory):
    clarify(memory, "Ablation", "What **it** means.", rationale="said so", question_context="how many?", concepts=["heart"])
    (shown,) = waiting(memory)
    for part in ("Ablation", "What **it** means.", "said so", "how many?", "heart", "session s, seq 1"):
        assert part in shown.text
    database, _ = memory._open()
    before = {table: database.connection.execute(f"SELECT count(*) FROM {table}").get for table in WRITES}
    done = decide(memory, shown)
    after = {table: database.connection.execute(f"SELECT count(*) FROM {table}").get for table in WRITES}
    assert {table: after[table] - before[table] for table in WRITES} == dict.fromkeys(WRITES, 1)
    assert (done.display_id, done.changed) == ("mem-0001", True)
    entry = read(memory, "mem-0001")
    assert entry == read(memory, done.entry_id)
    assert (entry.title, entry.topic, entry.content, entry.scope) == ("Ablation", "ablation", "What **it** means.", "concepts")
    assert (entry.source_type, entry.source_ref, entry.status) == (CONCEPT, "session:s seq:1", "active")
    told = {**entry.metadata, "at": None}
    assert told == {
        "session_id": "s", "seq": 1, "at": None, "rationale": "said so", "question_context": "how many?", "concepts": ["heart"],
        "tables": [],
    }  # fmt: skip
    for words in ("ablation", "said so", "how many", "heart", "mem-0001", "means"):
        assert ids(memory.search(query=words, **HOME)) == [done.entry_id], words
    assert memory.search(query="ablation", **HOME).results[0].display_id == "mem-0001"
    (row,) = audit(memory, "ledger_review")
    assert (row["actor"], row["entry_id"], row["result"]["display_id"]) == ("reviewer", done.entry_id, "mem-0001")
    assert marks(memory) == [(PROMOTED, "seq:1")]
    assert subjects(memory) == []


def test_declining_leaves_a_mark_and_no_entry(memory):
    clarify(memory, "One")
    clarify(memory, "Two")
    done = decide(memory, waiting(memory)[0], "decline")
    assert (done.entry_id, done.display_id, done.changed) == (None, None, True)
    assert marks(memory) == [(DECLINED, "seq:1")]
    assert subjects(memory) == ["Two"]
    assert memory.search(query="", **HOME).total == 0
    clarify(memory, "One")  # recorded anew, it can be decided on anew
    assert subjects(memory) == ["Two", "One"]


def test_the_same_verdict_again_changes_nothing_and_another_one_is_a_conflict(memory):
    clarify(memory, "One")
    clarify(memory, "Two")
    one, two = waiting(memory)
    done = decide(memory, one)
    decide(memory, two, "decline")
    assert decide(memory, one) == done._replace(changed=False)
    assert decide(memory, two, "decline").changed is False
    with pytest.raises(Conflict, match="promoted already"):
        decide(memory, one, "decline")
    with pytest.raises(Conflict, match="declined already"):
        decide(memory, two)
    assert marks(memory) == [(PROMOTED, "seq:1"), (DECLINED, "seq:2")]
    assert memory.search(query="", **HOME).total == 1


def test_a_change_after_the_review_voids_it(memory):
    clarify(memory, "One")
    (shown,) = waiting(memory)
    clarify(memory, "One")  # one more line that says the same, with a source that nobody read
    with pytest.raises(Conflict, match="look at it again"):
        decide(memory, shown)
    (shown,) = waiting(memory)
    withdraw(memory, 1)
    with pytest.raises(Conflict, match="withdrawn by seq 3"):
        decide(memory, shown)
    (again,) = waiting(memory)
    assert again.id == "concept/s/2"
    record(memory, "F1", "table_promoted", "One")
    with pytest.raises(Conflict, match="no concept"):
        decide(memory, again)
    assert memory.search(query="", **HOME).total == 0


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"digest": "0" * 64}, Conflict),
        ({"digest": ""}, Conflict),
        ({"verdict": "approve"}, InvalidParam),
        ({"verdict": "merge"}, InvalidParam),
        ({"into": "mem-0001", "into_digest": "x"}, InvalidParam),
        ({"verdict": "merge", "into": "mem-0009", "into_digest": "x"}, NotFound),
        ({"id": "concept/s/2"}, Conflict),
        ({"id": "concept/s/99"}, Conflict),
        ({"id": "concept/s/-1"}, NotFound),
        ({"id": "concept/t/1"}, NotFound),
        ({"id": "concept/1"}, NotFound),
        ({"id": "proposal/1"}, NotFound),
        ({"id": "1"}, NotFound),
        ({"project_id": "q"}, NotFound),
    ],
)
def test_a_verdict_that_makes_no_sense_is_refused_audited_and_changes_nothing(memory, given, error):
    clarify(memory, "One")
    record(memory, "F1", "table_promoted", "patients")
    (shown,) = waiting(memory)
    with pytest.raises(error):
        memory.decide(**{"id": shown.id, "verdict": "accept", "digest": shown.digest, **ACTOR, **given})
    assert (marks(memory), memory.search(query="", **HOME).total) == ([], 0)
    assert audit(memory, "ledger_review")[-1]["outcome"] == "refused"
    assert decide(memory, shown).changed


def test_a_near_concept_is_merged_on_the_reviewers_word_and_both_sources_stay(memory):
    text = "A procedure with the flag ablation set, counted once per patient and year."
    first = promote(memory, "Ablation", text)
    open_session(memory, "t")
    clarify(memory, "Ablations", text.replace("year", "month"), session_id="t", rationale="needle", concepts=["pacing"])
    (shown,) = waiting(memory, "t")
    (near,) = shown.similar
    into = {"into": "mem-0001", "into_digest": near.digest}
    with pytest.raises(Conflict, match="look at it again"):
        decide(memory, shown, "merge", **{**into, "into_digest": "0"})
    done = decide(memory, shown, "merge", **into)
    assert (done.entry_id, done.display_id) == (first.entry_id, "mem-0001")
    entry = read(memory, "mem-0001")
    assert entry.content == text
    assert [(each["session_id"], each["seq"]) for each in (entry.metadata, *entry.metadata["merged"])] == [("s", 1), ("t", 1)]
    assert ids(memory.search(query="needle pacing", **HOME)) == [first.entry_id]
    assert decide(memory, shown, "merge", **into).changed is False
    assert marks(memory, "t") == [(PROMOTED, "seq:1")]
    history = memory.entry_history(entry_id="mem-0001", **HOME).events
    assert [each.operation for each in history] == ["created", "merged"]
    assert memory.search(query="", **HOME).total == 1


def test_an_equal_concept_of_another_session_becomes_one_more_source(memory):
    first = promote(memory, "Ablation", "x = TRUE")
    open_session(memory, "t")
    clarify(memory, "ablation", "x  = TRUE", session_id="t", rationale="mem-0001 holds")
    done = decide(memory, waiting(memory, "t")[0])
    assert (done.entry_id, done.display_id) == (first.entry_id, "mem-0001")
    assert len(read(memory, "mem-0001").metadata["merged"]) == 1


def test_numbers_are_of_the_project_and_never_given_twice(memory):
    assert [promote(memory, name).display_id for name in ("One", "Two", "Three")] == ["mem-0001", "mem-0002", "mem-0003"]
    other = {"project_id": "q", "actor": "a"}
    memory.open_session(session_id="s", **other)
    memory.record_decision(session_id="s", phase="F1", type=CONCEPT, subject="One", detail="else", **other)
    (shown,) = memory.review(project_id="q").waiting
    assert memory.decide(id=shown.id, verdict="accept", digest=shown.digest, **other).display_id == "mem-0001"
    assert memory.read_entry(entry_id="mem-0001", project_id="q").entry.content == "else"
    assert read(memory, "mem-0001").title == "One"
    with pytest.raises(NotFound):
        memory.read_entry(entry_id="mem-0002", project_id="q")
    with pytest.raises(NotFound):
        memory.read_entry(entry_id="mem-0001", mode="cross_project")


def test_the_number_of_a_concept_is_an_entry_id_everywhere(memory):
    done = promote(memory, "One")
    entry_id = keep(memory)
    link = memory.link_entries(source_entry_id=entry_id, target_entry_id="mem-0001", relation="explains", **ACTOR)
    assert memory.list_entry_links(entry_id="mem-0001", direction="incoming", **HOME).links[0].id == link.link_id
    assert memory.entry_history(entry_id="mem-0001", **HOME).entry_id == done.entry_id
    assert memory.verify_entry(entry_id="mem-0001", **ACTOR).entry_id == done.entry_id
    assert memory.find_similar(entry_id="mem-0001", **HOME).results == ()
    for verb in (memory.invalidate_entry, memory.delete_entry):
        with pytest.raises((Conflict, InvalidParam), match=r"review|confirm"):
            verb(entry_id="mem-0001", **ACTOR)


def test_two_reviewers_at_once_promote_a_concept_once(memory):
    for number in range(8):
        clarify(memory, f"Concept {number}", f"meaning {number}")
    shown = waiting(memory)
    said, together = [], threading.Barrier(2)

    def reviewer(verdict):
        together.wait()
        for each in shown:
            try:
                said.append((each.id, verdict, decide(memory, each, verdict, actor=verdict).changed))
            except Conflict:
                said.append((each.id, verdict, False))

    threads = [threading.Thread(target=reviewer, args=(verdict,)) for verdict in ("accept", "decline")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [(id, verdict) for id, verdict, changed in said if changed]
    assert sorted(id for id, _ in won) == sorted(each.id for each in shown)
    accepted = sum(verdict == "accept" for _, verdict in won)
    assert memory.search(query="", limit=50, **HOME).total == accepted
    assert sorted(detail for _, detail in marks(memory)) == [f"seq:{number}" for number in range(1, 9)]


# --- what becomes of it ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["withdraw", "supersede", "go back"])
def test_when_its_decision_ends_later_a_concept_stays_and_is_marked(memory, end):
    promote(memory, "Ablation", "needle one", phase="F2")
    promote(memory, "Other", "needle two", phase="F2")
    assert read(memory, "mem-0001").evidence is None
    if end == "withdraw":
        said = withdraw(memory, 1, phase="F2")
    elif end == "supersede":
        said = clarify(memory, "Ablation", "otherwise", phase="F2", supersedes_seq=1)
    else:
        said = go_back(memory, "F1")
    assert said.shaken == (("mem-0001", "mem-0002") if end == "go back" else ("mem-0001",))
    answer = memory.read_entry(entry_id="mem-0001", **HOME)
    assert (answer.entry.evidence, answer.entry.status, "ask before" in answer.warnings[0]) == ("changed", "active", True)
    found = {each.display_id: each.evidence for each in memory.search(query="needle", **HOME).results}
    assert found == {"mem-0001": "changed", "mem-0002": "changed" if end == "go back" else None}
    recalled = {each.display_id: each.evidence for each in memory.recall_concepts(query="needle", **HOME).results}
    assert recalled == found


def test_editing_a_concept_makes_it_a_proposal_and_what_was_approved_stays(memory):
    promote(memory, "Ablation", "As approved.")
    for changes in ({"content": "As edited."}, {"content": "As edited."}, {"content": "As edited twice."}):
        said = memory.update_entry(entry_id="mem-0001", **changes, **ACTOR)
        assert (said.changed, said.revision) == ((), None)
        assert "until a person accepts" in said.warnings[-1]
    assert read(memory, "mem-0001").content == "As approved."
    assert ids(memory.search(query="edited", **HOME)) == []
    first, second = waiting(memory, None)
    assert (first.kind, "content now: As approved." in first.text, "As edited." in first.text) == ("edit", True, True)
    done = decide(memory, first)
    assert (done.display_id, read(memory, "mem-0001").content) == ("mem-0001", "As edited.")
    with pytest.raises(Conflict, match="look at it again"):
        decide(memory, second)  # what it would replace is not what was shown
    (second,) = waiting(memory, None)
    decide(memory, second, "decline")
    assert (read(memory, "mem-0001").content, waiting(memory, None)) == ("As edited.", [])
    history = memory.entry_history(entry_id="mem-0001", **HOME).events
    assert [(each.operation, each.actor) for each in history] == [("created", "reviewer"), ("reviewed", "reviewer")]
    open_session(memory, "t")
    clarify(memory, "Ablation", "As edited.", session_id="t")
    assert decide(memory, waiting(memory, "t")[0]).display_id == "mem-0001"  # it says that now


def test_a_concept_is_retired_by_an_edit_of_its_status(memory):
    promote(memory, "Ablation", "As approved.")
    memory.update_entry(entry_id="mem-0001", status="archived", **ACTOR)
    assert memory.recall_concepts(query="approved", **HOME).total == 1
    decide(memory, waiting(memory, None)[0])
    assert read(memory, "mem-0001").status == "archived"
    assert memory.recall_concepts(query="approved", **HOME).total == 0


@pytest.mark.parametrize("changes", [{"title": "fact_x"}, {"scope": "other"}, {"tags": ["a"]}, {"importance": 5}])
def test_an_edit_cannot_make_of_a_concept_what_it_may_not_be(memory, changes):
    promote(memory, "Ablation")
    with pytest.raises(InvalidParam):
        memory.update_entry(entry_id="mem-0001", **changes, **ACTOR)
    assert memory.review(**HOME).total == 0


def test_a_secret_that_got_into_a_ledger_does_not_get_into_memory(memory):
    clarify(memory, "One")
    token = "ghp_" + "a1B2" * 9
    database, _ = memory._open()
    with database.write() as connection:
        session = ledger.find(connection, "p", "s")
        ledger.append(connection, session, Decision(0, "", "F1", CONCEPT, "Two", f"x {token}", None, None, (), "a", None, None))
    one, two = waiting(memory)
    assert (token in two.text, "REDACTED" in two.text) == (False, True)
    with pytest.raises(SecretDetected):
        decide(memory, two)
    assert decide(memory, one).changed
    assert token not in memory.session_summary(session_id="s", **HOME).markdown
    assert token not in json.dumps(memory.propose_promotion(session_id="s", **HOME))


# --- the summary -------------------------------------------------------------------------------------------------------


def test_a_summary_has_approved_then_declined_resolved_to_their_decisions_and_what_is_hidden_and_why(memory):
    for name in ("One", "Two", "Three", "Four"):
        clarify(memory, name, f"**{name}** means x", rationale=f"said {name}")
    one, two, three, _ = waiting(memory)
    decide(memory, two, "decline")
    decide(memory, one)
    decide(memory, three)
    record(memory, "F1", "table_promoted", "three")
    clarify(memory, "Five")
    withdraw(memory, 9)
    said = memory.session_summary(session_id="s", **HOME)
    (approved,) = said.approved
    assert (approved.seq, approved.subject, approved.display_id, approved.reviewer) == (1, "One", "mem-0001", "reviewer")
    assert [(each.seq, each.subject, each.display_id) for each in said.declined] == [(2, "Two", None)]
    assert {each.subject: each.reason.split(";")[0] for each in said.hidden} == {
        "Three": "a table or column of this session's decisions is no concept", "Five": "withdrawn by seq 10",
    }  # fmt: skip
    assert (said.waiting, said.decisions, said.effective, said.by_type[CONCEPT]) == (1, 10, 9, 5)
    text = said.markdown
    assert text.index("### Approved") < text.index("#### One (mem-0001)") < text.index("### Declined") < text.index("#### Two")
    assert "**One** means x" in text
    assert "#### Three" not in text
    assert said == memory.session_summary(session_id="s", **HOME)


@pytest.mark.parametrize("about", [99, 2, None])
def test_a_mark_of_what_is_not_there_or_no_concept_is_hidden_and_harmless(memory, about):
    clarify(memory, "One")
    record(memory, "F1", "table_promoted", "patients")
    database, _ = memory._open()
    with database.write() as connection:
        session = ledger.find(connection, "p", "s")
        mark = Decision(0, "", "F1", PROMOTED, "x", f"seq:{about}", None, None, (), "a", None, about)
        ledger.append(connection, session, mark)
    said = memory.session_summary(session_id="s", **HOME)
    assert (said.approved, len(said.hidden)) == ((), 1)
    assert subjects(memory) == ["One"]


def test_a_session_without_candidates_needs_no_review(memory):
    record(memory, "F1", "table_promoted", "patients")
    assert memory.review(session_id="s", **HOME).waiting == ()
    assert "nothing to review" in memory.propose_promotion(session_id="s", **HOME).hint
