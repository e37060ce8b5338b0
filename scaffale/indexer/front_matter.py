"""The YAML between `---` lines at the top of a document, as far as a shelf needs it: title, tags, aliases. Pure.

A tolerant reader of the few forms that people write; a library for all of YAML would be the slowest import of the
house, and some of what is between those lines is no YAML at all. What it does not understand it passes over. TOML
between `+++` lines is recognised and not read.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_YAML = re.compile(r"---[ \t]*\r?\n(?:(?P<block>.*?)\n)??(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(?:.*?\n)??\+\+\+[ \t]*\r?(?:\n|\Z)", re.DOTALL)
_HAS_KEY = re.compile(r"""(?:\s*\#[^\n]*\n)*\s*(?:(?:"[^"\n]+"|'[^'\n]+'|[^\s\#"'-][^\s]*)[ \t]*:(?:\s|\Z)|\Z)""")
_KEY = re.compile(r"[\"']?(title|tags|aliases)[\"']?[ \t]*:(?:[ \t]+|\Z)(.*)\Z", re.IGNORECASE)
_CONTINUES = re.compile(r"[ \t]|-(?:[ \t]|\Z)|\Z|\]")
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+|\Z)(.*)\Z")
_FLOW_ITEM = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\]]*)[^,\]]*(,|\]|\Z)""")
_COMMENT = re.compile(r"(?:\A|\s)#.*", re.DOTALL)
_NOTHING = ("", "~", "null")


class FrontMatter(NamedTuple):
    """What it says, and the offset at which it ends: 0 when there is none."""

    end: int = 0
    title: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


def read(text: str) -> FrontMatter:
    """The front matter of a text whose lines end with LF or CRLF."""
    if not text.startswith(("---", "+++")):
        return FrontMatter()
    toml = _TOML.match(text)
    if toml:
        return FrontMatter(toml.end())
    yaml = _YAML.match(text)
    block = (yaml["block"] or "") if yaml else ""
    if not yaml or not _HAS_KEY.match(block):
        return FrontMatter()  # a rule across the page, and prose after it
    values = _values(block)
    title = " ".join(_items(*values["title"], split=False)) if "title" in values else ""
    tags = [tag.removeprefix("#") for tag in _items(*values["tags"])] if "tags" in values else []
    aliases = _items(*values["aliases"]) if "aliases" in values else []
    return FrontMatter(yaml.end(), title, tuple(tags), tuple(aliases))


def _values(block: str) -> dict[str, tuple[str, list[str]]]:
    """For each key that we know: what follows it on its line, and the lines that belong to it."""
    values: dict[str, tuple[str, list[str]]] = {}
    more: list[str] = []
    for line in block.replace("\r", "").split("\n"):
        if _CONTINUES.match(line):
            more.append(line)
            continue
        more = []
        key = _KEY.match(line)
        if key:
            values[key[1].lower()] = (key[2].strip(), more)
    return values


def _items(first: str, more: list[str], *, split: bool = True) -> list[str]:
    """The value as a list of texts: a flow list, a block list, or a scalar (`split` at commas), folded to one line."""
    if first.startswith("["):
        return _flow_list(" ".join([first, *more])[1:])
    if _COMMENT.match(first):
        first = ""
    items = [item[1] for item in map(_ITEM.match, more) if item]
    if not first and items:
        return _spoken(items)
    first = "" if first[:1] in ("|", ">") else first
    whole = " ".join(part for part in (first, *(line.strip() for line in more)) if part)
    plain = split and whole[:1] not in ('"', "'")
    return _spoken(_COMMENT.sub("", whole).split(",") if plain else [whole])


def _flow_list(text: str) -> list[str]:
    items: list[str] = []
    for item in _FLOW_ITEM.finditer(text):
        items.append(item[1])
        if item[2] != ",":
            break
    return _spoken(items)


def _spoken(items: list[str]) -> list[str]:
    return [text for text in map(_scalar, items) if text]


def _scalar(text: str) -> str:
    text = text.strip()
    if text.startswith('"'):
        return _double_quoted(text)
    if text.startswith("'"):
        quoted = re.match(r"'((?:[^']|'')*)'", text)
        return (quoted[1] if quoted else text[1:]).replace("''", "'").strip()
    text = _COMMENT.sub("", text).strip()
    return "" if text.lower() in _NOTHING else text


def _double_quoted(text: str) -> str:
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    inner = quoted[1] if quoted else text[1:]
    try:
        spoken = json.loads(f'"{inner}"', strict=False)
    except ValueError:
        spoken = inner.replace('\\"', '"')
    # An escape can name half a surrogate pair, which no store can hold.
    return str(spoken).encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
