"""What speaks for a link from one document to another, found without comparing all pairs.

A `Library` is told the heads of all documents, then reads each text once and keeps numbers alone. Candidates come from
inverted lists cut at a fixed length, so the work for one document does not grow with their number. Pure: no store, no
files, no clock.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter, defaultdict
from functools import cache
from heapq import nlargest
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.text import is_italian

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    _Lists = dict[int, tuple[array[int], array[float]]]

TERMS = 64  # of a text: its most telling words
ASKED = 32  # of these, to find candidates; all of them say how like two texts are
LIST = 64  # documents that an inverted list keeps: those that its word tells most of
NEAR = 40  # candidates by words
ALIKE = 30  # by name, by tags, by what the title finds
LINKED = 80  # by mentions and links, in each direction
FEW = 10  # words that so few documents hold count, be it most of them
COMMON_TITLE = 3  # a title that more documents bear says nothing
FULL_OF_LINKS = 8  # a page with one link in so many words is an index of others, as far as a page can be
SHORTEST = 20  # words; shorter pages count as this long
MEANING = 0.3  # of the likeness of texts, where vectors tell it
TOP = 10  # of what a title finds (docs-links-v1)
_WORD = re.compile(r"[^\W_]+")
_TARGET = re.compile(r"\]\([^)\n]*\)")
_STOP = frozenset(
    "a an and are as at be by can for from has have how i if in into is it its no not of on or so that the their then there"
    " these this to was were when which will with you your do does"
    " di il che e la un per le del una con non da lo gli al dei della si se è nel alla o su come sono questo questa anche"
    " più dal delle ai".split()
)
_score = itemgetter(1)


class Head(NamedTuple):
    """What is known of a document before its text is read. `path` is relative to its shelf."""

    id: int
    shelf_id: int
    path: str
    title: str
    tags: tuple[str, ...] = ()


class Evidence(NamedTuple):
    """What speaks for a link, one number a kind, each from 0 to 1 but `fame`."""

    words: float = 0.0  # likeness of the texts, as a part of the source's best
    words_back: float = 0.0  # the same, as a part of the target's best
    cosine: float = 0.0  # the likeness itself
    name: float = 0.0  # likeness of file name and title, letter by letter
    mention: float = 0.0  # the source names the target's title; the fewer do, the more it says
    mentioned: float = 0.0  # the target names the source's title
    mentioned_in_index: float = 0.0  # the target, full of such names, names the source's title, as few do
    linked: float = 0.0  # the source's text leads to the target
    linked_back: float = 0.0  # the target's text leads to the source
    listed: float = 0.0  # the target, as few others, leads to the source
    indexed: float = 0.0  # the same, as far as the target consists of links
    path: float = 0.0  # folders in common
    tags: float = 0.0  # tags in common; the rarer the more
    fame: float = 0.0  # ln(1 + texts that lead to the target)
    # what docs-links-v1 asks for
    title: float = 0.0
    headings: float = 0.0
    plain_tags: float = 0.0
    found: float = 0.0  # a half for each direction in which a title finds the other document


class Library:
    """Documents, and what each has to do with the others. `read` each head's text, then ask."""

    def __init__(self, heads: Sequence[Head]) -> None:
        self.heads = heads
        self._at = {head.id: place for place, head in enumerate(heads)}
        count = len(heads)
        self._folders = [tuple(head.path.split("/")[:-1]) for head in heads]
        self._terms: dict[str, int] = {}
        self._spelled: list[str] = []  # a word of each stem, for people
        self._texts: list[tuple[array[int], array[int]]] = [(array("I"), array("I"))] * count
        self._lengths = [1] * count
        self._headings: list[frozenset[str]] = [frozenset()] * count
        self._mentions: list[frozenset[int]] = [frozenset()] * count
        self._links: list[frozenset[int]] = [frozenset()] * count
        self._titles = [tuple(_WORD.findall(head.title.lower())) for head in heads]
        self._title_words = [frozenset(words) for words in self._titles]
        self._tags = [frozenset(head.tags) for head in heads]
        self._by_first = _first_words(self._titles)
        self._meant: dict[int, dict[int, float]] = {}
        self._sealed = False

    def mean(self, id: int, near: Mapping[int, float]) -> None:
        """Take in which documents lie near this one by meaning, with the cosines of their vectors; where there are vectors."""
        self._meant[self._at[id]] = {
            self._at[each]: cosine for each, cosine in near.items() if each in self._at and each != id and cosine > 0
        }

    def read(self, id: int, text: str, headings: Iterable[str] = (), links: Iterable[int] = ()) -> None:
        """Take in the text of a document, and to which documents it leads."""
        place = self._at[id]
        counts = Counter(_WORD.findall(_TARGET.sub("] ", text).lower()))
        words = [word for word in counts if word not in _STOP and len(word) < 40]
        stems: dict[int, int] = {}
        for word, stem in zip(words, _stemmer(italian=is_italian(text)).stemWords(words), strict=True):
            number = self._term(stem, word)
            stems[number] = stems.get(number, 0) + counts[word]
        self._texts[place] = (array("I", stems), array("I", stems.values()))
        self._lengths[place] = max(1, sum(stems.values()))
        self._headings[place] = frozenset(" ".join(_WORD.findall(each.lower())) for each in headings)
        self._links[place] = frozenset(self._at[each] for each in links if each in self._at and each != id)
        self._mentions[place] = frozenset(self._named(_WORD.findall(text.lower()))) - {place}

    def candidates(self, id: int) -> list[int]:
        """The documents that may be worth a link from this one, by id."""
        self._seal()
        place = self._at[id]
        found = set(self._near(place)) | set(self._alike(place)) | self._finds(place)
        for those in (self._links, self._mentions):
            found.update(sorted(those[place], key=lambda each: (len(self._mentioned_by[each]), each))[:LINKED])
        for these in (self._linked_by, self._mentioned_by):
            found.update(sorted(these[place], key=lambda each: (-self._density(each), each))[:LINKED])
        found.update(self._tagged_like(place))
        found.update(self._meant.get(place, ()))
        found.discard(place)
        return sorted(self.heads[each].id for each in found)

    def evidence(self, source: int, target: int) -> Evidence:
        """What speaks for a link from one to the other."""
        self._seal()
        s, t = self._at[source], self._at[target]
        cosine = self._near(s).get(t) or self._near(t).get(s) or _dot(self._vectors[s], self._vectors[t])
        linked_back, mentioned = s in self._links[t], s in self._mentions[t]
        listed = linked_back / math.sqrt(max(1, len(self._linked_by[s])))
        named = mentioned / math.sqrt(max(1, len(self._mentioned_by[s])))
        tags, others = self._tags[s], self._tags[t]
        return Evidence(
            words=self._alike_in_meaning(s, t, min(1.0, cosine / self._best(s))),
            words_back=min(1.0, cosine / self._best(t)),
            cosine=cosine,
            name=_dot(self._names[s], self._names[t]),
            mention=self._rarity(t) if t in self._mentions[s] else 0.0,
            mentioned=self._rarity(s) if mentioned else 0.0,
            mentioned_in_index=named * self._density(t, self._mentions),
            linked=float(t in self._links[s]),
            linked_back=float(linked_back),
            listed=listed,
            indexed=listed * self._density(t),
            path=_shared(self._folders[s], self._folders[t]),
            tags=_weighed(tags, others, self._tag_rarity),
            fame=math.log1p(len(self._linked_by[t])),
            title=_jaccard(self._title_words[s], self._title_words[t]),
            headings=_jaccard(self._headings[s], self._headings[t]),
            plain_tags=_jaccard(tags, others),
            found=0.5 * (t in self._finds(s)) + 0.5 * (s in self._finds(t)),
        )

    def _alike_in_meaning(self, source: int, target: int, words: float) -> float:
        """The likeness of texts, by words and, where that is known, by meaning."""
        near = self._meant.get(source)
        if not near:
            return words
        return (1 - MEANING) * words + MEANING * near.get(target, 0.0) / max(near.values())

    def words_in_common(self, source: int, target: int, limit: int = 4) -> list[str]:
        """The most telling words that both texts hold."""
        self._seal()
        mine, others = self._vectors[self._at[source]], self._vectors[self._at[target]]
        both = {term: weight * others[term] for term, weight in mine.items() if term in others}
        return [self._spelled[term] for term, _ in nlargest(limit, both.items(), key=_score)]

    # --- reading -------------------------------------------------------------------------------------------------

    def _term(self, stem: str, word: str) -> int:
        number = self._terms.setdefault(stem, len(self._terms))
        if number == len(self._spelled):
            self._spelled.append(word)
        return number

    def _named(self, words: list[str]) -> Iterable[int]:
        """The documents whose titles stand in the text, word for word."""
        by_first = self._by_first
        for at, word in enumerate(words):
            if word in by_first:
                for length, titles in by_first[word].items():
                    yield from titles.get(tuple(words[at : at + length]), ())

    # --- once all is read ----------------------------------------------------------------------------------------

    def _seal(self) -> None:
        if self._sealed:
            return
        self._sealed = True
        count = len(self.heads)
        frequency = [0] * len(self._terms)
        for terms, _ in self._texts:
            for term in terms:
                frequency[term] += 1
        rarity = [math.log((count + 1) / (each + 1)) + 1 if each <= max(FEW, count / 2) else 0.0 for each in frequency]
        self._vectors = [_vector(dict(zip(*each, strict=True)), rarity, TERMS) for each in self._texts]
        self._texts = []
        self._lists = _inverted(self._vectors)
        self._names = _names(self.heads)
        self._name_lists = _inverted(self._names)
        self._linked_by = _turned(self._links)
        self._mentioned_by = _turned(self._mentions)
        tagged: dict[str, list[int]] = defaultdict(list)
        for place, head in enumerate(self.heads):
            for tag in head.tags:
                tagged[tag].append(place)
        self._tagged = tagged
        self._tag_rarity = {tag: math.log((count + 1) / (len(those) + 1)) for tag, those in tagged.items()}
        self._nearest: dict[int, dict[int, float]] = {}
        self._found: dict[int, frozenset[int]] = {}

    def _near(self, place: int) -> dict[int, float]:
        known = self._nearest.get(place)
        if known is None:
            known = self._nearest[place] = _most(self._vectors, self._lists, place, NEAR)
        return known

    def _best(self, place: int) -> float:
        return max(self._near(place).values(), default=0.0) or 1.0

    def _alike(self, place: int) -> dict[int, float]:
        return _most(self._names, self._name_lists, place, ALIKE)

    def _finds(self, place: int) -> frozenset[int]:
        """The documents that the words of this one's title find first."""
        known = self._found.get(place)
        if known is None:
            words = [word for word in self._titles[place] if word not in _STOP]
            stems = {stem for each in (False, True) for stem in _stemmer(italian=each).stemWords(words)}
            asked = {self._terms[stem]: 1.0 for stem in stems if stem in self._terms}
            scores = _gathered(asked, self._lists)
            scores.pop(place, None)
            best = nlargest(TOP, scores.items(), key=lambda each: (each[1], -each[0]))
            known = self._found[place] = frozenset(each for each, _ in best)
        return known

    def _tagged_like(self, place: int) -> list[int]:
        """Documents of the same tags, those of rarer ones first; tags that many bear bring none."""
        scores: dict[int, float] = {}
        for tag in self.heads[place].tags:
            those = self._tagged[tag]
            if len(those) <= LIST:
                for each in those:
                    scores[each] = scores.get(each, 0.0) + self._tag_rarity[tag]
        return [each for each, _ in nlargest(ALIKE, scores.items(), key=lambda each: (each[1], -each[0]))]

    def _rarity(self, place: int) -> float:
        """How much it says that a text names this title: 1 when no other does."""
        count = len(self.heads) + 1
        return math.log(count / (len(self._mentioned_by[place]) + 1)) / math.log(count) if count > 1 else 0.0

    def _density(self, place: int, leading: list[frozenset[int]] | None = None) -> float:
        """How far a page consists of links, or of names: 0 to 1."""
        those = (self._links if leading is None else leading)[place]
        return min(1.0, FULL_OF_LINKS * len(those) / max(SHORTEST, self._lengths[place]))


@cache
def _stemmer(*, italian: bool) -> Any:  # noqa: ANN401
    import Stemmer

    return Stemmer.Stemmer("italian" if italian else "english")


def _first_words(titles: Sequence[tuple[str, ...]]) -> dict[str, dict[int, dict[tuple[str, ...], list[int]]]]:
    """Titles that can be recognised in a text, by first word and by length."""
    bearers: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, title in enumerate(titles):
        if len("".join(title)) > 2:
            bearers[title].append(place)
    found: dict[str, dict[int, dict[tuple[str, ...], list[int]]]] = {}
    for title, those in bearers.items():
        if len(those) <= COMMON_TITLE:
            found.setdefault(title[0], {}).setdefault(len(title), {})[title] = those
    return found


def _names(heads: Sequence[Head]) -> list[dict[int, float]]:
    """File name and title of each document as weights of three and four letters in a row."""
    numbers: dict[str, int] = {}
    counted = []
    for head in heads:
        stem = head.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        name = f" {' '.join([*_WORD.findall(stem.lower()), '|', *_WORD.findall(head.title.lower())])} "
        grams = Counter(name[at : at + size] for size in (3, 4) for at in range(len(name) - size + 1))
        counted.append({numbers.setdefault(gram, len(numbers)): count for gram, count in grams.items()})
    frequency = Counter(number for each in counted for number in each)
    rarity = [math.log((len(heads) + 1) / (frequency[number] + 1)) + 1 for number in range(len(numbers))]
    return [_vector(each, rarity, TERMS) for each in counted]


def _vector(counts: Mapping[int, int], rarity: Sequence[float], most: int) -> dict[int, float]:
    """The heaviest terms, heaviest first, weighed so that the whole has length 1."""
    weights = {term: (1 + math.log(count)) * rarity[term] for term, count in counts.items() if rarity[term]}
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    heaviest = nlargest(most, weights.items(), key=lambda each: (each[1], -each[0]))
    return {term: weight / length for term, weight in heaviest}


def _inverted(vectors: Sequence[Mapping[int, float]]) -> _Lists:
    """For each term the places that have it and its weights there: numbers side by side, which a reader runs through."""
    lists: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for place, vector in enumerate(vectors):
        for term, weight in vector.items():
            lists[term].append((place, weight))
    found = {}
    for term, those in lists.items():
        if len(those) > 1:
            places, weights = zip(*(nlargest(LIST, those, key=_score) if len(those) > LIST else those), strict=True)
            found[term] = (array("I", places), array("d", weights))
    return found


def _gathered(asked: Mapping[int, float], lists: _Lists) -> dict[int, float]:
    scores: dict[int, float] = defaultdict(float)
    for term, weight in asked.items():
        if term in lists:
            for place, other in zip(*lists[term], strict=True):
                scores[place] += weight * other
    return scores


def _most(
    vectors: Sequence[Mapping[int, float]], lists: _Lists, place: int, most: int
) -> dict[int, float]:
    """The documents most like this one, by likeness."""
    scores = _gathered(dict(islice(vectors[place].items(), ASKED)), lists)
    scores.pop(place, None)
    best = nlargest(most, scores.items(), key=lambda each: (each[1], -each[0]))
    whole = {each: _dot(vectors[place], vectors[each]) for each, _ in best}
    return dict(sorted(whole.items(), key=lambda each: (-each[1], each[0])))


def _dot(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    return sum(one[term] * other[term] for term in one.keys() & other.keys())


def _turned(leading: Sequence[frozenset[int]]) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in leading]
    for place, those in enumerate(leading):
        for each in those:
            found[each].add(place)
    return found


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Folders in common, as a part of the longer path, each below the root of its own shelf."""
    common = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        common += 1
    longest = max(len(one), len(other))
    return common / longest if longest else 1.0


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def _weighed(one: frozenset[str], other: frozenset[str], rarity: Mapping[str, float]) -> float:
    common = one & other
    if not common:
        return 0.0
    either = sum(rarity[tag] for tag in sorted(one | other))
    return sum(rarity[tag] for tag in sorted(common)) / either if either else 0.0
