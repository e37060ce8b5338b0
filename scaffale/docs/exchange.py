"""The verbs that write a shelf to a file and read one from it: all of it in one transaction, or nothing.

An imported document has no file: its path is that of the manifest and its place in it, and hits say `gone`. A scan that
meets the same bytes on that shelf takes the document over, with its id, tags and links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale import files
from scaffale.docs.scanning import Scanning
from scaffale.errors import InvalidParam
from scaffale.indexer import shelves

if TYPE_CHECKING:
    from collections.abc import Callable

    from scaffale.answers.shelf_exchange import ShelfExported, ShelfImported

    Progress = Callable[[int, int, str], None]

ON_CONFLICT = ("fail", "merge", "replace")


class Exchange(Scanning):
    """Export, import."""

    def export_shelf(
        self, *, shelf: str, save_path: str, overwrite: bool = False, anywhere: bool = False
    ) -> ShelfExported:
        """Write a shelf to a file inside the allowed roots: texts, tags, links and what people said of them, parents.

        Credentials are masked, as in all that is indexed. `anywhere`: a person may write wherever they can.
        """
        from scaffale.answers.shelf_exchange import ShelfExported
        from scaffale.docs.leaving import LeavingShelf

        path = self._place(save_path, "save_path", anywhere)
        database, _ = self._existing()
        with database.read() as connection:
            leaving = LeavingShelf(connection, shelves.shelf(connection, shelf))
            size = files.export_whole(path, leaving.parts(), overwrite=overwrite)
        return ShelfExported(
            leaving.shelf.name, path, size, leaving.documents, len(leaving.tags), len(leaving.links),
            len(leaving.shelf_links), (),
        )  # fmt: skip

    def import_shelf(
        self,
        *,
        import_path: str,
        on_conflict: str = "fail",
        shelf: str | None = None,
        correlate: bool = False,
        anywhere: bool = False,
        progress: Progress | None = None,
    ) -> ShelfImported:
        """Read an exported shelf, under its own name or the name `shelf`, in one transaction.

        `fail` changes nothing when the shelf holds documents; `merge` adds those whose path is new, and tags and links;
        `replace` makes the shelf what the file says, after an export of it. A link whose end is not found is named.
        """
        from scaffale.docs import manifest
        from scaffale.docs.arriving import ArrivingShelf
        from scaffale.indexer import portable, scan

        if on_conflict not in ON_CONFLICT:
            raise InvalidParam(f"on_conflict: must be one of {', '.join(ON_CONFLICT)}")
        path = self._place(import_path, "import_path", anywhere)
        try:
            data = files.read_regular(path, portable.MAX_BYTES)
        except OSError as error:
            raise InvalidParam(f"import_path: {path} cannot be read: {error.strerror}") from error
        found = manifest.read(data, self._settings.docs_max_file_bytes)
        arriving = ArrivingShelf(found, path, shelf or found.name, on_conflict, self._path, progress)
        self._indexed(scan.Options(), arriving.take)
        done = arriving.answer()
        if correlate and arriving.shelf:
            made = self.correlate(shelf=str(arriving.shelf.id), apply=True, only_changed=True, progress=progress)
            done = done._replace(correlation=made)
        return done

    def _place(self, path: str, argument: str, anywhere: bool) -> str:
        from scaffale.indexer import paths

        roots = None if anywhere else self._settings.docs_allowed_roots or None
        stores = (self._settings.memory_db_path, self._settings.docs_db_path)
        return paths.resolve_inside(path, roots, kind=argument, stores=stores)
