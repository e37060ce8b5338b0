"""Commands for people who curate a project's memory: change, delete, link, and look at how an entry came to be."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam
from scaffale.server.cli.commands import DONE, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace


def update_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry_id")
    parser.add_argument("--content", help="the new text; - reads it from standard input")
    for name in ("title", "summary", "scope", "topic"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--tag", action="append", help="the tags it bears from now on; repeatable")
    parser.add_argument("--no-tags", action="store_true", help="take all tags")
    parser.add_argument("--importance", type=int, help="1 low … 3 normal … 5 critical")
    parser.add_argument("--confidence", type=float, help="0.0 to 1.0")
    parser.add_argument("--status", choices=("active", "archived"), help="archive it, or bring it back")
    parser.add_argument("--reason", help="why; needed to bring an invalidated entry back")
    parser.add_argument("--expect", metavar="UPDATED_AT", help="refuse if it was changed since")
    parser.add_argument("--redact-secrets", action="store_true", help="mask secrets instead of refusing them")
    shared.project_arguments(parser, cross=False)


def update(arguments: Arguments, output: Output) -> int:
    tags = [] if arguments.no_tags else arguments.tag
    with shared.open_memory() as memory:
        answer = memory.update_entry(
            actor=shared.login(),
            entry_id=shared.entry_id(arguments.entry_id),
            content=shared.standard_input(output) if arguments.content == "-" else arguments.content,
            title=arguments.title,
            summary=arguments.summary,
            scope=arguments.scope,
            topic=arguments.topic,
            tags=tags,
            importance=arguments.importance,
            confidence=arguments.confidence,
            status=arguments.status,
            reason=arguments.reason,
            expected_updated_at=arguments.expect,
            secrets="redact" if arguments.redact_secrets else None,
            **shared.project(arguments),
        )
    output.answer(
        answer,
        lambda done: output.line(
            f"{done.entry_id}  {', '.join(done.changed)} changed, revision {done.revision}, now {done.status}"
            if done.changed
            else f"{done.entry_id}  says that already"
        ),
    )
    return DONE


def delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry_id")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--reason")
    shared.project_arguments(parser, cross=False)


def delete(arguments: Arguments, output: Output) -> int:
    entry_id = shared.entry_id(arguments.entry_id)
    if not arguments.yes:
        if not sys.stdin.isatty():
            raise InvalidParam("deleting cannot be undone: --yes says that it is meant")
        output.note(f"type yes to delete {entry_id} for good")
        if sys.stdin.readline().strip() != "yes":
            raise InvalidParam("not confirmed; nothing was deleted")
    with shared.open_memory() as memory:
        answer = memory.delete_entry(
            actor=shared.login(), entry_id=entry_id, confirm=True, reason=arguments.reason, **shared.project(arguments)
        )
    output.answer(answer, lambda done: output.line(f"{done.entry_id}  deleted"))
    return DONE


def history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry_id")
    shared.project_arguments(parser)


def history(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.entry_history(
            entry_id=shared.entry_id(arguments.entry_id), **shared.project(arguments, cross=True)
        )

    def show(found: Any) -> None:  # noqa: ANN401  (answers.life.History)
        for event in found.events:
            reason = f": {event.reason}" if event.reason else ""
            output.line(f"{event.number}  {event.at}  {event.operation} by {event.actor or 'somebody'}{reason}")
            for name, value in event.earlier.items():
                output.line(f"    {name} was: {value if value not in (None, []) else 'not set'}")

    output.answer(answer, show)
    return DONE


def link_arguments(parser: argparse.ArgumentParser) -> None:
    from scaffale.model import RELATIONS

    parser.add_argument("source", help="the id of the entry that the link is of")
    parser.add_argument("target", help="the id of another entry, docs://document/NUMBER, or any URI")
    parser.add_argument("--relation", default="related_to", choices=RELATIONS)
    parser.add_argument("--section", help="the section of the document: its heading, or headings joined by ' › '")
    parser.add_argument("--label")
    parser.add_argument("--rationale")
    parser.add_argument("--confidence", type=float, help="0.0 to 1.0")
    shared.project_arguments(parser, cross=False)


def link(arguments: Arguments, output: Output) -> int:
    target = arguments.target
    entry = target.removeprefix("memory://entry/") if target.startswith("memory://entry/") or ":" not in target else None
    with shared.open_memory() as memory:
        answer = memory.link_entries(
            actor=shared.login(),
            origin="manual",
            source_entry_id=shared.entry_id(arguments.source),
            target_entry_id=entry,
            target_uri=None if entry else target,
            relation=arguments.relation,
            section=arguments.section,
            label=arguments.label,
            rationale=arguments.rationale,
            confidence=arguments.confidence,
            **shared.project(arguments),
        )

    def show(done: Any) -> None:  # noqa: ANN401  (answers.links.Linked)
        output.line(f"{done.link_id}  {_told(done.link)}")
        if done.superseded:
            output.line(f"{done.superseded}  is superseded now")

    output.answer(answer, show)
    return DONE


def unlink_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("link_id")
    shared.project_arguments(parser, cross=False)


def unlink(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.unlink_entries(actor=shared.login(), link_id=arguments.link_id, **shared.project(arguments))
    output.answer(answer, lambda done: output.line(f"{done.link_id}  removed"))
    return DONE


def links_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry_id")
    parser.add_argument("--direction", default="outgoing", choices=("outgoing", "incoming", "both"))
    shared.page_arguments(parser, 50)
    shared.project_arguments(parser, cross=False)


def links(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.list_entry_links(
            entry_id=shared.entry_id(arguments.entry_id),
            direction=arguments.direction,
            limit=arguments.limit,
            offset=arguments.offset,
            **shared.project(arguments),
        )
    output.answer(
        answer,
        lambda found: output.table(
            ("id", "relation", "end", "status", "title"),
            [
                (each.id, each.relation, each.source_entry_id or each.target_uri, each.status, each.title)
                for each in found.links
            ],
        ),
    )
    return DONE


def rebuild(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.rebuild_index()
    output.answer(
        answer,
        lambda done: output.line(
            f"{done.lexical_backend} index {'built anew' if done.rebuilt else 'left as it is'}, {done.entries} entries;"
            f" before: {done.missing} missing, {done.surplus} surplus, {len(done.damage)} damaged"
        ),
    )
    return DONE


def _told(link: Any) -> str:  # noqa: ANN401  (answers.links.LinkShown)
    return f"{link.relation} {link.target_uri}" + (f" ({link.status})" if link.status else "")
