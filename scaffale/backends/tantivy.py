"""The Tantivy engine (Rust BM25 index). Commits are rare and batched; what is newer stands in the overlay.

What this file must never do: hand user text to Tantivy's query parser (some strings overflow its stack), commit on the
write path (a commit is some fifteen fsyncs), or let a Rust panic through. A panic reaches Python as a `BaseException`;
`_border` turns every engine failure into `IndexUnusable`, and the caller rebuilds.
"""

from __future__ import annotations

import os
import re
import threading
from typing import TYPE_CHECKING

import tantivy
from tantivy import Document, Occur, TextAnalyzerBuilder, Tokenizer
from tantivy import Filter as TokenFilter
from tantivy import Query as EngineQuery

from scaffale.backends.overlay import FieldwiseOverlay, Statistics, analysed, by_token, covered, phrase_weight, rarity
from scaffale.backends.ports import TERMS, TIED_HITS_CAP, WriterBusy
from scaffale.errors import IndexUnusable
from scaffale.model import Hit, Hits, Watermark
from scaffale.ranking import bm25
from scaffale.ranking.order import closed, rounded
from scaffale.text import fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from types import TracebackType

    from scaffale.backends.overlay import Clause, Question
    from scaffale.model import Filter, Passage
    from scaffale.text import Query

    Part = tuple[Occur, EngineQuery]

_VERSION: str = tantivy.__dict__["__version__"]  # "tantivy v0.27.0, index_format v7"; the stubs do not know of it
IDENTITY = f"tantivy-{_VERSION.split()[1].strip('v,')}-v2"
SINGLE_HEAP = 15_000_000  # the least that one writer thread takes
BULK_HEAP = 128_000_000
MAX_SEGMENTS = 8  # more of them slow every search down; a writer then waits for its merges
OVERFETCH = 40  # beyond k, to close the tied group in one call nearly always
FEW_HIDDEN = 100  # owners that are left out one by one: a set of them costs as much as a search, however small it is
_ANALYZER = "scaffale"
_PROBE = (
    "\x00"  # a token that no text yields, in every field of the sentinel: `explain` of it tells the corpus statistics
)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", fast=True)
    builder.add_integer_field("owner", indexed=True, fast=True)
    builder.add_integer_field("importance", fast=True)
    builder.add_float_field("confidence", fast=True)
    builder.add_integer_field("updated", fast=True)
    builder.add_text_field("facet", tokenizer_name="raw", index_option="basic")
    for field in bm25.FIELDS:
        kept = "position" if field in bm25.WITH_POSITIONS else "freq"
        builder.add_text_field(field, tokenizer_name=_ANALYZER, index_option=kept)
    builder.add_text_field("mark", stored=True, tokenizer_name="raw", index_option="basic")
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    """Split at what is no letter or digit, lower case, no accents, English stems. Italian arrives stemmed (`text`)."""
    builder = TextAnalyzerBuilder(Tokenizer.simple())
    for step in (
        TokenFilter.remove_long(100),
        TokenFilter.lowercase(),
        TokenFilter.ascii_fold(),  # before the stemmer, so that `perché` and `perche` have one stem
        TokenFilter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()


class TantivyIndex:
    """`LexicalIndex` on a folder. Creating it opens the index or makes an empty one."""

    def __init__(self, folder: str) -> None:
        self._view = ""  # a folder of links, where the index's own cannot be written
        self._folder = folder
        self._lock = threading.Lock()
        self._schema = _schema()
        self._analyzer = _analyzer()
        self._overlay = FieldwiseOverlay(self._analyzer.analyze, bm25.quantised)
        self._level: Watermark | None = None
        self._statistics: Statistics | None = None  # of the searcher in hand, asked for when the overlay needs them
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.access(folder, os.W_OK):
            self._view = _linked(folder)
        with _border("open"):
            self._index = tantivy.Index(self._schema, self._view or folder)
            self._index.register_tokenizer(_ANALYZER, self._analyzer)
            self._index.config_reader("manual")
        self.refresh()

    def watermark(self) -> Watermark | None:
        """What the reader in hand has committed."""
        return self._committed

    def refresh(self) -> None:
        """Take a reader on the newest commit."""
        with _border("reload"):
            self._index.reload()
            searcher = self._index.searcher()
            committed = _read_mark(searcher, self._schema)
        with self._lock:
            self._searcher, self._committed, self._statistics = searcher, committed, None
            if committed:
                self._overlay.settle(committed.seq)
                with _border("read"):
                    self._overlay.hide(lambda owner: searcher.doc_freq("owner", owner) > 0)
                if self._level is None or self._level.seq < committed.seq:
                    self._level = committed

    def overlay(self, changes: Iterable[tuple[int, int, Sequence[Passage]]], upto: Watermark) -> None:
        """Show changes on top of the commit."""
        with self._lock:
            for seq, owner, passages in changes:
                with _border("read"):
                    committed = self._searcher.doc_freq("owner", owner) > 0
                self._overlay.put(seq, owner, passages, committed=committed)
            self._level = upto

    def level(self) -> Watermark | None:
        """How far commit and overlay have read."""
        return self._level

    def overlaid(self) -> int:
        """How many owners stand in the overlay."""
        return len(self._overlay)

    def stems(self, text: str) -> list[str]:
        """The terms of a text."""
        return self._analyzer.analyze(text)

    def owners(self) -> set[int]:
        """Of all passages that are committed."""
        with _border("read"):
            searcher = self._searcher
            hits = searcher.search(EngineQuery.all_query(), max(1, searcher.num_docs)).hits
            owners = searcher.fast_field_values("owner", [address for _, address in hits])
        return {owner for owner in owners if isinstance(owner, int) and owner >= 0}  # the watermark's own is -1

    def terms(self, prefix: str) -> set[str]:
        """The terms that begin so."""
        with _border("read"), self._lock:
            found = self._overlay.terms(prefix)
            for field in bm25.FIELDS:
                found.update(term for term, _ in self._searcher.terms_with_prefix(field, prefix, limit=TERMS))
        return found

    def search(self, query: Query, filter: Filter, k: int, exclude: Collection[int] = ()) -> Hits:
        """The best `k` and what ties with the last of them."""
        question = analysed(query, self._analyzer.analyze)
        if not question.clauses:
            return Hits([], 0)
        with _border("search"), self._lock:
            searcher, overlay = self._searcher, self._overlay
            if self._statistics is None:
                self._statistics = _statistics(searcher, self._schema)
            statistics = overlay.enough(self._statistics)
            rare = rarity(question, statistics)
            hidden = {*overlay.hidden, *exclude}
            others = self._filters(filter, hidden)
            held = self._held_by_a_name(searcher, rare, others)
            newer = []
            if len(overlay):
                held = max(held, overlay.coverage(rare, filter, exclude))
                newer = overlay.search(question, query.boosts, filter, statistics, exclude, covered(held, rare))
        with _border("search"):
            asked = self._engine_query(searcher, question, query, covered(held, rare), sum(rare.values()), others)
            committed, total, truncated = self._search_commit(searcher, asked, k)
        hits = closed([*committed, *newer], k) if newer else committed
        return Hits(hits, total + len(newer), truncated, covered(held, rare), by_token(rare))

    def writer(self, *, bulk: bool = False) -> TantivyWriter:
        """The writer, or `WriterBusy`."""
        if self._view:
            raise WriterBusy
        return TantivyWriter(self._index, self._schema, bulk=bulk)

    def verify(self, *, deep: bool = False) -> None:
        """By the checksums that Tantivy writes and does not read."""
        from scaffale.backends import tantivy_files

        tantivy_files.check(self._folder)

    def close(self) -> None:
        """Nothing is held but memory; the reader goes with the object."""
        view, self._view = self._view, ""
        if view:
            import shutil

            shutil.rmtree(view, ignore_errors=True)

    __del__ = close

    # --- one search of the commit ----------------------------------------------------------------------------------

    @staticmethod
    def _search_commit(searcher: tantivy.Searcher, query: EngineQuery, k: int) -> tuple[list[Hit], int, bool]:
        limit = k + OVERFETCH
        while True:
            result = searcher.search(query, limit)
            hits: list[tuple[float, tantivy.DocAddress]] = result.hits
            total: int = result.count  # type: ignore[attr-defined]
            last = rounded(hits[k - 1][0]) if len(hits) > k else 0.0
            open_end = len(hits) < total and len(hits) > k and last == rounded(hits[-1][0])
            if not open_end or limit >= TIED_HITS_CAP:
                break
            limit = TIED_HITS_CAP if limit > k + OVERFETCH else limit * 8
        kept = []
        for exact, address in hits:
            score = rounded(exact)
            if score < last:
                break
            kept.append((score, address))
        addresses = [address for _, address in kept]
        ids, owners, updates = (searcher.fast_field_values(name, addresses) for name in ("id", "owner", "updated"))
        if None in ids or None in owners or None in updates:
            raise IndexUnusable("tantivy found passages without their numbers: its files are damaged")
        importances = [each or 0 for each in searcher.fast_field_values("importance", addresses)]
        confidences = [-1.0 if each is None else each for each in searcher.fast_field_values("confidence", addresses)]
        rows = zip(kept, ids, owners, importances, confidences, updates, strict=True)
        return [Hit(i, o, s, p, c, u) for (s, _), i, o, p, c, u in rows], total, open_end

    def _held_by_a_name(
        self, searcher: tantivy.Searcher, rare: Mapping[tuple[str, ...], float], others: Sequence[Part]
    ) -> float:
        """The greatest sum of the words' rarity that the title and heading of one passage hold."""
        shoulds = []
        for word, weight in rare.items():
            terms = [
                EngineQuery.term_query(self._schema, field, token) for token in word for field in ("title", "heading")
            ]
            shoulds.append((Occur.Should, EngineQuery.const_score_query(_either(terms), weight)))
        if not shoulds:
            return 0.0
        best = searcher.search(
            EngineQuery.boolean_query([(Occur.Must, EngineQuery.boolean_query(shoulds)), *others]), 1, False
        )
        return float(best.hits[0][0]) if best.hits else 0.0

    def _filters(self, filter: Filter, hidden: Collection[int]) -> list[Part]:
        schema = self._schema
        parts = []
        for facets in filter.clauses:
            either = _either([EngineQuery.term_query(schema, "facet", facet, "basic") for facet in facets])
            parts.append((Occur.Must, EngineQuery.const_score_query(either, 0.0)))
        if len(hidden) > FEW_HIDDEN:
            parts.append((Occur.MustNot, EngineQuery.term_set_query(schema, "owner", list(hidden))))
        else:
            parts += [(Occur.MustNot, EngineQuery.term_query(schema, "owner", owner, "basic")) for owner in hidden]
        return parts

    def _engine_query(
        self, searcher: tantivy.Searcher, question: Question, query: Query, coverage: float, whole: float, others: Sequence[Part]
    ) -> EngineQuery:
        schema, frequency = self._schema, searcher.doc_freq
        shoulds: list[Part] = []
        weights, names = bm25.field_weights(coverage), bm25.NAME_WEIGHTS

        def should(part: EngineQuery, weight: float) -> None:
            shoulds.append((Occur.Should, part if weight == 1.0 else EngineQuery.boost_query(part, weight)))

        for clause in question.clauses:
            if clause.prefix:
                begun = _either([self._held(field, clause) for field in bm25.FIELDS])
                shoulds.append((Occur.Should, EngineQuery.const_score_query(begun, clause.weight * bm25.PREFIX_SCORE)))
                continue
            for field, field_weight in weights.items():
                for token in () if clause.literal else clause.tokens:
                    if frequency(field, token):  # most words have a form in one language only
                        should(EngineQuery.term_query(schema, field, token), clause.weight * field_weight)
                if len(clause.tokens) > 1 and field in bm25.WITH_POSITIONS:
                    phrase = EngineQuery.phrase_query(schema, field, list(clause.tokens))
                    should(phrase, clause.weight * phrase_weight(clause, field, field_weight))
        parts = [(Occur.Must, EngineQuery.boolean_query(shoulds)), *others]
        if question.words and coverage:
            named = [
                (Occur.Must, _either([EngineQuery.term_query(schema, field, token) for token in word for field in names]))
                for word in question.words
            ]
            bonus = bm25.NAMED_WHOLLY * coverage * whole
            parts.append((Occur.Should, EngineQuery.const_score_query(EngineQuery.boolean_query(named), bonus)))
        for facet, boost in query.boosts:
            term = EngineQuery.term_query(schema, "facet", facet, "basic")
            parts.append((Occur.Should, EngineQuery.const_score_query(term, boost)))
        for occur, demands in ((Occur.Must, question.required), (Occur.MustNot, question.excluded)):
            for demand in demands:
                held = _either([self._held(field, clause) for field in demand.fields for clause in demand.clauses])
                parts.append((occur, EngineQuery.const_score_query(held, 0.0)))
        return EngineQuery.boolean_query(parts) if len(parts) > 1 else parts[0][1]

    def _held(self, field: str, clause: Clause) -> EngineQuery:
        """What passages hold whose field holds the tokens: side by side, where positions are kept."""
        tokens: list[str] = list(clause.tokens)
        if len(tokens) > 1 and field in bm25.WITH_POSITIONS and not clause.prefix:
            return EngineQuery.phrase_query(self._schema, field, [*tokens])
        parts = [EngineQuery.term_query(self._schema, field, token) for token in tokens]
        if clause.prefix:  # tokens are letters and digits: nothing in them is a pattern
            parts[-1] = EngineQuery.regex_query(self._schema, field, f"{tokens[-1]}.*")
        return parts[0] if len(parts) == 1 else EngineQuery.boolean_query([(Occur.Must, part) for part in parts])


def _either(parts: Sequence[EngineQuery]) -> EngineQuery:
    return parts[0] if len(parts) == 1 else EngineQuery.boolean_query([(Occur.Should, part) for part in parts])


class TantivyWriter:
    """A lease on the writer lock (an OS file lock: it dies with its process)."""

    def __init__(self, index: tantivy.Index, schema: tantivy.Schema, *, bulk: bool) -> None:
        self._schema = schema
        self._index = index
        try:
            with _border("lock"):
                self._writer: tantivy.IndexWriter | None = index.writer(BULK_HEAP if bulk else SINGLE_HEAP, 1)
        except IndexUnusable as error:
            if "LockBusy" in str(error):
                raise WriterBusy from None
            raise
        with _border("reload"):
            index.reload()
            self.watermark = _read_mark(index.searcher(), schema)

    def replace(self, owner: int, passages: Sequence[Passage]) -> None:
        """Delete what stands for the owner, add its passages."""
        assert self._writer
        with _border("write"):
            self._writer.delete_documents_by_term("owner", owner)
            for id, _, title, heading, body, labels, facets, importance, confidence, updated in passages:
                document = Document()
                document.add_integer("id", id)
                document.add_integer("owner", owner)
                document.add_integer("updated", updated)
                if importance:  # sections of documents have neither: what is absent costs nothing
                    document.add_integer("importance", importance)
                if confidence >= 0:
                    document.add_float("confidence", confidence)
                for facet in facets:
                    document.add_text("facet", facet)
                for field, text in fields(title, heading, body, labels).items():
                    if text:
                        document.add_text(field, text)
                self._writer.add_document(document)

    def commit(self, upto: Watermark) -> None:
        """Batch and watermark become visible in one commit."""
        assert self._writer
        with _border("commit"):
            self._writer.delete_documents_by_term("mark", "watermark")
            self._writer.add_document(_sentinel(upto))
            self._writer.commit()
        self.watermark = upto

    def __enter__(self) -> TantivyWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        writer, self._writer = self._writer, None
        if writer is None:
            return
        if kind is None:
            with _border("merge"):
                self._index.reload()
                if self._index.searcher().num_segments > MAX_SEGMENTS:
                    writer.wait_merging_threads()  # a writer that is dropped cancels its merges
        del writer  # releases the lock


def _linked(folder: str) -> str:
    """A temporary folder of links to the files of a folder that cannot be written: even a reader makes a lock file."""
    import tempfile

    view = tempfile.mkdtemp(prefix="scaffale-")
    for name in os.listdir(folder):
        if not name.endswith(".lock"):
            os.symlink(os.path.join(folder, name), os.path.join(view, name))
    return view


def _sentinel(mark: Watermark) -> Document:
    document = Document()
    document.add_text("mark", "watermark")
    document.add_text("mark", f"{mark.store} {mark.seq} {mark.nonce}")
    document.add_integer("owner", -1)
    for field in bm25.FIELDS:
        document.add_pre_tokenized_text(field, tantivy.PreTokenizedString(_PROBE, [tantivy.Token(_PROBE, 0, 0, 1)]))
    return document


def _read_mark(searcher: tantivy.Searcher, schema: tantivy.Schema) -> Watermark | None:
    hits = searcher.search(EngineQuery.term_query(schema, "mark", "watermark", "basic"), 1).hits
    if not hits:
        return None
    store, seq, nonce = searcher.doc(hits[0][1]).get_all("mark")[1].split()
    return Watermark(store, int(seq), int(nonce))


def _statistics(searcher: tantivy.Searcher, schema: tantivy.Schema) -> Statistics:
    """The numbers that Tantivy's own scorer uses, deleted passages included until they are merged away."""
    documents, average = 0, {}
    for field in bm25.FIELDS:
        probe = EngineQuery.term_query(schema, field, _PROBE)
        hits = searcher.search(probe, 1).hits
        if hits:
            found = {what: float(number) for number, what in _NUMBER.findall(probe.explain(searcher, hits[0][1]).to_json())}
            documents = int(found["N, total number of docs"])
            average[field] = found["avgdl, average length of field"]
    return Statistics(documents, average, searcher.doc_freq)


_NUMBER = re.compile(r'"value": (\S+),\s+"description": "([^"]*)"')  # of an explanation in JSON, without importing `json`


class _border:  # noqa: N801  (reads as a statement)
    """Every failure of the engine, panics included, leaves as `IndexUnusable`."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | IndexUnusable):
            return
        raise IndexUnusable(f"tantivy could not {self._doing}: {kind.__name__ if kind else ''}: {error}") from error
