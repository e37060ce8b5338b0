"""The commands: what each takes, which verb it calls, how its answer looks. One row of `COMMANDS` each.

Only the parser of the called command is built.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from scaffale.errors import InvalidParam, NotFound, ScaffaleError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaffale.docs import Docs
    from scaffale.memory import Memory
    from scaffale.model import ScanReport
    from scaffale.server.cli.output import Output
    from scaffale.settings import Settings

    Arguments = argparse.Namespace

SOURCES = (
    "agent_note", "decision", "handoff", "ticket_summary", "commit_context", "doc_observation", "file_observation",
    "bug_pattern", "workaround", "user_preference", "environment_note",
)  # fmt: skip
DONE, PARTLY = 0, 1
WHICH = ("active", "superseded", "archived", "invalidated", "any")
MOST_NAMED = 50  # skipped files that a person is told of one by one


class Command(NamedTuple):
    """A command: one line of help, an example, its arguments, and what it does. `run` returns the exit code."""

    help: str
    example: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Arguments, Output], int]


def run(arguments: Sequence[str], output: Output) -> int:
    """Find the command, parse its arguments, run it."""
    rest = list(arguments)
    _drop_json(rest)
    if rest[:1] == ["help"]:  # `help search` is `search --help`
        rest = [*rest[1:], "--help"]
    if not rest or rest[0] in ("-h", "--help"):
        _overview("")
        return DONE
    if rest[0] in ("-V", "--version"):
        from scaffale import __version__

        output.line(f"scaffale {__version__}")
        return DONE
    name = rest.pop(0)
    if name in GROUPS:
        _drop_json(rest)
        if not rest or rest[0] in ("-h", "--help"):
            _overview(name)
            return DONE
        name = f"{name} {rest.pop(0)}"
    command = COMMANDS.get(name)
    if command is None:
        raise _unknown(name)
    # argparse looks for catalogues of translations that nobody ships, and imports `locale` to do so.
    setattr(argparse, "_", str)  # noqa: B010
    parser = _Parser(
        prog=f"scaffale {name}",
        description=command.help,
        epilog=f"example: {command.example}",
        allow_abbrev=False,
        # Without a width it imports `shutil`, and that every compression library there is, for each argument.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
    )
    command.arguments(parser)
    parser.add_argument("--json", action="store_true", help="the answer as JSON")
    parser.given = rest
    try:
        parsed = parser.parse_args(rest)
    except SystemExit:  # of `--help`, which has been printed
        return DONE
    return command.run(parsed, output)


def _drop_json(rest: list[str]) -> None:
    """It belongs behind the command, and is understood before it (see `main`)."""
    while rest[:1] == ["--json"]:
        rest.pop(0)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are errors like all others. `given` is what it parses."""

    given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """`InvalidParam`, with the option that was meant, or the way to look for a text that begins with `-`."""
        options = self._option_string_actions
        unknown = [word for word in self.given if word.startswith("-") and word.partition("=")[0] not in (*options, "-", "--")]
        hint = f"`{self.prog} --help` shows how"
        if unknown:
            import difflib

            close = difflib.get_close_matches(unknown[0], options, n=1, cutoff=0.7)
            if close:
                hint = f"did you mean {close[0]}?"
            elif self.prog.endswith((" search", " add")):
                hint = f"to take it as text, write `{self.prog} -- {unknown[0]}`"
        raise InvalidParam(f"{message}; {hint}")


# --- docs ------------------------------------------------------------------------------------------------------------


def _scan_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a folder of Markdown files, or one file")
    parser.add_argument("--shelf", help="the shelf to put them on (default: the name of the folder)")
    parser.add_argument("--no-recursive", action="store_true", help="leave subfolders out")
    parser.add_argument("--ignore", action="append", default=[], metavar="GLOB", help="files to leave out; repeatable")
    parser.add_argument("--no-gitignore", action="store_true", help="read what .gitignore excludes, too")


def _scan(arguments: Arguments, output: Output) -> int:
    path = os.path.abspath(arguments.path)
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    shelf = arguments.shelf or os.path.basename(folder) or "documents"
    with _going_on_later(output), _docs() as docs, output.progress() as progress:
        if os.path.isdir(path):
            report = docs.scan_folder(
                folder_path=path,
                shelf=shelf,
                recursive=not arguments.no_recursive,
                ignore=arguments.ignore,
                respect_gitignore=not arguments.no_gitignore,
                progress=progress,
            )
        else:
            report = docs.scan_file(file_path=path, shelf=shelf, progress=progress)
    return _scanned((report,), output, single=True)


def _resync_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shelf", help="only this shelf")
    parser.add_argument("--remove-missing", action="store_true", help="forget documents whose file is gone")


def _resync(arguments: Arguments, output: Output) -> int:
    with _going_on_later(output), _docs() as docs, output.progress() as progress:
        reports = docs.resync_all(shelf=arguments.shelf, remove_missing=arguments.remove_missing, progress=progress)
    if not reports:
        output.note("nothing was scanned yet: `scaffale scan FOLDER` does")
    return _scanned(reports, output, single=False)


class _going_on_later:  # noqa: N801  (reads as a statement)
    """A person who interrupts a scan is told that nothing needs to be put right."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is KeyboardInterrupt:
            self._output.note("what was read so far is kept; the same scan goes on from there")


def _scanned(reports: Sequence[ScanReport], output: Output, *, single: bool) -> int:
    def show(report: ScanReport) -> None:
        r = report
        output.line(
            f"{r.shelf}: {r.seen} files seen = {r.new} new + {r.changed} changed + {r.same} same + {r.skipped} skipped"
            f" + {r.failed} failed; {r.moved} moved, {r.missing} missing, {r.removed} removed; {r.sections} sections"
        )
        named = [*(f"{skip.file_path}: {skip.reason}" for skip in (*r.failures, *r.skips))]
        named += [f"{path}: missing" for path in r.missing_files]
        for line in named[:MOST_NAMED]:
            output.note(f"  {line}")
        if len(named) > MOST_NAMED:
            output.note(f"  and {len(named) - MOST_NAMED} more; --json names them all")

    if single:
        output.answer(reports[0], show)
    elif output.as_json:
        output.answer(tuple(reports), show)
    else:
        for report in reports:
            output.answer(report, show)
    return PARTLY if any(report.failed for report in reports) else DONE


def _shelf_list(arguments: Arguments, output: Output) -> int:
    with _docs() as docs:
        output.answer(
            docs.list_shelves(),
            lambda answer: output.table(
                ("id", "shelf", "documents", "description"),
                [(s.id, s.name, s.document_count, s.description) for s in answer.shelves],
            ),
        )
    return DONE


def _shelf_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shelf")
    parser.add_argument("--tag")
    _page_arguments(parser, 50)


def _shelf_show(arguments: Arguments, output: Output) -> int:
    with _docs() as docs:
        output.answer(
            docs.list_documents(
                shelf=arguments.shelf, tag=arguments.tag, limit=arguments.limit, offset=arguments.offset
            ),
            lambda answer: output.table(
                ("id", "title", "lines", "file", "tags", "path"),
                [(d.id, d.title, d.line_count, d.freshness, " ".join(d.tags), d.file_path) for d in answer.documents],
            ),
        )
    return DONE


def _shelf_create(arguments: Arguments, output: Output) -> int:
    with _docs() as docs:
        answer = docs.create_shelf(name=arguments.name, description=arguments.description)
        output.answer(answer, lambda made: output.line(f"{made.shelf.id}\t{made.shelf.name}"))
    return DONE


def _shelf_create_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--description")


def _shelf_update_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shelf")
    parser.add_argument("--name", help="the new name")
    parser.add_argument("--description", help="the new description; an empty one removes it")


def _shelf_update(arguments: Arguments, output: Output) -> int:
    with _docs() as docs:
        answer = docs.update_shelf(
            shelf=arguments.shelf, new_name=arguments.name, new_description=arguments.description
        )
        output.answer(answer, lambda made: output.line(f"{made.shelf.id}\t{made.shelf.name}"))
    return DONE


def _shelf_remove(arguments: Arguments, output: Output) -> int:
    with _docs() as docs:
        output.answer(docs.remove_shelf(shelf=arguments.shelf), lambda gone: _removed(gone.removed_documents, output))
    return DONE


def _shelf_forget(arguments: Arguments, output: Output) -> int:
    with _docs() as docs:
        answer = docs.remove_document(document_id=_document_id(arguments.document))
        output.answer(answer, lambda gone: _removed(gone.removed_documents, output))
    return DONE


def _removed(count: int, output: Output) -> None:
    output.line(f"{count} document{'' if count == 1 else 's'} forgotten; the files are untouched")


# --- both domains ------------------------------------------------------------------------------------------------------


def _search_arguments(parser: argparse.ArgumentParser) -> None:
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
    _page_arguments(parser, 10)
    _project_arguments(parser)


def _search(arguments: Arguments, output: Output) -> int:
    memory_only = arguments.memory or arguments.scope or arguments.topic
    docs_only = arguments.docs or arguments.shelf
    if memory_only and docs_only:
        raise InvalidParam("--shelf belongs to documents, --scope and --topic to memory: choose one")
    settings = _settings()
    verbs = {}
    # Asking both, one that holds nothing yet is not even imported; a program gets the shape that it knows.
    if docs_only or (not memory_only and (output.as_json or os.path.lexists(settings.docs_db_path))):
        verbs["docs"] = lambda: _search_docs(arguments)
    if memory_only or (not docs_only and (output.as_json or os.path.lexists(settings.memory_db_path))):
        verbs["memory"] = lambda: _search_memory(arguments)
    answers = _each(verbs)
    if output.as_json:
        _json_of_each(answers, output, alone=True)
    else:
        _show_hits(answers, output)
        if not answers:
            output.note("nothing is kept yet: `scaffale scan FOLDER` indexes documents, `scaffale add` keeps an entry")
    return _code_of_each(answers)


def _search_docs(arguments: Arguments) -> Any:  # noqa: ANN401  (answers.docs.DocsSearch)
    with _docs() as docs:
        return docs.search(
            query=" ".join(arguments.query),
            shelf=arguments.shelf,
            tags=arguments.tag,
            limit=arguments.limit,
            offset=arguments.offset,
            explain=arguments.explain,
        )


def _search_memory(arguments: Arguments) -> Any:  # noqa: ANN401  (answers.memory.MemorySearch)
    with _memory() as memory:
        return memory.search(
            query=" ".join(arguments.query),
            scope=arguments.scope,
            topic=arguments.topic,
            tags=arguments.tag,
            status=arguments.status,
            limit=arguments.limit,
            offset=arguments.offset,
            explain=arguments.explain,
            **_project(arguments, cross=True),
        )


def _show_hits(answers: dict[str, Any], output: Output) -> None:
    found = False
    for name, answer in answers.items():
        if isinstance(answer, ScaffaleError):
            output.note(f"warning: {name} was not searched: {answer.detail}")
            continue
        for hit in answer.results:
            found = True
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
        if answer.results and answer.next_offset:
            output.note(f"more of {name}: --{name} --offset {answer.next_offset}")
        for warning in answer.warnings:
            output.note(f"warning: {warning}")
    if answers and not found:
        output.note("nothing found")


def _read_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", help="a document number, a memory entry id, or a docs:// or memory:// URI")
    parser.add_argument("--lines", metavar="FROM:TO", help="only these lines of a document")
    parser.add_argument("--section", help="only this section: its heading, or the path of headings joined by ' › '")
    parser.add_argument("--find", metavar="TEXT", help="only the lines around this text")
    parser.add_argument("--context", type=int, default=10, help="lines around each place (default: 10)")
    _project_arguments(parser)


def _read(arguments: Arguments, output: Output) -> int:
    what = arguments.what
    if what.startswith("docs://") or _is_number(what):
        first, last = _line_range(arguments.lines)
        with _docs() as docs:
            answer = docs.read_document(
                document_id=_document_id(what),
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
            raise InvalidParam(f"--{option} belongs to documents; {what[:80]} would be an entry of memory")
    with _memory() as memory:
        try:
            entry = memory.read_entry(entry_id=_entry_id(what), **_project(arguments, cross=True))
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


def _status_arguments(parser: argparse.ArgumentParser) -> None:
    _project_arguments(parser)


def _status(arguments: Arguments, output: Output) -> int:
    def memory() -> Any:  # noqa: ANN401
        with _memory() as hall:
            return hall.status(**({} if arguments.all_projects else _project(arguments)))

    def docs() -> Any:  # noqa: ANN401
        with _docs() as hall:
            return hall.feature_status()

    answers = _each({"memory": memory, "docs": docs})
    if output.as_json:
        _json_of_each(answers, output)
        return _code_of_each(answers)
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
    return _code_of_each(answers)


# --- memory ------------------------------------------------------------------------------------------------------------


def _add_arguments(parser: argparse.ArgumentParser) -> None:
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
    _project_arguments(parser, cross=False)


def _add(arguments: Arguments, output: Output) -> int:
    content = _standard_input(output) if arguments.content == "-" else arguments.content
    with _memory() as memory:
        answer = memory.add_entry(
            actor=_login(),
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
            **_project(arguments),
        )
    output.answer(answer, lambda added: _added(added, output))
    return DONE


def _standard_input(output: Output) -> str:
    """All of it, as it came: no newline is translated."""
    if sys.stdin.isatty():
        output.note("type the entry; Ctrl-D ends it")
    return sys.stdin.buffer.read().decode()


def _added(added: Any, output: Output) -> None:  # noqa: ANN401  (answers.memory.AddedEntry)
    output.line(f"{added.entry_id}  {'already kept' if added.deduped else 'kept'} in {added.project_id}")
    for entry in added.similar_entries:
        output.note(f"  similar ({entry.similarity:.0%}): {entry.id}  {entry.scope}/{entry.topic}")


def _invalidate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("entry_id")
    parser.add_argument("--reason")
    _project_arguments(parser, cross=False)


def _invalidate(arguments: Arguments, output: Output) -> int:
    with _memory() as memory:
        answer = memory.invalidate_entry(
            actor=_login(),
            entry_id=_entry_id(arguments.entry_id),
            reason=arguments.reason,
            **_project(arguments),
        )
    output.answer(answer, lambda done: output.line(f"{done.entry_id}  {done.previous_status} → {done.status}"))
    return DONE


def _bind_arguments(parser: argparse.ArgumentParser) -> None:
    _project_arguments(parser, cross=False)


def _bind(arguments: Arguments, output: Output) -> int:
    given = {"project_path": os.path.abspath(arguments.project or "."), "project_id": arguments.project_id}
    with _memory() as memory:
        answer = memory.bind_project(actor=_login(), **given)
    output.answer(
        answer, lambda done: output.line(f"{done.folder} {'now belongs' if done.changed else 'belongs'} to {done.project_id}")
    )
    return DONE


def _names_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", default="active", choices=WHICH, help="of entries of this status (default: active)")
    parser.add_argument("--scope")
    parser.add_argument("--topic")
    _project_arguments(parser, cross=False)


def _names(verb: str) -> Callable[[Arguments, Output], int]:
    def run(arguments: Arguments, output: Output) -> int:
        with _memory() as memory:
            answer = getattr(memory, verb)(
                status=arguments.status, scope=arguments.scope, topic=arguments.topic, **_project(arguments)
            )
        output.answer(answer, lambda names: output.table(("name", "entries"), list(names.items)))
        return DONE

    return run


# --- the house -----------------------------------------------------------------------------------------------------------


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tools", default="default", choices=("default", "all", "memory", "docs"))
    parser.add_argument("--project", help="the folder or id of the project whose memory is listed as resources")


def _serve(arguments: Arguments, output: Output) -> int:
    from scaffale.server.mcp import serve

    return serve(_settings(), tools=arguments.tools, project=arguments.project)


def _doctor(arguments: Arguments, output: Output) -> int:
    from scaffale.server.cli.doctor import examine

    findings = examine(_settings())
    output.answer(
        findings,
        lambda found: output.table(("", "what", "finding", "what to do"), [tuple(each) for each in found.checks]),
    )
    return DONE if findings.healthy else PARTLY


def _eval_arguments(parser: argparse.ArgumentParser) -> None:
    from scaffale.server.cli.evaluation import arguments

    arguments(parser)


def _eval(arguments: Arguments, output: Output) -> int:
    from scaffale.server.cli.evaluation import run

    return run(arguments, output, _settings())


def _maintain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="build the indexes anew from the stores")


def _maintain(arguments: Arguments, output: Output) -> int:
    def memory() -> Any:  # noqa: ANN401
        with _memory() as hall:
            return hall.maintain(rebuild=arguments.rebuild)

    def docs() -> Any:  # noqa: ANN401
        with _docs() as hall:
            return hall.maintain(rebuild=arguments.rebuild)

    answers = _each({"memory": memory, "docs": docs})
    done = [
        line
        for name, answer in answers.items()
        for line in ([f"{name}: {answer.detail}"] if isinstance(answer, ScaffaleError) else answer)
    ]
    if output.as_json:
        output.json({"ok": True, "done": done})
    else:
        for line in done:
            output.line(line)
    return _code_of_each(answers)


# --- what commands share ---------------------------------------------------------------------------------------------------


def _settings() -> Settings:
    from scaffale import load_settings

    return load_settings()


def _memory() -> Memory:
    from scaffale.memory import Memory

    return Memory(_settings())


def _docs() -> Docs:
    from scaffale.docs import Docs

    return Docs(_settings())


def _each(verbs: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """The answer of each domain, or its error: one that cannot answer does not silence the other. Raises when none can."""
    answers: dict[str, Any] = {}
    for name, verb in verbs.items():
        try:
            answers[name] = verb()
        except ScaffaleError as error:
            answers[name] = error
    if answers and all(isinstance(answer, ScaffaleError) for answer in answers.values()):
        raise next(iter(answers.values()))
    return answers


def _json_of_each(answers: dict[str, Any], output: Output, *, alone: bool = False) -> None:
    """Answers by domain; `alone`: that of a single domain is the whole."""
    from scaffale.server.cli.output import refusal
    from scaffale.server.render import structured

    parts = {
        name: refusal(answer) if isinstance(answer, ScaffaleError) else structured(answer) for name, answer in answers.items()
    }
    output.json(next(iter(parts.values())) if alone and len(parts) == 1 else {"ok": True, **parts})


def _code_of_each(answers: dict[str, Any]) -> int:
    return PARTLY if any(isinstance(answer, ScaffaleError) for answer in answers.values()) else DONE


def _page_arguments(parser: argparse.ArgumentParser, limit: int) -> None:
    parser.add_argument("--limit", type=int, default=limit, help=f"how many (default: {limit})")
    parser.add_argument("--offset", type=int, default=0, help="how many to pass over first")


def _project_arguments(parser: argparse.ArgumentParser, *, cross: bool = True) -> None:
    parser.add_argument("--project", metavar="PATH", help="the folder of the project (default: this folder)")
    parser.add_argument("--project-id", metavar="ID", help="the project by its id")
    if cross:
        parser.add_argument("--all-projects", action="store_true", help="memory of every project")


def _project(arguments: Arguments, *, cross: bool = False) -> dict[str, Any]:
    if cross and arguments.all_projects:
        return {"mode": "cross_project"}
    if arguments.project_id is not None and arguments.project is None:
        return {"project_id": arguments.project_id}
    return {"project_path": os.path.abspath(arguments.project or "."), "project_id": arguments.project_id}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _document_id(text: str) -> int:
    number = text.removeprefix("docs://document/")
    if not _is_number(number):
        raise InvalidParam(f"{text[:80]} is no document: give its number or docs://document/NUMBER")
    return int(number[:20])  # no longer than any number can be


def _entry_id(text: str) -> str:
    entry_id = text.removeprefix("memory://entry/")
    if "://" in entry_id:
        raise InvalidParam(f"{text[:80]} is no entry: give its id or memory://entry/ID")
    return entry_id


def _line_range(text: str | None) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    first, colon, last = text.replace("-", ":").partition(":")
    try:
        return int(first) if first else None, (int(last) if last else None) if colon else int(first)
    except ValueError:
        raise InvalidParam(f"--lines: {text[:40]} is not FROM:TO") from None


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def _nothing(parser: argparse.ArgumentParser) -> None:
    return None


def _one(name: str) -> Callable[[argparse.ArgumentParser], None]:
    def arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(name)

    return arguments


def _overview(name: str) -> None:
    shown = {key: command for key, command in COMMANDS.items() if key == name or not name or key.startswith(f"{name} ")}
    lines = ["usage: scaffale COMMAND [ARGUMENT ...]   (scaffale COMMAND --help says more)", ""]
    lines += [f"  {key:<18} {command.help}" for key, command in shown.items()]
    if not name:
        lines += ["", "begin:  scaffale scan FOLDER   then   scaffale search WORDS   then   scaffale read NUMBER"]
    sys.stdout.write("\n".join(lines) + "\n")


def _unknown(name: str) -> InvalidParam:
    import difflib

    close = [full for full in COMMANDS if full.split()[-1] == name] or difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {' or '.join(close)}?" if close else "`scaffale --help` lists them"
    return InvalidParam(f"there is no command {name[:80]}; {hint}")


COMMANDS = {
    "scan": Command("index a folder of Markdown, or one file", "scaffale scan docs --shelf guide", _scan_arguments, _scan),
    "resync": Command("scan again whatever was scanned before", "scaffale resync --remove-missing", _resync_arguments, _resync),
    "search": Command("find sections of documents, and memory", "scaffale search write-ahead log", _search_arguments, _search),
    "read": Command("read a document or a memory entry", "scaffale read 12 --lines 40:60", _read_arguments, _read),
    "add": Command(
        "keep an entry in memory", 'scaffale add "Use < for expiry" --topic auth --scope backend', _add_arguments, _add
    ),
    "status": Command("what the stores hold and what serves them", "scaffale status", _status_arguments, _status),
    "doctor": Command("check stores, indexes and permissions", "scaffale doctor", _nothing, _doctor),
    "maintain": Command("tidy stores and indexes", "scaffale maintain --rebuild", _maintain_arguments, _maintain),
    "eval": Command("test searches with your own questions", "scaffale eval questions.jsonl", _eval_arguments, _eval),
    "serve": Command("serve agents over MCP on stdin and stdout", "scaffale serve --tools all", _serve_arguments, _serve),
    "shelf list": Command("the shelves", "scaffale shelf list", _nothing, _shelf_list),
    "shelf show": Command("the documents of a shelf", "scaffale shelf show guide", _shelf_show_arguments, _shelf_show),
    "shelf create": Command("make an empty shelf", "scaffale shelf create guide", _shelf_create_arguments, _shelf_create),
    "shelf update": Command(
        "rename or describe a shelf", "scaffale shelf update guide --name manual", _shelf_update_arguments, _shelf_update
    ),
    "shelf remove": Command("forget a shelf; files stay", "scaffale shelf remove guide", _one("shelf"), _shelf_remove),
    "shelf forget": Command("forget one document; its file stays", "scaffale shelf forget 12", _one("document"), _shelf_forget),
    "memory invalidate": Command(
        "mark an entry as not valid any more",
        "scaffale memory invalidate ID --reason 'fixed in 2.1'",
        _invalidate_arguments,
        _invalidate,
    ),
    "memory scopes": Command("the scopes in use", "scaffale memory scopes", _names_arguments, _names("list_scopes")),
    "memory topics": Command("the topics in use", "scaffale memory topics", _names_arguments, _names("list_topics")),
    "memory tags": Command("the tags in use", "scaffale memory tags", _names_arguments, _names("list_tags")),
    "project bind": Command(
        "say that a folder belongs to the project that its .env claims",
        "scaffale project bind --project ~/work/app",
        _bind_arguments,
        _bind,
    ),
}  # fmt: skip
GROUPS = {name.split()[0] for name in COMMANDS if " " in name}
