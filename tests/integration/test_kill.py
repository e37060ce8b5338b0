"""kill -9 at any moment: nothing acknowledged is lost, nothing is half there, and the next process serves at once.

`SCAFFALE_KILLS=1000 pytest -m slow tests/integration/test_kill.py` runs the long form.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hall_worker import Workers
from kill_worker import rewrite

from scaffale import settings as settings_module
from scaffale.docs import Docs
from scaffale.errors import NotFound
from scaffale.memory import Memory

KILLS = int(os.environ.get("SCAFFALE_KILLS", "60"))
FILES = 40
WORKER = os.path.join(os.path.dirname(__file__), "kill_worker.py")

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")


@pytest.fixture(params=["tantivy", "fts5"])
def engine_name(request):
    return request.param


class Ledger:
    """What was acknowledged, and whether the store agrees."""

    def __init__(self, home, engine):
        self.home = home
        self.engine = engine
        self.notes = home / "notes"
        self.notes.mkdir()
        for n in range(FILES):
            rewrite(str(self.notes / f"note{n}.md"), "version0")
        self.tokens = {}
        self.invalidated = set()
        self.deleted = set()
        self.restarts = []

    def work_until_killed(self, seed, delay, *, from_start):
        """One process works for a moment and is killed; what it said goes into the ledger."""
        worker = subprocess.Popen(
            [sys.executable, WORKER, str(self.home), self.engine, str(self.notes), str(seed)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        if not from_start:
            assert worker.stdout.readline() == "ready\n", worker.stderr.read()
        time.sleep(delay)
        worker.kill()
        out, err = worker.communicate()
        assert worker.returncode == -signal.SIGKILL, err
        for line in out.splitlines():
            what, *rest = line.split()
            assert what != "failed", line
            if what == "added":
                self.tokens[rest[0]] = rest[1]
            elif what == "invalidated":
                self.invalidated.add(rest[0])
            elif what == "deleted":
                del self.tokens[rest[0]]
                self.deleted.add(rest[0])

    def open(self):
        loaded = settings_module.load(
            {"HOME": str(self.home), "MEMORY_LEXICAL_BACKEND": self.engine, "DOCS_LEXICAL_BACKEND": self.engine},
            str(self.home),
        )
        return Memory(loaded), Docs(loaded)

    def check(self, chance):
        """A new process serves at once, finds what was acknowledged, and completes the scan that was killed."""
        began = time.monotonic()
        memory, docs = self.open()
        memory.search(query="some words", project_id="p")
        docs.search(query="harbour")
        self.restarts.append(time.monotonic() - began)
        newest = list(self.tokens)[-5:]
        for entry_id in {*newest, *chance.sample(sorted(self.tokens), min(5, len(self.tokens)))}:
            self.check_entry(memory, entry_id)
        check_memory_is_whole(memory)
        assert self.deleted <= tombstones(memory)
        check_documents_are_whole(docs)
        if chance.random() < 0.5:
            docs.maintain()
        else:
            report = docs.scan_folder(folder_path=str(self.notes), shelf="notes")
            assert report.seen == FILES == report.new + report.changed + report.same
        counts = docs.feature_status().counts
        found = docs.search(query="harbour", limit=100)
        assert (len(found.results), found.lag) == (counts.get("documents", 0), 0)
        check_documents_are_whole(docs)
        memory.close()
        docs.close()

    def check_entry(self, memory, entry_id):
        token = self.tokens[entry_id]
        try:
            entry = memory.read_entry(entry_id=entry_id, project_id="p").entry
        except NotFound:  # killed between the deletion and its answer: gone whole, with its tombstone
            assert entry_id in self.invalidated
            assert entry_id in tombstones(memory)
            return
        assert entry.content.startswith(f"{token} some words of it")
        assert entry.tags == ("one", token)
        if entry_id in self.invalidated:
            assert entry.status == "invalidated"
        found = memory.search(query=token, project_id="p", status="any", limit=1).results
        assert [hit.id for hit in found] == [entry_id]

    def check_everything(self):
        memory, docs = self.open()
        for entry_id in self.tokens:
            self.check_entry(memory, entry_id)
        for hall in (memory, docs):
            store = hall._store()
            if store:
                assert store[0].connection.pragma("integrity_check") == "ok"
        docs.scan_folder(folder_path=str(self.notes), shelf="notes")
        assert len(docs.search(query="harbour", limit=100).results) == FILES
        for document in docs.list_documents(limit=100).documents:
            assert docs.read_document(document_id=document.id).content == Path(document.file_path).read_text(encoding="utf-8")
        memory.close()
        docs.close()


def tombstones(memory):
    """The ids of deleted entries."""
    store = memory._store()
    if store is None:
        return set()
    with store[0].read() as connection:
        return deleted(connection)


def deleted(connection):
    rows = connection.execute("SELECT entry_id FROM audit_log WHERE outcome = 'ok' AND operation = 'memory_delete_entry'")
    return {row[0] for row in rows}


def check_memory_is_whole(memory):
    """Every entry has its two tags, its audit row and its journal line, and every such row its entry or its tombstone."""
    store = memory._store()
    if store is None:
        return
    with store[0].read() as connection:
        entries = {row[0]: row[1:] for row in connection.execute("SELECT rid, id, status FROM memory_entries")}
        ids = {entry_id for entry_id, _ in entries.values()}
        tags = dict(connection.execute("SELECT entry_id, count(*) FROM memory_entry_tags GROUP BY entry_id"))
        assert tags == dict.fromkeys(ids, 2)
        audit = "SELECT entry_id FROM audit_log WHERE outcome = 'ok' AND operation = ?"
        gone = deleted(connection)
        assert not gone & ids
        assert sorted(row[0] for row in connection.execute(audit, ("memory_add_entry",))) == sorted(ids | gone)
        invalidated = {entry_id for entry_id, status in entries.values() if status == "invalidated"}
        assert {row[0] for row in connection.execute(audit, ("memory_invalidate_entry",))} == invalidated | gone
        lines = Counter(row[0] for row in connection.execute("SELECT owner FROM journal WHERE owner > 0"))
        there = {rid: 2 if status == "invalidated" else 1 for rid, (_, status) in entries.items()}
        assert {rid: lines.pop(rid) for rid in there} == there
        assert list(lines.values()) == [3] * len(gone)  # each came, was invalidated, went


def check_documents_are_whole(docs):
    """Every document is of one version from its first line to its last."""
    for document in docs.list_documents(limit=100).documents:
        content = docs.read_document(document_id=document.id).content
        assert content.count("\n") == document.line_count
        assert {word for word in content.split() if word.startswith("version")} == {document.title}


def kill_again_and_again(tmp_path, engine, times, seed):
    ledger = Ledger(tmp_path, engine)
    chance = random.Random(seed)
    for n in range(times):
        from_start = chance.random() < 0.3
        ledger.work_until_killed(seed * 10_000 + n, chance.uniform(0.0, 0.4), from_start=from_start)
        ledger.check(chance)
    ledger.check_everything()
    return ledger


def test_a_few_kills_lose_nothing(tmp_path, engine_name):
    ledger = kill_again_and_again(tmp_path, engine_name, 3, seed=1)
    assert ledger.tokens


@pytest.mark.slow
def test_many_kills_lose_nothing(tmp_path, engine_name):
    ledger = kill_again_and_again(tmp_path, engine_name, KILLS // 2, seed=2)
    assert len(ledger.tokens) > KILLS
    restarts = sorted(ledger.restarts)
    assert restarts[int(0.95 * len(restarts))] < 2.0


@pytest.mark.slow
def test_survivors_go_on_while_others_are_killed(tmp_path, engine_name):
    said = {"actor": "survivor", "project_id": "p", "scope": "s", "topic": "t", "source_type": "decision"}
    ledger = Ledger(tmp_path, engine_name)
    chance = random.Random(3)
    with Workers(2, tmp_path, engine_name) as survivors:
        for n in range(max(4, KILLS // 10)):
            for number, survivor in enumerate(survivors):
                token = f"survivor{number}x{n}"
                survivor.say("memory", "add_entry", content=f"{token} some words of it", tags=["one", token], **said)
            ledger.work_until_killed(30_000 + n, chance.uniform(0.0, 0.3), from_start=False)
            for number, survivor in enumerate(survivors):
                answer = survivor.hear()
                assert answer["ok"], answer
                ledger.tokens[answer["entry_id"]] = f"survivor{number}x{n}"
            for survivor in survivors:
                for entry_id in list(ledger.tokens)[-3:]:
                    found = survivor.ask("memory", "search", query=ledger.tokens[entry_id], project_id="p", status="any")
                    assert found["results"][0]["id"] == entry_id
                found = survivor.ask("docs", "search", query="harbour", limit=100)
                stored = survivor.ask("docs", "feature_status")["counts"].get("documents", 0)
                assert found["matching_sections"] + found["lag"] >= min(stored, 1)
    ledger.check(chance)
    ledger.check_everything()
