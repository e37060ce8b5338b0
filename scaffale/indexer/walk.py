"""A folder → the Markdown files in it, lazily and in order. It reads names, numbers and ignore files, no document.

Rules of this file: it never leaves the root and never waits; what it meets and does not take, it names with the reason;
`.gitignore` and ignore globs have the meaning that Git gives them, and cost nothing where there are none. Paths are
joined as text: `realpath` is asked for links only, or a scan would cost ten times the `stat` of its files.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, NamedTuple

from scaffale import files
from scaffale.errors import InvalidParam, ScaffaleError
from scaffale.model import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pathspec import GitIgnoreSpec

SUFFIXES = (".md", ".markdown", ".mdx")
_NEVER_ENTERED = "node_modules"
_IGNORE_FILE = ".gitignore"
_IGNORE_FILE_BYTES = 1024 * 1024
_ANYWHERE = "^(?:.+/)?"  # how a pattern without a slash begins as a regular expression


class Folder(NamedTuple):
    """One folder's Markdown files by path, each with what the file system says of it, and what was not taken."""

    files: list[tuple[str, os.stat_result]]
    skips: list[Skip]


class _Patterns(NamedTuple):
    """Ignore patterns. `any` matches whatever one of them matches: most paths are settled by this one question."""

    spec: GitIgnoreSpec
    any: re.Pattern[str]


class _Rules(NamedTuple):
    """The ignore file of a folder, and those above it. The nearest that has an opinion decides."""

    base: int  # length of the folder's path with its separator
    patterns: _Patterns
    above: _Rules | None


class _Place(NamedTuple):
    """A folder to list: as we name it, and where it really lies."""

    path: str
    real: str
    rules: _Rules | None


def is_markdown(path: str) -> bool:
    """Whether the name says so."""
    return path.lower().endswith(SUFFIXES)


def walk(
    root: str, *, recursive: bool = True, respect_gitignore: bool = True, ignore: Sequence[str] = ()
) -> Iterator[Folder]:
    """The Markdown files below `root`, a real path, folder by folder; dot-folders and `node_modules` are left out.

    `ignore` holds patterns of the `.gitignore` kind, relative to the root. A link is followed when it stays inside the
    root and leads to what is not scanned anyway; links come last. Raises `InvalidParam` for a pattern that is none.
    """
    return _Walk(root, recursive, respect_gitignore, ignore).run()


def check_patterns(ignore: Sequence[str]) -> None:
    """Raise `InvalidParam` when one of them is no pattern."""
    _compile(ignore)


class _Walk:
    def __init__(self, root: str, recursive: bool, respect_gitignore: bool, ignore: Sequence[str]) -> None:
        self._root = root
        self._recursive = recursive
        self._respect = respect_gitignore
        self._own = _Rules(_base(root), _compile(ignore), None) if ignore else None
        self._seen: set[str] = set()  # real paths of files taken
        self._listed: set[str] = set()  # real paths of folders listed
        self._links: list[_Place] = []

    def run(self) -> Iterator[Folder]:
        yield from self._below(_Place(self._root, self._root, _rules_above(self._root) if self._respect else None))
        while self._links:
            links, self._links = sorted(self._links), []
            for link in links:
                yield from self._follow(link)

    def _below(self, place: _Place) -> Iterator[Folder]:
        stack = [place]
        while stack:
            place = stack.pop()
            if place.real in self._listed:
                continue
            self._listed.add(place.real)
            subfolders: list[_Place] = []
            yield self._list(place, subfolders)
            subfolders.sort(reverse=True)
            stack += subfolders

    def _list(self, place: _Place, subfolders: list[_Place]) -> Folder:
        skips: list[Skip] = []
        try:
            with os.scandir(place.path) as listing:
                entries = list(listing)
        except OSError as error:
            return Folder([], [skip(place.path, f"the folder cannot be read: {error.strerror}")])
        rules = self._rules(place, entries, skips)
        checked = rules is not None or self._own is not None
        linked = place.real != place.path
        found: list[tuple[str, os.stat_result]] = []
        for entry in entries:
            name = entry.name
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder:
                    if not self._recursive or name[0] == "." or name == _NEVER_ENTERED:
                        continue
                elif not name.lower().endswith(SUFFIXES) and not self._is_folder_link(entry):
                    continue
                if checked and self._ignored(entry.path, is_folder, rules):
                    continue
                if not name.isascii() and not is_unicode(name):
                    skips.append(skip(entry.path, "its name is not valid UTF-8"))
                elif is_folder:
                    real = os.path.join(place.real, name) if linked else entry.path
                    subfolders.append(_Place(entry.path, real, rules))
                elif entry.is_file(follow_symlinks=False):
                    found.append((entry.path, _stat(entry)))
                elif entry.is_symlink():
                    self._links.append(_Place(entry.path, "", rules))
                else:
                    kind = files.describe(entry.stat(follow_symlinks=False).st_mode)
                    skips.append(skip(entry.path, f"it is {kind}, not a regular file"))
            except OSError as error:
                skips.append(skip(entry.path, f"it cannot be examined: {error.strerror}"))
        found.sort()
        if linked:
            found = [each for each in found if os.path.join(place.real, os.path.basename(each[0])) not in self._seen]
            self._seen.update([os.path.join(place.real, os.path.basename(path)) for path, _ in found])
        else:
            self._seen.update([path for path, _ in found])
        return Folder(found, skips)

    def _is_folder_link(self, entry: os.DirEntry[str]) -> bool:
        if not self._recursive or not entry.is_symlink() or entry.name[0] == "." or entry.name == _NEVER_ENTERED:
            return False
        try:
            return entry.is_dir()
        except OSError:
            return False

    def _follow(self, link: _Place) -> Iterator[Folder]:
        reason = ""
        real = files.real(link.path)
        if not files.is_inside(real, self._root):
            reason = "it is a link that leaves the scanned folder"
        else:
            try:
                info = os.stat(link.path)
            except FileNotFoundError:
                reason = "it is a link to nothing"
            except OSError as error:
                reason = f"it is a link that cannot be followed: {error.strerror}"
        if not reason:
            if stat.S_ISDIR(info.st_mode):
                if real not in self._listed:
                    yield from self._below(_Place(link.path, real, link.rules))
                    return
                reason = "it is a link to a folder that is scanned where it lies"
            elif not stat.S_ISREG(info.st_mode):
                reason = f"it is a link to {files.describe(info.st_mode)}, not to a regular file"
            elif real in self._seen:
                reason = "it is a link to a file that is scanned where it lies"
        if reason:
            yield Folder([], [skip(link.path, reason)])
        else:
            self._seen.add(real)
            yield Folder([(link.path, info)], [])

    def _rules(self, place: _Place, entries: list[os.DirEntry[str]], skips: list[Skip]) -> _Rules | None:
        if not self._respect or not any(entry.name == _IGNORE_FILE for entry in entries):
            return place.rules
        try:
            return _rules_of(place.path, place.real, place.rules)
        except (OSError, ScaffaleError) as error:
            path = os.path.join(place.path, _IGNORE_FILE)
            skips.append(skip(path, f"its rules do not apply, since it cannot be read: {_cause(error)}"))
            return place.rules

    def _ignored(self, path: str, is_folder: bool, rules: _Rules | None) -> bool:
        if self._own is not None:
            verdict = _verdict(self._own, path, is_folder)
            if verdict is not None:
                return verdict
        return _is_ignored(rules, path, is_folder)


def skip(path: str, reason: str) -> Skip:
    """A `Skip` whose path can be shown, whatever bytes the name is made of."""
    return Skip(path.encode("utf-8", "backslashreplace").decode(), reason)


# --- ignore files --------------------------------------------------------------------------------------------------


def _is_ignored(rules: _Rules | None, path: str, is_folder: bool) -> bool:
    while rules is not None:
        verdict = _verdict(rules, path, is_folder)
        if verdict is not None:
            return verdict
        rules = rules.above
    return False


def _verdict(rules: _Rules, path: str, is_folder: bool) -> bool | None:
    """Ignored, kept, or no opinion."""
    relative = path[rules.base :].replace(os.sep, "/") + ("/" if is_folder else "")
    return rules.patterns.spec.check_file(relative).include if rules.patterns.any.match(relative) else None


def _rules_above(root: str) -> _Rules | None:
    """The ignore files between the top of the repository and `root`. None apply when they ignore the root itself: who
    names an ignored folder wants it."""
    above = [root]
    while not os.path.lexists(os.path.join(above[-1], ".git")):
        parent = os.path.dirname(above[-1])
        if parent == above[-1]:
            return None  # in no repository
        above.append(parent)
    rules = None
    for folder in reversed(above[1:]):
        try:
            rules = _rules_of(folder, folder, rules)
        except (OSError, ScaffaleError):
            continue  # most folders have none
    return None if _is_ignored(rules, root, True) else rules


def _rules_of(folder: str, real: str, above: _Rules | None) -> _Rules:
    data = files.read_regular(os.path.join(real, _IGNORE_FILE), _IGNORE_FILE_BYTES)
    lines = data.decode("utf-8-sig", "surrogateescape").splitlines()
    return _Rules(_base(folder), _compile_what_is_valid(lines), above)


def _compile(lines: Sequence[str]) -> _Patterns:
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError as error:
        raise InvalidParam(f"ignore: {error}; patterns are those of .gitignore files") from error
    return _Patterns(spec, _any_of([pattern.regex.pattern for pattern in spec.patterns if pattern.regex]))


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    """One expression for all. Taking their common beginning out of the brackets makes it ten times faster."""
    unnamed = [re.sub(r"\(\?P<\w+>", "(?:", pattern) for pattern in patterns]
    anywhere = [pattern.removeprefix(_ANYWHERE) for pattern in unnamed if pattern.startswith(_ANYWHERE)]
    rest = [pattern for pattern in unnamed if not pattern.startswith(_ANYWHERE)]
    rest = [pattern if pattern.startswith("^") else f"(?s:.*?){pattern}" for pattern in rest]
    if anywhere:
        rest.append(f"{_ANYWHERE}(?:{'|'.join(anywhere)})")
    return re.compile("|".join(rest) or r"(?!)")


def _compile_what_is_valid(lines: Sequence[str]) -> _Patterns:
    try:
        return _compile(lines)
    except InvalidParam:
        return _compile([line for line in lines if _is_valid(line)])


def _is_valid(pattern: str) -> bool:
    try:
        _compile([pattern])
    except InvalidParam:
        return False
    return True


def _base(folder: str) -> int:
    return len(folder) if folder.endswith(os.sep) else len(folder) + 1


# --- names and numbers ---------------------------------------------------------------------------------------------


def _stat(entry: os.DirEntry[str]) -> os.stat_result:
    # On Windows a listing holds no inode.
    return os.stat(entry.path) if os.name == "nt" else entry.stat(follow_symlinks=False)


def is_unicode(name: str) -> bool:
    """Whether the name, as the system gave it, is made of characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _cause(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
