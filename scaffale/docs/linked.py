"""How the map appears in what is read: links and parents, as full as each answer has room for.

Read documents show whole links with their rationale, hits show short ones, lists show counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.indexer import atlas, freshness, shelves

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from scaffale.answers.atlas import DocumentLink, DocumentRef
    from scaffale.model import Document, DocumentHit

TOP_RELATIONS = 3


def whole(connection: apsw.Connection, document_id: int, direction: str, limit: int) -> dict[str, Any]:
    """The links of one document: outgoing ones in full, incoming ones as a number unless they are asked for."""
    found: dict[str, Any] = {}
    for side in ("outgoing", "incoming"):
        shown = direction in (side, "both")
        links, total = atlas.links(connection, document_id, side, limit if shown else 0)
        if shown:
            found[side] = [_full(connection, each, side) for each in links]
        found[f"{side}_count"] = total
    return found


def context(connection: apsw.Connection, shelf_id: int) -> list[dict[str, Any]]:
    """The parents of a shelf, with the relation."""
    return [
        {"id": each.id, "name": each.name, "uri": each.uri, "relation": each.relation}
        for each in atlas.parents(connection, shelf_id)
    ]


def on_hits(
    connection: apsw.Connection, hits: Sequence[DocumentHit], limit: int, *, parents: bool
) -> tuple[DocumentHit, ...]:
    """The hits with short outgoing links, and the parents of their shelves."""
    outgoing = atlas.outgoing(connection, [hit.id for hit in hits])
    above = {shelf_id: _near(connection, shelf_id) for shelf_id in {hit.shelf_id for hit in hits}} if parents else {}
    return tuple(
        hit._replace(
            links={
                "outgoing": [_short(link) for link in outgoing.get(hit.id, [])[:limit]],
                "outgoing_count": len(outgoing.get(hit.id, [])),
            },
            shelf_context={"parents": above[hit.shelf_id]} if parents else None,
        )
        for hit in hits
    )


def on_list(connection: apsw.Connection, documents: Sequence[Document], *, parents: bool) -> list[Document]:
    """The documents with the numbers of their links, and of the parents of their shelves."""
    ids = [each.id for each in documents]
    outgoing, incoming = atlas.outgoing(connection, ids), atlas.incoming_counts(connection, ids)
    above = {shelf_id: len(atlas.parents(connection, shelf_id)) for shelf_id in {each.shelf_id for each in documents}}
    return [
        each._replace(
            link_summary=_summary(outgoing.get(each.id, []), incoming.get(each.id, 0)),
            shelf_context={"parent_count": above[each.shelf_id]} if parents else None,
        )
        for each in documents
    ]


def _near(connection: apsw.Connection, shelf_id: int) -> list[dict[str, Any]]:
    return [{"name": each.name, "uri": each.uri} for each in atlas.parents(connection, shelf_id)]


def _full(connection: apsw.Connection, link: DocumentLink, side: str) -> dict[str, Any]:
    other = link.target if side == "outgoing" else link.source
    return {
        "link_id": link.link_id,
        "relation": link.relation,
        "label": link.label,
        "confidence": link.confidence,
        "origin": link.origin,
        "verdict": link.verdict,
        "target" if side == "outgoing" else "source": _end(connection, other),
        "rationale": link.rationale,
    }


def _end(connection: apsw.Connection, end: DocumentRef) -> dict[str, Any]:
    state = freshness.freshness(shelves.fingerprint(connection, end.id), end.file_path)
    return {
        "id": end.id, "title": end.title, "shelf_id": end.shelf_id, "shelf_name": end.shelf_name,
        "resource_uri": end.resource_uri, "shelf_uri": end.shelf_uri, "freshness": state,
    }  # fmt: skip


def _short(link: DocumentLink) -> dict[str, Any]:
    return {
        "relation": link.relation,
        "confidence": link.confidence,
        "target_title": link.target.title,
        "target_resource_uri": link.target.resource_uri,
        "target_shelf_name": link.target.shelf_name,
        "target_shelf_uri": link.target.shelf_uri,
    }


def _summary(links: Sequence[DocumentLink], incoming: int) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for link in links:
        counts[link.relation] = counts.get(link.relation, 0) + 1
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:TOP_RELATIONS]
    return {
        "outgoing_count": len(links),
        "incoming_count": incoming,
        "top_relations": [{"relation": relation, "count": count} for relation, count in most],
    }
