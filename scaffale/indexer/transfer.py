"""A project's entries, tags and links as rows that leave the store and come in, in the order of acknowledgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.indexer import entries, journal
from scaffale.model import SECRET_RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import apsw

    from scaffale.indexer.entries import EntryFilter, Row

BATCH = 500
COLUMNS = (
    "id", "project_id", "scope", "topic", "title", "content", "summary", "source_type", "source_ref", "source_path",
    "source_uri", "content_sha256", "status", "confidence", "importance", "created_by", "created_at", "updated_at",
    "invalidated_at", "invalidation_reason",
)  # fmt: skip
LINK_COLUMNS = (
    "id", "project_id", "source_entry_id", "target_entry_id", "target_uri", "target_type", "relation", "label", "confidence",
    "origin", "rationale", "section", "section_sha256", "created_at", "updated_at",
)  # fmt: skip


def leaving(connection: apsw.Connection, filter: EntryFilter) -> Iterator[Row]:
    """The entries, in the order of acknowledgement."""
    after = 0
    while rows := entries.page_by_number(connection, filter, after, BATCH):
        yield from rows
        after = rows[-1].rid


def tags(connection: apsw.Connection, project_id: str) -> list[tuple[str, str | None, str]]:
    """Name, description and time of making of each tag of a project, by name."""
    found: list[Any] = connection.execute(
        "SELECT name, description, created_at FROM memory_tags WHERE project_id = ? ORDER BY name", (project_id,)
    ).fetchall()
    return found


def known(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, str]:
    """Id → project, of those entries that are in the store already."""
    found: dict[str, str] = {}
    for batch in _batches(list(ids)):
        marks = ", ".join("?" * len(batch))
        found.update(connection.execute(f"SELECT id, project_id FROM memory_entries WHERE id IN ({marks})", batch))
    return found


def known_links(connection: apsw.Connection, ids: Iterable[str]) -> set[str]:
    """Those of the links that are in the store already."""
    found: set[str] = set()
    for batch in _batches(list(ids)):
        marks = ", ".join("?" * len(batch))
        found.update(id for (id,) in connection.execute(f"SELECT id FROM memory_links WHERE id IN ({marks})", batch))
    return found


def bring_in(
    connection: apsw.Connection,
    project_id: str,
    rows: Sequence[tuple[Any, ...]],
    borne: Sequence[tuple[str, tuple[str, ...]]],
    made: Mapping[str, tuple[str | None, str]],
) -> None:
    """New entries (values of `COLUMNS`, all of this project, checked for secrets), with the tags that each bears.

    `made` says what is known of a tag: description and time of making.
    """
    if not rows:
        return
    first = int(connection.execute(f"SELECT {entries.NEXT_RID}").get)
    connection.executemany(
        f"INSERT INTO memory_entries (rid, {', '.join(COLUMNS)}, secret_rules)"
        f" VALUES ({', '.join('?' * (len(COLUMNS) + 1))}, {SECRET_RULES})",
        [(first + number, *row) for number, row in enumerate(rows)],
    )
    put_tags(connection, project_id, {tag for _, names in borne for tag in names}, made)
    number_of = dict(connection.execute("SELECT name, id FROM memory_tags WHERE project_id = ?", (project_id,)))
    connection.executemany(
        "INSERT INTO memory_entry_tags VALUES (?, ?)", [(id, number_of[tag]) for id, names in borne for tag in names]
    )
    journal.append_all(connection, range(first, first + len(rows)))


def put_tags(
    connection: apsw.Connection, project_id: str, names: Iterable[str], made: Mapping[str, tuple[str | None, str]]
) -> None:
    """Make the tags that are not there yet."""
    connection.executemany(
        "INSERT OR IGNORE INTO memory_tags (project_id, name, description, created_at) VALUES (?, ?, ?, ?)",
        [(project_id, name, *made[name]) for name in sorted(names)],
    )


def bring_in_links(connection: apsw.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """New links (values of `LINK_COLUMNS`), in their order."""
    connection.executemany(
        f"INSERT INTO memory_links ({', '.join(LINK_COLUMNS)}) VALUES ({', '.join('?' * len(LINK_COLUMNS))})", rows
    )


def _batches(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
