"""Exports as JSON: written with one item a line, read without trust and looked at field by field. Pure.

Refusals are `InvalidParam` or `LimitExceeded`; they say where, and never repeat a value.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam, LimitExceeded, ScaffaleError
from scaffale.text import slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_BYTES = 256 * 1024 * 1024  # of a file, and of all that it unpacks to
LONGEST_NAME = 1000  # of a name as written, before it takes the form in which it is kept
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_TIMES = re.compile(rf"(?:{_TIME.pattern}\n)*{_TIME.pattern}")
_ID = re.compile(r"[\w.:+-]{1,200}")
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

# --- writing -----------------------------------------------------------------------------------------------------------


def written(head: Mapping[str, Any], parts: Mapping[str, Iterable[Mapping[str, Any]]]) -> Iterator[bytes]:
    """The file: the fields of the head, then each part with one item a line."""
    yield ("{\n" + "".join(f"{encode(name)}: {encode(value)},\n" for name, value in head.items())).encode()
    for number, (name, items) in enumerate(parts.items()):
        yield f"{',' if number else ''}{encode(name)}: ".encode()
        yield from lines(items)
    yield b"}\n"


def lines(items: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """The items as an array, one a line."""
    first = True
    yield b"["
    for item in items:
        yield (("\n" if first else ",\n") + encode(item)).encode()
        first = False
    yield b"]\n" if first else b"\n]\n"


# --- reading -----------------------------------------------------------------------------------------------------------



def value(data: bytes, where: str) -> Any:  # noqa: ANN401
    """The JSON value of these bytes, `where` they lie. Infinities and NaN are refused with all else that is no JSON."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise InvalidParam(f"import_path: {where} is not JSON in UTF-8; it may be cut off or damaged") from error


class Table:
    """Items of one kind, looked at field by field: a whole column is checked at once, and the first item that is wrong is
    looked for only when one is."""

    def __init__(self, name: str, items: Any) -> None:  # noqa: ANN401
        if type(items) is not list:
            raise InvalidParam(f"import_path: {name} is missing, or no list")
        self._name = name
        self._items = items
        self.refuse("", [type(item) is not dict for item in items], "is no object")

    def column(self, field: str) -> list[Any]:
        """The values of a field; `None` where it is absent."""
        return [item.get(field) for item in self._items]

    def refuse(self, field: str, wrong: Sequence[bool], what: str, error: type[ScaffaleError] = InvalidParam) -> None:
        """Raise for the first item that is wrong."""
        if True in wrong:
            where = f"{self._name}[{wrong.index(True)}]{f'.{field}' if field else ''}"
            raise error(f"import_path: {where} {what}; nothing was imported")

    def refuse_twice(self, field: str, values: Sequence[object]) -> None:
        """Raise when a value stands in two items."""
        if len(set(values)) != len(values):
            raise InvalidParam(f"import_path: {self._name}: a {field} is there twice; nothing was imported")

    def refuse_longer(self, field: str, values: Sequence[Any], most: int, unit: str = "characters") -> None:
        """Raise for the first text that is longer than that."""
        if values and max(map(len, values)) > most:
            self.refuse(field, [len(value) > most for value in values], f"is longer than {most} {unit}", LimitExceeded)

    def texts(self, field: str, most: int, *, needed: bool = False) -> list[Any]:
        """Texts: of no more characters than that, and Unicode without NUL."""
        values = self.column(field)
        kinds = {str} if needed else {str, type(None)}
        if not set(map(type, values)) <= kinds:
            self.refuse(field, [type(value) not in kinds for value in values], "is missing, or no text")
        if needed and not all(values):
            self.refuse(field, [not value for value in values], "is empty")
        self._check_texts(field, values, most)
        return values

    def ids(self, field: str) -> list[str]:
        """Ids."""
        values = self.texts(field, 200, needed=True)
        if not all(map(_ID.fullmatch, values)):
            self.refuse(field, [not _ID.fullmatch(value) for value in values], "holds other than letters, digits, . : + - _")
        return values

    def names(self, field: str, most: int) -> list[str]:
        """Scopes, topics or tags, in the form in which they are kept."""
        return self._slugs(field, self.texts(field, LONGEST_NAME, needed=True), most)

    def name_lists(self, field: str, most: int, longest: int) -> list[tuple[str, ...]]:
        """Lists of such names, each without repetition."""
        values = [[] if value is None else value for value in self.column(field)]
        if not set(map(type, values)) <= {list}:
            self.refuse(field, [type(value) is not list for value in values], "is no list")
        self.refuse_longer(field, values, most, "items")
        flat = [each for value in values for each in value]
        if not set(map(type, flat)) <= {str}:
            self.refuse(field, [not all(type(each) is str for each in value) for value in values], "holds other than texts")
        self._check_texts(field, flat, LONGEST_NAME)
        known = dict(zip(flat, self._slugs(field, flat, longest), strict=True))
        return [tuple(dict.fromkeys([known[each] for each in value])) for value in values]

    def words(self, field: str, allowed: Sequence[str], default: str | None = None) -> list[str]:
        """Words of a closed vocabulary."""
        values = [default if value is None else value for value in self.column(field)]
        if not set(map(type, values)) <= {str}:
            self.refuse(field, [type(value) is not str for value in values], "is missing, or no text")
        if not set(values) <= set(allowed):
            self.refuse(field, [value not in allowed for value in values], f"is none of {', '.join(allowed)}")
        return values  # type: ignore[return-value]

    def numbers(self, field: str, least: float, most: float, *, whole: bool = False) -> list[Any]:
        """Numbers in a range; `None` where there is none."""
        values = self.column(field)
        given = set(map(type, values)) - {type(None)}
        wrong = [
            value is not None
            and (type(value) not in (int, float) or not least <= value <= most or (whole and value != int(value)))
            for value in (set(values) if given <= {int, float} else values)
        ]
        if True in wrong:
            ok = [value is None or (type(value) in (int, float) and least <= value <= most) for value in values]
            self.refuse(field, [not each for each in ok], f"is no number from {least:g} to {most:g}")
            raise InvalidParam(f"import_path: {self._name}: {field} is no whole number; nothing was imported")
        return values

    def times(self, field: str, *, needed: bool = True) -> list[Any]:
        """Times, as they are kept."""
        values = self.texts(field, 100, needed=needed)
        if needed and _TIMES.fullmatch("\n".join(values)):
            return values
        known = {value: _time(value) if value is not None else None for value in set(values)}
        if any(value is not None and at is None for value, at in known.items()):
            wrong = [value is not None and known[value] is None for value in values]
            self.refuse(field, wrong, "is no time as ISO 8601 writes it")
        return [known[value] for value in values]

    def _check_texts(self, field: str, values: Sequence[str | None], most: int) -> None:
        present = [value for value in values if value]
        if not present:
            return
        if max(map(len, present)) > most:
            self.refuse(field, [bool(value) and len(value) > most for value in values], f"is longer than {most}", LimitExceeded)  # type: ignore[arg-type]
        together = "".join(present)
        if "\0" in together or not _is_unicode(together):
            wrong = [bool(value) and ("\0" in value or not _is_unicode(value)) for value in values]  # type: ignore[operator, arg-type]
            self.refuse(field, wrong, "holds a NUL character, or half of a surrogate pair")

    def _slugs(self, field: str, values: Sequence[str], most: int) -> list[str]:
        known = {value: slug(value) or "" for value in set(values)}
        if not all(0 < len(name) <= most for name in known.values()):
            self.refuse(field, [not known[value] for value in values], "is empty")
            self.refuse(field, [len(known[value]) > most for value in values], f"is longer than {most}", LimitExceeded)
        return [known[value] for value in values]


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _time(value: str) -> str | None:
    if _TIME.fullmatch(value):
        return value
    from datetime import UTC, datetime

    from scaffale.indexer import clock

    try:
        at = datetime.fromisoformat(value)
        return clock.iso(round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000))
    except (ValueError, OverflowError):
        return None
