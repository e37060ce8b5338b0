"""Commands on tokens: who may ask a server over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.server.cli.commands import DONE, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace


def create_arguments(parser: argparse.ArgumentParser) -> None:
    """Whose it is and what it opens."""
    parser.add_argument("name", help="whose token it is; the audit names it")
    parser.add_argument(
        "--project-id", action="append", default=[], metavar="ID", help="only the memory of this project; may be repeated"
    )
    parser.add_argument("--read-only", action="store_true", help="it may only read")
    parser.add_argument("--days", type=shared.at_least(1), help="it opens nothing after so many days (default: no end)")


def create(arguments: Arguments, output: Output) -> int:
    """Make a token and show it, this once."""
    with shared.open_memory() as memory:
        made = memory.create_token(
            name=arguments.name, actor=shared.login(), projects=arguments.project_id, read_only=arguments.read_only,
            days=arguments.days,
        )  # fmt: skip
    output.answer(made, lambda made: output.line(made.secret))
    if not output.as_json:
        output.note("keep it now: it is shown this once. Clients send it as `Authorization: Bearer TOKEN`.")
    return DONE


def list_(arguments: Arguments, output: Output) -> int:
    """All tokens, without what opens anything."""
    with shared.open_memory() as memory:
        answer = memory.list_tokens()
    output.answer(
        answer,
        lambda found: output.table(
            ("id", "name", "projects", "may", "made", "until", "revoked"),
            [
                (
                    token.id, token.name, ", ".join(token.projects) or "all", "read" if token.read_only else "read and write",
                    token.created_at[:16], (token.expires_at or "")[:16], (token.revoked_at or "")[:16],
                )
                for token in found.tokens
            ],
        ),
    )  # fmt: skip
    return DONE


def revoke(arguments: Arguments, output: Output) -> int:
    """It opens nothing from now on."""
    with shared.open_memory() as memory:
        answer = memory.revoke_token(name=arguments.name, actor=shared.login())
    output.answer(
        answer, lambda done: output.line(f"{done.name} ({done.id}) {'is revoked' if done.changed else 'was revoked already'}")
    )
    return DONE


def revoke_arguments(parser: argparse.ArgumentParser) -> None:
    """Which one."""
    parser.add_argument("name", help="its name or id")
