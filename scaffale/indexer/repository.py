"""The Git repository around a folder, read by hand: starting `git` would cost more than a search.

Only what names a repository is read: `.git`, `HEAD`'s being there, `commondir` and the remotes of `config`, without
includes and without the user's own configuration. All of it may be anything: it is somebody else's.
"""

from __future__ import annotations

import os
import re
import time
from typing import NamedTuple

from scaffale import files
from scaffale.errors import ScaffaleError

GIT_MAX_BYTES = 1024 * 1024

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_URL = re.compile(
    r"(?!file:)[a-z][a-z0-9+.-]*://(?:[^/]*@)?(?P<host>\[[^\]/]*\]|[^/:@]+)(?::[0-9]*)?/(?P<path>.*)", re.I | re.S
)
_SCP = re.compile(r"(?![^:]*/)(?:[^@:]*@)?(?P<host>\[[^\]]*\]|[^:\[\]@]+):(?!//)(?P<path>.+)", re.S)
_FILE_URL = re.compile(r"file://[^/]*", re.I)
_SECTION = re.compile(r"""\[\s*remote\s+"((?:\\.|[^"\\])*+)"\s*\]|\[[^\]\n]*\]""", re.I)
_VALUE = re.compile(r"url\s*=\s*(.*)", re.I)
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*+)"|([#;].*)', re.S)

_SETTLED_NS = 2_000_000_000  # a file written less than this ago may change again within one tick of its time stamp
_CACHE_LIMIT = 256


class Repository(NamedTuple):
    """A repository. `top` holds the files; `home` stands for it in all its worktrees; `config` names its remotes."""

    top: str
    home: str
    config: str


_remotes: dict[Repository, tuple[tuple[int, int, int], str | None]] = {}


def around(folder: str) -> Repository | None:
    """The repository that a real path lies in, found by its `.git` folder or file; `None` outside any."""
    top = folder
    while True:
        marker = os.path.join(top, ".git")
        if os.path.exists(marker):
            found = _repository(top, marker)
            if found is not None:
                return found
        above = os.path.dirname(top)
        if above == top:
            return None
        top = above


def remote(repository: Repository) -> str | None:
    """`host/owner/repo` of `origin`, else of the only remote; `None` without one."""
    try:
        info = os.stat(repository.config)
    except OSError:
        return None
    stamp = (info.st_mtime_ns, info.st_size, info.st_ino)
    remembered = _remotes.get(repository)
    if remembered is not None and remembered[0] == stamp:
        return remembered[1]
    text = _small_text(repository.config)
    found = canonical(_remote_url(text), repository.home) if text else None
    if info.st_mtime_ns < time.time_ns() - _SETTLED_NS:
        if len(_remotes) >= _CACHE_LIMIT:
            _remotes.clear()
        _remotes[repository] = (stamp, found)
    return found


def canonical(url: str | None, home: str) -> str | None:
    """`host/owner/repo` for any spelling of a remote: scheme, user, port and `.git` fall away, the host is lower-cased.

    A remote that is a path of this machine gets `localhost` for a host; a relative one starts at `home`.
    """
    if not url:
        return None
    match = _URL.match(url) or _SCP.match(url)
    if match and not (os.name == "nt" and len(match["host"]) == 1):  # there a single letter is a drive
        host, path = match["host"].lower(), match["path"]
    else:
        local = _FILE_URL.sub("", url)
        host, path = "localhost", os.path.abspath(os.path.join(home, local)).replace(os.sep, "/")
    path = path.strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}" if path and not _CONTROL.search(host + path) else None


def _repository(top: str, marker: str) -> Repository | None:
    """What `.git` stands for: the folder itself, or the folder that the file names (a worktree, a submodule)."""
    directory = marker
    if not os.path.isdir(marker):
        text = _small_text(marker)
        if text is None or not text.startswith("gitdir:"):
            return None
        linked = _linked(top, text[len("gitdir:") :])
        if linked is None:
            return None
        directory = linked
    if not os.path.lexists(os.path.join(directory, "HEAD")):
        return None
    home = top
    if directory != marker and (text := _small_text(os.path.join(directory, "commondir"))) is not None:
        common = _linked(directory, text)
        if common is None:
            return None
        directory = common
        home = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return Repository(top, home, os.path.join(directory, "config"))


def _linked(folder: str, text: str) -> str | None:
    """The real path that one of Git's link files names; `None` when it leads to another machine."""
    target = os.path.join(folder, text.strip("\r\n ").split("\n", 1)[0])
    if "\0" in target or (os.name == "nt" and target.replace("/", "\\").startswith("\\\\")):
        return None
    return files.real(target)


def _small_text(path: str) -> str | None:
    """The text of one of Git's files, `None` when there is none that can be read."""
    try:
        return files.read_regular(files.real(path), GIT_MAX_BYTES).decode("utf-8", "replace")
    except (OSError, ScaffaleError, ValueError):
        return None


def _remote_url(config: str) -> str | None:
    """The URL of `origin` in the text of a Git configuration, else of the only remote that has one."""
    urls: dict[str, str] = {}
    name: str | None = None
    for line in config.replace("\\\r\n", "").replace("\\\n", "").split("\n"):
        rest = line.strip()
        if section := _SECTION.match(rest):
            name = section[1]
            rest = rest[section.end() :].strip()
        if name is not None and (value := _VALUE.match(rest)):
            urls.setdefault(name, _unquoted(value[1]))  # of several URLs Git fetches from the first
    if "origin" in urls:
        return urls["origin"]
    return next(iter(urls.values())) if len(urls) == 1 else None


def _unquoted(value: str) -> str:
    """A value of Git's configuration without its quotes, escapes and comment."""
    plain = _QUOTED.sub(lambda part: part[1] or "", value)
    return re.sub(r'\\([\\"])', r"\1", plain).strip()
