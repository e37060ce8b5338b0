"""The checklist of a review: what waits, a verdict for each, and the keys that change it. It draws nothing and asks nobody.

All are preselected to be accepted. `Checklist.code` is what a person types to decide exactly so: it depends on every text
that was shown and on every verdict.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scaffale.answers.ledger import Near, Waiting

SHOWN_LINES = 6  # of a text, until its details are opened
CODE_CHARS = 6
KEYS = "j/k or arrows move · space accepts or declines · d details · m merges · l leaves it for later · Enter decides · q quits"
_SIGNS = {"accept": "[x]", "decline": "[ ]", "merge": "[m]", "later": "[-]"}


class Verdict(NamedTuple):
    """What is to be decided upon one thing that waits."""

    waiting: Waiting
    verdict: str
    into: Near | None


class Checklist:
    """One page. `done` is None while keys are awaited, then whether to decide."""

    def __init__(self, page: Sequence[Waiting]) -> None:
        self.done: bool | None = None
        self._page = page
        self._verdicts = ["accept"] * len(page)
        self._into: list[int | None] = [None] * len(page)
        self._open: set[int] = set()
        self._at = 0

    def key(self, key: str) -> None:
        """A key was pressed; unknown ones change nothing."""
        at = self._at
        if key in ("j", "down"):
            self._at = min(at + 1, len(self._page) - 1)
        elif key in ("k", "up"):
            self._at = max(at - 1, 0)
        elif key == " ":
            self._set("decline" if self._verdicts[at] == "accept" else "accept")
        elif key == "l":
            self._set("later")
        elif key == "m":
            self._merge()
        elif key == "d":
            self._open ^= {at}
        elif key in ("enter", "q"):
            self.done = key == "enter"

    def verdicts(self) -> list[Verdict]:
        """What is to be decided, in the order of the page; what is left for later is not among it."""
        return [
            Verdict(each, verdict, None if into is None else each.similar[into])
            for each, verdict, into in zip(self._page, self._verdicts, self._into, strict=True)
            if verdict != "later"
        ]

    def code(self) -> str:
        """What a person types to decide exactly so upon exactly these texts."""
        said = hashlib.sha256()
        for each in self.verdicts():
            into = (each.into.entry_id, each.into.digest) if each.into else ()
            said.update(f"{' '.join((each.waiting.id, each.verdict, each.waiting.digest, *into))}\n".encode())
        return said.hexdigest()[:CODE_CHARS]

    def lines(self) -> Iterator[str]:
        """The page as it stands."""
        for number, each in enumerate(self._page):
            at, sign = ">" if number == self._at else " ", _SIGNS[self._verdicts[number]]
            yield f"{at} {sign} {number + 1}. {' '.join(each.title.split())}  ({each.kind}, {each.origin})"
            text = each.text.splitlines()
            shown = text if number in self._open else text[:SHOWN_LINES]
            yield from (f"        {line}" for line in shown)
            if len(text) > len(shown):
                yield f"        ... {len(text) - len(shown)} more lines: d opens them"
            for place, near in enumerate(each.similar):
                chosen = "merge into" if self._into[number] == place else "beside it"
                why = "cited, " if near.cited else ""
                yield f"        {chosen} {near.display_id} ({why}{near.similarity:.0%} alike): {near.title}"
                if number in self._open or self._into[number] == place:
                    yield from (f"            {line}" for line in near.content.splitlines())
            yield ""

    def unread(self) -> Iterator[str]:
        """The texts that are about to be accepted and were not shown whole, whole."""
        for number, each in enumerate(self._page):
            text = each.text.splitlines()
            if self._verdicts[number] in ("accept", "merge") and number not in self._open and len(text) > SHOWN_LINES:
                yield f"{number + 1}."
                yield from (f"    {line}" for line in text)

    def _set(self, verdict: str, into: int | None = None) -> None:
        self._verdicts[self._at] = verdict
        self._into[self._at] = into

    def _merge(self) -> None:
        """Merge into the concept beside it, the next one at each press; after the last, accept."""
        near = self._page[self._at].similar
        into = self._into[self._at]
        place = 0 if into is None else into + 1
        if place < len(near):
            self._set("merge", place)
        else:
            self._set("accept")
