"""Commands on the memory of a project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scaffale.server.cli.commands import DONE, WHICH, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace

SOURCES = (
    "agent_note", "decision", "handoff", "ticket_summary", "commit_context", "doc_observation", "file_observation",
    "bug_pattern", "workaround", "user_preference", "environment_note",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("content", help="what to keep, word for word; - reads it from standard input")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--scope", help="default: MEMORY_SCOPE_DEFAULT of the project")
    parser.add_argument("--type", default="agent_note", choices=SOURCES, dest="source_type", metavar="TYPE",
                        help=f"one of {', '.join(SOURCES)} (default: agent_note)")  # fmt: skip
    parser.add_argument("--title")
    parser.add_argument("--summary")
    parser.add_argument("--source-ref")
    parser.add_argument("--source-path")
    parser.add_argument("--source-uri")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("--importance", type=int, default=3, help="1 low … 3 normal … 5 critical")
    parser.add_argument("--confidence", type=float, help="0.0 to 1.0")
    parser.add_argument("--no-dedupe", action="store_true", help="keep it even if an entry says exactly this")
    parser.add_argument("--redact-secrets", action="store_true", help="mask secrets instead of refusing them")
    shared.project_arguments(parser, cross=False)


def add(arguments: Arguments, output: Output) -> int:
    content = shared.standard_input(output) if arguments.content == "-" else arguments.content
    with shared.open_memory() as memory:
        answer = memory.add_entry(
            actor=shared.login(),
            topic=arguments.topic,
            content=content,
            source_type=arguments.source_type,
            scope=arguments.scope,
            title=arguments.title,
            summary=arguments.summary,
            source_ref=arguments.source_ref,
            source_path=arguments.source_path,
            source_uri=arguments.source_uri,
            tags=arguments.tag,
            importance=arguments.importance,
            confidence=arguments.confidence,
            dedupe=not arguments.no_dedupe,
            secrets="redact" if arguments.redact_secrets else None,
            **shared.project(arguments),
        )
    output.answer(answer, lambda added: _added(added, output))
    return DONE


def _added(added: Any, output: Output) -> None:  # noqa: ANN401  (answers.memory.AddedEntry)
    output.line(f"{added.entry_id}  {'already kept' if added.deduped else 'kept'} in {added.project_id}")
    for entry in added.similar_entries:
        output.note(f"  similar ({entry.similarity:.0%}): {entry.id}  {entry.scope}/{entry.topic}")


def invalidate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry_id")
    parser.add_argument("--reason")
    shared.project_arguments(parser, cross=False)


def invalidate(arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = memory.invalidate_entry(
            actor=shared.login(),
            entry_id=shared.entry_id(arguments.entry_id),
            reason=arguments.reason,
            **shared.project(arguments),
        )
    output.answer(answer, lambda done: output.line(f"{done.entry_id}  {done.previous_status} → {done.status}"))
    return DONE


def bind_arguments(parser: argparse.ArgumentParser) -> None:
    shared.project_arguments(parser, cross=False)


def bind(arguments: Arguments, output: Output) -> int:
    given = {"project_path": os.path.abspath(arguments.project or "."), "project_id": arguments.project_id}
    with shared.open_memory() as memory:
        answer = memory.bind_project(actor=shared.login(), **given)
    output.answer(
        answer, lambda done: output.line(f"{done.folder} {'now belongs' if done.changed else 'belongs'} to {done.project_id}")
    )
    return DONE


def scopes(arguments: Arguments, output: Output) -> int:
    return _names("list_scopes", arguments, output)


def topics(arguments: Arguments, output: Output) -> int:
    return _names("list_topics", arguments, output)


def tags(arguments: Arguments, output: Output) -> int:
    return _names("list_tags", arguments, output)


def scopes_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", default="active", choices=WHICH, help="of entries of this status (default: active)")
    parser.add_argument("--scope")
    parser.add_argument("--topic")
    shared.project_arguments(parser, cross=False)


topics_arguments = tags_arguments = scopes_arguments


def _names(verb: str, arguments: Arguments, output: Output) -> int:
    with shared.open_memory() as memory:
        answer = getattr(memory, verb)(
            status=arguments.status, scope=arguments.scope, topic=arguments.topic, **shared.project(arguments)
        )
    output.answer(answer, lambda names: output.table(("name", "entries"), list(names.items)))
    return DONE
