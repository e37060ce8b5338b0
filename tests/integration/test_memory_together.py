"""Several at one entry, and death in the middle of an import or a replacement: one wins, or nothing happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from scaffale import settings as settings_module
from scaffale.errors import Conflict
from scaffale.memory import Memory

HOME = {"project_id": "p"}
ENTRIES = 3_000
WORKER = """
import sys
from scaffale import settings
from scaffale.memory import Memory
home, path, mode = sys.argv[1:]
memory = Memory(settings.load({"HOME": home}, home))
print("ready", flush=True)
sys.stdin.readline()
memory.import_project(actor="w", project_id="p", import_path=path, on_conflict=mode, confirm_replace=True, anywhere=True)
print("done", flush=True)
"""


def open_memory(home):
    home.mkdir(exist_ok=True)
    return Memory(settings_module.load({"HOME": str(home)}, str(home)))


def test_of_those_who_change_an_entry_at_once_one_wins_and_the_others_are_told(tmp_path):
    with open_memory(tmp_path / "home") as first:
        entry = first.add_entry(actor="a", scope="s", topic="t", content="Before.", source_type="decision", **HOME).entry_id
        seen = first.read_entry(entry_id=entry, **HOME).entry.updated_at
        halls = [open_memory(tmp_path / "home") for _ in range(6)]
        outcomes = []
        start = threading.Barrier(len(halls))

        def change(number, memory):
            start.wait()
            try:
                memory.update_entry(
                    actor=f"writer {number}", entry_id=entry, content=f"By {number}.", expected_updated_at=seen, **HOME
                )
                outcomes.append(number)
            except Conflict:
                outcomes.append(None)

        threads = [threading.Thread(target=change, args=each) for each in enumerate(halls)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for memory in halls:
            memory.close()
        winners = [number for number in outcomes if number is not None]
        assert (len(outcomes), len(winners)) == (6, 1)
        assert first.read_entry(entry_id=entry, **HOME).entry.content == f"By {winners[0]}."
        assert len(first.entry_history(entry_id=entry, **HOME).events) == 2


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
@pytest.mark.parametrize("mode", ["fail", "replace"])
def test_a_process_that_is_killed_in_an_import_leaves_all_or_nothing(tmp_path, mode):
    path = tmp_path / "p.json"
    at = "2026-01-01T00:00:00.000Z"
    entry = {"scope": "s", "topic": "t", "source_type": "decision", "created_at": at, "updated_at": at}
    whole = {
        "format": "memory-node.project-export", "version": 1, "exported_at": at, "project": {"id": "p"}, "tags": [], "links": [],
        "entries": [{**entry, "id": f"e{n}", "content": f"Entry {n}. " + "word " * 50} for n in range(ENTRIES)],
    }  # fmt: skip
    path.write_text(json.dumps(whole), encoding="utf-8")
    seen = set()
    for turn in range(12):
        home = tmp_path / f"home-{turn}"
        with open_memory(home) as memory:
            memory.add_entry(actor="a", scope="s", topic="t", content="Mine.", source_type="decision", **HOME)
        worker = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(home), str(path), mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert worker.stdout.readline() == "ready\n"
        worker.stdin.write("go\n")
        worker.stdin.flush()
        time.sleep(0.04 * turn)  # sooner and later: before, in and after the transaction
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        with open_memory(home) as memory:
            count = memory.status(**HOME).counts["entries"]
            assert count in {1, ENTRIES if mode == "replace" else ENTRIES + 1}
            assert memory.damage() == {"store": [], "index": []}
            assert memory.search(query="word", **HOME).total in {0, ENTRIES}
            seen.add(count)
    assert 1 in seen


@pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX")
def test_a_person_reviews_on_a_terminal_by_typing_the_code_of_what_was_shown(tmp_path):
    import pty

    home, notes = tmp_path / "home", tmp_path / "AGENTS.md"
    notes.write_text("# Style\n\nWrite short sentences, always and everywhere.\n", encoding="utf-8")
    with open_memory(home) as memory:
        memory.propose(source_path=str(notes), actor="a", scope="app", anywhere=True, **HOME)

    def review(answer):
        parent, child = pty.openpty()
        command = [sys.executable, "-m", "scaffale.server.cli", "review", "--project-id", "p"]
        worker = subprocess.Popen(
            command, stdin=child, stdout=child, stderr=child, env={**os.environ, "HOME": str(home)}, close_fds=True
        )
        os.close(child)
        said = b""
        while b"q quits" not in said:
            said += os.read(parent, 4096)
        os.write(parent, b"\n")
        while b"to decide so" not in said:
            said += os.read(parent, 4096)
        os.write(parent, answer(said.decode()).encode() + b"\n")
        try:
            while data := os.read(parent, 4096):
                said += data
        except OSError:  # the other end is gone
            pass
        os.close(parent)
        return worker.wait(timeout=60), said.decode()

    code, said = review(lambda text: "000000")
    assert (code, "that is not the code" in said) == (0, True)
    with open_memory(home) as memory:
        assert memory.list_proposals(**HOME).total == 1
    code, said = review(lambda text: text.rsplit("type ", 1)[1].split()[0])
    assert code == 0
    assert "Write short sentences" in said
    with open_memory(home) as memory:
        assert memory.search(query="short sentences", **HOME).total == 1
        assert memory.list_proposals(**HOME).total == 0
