"""Commands that ask both domains: each answers, and one that cannot does not silence the other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam, NotFound, ScaffaleError, quoted
from scaffale.server.cli.commands import DONE, WHICH, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace


def search_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", nargs="+", help="words; any text is a valid query (put -- before one that begins with -)")
    domain = parser.add_mutually_exclusive_group()
    domain.add_argument("--docs", action="store_true", help="documents only")
    domain.add_argument("--memory", action="store_true", help="memory only")
    parser.add_argument("--shelf", help="documents of this shelf")
    parser.add_argument("--tag", action="append", default=[], help="with this tag; repeatable")
    parser.add_argument("--scope", help="memory of this scope")
    parser.add_argument("--topic", help="memory of this topic")
    parser.add_argument("--status", default="active", choices=WHICH, help="memory of this status (default: active)")
    parser.add_argument("--explain", action="store_true", help="show the numbers that ranked each hit")
    parser.add_argument("--retrieval", choices=("lexical", "vector", "hybrid"), help="by words, by meaning, or by both")
    shared.page_arguments(parser, 10)
    shared.project_arguments(parser)


def search(arguments: Arguments, output: Output) -> int:
    memory_only = arguments.memory or arguments.scope or arguments.topic
    docs_only = arguments.docs or arguments.shelf
    if memory_only and docs_only:
        raise InvalidParam("--shelf belongs to documents, --scope and --topic to memory: choose one")
    settings = shared.settings()
    verbs = {}
    # Asking both, one that holds nothing yet is not even imported; a program gets the shape that it knows.
    if docs_only or (not memory_only and (output.as_json or os.path.lexists(settings.docs_db_path))):
        verbs["docs"] = lambda: _search_docs(arguments)
    if memory_only or (not docs_only and (output.as_json or os.path.lexists(settings.memory_db_path))):
        verbs["memory"] = lambda: _search_memory(arguments)
    answers = shared.each_of(verbs)
    if output.as_json:
        shared.json_of_each(answers, output, alone=True)
    else:
        _show_hits(answers, output)
        if not answers:
            output.note("nothing is kept yet: `scaffale scan FOLDER` indexes documents, `scaffale add` keeps an entry")
    return shared.code_of_each(answers)


def _search_docs(arguments: Arguments) -> Any:  # noqa: ANN401  (answers.docs.DocsSearch)
    with shared.open_docs() as docs:
        return docs.search(
            query=" ".join(arguments.query),
            shelf=arguments.shelf,
            tags=arguments.tag,
            limit=arguments.limit,
            offset=arguments.offset,
            explain=arguments.explain,
            retrieval=arguments.retrieval,
        )


def _search_memory(arguments: Arguments) -> Any:  # noqa: ANN401  (answers.memory.MemorySearch)
    from scaffale.memory.finding import Finding

    with Finding(shared.settings()) as memory:  # the whole hall would cost a command two milliseconds more
        return memory.search(
            query=" ".join(arguments.query),
            scope=arguments.scope,
            topic=arguments.topic,
            tags=arguments.tag,
            status=arguments.status,
            limit=arguments.limit,
            offset=arguments.offset,
            explain=arguments.explain,
            retrieval=arguments.retrieval,
            **shared.project(arguments, cross=True),
        )


def _show_hits(answers: dict[str, Any], output: Output) -> None:
    found = any(getattr(answer, "results", ()) for answer in answers.values())
    for name, answer in answers.items():
        if isinstance(answer, ScaffaleError):
            output.note(f"warning: {name} was not searched: {answer.detail}")
            continue
        for hit in answer.results:
            if name == "docs":
                below = hit.heading_path[hit.heading_path[:1] == (hit.title,) :]
                fresh = "" if hit.freshness == "same" else f", file {hit.freshness}"
                place = f"docs {hit.id}  {hit.file_path}:{hit.start_line}-{hit.end_line}{fresh}"
                output.hit(" › ".join((hit.title, *below)), place, hit.snippet)
            else:
                place = f"memory {hit.id}  {hit.project_id}  {hit.scope}/{hit.topic}  {hit.source_type}, {hit.status}"
                output.hit(hit.title or hit.topic, place, hit.snippet)
            if hit.explain:
                output.line("    " + "  ".join(f"{part}={value}" for part, value in hit.explain.items()))
        if answer.suggestions and not found:
            closest = f" ({', '.join(answer.closest)})" if answer.closest else ""
            near = ", ".join(dict.fromkeys(hit.title or hit.id for hit in answer.suggestions))
            output.note(f"nothing in {name} holds {', '.join(answer.unmatched or ())}; near{closest}: {near}")
        if answer.results and answer.next_offset:
            output.note(f"more of {name}: --{name} --offset {answer.next_offset}")
        for warning in answer.warnings:
            output.note(f"warning: {warning}")
    if answers and not found:
        output.note("nothing found")


def read_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", help="a document number, a memory entry id, or a docs:// or memory:// URI")
    parser.add_argument("--lines", metavar="FROM:TO", help="only these lines of a document")
    parser.add_argument("--section", help="only this section: its heading, or the path of headings joined by ' › '")
    parser.add_argument("--find", metavar="TEXT", help="only the lines around this text")
    parser.add_argument("--context", type=shared.at_least(0), default=10, help="lines around each place (default: 10)")
    shared.project_arguments(parser)


def read(arguments: Arguments, output: Output) -> int:
    what = arguments.what
    if what.startswith("docs://") or shared.is_number(what):
        first, last = shared.line_range(arguments.lines)
        with shared.open_docs() as docs:
            answer = docs.read_document(
                document_id=shared.document_id(what),
                start_line=first,
                end_line=last,
                search_string=arguments.find,
                context_lines=arguments.context,
                section=arguments.section,
            )
        output.answer(answer, lambda document: _write(document.content, output))
        return DONE
    for option in ("lines", "section", "find"):
        if getattr(arguments, option) is not None:
            raise InvalidParam(f"--{option} belongs to documents; {quoted(what)} would be an entry of memory")
    with shared.open_memory() as memory:
        try:
            entry = memory.read_entry(entry_id=shared.entry_id(what), **shared.project(arguments, cross=True))
        except NotFound as error:
            if arguments.all_projects:
                raise
            hint = "--all-projects looks in every project; a document is read by its number"
            raise NotFound(f"{error.detail}; {hint}", project_id=error.project_id) from None
    output.answer(entry, lambda found: _show_entry(found.entry, output))
    return DONE


def _write(text: str, output: Output) -> None:
    for line in text.removesuffix("\n").split("\n") if text else ():
        output.line(line.removesuffix("\r"))


def _show_entry(entry: Any, output: Output) -> None:  # noqa: ANN401  (model.Entry)
    output.line(f"{entry.title or entry.topic}")
    output.line(f"{entry.id}  {entry.project_id}  {entry.scope}/{entry.topic}  {' '.join(entry.tags)}")
    output.line(
        f"{entry.source_type}, {entry.status}, importance {entry.importance}, confidence {entry.confidence},"
        f" updated {entry.updated_at}"
    )
    output.line()
    _write(entry.content, output)


def status_arguments(parser: argparse.ArgumentParser) -> None:
    shared.project_arguments(parser)


def status(arguments: Arguments, output: Output) -> int:
    def memory() -> Any:  # noqa: ANN401
        with shared.open_memory() as hall:
            return hall.status(**({} if arguments.all_projects else shared.project(arguments)))

    def docs() -> Any:  # noqa: ANN401
        with shared.open_docs() as hall:
            return hall.feature_status()

    answers = shared.each_of({"memory": memory, "docs": docs})
    if output.as_json:
        shared.json_of_each(answers, output)
        return shared.code_of_each(answers)
    for name, answer in answers.items():
        if isinstance(answer, ScaffaleError):
            output.line(f"{name}: {answer.detail} [{answer.code}]")
            continue
        counts = ", ".join(f"{count} {what}" for what, count in answer.counts.items()) or "nothing yet"
        output.line(f"{name}: {answer.db_path}")
        if name == "memory" and answer.project_id:
            output.line(f"  project {answer.project_id}")
        output.line(f"  {counts}")
        lag = ", ".join(f"{value} {key}" for key, value in answer.index_lag.items())
        output.line(f"  index {answer.lexical_backend}" + (f", {lag}" if lag else ""))
        for warning in answer.warnings:
            output.note(f"warning: {warning}")
    return shared.code_of_each(answers)

