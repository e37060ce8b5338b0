"""JSON with comments and trailing commas: read strictly, changed in place. Pure.

No library does this for Python 3.11 without a Node runtime (jsonc-edit) or a release in years (json-five). Values are
found with their places in the text, and a change replaces or inserts characters: comments, order and spacing survive, and
removing what was set gives the former text back. A key that stands twice in one object is an error: which one holds is
anybody's guess.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null')
_REMARK = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/)(?=\n)")
MAX_DEPTH = 200


class Ambiguous(ValueError):
    """The text is no JSON with comments, or says two things at once. `str(error)` says what and where."""


class Value(NamedTuple):
    """A value and its place. `plain` is what it is worth; `items` are the members of an object by key, or of an array by
    number: `(start of the key or value, value)`."""

    start: int
    end: int
    plain: Any
    items: dict[Any, tuple[int, Value]]


def parse(text: str) -> Value:
    """The value that a text holds; an empty text holds an empty object. Raises `Ambiguous`."""
    at = _skip(text, 0)
    if at == len(text):
        return Value(at, at, {}, {})
    value = _value(text, at, 0)
    if _skip(text, value.end) != len(text):
        raise _error(text, value.end, "there is more behind the value")
    return value


def _value(text: str, at: int, depth: int) -> Value:
    if depth > MAX_DEPTH:
        raise _error(text, at, "it is nested too deeply")
    if text[at : at + 1] in ("{", "["):
        return _container(text, at, depth)
    found = _SCALAR.match(text, at)
    if not found:
        raise _error(text, at, "a value is expected")
    try:
        return Value(at, found.end(), json.loads(found[0]), {})
    except ValueError:
        raise _error(text, at, "a string holds an escape that there is not") from None


def _container(text: str, start: int, depth: int) -> Value:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    items: dict[Any, tuple[int, Value]] = {}
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        place, key = at, len(items)
        if is_object:
            name = _value(text, at, depth + 1)
            if not isinstance(name.plain, str):
                raise _error(text, at, "a key is expected")
            key = name.plain  # type: ignore[assignment]
            if key in items:
                raise _error(text, at, f"the key {json.dumps(key)} stands twice")
            at = _skip(text, name.end)
            if text[at : at + 1] != ":":
                raise _error(text, at, "a colon is expected")
            at = _skip(text, at + 1)
        value = _value(text, at, depth + 1)
        items[key] = (place, value)
        at = _skip(text, value.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise _error(text, at, f"a comma or {close} is expected")
    worth = {key: item.plain for key, (_, item) in items.items()}
    return Value(start, at + 1, worth if is_object else list(worth.values()), items)


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _error(text: str, at: int, what: str) -> Ambiguous:
    return Ambiguous(f"line {text.count(chr(10), 0, at) + 1}: {what}")


# --- changes -------------------------------------------------------------------------------------------------------------


def put(text: str, path: tuple[str | int, ...], worth: Any) -> str:  # noqa: ANN401  (JSON)
    """The text with a value at a path of keys; objects on the way are made. Number -1 at the end appends to an array."""
    root = parse(text)
    if root.start == root.end:  # nothing there yet
        return (text.rstrip() + "\n" if text.strip() else "") + _render(_nest(path, worth), "", _unit(text)) + "\n"
    value = root
    for depth, key in enumerate(path):
        found = value.items.get(key)
        if found is None:
            if key != -1 and not isinstance(value.plain, dict):
                raise Ambiguous(f"{_name(path[:depth])} is no object")
            return _insert(text, value, key, _nest(path[depth + 1 :], worth))
        value = found[1]
    indent = _indent(text, value.start)
    return text[: value.start] + _render(worth, indent, _unit(text)) + text[value.end :]


def remove(text: str, path: tuple[str | int, ...]) -> str:
    """The text without what stands at a path, and without objects and arrays that nothing is left in. What is not there is
    no error."""
    values = [parse(text)]
    for key in path:
        if key not in values[-1].items:
            return text
        values.append(values[-1].items[key][1])
    depth = len(path) - 1
    while depth and len(values[depth].items) == 1:
        depth -= 1
    return _without(text, values[depth], path[depth])


def _without(text: str, value: Value, key: str | int) -> str:
    keys = list(value.items)
    number = keys.index(key)
    place, gone = value.items[key]
    if len(keys) == 1:
        comma = _skip(text, gone.end)
        after = comma + 1 if text[comma : comma + 1] == "," else gone.end
        inner = text[value.start + 1 : place] + text[after : value.end - 1]
        return text[: value.start + 1] + (inner if inner.strip() else "") + text[value.end - 1 :]
    if number:  # from behind the value before, with the comma between them
        comma = _skip(text, value.items[keys[number - 1]][1].end)
        own = _skip(text, gone.end)
        lead = text[comma + 1 : place].rstrip()
        if text[own : own + 1] == ",":
            return text[: comma + 1] + lead + text[own + 1 :]
        return text[:comma] + lead + text[gone.end :]
    return text[:place] + text[value.items[keys[1]][0] :]


def _insert(text: str, value: Value, key: str | int, worth: Any) -> str:  # noqa: ANN401
    """A new last member, set out as its neighbours are."""
    unit = _unit(text)
    label = "" if isinstance(key, int) else json.dumps(key, ensure_ascii=False) + ": "
    if value.items:
        place, last = list(value.items.values())[-1]
        comma = _skip(text, last.end)
        trailing = text[comma : comma + 1] == ","
        own_line = "\n" in text[value.start : place]
        indent = _indent(text, place) if own_line else ""
        lead = "\n" + indent if own_line else " "
        new = lead + label + _render(worth, indent, unit if own_line else None)
        start = comma + 1 if trailing else last.end
        remark = _REMARK.match(text, start) if own_line else None  # it is of the value before
        behind = remark.end() if remark else start
        head = text[:start] if trailing else text[:start] + ","
        return head + text[start:behind] + new + ("," if trailing else "") + text[behind:]
    outer = _indent(text, value.start)
    inner = text[value.start + 1 : value.end - 1]
    new = f"\n{outer}{unit}{label}{_render(worth, outer + unit, unit)}\n{outer}"
    return text[: value.start + 1] + inner.rstrip() + new + text[value.end - 1 :]


def _nest(path: tuple[str | int, ...], worth: Any) -> Any:  # noqa: ANN401
    for key in reversed(path):
        worth = [worth] if isinstance(key, int) else {key: worth}
    return worth


def _render(worth: Any, indent: str, unit: str | None) -> str:  # noqa: ANN401
    if unit is None:
        return json.dumps(worth, ensure_ascii=False)
    return json.dumps(worth, ensure_ascii=False, indent=unit).replace("\n", "\n" + indent)


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One step of indentation, as the text has it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _name(path: tuple[str | int, ...]) -> str:
    return ".".join(map(str, path)) or "the whole"
