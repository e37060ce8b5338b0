"""Which known terms a word may have been meant for: one that is spelled nearly so, or several that it was joined from.

The distance is optimal string alignment (Damerau 1964, each piece edited once). Index terms are stems, so a term may lack
the ending of the word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

CLOSEST = 3
ENDING = 0.3  # of an edit, for each letter that the word has beyond the term, or the term beyond the word
LONGEST_ENDING = 4
SHORTENED = 0.6  # of the word's letters, which a term must have more than
SHORTEST = 3  # letters; less is not guessed at


def closest(forms: Sequence[str], terms: Iterable[str], n: int = CLOSEST) -> list[str]:
    """The terms that are nearest to one of the forms of a word, the nearest first, none that would take more than a third
    of its letters."""
    found = []
    for term in terms:
        near = [form for form in forms if abs(len(term) - len(form)) <= LONGEST_ENDING]
        if len(term) >= SHORTEST and len(term) > SHORTENED * len(forms[0]) and near:
            cost = min(distance(form, term) for form in near)
            if cost <= max(1.0, len(forms[0]) / 3):
                found.append((cost, term))
    best = min(found, default=(0.0, ""))[0]
    return [term for cost, term in sorted(found) if cost <= best + 0.5][:n]


def distance(word: str, term: str) -> float:
    """Edits from the word, or from a beginning of it, to the term, or to a beginning of it; endings cost little."""
    before: list[float] = []
    row = [float(i) for i in range(len(term) + 1)]
    ends = [row[-1] + ENDING * len(word)]
    for i, letter in enumerate(word, 1):
        previous, row = row, [float(i)]
        for j, other in enumerate(term, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == term[j - 2] and other == word[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before = previous
        if len(word) - i <= LONGEST_ENDING:
            ends.append(row[-1] + ENDING * (len(word) - i))
    ends += [row[j] + ENDING * (len(term) - j) for j in range(max(0, len(term) - LONGEST_ENDING), len(term))]
    return min(ends)


def parted(word: str, is_known: Callable[[str], bool], pieces: int = 3) -> list[str]:
    """The known pieces, each of two letters or more, that the word was joined from, the first the longest; none when it
    was not."""
    if pieces > 1:
        for cut in range(len(word) - 2, 1, -1):
            if is_known(word[:cut]):
                rest = word[cut:]
                more = [rest] if is_known(rest) else parted(rest, is_known, pieces - 1)
                if more:
                    return [word[:cut], *more]
    return []
