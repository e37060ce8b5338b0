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
from scaffale.text import Query, fields, italian, plain

MAX_TOKENS = 16  # of one word; more of them are no word


class Clause(NamedTuple):
    """One analysed term of a query: one token, or several that stand for a phrase and for each of themselves.

    `words` are the tokens before stemming, for an engine whose statements stem by themselves. A `literal` clause is the
    phrase alone.
    """

    tokens: tuple[str, ...]
    weight: float
    words: tuple[str, ...] = ()
    literal: bool = False


def analysed(
    query: Query, analyse: Callable[[str], list[str]], split: Callable[[str], list[str]] | None = None
) -> list[Clause]:
    """The clauses of a query: each distinct run of tokens once, with its greatest weight. Each word is asked for as
    English passages hold it and as Italian ones do; mostly these are different terms, of which a passage has one.
    `split` gives the words that `analyse` stems, when an engine wants these too."""
    clauses: dict[tuple[tuple[str, ...], bool], Clause] = {}
    asked = [(term.text, term.weight, False) for term in query.terms]
    if query.literal:
        asked.append((query.literal, 1.0, True))
    for asked_text, weight, literal in asked:
        text = plain(asked_text)
        for form in (text, italian(text)):
            tokens = tuple(analyse(form)[:MAX_TOKENS])
            known = clauses.get((tokens, literal))
            if len(tokens) > literal and (known is None or known.weight < weight):
                words = tuple(split(form)[:MAX_TOKENS]) if split else ()
                clauses[tokens, literal] = Clause(tokens, weight, words, literal)
    return list(clauses.values())


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

    def __init__(self, analyse: Callable[[str], list[str]]) -> None:
        self._analyse = analyse
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
            lengths = {field: self.remembered_length(len(words)) for field, words in tokens.items()}
            self._slots[slot] = _Slot(passage, frozenset(passage.facets), tokens, lengths)
            slots.append(slot)
        self._owners[owner] = (seq, slots)

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
        clauses: Sequence[Clause],
        boosts: Sequence[tuple[str, float]],
        filter: Filter,
        statistics: Statistics,
        exclude: Collection[int],
    ) -> list[Hit]:
        """Every passage of the overlay that matches, with the score it would have in the index."""
        scores = self.scores(clauses, statistics)
        for facet, boost in boosts:
            for slot in scores:
                if facet in self._slots[slot].facets:
                    scores[slot] += boost
        return [
            Hit(p.id, p.owner, rounded(scores[slot]), p.importance, p.confidence, p.updated)
            for slot in scores
            if (p := self._slots[slot].passage).owner not in exclude
            and all(not self._slots[slot].facets.isdisjoint(clause) for clause in filter.clauses)
        ]

    def scores(self, clauses: Sequence[Clause], statistics: Statistics) -> dict[int, float]:
        """Score by slot of every passage that matches a clause."""
        raise NotImplementedError

    def remembered_length(self, length: int) -> int:
        """A field's length as the index remembers it."""
        return length

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

    def remembered_length(self, length: int) -> int:
        """One byte's worth."""
        return bm25.quantised(length)

    def scores(self, clauses: Sequence[Clause], statistics: Statistics) -> dict[int, float]:
        """Tokens in every field, phrases in title and text."""
        statistics = self._enough(statistics)
        scores: dict[int, float] = {}
        factors = {field: bm25.length_factors(statistics.average.get(field, 0.0)) for field in bm25.FIELD_WEIGHTS}
        for clause in clauses:
            for field, field_weight in bm25.FIELD_WEIGHTS.items():
                constant, slope = factors[field]
                for token in () if clause.literal else clause.tokens:
                    posting = self._postings.get((field, token))
                    if not posting:
                        continue
                    top = clause.weight * field_weight * (bm25.K1 + 1)
                    top *= bm25.idf(statistics.documents, statistics.frequency(field, token))
                    for slot, tf in posting.items():
                        length = self._slots[slot].lengths[field]
                        scores[slot] = scores.get(slot, 0.0) + top * tf / (tf + constant + slope * length)
                if len(clause.tokens) > 1 and field != "labels":
                    self._add_phrases(scores, clause, field, statistics, factors[field])
        return scores

    def _enough(self, statistics: Statistics) -> Statistics:
        """The index's statistics, or, while it holds less than the overlay, those of both together."""
        if statistics.documents > len(self._slots):
            return statistics
        documents = statistics.documents + len(self._slots)
        average = {
            field: (
                statistics.average.get(field, 0.0) * statistics.documents
                + sum(slot.lengths[field] for slot in self._slots.values())
            )
            / documents
            for field in bm25.FIELD_WEIGHTS
        }
        return Statistics(
            documents,
            average,
            lambda field, token: statistics.frequency(field, token) + len(self._postings.get((field, token), ())),
        )

    def _add_phrases(
        self,
        scores: dict[int, float],
        clause: Clause,
        field: str,
        statistics: Statistics,
        factors: tuple[float, float],
    ) -> None:
        postings = [self._postings.get((field, token)) for token in clause.tokens]
        if not all(postings):
            return
        constant, slope = factors
        top = clause.weight * phrase_weight(clause, field) * (bm25.K1 + 1)
        top *= sum(bm25.idf(statistics.documents, statistics.frequency(field, token)) for token in clause.tokens)
        rarest = min((posting for posting in postings if posting), key=len)
        for slot in rarest:
            tf = occurrences(clause.tokens, self._slots[slot].tokens[field])
            if tf:
                length = self._slots[slot].lengths[field]
                scores[slot] = scores.get(slot, 0.0) + top * tf / (tf + constant + slope * length)


def phrase_weight(clause: Clause, field: str) -> float:
    """What the clause's phrase weighs in a field."""
    return bm25.LITERAL_WEIGHTS[field] if clause.literal else bm25.FIELD_WEIGHTS[field] * bm25.PHRASE_WEIGHT


def units(clause: Clause) -> list[tuple[str, ...]]:
    """What a clause asks for: the phrase, when there is one, and each token."""
    if clause.literal:
        return [clause.tokens]
    singles: list[tuple[str, ...]] = [(token,) for token in clause.tokens]
    return [clause.tokens, *singles] if len(clause.tokens) > 1 else singles


def occurrences(phrase: tuple[str, ...], tokens: list[str]) -> int:
    """How often the phrase stands in the tokens."""
    first, n = phrase[0], len(phrase)
    return sum(1 for i, token in enumerate(tokens) if token == first and tuple(tokens[i : i + n]) == phrase)
