"""Search by words and by meaning: both lists of the same question, fused; who asked for one gets one.

It changes nothing of the search by words, which goes on without it: it is imported only where vectors are on. Words alone
answer what is no question of meaning: text to be found as it stands, operators, a language that the model does not know;
and whatever the model did not answer in time. The answer says which legs it stands on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import IndexUnusable, InvalidParam
from scaffale.meaning.asking import TIMEOUT, UNAVAILABLE, USED, WARMING, State
from scaffale.ranking import fusion
from scaffale.ranking.fusion import Listed
from scaffale.ranking.order import ordered, rounded
from scaffale.text import is_italian

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from scaffale.backends.ports import Vector
    from scaffale.backends.spaces import Space
    from scaffale.indexer.vectors import Coverage
    from scaffale.meaning.asking import Meaning
    from scaffale.model import Filter, Hit
    from scaffale.ranking.fusion import Contribution
    from scaffale.search import Identify, Look, Page
    from scaffale.snippet import Highlighter
    from scaffale.text import Query

    ByWords = Callable[[Sequence[Filter], int, int], Page]

LEXICAL, VECTOR, HYBRID = "lexical", "vector", "hybrid"
RETRIEVAL = (LEXICAL, VECTOR, HYBRID)
TROUBLE = (WARMING, TIMEOUT, UNAVAILABLE)
OFF = "vectors are off here; words answered. `scaffale vectors enable` says how to turn them on"
PIECES = 3  # passages that are asked for by meaning for each owner that is wanted
LANGUAGE_HITS = 10  # first hits by words that tell the language, when the question does not
_ENGLISH = frozenset("the of to and is in how what do does for with a an on from by are can i".split())


class FusedPage(NamedTuple):
    """A page of hits, as `search.Page`; `contributions` say by hit what each list gave it, `vector` what became of the
    question by meaning."""

    hits: list[Hit]
    total: int
    more: bool
    lag: int
    warnings: tuple[str, ...]
    highlighter: Highlighter
    contributions: Mapping[int, Contribution]
    vector: dict[str, Any]

    def explained(self, hit: Hit) -> dict[str, float]:
        """What the hit's score is the sum of, and its ranks in both lists."""
        given = self.contributions.get(hit.id)
        if given is None:
            return {"words": hit.score}
        parts: dict[str, float] = {"words": round(given.words, 4), "meaning": round(given.meaning, 4)}
        for name, value in zip(("words_rank", "meaning_rank", "cosine"), given[2:], strict=True):
            if value is not None:
                parts[name] = round(value, 4)
        return parts


class Asking(NamedTuple):
    """How one hall searches: by words, under filters, so many from there on; what it knows of passages; whether owners are
    answered once; and which of them are not to be answered."""

    by_words: ByWords
    identify: Identify
    look: Look
    owners: bool = False
    exclude: Collection[int] = ()


def search(
    meaning: Meaning | None,
    retrieval: str | None,
    query: Query,
    filters: Sequence[Filter],
    limit: int,
    offset: int,
    asking: Asking,
) -> Page | FusedPage:
    """A page by the legs that are asked for, by both where nothing is said; passages under each filter in turn."""
    if retrieval is not None and retrieval not in RETRIEVAL:
        raise InvalidParam(f"retrieval: must be one of {', '.join(RETRIEVAL)}")
    if meaning is None or retrieval == LEXICAL:
        page = asking.by_words(filters, limit, offset)
        off = (OFF,) if retrieval in (VECTOR, HYBRID) else ()
        return page._replace(warnings=(*off, *page.warnings))
    asked = None if _to_the_letter(query) else meaning.begin(query.text)
    depth = max(fusion.DEPTH, offset + limit)
    pages = [asking.by_words([filter], depth, 0) for filter in filters]
    leg = _Leg(meaning, State("lexical", "the question asks for text as it stands"))
    if asked is not None:
        vector, leg.state = asked.vector()
        if vector is not None and asked.space is not None:
            leg.take(asked.space, vector)
            if retrieval != VECTOR:
                leg.mind_the_language(query, pages, asking.look)
    hits: list[Hit] = []
    contributions: dict[int, Contribution] = {}
    total = 0
    for filter, page in zip(filters, pages, strict=True):
        near = leg.near(filter, depth * (PIECES if asking.owners else 1), asking.exclude)
        given: dict[int, Contribution] = {}
        if retrieval == VECTOR and leg.used:
            found = _best(near, depth, asking)
            total += len(found)
        elif leg.used:
            found, given = _fused(leg, page.hits, near, asking)
            total += page.total + len(found) - len(page.hits)
        else:
            found = page.hits
            total += page.total
        hits += ordered(found, depth, asking.identify)
        contributions |= given
    warnings = dict.fromkeys(warning for page in pages for warning in page.warnings)
    if leg.state.state in TROUBLE:
        warnings[f"vector: {leg.state.state} ({leg.state.reason})"] = None
    reach = offset + limit
    return FusedPage(
        hits[offset:reach],
        total,
        len(hits) > reach or any(page.more for page in pages),
        max(page.lag for page in pages),
        tuple(warnings),
        pages[0].highlighter,
        contributions,
        leg.said(),
    )


class _Leg:
    """The search by meaning."""

    def __init__(self, meaning: Meaning, state: State) -> None:
        self.state = state
        self._meaning = meaning
        self._space: Space | None = None
        self._vector: Vector | None = None
        self.coverage: Coverage | None = None

    @property
    def used(self) -> bool:
        return self.state.state == USED

    @property
    def method(self) -> str:
        return self._meaning.fusion

    def take(self, space: Space, vector: Vector) -> None:
        """The vector came."""
        self._space, self._vector = space, vector

    def mind_the_language(self, query: Query, pages: Sequence[Page], look: Look) -> None:
        """Nothing is fused when the model was not made for the language of the question."""
        space = self._space
        if space and space.languages and not space.speaks(language(query, pages, look)):
            self.state = State("language", f"the model was made for {', '.join(space.languages)}")

    def near(self, filter: Filter, k: int, exclude: Collection[int]) -> list[Hit]:
        """The best passages under the filter; none when this leg does not answer."""
        if not self.used or self._space is None or self._vector is None:
            return []
        try:
            found = self._meaning.near(self._space, self._vector, filter, k, exclude)
        except IndexUnusable as error:
            self.state = State(UNAVAILABLE, error.detail)
            return []
        self.coverage = found.coverage
        return found.hits

    def with_vector(self, passages: Sequence[int]) -> set[int]:
        return set(self._meaning.fetch(passages))

    def said(self) -> dict[str, Any]:
        """For the answer."""
        told: dict[str, Any] = {"state": self.state.state}
        if self._space is not None:
            told["model"] = self._space.model
        if self.coverage is not None:
            told["coverage"] = self.coverage.share
        if self.state.reason:
            told["reason"] = self.state.reason
        return told


def _best(near: Sequence[Hit], depth: int, asking: Asking) -> list[Hit]:
    """The first hits, each owner once where that is asked for."""
    found: dict[int, Hit] = {}
    for hit in near:
        found.setdefault(hit.owner if asking.owners else hit.id, hit)
    return list(found.values())[:depth]


def _fused(
    leg: _Leg, by_words: Sequence[Hit], near: Sequence[Hit], asking: Asking
) -> tuple[list[Hit], dict[int, Contribution]]:
    """Both lists as one, with the fused score; an owner shows the passage of the list that has it higher up."""
    by_meaning = _best(near, fusion.DEPTH, asking)

    def key(hit: Hit) -> int:
        return hit.owner if asking.owners else hit.id

    words, meaning = {key(hit): hit for hit in by_words}, {key(hit): hit for hit in by_meaning}
    known = leg.with_vector([hit.id for hit in by_words if key(hit) not in meaning])
    given = fusion.fused(
        leg.method,
        [Listed(key(hit), hit.score) for hit in by_words],
        [Listed(key(hit), hit.score) for hit in by_meaning],
        {key(hit) for hit in by_words if hit.id in known} | meaning.keys(),
    )
    hits: list[Hit] = []
    contributions: dict[int, Contribution] = {}
    for each, contribution in given.items():
        first, second = contribution.words_rank, contribution.meaning_rank
        hit = meaning[each] if first is None or (second is not None and second < first) else words[each]
        hits.append(hit._replace(score=rounded(contribution.score)))
        contributions[hit.id] = contribution
    return hits, contributions


def _to_the_letter(query: Query) -> bool:
    """Whether the question asks for text as it stands, which no meaning may stand in for. A single plain word does not."""
    literal = query.literals and not (query.text.isalpha() and query.text.islower())
    return bool(literal or query.operators or query.required or query.excluded or query.tags or not query.terms)


def language(query: Query, pages: Sequence[Page], look: Look) -> str | None:
    """The language of a question, `it` or `en`: by its own small words, else by the first texts that words find."""
    if is_italian(f" {query.text.lower()} "):
        return "it"
    if _ENGLISH & set(query.text.lower().split()):
        return "en"
    hits = [hit.id for page in pages for hit in page.hits][:LANGUAGE_HITS]
    seen = list(look(hits).values()) if hits else []
    if not seen:
        return None
    italian = sum(is_italian(each.text) for each in seen)
    return "it" if 2 * italian > len(seen) else "en" if italian == 0 else None
