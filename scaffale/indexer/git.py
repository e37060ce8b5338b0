"""Commits of a repository, read with Git itself. Nothing is written, nothing is fetched, nothing of the repository is run.

The repository is somebody else's: what its configuration could start (hooks, pagers, monitors, external diffs) is
switched off, and what a caller names is passed behind `--end-of-options`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from scaffale.errors import InvalidParam, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from subprocess import CompletedProcess

    from scaffale.indexer.repository import Repository

SECONDS = 20
MAX_BYTES = 8 * 1024 * 1024
MOST = 50  # commits of a range
_REVISION = re.compile(r"(?!-)[\w./@{}^~+:=-]{1,200}")
_OFF = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "log.showSignature=false", "diff.external=",
    "protocol.allow=never", "core.untrackedCache=false",
)  # fmt: skip


class Commit(NamedTuple):
    """A commit. `message` is as written, `files` are the paths that it changed, at most a few hundred."""

    id: str
    authored_at: str
    message: str
    files: tuple[str, ...]


def commits(repository: Repository, revision: str, *, single: bool) -> list[Commit]:
    """The commit of a revision, or the newest of a range or branch, newest first, without merges.

    Raises `InvalidParam` for what names no revision or where Git cannot read, `NotFound` for a revision that is not there.
    """
    if not _REVISION.fullmatch(revision) or (single and ".." in revision):
        raise InvalidParam(f"{'rev' if single else 'range'}: is no revision that Git knows; give a commit, a branch or A..B")
    for end in revision.replace("...", "..").split(".."):
        known = _run(repository, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{end or 'HEAD'}^{{commit}}"])
        if known.returncode:
            raise NotFound("git knows no such revision in this repository")
    options = ["--max-count=1"] if single else [f"--max-count={MOST}", "--no-merges"]
    ran = _run(
        repository,
        ["log", "-z", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--encoding=UTF-8",
         "--name-only", "--no-renames", "--format=%x01%H%x02%aI%x02%B%x03", *options, "--end-of-options", revision, "--"],
    )  # fmt: skip
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InvalidParam(f"git cannot read this repository: {said[0][:200] if said else 'no reason given'}")
    text = ran.stdout[:MAX_BYTES].decode("utf-8", "replace")
    return [_commit(part) for part in text.split("\x01")[1:]]


def has_commit(repository: Repository, id: str) -> bool:
    """Whether the commit is reachable from some branch or tag of the repository."""
    ran = _run(repository, ["for-each-ref", "--count=1", "--format=%(refname)", f"--contains={id}"])
    return ran.returncode == 0 and bool(ran.stdout.strip())


def _commit(part: str) -> Commit:
    head, _, names = part.partition("\x03")
    id, at, message = head.split("\x02", 2)
    files = tuple(name.strip("\n") for name in names.split("\0") if name.strip("\n"))
    return Commit(id, at, message.strip("\n"), files[:500])


def _run(repository: Repository, arguments: Sequence[str]) -> CompletedProcess[bytes]:
    import subprocess

    # The folder is named outright: an inherited GIT_DIR must not lead elsewhere.
    where = [f"--git-dir={os.path.join(repository.top, '.git')}", "--no-replace-objects", "--no-optional-locks"]
    command = ["git", *where, *(part for setting in _OFF for part in ("-c", setting)), *arguments]
    try:
        return subprocess.run(  # noqa: S603  (a fixed program, a checked revision)
            command, capture_output=True, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError:
        raise InvalidParam("git is not installed here; commits cannot be read") from None
    except subprocess.TimeoutExpired:
        raise InvalidParam(f"git did not answer within {SECONDS} s; give a narrower range") from None
