"""The sections of a document as people name them, and what a section says as one hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.errors import InvalidParam, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.model import Section

SEPARATORS = (" › ", " > ", "/")


def digest(parts: Sequence[Section], heading_path: Sequence[str] | None) -> str | None:
    """SHA-256 of what stands under a heading path, or of the whole document; `None` when there is no such section."""
    import hashlib

    if heading_path is None:
        text = "".join(part.body for part in parts)
    else:
        bodies = [part.body for part in parts if part.heading_path == tuple(heading_path) and part.level >= 0]
        if not bodies:
            return None
        text = "".join(bodies)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def section(
    parts: Sequence[Section], asked: Sequence[str] | str, document_id: int
) -> tuple[Section, int | None]:
    """The section of a heading path, of its joined form, or of an unambiguous end of either; its pieces joined. And the
    line at which the same headings stand again, if they do: the first is meant. `NotFound` for none, `InvalidParam` for
    several."""
    paths = list(dict.fromkeys(part.heading_path for part in parts if part.level >= 0))
    wanted = [path for path in paths if _names(path, asked)] or [
        path for path in paths if any(_names(path[depth:], asked) for depth in range(1, len(path)))
    ]
    if len(wanted) != 1:
        known = "; ".join(SEPARATORS[0].join(path) or "(before the first heading)" for path in (wanted or paths)[:30])
        if wanted:
            raise InvalidParam(f"section: several match, give the whole heading path: {known}"[:2_000])
        raise NotFound(f"document {document_id} has no such section; it has: {known}"[:2_000])
    pieces = [part for part in parts if part.heading_path == wanted[0] and part.level >= 0]
    run = [pieces[0]]
    again = None
    for piece in pieces[1:]:
        if piece.start_line != run[-1].end_line + 1:
            again = piece.start_line
            break
        run.append(piece)
    return run[0]._replace(end_line=run[-1].end_line, body="".join(piece.body for piece in run)), again


def _names(path: tuple[str, ...], asked: Sequence[str] | str) -> bool:
    if isinstance(asked, str):
        return any(separator.join(path) == asked for separator in SEPARATORS)
    return path == tuple(asked)


def below(parts: Sequence[Section], section: Section) -> tuple[tuple[str, ...], ...]:
    """The heading paths of the sections inside that one, in their order."""
    depth = len(section.heading_path)
    return tuple(
        dict.fromkeys(
            part.heading_path
            for part in parts
            if len(part.heading_path) > depth and part.heading_path[:depth] == section.heading_path
        )
    )
