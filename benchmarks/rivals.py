"""What anybody gets from the bare libraries: BM25 over one field, title and text joined, words OR-ed.

Nothing here imports Scaffale. Each rival takes the texts of one group and ranks their numbers for a query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LANGUAGES = {"en": "english", "it": "italian"}


class Rival(Protocol):
    """Ranks the numbers of its texts for a query, best first, at most `limit`."""

    def rank(self, query: str, limit: int) -> list[int]: ...


class Tantivy:
    """Tantivy with the stemmer of the language."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        import tantivy
        from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("number", stored=True)
        builder.add_text_field("text", tokenizer_name="stemmed")
        self._schema = builder.build()
        self._analyzer = (
            TextAnalyzerBuilder(Tokenizer.simple())
            .filter(Filter.remove_long(60))
            .filter(Filter.lowercase())
            .filter(Filter.stemmer(LANGUAGES[language]))
            .build()
        )
        index = tantivy.Index(self._schema)
        index.register_tokenizer("stemmed", self._analyzer)
        writer = index.writer(20_000_000, 1)
        for number, text in enumerate(texts):
            document = tantivy.Document()
            document.add_integer("number", number)
            document.add_text("text", text)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()

    def rank(self, query: str, limit: int) -> list[int]:
        """Each distinct stem is a clause."""
        from tantivy import Occur, Query

        terms = dict.fromkeys(self._analyzer.analyze(query))
        if not terms:
            return []
        either = Query.boolean_query([(Occur.Should, Query.term_query(self._schema, "text", term)) for term in terms])
        hits = self._searcher.search(either, limit).hits
        return [self._searcher.doc(address)["number"][0] for _, address in hits]


class Fts5:
    """SQLite's FTS5 with its porter tokenizer, in every language."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        import apsw

        self._connection = apsw.Connection(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
        self._connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", list(enumerate(texts)))

    def rank(self, query: str, limit: int) -> list[int]:
        """Each distinct run of letters and digits is a quoted word."""
        import re

        words = dict.fromkeys(re.findall(r"[^\W_]+", query.lower()))
        if not words:
            return []
        rows = self._connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), limit),
        )
        return [row[0] for row in rows]


class Bm25s:
    """`bm25s` with the stemmer and the stop words of the language."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        import bm25s
        import Stemmer

        self._stopwords = language
        self._stemmer = Stemmer.Stemmer(LANGUAGES[language])
        self._index = bm25s.BM25()
        self._count = len(texts)
        self._index.index(self._tokens(list(texts)), show_progress=False)

    def rank(self, query: str, limit: int) -> list[int]:
        """Documents that hold no word of the query are left out."""
        numbers, scores = self._index.retrieve(
            self._tokens([query]), k=min(limit, self._count), show_progress=False, sorted=True
        )
        return [int(number) for number, score in zip(numbers[0], scores[0], strict=True) if score > 0]

    def _tokens(self, texts: list[str]) -> object:
        import bm25s

        return bm25s.tokenize(texts, stopwords=self._stopwords, stemmer=self._stemmer, show_progress=False)


RIVALS: dict[str, Callable[[Sequence[str], str], Rival]] = {
    "plain Tantivy, stemmed": Tantivy,
    "FTS5 porter": Fts5,
    "bm25s": Bm25s,
}


def absent() -> list[str]:
    """Rivals whose library is not installed here."""
    import importlib.util

    return [] if importlib.util.find_spec("bm25s") else ["bm25s"]
