"""Commands on shelves of documents."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from scaffale.server.cli.commands import DONE, PARTLY, shared

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scaffale.model import ScanReport
    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace

MOST_NAMED = 50  # skipped files that a person is told of one by one


def scan_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="a folder of Markdown files, or one file")
    parser.add_argument("--shelf", help="the shelf to put them on (default: the name of the folder)")
    parser.add_argument("--no-recursive", action="store_true", help="leave subfolders out")
    parser.add_argument("--ignore", action="append", default=[], metavar="GLOB", help="files to leave out; repeatable")
    parser.add_argument("--no-gitignore", action="store_true", help="read what .gitignore excludes, too")
    parser.add_argument("--correlate", action="store_true", help="then link what changed to what it has to do with")


def scan(arguments: Arguments, output: Output) -> int:
    path = os.path.abspath(arguments.path)
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    shelf = arguments.shelf or os.path.basename(folder) or "documents"
    with _going_on_later(output), shared.open_docs() as docs, output.progress() as progress:
        if os.path.isdir(path):
            report = docs.scan_folder(
                folder_path=path,
                shelf=shelf,
                recursive=not arguments.no_recursive,
                ignore=arguments.ignore,
                respect_gitignore=not arguments.no_gitignore,
                correlate=arguments.correlate,
                progress=progress,
            )
        else:
            report = docs.scan_file(
                file_path=path, shelf=shelf, correlate=arguments.correlate, progress=progress
            )
    return _scanned((report,), output, single=True)


def resync_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shelf", help="only this shelf")
    parser.add_argument("--remove-missing", action="store_true", help="forget documents whose file is gone")
    parser.add_argument("--correlate", action="store_true", help="then link what changed to what it has to do with")


def resync(arguments: Arguments, output: Output) -> int:
    with _going_on_later(output), shared.open_docs() as docs, output.progress() as progress:
        reports = docs.resync_all(
            shelf=arguments.shelf,
            remove_missing=arguments.remove_missing,
            correlate=arguments.correlate,
            progress=progress,
        )
    if not reports:
        output.note("nothing was scanned yet: `scaffale scan FOLDER` does")
    return _scanned(reports, output, single=False)


def watch_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--shelf", help="only this shelf")
    parser.add_argument("--remove-missing", action="store_true", help="forget documents whose file is gone")
    parser.add_argument("--correlate", action="store_true", help="link what changed to what it has to do with")


def watch(arguments: Arguments, output: Output) -> int:
    failed = False
    with shared.open_docs() as docs, suppress(KeyboardInterrupt):
        output.note("watching; Ctrl-C ends it")
        for report in docs.watch(
            shelf=arguments.shelf, remove_missing=arguments.remove_missing, correlate=arguments.correlate
        ):
            if report.new or report.changed or report.moved or report.removed or report.missing or report.failed:
                failed = failed or report.failed > 0
                _scanned((report,), output, single=True)
                output.flush()
    return PARTLY if failed else DONE


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
        if r.correlation:
            done = r.correlation
            output.line(f"{r.shelf}: {done.applied_links} links for {done.scanned_documents} documents")
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


def shelf_list(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        output.answer(
            docs.list_shelves(),
            lambda answer: output.table(
                ("id", "shelf", "documents", "description"),
                [(s.id, s.name, s.document_count, s.description) for s in answer.shelves],
            ),
        )
    return DONE


def shelf_show_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shelf")
    parser.add_argument("--tag")
    shared.page_arguments(parser, 50)


def shelf_show(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
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


def shelf_create(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.create_shelf(name=arguments.name, description=arguments.description)
        output.answer(answer, lambda made: output.line(f"{made.shelf.id}\t{made.shelf.name}"))
    return DONE


def shelf_create_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--description")


def shelf_update_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shelf")
    parser.add_argument("--name", help="the new name")
    parser.add_argument("--description", help="the new description; an empty one removes it")


def shelf_update(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.update_shelf(
            shelf=arguments.shelf, new_name=arguments.name, new_description=arguments.description
        )
        output.answer(answer, lambda made: output.line(f"{made.shelf.id}\t{made.shelf.name}"))
    return DONE


def shelf_remove_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shelf")


def shelf_remove(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        output.answer(docs.remove_shelf(shelf=arguments.shelf), lambda gone: _removed(gone.removed_documents, output))
    return DONE


def shelf_forget_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document")


def shelf_forget(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.remove_document(document_id=shared.document_id(arguments.document))
        output.answer(answer, lambda gone: _removed(gone.removed_documents, output))
    return DONE


def _removed(count: int, output: Output) -> None:
    output.line(f"{count} document{'' if count == 1 else 's'} forgotten; the files are untouched")

