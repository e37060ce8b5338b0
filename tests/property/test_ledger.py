"""Random ledgers against a plain model: what holds, what may be promoted, what was; nothing is lost, nothing promoted twice.

The model keeps a list of lines and reads the contract's sentences off it, one by one, without a thought for speed.
`SCAFFALE_LEDGERS=1000 pytest tests/property/test_ledger.py` looks longer.
"""

from __future__ import annotations

import os
import tempfile

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from scaffale import settings as settings_module
from scaffale.errors import Conflict, InvalidParam, NotFound, ScaffaleError
from scaffale.memory import Memory
from scaffale.model import CONCEPT, DECLINED, PROMOTED

EXAMPLES = int(os.environ.get("SCAFFALE_LEDGERS", "40"))  # more of them look longer
HOME = {"project_id": "p"}
PHASES = ("a", "b", "c")
TABLES = ("patients", "visits")
SUBJECTS = ("Ablation", "ablation ", "Stay", "Admission", "Discharge", "Ward", "fact_x", "`dim_time`", *TABLES)
DETAILS = ("x of the ward = 1", "x of the ward  = 1", "x of the ward = 2")
VERDICTS = ("accept", "decline")


class Line:
    """A line as the model keeps it."""

    def __init__(self, seq, phase, type, subject="", detail="", about=None, supersedes=None):
        self.seq, self.phase, self.type = seq, phase, type
        self.subject, self.detail = subject, detail
        self.about, self.supersedes = about, supersedes


class Model:
    """A session, read off its lines."""

    def __init__(self):
        self.lines = []

    def stands_in(self):
        return self.lines[-1].phase if self.lines else PHASES[0]

    def add(self, *what, **more):
        self.lines.append(Line(len(self.lines) + 1, *what, **more))

    def is_act(self, line):
        return line.type in ("decision_withdrawn", "phase_reopened", PROMOTED, DECLINED)

    def holds(self, line):
        if self.is_act(line):
            return True
        for later in self.lines[line.seq :]:
            if later.type == "decision_withdrawn" and later.about == line.seq:
                return False
            if later.supersedes == line.seq:
                return False
            if later.type == "phase_reopened" and PHASES.index(later.phase) < PHASES.index(line.phase):
                return False
        return True

    def effective(self):
        return [line.seq for line in self.lines if self.holds(line)]

    def is_table(self, subject):
        name = subject.strip("`").strip().lower()
        tables = {line.subject.lower() for line in self.lines if line.type.startswith(("table_", "column_"))}
        return name.startswith(("fact_", "dim_")) or name in tables

    def decided(self):
        return {line.about for line in self.lines if line.type in (PROMOTED, DECLINED)}

    def candidates(self):
        """Groups of lines that say the same, in the order of their first."""
        groups = {}
        for line in self.lines:
            if line.type == CONCEPT and line.seq not in self.decided() and self.holds(line) and not self.is_table(line.subject):
                key = (line.subject.strip().lower(), " ".join(line.detail.split()))
                groups.setdefault(key, []).append(line.seq)
        return list(groups.values())


class LedgerMachine(RuleBasedStateMachine):
    """Two sessions of one project, several reviewers, and a process that may die between any two calls."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loaded = settings_module.load({"HOME": self.folder.name, "MEMORY_LEXICAL_BACKEND": "fts5"}, self.folder.name)
        self.memory = Memory(self.loaded)
        self.models = {}
        self.promoted = {}  # (session, seq) → entry
        self.shown = []  # what reviewers have read, fresh or not

    def teardown(self):
        self.memory.close()
        self.folder.cleanup()

    @initialize()
    def open(self):
        for session in ("s", "t"):
            self.memory.open_session(session_id=session, phases=PHASES, actor="a", **HOME)
            self.models[session] = Model()

    @rule(session=st.sampled_from("st"), subject=st.sampled_from(SUBJECTS[:6]), detail=st.sampled_from(DETAILS),
          forward=st.integers(0, 1))  # fmt: skip
    def clarify_something_good(self, session, subject, detail, forward):
        stands = PHASES.index(self.models[session].stands_in())
        self.clarified(session, PHASES[min(stands + forward, len(PHASES) - 1)], subject, detail, None)

    def record(self, session, phase, type, **more):
        return self.memory.record_decision(session_id=session, phase=phase, type=type, actor="a", **HOME, **more)

    @rule(session=st.sampled_from("st"), phase=st.sampled_from(PHASES), subject=st.sampled_from(SUBJECTS),
          detail=st.sampled_from(DETAILS), back=st.one_of(st.none(), st.integers(1, 12)))  # fmt: skip
    def clarify_anything(self, session, phase, subject, detail, back):
        self.clarified(session, phase, subject, detail, back)

    def clarified(self, session, phase, subject, detail, back):
        model = self.models[session]
        behind = PHASES.index(phase) < PHASES.index(model.stands_in())
        target = None if back is None else next((line for line in model.lines if line.seq == back), None)
        bad = model.is_table(subject) or behind or (back is not None and (target is None or model.is_act(target)))
        try:
            said = self.record(session, phase, CONCEPT, subject=subject, detail=detail, supersedes_seq=back)
        except (InvalidParam, Conflict, NotFound):
            assert bad
            return
        assert not bad
        model.add(phase, CONCEPT, subject.strip(), detail, supersedes=back)
        assert said.seq == len(model.lines)

    @rule(session=st.sampled_from("st"), subject=st.sampled_from(TABLES), column=st.booleans())
    def link(self, session, subject, column):
        model = self.models[session]
        type = "column_promoted" if column else "table_excluded"
        self.record(session, model.stands_in(), type, subject=subject, detail="d")
        model.add(model.stands_in(), type, subject, "d")

    @rule(session=st.sampled_from("st"), data=st.data())
    def withdraw(self, session, data):
        model = self.models[session]
        seqs = [line.seq for line in model.lines if not model.is_act(line)]
        seq = data.draw(st.sampled_from([*seqs, 0, len(model.lines)]))
        target = next((line for line in model.lines if line.seq == seq), None)
        bad = target is None or model.is_act(target)
        try:
            self.record(session, model.stands_in(), "decision_withdrawn", detail=f"seq:{seq}")
        except (InvalidParam, NotFound):
            assert bad
            return
        assert not bad
        model.add(model.stands_in(), "decision_withdrawn", about=seq)

    @rule(session=st.sampled_from("st"), phase=st.sampled_from(PHASES))
    def go_back(self, session, phase):
        model = self.models[session]
        if len(model.lines) % 3:  # seldom, or nothing would be left to promote
            return
        bad = not model.lines or PHASES.index(phase) > PHASES.index(model.stands_in())
        try:
            self.record(session, phase, "phase_reopened")
        except InvalidParam:
            assert bad
            return
        assert not bad
        model.add(phase, "phase_reopened")

    @rule()
    def read(self):
        self.shown = [*self.shown[-5:], *self.memory.review(limit=50, **HOME).waiting]

    @rule(verdict=st.sampled_from(VERDICTS), merge=st.booleans())
    def review(self, verdict, merge):
        """A reviewer reads, and decides at once."""
        self.read()
        for shown in self.memory.review(limit=1, **HOME).waiting:
            self.decided(shown, verdict, merge)

    @precondition(lambda self: self.shown)
    @rule(data=st.data(), verdict=st.sampled_from(VERDICTS), merge=st.booleans())
    def decide(self, data, verdict, merge):
        """A reviewer decides on something that was read at some time, with whatever has happened since."""
        self.decided(data.draw(st.sampled_from(self.shown)), verdict, merge)

    def decided(self, shown, verdict, merge):
        _, session, seq = shown.id.split("/")
        model = self.models[session]
        group = next((each for each in model.candidates() if each[0] == int(seq)), None)
        into = {}
        if merge and verdict == "accept" and shown.similar:
            verdict, into = "merge", {"into": shown.similar[0].display_id, "into_digest": shown.similar[0].digest}
        already = next((line.type for line in model.lines if line.type in (PROMOTED, DECLINED) and line.about == int(seq)), None)
        try:
            said = self.memory.decide(id=shown.id, verdict=verdict, digest=shown.digest, actor="r", **into, **HOME)
        except ScaffaleError as error:
            assert isinstance(error, Conflict)
            fresh = {each.id: each.digest for each in self.memory.review(limit=50, **HOME).waiting}
            assert already != (DECLINED if verdict == "decline" else PROMOTED)
            assert already or group is None or fresh[shown.id] != shown.digest
            return
        if already:
            assert not said.changed
            assert already == (DECLINED if verdict == "decline" else PROMOTED)
            assert said.entry_id == self.promoted.get((session, int(seq)))
            return
        assert said.changed
        assert group
        for each in group:
            line = model.lines[each - 1]
            mark = DECLINED if verdict == "decline" else PROMOTED
            model.add(model.stands_in(), mark, line.subject, f"seq:{each}", about=each)
            if verdict != "decline":
                assert (session, each) not in self.promoted
                self.promoted[session, each] = said.entry_id

    @rule()
    def die(self):
        """The process goes without a word; the next one finds everything that was acknowledged."""
        self.memory = Memory(self.loaded)

    @invariant()
    def what_holds_is_what_the_model_says(self):
        for session, model in self.models.items():
            found = self.memory.effective_decisions(session_id=session, **HOME)
            assert [each.seq for each in found] == model.effective()
            for each in found:
                line = model.lines[each.seq - 1]
                assert (each.type, each.subject, each.phase) == (line.type, line.subject, line.phase)

    @invariant()
    def no_candidate_is_lost(self):
        for session, model in self.models.items():
            seen, page = [], 1
            while page is not None:
                preview = self.memory.propose_promotion(session_id=session, page=page, page_size=2, **HOME)
                seen += [[each.seq, *each.also] for each in preview.candidates]
                page = preview.next_page
            assert seen == model.candidates()
            undecided = {line.seq for line in model.lines if line.type == CONCEPT} - model.decided()
            assert {seq for group in seen for seq in group} | {each.seq for each in preview.left_out} == undecided

    @invariant()
    def nothing_is_promoted_twice_and_no_table_is_a_concept(self):
        entries = self.memory.search(query="", limit=50, status="any", include_content=True, **HOME).results
        assert {each.id for each in entries} == set(self.promoted.values())
        for each in entries:
            assert (each.source_type, each.scope) == (CONCEPT, "concepts")
            assert not (each.title or "").strip("`").startswith(("fact_", "dim_"))
        found = self.memory.recall_concepts(query="", limit=50, **HOME).results
        assert {each.id for each in found} == set(self.promoted.values())
        sources = [
            (source["session_id"], source["seq"], each.id)
            for each in (self.memory.read_entry(entry_id=entry.id, **HOME).entry for entry in entries)
            for source in (each.metadata, *each.metadata.get("merged", ()))
        ]
        assert sorted(sources) == sorted((*place, entry_id) for place, entry_id in self.promoted.items())

    @invariant()
    def summaries_resolve_to_decisions_that_are_concepts(self):
        for session, model in self.models.items():
            said = self.memory.session_summary(session_id=session, **HOME)
            shown = {each.seq for each in (*said.approved, *said.declined)}
            assert all(model.lines[seq - 1].type == CONCEPT for seq in shown)
            assert shown == {seq for seq in model.decided() if not model.is_table(model.lines[seq - 1].subject)}


def test_random_ledgers_are_what_a_plain_model_says():
    """Append, withdraw, supersede, go back, read, promote, decline, merge, die: in any order, with any stale reading."""
    often = settings(max_examples=EXAMPLES, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(LedgerMachine, settings=often)
