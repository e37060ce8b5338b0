"""The search hall: ask the projection, order totally, look closely at the first hits, page.

It knows passages and owners, not what they are: memory and documents are answered by the same few lines. Engines order by
counts of words. What only a text can tell is asked of the first hits alone, once, for all engines alike (`_Closely`); it
adds to their scores, so that they stay before the rest.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from scaffale.errors import InvalidParam
from scaffale.model import Filter, Hit
from scaffale.ranking import closeness, spelling
from scaffale.ranking.order import ordered, rounded, sort_key
from scaffale.snippet import Highlighter, marked
from scaffale.text import Query, Term, fold, literally, normalise, plain, plainly, slug, words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from scaffale.indexer.sync import Answer, Projection
    from scaffale.model import Hits

    Identify = Callable[[list[int]], dict[int, tuple[object, ...]]]
    Look = Callable[[list[int]], Mapping[int, "Seen"]]
    Places = Callable[[list[int]], Mapping[int, object]]

MAX_REACH = 10_000  # offset + limit; nobody pages that deep, and an engine must not be made to
CLOSE = 10  # first hits whose texts are looked at
COMPANY = 30  # first hits that speak for those of their place
LITERAL = (100, 2_000)  # first hits that may hold the literal text of the question; more when none of them does
NO_SUCH_SIGNS = "the query is signs alone, and no text holds them as they stand"
READ_AS_TEXT = "nothing fits the query's operators; they were read as words"


class Seen(NamedTuple):
    """What a hall reads of a passage: its names, the title first, the text that is shown of it, and what else is known."""

    names: tuple[str, ...]
    text: str
    more: tuple[str, ...] = ()


class Page(NamedTuple):
    """One page of hits in total order. `total` counts every match. `more` says that the order goes on behind it.

    `gains` are what a close look added, by its name and by hit.
    """

    hits: list[Hit]
    total: int
    more: bool
    lag: int
    warnings: tuple[str, ...]
    gains: Mapping[str, Mapping[int, float]]
    highlighter: Highlighter

    def explained(self, hit: Hit) -> dict[str, float]:
        """What the hit's score is the sum of, the words first."""
        gains = {name: gain for name, by_hit in self.gains.items() if (gain := round(by_hit.get(hit.id, 0.0), 2))}
        return {"words": round(hit.score - sum(gains.values()), 2), **gains}


def search(
    projection: Projection,
    query: Query,
    filters: Sequence[Filter],
    limit: int,
    offset: int,
    identify: Identify,
    look: Look,
    places: Places,
    exclude: Collection[int] = (),
) -> Page:
    """Passages under each filter in turn: all that the first lets through rank before those of the second.

    `identify` gives the last word between passages that tie in everything (see `ranking.order.ordered`), `look` what is to
    be seen of passages, `places` what passages must have in common to speak for one another. Passages of the owners in
    `exclude` are not searched.
    """
    reach = _reach(offset, limit)
    closely = _Closely(projection, query, identify, look)
    hits: list[Hit] = []
    warnings: dict[str, None] = {}
    total = lag = 0
    for filter in filters:
        answer, found = closely.ask(filter, max(reach - len(hits), COMPANY), exclude)
        best = closely.ordered(closely.in_company(closely.literal(found.hits), places), max(reach - len(hits), CLOSE))
        hits += closely.near(best, found)[: reach - len(hits)]
        total += found.total
        lag = max(lag, answer.lag)
        warnings.update(dict.fromkeys(_warnings(answer.warnings, found, query, answer.lag)))
    if query.operators and not total:
        page = search(projection, _as_text(query), filters, limit, offset, identify, look, places, exclude)
        return page._replace(warnings=(*page.warnings, READ_AS_TEXT))
    return Page(hits[offset:reach], total, total > reach, lag, tuple(warnings), closely.gains, closely.highlighter)


def search_owners(
    projection: Projection,
    query: Query,
    filter: Filter,
    limit: int,
    offset: int,
    identify: Identify,
    look: Look,
    exclude: Collection[int] = (),
) -> Page:
    """The best passage of each owner, each owner once, refilled until the page is full or nothing is left.

    `total` counts matching passages: the number of owners behind them is not known without reading all.
    """
    reach = _reach(offset, limit)
    closely = _Closely(projection, query, identify, look)
    best: dict[int, Hit] = {}
    warnings: dict[str, None] = {}
    total, lag = 0, 0
    first: Hits | None = None
    while True:
        answer, found = closely.ask(filter, 2 * (max(reach, CLOSE) + 1 - len(best)), {*best, *exclude}, again=first is not None)
        first = first or found
        total = total or found.total
        lag = max(lag, answer.lag)
        warnings.update(dict.fromkeys(_warnings(answer.warnings, found, query, answer.lag)))
        for hit in closely.ordered(closely.literal(found.hits), len(found.hits)):
            best.setdefault(hit.owner, hit)
        if len(best) > max(reach, CLOSE) or len(found.hits) >= found.total:
            break
    if query.operators and not total:
        page = search_owners(projection, _as_text(query), filter, limit, offset, identify, look, exclude)
        return page._replace(warnings=(*page.warnings, READ_AS_TEXT))
    hits = closely.near(list(best.values()), first)
    return Page(hits[offset:reach], total, len(hits) > reach, lag, tuple(warnings), closely.gains, closely.highlighter)


class _Closely:
    """A close look at the first hits of one search."""

    def __init__(self, projection: Projection, query: Query, identify: Identify, look: Look) -> None:
        self._query = query
        self._projection = projection
        self._stems_of = projection.stems
        self._seen: dict[int, Seen] = {}
        self._known: dict[int, tuple[object, ...]] = {}
        self._identify = identify
        self._look = look
        self.gains: dict[str, Mapping[int, float]] = {}
        self._highlighter: Highlighter | None = None

    @property
    def highlighter(self) -> Highlighter:
        """Made after the first search, when there are stems to be had."""
        if self._highlighter is None:
            stems = {stem for term in self._query.terms for stem in self._stems_of(term.text)}
            self._highlighter = Highlighter(stems, self._stems_of)
        return self._highlighter

    def ask(
        self, filter: Filter, k: int, exclude: Collection[int] = (), *, again: bool = False
    ) -> tuple[Answer, Hits]:
        """The best `k` under the filter. When the question is a literal text, as many as may hold it; and what holds an
        operator as it is written, which no reading of it may hide."""
        query = self._query
        tagged = Filter((*filter.clauses, *((f"tag={slug(tag)}",) for tag in query.tags)))
        answer = self._projection.search(query, tagged, k if again or not query.literals else max(k, LITERAL[0]), exclude)
        found = answer.found
        if query.literals and not again and len(found.hits) < found.total and not self._holding(found.hits, query.literals):
            found = self._projection.search(query, tagged, LITERAL[1], exclude).found
        if query.operators and not again:
            others = self._projection.search(_as_text(query), filter, LITERAL[0], exclude).found.hits
            known = {hit.id for hit in found.hits}
            holding = self._holding([hit for hit in others if hit.id not in known], query.operators)
            added = [hit for hit in others if hit.id in holding]
            found = found._replace(hits=sorted([*found.hits, *added], key=sort_key), total=found.total + len(added))
        return answer, found

    def ordered(self, hits: Sequence[Hit], k: int) -> list[Hit]:
        """The best `k` in total order."""
        return ordered(hits, k, self._last_word)

    def literal(self, hits: list[Hit]) -> list[Hit]:
        """The hits, each raised that holds the text of the question as it stands; or whose name has its words side by side,
        and counts twice: a page on a thing comes before those that mention it."""
        if not self._query.literals:
            return hits
        held = dict.fromkeys(self._holding(hits, self._query.literals), closeness.LITERAL)
        pairs = self._pairs({})
        for id, seen in self._see(hits).items():
            named = any(literally(name, literal) for name in seen.names for literal in self._query.literals)
            share = 1.0 if named else max(self._side_by_side(name, pairs) for name in seen.names)
            held[id] = max(held.get(id, 0.0), 2 * closeness.LITERAL * share)
        return sorted(self._raised(hits, "literal", held), key=sort_key)

    def _side_by_side(self, name: str, pairs: Mapping[tuple[str, str], closeness.Pair]) -> float:
        """The share of the question's pairs of words that stand side by side in the name."""
        if not pairs:
            return 0.0
        found = closeness.places(self.highlighter.matches(name), pairs, name)
        return len(found) / len(set(pairs.values()))

    def in_company(self, hits: list[Hit], places: Places) -> list[Hit]:
        """The hits, best first, with what those of their place say for the best of them. They are an engine's best and all
        that tie with the last, so that no order among equals decides."""
        count = len(hits)
        if count > COMPANY:
            last = hits[COMPANY - 1].score
            count = next((rank for rank in range(COMPANY, count) if hits[rank].score < last), count)
        if not 1 < count <= 2 * COMPANY:  # very many tie: there is nothing to tell them apart by
            return hits
        scores = {hit.id: hit.score for hit in hits[:count]}
        where = places(list(scores))
        if len(set(where.values())) < 2:
            return hits
        return self._raised(hits, "company", closeness.company(scores, where))

    def near(self, hits: list[Hit], found: Hits) -> list[Hit]:
        """The first hits again, each with what its text and title say for it."""
        first = hits[:CLOSE]
        if len(first) < 2 or found.rarity is None:
            return hits
        seen = self._see(first)
        rarity = found.rarity
        words = [
            (stems, max(rarity.get(stem, 0.0) for stem in stems))
            for term in self._query.terms
            if term.weight == 1.0 and (stems := self._stems_of(term.text))
        ]
        weight = closeness.SIDE_BY_SIDE * (1 - found.coverage)
        pairs = self._pairs(rarity) if weight else {}
        beside: dict[int, float] = {}
        inside: dict[int, float] = {}
        for hit in first:
            if hit.id in seen:
                (title, *_), text, _ = seen[hit.id]
                if pairs:
                    beside[hit.id] = weight * closeness.side_by_side(self.highlighter.matches(text), pairs, text)
                folded = fold(title)
                held = [(stems[0], weighs) for stems, weighs in words if stems[0] in folded]
                if held:
                    inside[hit.id] = closeness.IN_TITLE_WORD * self._inside(held, title)
        raised = self._raised(self._raised(first, "side_by_side", beside), "in_title_word", inside)
        return [*self.ordered(raised, CLOSE), *hits[CLOSE:]]

    def _pairs(self, rarity: Mapping[str, float]) -> dict[tuple[str, str], closeness.Pair]:
        """The words that follow one another in the question, in each of their forms."""
        words = [
            (term.place, stems, max(rarity.get(stem, 0.0) for stem in stems))
            for term in self._query.terms
            if term.weight == 1.0 and (stems := self._stems_of(term.text))
        ]
        return {
            (one, other): closeness.Pair(place, later - place, weight + another)
            for (place, ones, weight), (later, others, another) in pairwise(words)
            for one in ones
            for other in others
            if one != other
        }

    def _inside(self, held: Sequence[tuple[str, float]], title: str) -> float:
        """What the stems weigh that a word of the title holds without being a form of them."""
        own = self._stems_of(normalise(title))
        return sum(weighs for stem, weighs in held if len(stem) >= closeness.INSIDE_AT_LEAST and stem not in own)

    def _holding(self, hits: Sequence[Hit], literals: Sequence[str]) -> set[int]:
        return {
            id
            for id, each in self._see(hits).items()
            if any(literally(text, literal) for text in (*each.names, each.text, *each.more) for literal in literals)
        }

    def _see(self, hits: Sequence[Hit]) -> dict[int, Seen]:
        """What is to be seen of the hits that are still there."""
        new = [hit.id for hit in hits if hit.id not in self._seen]
        if new:
            self._seen.update(self._look(new))
        return {hit.id: self._seen[hit.id] for hit in hits if hit.id in self._seen}

    def _raised(self, hits: list[Hit], part: str, gains: Mapping[int, float]) -> list[Hit]:
        if not any(gains.values()):
            return hits
        self.gains[part] = gains
        return [
            Hit(hit.id, hit.owner, rounded(hit.score + gain), hit.importance, hit.confidence, hit.updated)
            if (gain := gains.get(hit.id))
            else hit
            for hit in hits
        ]

    def _last_word(self, ids: list[int]) -> dict[int, tuple[object, ...]]:
        new = [id for id in ids if id not in self._known]
        if new:
            self._known.update(self._identify(new))
        return self._known


def nearly(projection: Projection, query: Query) -> Query | None:
    """The question with the nearest known terms in place of its words, for a second try when nothing was found. `None`
    when there are none that are near."""
    terms = [
        near for term in query.terms if term.weight == 1.0 for word in _words_of(term.text) for near in _near(projection, word)
    ]
    if not terms:
        return None
    return Query(" ".join(term.text for term in terms), tuple(terms), boosts=query.boosts, tags=query.tags)


def words_of(query: Query) -> tuple[str, ...]:
    """The words of the question, as they are written, for an answer: certain secrets are masked."""
    from scaffale import secrets

    return tuple(dict.fromkeys(secrets.mask(term.text) for term in query.terms if term.weight == 1.0))


def closest(snippets: Iterable[str]) -> tuple[str, ...]:
    """The words that snippets mark, in lower case, each once."""
    return tuple(dict.fromkeys(word.lower() for snippet in snippets for word in marked(snippet)))


def _near(projection: Projection, word: str) -> list[Term]:
    """What the word may have been meant for: words that begin like a known term, and pieces that it was joined from."""
    if len(word) < spelling.SHORTEST:
        return []

    def is_known(piece: str) -> bool:
        return any(stem in projection.terms(stem) for stem in projection.stems(piece))

    forms = list(dict.fromkeys((word, *projection.stems(word))))
    for prefix in dict.fromkeys((word[:2], word[0], word[1])):  # most slips spare the beginning of a word
        terms = projection.terms(prefix)
        near = spelling.closest(forms, terms)
        parts = spelling.parted(word, is_known) if prefix == word[:2] else []
        if parts and not any(spelling.distance(form, term) <= 1 for form in forms for term in near):
            near = []  # joined words are likelier than two slips
        if near or parts:
            begun = [Term(term, 1.0 / (rank + 1), prefix=True) for rank, term in enumerate(near)]
            return begun + [Term(part, place=place) for place, part in enumerate(parts)]
    return []


def _words_of(text: str) -> list[str]:
    """The letters and digits of a word of the query, joined, as they are compared: `ip-v6` may be meant for `ipv6`."""
    joined = "".join(words(plain(text)))
    return [joined] if joined else []


def _as_text(query: Query) -> Query:
    return plainly(query.text)._replace(boosts=query.boosts)


def _reach(offset: int, limit: int) -> int:
    if offset + limit > MAX_REACH:
        raise InvalidParam(f"offset: a search answers its first {MAX_REACH} results; narrow it by words or filters instead")
    return offset + limit


def _warnings(given: Sequence[str], found: Hits, query: Query, lag: int) -> list[str]:
    warnings = list(given)
    if found.truncated:
        warnings.append("ties_truncated: very many passages match equally well; their order stops at the first few thousand")
    if query.literals and not query.terms and not found.total:
        warnings.append(NO_SUCH_SIGNS)
    if query.cut:
        warnings.append("the query was too long and was cut")
    if lag:
        warnings.append(f"a scan is running: {lag} of its changes are not searchable yet")
    return warnings
