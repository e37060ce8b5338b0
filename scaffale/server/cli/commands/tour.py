"""Commands for those who begin: a tour on data that ships, and completion for the shell."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scaffale.server.cli.commands import DONE

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace

SHELLS = ("bash", "zsh", "fish", "powershell")
STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Index two folders of Markdown; the second leans on the first.", ("scan", "{world}/handbook", "--shelf", "handbook")),
    ("", ("scan", "{world}/services", "--shelf", "services")),
    ("", ("shelf", "parents", "services", "--add", "handbook")),
    ("Ask. The answer is a section, with its lines.", ("search", "how many days does a signing key serve", "--docs")),
    ("Identifiers work whole and by part.", ("search", "retryAfter", "--docs", "--limit", "1")),
    ("Links between documents, proposed by evidence and with reasons.", ("correlate", "services", "--apply")),
    (
        "Keep what was decided, with its source.",
        ("add", "Checkout retries three times, then parks the order: the bank's gateway locks accounts after five.",
         "--scope", "checkout", "--topic", "retries", "--type", "decision", "--project-id", "demo"),
    ),
    ("Find it again, beside the documents.", ("search", "why three retries", "--project-id", "demo", "--limit", "2")),
    ("See what there is.", ("status", "--project-id", "demo")),
)  # fmt: skip


def demo_arguments(parser: argparse.ArgumentParser) -> None:
    """How to see it."""
    parser.add_argument("--ui", action="store_true", help="show the same in a browser afterwards")


def demo(arguments: Arguments, output: Output) -> int:
    """Run real commands on a world of its own, which is gone afterwards. Your stores are not touched."""
    import shutil
    import tempfile

    home = tempfile.mkdtemp(prefix="scaffale-demo-")
    ours = {"MEMORY_DB_PATH": f"{home}/memory.sqlite", "DOCS_DB_PATH": f"{home}/docs.sqlite"}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        shutil.copytree(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "demo"), f"{home}/world")
        told = [_step(words, command, home, output) for words, command in STEPS]
        if output.as_json:
            output.json({"ok": True, "steps": told})
        if arguments.ui:
            from scaffale.server.cli import commands

            return commands.run(["ui"], output)
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        shutil.rmtree(home, ignore_errors=True)
    if not output.as_json:
        output.line("Now your own: scaffale scan FOLDER, then scaffale search WORDS, then scaffale install --client NAME.")
    return DONE


def _step(words: str, command: tuple[str, ...], home: str, output: Output) -> dict[str, Any] | None:
    """One command with what it answers, shown as a person would have typed it; as data when that is asked for."""
    import contextlib
    import io
    import json
    import shlex

    from scaffale.server.cli import commands

    real = [word.replace("{world}", f"{home}/world") for word in command]
    shown = f"scaffale {shlex.join(word.replace('{world}/', '') for word in command)}"
    if output.as_json:
        answer = io.StringIO()
        with contextlib.redirect_stdout(answer):
            commands.run([*real, "--json"], output)
        return {"command": shown, "answer": json.loads(answer.getvalue())}
    if words:
        output.line(f"# {words}")
    output.now(f"$ {shown}")
    commands.run(real, output)
    output.line()
    return None


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument("shell", choices=SHELLS, help="whose script is printed; its first lines say how to use it")


def completion(arguments: Arguments, output: Output) -> int:
    """Print the script that completes our commands."""
    import sys

    from scaffale.server.cli.completion import script

    text = script(arguments.shell)
    if output.as_json:
        output.json({"ok": True, "shell": arguments.shell, "script": text})
    else:
        sys.stdout.write(text)
    return DONE
