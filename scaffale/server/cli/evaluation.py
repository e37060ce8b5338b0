"""The `eval` command: its arguments, and how a retrieval test looks to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from scaffale.evaluate import Evaluation, Miss
    from scaffale.server.cli.output import Output
    from scaffale.settings import Settings

ENGINES = ("tantivy", "fts5", "like")


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `eval` takes."""
    parser.add_argument("file", help="JSONL or CSV of query and expected documents (path, path on the shelf, or number)")
    parser.add_argument("--shelf", help="search this shelf alone")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="ask this engine alone; repeatable")
    parser.add_argument("--k", type=int, default=10, help="how many hits count (default: 10)")


def run(asked: argparse.Namespace, output: Output, settings: Settings) -> int:
    """Measure and show."""
    from scaffale.evaluate import evaluate

    with output.progress(what="asking", unit="questions") as progress:
        answer = evaluate(
            settings, asked.file, shelf=asked.shelf, engines=asked.engine or ENGINES, k=asked.k, progress=progress
        )
    output.answer(answer, lambda evaluation: _show(evaluation, output))
    return 0


def _show(evaluation: Evaluation, output: Output) -> None:
    k, questions = evaluation.k, evaluation.questions
    output.table(
        ("engine", f"recall@{k}", f"nDCG@{k}", "missed"),
        [(e.engine, f"{e.recall:.3f}", f"{e.ndcg:.3f}", f"{len(e.missed)} of {questions}") for e in evaluation.engines],
    )
    missed: dict[tuple[int, tuple[str, ...]], tuple[list[str], Miss]] = {}
    for engine in evaluation.engines:
        for miss in engine.missed:
            missed.setdefault((miss.line, miss.missing), ([], miss))[0].append(engine.engine)
    if missed:
        output.line()
        output.table(
            ("missed by", "line", "query", "missing", "found first"),
            [
                (" ".join(engines), miss.line, miss.query, " ".join(miss.missing), " ".join(miss.found))
                for _, (engines, miss) in sorted(missed.items())
            ],
        )
