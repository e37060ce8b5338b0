"""Commands on sessions and concepts: what the tools of the ledger do, and what only people need."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scaffale.model import DECISION_TYPES
from scaffale.server.cli.commands import DONE, PARTLY, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace


def open_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="its id (default: a new one)")
    parser.add_argument("--title")
    parser.add_argument("--phase", action="append", default=[], metavar="LABEL", help="a phase, in order (default: F1 to F8)")
    shared.project_arguments(parser, cross=False)


def open(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.open_session(
            actor=shared.login(), session_id=arguments.session, title=arguments.title, phases=arguments.phase,
            **shared.project(arguments),
        )  # fmt: skip
    output.answer(
        answer, lambda done: output.line(f"{done.session_id}  {done.phase}  {done.decisions} decisions  {done.project_id}")
    )
    return DONE


def record_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session")
    parser.add_argument("phase")
    parser.add_argument("type", choices=DECISION_TYPES)
    parser.add_argument("subject", nargs="?", default="")
    parser.add_argument("detail", nargs="?", default="", help="- reads it from standard input")
    parser.add_argument("--rationale")
    parser.add_argument("--question", help="the question that it was clarified for")
    parser.add_argument("--concept", action="append", default=[], metavar="TERM", help="another term that it is about")
    parser.add_argument("--supersedes", type=shared.at_least(1), metavar="SEQ", help="the decision that this one replaces")
    parser.add_argument("--of", type=shared.at_least(1), metavar="SEQ", help="the decision that is withdrawn")
    shared.project_arguments(parser, cross=False)


def record(arguments: Arguments, output: Output) -> int:
    detail = shared.standard_input(output) if arguments.detail == "-" else arguments.detail
    with shared.open_memory() as memory:
        answer = memory.record_decision(
            actor=shared.login(), session_id=arguments.session, phase=arguments.phase, type=arguments.type,
            subject=arguments.subject, detail=detail if arguments.of is None else f"seq:{arguments.of}",
            rationale=arguments.rationale, question_context=arguments.question, supersedes_seq=arguments.supersedes,
            concepts=arguments.concept, **shared.project(arguments),
        )  # fmt: skip
    output.answer(answer, lambda done: output.line(f"{done.session_id}  seq {done.seq}"))
    return DONE


def sessions_arguments(parser: argparse.ArgumentParser) -> None:
    shared.page_arguments(parser, 50)
    shared.project_arguments(parser, cross=False)


def sessions(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.list_sessions(limit=arguments.limit, offset=arguments.offset, **shared.project(arguments))
    output.answer(
        answer,
        lambda found: output.table(
            ("session", "phase", "decisions", "opened", "title"),
            [(each.session_id, each.phase, each.decisions, each.created_at, each.title) for each in found.sessions],
        ),
    )
    return DONE


def decisions_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--effective", dest="which", action="store_const", const="effective", default="all",
                       help="only what holds")  # fmt: skip
    which.add_argument("--ended", dest="which", action="store_const", const="ended", help="only what does not hold, and why")
    parser.add_argument("--after", type=shared.at_least(0), default=0, metavar="SEQ")
    parser.add_argument("--limit", type=shared.at_least(1), default=100, help="how many (default: 100)")
    shared.project_arguments(parser, cross=False)


def decisions(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.list_decisions(
            session_id=arguments.session, which=arguments.which, after=arguments.after, limit=arguments.limit,
            **shared.project(arguments),
        )  # fmt: skip

    def show(found: Any) -> None:  # noqa: ANN401  (answers.ledger.DecisionList)
        output.table(
            ("seq", "phase", "type", "subject", "detail", "holds"),
            [
                (each.seq, each.phase, each.type, each.subject, each.detail,
                 "yes" if each.effective else f"{each.reason} by seq {each.by}")
                for each in found.decisions
            ],
        )  # fmt: skip
        if found.next_after:
            output.note(f"{found.total} in all; --after {found.next_after} goes on")

    output.answer(answer, show)
    return DONE


def summary_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session")
    shared.project_arguments(parser, cross=False)


def summary(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.session_summary(session_id=arguments.session, **shared.project(arguments))
    output.answer(answer, lambda found: output.line(found.markdown.rstrip()))
    return DONE


def candidates_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session")
    parser.add_argument("--page", type=shared.at_least(1), default=1)
    parser.add_argument("--page-size", type=shared.at_least(1), default=5, help="how many to a page (default: 5)")
    shared.project_arguments(parser, cross=False)


def candidates(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.propose_promotion(
            session_id=arguments.session, page=arguments.page, page_size=arguments.page_size, **shared.project(arguments)
        )

    def show(found: Any) -> None:  # noqa: ANN401  (answers.ledger.Preview)
        for each in found.candidates:
            again = f"  (again: {', '.join(map(str, each.also))})" if each.also else ""
            output.line(f"seq {each.seq}  {each.subject}{again}")
            for line in each.detail.splitlines():
                output.line(f"    {line}")
            for near in each.similar:
                output.line(f"    near {near['display_id']} ({near['similarity']:.0%} alike): {near['title']}")
        for each in found.left_out:
            output.note(f"left out: seq {each.seq} {each.subject}: {each.reason}")
        more = f"; --page {found.next_page} goes on" if found.next_page else ""
        output.note(f"{found.total} candidates{more}. {found.hint}")

    output.answer(answer, show)
    return DONE


def recall_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*")
    parser.add_argument("--session", help="leave out what this session has decided on")
    shared.page_arguments(parser, 10)
    shared.project_arguments(parser, cross=False)


def recall(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.recall_concepts(
            query=" ".join(arguments.words), session_id=arguments.session, limit=arguments.limit, offset=arguments.offset,
            **shared.project(arguments),
        )  # fmt: skip

    def show(found: Any) -> None:  # noqa: ANN401  (answers.ledger.Recall)
        for each in found.results:
            output.line(f"{each.display_id}  {each.title}{f'  evidence {each.evidence}' if each.evidence else ''}")
            for line in each.content.splitlines():
                output.line(f"    {line}")
        output.note(f"{found.total} fit. {found.hint}")

    output.answer(answer, show)
    return DONE


def export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="the file of JSON lines to write")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    shared.project_arguments(parser, cross=False)


def export(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.export_concepts(
            actor=shared.login(), save_path=os.path.abspath(arguments.path), overwrite=arguments.overwrite, anywhere=True,
            **shared.project(arguments),
        )  # fmt: skip
    output.answer(answer, lambda done: output.line(f"{done.save_path}  {done.lines} concepts, {done.bytes} bytes"))
    return DONE


def import__arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a registry of concepts: JSON lines")
    parser.add_argument("--redact-secrets", action="store_true", help="mask secrets instead of refusing them")
    shared.project_arguments(parser, cross=False)


def import_(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.import_concepts(
            actor=shared.login(), import_path=os.path.abspath(arguments.path), anywhere=True,
            secrets="redact" if arguments.redact_secrets else "refuse", **shared.project(arguments),
        )  # fmt: skip

    def show(done: Any) -> None:  # noqa: ANN401  (answers.ledger.ImportedConcepts)
        output.line(
            f"{done.seen} seen = {done.proposed} proposed + {done.existing} there already + {done.kept} kept as history"
            f" + {done.failed} failed"
        )
        for reason in done.skips:
            output.note(f"  {reason}")
        if done.proposed:
            output.note("`scaffale review` decides on what is proposed")

    output.answer(answer, show)
    return PARTLY if answer.failed else DONE
