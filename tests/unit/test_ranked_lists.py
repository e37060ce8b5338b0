"""Ranked lists with the parts of their scores, held to what they were: a change of ranking is seen, query by query.

`SCAFFALE_WRITE_GOLDEN=1 pytest` writes them anew; the difference is what a change of the formula did.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from scaffale.docs import Docs
from scaffale.settings import load

SAMPLES = Path(__file__).parents[2] / "benchmarks" / "samples"
GOLDEN = Path(__file__).parent / "golden_ranked_lists.json"
TOP = 5
NEAR = 0.02  # engines compute in single precision
QUERIES = {
    "en": (
        "how do I restore a backup", "lock wait timeout exceeded", "--dry-run", "schema migration old version running",
        "retention of old copies", "passphrase", '"quiet hours"', "backup -restore", "title:drill",
    ),
    "it": ("per quanti giorni posso tenere un libro", "rinnovi del prestito", "multa", "pagina strappata"),
}  # fmt: skip


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """`{engine: {language: {query: [[path, score, parts], …]}}}` of the samples."""
    found = {}
    for engine in ("tantivy", "fts5"):
        home = str(tmp_path_factory.mktemp(engine))
        with Docs(load({"HOME": home, "DOCS_LEXICAL_BACKEND": engine}, home)) as docs:
            for language in QUERIES:
                docs.scan_folder(folder_path=str(SAMPLES / language), shelf=language)
            found[engine] = {
                language: {query: _list(docs, query, language) for query in queries} for language, queries in QUERIES.items()
            }
    return found


def _list(docs, query, shelf):
    hits = docs.search(query=query, shelf=shelf, limit=TOP, explain=True).results
    return [[os.path.relpath(hit.file_path, SAMPLES / shelf).replace(os.sep, "/"), hit.score, hit.explain] for hit in hits]


def test_lists_are_the_golden_ones(lists):
    if os.environ.get("SCAFFALE_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps(lists["tantivy"], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for language, queries in QUERIES.items():
        for query in queries:
            now, was = lists["tantivy"][language][query], golden[language][query]
            assert [path for path, *_ in now] == [path for path, *_ in was], query
            for (path, score, parts), (_, old_score, old_parts) in zip(now, was, strict=True):
                assert score == pytest.approx(old_score, abs=NEAR), (query, path)
                assert parts == pytest.approx(old_parts, abs=NEAR), (query, path)


def test_parts_add_up_to_scores(lists):
    for engine in lists.values():
        for queries in engine.values():
            for query, hits in queries.items():
                for path, score, parts in hits:
                    assert sum(parts.values()) == pytest.approx(score, abs=NEAR), (query, path)


def test_engines_agree_on_the_first(lists):
    for language, queries in lists["tantivy"].items():
        for query, hits in queries.items():
            others = lists["fts5"][language][query]
            assert [path for path, *_ in hits[:1]] == [path for path, *_ in others[:1]], query
