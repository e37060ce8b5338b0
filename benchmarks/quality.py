"""`python -m benchmarks quality [SET …]`: how good the answers are, through the product's own halls, beside bare rivals.

A set is texts, questions and judgments. Documents are scanned as Markdown files and asked of `Docs.search`; turns of
conversations are entries of `Memory`, one project each. Every figure of a table comes from the same run. The sample set
ships with the program; the others are read from the folder of `--data`, and nothing of them is kept.

`--per-query FILE` notes what each question found; `--against FILE` tells which questions got better and worse since.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import rivals
from benchmarks.measure import Figure
from scaffale import settings as settings_module
from scaffale.docs import Docs
from scaffale.evaluate import ndcg, recall, reciprocal_rank
from scaffale.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.normpath(os.path.join(HERE, "..", "..", "shared", "eval"))
SAMPLES = os.path.join(HERE, "samples")
DEPTH = 100
ENGINES = ("tantivy", "fts5", "like")
PRODUCT = "scaffale, "
AHEAD = 0.02  # of the best rival, and the most that FTS5 may lie behind Tantivy
SAMPLE_SLACK = 0.02  # one question of fifty; the figures are the same on every machine
SET_SLACK = 0.01


MEANING = (("vectors alone", "vector", "rrf"), ("hybrid, rrf", "hybrid", "rrf"), ("hybrid, convex", "hybrid", "convex"))
PATIENT = {  # no question is left to words because this machine is busy
    "MEMORY_VECTOR_DEADLINE_MS": "60000",
    "MEMORY_VECTOR_FOLDER": os.path.join(tempfile.gettempdir(), "scaffale-quality-model"),
}


class Text(NamedTuple):
    """A document; or a turn of the conversation `group`, in its session `part`."""

    id: str
    title: str
    body: str
    group: str = ""
    part: str = ""


class Question(NamedTuple):
    """A query and its judgments: grades by text, and by part where a set has parts."""

    id: str
    text: str
    relevant: Mapping[str, float]
    group: str = ""
    relevant_parts: Mapping[str, float] = {}


class Collection(NamedTuple):
    """A set. Questions search the texts of their own group."""

    name: str
    language: str
    texts: Sequence[Text]
    questions: Sequence[Question]


class Outcome(NamedTuple):
    """What one arm made of a set: measures by question, the first of them leading, and what it ranked."""

    collection: Collection
    arm: str
    scores: dict[str, dict[str, float]]
    ranked: dict[str, list[str]]
    milliseconds: float

    def mean(self, measure: str | None = None) -> float:
        """Of a measure, or of the leading one."""
        values = [each[measure] if measure else next(iter(each.values())) for each in self.scores.values()]
        return sum(values) / len(values)


# Goal of the leading measure, and of the second where it has one.
GOALS = {
    "adhoc-tldr-it": (0.72,),
    "adhoc-tldr-en": (0.64,),
    "adhoc-anchor-powershell-en": (0.85,),
    "adhoc-anchor-cpp-en": (0.79,),
    "adhoc-anchor-cpp-it": (0.81,),
    "memory-locomo": (0.68, 0.92),
}
MEAN_GOAL = 0.76  # of the leading measure over the ad-hoc sets
CORPORA = {
    "adhoc-anchor-powershell-en": "links-powershell-en",
    "adhoc-anchor-cpp-en": "links-cpp-en",
    "adhoc-anchor-cpp-it": "links-cpp-it",
}


def main(argv: Sequence[str]) -> int:
    """Measure the sets and print a table, verdicts, and what changed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks quality", description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"some of {', '.join((*SAMPLE, *GOALS))} (default: all)")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="repeatable (default: tantivy and fts5)")
    parser.add_argument("--no-rivals", action="store_true", help="the product alone")
    parser.add_argument("--vectors", metavar="MODEL", help="a folder of a model: adds the product with vectors, both fusions")
    parser.add_argument("--language", action="append", help="that the model was made for; repeatable")
    parser.add_argument("--cut", type=int, default=0, help="only the first so many characters of each text, for every arm")
    parser.add_argument("--data", default=DATA, metavar="DIR", help="where the evaluation sets lie")
    parser.add_argument("--per-query", metavar="FILE", help="write what each question found, as JSONL")
    parser.add_argument("--against", metavar="FILE", help="compare with what --per-query wrote before")
    asked = parser.parse_args(argv)
    unknown = set(asked.sets) - {*SAMPLE, *GOALS}
    if unknown:
        parser.error(f"no set {', '.join(sorted(unknown))}")
    names = asked.sets or [*SAMPLE, *GOALS]
    if not os.path.isdir(asked.data):
        print(f"no evaluation sets in {asked.data} (--data DIR says where); the shipped sample alone", file=sys.stderr)
        names = [name for name in names if name in SAMPLE]
    for absent in () if asked.no_rivals else rivals.absent():
        print(f"{absent} is not installed and was left out", file=sys.stderr)
    by_meaning = ByMeaning(asked.vectors, tuple(asked.language or ())) if asked.vectors else None
    outcomes = list(
        measured(
            names, asked.data, asked.engine or ENGINES[:2], with_rivals=not asked.no_rivals, meaning=by_meaning, cut=asked.cut
        )
    )
    for verdict in verdicts(outcomes):
        print(verdict)
    if asked.per_query:
        _note(outcomes, asked.per_query)
    if asked.against:
        _compare(outcomes, asked.against)
    return 0


def measured(
    names: Iterable[str],
    data: str,
    engines: Sequence[str],
    *,
    with_rivals: bool = True,
    meaning: ByMeaning | None = None,
    cut: int = 0,
) -> Iterator[Outcome]:
    """Every arm on every set, printed as it comes."""
    for name in names:
        collection = load(name, data)
        if cut:
            collection = collection._replace(texts=[text._replace(body=text.body[:cut]) for text in collection.texts])
        print(f"\n{name}: {len(collection.texts)} texts, {len(collection.questions)} questions")
        with tempfile.TemporaryDirectory(prefix="scaffale-quality-") as folder:
            for outcome in outcomes(collection, folder, engines, with_rivals=with_rivals, meaning=meaning):
                shown = "  ".join(f"{measure} {outcome.mean(measure):.4f}" for measure in _measures(collection))
                print(f"  {outcome.arm:<24} {shown}   {outcome.milliseconds:.1f} ms a question", flush=True)
                yield outcome


def outcomes(
    collection: Collection,
    folder: str,
    engines: Sequence[str],
    *,
    with_rivals: bool,
    meaning: ByMeaning | None = None,
) -> Iterator[Outcome]:
    """The product on each engine, with vectors where a model was given, then the rivals that are installed."""
    hall = _DocsHall if not collection.texts[0].group else _MemoryHall
    product = hall(collection, folder)
    for engine in engines:
        with product.on(engine) as ask:
            yield _outcome(collection, PRODUCT + engine, ask)
    for arm, retrieval, fusion in MEANING if meaning else ():
        asking = product.on(engines[0], retrieval)
        meaning.turn_on(asking.hall, fusion)
        with asking as ask:
            yield _outcome(collection, PRODUCT + arm, ask)
    for name, rival in rivals.RIVALS.items() if with_rivals else ():
        if name not in rivals.absent():
            yield _outcome(collection, name, _rival(collection, rival))


def sample_figures(folder: str, size: int) -> Iterator[Figure]:
    """The shipped sample on every engine, for the gate."""
    for name in SAMPLE:
        yield from _figures(name, folder, ENGINES, SAMPLE_SLACK)


def set_figures(folder: str, size: int) -> Iterator[Figure]:
    """The other sets on the two engines that serve them, for the gate; none where they are not at hand."""
    for name in GOALS if os.path.isdir(DATA) else ():
        yield from _figures(name, folder, ENGINES[:2], SET_SLACK)


def _figures(name: str, folder: str, engines: Sequence[str], slack: float) -> Iterator[Figure]:
    own = os.path.join(folder, name)
    os.makedirs(own)
    for outcome in outcomes(load(name, DATA), own, engines, with_rivals=False):
        engine = outcome.arm.removeprefix(PRODUCT)
        measures = list(_measures(outcome.collection))
        goals = GOALS.get(name) or (SAMPLE_GOALS[name][engine == "like"],)
        others = ", ".join(f"{measure} {outcome.mean(measure):.3f}" for measure in measures[len(goals) :])
        for measure, goal in zip(measures, goals, strict=False):
            yield Figure(
                f"{name}, {engine}: {measure}", outcome.mean(measure), goal, at_most=False, slack=slack,
                arms=f"{len(outcome.scores)} questions" + (f", {others}" if others else ""),
            )  # fmt: skip


# --- measures ----------------------------------------------------------------------------------------------------------


def _measures(collection: Collection) -> dict[str, Callable[[Question, list[str]], float]]:
    """By name, the leading one first."""
    if not collection.texts[0].group:
        return {
            "nDCG@10": lambda question, ranked: ndcg(ranked, question.relevant, 10),
            "R@10": lambda question, ranked: recall(ranked, question.relevant, 10),
            "R@100": lambda question, ranked: recall(ranked, question.relevant, 100),
            "MRR@10": lambda question, ranked: reciprocal_rank(ranked, question.relevant, 10),
        }
    part_of = {text.id: text.part for text in collection.texts}

    def sessions(question: Question, ranked: list[str]) -> float:
        return recall(list(dict.fromkeys(part_of[each] for each in ranked)), question.relevant_parts, 10)

    return {
        "turns R@10": lambda question, ranked: recall(ranked, question.relevant, 10),
        "sessions R@10": sessions,
    }


def _outcome(collection: Collection, arm: str, rank: Callable[[Question], list[str]]) -> Outcome:
    measures = _measures(collection)
    began = time.thread_time()
    ranked = {question.id: rank(question) for question in collection.questions}
    spent = time.thread_time() - began
    scores = {
        question.id: {name: measure(question, ranked[question.id]) for name, measure in measures.items()}
        for question in collection.questions
    }
    return Outcome(collection, arm, scores, ranked, spent / len(ranked) * 1000)


# --- arms --------------------------------------------------------------------------------------------------------------


class _DocsHall:
    """The texts as Markdown files on a shelf, scanned once; each engine indexes them from the store."""

    def __init__(self, collection: Collection, folder: str) -> None:
        self._folder = folder
        self._ids = _written(collection.texts, os.path.join(folder, "texts"))
        with self._docs("tantivy") as docs:
            report = docs.scan_folder(
                folder_path=os.path.join(folder, "texts"), shelf=collection.name, respect_gitignore=False
            )
        assert report.new == len(collection.texts), report

    def on(self, engine: str, retrieval: str = "lexical") -> _Asking:
        docs = self._docs(engine)
        docs.maintain()

        def rank(question: Question) -> list[str]:
            found = docs.search(query=question.text, limit=DEPTH, retrieval=retrieval).results
            return [self._ids[hit.file_path] for hit in found]

        return _Asking(docs, rank)

    def _docs(self, engine: str) -> Docs:
        environ = {"HOME": self._folder, "DOCS_LEXICAL_BACKEND": engine, **PATIENT}
        return Docs(settings_module.load(environ, self._folder))


class _MemoryHall:
    """The texts as entries: a project for each group, a scope for each part, in the order of the set."""

    def __init__(self, collection: Collection, folder: str) -> None:
        self._folder = folder
        self._ids: dict[str, str] = {}
        with self._memory("tantivy") as memory:
            memory._similar = lambda *_: ()  # type: ignore[method-assign]  (looked up for whoever writes; nobody does here)
            for text in collection.texts:
                added = memory.add_entry(
                    actor="benchmark", project_id=text.group, scope=text.part, topic="conversation", content=text.body,
                    source_type="agent_note", dedupe=False, secrets="redact",
                )  # fmt: skip
                self._ids[added.entry_id] = text.id

    def on(self, engine: str, retrieval: str = "lexical") -> _Asking:
        memory = self._memory(engine)
        memory.maintain()

        def rank(question: Question) -> list[str]:
            found = memory.search(query=question.text, project_id=question.group, limit=DEPTH, retrieval=retrieval)
            return [self._ids[hit.id] for hit in found.results]

        return _Asking(memory, rank)

    def _memory(self, engine: str) -> Memory:
        environ = {"HOME": self._folder, "MEMORY_LEXICAL_BACKEND": engine, "MEMORY_MAX_SEARCH_RESULTS": str(DEPTH), **PATIENT}
        return Memory(settings_module.load(environ, self._folder))


class _Asking:
    """`with hall.on(engine) as rank:` asks, and closes the hall at the end."""

    def __init__(self, hall: Docs | Memory, rank: Callable[[Question], list[str]]) -> None:
        self.hall = hall
        self._rank = rank

    def __enter__(self) -> Callable[[Question], list[str]]:
        return self._rank

    def __exit__(self, *error: object) -> None:
        self.hall.close()


class ByMeaning:
    """A model, and vectors of it. Questions are asked of the process that has it, as those of agents are."""

    def __init__(self, model: str, languages: tuple[str, ...]) -> None:
        from scaffale.meaning import managing

        self._space = managing.space_of(managing.Wish(model, languages=languages))

    def turn_on(self, hall: Docs | Memory, fusion: str) -> None:
        hall.enable_vectors(space=self._space, fusion=fusion)
        hall.build_vectors()


def _written(texts: Iterable[Text], folder: str) -> dict[str, str]:
    """Each text as a file named by its id, its title in the front matter. Returns ids by path."""
    ids = {}
    for text in texts:
        name = "/".join(f"_dot{part[1:]}" if part.startswith(".") else part for part in text.id.split("/"))
        path = os.path.join(os.path.realpath(folder), *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"---\ntitle: {json.dumps(text.title, ensure_ascii=False)}\n---\n{text.body}\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))  # freshness breaks ties: it must not tell the order of writing
        ids[path] = text.id
    return ids


def _rival(
    collection: Collection, make: Callable[[Sequence[str], str], rivals.Rival]
) -> Callable[[Question], list[str]]:
    groups: dict[str, list[Text]] = {}
    for text in collection.texts:
        groups.setdefault(text.group, []).append(text)
    ranking = {
        group: make([f"{text.title}\n{text.body}" for text in texts], collection.language) for group, texts in groups.items()
    }
    return lambda question: [
        groups[question.group][number].id for number in ranking[question.group].rank(question.text, DEPTH)
    ]


# --- sets --------------------------------------------------------------------------------------------------------------

SAMPLE = ("sample-en", "sample-it")
SAMPLE_GOALS = {"sample-en": (0.97, 0.9), "sample-it": (0.95, 0.85)}  # of engines that stem, and of LIKE


def load(name: str, data: str) -> Collection:
    """A set by name, the shipped ones from beside this file."""
    if name in SAMPLE:
        return _sample(name)
    own = os.path.join(data, name)
    if name == "memory-locomo":
        return _conversations(name, own)
    texts = [
        Text(each["id"], each["title"], each.get("body_nolinks", each.get("text", "")))
        for each in _lines(os.path.join(data, CORPORA.get(name, name), "docs.jsonl.gz"))
    ]
    judged = _judged(os.path.join(own, "qrels.dev.jsonl.gz"))
    questions = [
        Question(each["query_id"], each["text"], judged[each["query_id"]])
        for each in _lines(os.path.join(own, "queries.dev.jsonl.gz"))
        if each["query_id"] in judged
    ]
    return Collection(name, name[-2:], texts, questions)


def _conversations(name: str, own: str) -> Collection:
    """Questions whose answer does not stand in the conversation are left out: they test answers, not searching."""
    texts = [
        Text(each["id"], "", f"{each['speaker']}: {each['text']}", each["project"], each["session"])
        for each in _lines(os.path.join(own, "entries.dev.jsonl.gz"))
    ]
    turns = _judged(os.path.join(own, "qrels.dev.jsonl.gz"))
    sessions = _judged(os.path.join(own, "qrels_sessions.dev.jsonl.gz"))
    questions = [
        Question(each["query_id"], each["text"], turns[each["query_id"]], each["project"], sessions[each["query_id"]])
        for each in _lines(os.path.join(own, "queries.dev.jsonl.gz"))
        if each["query_id"] in turns and each["category"] != "adversarial"
    ]
    return Collection(name, "en", texts, questions)


def _sample(name: str) -> Collection:
    language = name[-2:]
    root = os.path.join(SAMPLES, language)
    texts = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        for each in sorted(names):
            path = os.path.join(folder, each)
            with open(path, encoding="utf-8") as file:
                head, _, body = file.read().partition("\n")
            texts.append(Text(os.path.relpath(path, root).replace(os.sep, "/"), head.removeprefix("# "), f"{head}\n{body}"))
    questions = [
        Question(f"{name}-{number}", each["query"], dict.fromkeys(each["expected"], 1.0))
        for number, each in enumerate(_lines(os.path.join(SAMPLES, f"{language}.jsonl")), 1)
    ]
    return Collection(name, language, texts, questions)


def _judged(path: str) -> dict[str, dict[str, float]]:
    """Grades above 0 by query; queries without any are no questions."""
    judged = {each["query_id"]: {id: grade for id, grade in each["rel"].items() if grade > 0} for each in _lines(path)}
    return {query: relevant for query, relevant in judged.items() if relevant}


def _lines(path: str) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


# --- what follows from it ----------------------------------------------------------------------------------------------


def verdicts(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Lines that hold the outcomes to the goals."""
    by_set: dict[str, dict[str, Outcome]] = {}
    for outcome in outcomes:
        by_set.setdefault(outcome.collection.name, {})[outcome.arm] = outcome
    yield ""
    for name, arms in by_set.items():
        for arm, ours in arms.items():
            if arm.startswith(PRODUCT):
                yield f"{name:<28} {arm:<18} " + "   ".join(_held(name, ours, arms))
    for engine in ENGINES:
        means = [
            arms[PRODUCT + engine].mean()
            for name, arms in by_set.items()
            if name.startswith("adhoc-") and PRODUCT + engine in arms
        ]
        if len(means) == len(GOALS) - 1:
            mean = sum(means) / len(means)
            yield f"{'mean of the ad-hoc sets':<28} {PRODUCT + engine:<18} {_goal('nDCG@10', mean, MEAN_GOAL)}"


def _held(name: str, ours: Outcome, arms: Mapping[str, Outcome]) -> Iterator[str]:
    measures = _measures(ours.collection)
    for measure, goal in zip(measures, GOALS.get(name, ()), strict=False):
        yield _goal(measure, ours.mean(measure), goal)
    others = [outcome for arm, outcome in arms.items() if not arm.startswith(PRODUCT)]
    if others:
        best = max(others, key=Outcome.mean)
        ahead = ours.mean() - best.mean()
        yield f"{ahead:+.4f} to {best.arm} (goal +{AHEAD}, {'met' if ahead >= AHEAD else 'MISSED'})"
    tantivy = arms.get(f"{PRODUCT}tantivy")
    if tantivy and ours.arm == f"{PRODUCT}fts5":
        apart = ours.mean() - tantivy.mean()
        yield f"{apart:+.4f} to tantivy (goal within {AHEAD}, {'met' if abs(apart) <= AHEAD else 'MISSED'})"


def _goal(measure: str, value: float, goal: float) -> str:
    return f"{measure} {value:.4f} (goal {goal}, {'met' if value >= goal else 'MISSED'})"


def _note(outcomes: Iterable[Outcome], path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for outcome in outcomes:
            for query, scores in outcome.scores.items():
                line = {
                    "set": outcome.collection.name, "arm": outcome.arm, "query_id": query,
                    "measures": {name: round(value, 4) for name, value in scores.items()},
                    "ranked_ids": outcome.ranked[query],
                }  # fmt: skip
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _compare(outcomes: Iterable[Outcome], path: str, shown: int = 10) -> None:
    """What became of each question since `path` was written, the greatest changes by name."""
    before = {(each["set"], each["arm"], each["query_id"]): next(iter(each["measures"].values())) for each in _lines(path)}
    for outcome in outcomes:
        changes = []
        for question in outcome.collection.questions:
            known = before.get((outcome.collection.name, outcome.arm, question.id))
            now = next(iter(outcome.scores[question.id].values()))
            if known is not None and abs(now - known) > 1e-3:
                changes.append((now - known, question))
        if not changes:
            continue
        changes.sort(key=lambda change: (-abs(change[0]), change[1].id))
        better = [change for change in changes if change[0] > 0]
        worse = [change for change in changes if change[0] < 0]
        total = sum(change for change, _ in changes) / len(outcome.scores)
        print(f"\n{outcome.collection.name}, {outcome.arm}: {len(better)} better, {len(worse)} worse, mean {total:+.4f}")
        for change, question in (*better[:shown], *worse[:shown]):
            print(f"  {change:+.3f}  {question.id}  {question.text[:90]}  → {' '.join(outcome.ranked[question.id][:3])}")
