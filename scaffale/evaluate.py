"""A retrieval test of one's own: questions with the documents that answer them, asked of every engine.

Rules of this file: the store is read, never written. A copy of it in a temporary folder is indexed by each engine in turn
and asked through the docs hall, so what is measured is what every search would answer.

The measures are those of the field. Recall is the share of the expected documents among the first `k`. nDCG (Järvelin and
Kekäläinen, 2002) takes the grade as gain and log2(rank + 1) as discount, as trec_eval does.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale import backends, files
from scaffale.docs import MAX_LIMIT, Docs
from scaffale.errors import InvalidParam, NotFound
from scaffale.indexer import shelves
from scaffale.indexer.database import Database, exists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scaffale.model import Document
    from scaffale.settings import Settings

    Progress = Callable[[int, int, str], None]

MAX_FILE_BYTES = 10 * 1024 * 1024
_ALL = 2**31
SHAPE = (
    'give lines such as {"query": "…", "expected": ["guide/setup.md"]}, or CSV with the columns query, expected and,'
    " if you like, grade"
)


class Question(NamedTuple):
    """A query, and the grade of each document that should be found, as the file names it. `line` is where it stands."""

    line: int
    query: str
    expected: dict[str, float]


class Miss(NamedTuple):
    """A question of whose documents not all came among the first `k`. `found` are the first three that did come."""

    line: int
    query: str
    missing: tuple[str, ...]
    found: tuple[str, ...]


class EngineScore(NamedTuple):
    """Means over all questions, 0 to 1. `missed` keeps the order of the file."""

    engine: str
    recall: float
    ndcg: float
    missed: tuple[Miss, ...]


class Evaluation(NamedTuple):
    """What each engine made of the questions."""

    shelf: str | None
    k: int
    questions: int
    documents: int
    engines: tuple[EngineScore, ...]
    warnings: tuple[str, ...]


def evaluate(
    settings: Settings,
    path: str,
    *,
    shelf: str | None = None,
    engines: Sequence[str] = backends.LEXICAL,
    k: int = 10,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask every question of the file of each engine. `progress` is told how many questions are done, of how many."""
    import tempfile

    if not 1 <= k <= MAX_LIMIT:
        raise InvalidParam(f"k: must be between 1 and {MAX_LIMIT}")
    questions = read(path)
    if not exists(settings.docs_db_path):
        raise NotFound("there are no shelves yet; scan a folder first")
    with tempfile.TemporaryDirectory(prefix="scaffale-eval-") as folder:
        copied = os.path.join(folder, "docs.sqlite")
        documents, names = _copied(settings.docs_db_path, copied, shelf)
        wanted, warnings = _resolved(questions, names)
        scores: list[EngineScore] = []
        for engine in dict.fromkeys(engines):
            serving = backends.lexical(engine)
            if serving.name != engine:
                warnings.append(f"{engine} is not available here and was left out")
                continue
            own = settings._replace(docs_db_path=copied, docs_lexical_backend=engine)
            with Docs(own) as docs:
                docs.maintain(rebuild=True)
                done = len(scores) * len(questions)
                total = len(set(engines)) * len(questions)
                found = []
                for question in questions:
                    found.append(_found(docs, question.query, shelf, k))
                    if progress:
                        progress(done + len(found), total, engine)
            scores.append(_score(engine, questions, wanted, found, k))
    return Evaluation(shelf, k, len(questions), documents, tuple(scores), tuple(warnings))


def _found(docs: Docs, query: str, shelf: str | None, k: int) -> list[str]:
    """Paths, best first. The same file on two shelves is one answer."""
    hits = docs.search(query=query, shelf=shelf, limit=k).results
    return list(dict.fromkeys(hit.file_path for hit in hits))


def _score(
    engine: str,
    questions: Sequence[Question],
    wanted: Sequence[Mapping[str, float]],
    found: Sequence[Sequence[str]],
    k: int,
) -> EngineScore:
    count = len(questions)
    misses = [
        Miss(question.line, question.query, missing, tuple(ranked[:3]))
        for question, relevant, ranked in zip(questions, wanted, found, strict=True)
        if (missing := tuple(path for path in relevant if path not in ranked))
    ]
    return EngineScore(
        engine,
        sum(map(recall, found, wanted, [k] * count)) / count,
        sum(map(ndcg, found, wanted, [k] * count)) / count,
        tuple(misses),
    )


# --- measures ----------------------------------------------------------------------------------------------------------


def recall(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """The share of the relevant that stand among the first `k`. `ranked` names nothing twice; grades are above 0."""
    return len(relevant.keys() & set(ranked[:k])) / len(relevant)


def ndcg(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """Discounted gain of the first `k`, as a share of the best that could be had."""
    best = sorted(relevant.values(), reverse=True)
    return _gain([relevant.get(each, 0.0) for each in ranked[:k]]) / _gain(best[:k])


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """One divided by the rank of the first relevant one among the first `k`; 0 when there is none."""
    return next((1 / rank for rank, each in enumerate(ranked[:k], 1) if each in relevant), 0.0)


def _gain(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


# --- the file of questions ---------------------------------------------------------------------------------------------


def read(path: str) -> list[Question]:
    """The questions of a JSONL or CSV file, in its order; CSV rows with the same query are one question.

    Raises `NotFound` without a file, `InvalidParam` naming the line that cannot be understood.
    """
    try:
        data = files.read_regular(files.real(path), MAX_FILE_BYTES)
    except FileNotFoundError as error:
        raise NotFound(f"no file {path}") from error
    except OSError as error:
        raise InvalidParam(f"{path} cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidParam(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    asked: dict[str, Question] = {}
    try:
        for line, query, expected in _jsonl(text) if text.lstrip().startswith("{") else _csv(text):
            if not query.strip():
                raise _Wrong(line, "the query is empty")
            if not expected:
                raise _Wrong(line, "no document is expected")
            asked.setdefault(query, Question(line, query, {})).expected.update(expected)
    except _Wrong as wrong:
        raise InvalidParam(f"{path}, line {wrong.line}: {wrong.what}; {SHAPE}") from wrong
    if not asked:
        raise InvalidParam(f"{path} holds no question; {SHAPE}")
    return list(asked.values())


class _Wrong(Exception):
    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


def _jsonl(text: str) -> Iterator[tuple[int, str, dict[str, float]]]:
    for line, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        try:
            said = json.loads(written)
        except (ValueError, RecursionError) as error:
            raise _Wrong(line, "not a JSON object") from error
        if not isinstance(said, dict) or not isinstance(said.get("query"), str):
            raise _Wrong(line, "there is no query")
        expected = said.get("expected")
        if isinstance(expected, dict):
            grades = expected
        else:
            grades = dict.fromkeys(map(str, expected if isinstance(expected, list) else [expected]), said.get("grade", 1))
        if expected is None or not all(isinstance(each, (str, int)) for each in grades):
            raise _Wrong(line, "expected must be a path or number, a list of these, or an object that maps them to grades")
        yield line, said["query"], {str(name): _grade(grade, line) for name, grade in grades.items()}


def _csv(text: str) -> Iterator[tuple[int, str, dict[str, float]]]:
    import csv

    first = text.lstrip().partition("\n")[0]
    rows = csv.DictReader(text.splitlines(), delimiter=max(",;\t", key=first.count))
    if not {"query", "expected"} <= set(rows.fieldnames or ()):
        raise _Wrong(1, "neither JSON nor a head with the columns query and expected")
    try:
        for row in rows:
            names = (row["expected"] or "").strip()
            grade = _grade((row.get("grade") or "1").strip() or 1, rows.line_num)
            yield rows.line_num, row["query"] or "", {names: grade} if names else {}
    except csv.Error as error:
        raise _Wrong(rows.line_num, str(error)) from error


def _grade(value: Any, line: int) -> float:  # noqa: ANN401  (whatever stood in the file)
    try:
        grade = float(value)
    except (TypeError, ValueError) as error:
        raise _Wrong(line, "a grade must be a number") from error
    if not 0 < grade < math.inf:
        raise _Wrong(line, "a grade must be above 0: leave out what is not relevant")
    return grade


# --- the documents that it names ---------------------------------------------------------------------------------------


class _Names(NamedTuple):
    """What the documents of the shelf can be called: number → path, path below a scanned folder → paths, and all paths."""

    by_id: dict[str, str]
    by_relative: dict[str, list[str]]
    paths: list[str]


def _copied(store: str, copy: str, shelf: str | None) -> tuple[int, _Names]:
    """Copy the store as it is now; how many documents the shelf has, and their names."""
    database = Database(store, shelves.SCHEMA, create=False)
    try:
        with database.read() as connection:
            shelf_id = shelves.shelf(connection, shelf).id if shelf is not None else None
            documents, total = shelves.list_documents(connection, shelf_id=shelf_id, limit=_ALL)
            roots = {
                each: [source.root for source in shelves.sources(connection, each)]
                for each in {document.shelf_id for document in documents}
            }
        if not documents:
            raise NotFound("there is no document to be found; scan a folder first")
        database.copy(copy)
    finally:
        database.close()
    return total, _names(documents, roots)


def _names(documents: Sequence[Document], roots: Mapping[int, Sequence[str]]) -> _Names:
    relative: dict[str, list[str]] = {}
    for document in documents:
        for root in roots[document.shelf_id]:
            if files.is_inside(document.file_path, root) and document.file_path != root:
                name = _slashed(document.file_path[len(root) :]).lstrip("/")
                relative.setdefault(name, []).append(document.file_path)
    by_id = {str(document.id): document.file_path for document in documents}
    return _Names(by_id, relative, [document.file_path for document in documents])


def _resolved(questions: Sequence[Question], names: _Names) -> tuple[list[dict[str, float]], list[str]]:
    """For each question the grade by path; a document that is not there keeps the name that it was given."""
    warnings: list[str] = []
    wanted = []
    for question in questions:
        grades: dict[str, float] = {}
        for name, grade in question.expected.items():
            path = _path(name, question.line, names)
            if path is None:
                warnings.append(f"line {question.line}: no document {name} here; it counts as not found")
            grades[path or name] = max(grade, grades.get(path or name, 0.0))
        wanted.append(grades)
    return wanted, warnings


def _path(name: str, line: int, names: _Names) -> str | None:
    number = name.removeprefix("docs://document/")
    if number in names.by_id:
        return names.by_id[number]
    wanted = _slashed(os.path.normpath(name))
    if os.path.isabs(name):
        real = files.real(name)
        return next((path for path in names.paths if os.path.normcase(path) == os.path.normcase(real)), None)
    found = names.by_relative.get(wanted) or [path for path in names.paths if _slashed(path).endswith(f"/{wanted}")]
    distinct = list(dict.fromkeys(found))
    if len(distinct) > 1:
        raise InvalidParam(f"line {line}: {name} may be {' or '.join(distinct[:3])}; write more of the path")
    return distinct[0] if distinct else None


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/")
