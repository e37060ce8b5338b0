"""The docs hall: every verb on shelves of Markdown documents, for all faces alike.

Sources are read, never written. What an answer says of a file (`same`, `changed`, `gone`) was asked of the file system
while answering; the text that is shown is the indexed one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale import search as hall
from scaffale.answers.docs import (
    DocsSearch,
    DocsStatus,
    DocumentAnswer,
    DocumentList,
    Match,
)
from scaffale.docs.browsing import Browsing
from scaffale.docs.curation import Curation
from scaffale.docs.exchange import Exchange
from scaffale.errors import InvalidParam, LimitExceeded, NotFound
from scaffale.hall import DAMAGED
from scaffale.indexer import freshness, outline, shelves
from scaffale.model import DIRECTIONS, DocumentHit, Filter, Section
from scaffale.text import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scaffale.indexer.database import Database
    from scaffale.indexer.records import SectionRow
    from scaffale.indexer.sync import Projection
    from scaffale.meaning.hybrid import FusedPage
    from scaffale.snippet import Highlighter
    from scaffale.text import Query

MAX_LIMIT = 100
SUGGESTED = 5  # at most, where nothing was found
LINKS = 5  # of one document, in an answer about something else
MAX_READ_CHARS = 200_000  # of one answer, a longer line whole; the rest is read on from `next_start_line`
MAX_CONTEXT_LINES = 1_000
MAX_MATCHES = 50
RENEWALS = 4  # how often a search begins anew since a scan changed what it found
NOTHING_FOUND = "No document matches. Other words may; list_shelves says what is indexed."


class Docs(Curation, Exchange, Browsing):
    """Shelves of documents. Safe to share between threads; `close` lets go of files and threads."""

    # --- finding and reading ---------------------------------------------------------------------------------------

    def search(
        self,
        *,
        query: str,
        shelf: str | None = None,
        tags: Sequence[str] = (),
        tag_match: str = "all",
        include_tags: bool = False,
        include_links: bool = False,
        links_limit: int = LINKS,
        include_parent_context: bool = True,
        limit: int = 10,
        offset: int = 0,
        explain: bool = False,
        retrieval: str | None = None,
    ) -> DocsSearch:
        """The best section of each matching document, best first, each document once. `include_links` adds to each hit
        its outgoing links, and the parents of its shelf. `retrieval` is `lexical`, `vector` or `hybrid`, the last by
        default where vectors are on."""
        limit, offset, warnings = _page(limit, offset)
        if tag_match not in ("all", "any"):
            raise InvalidParam("tag_match: must be one of all, any")
        store = self._with(shelf)
        if store is None:
            return DocsSearch((), None, 0, self._engine(), 0, NOTHING_FOUND, (), warnings)
        database, projection = store
        wanted, home = self._filter(database, shelf, tags, tag_match)
        query_ = parse(query)
        behind: set[int] = set()
        renewed: set[int] = set()
        for _ in range(RENEWALS):
            rows: dict[int, SectionRow] = {}
            look = _looking(database, rows)
            page = self._page(database, projection, query_, wanted, limit, offset, look, behind, retrieval)
            look([hit.id for hit in page.hits if hit.id not in rows])
            with database.read() as connection:
                tags_of = shelves.tags_of(connection, [hit.owner for hit in page.hits]) if include_tags else {}
                names = tuple(each.name for each in shelves.list_shelves(connection)) if not page.hits else None
            outdated = {hit.owner for hit in page.hits if hit.id not in rows}
            if outdated:  # a scan that runs has changed them, and more
                renewed |= outdated
                behind = projection.renew(outdated) - renewed
            elif behind and not page.lag:  # it has answered meanwhile
                behind = set()
            else:
                break
        results = _hits(page, rows, tags_of, explain=explain)
        nothing = not results and offset == 0
        suggestions: tuple[DocumentHit, ...] = ()
        near = hall.nearly(projection, query_) if nothing else None
        if near:
            rows = {}
            look = _looking(database, rows)
            page_ = hall.search_owners(
                projection, near, wanted, min(limit, SUGGESTED), 0, lambda ids: _places(database, ids), look, behind
            )
            look([hit.id for hit in page_.hits if hit.id not in rows])
            suggestions = _hits(page_, rows, {}, explain=explain)
        if include_links:
            from scaffale.docs import linked

            with database.read() as connection:
                results = linked.on_hits(connection, results, max(0, links_limit), parents=include_parent_context)
        return DocsSearch(
            results,
            offset + limit if page.more else None,
            page.total,
            self._engine(),
            page.lag,
            NOTHING_FOUND if nothing else None,
            names if nothing else None,
            (*warnings, *page.warnings),
            home,
            hall.words_of(query_) if nothing else None,
            suggestions or None,
            hall.closest(hit.snippet for hit in suggestions) or None,
            getattr(page, "vector", None),
        )

    def _page(
        self,
        database: Database,
        projection: Projection,
        query: Query,
        wanted: Filter,
        limit: int,
        offset: int,
        look: hall.Look,
        behind: set[int],
        retrieval: str | None,
    ) -> hall.Page | FusedPage:
        """The page by the legs that are to answer."""

        def identify(ids: list[int]) -> dict[int, tuple[object, ...]]:
            return _places(database, ids)

        def by_words(filters: Sequence[Filter], limit: int, offset: int) -> hall.Page:
            return hall.search_owners(projection, query, filters[0], limit, offset, identify, look, behind)

        if self._meaning is None and retrieval is None:
            return by_words([wanted], limit, offset)
        from scaffale.meaning import hybrid

        asking = hybrid.Asking(by_words, identify, look, owners=True, exclude=behind)
        return hybrid.search(self._meaning, retrieval, query, [wanted], limit, offset, asking)

    def read_document(
        self,
        *,
        document_id: int,
        start_line: int | None = None,
        end_line: int | None = None,
        search_string: str | None = None,
        context_lines: int = 10,
        section: Sequence[str] | str | None = None,
        include_links: bool = True,
        links_direction: str = "outgoing",
        links_limit: int = LINKS,
        include_parent_context: bool = True,
    ) -> DocumentAnswer:
        """The whole text, lines of it, one section, or the surroundings of a literal text. Lines are 1-based, inclusive.
        With it come its outgoing links (`links_direction`: `incoming` or `both`) and the parents of its shelf."""
        from scaffale.docs import linked

        if links_direction not in DIRECTIONS:
            raise InvalidParam(f"links_direction: must be one of {', '.join(DIRECTIONS)}")
        store = self._store()
        if store is None:
            raise NotFound(f"no document {document_id}")
        with store[0].read() as connection:
            document = shelves.document(connection, document_id)
            parts = shelves.sections(connection, document_id)
            print_ = shelves.fingerprint(connection, document_id)
            whole = shelves.is_whole(connection, document_id, parts)
            links = linked.whole(connection, document_id, links_direction, max(0, links_limit)) if include_links else None
            parents = linked.context(connection, document.shelf_id) if include_parent_context else None
        fresh = freshness.freshness(print_, document.file_path)
        warnings = []
        if fresh != "same":
            state = "has changed since it was indexed" if fresh == "changed" else "is gone"
            warnings.append(f"the file {state}; this is the indexed text. resync_all brings it up to date.")
        if not whole:
            warnings.append(f"this text {DAMAGED}")
        chosen, matches = None, None
        lines = _lines(parts)
        if section is not None:
            chosen, again = outline.section(parts, section, document.id)
            first, last = chosen.start_line, chosen.end_line
            if again:
                warnings.append(f"the same headings stand again at line {again}: read that section by its lines")
        else:
            first, last = _range(start_line, end_line, len(lines))
        if search_string is not None:
            context = max(0, min(context_lines, MAX_CONTEXT_LINES))
            matches, next_line = _matches(lines, search_string, first, last, context)
            if not matches:
                warnings.append("search_string does not stand in this part of the document")
            content = "\n".join(match.content for match in matches)
        else:
            content, last, next_line = _cut(lines, first, last)
        if next_line:
            warnings.append(f"the text is long: read on with start_line={next_line}")
        return DocumentAnswer(
            document.id, document.title, document.file_path, document.shelf_id, document.shelf_name,
            {"id": document.shelf_id, "name": document.shelf_name, "uri": document.shelf_uri, "parents": parents},
            document.resource_uri, document.uri, document.shelf_uri, document.tags, fresh, document.indexed_at,
            len(lines), first, last, content, next_line,
            chosen.heading_path if chosen else None,
            outline.below(parts, chosen) if chosen else None,
            matches, links, tuple(warnings),
        )  # fmt: skip

    def list_documents(
        self,
        *,
        shelf: str | None = None,
        tag: str | None = None,
        tagged: bool | None = None,
        link_summary: bool = False,
        include_parent_context: bool = True,
        limit: int = 10,
        offset: int = 0,
    ) -> DocumentList:
        """Documents by path. `tagged` asks for those with tags, or without; `link_summary` counts links and parents."""
        limit, offset, warnings = _page(limit, offset)
        store = self._with(shelf)
        if store is None:
            return DocumentList((), 0, None, warnings)
        with store[0].read() as connection:
            home = shelves.shelf(connection, shelf) if shelf is not None else None
            documents, total = shelves.list_documents(
                connection,
                shelf_id=home.id if home else None,
                tags=(tag,) if tag else (),
                tagged=tagged,
                limit=limit,
                offset=offset,
            )
            prints = {each.id: shelves.fingerprint(connection, each.id) for each in documents}
            if link_summary:
                from scaffale.docs import linked

                documents = linked.on_list(connection, documents, parents=include_parent_context)
        fresh = [each._replace(freshness=freshness.freshness(prints[each.id], each.file_path)) for each in documents]
        next_offset = offset + limit if total > offset + limit else None
        return DocumentList(tuple(fresh), total, next_offset, warnings, home.name if home else None)

    # --- what there is ---------------------------------------------------------------------------------------------

    def feature_status(self) -> DocsStatus:
        """What there is. Creates nothing."""
        import apsw

        store = self._store()
        counts: dict[str, int] = {}
        index: dict[str, int] = {}
        warnings: list[str] = list(self._settings.warnings)
        if store:
            with store[0].read() as connection:
                counts = shelves.counts(connection)
            index = store[1].lag()
            warnings += store[1].warnings()
            if store[0].read_only:
                warnings.append(f"{store[0].path} is read-only here: scans are refused")
        return DocsStatus(
            self._settings.docs_db_path,
            store is not None,
            {"fts": self._engine() != "like", "lexical_backend": self._engine(), "vector": self._meaning is not None},
            counts,
            self._engine(),
            index,
            apsw.sqlite_lib_version(),
            store[0].wal_bytes() if store else 0,
            tuple(warnings),
        )

    @staticmethod
    def _filter(
        database: Database, shelf: str | None, tags: Sequence[str], tag_match: str
    ) -> tuple[Filter, str | None]:
        """The filter, and the name of the shelf that it is about."""
        clauses: list[tuple[str, ...]] = []
        home = None
        if shelf is not None:
            with database.read() as connection:
                home = shelves.shelf(connection, shelf)
            clauses.append((f"shelf={home.id}",))
        facets = [f"tag={name}" for tag in tags if (name := shelves.tag_name(tag))]
        clauses += [tuple(facets)] if tag_match == "any" and facets else [(facet,) for facet in facets]
        return Filter(tuple(clauses)), home.name if home else None


# --- small things ----------------------------------------------------------------------------------------------------


def _places(database: Database, ids: list[int]) -> dict[int, tuple[object, ...]]:
    """The last word on the order of sections that tie: path, then line."""
    with database.read() as connection:
        return {id: (row.file_path, row.start_line, id) for id, row in shelves.rows(connection, ids).items()}


def _looking(database: Database, rows: dict[int, SectionRow]) -> Callable[[list[int]], dict[int, hall.Seen]]:
    """Reads sections into `rows`, and says what is to be seen of them."""

    def look(ids: list[int]) -> dict[int, hall.Seen]:
        if not ids:
            return {}
        with database.read() as connection:
            new = shelves.rows(connection, ids)
        rows.update(new)
        return {id: hall.Seen((row.title, *row.heading_path), row.body, (row.file_path,)) for id, row in new.items()}

    return look


def _hits(
    page: hall.Page | FusedPage, rows: Mapping[int, SectionRow], tags_of: Mapping[int, tuple[str, ...]], *, explain: bool
) -> tuple[DocumentHit, ...]:
    return tuple(
        _hit(rows[hit.id], hit.score, page.highlighter, tags_of.get(hit.owner), page.explained(hit) if explain else None)
        for hit in page.hits
        if hit.id in rows
    )


def _hit(
    row: SectionRow,
    score: float,
    highlighter: Highlighter,
    tags: tuple[str, ...] | None,
    parts: dict[str, float] | None,
) -> DocumentHit:
    uri = shelves.document_uri(row.document_id)
    return DocumentHit(
        row.document_id, row.title, row.file_path, row.shelf_id, row.shelf_name, uri, uri, row.shelf_uri,
        row.heading_path, row.start_line, row.end_line, highlighter.snippet(row.body), score,
        freshness.freshness(row.fingerprint, row.file_path), tags, parts,
    )  # fmt: skip


def _page(limit: int, offset: int) -> tuple[int, int, tuple[str, ...]]:
    """What of a page can be had, and a warning when that is less than was asked for."""
    over = (f"limit {limit} is above the maximum; {MAX_LIMIT} is used",) if limit > MAX_LIMIT else ()
    return max(1, min(limit, MAX_LIMIT)), max(0, offset), over


def _lines(parts: Sequence[Section]) -> list[str]:
    """The lines of the document, each with its end, as the sections tile it."""
    from scaffale.indexer import markdown

    return [line for part in parts for line in markdown.lines(part.body)]


def _range(start: int | None, end: int | None, count: int) -> tuple[int, int]:
    first, last = 1 if start is None else start, count if end is None else min(end, count)
    if first < 1:
        raise InvalidParam("start_line: lines are counted from 1")
    if first > max(1, count):
        raise InvalidParam(f"start_line: {start} lies behind the last line, {count}")
    if end is not None and end < first:
        raise InvalidParam(f"end_line: {end} lies before start_line {first}")
    return first, last


def _cut(lines: Sequence[str], first: int, last: int, room: int = MAX_READ_CHARS) -> tuple[str, int, int | None]:
    """The lines joined, as far as there is room, at least one; where they end, and where to read on."""
    taken: list[str] = []
    for number in range(first, last + 1):
        line = lines[number - 1]
        room -= len(line)
        if taken and room < 0:
            return "".join(taken), number - 1, number
        taken.append(line)
    return "".join(taken), last, None


def _matches(
    lines: Sequence[str], text: str, first: int, last: int, context: int
) -> tuple[tuple[Match, ...], int | None]:
    """The places of the text, as many as an answer takes, and the line from which to look for more."""
    if not text:
        raise InvalidParam("search_string: must not be empty")
    if len(text) > 10_000:
        raise LimitExceeded("search_string: longer than 10000 characters")
    places: list[tuple[int, int, int]] = []
    rest = None
    for number in _lines_with(lines, text, first, last):
        start, end = max(first, number - context), min(last, number + context)
        if places and start <= places[-1][2]:
            places[-1] = (*places[-1][:2], end)
        elif len(places) < MAX_MATCHES:
            places.append((number, start, end))
        else:
            rest = number
            break
    matches: list[Match] = []
    room = MAX_READ_CHARS
    for number, start, end in places:
        if room <= 0:
            return tuple(matches), number
        content, shown, going_on = _cut(lines, start, end, room)
        room -= len(content)
        matches.append(Match(number, start, shown, content))
        if going_on:
            return tuple(matches), going_on
    return tuple(matches), rest


def _lines_with(lines: Sequence[str], text: str, first: int, last: int) -> Iterator[int]:
    """Numbers of the lines in which the text begins, in whatever case; it may run over several, however they end."""
    from bisect import bisect_right
    from itertools import accumulate

    folded = [_folded(line) for line in lines[first - 1 : last]]
    ends = list(accumulate(map(len, folded)))
    whole, wanted = "".join(folded), _folded(text)
    at = whole.find(wanted)
    while at >= 0:
        line = bisect_right(ends, at)
        yield first + line
        at = whole.find(wanted, ends[line])


def _folded(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").lower()
