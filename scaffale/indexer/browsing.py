"""What a person who looks around asks of the docs store: the headings of a document, every document, every link.

Rules as in `shelves`: every function takes a connection and runs in the caller's transaction.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

_UNDERLINE = re.compile(r"\s*(?:=+|-+)[ \t]*(?:\r?\n|$)")


def headings(connection: apsw.Connection, document_id: int) -> list[tuple[str, int, int]]:
    """The headings of a document in order: text, level, line. A long section that is kept in pieces has one."""
    found: list[tuple[str, int, int]] = []
    before: str | None = None
    for path, level, line, opens in connection.execute(
        "SELECT heading_path, level, start_line, substr(body, 1, 400) FROM sections"
        " WHERE document_id = ? AND level > 0 ORDER BY id",
        (document_id,),
    ):
        if path != before or _opens_with_heading(opens, level):
            found.append((path.rsplit("\n", 1)[-1], level, line))
        before = path
    return found


def places(connection: apsw.Connection) -> list[tuple[int, int, str, str]]:
    """Of every document its id, shelf, title, and path inside the folder that was scanned; by id."""
    return list(connection.execute("SELECT id, shelf_id, title, rel_path FROM documents ORDER BY id"))


def roots(connection: apsw.Connection) -> list[str]:
    """What was scanned: folders and single files, absolute, by name."""
    return [root for (root,) in connection.execute("SELECT DISTINCT root FROM scan_sources ORDER BY root")]


def links(connection: apsw.Connection) -> list[tuple[int, int, str, float | None, str]]:
    """Every link that is not rejected: source, target, relation, confidence, origin; by source, target, id."""
    return list(
        connection.execute(
            "SELECT l.source_document_id, l.target_document_id, relation, confidence, origin FROM document_links AS l"
            " LEFT JOIN link_verdicts AS v ON v.source_document_id = l.source_document_id"
            " AND v.target_document_id = l.target_document_id"
            " WHERE verdict IS NOT 'rejected' ORDER BY 1, 2, l.id"
        )
    )


def _opens_with_heading(text: str, level: int) -> bool:
    """Whether it begins a section, and is no later piece of one: its first line, or what underlines that, says so."""
    first, _, rest = text.lstrip().partition("\n")
    return first.startswith("#" * level) or (level < 3 and _UNDERLINE.match(rest) is not None)
