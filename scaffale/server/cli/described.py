"""What the commands say of themselves, as data: for the reference that is generated from it, and for completion in shells."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from scaffale.server.cli import commands

if TYPE_CHECKING:
    from collections.abc import Iterator


class Argument(NamedTuple):
    """One argument of a command. `flags` is empty for one that is told by its place; `choices` when only some values fit."""

    flags: tuple[str, ...]
    shown: str
    help: str
    choices: tuple[str, ...] = ()
    takes_value: bool = False


class Described(NamedTuple):
    """A command: `name` with a blank where it belongs to a group."""

    name: str
    help: str
    example: str
    usage: str
    arguments: tuple[Argument, ...]


def all_commands() -> Iterator[Described]:
    """Every command in the order of the overview."""
    for name, command in commands.COMMANDS.items():
        parser = commands.parser_of(name)
        usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
        arguments = tuple(_argument(each) for each in parser._actions if not isinstance(each, argparse._HelpAction))
        yield Described(name, command.help, command.example, usage, arguments)


def _argument(action: argparse.Action) -> Argument:
    flags = tuple(action.option_strings)
    takes_value = action.nargs != 0
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper() if flags else action.dest
    choices = tuple(str(each) for each in action.choices or ())
    if choices and action.metavar is None:
        name = "|".join(choices)
    words = action.help or ""
    shown = f"{flags[-1]} {name}" if flags and takes_value else flags[-1] if flags else name
    return Argument(flags, shown, words, choices, takes_value)
