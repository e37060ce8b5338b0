"""Commands about the configuration of clients: install, uninstall, skill."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scaffale.errors import InvalidParam
from scaffale.server.cli.commands import DONE, PARTLY

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output
    from scaffale.server.install.clients import Place
    from scaffale.server.install.verbs import Report

    Arguments = argparse.Namespace

CLIENTS = "codex claude-code claude-desktop vscode cursor gemini antigravity windsurf zed".split()
PROFILES = ("prudent", "auditable")


def install_arguments(parser: argparse.ArgumentParser) -> None:
    """What `install` takes."""
    parser.add_argument("--profile", choices=PROFILES, help="the policy for Codex: what asks, which memories it uses")
    parser.add_argument("--force", action="store_true", help="overwrite managed values that differ; nothing else")
    parser.add_argument("--uninstall", action="store_true", help="the same as scaffale uninstall")
    uninstall_arguments(parser)


def uninstall_arguments(parser: argparse.ArgumentParser) -> None:
    """What `uninstall` takes."""
    parser.add_argument("--client", action="append", required=True, choices=CLIENTS, help="the client; repeatable")
    parser.add_argument("--dry-run", action="store_true", help="show the changes, write nothing")
    parser.add_argument("--config", metavar="PATH", help="the client's configuration file, when it is not the usual one")
    parser.add_argument("--rules", metavar="FILE", help="an AGENTS.md, or its like, that shall hold the rules as well")


def install(arguments: Arguments, output: Output) -> int:
    """Put Scaffale into clients, or show how."""
    if arguments.uninstall:
        return uninstall(arguments, output)
    from scaffale.server.install import verbs

    place = _place(arguments)
    return _all(
        output,
        [
            verbs.install(
                client,
                place,
                profile=arguments.profile,
                force=arguments.force,
                dry_run=arguments.dry_run,
                rules=arguments.rules,
            )
            for client in arguments.client
        ],
    )


def uninstall(arguments: Arguments, output: Output) -> int:
    """Take it out."""
    from scaffale.server.install import verbs

    place = _place(arguments)
    return _all(
        output,
        [verbs.uninstall(name, place, dry_run=arguments.dry_run, rules=arguments.rules) for name in arguments.client],
    )


def skill(_arguments: Arguments, output: Output) -> int:
    """Print the skill."""
    from scaffale.server.install.clients import skill_files

    def show(texts: dict[str, str]) -> None:
        for name, text in texts.items():
            output.line(f"--- {name}\n{text}")

    output.answer(skill_files(), show)
    return DONE


def place() -> Place:
    """The person's folder and environment."""
    from scaffale.server.install.clients import Place

    return Place(os.path.expanduser("~"), os.environ)


def _place(arguments: Arguments) -> Place:
    if arguments.config and len(arguments.client) > 1:
        raise InvalidParam("--config names the file of one client: give one --client with it")
    return place()._replace(config=os.path.abspath(arguments.config) if arguments.config else None)


def _all(output: Output, reports: list[Report]) -> int:
    if output.as_json and len(reports) > 1:
        from scaffale.server.render import structured

        output.json({"ok": True, "clients": [structured(report) for report in reports]})
    else:
        for report in reports:
            output.answer(report, lambda report: _show(report, output))
    return DONE if all(report.complete for report in reports) else PARTLY


def _show(report: Report, output: Output) -> None:
    from scaffale.server.install.plan import shown

    profile = f", profile {report.profile}" if report.profile else ""
    output.line(f"{report.client}{profile}{': nothing is written, this is a dry run' if report.dry_run else ''}")
    for file in report.files:
        link = f" (a link to {file.link})" if file.link else ""
        output.line(f"{file.state:8} {file.path}{link}")
        for line in file.diff.splitlines():
            output.line(f"  {line}")
        for word, keys in (("added", file.added), ("removed", file.removed), ("kept", file.kept)):
            if keys and file.state != "same":
                output.line(f"  {word}: {', '.join(keys)}")
        for conflict in file.conflicts:
            verb = "overwritten" if conflict.forced else "kept as it is"
            has, wanted = shown(conflict.has), shown(conflict.wanted)
            output.line(f"  differs, {verb}: {conflict.key} is {has}, installing writes {wanted}")
        if file.backup:
            output.line(f"  backup: {file.backup}")
    for line in report.duplicates:
        output.line(f"twice: {line}")
    if report.restart and not report.dry_run:
        output.line("restart the client: it reads its configuration at the start")
    if not report.complete:
        output.line("values that differ were kept; --force overwrites those that are named above")
