"""The arguments of a call, checked against the very schema that the client was shown.

Rules of this file: one schema, compiled once, is both the promise and the check; nothing else is accepted. A value
comes out as the verb takes it (arrays as tuples, `3.0` as `3`), and `null` counts as absent. An error names the
argument and what it takes; it never repeats a value, since any argument may hold a secret.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import InvalidParam, LimitExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    Check = Callable[[str, Any], Any]  # (where, value) -> the value as the verb takes it

LONGEST_TEXT = 1_048_576  # characters; the halls have narrower limits of their own
LONGEST_LIST = 1_000
WIDEST_INTEGER = 2**53 - 1  # what every JSON client can write exactly

_KINDS = {type(None): "null", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}


class Arguments:
    """One input schema, compiled. Calling it gives the checked arguments that were present, and nothing more.

    `text_too` names array arguments that also take a plain string, which is left one.
    """

    def __init__(self, schema: Mapping[str, Any], *, text_too: Collection[str] = ()) -> None:
        properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
        self.names = tuple(properties)
        self._checks = {name: _compiled(rule) for name, rule in properties.items()}
        self._required = tuple(schema.get("required", ()))
        for name in text_too:
            self._checks[name] = partial(_array_or_text, self._checks[name])

    def __call__(self, given: Mapping[str, Any] | None, where: str = "") -> dict[str, Any]:
        """The checked arguments. Raises `InvalidParam` or `LimitExceeded`, naming the argument."""
        checked = {}
        checks = self._checks
        for name, value in (given or {}).items():
            check = checks.get(name)
            if check is None:
                raise InvalidParam(f"{where}{_unknown(name, self.names)}")
            if value is not None:
                checked[name] = check(where + name, value)
        require(self._required, checked, where=where)
        return checked


def require(names: Collection[str], present: Collection[str], *, where: str = "", by: str = "") -> None:
    """Raise `InvalidParam` for the first of the names that is not present. `by` says who requires it."""
    for name in names:
        if name not in present:
            raise InvalidParam(f"{where}{name}: required{by}")


# --- one check for each kind of schema ------------------------------------------------------------------------------


def _compiled(rule: Mapping[str, Any]) -> Check:
    kind = rule["type"]
    if kind == "string":
        return partial(_choice, tuple(rule["enum"])) if "enum" in rule else _text
    if kind == "boolean":
        return _boolean
    if kind == "integer":
        return partial(_integer, _Range.of(rule))
    if kind == "number":
        return partial(_number, _Range.of(rule))
    if kind == "array":
        return partial(_array, _compiled(rule["items"]), rule.get("maxItems", LONGEST_LIST))
    if kind == "object":
        return partial(_object, Arguments(rule)) if "properties" in rule else _open_object
    raise ValueError(f"no check for schema type {kind!r}")


class _Range(NamedTuple):
    least: float
    most: float

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> _Range:
        return cls(rule.get("minimum", -WIDEST_INTEGER), rule.get("maximum", WIDEST_INTEGER))

    def check(self, where: str, value: float) -> None:
        if not self.least <= value <= self.most:  # also refuses NaN
            at_most = "" if self.most == WIDEST_INTEGER else f" and at most {self.most:g}"
            raise InvalidParam(f"{where}: must be a number, at least {self.least:g}{at_most}")


_ANY = _Range(-WIDEST_INTEGER, WIDEST_INTEGER)


def _text(where: str, value: object) -> str:
    if type(value) is not str:
        raise _wrong(where, "a string", value)
    if len(value) > LONGEST_TEXT:
        raise LimitExceeded(f"{where}: has {len(value)} characters; at most {LONGEST_TEXT} are taken")
    if "\0" in value:
        raise InvalidParam(f"{where}: holds a NUL character; remove it")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidParam(f"{where}: holds half of a surrogate pair, which is not Unicode text") from None
    return value


def _choice(allowed: tuple[str, ...], where: str, value: object) -> str:
    if type(value) is not str:
        raise _wrong(where, "a string", value)
    if value not in allowed:
        raise InvalidParam(f"{where}: must be one of {', '.join(allowed)}")
    return value


def _boolean(where: str, value: object) -> bool:
    if type(value) is not bool:
        raise _wrong(where, "true or false", value)
    return value


def _integer(range: _Range, where: str, value: object) -> int:
    if type(value) is float and value.is_integer():
        range.check(where, value)
        return int(value)
    if type(value) is not int:
        raise _wrong(where, "an integer", value)
    range.check(where, value)
    return value


def _number(range: _Range, where: str, value: object) -> float:
    if type(value) is not int and type(value) is not float:
        raise _wrong(where, "a number", value)
    range.check(where, value)
    return float(value)


def _array(item: Check, most: int, where: str, value: object) -> tuple[Any, ...]:
    if type(value) is not list:
        raise _wrong(where, "an array", value)
    if len(value) > most:
        raise LimitExceeded(f"{where}: has {len(value)} items; at most {most} are taken")
    return tuple([item(f"{where}[{index}]", each) for index, each in enumerate(value)])


def _array_or_text(array: Check, where: str, value: object) -> object:
    return _text(where, value) if type(value) is str else array(where, value)


def _object(arguments: Arguments, where: str, value: object) -> dict[str, Any]:
    if type(value) is not dict:
        raise _wrong(where, "an object", value)
    return arguments(value, f"{where}.")


def _open_object(where: str, value: object) -> dict[str, Any]:
    """An object whose schema names no properties: the verb says which it takes. Their values are plain, or arrays of such."""
    if type(value) is not dict:
        raise _wrong(where, "an object", value)
    return {name: _flat(f"{where}.{_shown(name)}", each) for name, each in value.items() if each is not None}


def _flat(where: str, value: object) -> object:
    return _array(_plain, LONGEST_LIST, where, value) if type(value) is list else _plain(where, value)


def _plain(where: str, value: object) -> object:
    if type(value) is str:
        return _text(where, value)
    if type(value) is bool:
        return value
    if isinstance(value, float) and not value.is_integer():
        return _number(_ANY, where, value)
    if isinstance(value, int | float):
        return _integer(_ANY, where, value)
    raise _wrong(where, "a string, a number or a boolean", value)


# --- what to say ----------------------------------------------------------------------------------------------------


def _wrong(where: str, wanted: str, value: object) -> InvalidParam:
    return InvalidParam(f"{where}: must be {wanted}, not {_KINDS.get(type(value), 'a number')}")


def _shown(name: str) -> str:
    return ascii(_short(name))[1:-1]


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:40] + "..."


def _unknown(name: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    shown = ascii(_short(name))
    close = get_close_matches(name[:40], known, 1)
    if close:
        return f"unknown argument {shown}; did you mean {close[0]}?"
    return f"unknown argument {shown}; known are: {', '.join(known) or 'none'}"
