"""What is written about the program is true of it."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

import scaffale
from scaffale import errors, settings
from scaffale.server.cli import EXIT_CODES, commands
from scaffale.server.mcp.tools import TOOLS

CHECKOUT = Path(__file__).parents[2]
PAGES = [CHECKOUT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")] + sorted(CHECKOUT.glob("docs/*.md"))
ROOMS = [path for path in Path(scaffale.__file__).parent.iterdir() if path.is_dir()]
PLACES = (CHECKOUT, CHECKOUT / "scaffale", *ROOMS)  # a row of the map names the files of its room alone


def text_of(page):
    return page.read_text(encoding="utf-8")


def page(name):
    return text_of(CHECKOUT / "docs" / name)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_files_that_are_named_exist(path):
    text = text_of(path)
    named = set(re.findall(r"`([\w./-]+\.(?:py|md|svg|json|toml))`", text)) | set(re.findall(r"`([\w/]+/)`", text))
    named -= {"docs/foo.md", "config.toml", "claude_desktop_config.json", "memory.config.json"}  # the user's own
    named -= {"AGENTS.md", "mcp.json"}
    named = {name for name in named if not name.startswith((".", "~", "/"))}
    assert not [name for name in sorted(named) if not any((place / name).exists() for place in PLACES)]
    linked = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert not [name for name in linked if not (path.parent / name).exists()]


def test_the_map_names_every_room():
    text = text_of(CHECKOUT / "ARCHITECTURE.md")
    package = Path(scaffale.__file__).parent
    rooms = {f"{path.name}/" if path.is_dir() else path.name for path in package.iterdir() if path.suffix in {"", ".py"}}
    rooms -= {"__init__.py", "__pycache__/", "py.typed"}
    small = {"envfile.py", "files.py", "secret_rules.py"}  # closets, of one room each
    assert not [room for room in sorted(rooms - small) if f"`{room}`" not in text and f"`{room}" not in text]


def examples(path):
    """The command lines of our program in the blocks of a page."""
    for block in re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", text_of(path), re.S | re.M):
        for line in re.split(r"\n|;|&&", block):
            words = shlex.split(line.replace("~", "/home/me"), comments=True)
            if words and words[0].rpartition("/")[2] == "scaffale":
                yield words[1:]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_example_is_a_command_that_parses(path):
    for words in examples(path):
        assert parses(words), words


def test_there_are_examples():
    assert sum(1 for path in PAGES for _ in examples(path)) > 5


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_the_example_in_the_help_parses(name):
    words = shlex.split(commands.COMMANDS[name].example)
    assert words[0] == "scaffale"
    assert " ".join(words[1:]).startswith(name)
    assert parses(words[1:])


def parses(words):
    name, rest = words[0], words[1:]
    if name in commands.GROUPS:
        name, rest = f"{name} {rest[0]}", rest[1:]
    parser = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
    commands.COMMANDS[name].arguments(parser)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(rest) is not None


def test_the_page_on_the_command_line_has_every_command_and_exit_code():
    text = page("command-line.md")
    for name in commands.COMMANDS:
        assert re.search(rf"`{name.split()[0]}\b", text), name
        assert name.split()[-1] in text, name
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.M)}
    assert documented == {0, 1, 130, *EXIT_CODES.values()}


def test_the_page_for_agents_has_every_tool_action_and_error():
    text = page("agents.md")
    for spec in TOOLS:
        assert f"`{spec.name}`" in text, spec.name
        for action in spec.verbs:
            assert f"`{action}`" in text or not action, action
    for code in {error.code for error in vars(errors).values() if isinstance(error, type)}:
        assert f"`{code}`" in text, code


def test_every_key_on_the_page_of_configuration_is_one():
    text = page("configuration.md")
    named = set(re.findall(r"`((?:MEMORY|DOCS)_[A-Z_]+)`", text))
    short = {f"MEMORY_MAX{name}" for name in re.findall(r"`(_[A-Z_]+)`", text)}
    assert not (named | short) - set(settings.KEYS) - set(settings._DOMAIN_KEYS)
    assert len(named | short) > 20
