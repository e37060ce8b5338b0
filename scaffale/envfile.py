"""What a `.env` file says, read by hand: the library for it costs more to import than a whole search.

Syntax and values are those of `python-dotenv` (a test compares the two) without `${...}`: a value that pulls in the
environment has no business in somebody else's file. Nothing goes into the process environment.
"""

from __future__ import annotations

import re

_BINDING = re.compile(
    r"""(?:export[^\S\r\n]+)?+
    (?: '(?P<quoted_key>[^']+)' | (?!')(?P<key>[^=\#\s]++) )
    [^\S\r\n]*+
    (?: =(?P<gap>[^\S\r\n]*+)
        (?: '(?P<single>(?:\\.|[^'\\])*+)' | "(?P<double>(?:\\.|[^"\\])*+)" | (?!['"])(?P<plain>[^\r\n]*+) )
    )?+""",
    re.VERBOSE | re.DOTALL,
)
_BLANK = re.compile(r"(?:\s|\#[^\r\n]*+)*+")
_END = re.compile(r"[^\S\r\n]*+(?:\#[^\r\n]*+)?(?=[\r\n]|\Z)")
_LINE = re.compile(r"[^\r\n]*+")
_COMMENT = re.compile(r"\s+\#.*")
_DOUBLE_ESCAPE = re.compile(r"""\\([\\'"abfnrtv])""")
_SINGLE_ESCAPE = re.compile(r"\\([\\'])")
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def parse(text: str) -> dict[str, str]:
    """Keys and values; of a key said twice the last counts. A line that makes no sense is passed over."""
    found: dict[str, str] = {}
    text = text.removeprefix("\ufeff")
    at = _skip(_BLANK, text, 0)
    while at < len(text):
        binding = _BINDING.match(text, at)
        if binding is None:
            at = _skip(_LINE, text, at)
        elif end := _END.match(text, binding.end()):
            _keep(binding, found)
            at = end.end()
        else:
            at = _skip(_LINE, text, binding.end())
        at = _skip(_BLANK, text, at)
    return found


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _keep(binding: re.Match[str], found: dict[str, str]) -> None:
    key = binding["quoted_key"] or binding["key"]
    if binding["single"] is not None:
        found[key] = _SINGLE_ESCAPE.sub(r"\1", binding["single"])
    elif binding["double"] is not None:
        found[key] = _DOUBLE_ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), binding["double"])
    elif binding["plain"] is not None:
        only_comment = binding["gap"] and binding["plain"].startswith("#")
        found[key] = "" if only_comment else _COMMENT.sub("", binding["plain"]).rstrip()
    else:
        found.pop(key, None)  # a key without `=` has no value
