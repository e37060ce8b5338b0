"""Commands that build memory from what is there already, sum it up, check it, and carry it from store to store."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam
from scaffale.server.cli.commands import DONE, PARTLY, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace


def similar_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", help="the id of an entry; with --text, a text")
    parser.add_argument("--text", action="store_true", help="what is given is a text")
    parser.add_argument("--limit", type=shared.at_least(1), default=10, help="how many (default: 10)")
    shared.project_arguments(parser)


def similar(arguments: Arguments, output: Output) -> int:
    given = {"text": arguments.what} if arguments.text else {"entry_id": shared.entry_id(arguments.what)}
    with shared.open_memory() as memory:
        answer = memory.find_similar(**given, limit=arguments.limit, **shared.project(arguments, cross=True))
    output.answer(
        answer,
        lambda found: output.table(
            ("alike", "id", "place", "title"),
            [(f"{hit.similarity:.0%}", hit.id, f"{hit.scope}/{hit.topic}", hit.title) for hit in found.results],
        ),
    )
    return DONE


def handoff_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", default="7d", help="12h, 7d, 2w, 3m, 1y, or a date (default: 7d)")
    parser.add_argument("--scope")
    shared.project_arguments(parser, cross=False)


def handoff(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.handoff_summary(since=arguments.since, scope=arguments.scope, **shared.project(arguments))
    output.answer(answer, lambda found: output.line(found.markdown.rstrip()))
    return DONE


def verify_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry_id")
    shared.project_arguments(parser, cross=False)


def verify(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.verify_entry(
            actor=shared.login(), entry_id=shared.entry_id(arguments.entry_id), **shared.project(arguments)
        )

    def show(found: Any) -> None:  # noqa: ANN401  (answers.life.Verified)
        output.line(f"{found.entry_id}  {found.outcome}")
        for check in found.checks:
            output.line(f"  {check.check}  {check.of}  {check.outcome}")

    output.answer(answer, show)
    return PARTLY if answer.outcome in ("gone", "changed") else DONE


# --- capture -----------------------------------------------------------------------------------------------------------


def _place_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scope", help="default: MEMORY_SCOPE_DEFAULT of the project")
    parser.add_argument("--topic", help="default: taken from the text")
    parser.add_argument("--apply", action="store_true", help="write; without it a preview is shown")
    parser.add_argument("--redact-secrets", action="store_true", help="mask secrets instead of refusing them")
    shared.project_arguments(parser, cross=False)


def _place(arguments: Arguments) -> dict[str, Any]:
    return {
        "actor": shared.login(),
        "scope": arguments.scope,
        "topic": arguments.topic,
        "apply": arguments.apply,
        "secrets": "redact" if arguments.redact_secrets else None,
        **shared.project(arguments),
    }


def ticket_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reference", help="what the ticket is called, APP-12 say")
    parser.add_argument("text", help="its text; - reads it from standard input")
    _place_arguments(parser)


def ticket(arguments: Arguments, output: Output) -> int:
    text = shared.standard_input(output) if arguments.text == "-" else arguments.text
    with shared.open_memory() as memory:
        answer = memory.add_from_ticket(text=text, ticket_ref=arguments.reference, **_place(arguments))
    return _captured(answer, output)


def commit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rev", nargs="?", help="one commit (default: HEAD)")
    parser.add_argument("--range", help="each commit of A..B, or of a branch")
    _place_arguments(parser)


def commit(arguments: Arguments, output: Output) -> int:
    rev = arguments.rev or (None if arguments.range else "HEAD")
    with shared.open_memory() as memory:
        answer = memory.add_from_git_context(rev=rev, range=arguments.range, **_place(arguments))
    return _captured(answer, output)


def document_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document", help="its number or docs:// URI")
    parser.add_argument("note", help="what there is to say of it; - reads it from standard input")
    parser.add_argument("--section", help="the section that is meant: its heading, or headings joined by ' › '")
    _place_arguments(parser)


def document(arguments: Arguments, output: Output) -> int:
    note = shared.standard_input(output) if arguments.note == "-" else arguments.note
    with shared.open_memory() as memory:
        answer = memory.add_from_docs_result(
            document_id=shared.document_id(arguments.document), note=note, section=arguments.section, **_place(arguments)
        )
    return _captured(answer, output)


def notes_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a file of Markdown notes, or a folder of such files")
    _place_arguments(parser)


def notes(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.mine_project_notes(source_path=os.path.abspath(arguments.path), **_place(arguments))
    return _captured(answer, output)


def _captured(answer: Any, output: Output) -> int:  # noqa: ANN401  (answers.capture.Captured)
    def show(found: Any) -> None:  # noqa: ANN401
        for each in found.candidates:
            state = each.entry_id or each.problem or (f"is {each.existing_entry_id} already" if each.existing_entry_id else "")
            output.line(f"{each.title or each.topic}")
            output.line(f"  {each.scope}/{each.topic}  {each.source_type}  {each.source_ref or ''}  {state}".rstrip())
            for taken in each.taken:
                line = f", line {taken.line}" if taken.line else ""
                output.line(f"    {taken.field} from: {taken.words}{line}")
        for reason in found.skipped:
            output.note(f"skipped: {reason}")
        if not found.applied:
            output.note(f"a preview of {found.seen}; --apply writes")
        else:
            output.note(f"{found.written} written, {found.existing} kept already, {found.failed} failed")

    output.answer(answer, show)
    return PARTLY if answer.failed else DONE


# --- exchange ----------------------------------------------------------------------------------------------------------


def export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="the file to write; a name that ends in .zip makes a ZIP")
    parser.add_argument("--format", choices=("json", "zip"))
    parser.add_argument("--archived", action="store_true", help="archived entries, too")
    parser.add_argument("--invalidated", action="store_true", help="invalidated entries, too")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")
    shared.project_arguments(parser, cross=False)


def export(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.export_project(
            actor=shared.login(),
            save_path=os.path.abspath(arguments.path),
            format=arguments.format or ("zip" if arguments.path.lower().endswith(".zip") else "json"),
            include_archived=arguments.archived,
            include_invalidated=arguments.invalidated,
            overwrite=arguments.overwrite,
            anywhere=True,
            **shared.project(arguments),
        )
    output.answer(
        answer,
        lambda done: output.line(
            f"{done.save_path}  {done.entries} entries, {done.tags} tags, {done.links} links, {done.bytes} bytes"
        ),
    )
    return DONE


def import__arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an export")
    parser.add_argument("--on-conflict", default="fail", choices=("fail", "merge", "replace"))
    parser.add_argument("--yes", action="store_true", help="with replace: do not ask")
    parser.add_argument("--redact-secrets", action="store_true", help="mask secrets instead of refusing them")
    shared.project_arguments(parser, cross=False)


def import_(arguments: Arguments, output: Output) -> int:
    confirmed = arguments.yes
    if arguments.on_conflict == "replace" and not confirmed:
        if not sys.stdin.isatty():
            raise InvalidParam("replacing removes what is there: --yes says that it is meant")
        output.note("type yes to remove the memory of this project and import in its place (an export is taken first)")
        confirmed = sys.stdin.readline().strip() == "yes"
    with shared.open_memory() as memory:
        answer = memory.import_project(
            actor=shared.login(),
            import_path=os.path.abspath(arguments.path),
            on_conflict=arguments.on_conflict,
            confirm_replace=confirmed,
            secrets="redact" if arguments.redact_secrets else "refuse",
            anywhere=True,
            **shared.project(arguments),
        )

    def show(done: Any) -> None:  # noqa: ANN401  (answers.exchange.Imported)
        output.line(
            f"{done.seen} entries seen = {done.new} new + {done.changed} changed + {done.same} same + {done.skipped} skipped"
            f" + {done.proposed} proposed; {done.removed} removed, {done.links} links"
        )
        for skip in done.skips:
            output.note(f"  {skip.entry_id}: {skip.reason}")
        if done.backup:
            output.line(f"what was there before: {done.backup}")

    output.answer(answer, show)
    return PARTLY if answer.skipped else DONE


# --- proposals ---------------------------------------------------------------------------------------------------------


def propose_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="JSON lines of the official memory server, a note of basic-memory, AGENTS.md, CLAUDE.md")
    parser.add_argument("--kind", choices=("memory-jsonl", "basic-memory", "instructions"), help="default: as the file looks")
    parser.add_argument("--scope", help="default: of the source, or MEMORY_SCOPE_DEFAULT")
    parser.add_argument("--topic", help="default: of the source")
    shared.project_arguments(parser, cross=False)


def propose(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.propose(
            actor=shared.login(),
            source_path=os.path.abspath(arguments.path),
            kind=arguments.kind,
            scope=arguments.scope,
            topic=arguments.topic,
            anywhere=True,
            **shared.project(arguments),
        )

    def show(done: Any) -> None:  # noqa: ANN401  (answers.proposals.Proposed)
        output.line(
            f"{done.kind}: {done.seen} seen = {done.proposed} proposed + {done.existing} there already + {done.failed} failed"
        )
        for reason in done.skipped:
            output.note(f"skipped: {reason}")
        output.note("`scaffale memory proposals` shows what waits")

    output.answer(answer, show)
    return PARTLY if answer.failed else DONE


def proposals_arguments(parser: argparse.ArgumentParser) -> None:
    shared.page_arguments(parser, 20)
    shared.project_arguments(parser, cross=False)


def proposals(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.list_proposals(limit=arguments.limit, offset=arguments.offset, **shared.project(arguments))

    def show(found: Any) -> None:  # noqa: ANN401  (answers.proposals.ProposalList)
        for each in found.proposals:
            draft = each.draft
            output.line(f"{each.id}  {draft.get('scope')}/{draft.get('topic')}  {draft.get('source_type')}  {each.origin}")
            for line in str(draft.get("content", "")).splitlines():
                output.line(f"    {line}")
        output.note(f"{found.total} wait; `scaffale review` decides")

    output.answer(answer, show)
    return DONE
