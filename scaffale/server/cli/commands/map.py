"""Commands on the map of documents: shelves as files, their parents, tags, links."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scaffale.model import DIRECTIONS, DOCUMENT_RELATIONS
from scaffale.server.cli.commands import DONE, PARTLY, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.answers.atlas import CorrelationReport
    from scaffale.answers.shelf_exchange import ShelfImported
    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace

SAMPLES, ALL_LINKS = 20, 1_000_000  # links that a report names

# --- shelves as files --------------------------------------------------------------------------------------------------


def shelf_export_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shelf")
    parser.add_argument("path", help="the file to write")
    parser.add_argument("--overwrite", action="store_true", help="replace a file that is there")


def shelf_export(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.export_shelf(
            shelf=arguments.shelf,
            save_path=os.path.abspath(arguments.path),
            overwrite=arguments.overwrite,
            anywhere=True,
        )
    output.answer(
        answer,
        lambda made: output.line(
            f"{made.save_path}: {made.documents} documents, {made.document_links} links, {made.bytes} bytes"
        ),
    )
    return DONE


def shelf_import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", help="an exported shelf")
    parser.add_argument("--shelf", help="put it on a shelf of this name (default: its own)")
    parser.add_argument(
        "--on-conflict", choices=("fail", "merge", "replace"), default="fail",
        help="when the shelf holds documents: change nothing, add what is new, or put the file's in their place",
    )  # fmt: skip
    parser.add_argument("--correlate", action="store_true", help="then link what changed to what it has to do with")


def shelf_import(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs, output.progress("reading", "documents") as progress:
        answer = docs.import_shelf(
            import_path=os.path.abspath(arguments.path),
            on_conflict=arguments.on_conflict,
            shelf=arguments.shelf,
            correlate=arguments.correlate,
            anywhere=True,
            progress=progress,
        )

    def show(made: ShelfImported) -> None:
        m = made
        output.line(
            f"{m.shelf}: {m.seen} documents seen = {m.new} new + {m.changed} changed + {m.same} same + {m.skipped} skipped"
            f" + {m.failed} failed; {m.removed} removed; {m.document_links} links, {m.shelf_links} of shelves"
        )
        for each in (*m.failures, *m.skips):
            output.note(f"  {each.file_path}: {each.reason}")
        for link in m.unresolved:
            output.note(f"  {link.relative_path}: {link.warning}")
        if m.backup:
            output.note(f"  before that the shelf was exported to {m.backup}")

    output.answer(answer, show)
    return PARTLY if answer.failed else DONE


# --- parents of shelves ----------------------------------------------------------------------------------------------


def parents_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shelf")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--add", metavar="SHELF", help="one more parent")
    change.add_argument("--remove", metavar="SHELF", help="no parent any more")
    change.add_argument("--set", nargs="*", metavar="SHELF", help="these parents and no others")


def parents(arguments: Arguments, output: Output) -> int:
    change: dict[str, Any] = {"operation": "list"}
    if arguments.add:
        change = {"operation": "add_parent", "parent_shelf": arguments.add}
    elif arguments.remove:
        change = {"operation": "remove_parent", "parent_shelf": arguments.remove}
    elif arguments.set is not None:
        change = {"operation": "set_parents", "parent_shelves": arguments.set}
    with shared.open_docs() as docs:
        answer = docs.manage_shelf_links(shelf=arguments.shelf, include_children=True, **change)
    rows = [("parent", each) for each in answer.parents] + [("child", each) for each in answer.children or ()]
    output.answer(
        answer,
        lambda _: output.table(("", "shelf", "distance", "uri"), [(kind, s.name, s.depth, s.uri) for kind, s in rows]),
    )
    return DONE


# --- links by evidence ------------------------------------------------------------------------------------------------


def correlate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shelf")
    parser.add_argument("--document", help="only this document of the shelf, by id")
    keep = parser.add_mutually_exclusive_group()
    keep.add_argument("--apply", action="store_true", help="keep the links in place of the former heuristic ones")
    keep.add_argument("--dry-run", action="store_true", help="only say what would be kept (the default)")
    parser.add_argument("--scope", choices=("shelf", "shelf_with_parents", "cross_shelf"), default="shelf_with_parents")
    parser.add_argument("--parent-depth", type=int, default=1, metavar="N", help="how far above the shelf (default: 1)")
    parser.add_argument(
        "--to", action="append", default=[], metavar="SHELF", help="a target of cross_shelf; repeatable"
    )
    parser.add_argument("--all-shelves", action="store_true", help="with cross_shelf: every shelf that may be a target")
    parser.add_argument("--min-confidence", type=float, default=0.6, metavar="C", help="0 to 1 (default: 0.6)")
    parser.add_argument("--max-links", type=int, default=8, metavar="N", help="for each document (default: 8)")
    parser.add_argument("--add-only", action="store_true", help="leave former heuristic links in place")
    parser.add_argument("--formula", metavar="VERSION", help="docs-links-v1 or docs-links-v2 (default)")
    parser.add_argument("--all", action="store_true", help="with --apply: documents that have not changed, too")
    parser.add_argument("--jobs", type=shared.at_least(1), metavar="N", help="processes at work (default: one for each core)")
    parser.add_argument("--html", metavar="FILE", help="write the report as a page, with all links")
    keep.add_argument(
        "--check", action="store_true",
        help="exit with 1 when documents have changed since links were applied, or references fit several documents",
    )  # fmt: skip


def correlate(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs, output.progress("correlating", "documents") as progress:
        try:
            report = docs.correlate(
                shelf=arguments.shelf,
                document_id=shared.document_id(arguments.document) if arguments.document else None,
                scope=arguments.scope,
                include_parent_depth=arguments.parent_depth,
                target_shelves=arguments.to,
                allow_all_shelves=arguments.all_shelves,
                min_confidence=arguments.min_confidence,
                max_links_per_document=arguments.max_links,
                replace_heuristic_links=not arguments.add_only,
                apply=arguments.apply,
                heuristic_version=arguments.formula,
                only_changed=arguments.check or (arguments.apply and not arguments.all),
                jobs=arguments.jobs or _cores(),
                samples=ALL_LINKS if arguments.html else SAMPLES,
                progress=progress,
            )
        except KeyboardInterrupt:
            if arguments.apply:
                output.note("what was done so far is kept; the same command goes on from there")
            raise
    if arguments.html:
        from scaffale.files import real, write_whole
        from scaffale.server.cli.correlation_page import page

        path = real(os.path.abspath(arguments.html))
        write_whole(path, [page(report).encode()], overwrite=True)
        report = report._replace(sample_links=report.sample_links[:SAMPLES])
        output.note(f"{path}: the report as a page")
    output.answer(report, lambda made: _correlated(made, output))
    return PARTLY if arguments.check and (report.scanned_documents or report.ambiguous_references) else DONE


def _cores() -> int:
    """As many as this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _correlated(report: CorrelationReport, output: Output) -> None:
    r = report
    output.line(
        f"{r.shelf}: {r.scanned_documents} documents, {r.unchanged_documents} unchanged; {r.candidate_links} candidate links ="
        f" {r.applied_links} applied + {r.would_apply} that would be + {r.skipped_low_confidence} of low confidence"
        f" + {r.skipped_existing} existing + {r.skipped_over_limit} over the limit + {r.skipped_rejected} rejected"
        f" + {r.skipped_gone} gone"
    )
    output.table(
        ("confidence", "relation", "from", "to", "because"),
        [(f"{s.confidence:.2f}", s.relation, s.source_title, s.target_title, s.rationale) for s in r.sample_links],
    )
    if not (r.applied_links or r.would_apply) and r.skipped_low_confidence:
        output.note(f"nothing reaches {r.min_confidence}; a lower --min-confidence shows more")


# --- tags ------------------------------------------------------------------------------------------------------------


def tag_list(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        output.answer(
            docs.list_tags(),
            lambda answer: output.table(
                ("tag", "documents", "description"), [(t.name, t.document_count, t.description) for t in answer.tags]
            ),
        )
    return DONE


def tag_create_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name")
    parser.add_argument("--description")


def tag_create(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        _show_tag(docs.create_tag(name=arguments.name, description=arguments.description), output)
    return DONE


def tag_update_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tag")
    parser.add_argument("--name", help="the new name")
    parser.add_argument("--description", help="the new description; an empty one removes it")


def tag_update(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.update_tag(tag=arguments.tag, new_name=arguments.name, new_description=arguments.description)
        _show_tag(answer, output)
    return DONE


def tag_remove_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tag")


def tag_remove(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        _show_tag(docs.remove_tag(tag=arguments.tag), output)
    return DONE


def tag_set_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document")
    parser.add_argument("tags", nargs="*", help="tags of the dictionary; none takes all that people gave")


def tag_set(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.set_document_tags(document_id=shared.document_id(arguments.document), tags=arguments.tags)
        output.answer(answer, lambda made: output.line(" ".join(made.documents[0].tags) or "no tags"))
    return DONE


def _show_tag(answer: Any, output: Output) -> None:  # noqa: ANN401  (answers.atlas.TagAnswer)
    output.answer(answer, lambda made: output.line(f"{made.tag.name}\t{made.tag.document_count}"))


# --- links -----------------------------------------------------------------------------------------------------------


def link_list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document")
    parser.add_argument("--direction", default="outgoing", choices=DIRECTIONS)
    shared.page_arguments(parser, 50)


def link_list(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.manage_document_links(
            operation="list",
            origin="manual",
            document_id=shared.document_id(arguments.document),
            direction=arguments.direction,
            limit=arguments.limit,
            offset=arguments.offset,
        )
    _show_links(answer, output)
    return DONE


def link_add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="the document that the link is in")
    parser.add_argument("target", help="the document that it leads to")
    parser.add_argument("--relation", default="related_to", choices=DOCUMENT_RELATIONS)
    parser.add_argument("--confidence", type=float, help="between 0 and 1")
    parser.add_argument("--label")
    parser.add_argument("--rationale", help="why the two belong together")


def link_add(arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.manage_document_links(
            operation="add",
            origin="manual",
            source_document_id=shared.document_id(arguments.source),
            target_document_id=shared.document_id(arguments.target),
            relation=arguments.relation,
            confidence=arguments.confidence,
            label=arguments.label,
            rationale=arguments.rationale,
        )
    _show_links(answer, output)
    return DONE


def link_remove_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("link", type=int)


def link_remove(arguments: Arguments, output: Output) -> int:
    return _on_link("remove", arguments, output)


def link_pin_arguments(parser: argparse.ArgumentParser) -> None:
    link_remove_arguments(parser)


def link_pin(arguments: Arguments, output: Output) -> int:
    return _on_link("pin", arguments, output)


def link_reject_arguments(parser: argparse.ArgumentParser) -> None:
    link_remove_arguments(parser)
    parser.add_argument("--undo", action="store_true", help="take the word back, that of a pin too")


def link_reject(arguments: Arguments, output: Output) -> int:
    return _on_link("forget_verdict" if arguments.undo else "reject", arguments, output)


def _on_link(operation: str, arguments: Arguments, output: Output) -> int:
    with shared.open_docs() as docs:
        answer = docs.manage_document_links(operation=operation, origin="manual", link_id=arguments.link)
    _show_links(answer, output)
    return DONE


def _show_links(answer: Any, output: Output) -> None:  # noqa: ANN401  (answers.atlas.LinkList)
    output.answer(
        answer,
        lambda found: output.table(
            ("link", "from", "relation", "to", "confidence", "origin", "verdict", "rationale"),
            [
                (e.link_id, e.source.title, e.relation, e.target.title, e.confidence, e.origin, e.verdict, e.rationale)
                for e in found.links
            ],
        ),
    )
