"""What memory may know of documents: whether those that its links cite are there, and still say what they said.

It reads the store of documents and never writes it. A store that cannot be read makes evidence unknown, not an error.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, NamedTuple

from scaffale.errors import InvalidParam, NotFound, ScaffaleError, quoted
from scaffale.indexer import freshness, outline, shelves
from scaffale.indexer.database import Database, exists

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scaffale.answers.memory import LinkedDocument
    from scaffale.indexer.links import Link
    from scaffale.model import Document, Section
    from scaffale.settings import Settings

_WORSE = ("changed", "gone")
_URI = re.compile(r"docs://document/([0-9]{1,15})")


class Cited(NamedTuple):
    """A document as a link sees it. `evidence` is `same`, `changed`, `gone`, or `unknown` where documents cannot be read."""

    evidence: str
    title: str | None = None
    file_path: str | None = None


class Documents:
    """Reads the store of documents, when there is one. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.docs_db_path
        self._max_bytes = settings.docs_max_file_bytes
        self._opening = threading.Lock()
        self._database: Database | None = None

    def close(self) -> None:
        """Let go of the store."""
        with self._opening:
            database, self._database = self._database, None
        if database:
            database.close()

    def cite(self, uri: str, section: Sequence[str] | str | None) -> tuple[Document, tuple[str, ...] | None, str]:
        """The document of a URI, the heading path that is meant by `section`, and the hash of what stands there now.

        Raises `InvalidParam` for a URI that names no document, `NotFound` when it, or the section, is not there.
        """
        number = number_of(uri)
        database = self._open()
        if database is None:
            raise NotFound(f"no document {number}: nothing was scanned yet")
        with database.read() as connection:
            document = shelves.document(connection, number)
            parts = shelves.sections(connection, number)
        path = outline.section(parts, section, number)[0].heading_path if section is not None else None
        return document, path, outline.digest(parts, path) or ""

    def look(self, links: Iterable[Link]) -> dict[str, Cited]:
        """What became of the documents that these links cite, by the id of the link."""
        cited: dict[str, Cited] = {}
        seen: dict[int, tuple[Document, Sequence[Section] | None] | None] = {}
        for link in links:
            if link.target_type != "docs_document" or link.target_uri is None:
                continue
            try:
                number = number_of(link.target_uri)
                if number not in seen:
                    seen[number] = self._sections(number)
                cited[link.id] = _compared(link, seen[number])
            except ScaffaleError:
                cited[link.id] = Cited("unknown")
        return cited

    def evidence(self, links: Sequence[Link]) -> tuple[dict[str, str], tuple[LinkedDocument, ...]]:
        """By the id of the entry what became of what it cites, where that is not the same any more; and the documents."""
        from scaffale.answers.memory import LinkedDocument

        cited = self.look(links)
        worst: dict[str, str] = {}
        documents: dict[str, LinkedDocument] = {}
        for link in links:
            found, uri = cited[link.id], link.target_uri or ""
            if found.evidence in _WORSE and worst.get(link.source_entry_id) != "gone":
                worst[link.source_entry_id] = found.evidence
            known = documents.get(uri)
            entry_ids = dict.fromkeys([*(known.entry_ids if known else ()), link.source_entry_id])
            status = known.status if known and known.status in _WORSE else found.evidence
            documents[uri] = LinkedDocument(uri, found.title, found.file_path, status, tuple(entry_ids))
        return worst, tuple(documents.values())

    def _open(self) -> Database | None:
        with self._opening:
            if self._database and not self._database.is_current():
                self._database = None
            if self._database is None and exists(self._path):
                self._database = Database(self._path, shelves.SCHEMA, create=False)
            return self._database

    def _sections(self, number: int) -> tuple[Document, Sequence[Section] | None] | None:
        """The document as its file is now, with no sections when the file is gone; `None` when it is not indexed."""
        database = self._open()
        if database is None:
            return None
        with database.read() as connection:
            try:
                document = shelves.document(connection, number)
            except NotFound:
                return None
            parts: Sequence[Section] = shelves.sections(connection, number)
            known = shelves.fingerprint(connection, number)
        state = freshness.freshness(known, document.file_path)
        if state == "gone":
            return document, None
        return document, parts if state == "same" else self._of_file(document.file_path)

    def _of_file(self, path: str) -> Sequence[Section]:
        """The sections that a changed file would have if it were scanned now."""
        import os

        from scaffale import files
        from scaffale.indexer import reading
        from scaffale.indexer.records import Fingerprint, Source

        try:
            data = files.read_regular(files.real(path), self._max_bytes)
            source = Source(0, 0, os.path.dirname(path), is_file=True)
            return reading.draft(path, source, data, Fingerprint(0, 0, 0, 0, 0, "")).sections
        except (OSError, reading.NotTaken, ScaffaleError):
            return ()


def number_of(uri: str) -> int:
    """The number of the document that a `docs://document/` URI names. Raises `InvalidParam`."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise InvalidParam(f"target_uri: {quoted(uri)} is no document; give docs://document/NUMBER")
    return int(match[1])


def _compared(link: Link, found: tuple[Document, Sequence[Section] | None] | None) -> Cited:
    if found is None:
        return Cited("gone")
    document, parts = found
    if parts is None:
        return Cited("gone", document.title, document.file_path)
    now = outline.digest(parts, link.section)
    state = "gone" if now is None else "same" if now == link.section_sha256 or link.section_sha256 is None else "changed"
    return Cited(state, document.title, document.file_path)
