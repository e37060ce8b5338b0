"""Changes that no commit holds yet, searchable at once: postings in memory, scored by the formula of their engine.

`Overlay` keeps the postings and applies filters; each engine says in a subclass how it scores. `FieldwiseOverlay` is the
formula of Lucene and Tantivy: one BM25 per field, summed. An overlay belongs to one handle on one index. Each change
replaces all that the overlay knew of its owner. Adding costs the analysis of the new text, once; searching costs the
matching postings. It is not safe to share between threads: the engine that owns it holds a lock.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from scaffale.model import Filter, Hit, Passage
from scaffale.ranking import bm25
from scaffale.ranking.order import rounded
from scaffale.text import Need, Query, fields, italian, plain
from scaffale.text import words as words_of

MAX_TOKENS = 16  # of one word; more of them are no word


class Clause(NamedTuple):
    """One analysed term of a query: one token, or several that stand for a phrase and for each of themselves.

    `words` are the tokens before stemming, for an engine whose statements stem by themselves. A `literal` clause is the
    phrase alone, a `prefix` clause any word that begins like its last token.
    """

    tokens: tuple[str, ...]
    weight: float
    words: tuple[str, ...] = ()
    literal: bool = False
    prefix: bool = False


class Demand(NamedTuple):
    """What a passage must hold, or must not: in one of the fields one of the clauses' tokens, side by side."""

    clauses: tuple[Clause, ...]
    fields: tuple[str, ...]


class Question(NamedTuple):
    """A query in the tokens of an engine. `words` are the distinct words that it asks for, each in the tokens that stand
    for it in passages of one language or the other."""

    clauses: list[Clause]
    words: list[tuple[str, ...]]
    required: list[Demand]
    excluded: list[Demand]


def analysed(
    query: Query, analyse: Callable[[str], list[str]], split: Callable[[str], list[str]] | None = None
) -> Question:
    """The clauses of a query: each distinct run of tokens once, with its greatest weight. Each word is asked for as
    English passages hold it and as Italian ones do; mostly these are different terms, of which a passage has one.
    `split` gives the words that `analyse` stems, when an engine wants these too."""

    def forms(text: str, weight: float = 1.0, *, literal: bool = False, prefix: bool = False) -> list[Clause]:
        if prefix:
            tokens = tuple(words_of(plain(text))[:MAX_TOKENS])  # what goes on has no stem yet
            return [Clause(tokens, weight, tokens, prefix=True)]
        found = []
        for form in (text, italian(text)):
            tokens = tuple(analyse(form)[:MAX_TOKENS])
            found.append(Clause(tokens, weight, tuple(split(form)[:MAX_TOKENS]) if split else (), literal))
        return found

    def demand(need: Need) -> Demand:
        clauses = forms(plain(need.text), prefix=need.prefix)
        return Demand(tuple(dict.fromkeys(clause for clause in clauses if clause.tokens)), FIELDS_OF[need.field])

    asked: dict[tuple[str, ...], None] = {}
    clauses: dict[tuple[object, ...], Clause] = {}
    for term in query.terms:
        of_term = forms(plain(term.text), term.weight, prefix=term.prefix)
        if term.weight == 1.0 and not term.prefix:
            both = zip(*(each.tokens for each in of_term), strict=False)
            asked.update(dict.fromkeys(tuple(dict.fromkeys(word)) for word in both))
        for clause in of_term:
            known = clauses.get((clause.tokens, clause.prefix))
            if clause.tokens and (known is None or known.weight < clause.weight):
                clauses[clause.tokens, clause.prefix] = clause
    for text in query.literals:
        clauses.update(
            ((clause.tokens, "literal"), clause)
            for clause in forms(plain(text), literal=True)
            if len(clause.tokens) > 1
        )
    return Question(
        list(clauses.values()),
        list(asked),
        [demand(each) for each in query.required],
        [demand(each) for each in query.excluded],
    )


FIELDS_OF = {"": bm25.FIELDS, "title": ("title",), "heading": ("heading",), "path": ("labels",)}


class Statistics(NamedTuple):
    """What BM25 wants to know of a corpus. `average` is the mean length by field; `frequency(field, token)` counts passages."""

    documents: int
    average: Mapping[str, float]
    frequency: Callable[[str, str], int]


class _Slot(NamedTuple):
    passage: Passage
    facets: frozenset[str]
    tokens: dict[str, list[str]]
    lengths: dict[str, int]


class Overlay:
    """Postings of changed owners. `analyse` gives the tokens of a text, as the engine would index it."""

    def __init__(self, analyse: Callable[[str], list[str]], remembered: Callable[[int], int] = int) -> None:
        self._analyse = analyse
        self._remembered = remembered  # a field's length as the index remembers it
        self._owners: dict[int, tuple[int, list[int]]] = {}  # owner → (seq of its last change, slots)
        self.hidden: set[int] = set()  # owners whose passages in the commit are out of date
        self._slots: dict[int, _Slot] = {}
        self._postings: dict[tuple[str, str], dict[int, int]] = {}  # (field, token) → slot → term frequency
        self._next = 0

    def __len__(self) -> int:
        return len(self._owners)

    @property
    def passages(self) -> int:
        """How many passages stand in the overlay."""
        return len(self._slots)

    def put(self, seq: int, owner: int, passages: Sequence[Passage], *, committed: bool) -> None:
        """The owner looks like this since journal line `seq`. `committed`: the commit holds older passages of it."""
        self._forget(owner)
        if committed:
            self.hidden.add(owner)
        slots = []
        for passage in passages:
            slot, self._next = self._next, self._next + 1
            texts = fields(passage.title, passage.heading, passage.body, passage.labels)
            tokens = {field: self._analyse(text) for field, text in texts.items()}
            for field, words in tokens.items():
                for word in words:
                    posting = self._postings.setdefault((field, word), {})
                    posting[slot] = posting.get(slot, 0) + 1
            lengths = {field: self._remembered(len(words)) for field, words in tokens.items()}
            self._slots[slot] = _Slot(passage, frozenset(passage.facets), tokens, lengths)
            slots.append(slot)
        self._owners[owner] = (seq, slots)

    def terms(self, prefix: str) -> set[str]:
        """The terms of the overlay that begin so."""
        return {token for _, token in self._postings if token.startswith(prefix)}

    def settle(self, seq: int) -> None:
        """The commit holds everything up to journal line `seq`: drop what it covers."""
        for owner in [owner for owner, (last, _) in self._owners.items() if last <= seq]:
            self._forget(owner)

    def hide(self, is_committed: Callable[[int], bool]) -> None:
        """Another commit is in hand: it may hold older passages of owners that the last one did not know."""
        self.hidden = {owner for owner in self._owners if is_committed(owner)}

    def clear(self) -> None:
        """Forget everything."""
        self._owners.clear()
        self.hidden.clear()
        self._slots.clear()
        self._postings.clear()

    def search(
        self,
        question: Question,
        boosts: Sequence[tuple[str, float]],
        filter: Filter,
        statistics: Statistics,
        exclude: Collection[int],
        coverage: float = 1.0,
    ) -> list[Hit]:
        """Every passage of the overlay that matches, with the score it would have in the index."""
        scores = self.scores(question, statistics, coverage)
        for facet, boost in boosts:
            for slot in scores:
                if facet in self._slots[slot].facets:
                    scores[slot] += boost
        return [
            Hit(p.id, p.owner, rounded(scores[slot]), p.importance, p.confidence, p.updated)
            for slot in scores
            if (p := self._slots[slot].passage).owner not in exclude
            and self._passes(slot, filter)
            and all(self._meets(slot, demand) for demand in question.required)
            and not any(self._meets(slot, demand) for demand in question.excluded)
        ]

    def coverage(self, rarity: Mapping[tuple[str, ...], float], filter: Filter, exclude: Collection[int]) -> float:
        """The greatest sum of the words' rarity that the title and heading of one passage hold."""
        held: dict[int, float] = {}
        for word, weight in rarity.items():
            for slot in {
                s for token in word for field in ("title", "heading") for s in self._postings.get((field, token), ())
            }:
                held[slot] = held.get(slot, 0.0) + weight
        return max(
            (
                weight
                for slot, weight in held.items()
                if self._slots[slot].passage.owner not in exclude and self._passes(slot, filter)
            ),
            default=0.0,
        )

    def enough(self, statistics: Statistics) -> Statistics:
        """The index's statistics; an engine says what serves while it holds less than the overlay."""
        return statistics

    def scores(self, question: Question, statistics: Statistics, coverage: float) -> dict[int, float]:
        """Score by slot of every passage that matches a clause."""
        raise NotImplementedError

    def _passes(self, slot: int, filter: Filter) -> bool:
        return all(not self._slots[slot].facets.isdisjoint(clause) for clause in filter.clauses)

    def _meets(self, slot: int, demand: Demand) -> bool:
        tokens = self._slots[slot].tokens
        return any(holds(tokens[field], clause, field) for field in demand.fields for clause in demand.clauses)

    def _forget(self, owner: int) -> None:
        self.hidden.discard(owner)
        _, slots = self._owners.pop(owner, (0, []))
        for slot in slots:
            for field, words in self._slots.pop(slot).tokens.items():
                for word in set(words):
                    posting = self._postings[field, word]
                    del posting[slot]
                    if not posting:
                        del self._postings[field, word]


class FieldwiseOverlay(Overlay):
    """One BM25 per field, each with its own lengths and frequencies, summed."""

    def scores(self, question: Question, statistics: Statistics, coverage: float) -> dict[int, float]:
        """See `fieldwise`."""
        counts = Counts(
            self._postings,
            lambda slot, field: self._slots[slot].lengths[field],
            lambda slot, field, phrase: occurrences(phrase, self._slots[slot].tokens[field]),
        )
        return fieldwise(question, counts, self.enough(statistics), coverage)

    def enough(self, statistics: Statistics) -> Statistics:
        """The index's statistics, or, while it holds less than the overlay, those of both together."""
        if statistics.documents > len(self._slots):
            return statistics
        documents = statistics.documents + len(self._slots)
        average = (
            {
                field: (
                    statistics.average.get(field, 0.0) * statistics.documents
                    + sum(slot.lengths[field] for slot in self._slots.values())
                )
                / documents
                for field in bm25.FIELDS
            }
            if documents
            else {}
        )
        return Statistics(
            documents,
            average,
            lambda field, token: statistics.frequency(field, token) + len(self._postings.get((field, token), ())),
        )


class Counts(NamedTuple):
    """What `fieldwise` wants to know of passages: `(field, token)` → passage → how often; lengths; how often a phrase."""

    postings: Mapping[tuple[str, str], Mapping[int, int]]
    length: Callable[[int, str], int]
    phrase: Callable[[int, str, tuple[str, ...]], int]


def fieldwise(question: Question, counts: Counts, statistics: Statistics, coverage: float) -> dict[int, float]:
    """The score of every passage that matches: tokens in every field, phrases where positions are kept, and what a
    passage gets whose names hold every word."""
    scores: dict[int, float] = {}
    factors = {field: bm25.length_factors(statistics.average.get(field, 0.0)) for field in bm25.FIELDS}
    weights = bm25.field_weights(coverage)
    for clause in question.clauses:
        if clause.prefix:
            for slot in prefixed(counts.postings, clause.tokens[-1]):
                scores[slot] = scores.get(slot, 0.0) + clause.weight * bm25.PREFIX_SCORE
            continue
        for field, field_weight in weights.items():
            constant, slope = factors[field]
            for token in () if clause.literal else clause.tokens:
                posting = counts.postings.get((field, token))
                if not posting:
                    continue
                top = clause.weight * field_weight * (bm25.K1 + 1)
                top *= bm25.idf(statistics.documents, statistics.frequency(field, token))
                for slot, tf in posting.items():
                    length = counts.length(slot, field)
                    scores[slot] = scores.get(slot, 0.0) + top * tf / (tf + constant + slope * length)
            if len(clause.tokens) > 1 and field in bm25.WITH_POSITIONS:
                postings = [counts.postings.get((field, token)) for token in clause.tokens]
                if not all(postings):
                    continue
                top = clause.weight * phrase_weight(clause, field, field_weight) * (bm25.K1 + 1)
                top *= sum(
                    bm25.idf(statistics.documents, statistics.frequency(field, token)) for token in clause.tokens
                )
                for slot in min((posting for posting in postings if posting), key=len):
                    tf = counts.phrase(slot, field, clause.tokens)
                    if tf:
                        length = counts.length(slot, field)
                        scores[slot] = scores.get(slot, 0.0) + top * tf / (tf + constant + slope * length)
    bonus = named_wholly(question, statistics, coverage)
    for slot in whole_names(question, counts.postings) if bonus else ():
        scores[slot] = scores.get(slot, 0.0) + bonus
    return scores


def rarity(question: Question, statistics: Statistics) -> dict[tuple[str, ...], float]:
    """The idf of each word in texts, that of the more frequent of its forms: mostly a corpus knows but one of them."""
    frequency = statistics.frequency
    return {
        word: bm25.idf(statistics.documents, max(frequency("body", token) for token in word)) for word in question.words
    }


def by_token(rarity: Mapping[tuple[str, ...], float]) -> dict[str, float]:
    """The same for each token."""
    return {token: weight for word, weight in rarity.items() for token in word}


def covered(held: float, rarity: Mapping[tuple[str, ...], float]) -> float:
    """The share of the question, rounded so that all who compute it agree."""
    whole = sum(rarity.values())
    return min(1.0, round(held / whole, 2)) if whole else 0.0


def named_wholly(question: Question, statistics: Statistics, coverage: float) -> float:
    """What a passage gets whose title, heading and labels together hold every word."""
    return bm25.NAMED_WHOLLY * coverage * sum(rarity(question, statistics).values())


def whole_names(question: Question, postings: Mapping[tuple[str, str], Mapping[int, int]]) -> set[int]:
    """The passages whose title, heading and labels together hold every word."""
    found: set[int] | None = None
    for word in question.words:
        holding = {slot for token in word for field in bm25.NAME_WEIGHTS for slot in postings.get((field, token), ())}
        found = holding if found is None else found & holding
    return found or set()


def prefixed(postings: Mapping[tuple[str, str], Mapping[int, int]], prefix: str) -> set[int]:
    """The passages with a word that begins so, in any field."""
    return {slot for (_, token), posting in postings.items() if token.startswith(prefix) for slot in posting}


def phrase_weight(clause: Clause, field: str, field_weight: float) -> float:
    """What the clause's phrase weighs in a field."""
    return bm25.LITERAL_WEIGHTS[field] if clause.literal else field_weight * bm25.PHRASE_WEIGHT


def units(clause: Clause) -> list[tuple[str, ...]]:
    """What a clause asks for: the phrase, when there is one, and each token."""
    if clause.literal:
        return [clause.tokens]
    singles: list[tuple[str, ...]] = [(token,) for token in clause.tokens]
    return [clause.tokens, *singles] if len(clause.tokens) > 1 else singles


def holds(tokens: list[str], clause: Clause, field: str) -> bool:
    """Whether the tokens of a field hold those of the clause: side by side, where positions are kept."""
    if clause.prefix:
        whole = set(clause.tokens[:-1]).issubset(tokens)
        return whole and any(token.startswith(clause.tokens[-1]) for token in tokens)
    if field in bm25.WITH_POSITIONS:
        return occurrences(clause.tokens, tokens) > 0
    return set(clause.tokens).issubset(tokens)


def occurrences(phrase: tuple[str, ...], tokens: list[str]) -> int:
    """How often the phrase stands in the tokens."""
    first, n = phrase[0], len(phrase)
    return sum(1 for i, token in enumerate(tokens) if token == first and tuple(tokens[i : i + n]) == phrase)
