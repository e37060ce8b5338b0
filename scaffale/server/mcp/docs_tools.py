"""The two tools of docs, one that reads and one that changes shelves. Each takes an `action`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.model import DIRECTIONS
from scaffale.server.mcp import prose
from scaffale.server.mcp.registry import Hints, Verb, choice, flag, gives, integer, number, takes, text, texts, tool

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


_LINKS = ("include_links", "links_limit", "include_parent_context")
_WORDS = ("relation", "confidence", "label", "rationale")
NAVIGATION = {
    "search": _quick(
        "search",
        prose.docs_search,
        required=("query",),
        optional=("shelf", "tags", "tag_match", "include_tags", "limit", "offset", "explain", "retrieval", *_LINKS),
        listing="results",
    ),
    "read_document": Verb(
        _read,
        prose.document,
        required=("document_id",),
        optional=("start_line", "end_line", "search_string", "context_lines", "section", "links_direction", *_LINKS),
    ),
    "list_documents": _quick(
        "list_documents",
        prose.documents,
        optional=("shelf", "tag", "tagged", "limit", "offset", "link_summary", "include_parent_context"),
        listing="documents",
    ),
}
MANAGEMENT = {
    "scan_file": _scan("scan_file", required=("file_path", "shelf"), optional=("correlate",)),
    "scan_folder": _scan(
        "scan_folder", required=("folder_path", "shelf"), optional=("recursive", "ignore", "respect_gitignore", "correlate")
    ),
    "resync_all": _scan("resync_all", optional=("shelf", "remove_missing", "correlate")),
    "correlate": Verb(
        _works("correlate"),
        prose.correlation,
        optional=(
            "mode", "document_id", "shelf", "scope", "include_parent_depth", "target_shelves", "allow_all_shelves",
            "min_confidence", "max_links_per_document", "replace_heuristic_links", "apply", "heuristic_version",
        ),
        bulk=True,
    ),
    "export_shelf": _quick("export_shelf", prose.shelf_exported, required=("shelf", "save_path")),
    "import_shelf": Verb(
        _works("import_shelf"),
        prose.shelf_imported,
        required=("import_path",),
        optional=("on_conflict", "shelf", "correlate"),
        bulk=True,
    ),
    "list_shelves": _quick("list_shelves", prose.shelves, listing="shelves"),
    "create_shelf": _quick("create_shelf", prose.shelf_changed, required=("name",), optional=("description",)),
    "update_shelf": _quick(
        "update_shelf", prose.shelf_changed, required=("shelf",), optional=("new_name", "new_description")
    ),
    "remove_shelf": _quick("remove_shelf", prose.removed, required=("shelf",)),
    "remove_document": _quick("remove_document", prose.removed, required=("document_id",)),
    "feature_status": _quick("feature_status", prose.features),
    "list_tags": _quick("list_tags", prose.tags, listing="tags"),
    "create_tag": _quick("create_tag", prose.tag_changed, required=("name",), optional=("description",)),
    "update_tag": _quick("update_tag", prose.tag_changed, required=("tag",), optional=("new_name", "new_description")),
    "remove_tag": _quick("remove_tag", prose.tag_changed, required=("tag",)),
    "set_document_tags": _quick("set_document_tags", prose.tags_set, required=("document_id", "tags")),
    "bulk_set_document_tags": _quick("bulk_set_document_tags", prose.tags_set, required=("assignments",)),
    "manage_shelf_links": _quick(
        "manage_shelf_links",
        prose.shelf_parents,
        required=("operation", "shelf"),
        optional=("parent_shelf", "parent_shelves", "include_children"),
    ),
    "manage_document_links": Verb(
        lambda call: call.halls.docs.manage_document_links(origin="mcp", **call.arguments),
        prose.document_links,
        required=("operation",),
        optional=(
            "document_id", "source_document_id", "target_document_id", "link_id", *_WORDS, "direction", "links", "limit",
            "offset",
        ),
    ),
}

DOCS_TOOLS = (
    tool(
        name="docs_navigation",
        title="Read documents",
        description=(
            "Find and read indexed Markdown. search (query): the best section of each document. "
            "read_document (document_id): the whole, or the lines, section or search_string asked for."
        ),
        hints=READS,
        schema=takes(
            "action",
            action=choice(*NAVIGATION),
            query=text(),
            shelf=text("Name or id of a shelf"),
            tags=texts(),
            tag_match=choice("all", "any"),
            include_tags=flag(),
            tag=text(),
            tagged=flag(),
            limit=integer(minimum=1),
            offset=integer(minimum=0),
            explain=flag(),
            retrieval=text(),
            document_id=integer(),
            start_line=integer(),
            end_line=integer(),
            search_string=text(),
            context_lines=integer(minimum=0),
            section=texts("heading_path"),
            include_links=flag(),
            links_limit=integer(minimum=0),
            links_direction=choice(*DIRECTIONS),
            link_summary=flag(),
            include_parent_context=flag(),
        ),
        answers=gives(results=OBJECTS),
        verbs=NAVIGATION,
        domain="docs",
        text_too=("section",),
    ),
    tool(
        name="docs_management",
        title="Manage shelves",
        description=(
            "Index Markdown into shelves. assignments hold document_id, tags. "
            "operation: of manage_shelf_links list, set_parents, add_parent, remove_parent; of manage_document_links list, "
            "add, remove, replace_for_document (links hold target_document_id, relation), pin, reject, forget_verdict. "
            "correlate proposes links, apply keeps them; scope shelf, shelf_with_parents, cross_shelf."
        ),
        hints=MANAGES,
        schema=takes(
            "action",
            action=choice(*MANAGEMENT),
            shelf=text(),
            file_path=text(),
            folder_path=text(),
            recursive=flag(),
            ignore=texts(),
            respect_gitignore=flag(),
            remove_missing=flag(),
            name=text(),
            description=text(),
            new_name=text(),
            new_description=text(),
            document_id=integer(),
            tag=text(),
            tags=texts(),
            assignments=OBJECTS,
            operation=text(),
            parent_shelf=text(),
            parent_shelves=texts(),
            include_children=flag(),
            source_document_id=integer(),
            target_document_id=integer(),
            link_id=integer(),
            relation=text(),
            confidence=number(),
            label=text(),
            rationale=text(),
            direction=text(),
            links=OBJECTS,
            limit=integer(minimum=1),
            offset=integer(minimum=0),
            correlate=flag(),
            mode=text(),
            scope=text(),
            include_parent_depth=integer(minimum=0),
            target_shelves=texts(),
            allow_all_shelves=flag(),
            min_confidence=number(),
            max_links_per_document=integer(minimum=1),
            replace_heuristic_links=flag(),
            apply=flag(),
            heuristic_version=text(),
            save_path=text(),
            import_path=text(),
            on_conflict=text(),
        ),
        answers=gives(),
        verbs=MANAGEMENT,
        domain="docs",
    ),
)
