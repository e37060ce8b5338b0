"""TOML: read strictly by the standard library, changed in place by tomlkit. Pure.

A change is checked by reading the result again: it must mean what the text meant before, with that change and no other.
"""

from __future__ import annotations

import tomllib
from typing import Any


class Ambiguous(ValueError):
    """The text is no TOML (a table that stands twice, a dotted key against a table, ...). `str(error)` says what and where."""


def parse(text: str) -> dict[str, Any]:
    """What the text means. Raises `Ambiguous`."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Ambiguous(str(error)) from None


def put(text: str, path: tuple[str | int, ...], worth: Any) -> str:  # noqa: ANN401  (TOML)
    """The text with a value at a path of keys; tables on the way are made. Number -1 at the end appends to an array."""
    import tomlkit

    document = tomlkit.parse(text)
    *way, last = path
    table: Any = document
    for depth, key in enumerate(way):
        if key not in table:
            if last == -1 and depth == len(way) - 1:
                array = tomlkit.aot()
                array.append(_table(worth))
                table.append(key, array)
                return _spaced(text, tomlkit.dumps(document))
            table[key] = tomlkit.table(is_super_table=depth < len(way) - 1)
        table = table[key]
        if not isinstance(table, dict) and not (last == -1 and isinstance(table, list)):
            raise Ambiguous(f"{'.'.join(map(str, way[: depth + 1]))} is no table")
        if isinstance(table, tomlkit.items.InlineTable) and (depth < len(way) - 1 or last == -1 or isinstance(worth, dict)):
            name = ".".join(map(str, way[: depth + 1]))
            raise Ambiguous(f"{name} is an inline table, which tables cannot be put into; write it as [{name}]")
    if last == -1:
        table.append(_table(worth) if isinstance(table, tomlkit.items.AoT) else worth)
    else:
        table[last] = worth
    return _spaced(text, tomlkit.dumps(document))


def remove(text: str, path: tuple[str | int, ...]) -> str:
    """The text without what stands at a path, and without tables that nothing is left in. What is not there is no error."""
    import tomlkit

    document = tomlkit.parse(text)
    tables: list[Any] = [document]
    for key in path[:-1]:
        try:
            tables.append(tables[-1][key])
        except (KeyError, IndexError):
            return text
    for table, key in zip(reversed(tables), reversed(path), strict=True):
        try:
            del table[key]
        except (KeyError, IndexError):
            return text
        if len(table):
            break
    return tomlkit.dumps(document)


def _table(worth: dict[str, Any]) -> Any:  # noqa: ANN401
    import tomlkit

    table = tomlkit.table()
    for key, value in worth.items():
        table[key] = _inline(value)
    return table


def _inline(value: Any) -> Any:  # noqa: ANN401
    """Tables in an array stand in one line."""
    import tomlkit

    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return value
    array = tomlkit.array()
    for each in value:
        inline = tomlkit.inline_table()
        inline.update(each)
        array.append(inline)
    return array


def _spaced(before: str, text: str) -> str:
    """With an empty line before each table that is new or has new neighbours, and an end to the last line."""
    known = set(zip(before.split("\n"), before.split("\n")[1:], strict=False))
    lines: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("[") and lines and lines[-1] and not lines[-1].startswith("#") and (lines[-1], line) not in known:
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + text[len(text.rstrip("\n")) :] if text.endswith("\n") else "\n".join(lines) + "\n"
