"""`python -m benchmarks answerable`: queries whose words stand nowhere, and which a person would answer all the same.

Typos, other forms of a word, words joined or parted. Each is asked of a store that holds the shipped sample, both
languages, and names the documents that would do. An answer is one of them among the first ten, or among the suggestions.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import Figure
from scaffale import settings as settings_module
from scaffale.docs import Docs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples")
LANGUAGES = ("en", "it")
ENGINES = ("tantivy", "fts5", "like")
AT_MOST = 10  # of a hundred


class Query(NamedTuple):
    """A query and the documents that would do, as `language/folder/file`."""

    text: str
    expected: frozenset[str]


class Unanswered(NamedTuple):
    """A query and what came instead: nothing, or the first of the wrong documents."""

    query: Query
    first: str | None


def main(argv: Sequence[str]) -> int:
    """Ask all of them and print those that stay without an answer."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks answerable", description=__doc__)
    parser.add_argument("--engine", action="append", choices=ENGINES, help="repeatable (default: all)")
    asked = parser.parse_args(argv)
    every = queries()
    with tempfile.TemporaryDirectory(prefix="scaffale-answerable-") as folder:
        for engine in asked.engine or ENGINES:
            left = unanswered(every, folder, engine)
            nothing = sum(each.first is None for each in left)
            print(f"\n{engine}: {len(left)} of {len(every)} not answered (goal ≤ {AT_MOST}): {nothing} find nothing,"
                  f" {len(left) - nothing} not the right document")  # fmt: skip
            for each in left:
                print(f"  {each.query.text:<24} wanted {' '.join(sorted(each.query.expected))}; {each.first or 'nothing'}")
    return 0


def figures(folder: str, size: int) -> Iterator[Figure]:
    """How many stay unanswered, for the gate."""
    every = queries()
    for engine in ENGINES:
        left = unanswered(every, folder, engine)
        shown = " · ".join(each.query.text for each in left[:8])
        yield Figure(f"answerable, {engine}: unanswered of {len(every)}", len(left), AT_MOST, slack=0.0, arms=shown)


def queries() -> list[Query]:
    """All of them, in the order of the file."""
    with open(os.path.join(SAMPLES, "answerable.jsonl"), encoding="utf-8") as file:
        return [Query(said["query"], frozenset(said["expected"])) for said in map(json.loads, file)]


def unanswered(every: Sequence[Query], folder: str, engine: str) -> list[Unanswered]:
    """Those that the engine leaves without an answer. Its store is made in `folder`."""
    root = os.path.realpath(SAMPLES)
    left = []
    with Docs(settings_module.load({"HOME": folder, "DOCS_LEXICAL_BACKEND": engine}, folder)) as docs:
        for language in LANGUAGES:
            docs.scan_folder(folder_path=os.path.join(root, language), shelf=language, respect_gitignore=False)
        for query in every:
            answer = docs.search(query=query.text, limit=10)
            hits = [*answer.results, *(getattr(answer, "suggestions", None) or ())]
            names = [os.path.relpath(hit.file_path, root).replace(os.sep, "/") for hit in hits]
            if query.expected.isdisjoint(names):
                left.append(Unanswered(query, names[0] if names else None))
    return left
