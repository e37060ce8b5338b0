"""kill -9 in the middle of a promotion: either all of it or nothing; and two reviewers on two terminals decide once.

`SCAFFALE_KILLS=1000 pytest -m slow tests/integration/test_review_killed.py` runs the long form.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from hall_worker import Workers

from scaffale import settings as settings_module
from scaffale.memory import Memory
from scaffale.model import CONCEPT, DECLINED, PROMOTED

HOME = {"project_id": "p"}
KILLS = int(os.environ.get("SCAFFALE_KILLS", "60"))
WORKER = os.path.join(os.path.dirname(__file__), "review_worker.py")

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")


def open_memory(home):
    return Memory(settings_module.load({"HOME": str(home), "MEMORY_LEXICAL_BACKEND": "fts5"}, str(home)))


def work(home, seed, statement, delay=None):
    """What one worker said, and whether it was killed."""
    worker = subprocess.Popen(
        [sys.executable, WORKER, str(home), str(seed), str(statement)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    if delay is not None:
        assert worker.stdout.readline() == "ready\n", worker.stderr.read()
        time.sleep(delay)
        worker.kill()
    out, err = worker.communicate()
    assert worker.returncode in (0, -signal.SIGKILL), err
    return [line.split() for line in out.splitlines() if line.startswith("concept/")], worker.returncode != 0


def check_whole(memory):
    """Entry, number, source, mark, audit row and journal line: each is there with all others, or none is. What was decided,
    as id → mark."""
    with memory._open()[0].read() as connection:
        entries = dict(connection.execute("SELECT id, rid FROM memory_entries"))
        numbers = dict(connection.execute("SELECT entry_id, number FROM ledger_concepts"))
        assert set(numbers) == set(entries)
        assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
        sources = dict(connection.execute("SELECT seq, entry_id FROM ledger_sources"))
        assert set(sources.values()) == set(entries)
        marks = connection.execute(
            "SELECT about_seq, type FROM ledger_decisions WHERE type IN (?, ?)", (PROMOTED, DECLINED)
        ).fetchall()
        assert len({about for about, _ in marks}) == len(marks)
        assert {about for about, type in marks if type == PROMOTED} == set(sources)
        audit = "SELECT entry_id FROM audit_log WHERE operation = 'ledger_review' AND outcome = 'ok'"
        rows = connection.execute(audit).fetchall()
        assert len(rows) == len(marks)
        assert {entry_id for (entry_id,) in rows if entry_id} == set(entries)
        lines = connection.execute("SELECT owner FROM journal WHERE owner > 0").fetchall()
        assert len(lines) == len(sources)  # one for the entry, and one for each source that was merged into it
        assert {owner for (owner,) in lines} == set(entries.values())
        clarified = {seq for (seq,) in connection.execute("SELECT seq FROM ledger_decisions WHERE type = ?", (CONCEPT,))}
    waiting, offset = set(), 0
    while offset is not None:
        page = memory.review(limit=50, offset=offset, **HOME)
        waiting |= {int(each.id.rpartition("/")[2]) for each in page.waiting}
        offset = page.next_offset
    assert waiting | {about for about, _ in marks} == clarified
    assert memory.recall_concepts(query="one two", limit=1, **HOME).total == len(entries)
    assert {each.id for each in memory.recall_concepts(query="", limit=50, **HOME).results} <= set(entries)
    assert memory.damage() == {"store": [], "index": []}
    return {f"concept/s/{about}": type for about, type in marks}


def killed_before_each_statement(home, step):
    """A promotion is killed before its first statement, before a later one, and so on, until one comes through."""
    with open_memory(home) as memory:
        memory.open_session(session_id="s", actor="a", **HOME)
        memory.record_decision(
            session_id="s", phase="F1", type=CONCEPT, subject="Concept", detail="one two three", actor="a", **HOME
        )
    statement, torn = 1, 0
    while True:
        said, killed = work(home, 0, statement)
        with open_memory(home) as memory:
            decided = check_whole(memory)
        if not killed:
            assert said == [["concept/s/1", "accept"]]
            assert decided == {"concept/s/1": PROMOTED}
            return torn
        assert said == []
        if decided:  # killed behind the commit
            return torn
        torn += 1
        statement += step


def test_a_promotion_that_is_killed_before_a_statement_is_not_there(tmp_path):
    assert killed_before_each_statement(tmp_path, 4) > 3


@pytest.mark.slow
def test_a_promotion_that_is_killed_before_any_statement_is_not_there(tmp_path):
    assert killed_before_each_statement(tmp_path, 1) > 15


def kill_reviewers(home, times, seed):
    chance = random.Random(seed)
    acknowledged = {}
    for number in range(times):
        said, killed = work(home, seed * 10_000 + number, 0, chance.uniform(0.0, 0.3))
        assert killed
        acknowledged.update({id: DECLINED if verdict == "decline" else PROMOTED for id, verdict in said})
        with open_memory(home) as memory:
            decided = check_whole(memory)
        assert acknowledged.items() <= decided.items()
        acknowledged = decided
    return acknowledged


def test_reviewers_that_are_killed_leave_whole_verdicts(tmp_path):
    assert kill_reviewers(tmp_path, 3, seed=1)


@pytest.mark.slow
def test_many_reviewers_that_are_killed_leave_whole_verdicts(tmp_path):
    assert len(kill_reviewers(tmp_path, KILLS, seed=2)) > KILLS


def test_two_processes_that_review_at_once_decide_once(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.open_session(session_id="s", actor="a", **HOME)
        for number in range(12):
            memory.record_decision(
                session_id="s", phase="F1", type=CONCEPT, subject=f"Concept {number}", detail=f"one two {number}", actor="a",
                **HOME,
            )  # fmt: skip
        shown = memory.review(limit=50, **HOME).waiting
    with Workers(2, tmp_path, "fts5") as reviewers:
        won = []
        for each in shown:
            for reviewer, verdict in zip(reviewers, ("accept", "decline"), strict=True):
                reviewer.say("memory", "decide", id=each.id, verdict=verdict, digest=each.digest, actor=verdict, **HOME)
            answers = [reviewer.hear() for reviewer in reviewers]
            won += [answer["verdict"] for answer in answers if answer["ok"] and answer["changed"]]
            assert sorted(answer["ok"] for answer in answers) == [False, True]
            assert {answer.get("error_code") for answer in answers} == {None, "CONFLICT"}
    assert len(won) == len(shown)
    with open_memory(tmp_path) as memory:
        decided = check_whole(memory)
        assert list(decided.values()).count(PROMOTED) == won.count("accept")
