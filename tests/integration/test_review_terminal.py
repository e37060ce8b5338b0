"""A person reviews on a real terminal: keys, pages, details, a merge, a code; and nothing but a terminal will do."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time

import pytest

from scaffale import settings as settings_module
from scaffale.memory import Memory
from scaffale.model import CONCEPT, DECLINED, PROMOTED

HOME = {"project_id": "p"}
COMMAND = [sys.executable, "-m", "scaffale.server.cli", "review"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a terminal of POSIX")


def open_memory(home):
    return Memory(settings_module.load({"HOME": str(home), "MEMORY_LEXICAL_BACKEND": "fts5"}, str(home)))


def environment(home):
    path = os.pathsep.join(filter(None, sys.path))
    return {**os.environ, "HOME": str(home), "MEMORY_LEXICAL_BACKEND": "fts5", "PYTHONPATH": path, "TERM": "xterm"}


class Terminal:
    """`scaffale review` at the other end of a pseudo terminal."""

    def __init__(self, home, *arguments):
        import pty

        self.parent, child = pty.openpty()
        self.worker = subprocess.Popen(
            [*COMMAND, *arguments, "--project-id", "p"], stdin=child, stdout=child, stderr=child, close_fds=True,
            env=environment(home),
        )  # fmt: skip
        os.close(child)
        self.said = ""

    def press(self, keys):
        os.write(self.parent, keys.encode())

    def wait_for(self, text, seconds=60):
        """Read until the text was said; what was said up to there, and forget it."""
        until = time.monotonic() + seconds
        while text not in self.said:
            assert time.monotonic() < until, self.said
            ready, _, _ = select.select([self.parent], [], [], 1)
            if ready:
                try:
                    data = os.read(self.parent, 65536)
                except OSError:
                    data = b""
                assert data, self.said
                self.said += data.decode()
        before, found, self.said = self.said.partition(text)
        return before + found

    def code(self):
        said = self.wait_for("to decide so")
        return re.findall(r"type ([0-9a-f]{6}) to decide so", said)[-1], said

    def end(self):
        """The exit code, and the rest of what was said."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            ready, _, _ = select.select([self.parent], [], [], 1)
            if ready:
                try:
                    data = os.read(self.parent, 65536)
                except OSError:  # the other end is gone
                    break
                self.said += data.decode()
                if not data:
                    break
            elif self.worker.poll() is not None:
                break
        os.close(self.parent)
        return self.worker.wait(timeout=60), self.said


def fill(home, *concepts, session="s"):
    with open_memory(home) as memory:
        memory.open_session(session_id=session, actor="a", **HOME)
        for subject, detail in concepts:
            memory.record_decision(
                session_id=session, phase="F1", type=CONCEPT, subject=subject, detail=detail, actor="a", **HOME
            )


def marks(home, session="s"):
    with open_memory(home) as memory:
        found = memory.list_decisions(session_id=session, **HOME).decisions
        return [(each.type, each.detail) for each in found if each.type in (PROMOTED, DECLINED)]


def numbered(count):
    return [(f"Concept {number}", f"It means {number}.") for number in range(1, count + 1)]


def test_pages_keys_and_a_code_decide_exactly_what_was_shown(tmp_path):
    fill(tmp_path, *numbered(7))
    terminal = Terminal(tmp_path, "s")
    first = terminal.wait_for("q quits")
    assert "7 wait in p" in first
    assert all(f"It means {number}." in first for number in range(1, 6))
    terminal.press("j ")  # declines the second
    terminal.press("\x1b[Bl")  # leaves the third for later
    terminal.press("\r")
    code, said = terminal.code()
    assert "decline: Concept 2" in said
    terminal.press(f"{code}\n")
    second = terminal.wait_for("q quits")
    second += terminal.wait_for("q quits") if "Concept 6" not in second else ""
    assert "Concept 6" in second
    terminal.press("\r")
    code, _ = terminal.code()
    terminal.press(f"{code}\n")
    exit_code, rest = terminal.end()
    assert (exit_code, "6 decided, 1 wait" in rest) == (0, True)
    assert sorted(marks(tmp_path)) == sorted(
        [(DECLINED, "seq:2")] + [(PROMOTED, f"seq:{number}") for number in (1, 4, 5, 6, 7)]
    )


@pytest.mark.parametrize("typed", ["000000\n", "\n", "yes\n", "\x04"])
def test_another_code_decides_nothing(tmp_path, typed):
    fill(tmp_path, *numbered(1))
    terminal = Terminal(tmp_path, "s")
    terminal.wait_for("q quits")
    terminal.press("\r")
    terminal.code()
    terminal.press(typed)
    exit_code, rest = terminal.end()
    assert (exit_code, "that is not the code" in rest) == (0, True)
    assert marks(tmp_path) == []


@pytest.mark.parametrize("keys", ["q", "\x04"])
def test_leaving_decides_nothing(tmp_path, keys):
    fill(tmp_path, *numbered(1))
    terminal = Terminal(tmp_path)
    terminal.wait_for("q quits")
    terminal.press(keys)
    exit_code, _ = terminal.end()
    assert exit_code == 0
    assert marks(tmp_path) == []


def test_a_merge_is_chosen_by_a_key_and_its_text_is_seen(tmp_path):
    text = "A procedure with the flag ablation set, counted once per patient and year."
    fill(tmp_path, ("Ablation", text))
    terminal = Terminal(tmp_path, "s")
    terminal.wait_for("q quits")
    terminal.press("\r")
    terminal.press(f"{terminal.code()[0]}\n")
    assert terminal.end()[0] == 0
    fill(tmp_path, ("Ablations", text.replace("year", "month")), session="t")
    terminal = Terminal(tmp_path, "t")
    assert "beside it mem-0001" in terminal.wait_for("q quits")
    terminal.press("m")
    assert f"    {text}" in terminal.wait_for("q quits").replace("\r", "")
    terminal.press("\r")
    code, said = terminal.code()
    assert "merge into mem-0001: Ablations" in said
    terminal.press(f"{code}\n")
    assert terminal.end()[0] == 0
    with open_memory(tmp_path) as memory:
        entry = memory.read_entry(entry_id="mem-0001", **HOME).entry
        assert (entry.content, [each["session_id"] for each in entry.metadata["merged"]]) == (text, ["t"])


def test_what_changed_while_it_was_read_is_not_decided_on_and_comes_again(tmp_path):
    fill(tmp_path, *numbered(2))
    terminal = Terminal(tmp_path, "s")
    terminal.wait_for("q quits")
    fill(tmp_path, *numbered(1))  # one more line that says the same as the first
    terminal.press("\r")
    terminal.press(f"{terminal.code()[0]}\n")
    exit_code, rest = terminal.end()
    assert (exit_code, "look at it again" in rest) == (1, True)
    assert marks(tmp_path) == [(PROMOTED, "seq:2")]
    terminal = Terminal(tmp_path, "s")
    assert "more lines: d opens them" in terminal.wait_for("q quits")
    terminal.press("d")
    assert "again from session s, seq 3" in terminal.wait_for("q quits")
    terminal.press("\r")
    terminal.press(f"{terminal.code()[0]}\n")
    assert terminal.end()[0] == 0
    assert marks(tmp_path) == [(PROMOTED, "seq:2"), (PROMOTED, "seq:1"), (PROMOTED, "seq:3")]


def test_stored_text_plays_no_tricks_on_the_terminal(tmp_path):
    fill(tmp_path, ("Red \x1b[31m", "hidden \u202e and \x1b[2J cleared <!-- unseen -->"))
    terminal = Terminal(tmp_path, "s")
    said = terminal.wait_for("q quits")
    assert "\\u001b[31m" in said
    assert "\\u202e" in said
    assert "<!-- unseen -->" in said
    assert said.count("\x1b[2J") == 1  # the page's own
    terminal.press("q")
    terminal.end()


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_without_a_terminal_nothing_is_decided_whatever_is_piped_in(tmp_path, more):
    fill(tmp_path, *numbered(1))
    ran = subprocess.run(
        [*COMMAND, "s", "--project-id", "p", *more], input="\n" * 50, capture_output=True, text=True, check=False,
        env=environment(tmp_path),
    )  # fmt: skip
    assert ran.returncode == 2
    assert "takes a person on a terminal" in ran.stdout + ran.stderr
    assert marks(tmp_path) == []


@pytest.mark.parametrize("flag", ["--yes", "--accept", "--all", "--force", "--code=123456", "--no-input", "--batch"])
def test_no_flag_stands_for_a_person(tmp_path, flag):
    fill(tmp_path, *numbered(1))
    terminal = Terminal(tmp_path, "s", flag)
    exit_code, said = terminal.end()
    assert (exit_code, "INVALID_PARAM" in said) == (2, True)
    assert marks(tmp_path) == []


def test_where_nothing_waits_the_review_closes_by_itself(tmp_path):
    fill(tmp_path)
    ran = subprocess.run(
        [*COMMAND, "s", "--project-id", "p"], input="", capture_output=True, text=True, check=False, env=environment(tmp_path)
    )
    assert (ran.returncode, "nothing waits: the review is closed" in ran.stderr) == (0, True)
