"""`python -m benchmarks links [--sets FOLDER] [--no-links] [--grow]`: how many of the links that authors made are found again.

Each set is a collection of documents whose "see also" sections were taken out; the links that stood there are what is to be
found. Printed per set and formula: recall and nDCG of the first eight, F1 at one threshold for all sets, and how often a
link of each confidence is right. `--grow` measures processor time at growing numbers of documents.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import linked_sample
from benchmarks.measure import Figure
from scaffale.ranking import links
from scaffale.ranking.likeness import Head, Library

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = os.path.join(HERE, "..", "..", "shared", "eval")
CUT = 8
MIN_CONFIDENCE = 0.6


class Collection(NamedTuple):
    """Documents, and for some of them the documents that their authors named."""

    name: str
    documents: list[dict[str, Any]]
    wanted: dict[int, set[int]]


class Scored(NamedTuple):
    """What a formula made of a collection: per source its candidates with confidence, best first."""

    collection: Collection
    ranked: dict[int, list[tuple[int, float]]]
    seconds: float


def collections(folder: str) -> Iterator[Collection]:
    """The sets of a folder, `links-*`, each with the half that development may see."""
    for name in sorted(os.listdir(folder)):
        if name.startswith("links-"):
            documents = _lines(os.path.join(folder, name, "docs.jsonl.gz"))
            number = {each["id"]: place for place, each in enumerate(documents)}
            wanted = {
                number[row["query_id"]]: {number[id] for id, grade in row["rel"].items() if grade > 0}
                for row in _lines(os.path.join(folder, name, "qrels.dev.jsonl.gz"))
            }
            yield Collection(name.removeprefix("links-"), documents, wanted)


def library(documents: list[dict[str, Any]], *, with_links: bool = True) -> Library:
    """The documents, read."""
    number = {each["id"]: place for place, each in enumerate(documents)}
    made = Library(
        [Head(place, 1, each["path"], each["title"], tuple(dict.fromkeys(map(str.lower, each["tags"]))))
         for place, each in enumerate(documents)]
    )  # fmt: skip
    for place, each in enumerate(documents):
        leads = [number[id] for id in each["inline_links"] if id in number] if with_links else []
        made.read(place, each["body" if with_links else "body_nolinks"], each["headings"], leads)
    return made


def scored(collection: Collection, *, with_links: bool) -> dict[str, Scored]:
    """Each formula's ranking of each source's candidates."""
    began = time.process_time()
    made = library(collection.documents, with_links=with_links)
    ranked: dict[str, dict[int, list[tuple[int, float]]]] = {version: {} for version in links.VERSIONS}
    for source in collection.wanted:
        found = [(target, made.evidence(source, target)) for target in made.candidates(source)]
        for version in links.VERSIONS:
            proposals = links.judged(version, [(evidence, links.HERE) for _, evidence in found])
            sure = [(target, proposal) for (target, _), proposal in zip(found, proposals, strict=True)]
            sure.sort(key=lambda each: (-each[1].score, each[0]))
            ranked[version][source] = [(target, proposal.confidence) for target, proposal in sure]
    seconds = time.process_time() - began
    return {version: Scored(collection, those, seconds) for version, those in ranked.items()}


def recall(found: Scored) -> float:
    """Of the first eight."""
    wanted = found.collection.wanted
    shares = (len(wanted[s] & {t for t, _ in found.ranked[s][:CUT]}) / len(wanted[s]) for s in wanted)
    return sum(shares) / len(wanted)


def ndcg(found: Scored) -> float:
    """Of the first eight."""
    wanted, total = found.collection.wanted, 0.0
    for source, those in wanted.items():
        gain = sum(1 / math.log2(at + 2) for at, (t, _) in enumerate(found.ranked[source][:CUT]) if t in those)
        total += gain / sum(1 / math.log2(at + 2) for at in range(min(CUT, len(those))))
    return total / len(wanted)


def f1(found: Scored, threshold: float, most: int = 50) -> float:
    """Over all pairs: links shown against links wanted."""
    wanted = found.collection.wanted
    shown = [(s, t) for s, those in found.ranked.items() for t, sure in those[:most] if sure >= threshold]
    right = sum(t in wanted[s] for s, t in shown)
    return 2 * right / (len(shown) + sum(map(len, wanted.values())))


def calibration(found: list[Scored]) -> list[tuple[float, int, float, float]]:
    """Per tenth of confidence: where it begins, how many links, their mean confidence, the share that is right; each
    collection counts alike."""
    tenths: list[list[tuple[float, float, bool]]] = [[] for _ in range(10)]
    for each in found:
        weight = 1 / sum(map(len, each.collection.wanted.values()))
        for source, those in each.ranked.items():
            for target, sure in those:
                tenths[min(9, int(sure * 10))].append((weight, sure, target in each.collection.wanted[source]))
    return [
        (
            at / 10,
            len(those),
            sum(w * c for w, c, _ in those) / weight,
            sum(w * right for w, _, right in those) / weight,
        )
        for at, those in enumerate(tenths)
        if (weight := sum(w for w, _, _ in those))
    ]


def sample() -> Collection:
    """The small collection of our own."""
    documents, wanted = linked_sample.documents()
    number = {str(each["id"]): place for place, each in enumerate(documents)}
    return Collection("sample", documents, {number[s]: {number[t] for t in those} for s, those in wanted.items()})


def figures(folder: str, size: int) -> Iterator[Figure]:
    """For the gate: how much of our own sample is found. The same on every machine."""
    found = scored(sample(), with_links=True)
    old, new = found[links.V1], found[links.V2]
    arms = f"{links.V1} {recall(old):.3f} / {ndcg(old):.3f}"
    yield Figure("links: R@8, own sample", recall(new), 0.95, at_most=False, arms=arms, slack=0.02)
    yield Figure("links: nDCG@8, own sample", ndcg(new), 0.95, at_most=False, arms=arms, slack=0.02)


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks links", description=__doc__)
    parser.add_argument("--sets", default=SETS, help="folder with links-* sets")
    parser.add_argument("--no-links", action="store_true", help="bodies without inline links")
    parser.add_argument("--grow", action="store_true", help="processor time at growing numbers of documents")
    asked = parser.parse_args(arguments)
    if not os.path.isdir(asked.sets):
        parser.error(f"no folder {asked.sets}; name one with --sets")
    if asked.grow:
        return _grow(asked.sets)
    found = [scored(each, with_links=not asked.no_links) for each in collections(asked.sets)]
    for version in links.VERSIONS:
        those = [each[version] for each in found]
        steps = [at / 100 for at in range(2, 100, 2)]
        best = max(steps, key=lambda step: sum(f1(each, step) for each in those))
        print(f"{version}{', bodies without links' if asked.no_links else ''}")
        print(f"  {'set':<15} R@8  nDCG@8  F1 at {MIN_CONFIDENCE}  F1 at {best}")
        rows = [
            (each.collection.name, recall(each), ndcg(each), f1(each, MIN_CONFIDENCE), f1(each, best)) for each in those
        ]
        rows.append(("mean", *(sum(row[at] for row in rows) / len(rows) for at in range(1, 5))))  # type: ignore[arg-type, misc]
        for name, *figures in rows:
            print(f"  {name:<15} {'   '.join(f'{figure:.3f}' for figure in figures)}")
        print("  confidence  links  mean  right")
        for begin, count, mean, right in calibration(those):
            print(f"  {begin:.1f}–{begin + 0.1:.1f}   {count:>7}  {mean:.2f}  {right:.2f}")
    return 0


def _grow(folder: str) -> int:
    """Processor seconds for reading and correlating every document, at growing numbers of documents."""
    pool: list[dict[str, Any]] = []
    for each in collections(folder):
        pool += [{**one, "id": f"{each.name}/{one['id']}", "path": f"{each.name}/{one['path']}",
                  "inline_links": [f"{each.name}/{id}" for id in one["inline_links"]]} for one in each.documents]  # fmt: skip
    pool.sort(key=lambda one: hash_of(one["id"]))
    last: tuple[int, float] | None = None
    for size in (1_000, 2_000, 5_000, 10_000):
        size = min(size, len(pool))  # noqa: PLW2901
        began = time.process_time()
        made = library(pool[:size])
        for source in range(size):
            found = [(made.evidence(source, target), links.HERE) for target in made.candidates(source)]
            links.judged(links.NEWEST, found)
        seconds = time.process_time() - began
        power = (
            f", exponent {math.log(seconds / last[1]) / math.log(size / last[0]):.2f}"
            if last and size > last[0]
            else ""
        )
        print(f"{size:>6} documents: {seconds:6.1f} s, {seconds / size * 1000:.1f} s per 1,000{power}", flush=True)
        last = size, seconds
    return 0


def hash_of(text: str) -> str:
    """An order that has nothing to do with the text."""
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def _lines(path: str) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
