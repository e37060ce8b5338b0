"""What commands share: the halls, the project that is meant, pages, ids, answers of several domains."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam, ScaffaleError, quoted
from scaffale.server.cli.commands import DONE, PARTLY

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from scaffale.docs import Docs
    from scaffale.memory import Memory
    from scaffale.server.cli.output import Output
    from scaffale.settings import Settings

    Arguments = argparse.Namespace


def settings() -> Settings:
    """The settings of this process."""
    from scaffale import load_settings

    return load_settings()


def open_memory() -> Memory:
    """The memory hall, to be closed by the caller."""
    from scaffale.memory import Memory

    return Memory(settings())


def open_docs() -> Docs:
    """The docs hall, to be closed by the caller."""
    from scaffale.docs import Docs

    return Docs(settings())


def each_of(verbs: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """The answer of each domain, or its error: one that cannot answer does not silence the other. Raises when none can."""
    answers: dict[str, Any] = {}
    for name, verb in verbs.items():
        try:
            answers[name] = verb()
        except ScaffaleError as error:
            answers[name] = error
    if answers and all(isinstance(answer, ScaffaleError) for answer in answers.values()):
        raise next(iter(answers.values()))
    return answers


def json_of_each(answers: dict[str, Any], output: Output, *, alone: bool = False) -> None:
    """Answers by domain; `alone`: that of a single domain is the whole."""
    from scaffale.server.cli.output import refusal
    from scaffale.server.render import structured

    parts = {
        name: refusal(answer) if isinstance(answer, ScaffaleError) else structured(answer) for name, answer in answers.items()
    }
    output.json(next(iter(parts.values())) if alone and len(parts) == 1 else {"ok": True, **parts})


def code_of_each(answers: dict[str, Any]) -> int:
    """The exit code: done, or done in part when a domain could not answer."""
    return PARTLY if any(isinstance(answer, ScaffaleError) for answer in answers.values()) else DONE


def page_arguments(parser: argparse.ArgumentParser, limit: int) -> None:
    """How many, and from where."""
    parser.add_argument("--limit", type=at_least(1), default=limit, help=f"how many (default: {limit})")
    parser.add_argument("--offset", type=at_least(0), default=0, help="how many to pass over first")


def at_least(least: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number and not below the least one."""

    def number(given: str) -> int:
        try:
            value = int(given)
        except ValueError:
            value = least - 1
        if value < least:
            import argparse

            raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more")
        return value

    return number


def project_arguments(parser: argparse.ArgumentParser, *, cross: bool = True) -> None:
    """Which project; with `cross`, or all of them."""
    parser.add_argument("--project", metavar="PATH", help="the folder of the project (default: this folder)")
    parser.add_argument("--project-id", metavar="ID", help="the project by its id")
    if cross:
        parser.add_argument("--all-projects", action="store_true", help="memory of every project")


def project(arguments: Arguments, *, cross: bool = False) -> dict[str, Any]:
    """The project as verbs take it: this folder when none was named."""
    if cross and arguments.all_projects:
        return {"mode": "cross_project"}
    if arguments.project_id is not None and arguments.project is None:
        return {"project_id": arguments.project_id}
    return {"project_path": os.path.abspath(arguments.project or "."), "project_id": arguments.project_id}


def is_number(text: str) -> bool:
    """Whether it is written in ASCII digits."""
    return text.isascii() and text.isdigit()


def document_id(text: str) -> int:
    """The number of a document given as number or URI. Raises `InvalidParam`."""
    number = text.removeprefix("docs://document/")
    if not is_number(number):
        raise InvalidParam(f"{quoted(text)} is no document: give its number or docs://document/NUMBER")
    return int(number[:20])  # no longer than any number can be


def entry_id(text: str) -> str:
    """The id of an entry given as id or URI. Raises `InvalidParam`."""
    entry_id = text.removeprefix("memory://entry/")
    if "://" in entry_id:
        raise InvalidParam(f"{quoted(text)} is no entry: give its id or memory://entry/ID")
    return entry_id


def line_range(text: str | None) -> tuple[int | None, int | None]:
    """`FROM:TO`, either part open, or one line. Raises `InvalidParam`."""
    if text is None:
        return None, None
    first, colon, last = text.replace("-", ":").partition(":")
    try:
        return int(first) if first else None, (int(last) if last else None) if colon else int(first)
    except ValueError:
        raise InvalidParam(f"--lines: {text[:40]} is not FROM:TO") from None


def login() -> str:
    """Who sits at the command line, for the audit."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def standard_input(output: Output) -> str:
    """All of it, as it came: no newline is translated."""
    if sys.stdin.isatty():
        output.note("type the entry; Ctrl-D ends it")
    return sys.stdin.buffer.read().decode()
