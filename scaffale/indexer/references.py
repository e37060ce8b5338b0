"""Explicit references: what a Markdown text leads to, and which document of a set that is. Pure.

A reference that fits several documents equally well is ambiguous: it is said so, and nobody guesses.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ENDINGS = (".md", ".markdown", ".mdx")
INDEXES = ("index", "readme", "_index")  # what a link to a folder means
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_INLINE = re.compile(r"\]\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+[\"'(][^\n]*?)?\s*\)")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*(?:<([^<>\n]*)>|(\S+))", re.MULTILINE)
_WIKI = re.compile(r"\[\[([^\[\]|#\n]*)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_HTML = re.compile(r"<a\s[^>]*?href=[\"']([^\"'>\n]+)", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/.\\:%-])(?:[\w.%@+-]+[/\\])*[\w.%@+-]+\.(?:md|markdown|mdx)\b", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:|//", re.IGNORECASE)


class Target(NamedTuple):
    """A document that may be meant. `root` is the folder that was scanned, `path` the file; both absolute."""

    id: int
    shelf_id: int
    path: str
    root: str
    title: str
    aliases: tuple[str, ...] = ()


class Found(NamedTuple):
    """Which documents a text leads to, ascending, and the references that fit several."""

    ids: tuple[int, ...]
    ambiguous: tuple[str, ...]


class Map:
    """The documents that references may mean."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._by_path: dict[str, list[Target]] = defaultdict(list)
        self._by_name: dict[str, list[Target]] = defaultdict(list)
        self._by_title: dict[str, list[Target]] = defaultdict(list)
        for target in targets:
            path = _key(target.path)
            self._by_path[path].append(target)
            self._by_name[posixpath.basename(path)].append(target)
            for title in {target.title.casefold(), *(alias.casefold() for alias in target.aliases)}:
                self._by_title[title].append(target)

    def references(self, source: Target, text: str) -> Found:
        """What the text of the source leads to; links to itself, to the web and to nothing known are left out."""
        found: set[int] = set()
        ambiguous: dict[str, None] = {}
        prose = _CODE.sub(" ", _FENCE.sub("\n", text))
        asked = [(written, self._of_link(source, written)) for written in _links(prose)]
        asked += [(written, self._of_wiki(source, written)) for written in dict.fromkeys(_WIKI.findall(prose))]
        asked += [(written, self._of_link(source, written)) for written in dict.fromkeys(_PATH.findall(text))]
        for written, those in asked:
            if len(those) == 1:
                found.add(those[0].id)
            elif those:
                ambiguous[written] = None
        return Found(tuple(sorted(found - {source.id})), tuple(ambiguous))

    def meant(self, source: Target, written: str) -> Sequence[Target]:
        """The documents that one reference of the source may mean: none, one, or several when it is ambiguous."""
        return self._of_link(source, written) or self._of_wiki(source, written)

    def _of_link(self, source: Target, written: str) -> Sequence[Target]:
        from urllib.parse import unquote

        path = unquote(written.split("#", 1)[0].split("?", 1)[0]).replace("\\", "/").strip()
        if not path or "\0" in path:
            return ()
        base = source.root if path.startswith("/") else posixpath.dirname(_slashes(source.path))
        whole = posixpath.normpath(posixpath.join(_slashes(base), path.lstrip("/")))
        those = self._at(whole, source) or self._at(posixpath.normpath(path), source)
        return those or self._moved(path, source)

    def _at(self, whole: str, source: Target) -> Sequence[Target]:
        stem = _key(whole)
        tries = [stem, *(stem + ending for ending in ENDINGS)]
        tries += [f"{stem}/{name}{ending}" for name in INDEXES for ending in ENDINGS]
        for each in tries:
            if each in self._by_path:
                return _nearest(self._by_path[each], source)
        return ()

    def _moved(self, path: str, source: Target) -> Sequence[Target]:
        """Documents of that file name: those whose path ends as the reference does, if any do."""
        parts = [part for part in _key(path).split("/") if part not in ("", ".", "..")]
        if not parts or not parts[-1].endswith(ENDINGS):
            return ()
        those = self._by_name.get(parts[-1], [])
        for length in range(len(parts), 0, -1):
            ending = "/" + "/".join(parts[-length:])
            fitting = [each for each in those if _key(each.path).endswith(ending)]
            if fitting:
                return _nearest(fitting, source)
        return ()

    def _of_wiki(self, source: Target, written: str) -> Sequence[Target]:
        name = written.strip().casefold()
        if not name:
            return ()
        those = self._by_title.get(name, []) if "/" not in name else []
        if not those:
            whole = name if name.endswith(ENDINGS) else f"{name}.md"
            files = [f"{name}{ending}" for ending in ENDINGS] if whole != name else [name]
            for each in files:
                ending = "/" + each.lstrip("/")
                those = [t for t in self._by_name.get(posixpath.basename(each), []) if _key(t.path).endswith(ending)]
                if those:
                    break
        return _nearest(those, source)


def _links(prose: str) -> Iterable[str]:
    """The targets written in links of the text, without those of the web."""
    written = [one or other for pattern in (_INLINE, _DEFINITION) for one, other in pattern.findall(prose)]
    return dict.fromkeys(each for each in written + _HTML.findall(prose) if each and not _SCHEME.match(each))


def _nearest(those: Sequence[Target], source: Target) -> Sequence[Target]:
    """Those of the source's own shelf when there are any; a shelf's own documents go before those of others."""
    own = [each for each in those if each.shelf_id == source.shelf_id]
    return own or those


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def _key(path: str) -> str:
    return _slashes(path).casefold()
