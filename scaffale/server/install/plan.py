"""Compare what a client shall have with what it has, and make the new texts. Nothing is written here.

What is missing is added; what is there and differs is the person's, and is kept and reported, unless forced; what is not
ours is never touched. Each new text is read again before it is worth anything: it must mean what the old one meant, with
the reported changes and no other.
"""

from __future__ import annotations

import copy
import difflib
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam
from scaffale.server.install import blocks, files, jsonc, toml
from scaffale.server.install.clients import BLOCK, ENTRY, ITEM, KEY, REMOTE, is_ours, starts_us

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.server.install.clients import Target, Wanted
    from scaffale.server.install.files import Source

_MISSING = object()


class Difference(NamedTuple):
    """A managed value that is not as installing would write it. `forced` says whether it was overwritten."""

    key: str
    has: Any
    wanted: Any
    forced: bool


class FilePlan(NamedTuple):
    """What becomes of one file. `text` is the new text, None when the file goes or was never there."""

    source: Source
    text: str | None
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    conflicts: tuple[Difference, ...] = ()
    duplicates: tuple[str, ...] = ()
    obsolete: tuple[str, ...] = ()  # backups that hold nothing else than the new text, or our own

    @property
    def changes(self) -> bool:
        """Whether anything is to be written."""
        return self.text != self.source.text

    @property
    def state(self) -> str:
        """`created`, `changed`, `removed` or `same`."""
        if not self.changes:
            return "same"
        return "created" if self.source.text is None else "removed" if self.text is None else "changed"

    def diff(self) -> str:
        """The change as a unified diff."""
        before, after = (self.source.text or "").splitlines(keepends=True), (self.text or "").splitlines(keepends=True)
        path = self.source.given
        return "".join(
            line if line.endswith("\n") else f"{line}\n"
            for line in difflib.unified_diff(before, after, path, path, n=2)
        )


def install(target: Target, *, force: bool = False) -> FilePlan:
    """The plan of putting what is wanted into a file. Raises `InvalidParam` for a file that cannot be understood."""
    source = files.read(target.file)
    return _planned(source, target, force=force)


def _planned(source: Source, target: Target, *, force: bool) -> FilePlan:
    work = _Work(source.text or "", target, force=force)
    if target.format == "whole":
        work.whole(target.wanted[0], exists=source.text is not None)
    elif target.format == "blocks":
        for wanted in target.wanted:
            work.compare(wanted, wanted.path, work.plain)
    else:
        for wanted in target.wanted:
            work.one(wanted)
    work.check()
    text = work.text if work.text != (source.text or "") else source.text
    return FilePlan(source, text, tuple(work.added), tuple(work.kept), (), tuple(work.conflicts), tuple(work.duplicates))


def understood(target: Target) -> Any:  # noqa: ANN401  (JSON or TOML)
    """What a file means now."""
    return _Work(files.read(target.file).text or "", target, force=False).plain


def uninstall(variants: Sequence[Target]) -> FilePlan:
    """The plan of taking what is ours out of a file, whichever of the variants was put in. When the file is what installing
    made of a backup, it becomes the backup again, byte for byte; else what is ours goes, and keys get the values back that
    they had before."""
    source = files.read(variants[0].file)
    if source.text is None:
        return FilePlan(source, None)
    backups = [files.read(path) for path in files.backups_of(source.path)]
    before = next((backup for backup in backups if not _installed(backup, variants[0])), None)
    work = _Work(source.text, variants[0], force=True)
    for target in variants:
        for wanted in target.wanted:
            work.take_out(wanted, before, known=before is not None or not backups)
    if not work.removed:
        return FilePlan(source, source.text)
    work.check()
    removed = tuple(dict.fromkeys(work.removed))
    if before is not None and any(_made_of(before, source, target) for target in variants):
        return FilePlan(source, before.text, removed=removed, obsolete=tuple(backup.path for backup in backups))
    if not backups and work.is_empty():
        return FilePlan(source, None, removed=removed)
    return FilePlan(source, work.text, removed=removed)


def _made_of(backup: Source, source: Source, target: Target) -> bool:
    """Whether installing into the backup gives the file as it is."""
    try:
        return any(_planned(backup, target, force=force).text == source.text for force in (False, True))
    except InvalidParam:
        return False


def _installed(source: Source, target: Target) -> bool:
    """Whether the server's entry and the hooks that belong into a file are there."""
    try:
        work = _Work(source.text or "", target, force=False)
        if target.format == "whole":
            return bool(work.text == target.wanted[0].value)
        if target.format == "blocks":
            return work.plain is not None
        return all(work.holds(wanted) for wanted in target.wanted if wanted.kind in (ENTRY, ITEM))
    except InvalidParam:
        return False


class _Work:
    """One text on its way. `plain` is what it shall mean in the end, changed in step with it."""

    def __init__(self, text: str, target: Target, *, force: bool) -> None:
        self.text, self.target, self.force = text, target, force
        self.added: list[str] = []
        self.kept: list[str] = []
        self.removed: list[str] = []
        self.conflicts: list[Difference] = []
        self.duplicates: list[str] = []
        self.plain = self._parse()

    def _parse(self) -> Any:  # noqa: ANN401  (JSON, TOML or text)
        try:
            if self.target.format == "toml":
                return toml.parse(self.text)
            if self.target.format == "jsonc":
                plain = jsonc.parse(self.text).plain
                if not isinstance(plain, dict):
                    raise jsonc.Ambiguous("it is no object")
                return copy.deepcopy(plain)
            return blocks.parse(self.text) if self.target.format == "blocks" else self.text
        except ValueError as error:
            raise InvalidParam(f"{self.target.file} cannot be understood, and nothing was written: {error}") from None

    def check(self) -> None:
        """The text means what it shall mean."""
        if self._parse() != self.plain:
            raise InvalidParam(f"{self.target.file} is written in a way that cannot be changed safely; nothing was written")

    def is_empty(self) -> bool:
        """Whether nothing is left in it."""
        return not self.plain and not self.text.replace("{", "").replace("}", "").strip()

    # --- putting in ------------------------------------------------------------------------------------------------------

    def one(self, wanted: Wanted) -> None:
        """One thing that the file shall hold."""
        if wanted.kind == ITEM:
            self.item(wanted)
        elif wanted.kind == ENTRY:
            self.entry(wanted)
        else:
            self.compare(wanted, wanted.path, self.look(wanted.path))

    def compare(self, wanted: Wanted, path: tuple[str | int, ...], has: object, value: object = _MISSING) -> None:
        """Add a value, keep it, or report that it differs."""
        value = wanted.value if value is _MISSING else value
        key = ".".join(str(part) for part in path)
        if has is _MISSING or has is None:
            self.put(path, value)
            self.added.append(key)
        elif has == value:
            self.kept.append(key)
        else:
            self.conflicts.append(Difference(key, has, value, self.force))
            if self.force:
                self.put(path, value)

    def entry(self, wanted: Wanted) -> None:
        """The entry of the server, as one thing: arguments for one command are no good for another."""
        has = self.look(wanted.path)
        key = ".".join(wanted.path)
        if has is _MISSING:
            self.put(wanted.path, wanted.value)
            self.added.append(key)
            return
        if not isinstance(has, dict) or any(name in has for name in REMOTE):
            # Two kinds of server in one entry stop some hosts from starting.
            self.conflicts.append(Difference(key, has, wanted.value, forced=False))
            return
        if has.get("command") != wanted.value["command"] and not self.force:
            self.conflicts.append(Difference(f"{key}.command", has.get("command"), wanted.value["command"], forced=False))
            return
        for name, value in wanted.value.items():
            self.compare(wanted, (*wanted.path, name), has.get(name, _MISSING), value)

    def item(self, wanted: Wanted) -> None:
        """An item of ours in a list that others use as well."""
        items = self.look(wanted.path)
        key = ".".join(wanted.path)
        if items is _MISSING:
            items = []
        if not isinstance(items, list):
            raise InvalidParam(f"{self.target.file}: {key} is no list; nothing was written")
        ours = [number for number, item in enumerate(items) if is_ours(item)]
        if len(ours) > 1:
            self.duplicates.append(f"{key} runs the hook {len(ours)} times in {self.target.file}")
        if not ours:
            self.put((*wanted.path, -1), wanted.value)
            self.added.append(key)
        elif any(items[number] == wanted.value for number in ours):
            self.kept.append(key)
        else:
            self.compare(wanted, (*wanted.path, ours[0]), items[ours[0]])

    def whole(self, wanted: Wanted, *, exists: bool) -> None:
        """A file of ours."""
        self.compare(wanted, wanted.path, self.text if exists else _MISSING)

    def look(self, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401
        """What stands at a path."""
        value = self.plain
        for key in path:
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, dict):
                return _MISSING
            else:
                raise InvalidParam(f"{self.target.file}: {'.'.join(map(str, path))} has no place there; nothing was written")
        return value

    def put(self, path: tuple[str | int, ...], value: object) -> None:
        """Change the text, and what it shall mean."""
        if self.target.format == "whole":
            self.text = self.plain = str(value)
            return
        if self.target.format == "blocks":
            self.text, self.plain = blocks.put(self.text, str(value)), value
            return
        module: Any = toml if self.target.format == "toml" else jsonc
        try:
            self.text = module.put(self.text, path, value)
        except ValueError as error:
            raise InvalidParam(f"{self.target.file} cannot be changed, and nothing was written: {error}") from None
        inner = self.plain
        for key, following in pairwise(path):
            inner = inner.setdefault(key, [] if following == -1 else {}) if isinstance(inner, dict) else inner[key]
        if path[-1] == -1:
            inner.append(copy.deepcopy(value))
        else:
            inner[path[-1]] = copy.deepcopy(value)

    # --- taking out ------------------------------------------------------------------------------------------------------

    def holds(self, wanted: Wanted) -> bool:
        """Whether our entry, or an item of ours, is there in some form."""
        has = self.look(wanted.path)
        return isinstance(has, list) and any(map(is_ours, has)) if wanted.kind == ITEM else starts_us(has)

    def take_out(self, wanted: Wanted, before: Source | None, *, known: bool) -> None:
        """Remove one thing of ours. `before` is the file before it was put in; without it, and unless it is `known` that
        there was none, a key outside our entry is left as it is: it may have been there all along."""
        key = ".".join(wanted.path)
        if self.target.format in ("whole", "blocks"):
            if self.plain is not None and (wanted.kind == BLOCK or self.text == wanted.value):
                self.text = blocks.remove(self.text) if wanted.kind == BLOCK else ""
                self.plain = None if wanted.kind == BLOCK else ""
                self.removed.append(key)
            return
        has = self.look(wanted.path)
        if wanted.kind == ITEM:
            items = has if isinstance(has, list) else []
            for number in reversed([number for number, item in enumerate(items) if is_ours(item)]):
                self.drop((*wanted.path, number))
                self.removed.append(key)
            return
        if has is _MISSING or (wanted.kind == KEY and (has != wanted.value or not known)):
            return
        if wanted.kind == ENTRY and not starts_us(has):
            return  # of our name, and the person's: installing does not touch it, either
        former = _MISSING if before is None else _Work(before.text or "", self.target, force=False).look(wanted.path)
        if former == has:
            return
        if former is _MISSING:
            self.drop(wanted.path)
        else:
            self.put(wanted.path, former)
        self.removed.append(key)

    def drop(self, path: tuple[str | int, ...]) -> None:
        """Remove what stands at a path, and what nothing is left in."""
        module: Any = toml if self.target.format == "toml" else jsonc
        self.text = module.remove(self.text, path)
        containers = [self.plain]
        for key in path[:-1]:
            containers.append(containers[-1][key])
        for container, key in zip(reversed(containers), reversed(path), strict=True):
            del container[key]
            if container:
                break


def shown(value: object) -> str:
    """A value for people."""
    return json.dumps(value, ensure_ascii=False, default=str)
