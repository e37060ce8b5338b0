"""The excerpt of a text that shows why it matched, with matches between `>>>` and `<<<`. Pure.

A word matches when its stem is one of the query's. Stems are asked only for words that begin like one, found with
`str.find`, so that a page of long texts costs a fraction of a millisecond. Offsets are characters, never bytes.
Symbols (`C++`) and words with letters that only an engine spells out (`Straße`, `ﬁle`) are looked at one by one.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from scaffale.text import SYMBOLS, fold_in_place, symbols

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

WIDTH = 240
OPEN, CLOSE = ">>>", "<<<"
_LEAD = 40  # characters of context before the first match
_PREFIX = 5
_SCANNED = 20_000  # characters of a text that are looked at
_MATCHES = 60
_BOUNDARY = re.compile(r"[\W_]")
_FOLDED = bytes(ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else ord(" ") for byte in range(256))


class Highlighter:
    """Makes the snippets of one page of results for one query. `stem` gives the index's terms of a word."""

    def __init__(self, stems: Collection[str], stem: Callable[[str], list[str]]) -> None:
        self._stems = frozenset(stems)
        self._stem = stem
        # Stemming may change the last letter (`dry` → `dri`), so that one is not asked of a word.
        prefixes = {stem[: min(_PREFIX, max(1, len(stem) - 1))] for stem in self._stems}
        shortest = [one for one in prefixes if not any(one != other and one.startswith(other) for other in prefixes)]
        self._prefixes = [f" {prefix}" for prefix in shortest]
        self._symbols = self._stems & SYMBOLS
        self._known: dict[str, str | None] = {}
        self._found: dict[str, list[tuple[int, int, str]]] = {}  # by text: a ranking has looked at some before

    def snippet(self, text: str, width: int = WIDTH) -> str:
        """About `width` characters of the text around the best run of matches, or its beginning; one line."""
        matches = self.matches(text)
        start = _best_start(matches, width)
        begin = _word_start(text, max(0, start - _LEAD))
        end = _word_end(text, min(len(text), begin + width))
        pieces, at = [], begin
        for left, right, _ in matches:
            if left >= begin and right <= end:
                pieces += [text[at:left], OPEN, text[left:right], CLOSE]
                at = right
        pieces.append(text[at:end])
        middle = " ".join("".join(pieces).split())
        return f"{'… ' if begin else ''}{middle}{' …' if end < len(text) else ''}"

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """`(start, end, stem)` of each matching word at the beginning of the text, ascending."""
        found = self._found.get(text)
        if found is None:
            found = self._found[text] = self._matches(text)
        return found

    def _matches(self, text: str) -> list[tuple[int, int, str]]:
        haystack = f" {_words_only(text[:_SCANNED])} "
        known = self._known
        found = []
        for prefix in self._prefixes:
            at = haystack.find(prefix)
            left = _MATCHES
            while at >= 0 and left:
                end = haystack.find(" ", at + 1)
                word = haystack[at + 1 : end]
                stem = known[word] if word in known else self._match(word)
                if stem is not None:
                    found.append((at, end - 1, stem))
                    left -= 1
                at = haystack.find(prefix, end)
        if not self._symbols and haystack.isascii():
            return sorted(found)  # each begins like another stem: none can lie in another
        found += self._spelled_out(haystack)
        found += [each for each in symbols(text[:_SCANNED]) if each[2] in self._symbols]
        return _apart(found)

    def _spelled_out(self, haystack: str) -> list[tuple[int, int, str]]:
        """Words whose letters an engine spells out, so that they do not begin like their stems."""
        known = self._known
        found = []
        for match in _letters().finditer(haystack):
            stem = known[match[0]] if match[0] in known else self._match(match[0])
            if stem is not None:
                found.append((match.start() - 1, match.end() - 1, stem))
        return found[:_MATCHES]

    def _match(self, word: str) -> str | None:
        stem = next((stem for stem in self._stem(word) if stem in self._stems), None)
        self._known[word] = stem
        return stem


def _words_only(text: str) -> str:
    """The text folded, with a space for each character that no word has; character for character."""
    if text.isascii():
        return text.encode().translate(_FOLDED).decode()
    return _BOUNDARY.sub(" ", fold_in_place(text))


def marked(snippet: str) -> list[str]:
    """The words of a snippet that match."""
    return [piece.split(CLOSE)[0] for piece in snippet.split(OPEN)[1:]]


@cache
def _letters() -> re.Pattern[str]:
    """A word with a letter that stands for two (`ß`, `æ`, a ligature) or that no accent makes of another (`ø`, `ł`)."""
    return re.compile(r"[^\W_]*[ßæðøþđħıĸłŋœŧ\ufb00-\ufb06][^\W_]*")


def _apart(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """In order, the longest of what begins at the same place, without what lies inside another."""
    kept: list[tuple[int, int, str]] = []
    for each in sorted(found, key=lambda match: (match[0], -match[1])):
        if not kept or each[0] >= kept[-1][1]:
            kept.append(each)
    return kept


def _best_start(matches: list[tuple[int, int, str]], width: int) -> int:
    """Where the window begins that holds most distinct words; the earliest of equals."""
    best, start = 0, 0
    possible = len({stem for _, _, stem in matches})
    for i, (left, _, _) in enumerate(matches):
        if best == possible:
            break
        distinct = {stem for _, right, stem in matches[i:] if right <= left + width - _LEAD}
        if len(distinct) > best:
            best, start = len(distinct), left
    return start


def _word_start(text: str, at: int) -> int:
    while 0 < at < len(text) and text[at - 1].isalnum():
        at -= 1
    return at


def _word_end(text: str, at: int) -> int:
    limit = min(len(text), at + 30)
    while at < limit and text[at - 1].isalnum() and text[at].isalnum():
        at += 1
    return at
