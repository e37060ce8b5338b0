"""The two tools of docs, one that reads and one that changes shelves. Each takes an `action`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.server.mcp import prose
from scaffale.server.mcp.registry import Hints, Verb, choice, flag, gives, integer, takes, text, texts, tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaffale.answers.docs import DocumentAnswer
    from scaffale.server.mcp.registry import Answer, Call

READS = Hints(read_only=True, destructive=False, idempotent=True)
MANAGES = Hints(read_only=False, destructive=True, idempotent=False)
OBJECTS = {"type": "array", "items": {"type": "object"}}


def _asks(name: str) -> Callable[[Call], Any]:
    return lambda call: getattr(call.halls.docs, name)(**call.arguments)


def _works(name: str) -> Callable[[Call], Any]:
    return lambda call: getattr(call.halls.docs, name)(progress=call.progress, **call.arguments)


def _read(call: Call) -> DocumentAnswer:
    """Models write a heading path as an array of its headings, or join them into one string; both must work."""
    arguments = call.arguments
    section = arguments.get("section", ())
    if len(section) == 1 and not isinstance(section, str):
        arguments = {**arguments, "section": section[0]}
    return call.halls.docs.read_document(**arguments)


def _quick(
    name: str,
    speak: Callable[[Answer], str],
    *,
    required: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    listing: str | None = None,
) -> Verb:
    return Verb(_asks(name), speak, required, optional, listing)


def _scan(name: str, *, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()) -> Verb:
    return Verb(_works(name), prose.scan_report, required, optional, bulk=True)


NAVIGATION = {
    "search": _quick(
        "search",
        prose.docs_search,
        required=("query",),
        optional=("shelf", "tags", "tag_match", "include_tags", "limit", "offset", "explain"),
        listing="results",
    ),
    "read_document": Verb(
        _read,
        prose.document,
        required=("document_id",),
        optional=("start_line", "end_line", "search_string", "context_lines", "section"),
    ),
    "list_documents": _quick(
        "list_documents",
        prose.documents,
        optional=("shelf", "tag", "tagged", "limit", "offset"),
        listing="documents",
    ),
}
MANAGEMENT = {
    "scan_file": _scan("scan_file", required=("file_path", "shelf")),
    "scan_folder": _scan(
        "scan_folder", required=("folder_path", "shelf"), optional=("recursive", "ignore", "respect_gitignore")
    ),
    "resync_all": _scan("resync_all", optional=("shelf", "remove_missing")),
    "list_shelves": _quick("list_shelves", prose.shelves, listing="shelves"),
    "create_shelf": _quick("create_shelf", prose.shelf_changed, required=("name",), optional=("description",)),
    "update_shelf": _quick(
        "update_shelf", prose.shelf_changed, required=("shelf",), optional=("new_name", "new_description")
    ),
    "remove_shelf": _quick("remove_shelf", prose.removed, required=("shelf",)),
    "remove_document": _quick("remove_document", prose.removed, required=("document_id",)),
    "feature_status": _quick("feature_status", prose.features),
}

DOCS_TOOLS = (
    tool(
        name="docs_navigation",
        title="Search and read documents",
        description=(
            "Find and read indexed Markdown. search (query): the best section of each matching document, with heading "
            "path and lines; any text is a valid query. read_document (document_id): the whole text, or the lines, "
            "section or search_string asked for. list_documents: what the shelves hold."
        ),
        hints=READS,
        schema=takes(
            "action",
            action=choice(*NAVIGATION),
            query=text(),
            shelf=text("Name or id of a shelf"),
            tags=texts(),
            tag_match=choice("all", "any", description="Default all"),
            include_tags=flag(),
            tag=text(),
            tagged=flag("Only documents with tags, or without"),
            limit=integer("Default 10", minimum=1),
            offset=integer(minimum=0),
            explain=flag(),
            document_id=integer(minimum=1),
            start_line=integer(minimum=1),
            end_line=integer("Inclusive", minimum=1),
            search_string=text("Show the lines that hold it"),
            context_lines=integer("Around search_string; default 10", minimum=0),
            section=texts("The heading_path of a result"),
        ),
        answers=gives(results=OBJECTS),
        verbs=NAVIGATION,
        domain="docs",
        text_too=("section",),
    ),
    tool(
        name="docs_management",
        title="Manage shelves of documents",
        description=(
            "Index Markdown files and manage shelves; source files are never changed. scan_file (file_path, shelf), "
            "scan_folder (folder_path, shelf): index into a shelf, made if new; unchanged files are skipped. "
            "resync_all: again whatever was scanned before. list_shelves. create_shelf (name). update_shelf (shelf). "
            "remove_shelf (shelf), remove_document (document_id): forget what was indexed. feature_status."
        ),
        hints=MANAGES,
        schema=takes(
            "action",
            action=choice(*MANAGEMENT),
            shelf=text("Name or id of a shelf"),
            file_path=text(),
            folder_path=text(),
            recursive=flag("Default true"),
            ignore=texts("Globs of files to leave out"),
            respect_gitignore=flag("Default true"),
            remove_missing=flag("Forget documents whose file is gone; default false"),
            name=text("Of the new shelf"),
            description=text(),
            new_name=text(),
            new_description=text(),
            document_id=integer(minimum=1),
        ),
        answers=gives(),
        verbs=MANAGEMENT,
        domain="docs",
    ),
)
