"""The map: shelves and documents as a picture. The page draws; here is only what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from scaffale.model import DOCUMENT_RELATIONS
from scaffale.server.render import visible
from scaffale.server.web.shared import page, web

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from scaffale.answers.browsing import Picture

ORIGINS = ("manual", "mcp", "heuristic", "import")


def show(request: Request) -> Response:
    """The page."""
    shelves = web(request).halls.docs.list_shelves().shelves
    return page(request, "map.html", shelves=shelves, relations=DOCUMENT_RELATIONS, origins=ORIGINS)


def picture(request: Request) -> Response:
    """The data of the drawing: arrays, since a field's name ten thousand times over is most of the weight."""
    found = web(request).halls.docs.picture()
    return JSONResponse(drawn(found), headers={"Cache-Control": "no-store"})


def drawn(found: Picture) -> dict[str, Any]:
    """`shelves` `[id, name, [parents]]`, `documents` `[id, shelf, title, place]`, `links` `[source, target, relation,
    confidence, origin]`; relations and origins as numbers of their lists, documents of links as places in `documents`,
    confidence in hundredths or null."""
    at = {dot.id: place for place, dot in enumerate(found.documents)}
    return {
        "relations": DOCUMENT_RELATIONS,
        "origins": ORIGINS,
        "shelves": [
            [each.id, visible(each.name), [parent.id for parent in found.parents.get(each.id, ())]] for each in found.shelves
        ],
        "documents": [[dot.id, dot.shelf_id, visible(dot.title), visible(dot.place)] for dot in found.documents],
        "links": [
            [
                at[link.source], at[link.target], DOCUMENT_RELATIONS.index(link.relation),
                None if link.confidence is None else round(link.confidence * 100), ORIGINS.index(link.origin),
            ]
            for link in found.links
        ],
    }  # fmt: skip
