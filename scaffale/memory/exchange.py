"""The verbs that write a project's memory to a file and read it from one: all of it in one transaction, or nothing."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale import files
from scaffale.errors import Conflict, InvalidParam, NotFound, SecretDetected
from scaffale.indexer import clock, entries, portable, projects
from scaffale.indexer.entries import EntryFilter
from scaffale.memory.life import Life, new_id
from scaffale.memory.room import masked, one_of
from scaffale.model import CONCEPT, STATUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from scaffale.answers.exchange import Exported, Imported, Skipped
    from scaffale.indexer.projects import Resolved
    from scaffale.memory.archive import Archive, Incoming

SCANNED_TOGETHER = 100  # entries that are looked through for secrets in one go: nearly always there is none
NAMED = 200  # skipped entries that an answer names
_FIELDS = (
    "id", "scope", "topic", "title", "content", "summary", "source_type", "source_ref", "source_path", "source_uri",
    "content_sha256", "status", "confidence", "importance", "created_by", "created_at", "updated_at", "invalidated_at",
    "invalidation_reason", "tags", "display_id", "metadata",
)  # fmt: skip
_TEXTS = (
    "content", "title", "summary", "source_ref", "source_path", "source_uri", "invalidation_reason", "created_by", "metadata",
)  # fmt: skip
_LINK_TEXTS = ("label", "rationale", "target_uri")
_FILLED = ("title", "summary", "source_ref", "source_path", "source_uri", "confidence")  # by a merge, where they are absent
_COMPARED = ("title", "summary", "scope", "topic", "importance", "confidence", "status")


class Exchange(Life):
    """Export, import."""

    def export_project(
        self,
        *,
        save_path: str,
        actor: str,
        format: str = "json",
        include_archived: bool = False,
        include_invalidated: bool = False,
        overwrite: bool = False,
        project_path: str | None = None,
        project_id: str | None = None,
        anywhere: bool = False,
    ) -> Exported:
        """Write active and superseded entries, with their tags and links, to a file inside the allowed roots.

        Credentials are masked. Revisions and the audit stay here. `anywhere`: a person may write wherever they can.
        """
        from scaffale.answers.exchange import Exported
        from scaffale.indexer import paths

        said = {
            "save_path": save_path, "format": format, "include_archived": include_archived,
            "include_invalidated": include_invalidated, "overwrite": overwrite,
        }  # fmt: skip
        with self._audited("memory_export_project", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            one_of("format", format, ("json", "zip"))
            path = paths.resolve_inside(
                save_path, None if anywhere else resolved.roots, kind="save_path", base=resolved.folder, stores=self._files()
            )
            if self._store() is None:
                raise NotFound("there is no memory yet, and nothing to export", project_id=resolved.project.id)
            database, _ = self._open()
            statuses = ("active", "superseded") + ("archived",) * include_archived + ("invalidated",) * include_invalidated
            with database.read() as connection:
                content = _content(connection, resolved.project.id, statuses)
                counts = entries.count_by_status(connection, resolved.project.id)
                head = _head(connection, resolved.project.id)
                parts = [_zipped(connection, head, content)] if format == "zip" else _written(head, content)
            size = files.export_whole(path, parts, overwrite=overwrite)
            left_out = {status: counts[status] for status in STATUSES if status not in statuses and counts[status]}
            warnings = []
            if content.dropped:
                left_out["links"] = content.dropped
                warnings.append(f"{content.dropped} links to or from entries that are left out are left out, too")
            if content.masked:
                warnings.append(f"credentials are masked in {content.masked} entries")
            result = {"entries": len(content.entries), "links": len(content.links), "bytes": size}
            if not database.read_only:
                with database.write() as connection:
                    trail.done(connection, result=result)
        return Exported(
            resolved.project.id, path, format, size, len(content.entries), len(content.tags), len(content.links), left_out,
            (*resolved.warnings, *warnings, *trail.warnings),
        )  # fmt: skip

    def import_project(
        self,
        *,
        import_path: str,
        actor: str,
        on_conflict: str = "fail",
        confirm_replace: bool = False,
        secrets: str = "refuse",
        project_path: str | None = None,
        project_id: str | None = None,
        anywhere: bool = False,
    ) -> Imported:
        """Read an export into the project, in one transaction. A file that is damaged or made to harm is refused whole.

        `fail` changes nothing when one of the entries is there; `merge` adds what is new and fills in metadata that is
        absent; `replace` removes the project's entries first, but for promoted concepts, after an export of them.
        Entries of another project get new ids, and only when `project_id` is given. Concepts become proposals.
        """
        from scaffale.indexer import paths
        from scaffale.memory import archive

        said = {
            "import_path": import_path, "on_conflict": on_conflict, "confirm_replace": confirm_replace, "secrets": secrets,
        }  # fmt: skip
        with self._audited("memory_import_project", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            one_of("on_conflict", on_conflict, ("fail", "merge", "replace"))
            one_of("secrets", secrets, ("refuse", "redact"))
            if on_conflict == "replace" and not confirm_replace:
                raise InvalidParam("confirm_replace: must be true to replace the memory of a project")
            path = paths.resolve_inside(
                import_path, None if anywhere else resolved.roots, kind="import_path", base=resolved.folder,
                stores=self._files(),
            )  # fmt: skip
            try:
                data = files.read_regular(path, portable.MAX_BYTES)
            except OSError as error:
                raise InvalidParam(f"import_path: {path} cannot be read: {error.strerror}") from error
            found = archive.read(data, resolved.settings)
            if found.project_id != resolved.project.id and project_id is None:
                raise InvalidParam(
                    f"import_path: the export is of another project than {resolved.project.id}; give project_id to bring"
                    " its entries into this one, under new ids"
                )
            _check_tags(found, resolved)
            found, redacted, warnings = _without_secrets(found, resolved, redact=secrets == "redact")
            database, projection = self._open()
            with database.write() as connection:
                work = _Import(connection, resolved, found, actor, self._settings.memory_db_path)
                if not resolved.registered:
                    project = resolved.project
                    if project.display_name is None:
                        project = project._replace(display_name=found.display_name)
                    projects.register(connection, project, clock.now(), remember=resolved.remember)
                answer = work.done(on_conflict, path, redacted, (*resolved.warnings, *warnings))
                counts = ("seen", "new", "changed", "same", "skipped", "proposed", "removed", "links")
                trail.done(connection, result={name: getattr(answer, name) for name in counts})
            projection.nudge()
        return answer._replace(warnings=(*answer.warnings, *trail.warnings))

    def _files(self) -> tuple[str, str]:
        return self._settings.memory_db_path, self._settings.docs_db_path


# --- out ---------------------------------------------------------------------------------------------------------------


class _Content(NamedTuple):
    """What of a project goes into a file."""

    entries: list[dict[str, Any]]
    tags: list[dict[str, Any]]
    links: list[dict[str, Any]]
    dropped: int
    masked: int


def _content(connection: apsw.Connection, project_id: str, statuses: tuple[str, ...]) -> _Content:
    from scaffale import secrets
    from scaffale.indexer import links, transfer
    from scaffale.memory.life import sha256

    found: list[dict[str, Any]] = []
    changed = 0
    for row in transfer.leaving(connection, EntryFilter(project_id, statuses=statuses)):
        entry = masked(row)
        if entry is not row.entry and entry != row.entry:
            changed += 1
            entry = entry._replace(content_sha256=sha256(entry.content))
        values = entry._asdict()
        found.append({name: value for name in _FIELDS if (value := values[name]) is not None and value != ()})
    borne = {tag for entry in found for tag in entry.get("tags", ())}
    tags = [
        {"name": name, **({"description": said} if said else {}), "created_at": at}
        for name, said, at in transfer.tags(connection, project_id)
        if name in borne
    ]
    ids = {entry["id"] for entry in found}
    all_links = links.of_project(connection, project_id)
    kept = [
        link
        for link in all_links
        if link.source_entry_id in ids and (link.target_entry_id is None or link.target_entry_id in ids)
    ]
    written = []
    for link in kept:
        values = link._asdict()
        del values["project_id"]
        for name in ("label", "rationale", "target_uri"):
            values[name] = secrets.mask(values[name]) if values[name] else values[name]
        written.append({name: value for name, value in values.items() if value is not None})
    return _Content(found, tags, written, len(all_links) - len(kept), changed)


def _head(connection: apsw.Connection, project_id: str) -> dict[str, Any]:
    from scaffale.memory.archive import FORMAT, VERSION

    known = projects.find(connection, project_id)
    name = known.project.display_name if known else None
    project = {"id": project_id, **({"display_name": name} if name else {})}
    return {"format": FORMAT, "version": VERSION, "exported_at": clock.now(), "project": project}


def _written(head: dict[str, Any], content: _Content) -> list[bytes]:
    return list(portable.written(head, {"entries": content.entries, "tags": content.tags, "links": content.links}))


def _zipped(connection: apsw.Connection, head: dict[str, Any], content: _Content) -> bytes:
    from scaffale.indexer import audit
    from scaffale.memory.archive import as_zip

    parts = {"entries": content.entries, "tags": content.tags, "links": content.links}
    return as_zip(head, parts, {"operations": audit.summary(connection, head["project"]["id"])})


# --- in ----------------------------------------------------------------------------------------------------------------


def _check_tags(found: Archive, resolved: Resolved) -> None:
    from scaffale.memory.drafts import tags_of

    if resolved.keys.allowed_tags is not None:
        for entry in found.entries:
            tags_of(entry.tags, resolved)


def _without_secrets(found: Archive, resolved: Resolved, *, redact: bool) -> tuple[Archive, int, list[str]]:
    """The archive without certain secrets: refused, or masked; in how many places; and a warning about probable ones."""
    from scaffale import secrets
    from scaffale.memory.archive import Incoming, IncomingLink
    from scaffale.memory.life import sha256

    allowed = resolved.settings.allowed_secrets
    names = "\n\n".join((*found.tags, *{entry.scope for entry in found.entries}, *{entry.topic for entry in found.entries}))
    if secrets.find(names, 1):
        raise SecretDetected("import_path: a scope, topic or tag looks like a secret; nothing was imported")
    entries, links = list(found.entries), list(found.links)
    redacted = probable = 0
    tables: tuple[tuple[str, Any, list[Any], tuple[str, ...]], ...] = (
        ("entries", Incoming, entries, _TEXTS),
        ("links", IncomingLink, links, _LINK_TEXTS),
    )
    for table, kind, items, fields in tables:
        take: Callable[[Any], tuple[str | None, ...]] = itemgetter(*[kind._fields.index(name) for name in fields])
        for start in range(0, len(items), SCANNED_TOGETHER):
            texts = [text for item in items[start : start + SCANNED_TOGETHER] for text in take(item) if text]
            if not secrets.find("\n\n".join(texts)):
                continue
            for number, item in enumerate(items[start : start + SCANNED_TOGETHER], start):
                masked: dict[str, str] = {}
                for name, text in zip(fields, take(item), strict=True):
                    if not text:
                        continue
                    for each in secrets.find(text):
                        if each.tier > 1:
                            probable += 1
                        elif each.kind not in allowed:
                            if not redact:
                                raise SecretDetected(
                                    f"import_path: {table}[{number}].{name} looks like a secret ({each.kind}) at characters"
                                    f" {each.start}–{each.end}; nothing was imported. secrets=\"redact\" masks it."
                                )
                            masked[name] = secrets.mask(text)
                if masked:
                    redacted += 1
                    if "content" in masked:
                        masked["content_sha256"] = sha256(masked["content"])
                    items[number] = item._replace(**masked)
    warnings = [f"{probable} texts may hold a secret"] if probable else []
    return found._replace(entries=entries, links=links), redacted, warnings


class _Import:
    """One import inside the caller's transaction."""

    def __init__(
        self, connection: apsw.Connection, resolved: Resolved, found: Archive, actor: str, store_path: str
    ) -> None:
        self._connection = connection
        self._resolved = resolved
        self._found = found
        self._actor = actor
        self._store_path = store_path
        self._project = resolved.project.id
        self._skips: list[Skipped] = []
        self._differing = 0

    def done(self, on_conflict: str, path: str, redacted: int, warnings: tuple[str, ...]) -> Imported:
        """Do it, and say what was done."""
        from scaffale.answers.exchange import Imported
        from scaffale.indexer import transfer

        foreign = self._found.project_id != self._project
        known = {} if foreign else transfer.known(self._connection, [entry.id for entry in self._found.entries])
        here = {id for id, project in known.items() if project == self._project}
        if on_conflict == "fail" and here:
            raise Conflict(
                f"{len(here)} of the entries are in memory already; on_conflict=merge adds the others", project_id=self._project
            )
        removed = kept = 0
        backup = None
        if on_conflict == "replace":
            backup = self._backed_up()
            removed, kept = self._cleared()
            here &= set(transfer.known(self._connection, here))
        fresh, concepts = [], []
        changed = same = 0
        for entry in self._found.entries:
            if entry.source_type == CONCEPT and entry.id not in here:
                concepts.append(entry)
            elif entry.id not in here:
                fresh.append(entry)
            else:
                outcome = self._merged(entry)
                changed += outcome == "changed"
                same += outcome == "same"
        proposed = self._proposed(concepts)
        id_map = {entry.id: new_id() for entry in fresh if foreign or known.get(entry.id, self._project) != self._project}
        self._brought(fresh, id_map)
        there = {entry.id for entry in fresh} | here
        links, dropped = self._linked(there, id_map, foreign=foreign)
        more = list(warnings)
        if dropped:
            more.append(f"{dropped} links were not taken: an end of them was not taken either")
        if self._differing:
            more.append(f"{self._differing} entries differ in metadata from those of the file; what is here stays")
        if proposed:
            more.append(f"{proposed} concepts wait for a person's review")
        if redacted:
            more.append(f"credentials were masked in {redacted} places")
        return Imported(
            self._project, path, on_conflict, len(self._found.entries), len(fresh), changed, same, len(self._skips), proposed,
            removed, kept, links, redacted, tuple(self._skips[:NAMED]), id_map or None, backup, tuple(more),
        )  # fmt: skip

    def _backed_up(self) -> str:
        """An export of everything, beside the store, before anything is removed."""
        name = "".join(each if each.isalnum() else "-" for each in self._project)[:80]
        path = files.backup_path(self._store_path, name)
        content = _content(self._connection, self._project, STATUSES)
        files.export_whole(path, _written(_head(self._connection, self._project), content), overwrite=False)
        return path

    def _cleared(self) -> tuple[int, int]:
        """Delete the project's entries, each with a tombstone; how many, and how many concepts stay."""
        from scaffale.indexer import audit, revisions, transfer

        going, kept = [], 0
        for row in transfer.leaving(self._connection, EntryFilter(self._project)):
            if row.entry.source_type == CONCEPT:
                kept += 1
            else:
                going.append(row)
        key = audit.store_key(self._connection)
        audit.forget(self._connection, key, {row.entry.id for row in going})
        for row in going:
            tombstone = revisions.tombstone(self._connection, key, row)
            audit.record(
                self._connection, key, operation="memory_delete_entry", outcome="ok", project_id=self._project,
                entry_id=row.entry.id, actor=self._actor, params={"replaced_by_import": True}, result=tombstone,
            )  # fmt: skip
        return len(going), kept

    def _merged(self, entry: Incoming) -> str:
        """Fill in what the entry here lacks. Another content is reported, and not taken."""
        from scaffale.answers.exchange import Skipped
        from scaffale.indexer import revisions

        row = entries.find(self._connection, entry.id)
        assert row
        here = row.entry
        if here.source_type == CONCEPT:
            self._skips.append(Skipped(here.id, "a promoted concept changes only by a person's review"))
            return "skipped"
        if here.content_sha256 != entry.content_sha256:
            self._skips.append(Skipped(here.id, "its content differs; what is here stays"))
            return "skipped"
        new: dict[str, Any] = {
            name: getattr(entry, name) for name in _FILLED if getattr(here, name) is None and getattr(entry, name) is not None
        }
        tags = tuple(sorted({*here.tags, *entry.tags}))
        if tags != here.tags and len(tags) <= self._resolved.settings.max_tags:
            new["tags"] = tags
        self._differing += any(
            name not in new and getattr(entry, name) not in (None, getattr(here, name)) for name in _COMPARED
        )
        if not new:
            return "same"
        revisions.change(
            self._connection, row, new, operation="merged", actor=self._actor, at=revisions.next_time(row),
            reason="import of the same entry",
        )  # fmt: skip
        return "changed"

    def _brought(self, fresh: Sequence[Incoming], id_map: dict[str, str]) -> None:
        from scaffale.indexer import transfer

        new = id_map.get
        rows = [(new(entry.id, entry.id), self._project, *entry[1:-3]) for entry in fresh]  # the columns in their order
        borne = [(row[0], entry.tags) for row, entry in zip(rows, fresh, strict=True) if entry.tags]
        now = clock.now()
        made = {tag: self._found.tags.get(tag, (None, now)) for _, tags in borne for tag in tags}
        transfer.bring_in(self._connection, self._project, rows, borne, made)

    def _proposed(self, concepts: Sequence[Incoming]) -> int:
        import json

        from scaffale.indexer import proposals
        from scaffale.indexer.proposals import Proposal

        for entry in concepts:
            draft: dict[str, Any] = {name: value for name, value in entry._asdict().items() if value not in (None, ())}
            if entry.metadata is not None:
                draft["metadata"] = json.loads(entry.metadata)
            origin = f"import of {self._found.project_id}"
            proposals.add(
                self._connection, Proposal(new_id(), self._project, origin, draft, clock.now()), entry.content_sha256
            )
        return len(concepts)

    def _linked(self, there: set[str], id_map: dict[str, str], *, foreign: bool) -> tuple[int, int]:
        """Bring in the links whose ends are there; how many, and how many are not."""
        from scaffale.indexer import links, transfer

        new = id_map.get
        known = transfer.known_links(self._connection, [link.id for link in self._found.links])
        rows = []
        dropped = 0
        for link in self._found.links:
            source, target = link.source_entry_id, link.target_entry_id
            if source not in there or (target is not None and target not in there):
                dropped += 1
                continue
            if not foreign and link.id in known:
                continue
            source, target = new(source, source), new(target, target) if target is not None else None
            id = new_id() if foreign or link.id in known else link.id
            rows.append((id, self._project, source, target, *link[3:]))
        transfer.bring_in_links(self._connection, rows)
        for row in rows:
            if row[6] == "supersedes" and row[3] is not None and links.would_circle(self._connection, row[2], row[3]):
                raise InvalidParam("import_path: links: entries supersede each other in a circle; nothing was imported")
        return len(rows), dropped
