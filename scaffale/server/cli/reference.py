"""The reference of all commands as Markdown, generated: `python -m scaffale.server.cli.reference > docs/commands.md`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scaffale.server.cli.described import all_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """# Commands

Generated from the program by `python -m scaffale.server.cli.reference`; a test holds it level.
The [guide](command-line.md) says what they are for, and what exit codes mean.
"""


_SERVES, _ASKS = "it serves until it is stopped", "it asks a person on a terminal"
_MODEL = "it needs a model, which is not shipped"
NOT_RUN = {  # examples that no test can run as they stand, and why
    "serve": _SERVES, "ui": _SERVES, "watch": _SERVES, "memory accept": _ASKS, "review": _ASKS, "vectors enable": _MODEL,
    "vectors build": _MODEL,
}  # fmt: skip


def text() -> str:
    """The whole page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield HEAD
    for command in all_commands():
        yield f"## scaffale {command.name}"
        yield ""
        yield f"{command.help[0].upper()}{command.help[1:]}."
        yield ""
        if command.name in NOT_RUN:
            yield f"<!-- not run: {NOT_RUN[command.name]} -->"
        yield f"```sh\n{command.example}\n```"
        yield ""
        for argument in command.arguments:
            if argument.flags == ("--json",):
                continue
            words = " ".join(argument.help.split())
            choices = f" One of {', '.join(argument.choices)}." if argument.choices and "|" not in argument.shown else ""
            yield f"- `{argument.shown}`" + (f": {words}" if words else "") + choices
        yield "- `--json`: the answer as JSON"
        yield ""


if __name__ == "__main__":
    sys.stdout.write(text())
