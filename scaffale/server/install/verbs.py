"""The verbs of the installer, for all faces: install, uninstall, look. Each answers with a report."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam, ScaffaleError
from scaffale.server.install import files, plan
from scaffale.server.install.clients import CLIENTS, ENTRY, ITEM, KEY, NAME, PROFILES, SKILL, is_ours, rules_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scaffale.server.install.clients import Place, Target
    from scaffale.server.install.plan import Difference, FilePlan


class FileReport(NamedTuple):
    """What became, or would become, of one file: `created`, `changed`, `removed` or `same`. `diff` has credentials masked."""

    path: str
    state: str
    added: tuple[str, ...]
    kept: tuple[str, ...]
    removed: tuple[str, ...]
    conflicts: tuple[Difference, ...]
    diff: str
    backup: str | None
    link: str | None


class Report(NamedTuple):
    """All files of a client. `complete` when nothing of the person's stands in the way; `restart` when the client has to be."""

    client: str
    profile: str | None
    dry_run: bool
    complete: bool
    restart: bool
    files: tuple[FileReport, ...]
    duplicates: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Finding(NamedTuple):
    """What `examine` says of a client: `ok`, `warning` or `wrong`, and what to do about the last two."""

    state: str
    client: str
    finding: str
    advice: str | None = None


def install(
    client: str,
    place: Place,
    *,
    profile: str | None = None,
    force: bool = False,
    dry_run: bool = False,
    rules: str | None = None,
) -> Report:
    """Put what Scaffale needs into a client's configuration. Writes all files or none; with `dry_run` none."""
    row = _client(client)
    if profile is not None and profile not in PROFILES:
        raise InvalidParam(f"profile must be one of: {', '.join(PROFILES)}")
    targets = list(row.targets(place, profile))
    if rules:
        targets.append(rules_target(os.path.abspath(rules)))
    plans = [plan.install(target, force=force) for target in targets]
    warnings = []
    if client == "codex" and profile is None:
        warnings.append(f"no policy was set; --profile {' or --profile '.join(PROFILES)} makes every writing tool ask")
    elif profile and client != "codex":
        warnings.append(f"{row.title} has no such policy: the profile changes nothing there")
    return _carry_out(client, place, profile, plans, dry_run=dry_run, warnings=warnings)


def uninstall(client: str, place: Place, *, dry_run: bool = False, rules: str | None = None) -> Report:
    """Take out what `install` put in, and leave the rest as it is."""
    row = _client(client)
    variants = [list(row.targets(place, profile)) for profile in (None, *PROFILES)]
    if rules:
        for targets in variants:
            targets.append(rules_target(os.path.abspath(rules)))
    plans = [plan.uninstall(same) for same in zip(*variants, strict=True)]
    return _carry_out(client, place, None, plans, dry_run=dry_run, warnings=[])


def _client(name: str) -> Any:  # noqa: ANN401  (a row of the table)
    if name not in CLIENTS:
        raise InvalidParam(f"client must be one of: {', '.join(CLIENTS)}")
    return CLIENTS[name]


def _carry_out(
    client: str, place: Place, profile: str | None, plans: list[FilePlan], *, dry_run: bool, warnings: list[str]
) -> Report:
    from scaffale import secrets

    changes = [files.Change(each.source, each.text, each.obsolete) for each in plans if each.changes]
    for change in changes:
        files.refuse_unwritable(change.source)
    backups = {} if dry_run else files.apply(changes)
    for each in plans:
        if each.state == "removed" and not dry_run:
            _tidy(os.path.dirname(each.source.path))
    reports = tuple(
        FileReport(
            each.source.given, each.state, each.added, each.kept, each.removed, each.conflicts, secrets.mask(each.diff()),
            backups.get(each.source.path), each.source.path if os.path.islink(each.source.given) else None,
        )
        for each in plans
    )  # fmt: skip
    duplicates = [line for each in plans for line in each.duplicates]
    duplicates += _elsewhere(client, place)
    complete = not any(not conflict.forced for each in plans for conflict in each.conflicts)
    return Report(client, profile, dry_run, complete, bool(changes), reports, tuple(duplicates), tuple(warnings))


def _tidy(folder: str) -> None:
    """Remove the folders of the skill that nothing is left in."""
    with suppress(OSError):
        while SKILL in folder.split(os.sep):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _elsewhere(client: str, place: Place) -> Iterator[str]:
    """Where else the client would find our hook or our server, and use it a second time."""
    own = {os.path.realpath(target.file) for target in CLIENTS[client].targets(place, None)}
    for path in CLIENTS[client].elsewhere(place, os.getcwd()):
        if os.path.realpath(path) in own or not os.path.isfile(path):
            continue
        try:
            text = files.read(path).text or ""
        except ScaffaleError:
            continue
        if is_ours(text) or f'"{NAME}"' in text or f"mcp_servers.{NAME}" in text:
            yield f"{path} names {NAME}, too: the client uses both"


# --- looking -------------------------------------------------------------------------------------------------------------


def examine(place: Place) -> Iterator[Finding]:
    """What is off in the configuration of every client that Scaffale was installed into. Writes nothing."""
    for name, row in CLIENTS.items():
        try:
            targets = [target for target in row.targets(place, None) if target.format in ("jsonc", "toml")]
            found = [finding for target in targets for finding in _examine(name, target)]
        except ScaffaleError as error:
            if os.path.exists(targets[0].file):
                yield Finding("warning", name, error.detail, "mend the file; until then nothing can be said of it")
            continue
        if not found:
            continue
        yield from found
        for line in _elsewhere(name, place):
            yield Finding("warning", name, line, "take it out of one of them")
        if name == "codex":
            yield _policy(place)


def _examine(name: str, target: Target) -> Iterator[Finding]:
    """Findings on one file; none at all when nothing of ours is in it."""
    planned = plan.install(target)
    present = [wanted for wanted in target.wanted if wanted.kind in (ENTRY, ITEM) and ".".join(wanted.path) not in planned.added]
    if not present:
        return
    again = f"scaffale install --client {name}"
    differs = {difference.key: difference for difference in planned.conflicts}
    for wanted in target.wanted:
        key = ".".join(wanted.path)
        if key in planned.added and wanted.kind != KEY:
            yield Finding("warning", name, f"{target.file}: {key} is missing", again)
    for key, difference in differs.items():
        yield Finding("warning", name, f"{target.file}: {key} is {plan.shown(difference.has)}", f"{again} --force")
    for line in planned.duplicates:
        yield Finding("warning", name, line, "take out all but one")
    for command in _commands(plan.understood(target)):
        missing = [word for word in command if os.path.isabs(word) and not os.path.exists(word)]
        if missing:
            yield Finding("wrong", name, f"{target.file} runs {missing[0]}, which is not there", f"{again} --force")
    yield Finding("ok", name, target.file)


def _commands(value: object) -> Iterator[list[str]]:
    """The commands of ours in what a file means: of the server, and of hooks."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == NAME and isinstance(inner, dict) and isinstance(inner.get("command"), str):
                yield [inner["command"]]
            else:
                yield from _commands(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _commands(inner)
    elif isinstance(value, str) and is_ours(value):
        yield shlex.split(value, posix=os.name != "nt")


def _policy(place: Place) -> Finding:
    """Which profile Codex follows, as its file has it."""
    row = CLIENTS["codex"]
    for profile in PROFILES:
        planned = plan.install(next(iter(row.targets(place, profile))))
        if not planned.added and not planned.conflicts:
            return Finding("ok", "codex", f"follows the {profile} profile")
    return Finding("warning", "codex", "follows no profile whole", f"scaffale install --client codex --profile {PROFILES[0]}")
