"""Completion, asked of the shells themselves where they are there; and the reference, level with the program."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scaffale.server.cli import commands, completion, main, reference
from scaffale.server.cli.commands.tour import SHELLS
from scaffale.server.cli.described import all_commands

DOCS = Path(__file__).parents[3] / "docs"
# What was typed, and what must and must not be offered.
TYPED = [
    ("scaffale sea", {"search"}, {"scan"}),
    ("scaffale ", {"search", "shelf", "ui", "completion"}, {"list"}),
    ("scaffale shelf l", {"list"}, {"show"}),
    ("scaffale scan --sh", {"--shelf"}, {"--all-projects"}),
    ("scaffale token create ada --re", {"--read-only"}, {"--remove-missing"}),
]


def needs(shell):
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell} here")


@pytest.fixture(params=SHELLS)
def script(request):
    return completion.script(request.param)


def test_every_command_is_in_every_script(script):
    for name in commands.COMMANDS:
        for word in name.split():
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", script), name


def test_no_shell_but_those_known(capsys):
    assert main(["completion", "tcsh"]) == 2
    assert "bash" in capsys.readouterr().err
    assert main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == completion.script("bash")


@needs("bash")
@pytest.mark.parametrize(("typed", "offered", "not_offered"), TYPED)
def test_bash_completes(typed, offered, not_offered):
    words = typed.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _scaffale; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    ran = subprocess.run(
        ["bash", "-euc", completion.script("bash") + asked], capture_output=True, text=True, check=True
    )
    found = set(ran.stdout.split())
    assert offered <= found
    assert not not_offered & found


@needs("bash")
def test_bash_offers_the_values_of_an_option_and_leaves_the_rest_to_files():
    asked = "COMP_WORDS=(scaffale serve --tools ''); COMP_CWORD=3; _scaffale; echo \"${COMPREPLY[@]}\";"
    asked += 'COMPREPLY=(); COMP_WORDS=(scaffale scan doc); COMP_CWORD=2; _scaffale; echo "[${COMPREPLY[@]}]"'
    ran = subprocess.run(["bash", "-ec", completion.script("bash") + asked], capture_output=True, text=True, check=True)
    first, second = ran.stdout.splitlines()
    assert {"default", "all", "memory", "docs"} <= set(first.split())
    assert second == "[]"


@needs("zsh")
@pytest.mark.parametrize(("typed", "offered", "not_offered"), TYPED)
def test_zsh_completes(typed, offered, not_offered):
    words = typed.split(" ")
    stubs = "compdef() { }\n_files() { }\n_describe() { print -rl -- ${(P)2} }\n"
    asked = f"words=({' '.join(repr(word) for word in words)}); CURRENT={len(words)}; _scaffale\n"
    ran = subprocess.run(
        ["zsh", "-fc", stubs + completion.script("zsh") + asked], capture_output=True, text=True, check=True
    )
    found = {line.partition(":")[0] for line in ran.stdout.splitlines()}
    begun = {word for word in found if word.startswith(words[-1])}
    assert offered <= begun
    assert not not_offered & begun


@needs("fish")
@pytest.mark.parametrize(("typed", "offered", "not_offered"), TYPED)
def test_fish_completes(typed, offered, not_offered, tmp_path):
    asked = completion.script("fish") + f"\ncomplete -C '{typed}'\n"
    ran = subprocess.run(
        ["fish", "--no-config", "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(tmp_path), "PATH": "/bin:/usr/bin"},
    )
    found = {line.partition("\t")[0] for line in ran.stdout.splitlines()}
    assert offered <= found
    assert not not_offered & found


# --- the reference -----------------------------------------------------------------------------------------------------


def test_the_reference_is_level_with_the_program():
    ran = subprocess.run(
        [sys.executable, "-m", "scaffale.server.cli.reference"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == reference.text()
    level = (DOCS / "commands.md").read_text(encoding="utf-8") == reference.text()
    assert level, "run: python -m scaffale.server.cli.reference > docs/commands.md"


def test_every_argument_of_every_command_is_described():
    seen = [each.name for each in all_commands()]
    assert seen == list(commands.COMMANDS)


# --- the tour ------------------------------------------------------------------------------------------------------------


def test_the_tour_runs_real_commands_and_touches_nothing_of_ours(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("MEMORY_DB_PATH", str(tmp_path / "mine.sqlite"))
    monkeypatch.delenv("DOCS_DB_PATH", raising=False)
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n$ scaffale ") + shown.startswith("$ scaffale ") == 9
    assert "Signing" in shown
    assert "retries" in shown
    assert list(tmp_path.iterdir()) == []
    import os

    assert os.environ["MEMORY_DB_PATH"] == str(tmp_path / "mine.sqlite")
    assert "DOCS_DB_PATH" not in os.environ


def test_the_tour_is_data_for_programs(tmp_path, monkeypatch, capsys):
    import json

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert main(["demo", "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert all(step["answer"]["ok"] for step in steps)
    first = next(step for step in steps if "search" in step["command"])
    assert first["answer"]["results"][0]["title"] == "Keys and secrets"
    links = next(step for step in steps if "correlate" in step["command"])
    assert links["answer"]["applied_links"] >= 1
