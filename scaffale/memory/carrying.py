"""The verbs that write the registry of concepts to a file of JSON lines, and propose what such a file holds.

A line is one record: `id`, `at`, `session_id`, `decision_seq`, `type`, `subject`, `detail`, `rationale`,
`question_context`, `tables`, `concepts`; `merged` holds further sources. The same registry makes the same bytes. Older
registries are read, too: of their records only clarified concepts are proposed, the others are kept as history.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale import files
from scaffale.errors import InvalidParam, LimitExceeded, NotFound, ScaffaleError, SecretDetected
from scaffale.indexer import clock, entries, projects
from scaffale.memory import concepts
from scaffale.memory.life import new_id, sha256
from scaffale.memory.recalling import Recalling
from scaffale.memory.room import masked, one_of
from scaffale.model import CONCEPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import apsw

    from scaffale.answers.ledger import ExportedConcepts, ImportedConcepts
    from scaffale.indexer.projects import Resolved
    from scaffale.model import Entry

MAX_BYTES = 64 * 1024 * 1024
NAMED = 200  # records that an answer names as failed
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class Carrying(Recalling):
    """Export concepts, import concepts."""

    def export_concepts(
        self,
        *,
        save_path: str,
        actor: str,
        overwrite: bool = False,
        project_path: str | None = None,
        project_id: str | None = None,
        anywhere: bool = False,
    ) -> ExportedConcepts:
        """Write the promoted concepts of a project as JSON lines, by number, to a file inside the allowed roots.

        Credentials are masked. `anywhere`: a person may write wherever they can.
        """
        from scaffale.answers.ledger import ExportedConcepts
        from scaffale.indexer import paths, registry

        said = {"save_path": save_path, "overwrite": overwrite}
        with self._audited("ledger_export", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            stores = (self._settings.memory_db_path, self._settings.docs_db_path)
            path = paths.resolve_inside(
                save_path, None if anywhere else resolved.roots, kind="save_path", base=resolved.folder, stores=stores
            )
            if self._store() is None:
                raise NotFound("there is no memory yet, and nothing to export", project_id=resolved.project.id)
            database, _ = self._open()
            lines: list[bytes] = []
            changed = 0
            with database.read() as connection:
                numbers = registry.numbers(connection, resolved.project.id)
                shaken = registry.shaken(connection, numbers.values())
                for _, entry_id in sorted(numbers.items()):
                    row = entries.find(connection, entry_id)
                    assert row
                    entry = masked(row)
                    changed += entry != row.entry
                    lines.append(f"{_encode(_record(entry, shaken=entry_id in shaken))}\n".encode())
            try:
                size = files.write_whole(path, lines, overwrite=overwrite)
            except OSError as error:
                raise InvalidParam(f"save_path: {path} cannot be written: {error.strerror}") from error
            if not database.read_only:
                with database.write() as connection:
                    trail.done(connection, result={"concepts": len(lines), "bytes": size})
        warnings = (f"credentials are masked in {changed} concepts",) if changed else ()
        return ExportedConcepts(
            resolved.project.id, path, len(lines), size, changed, (*resolved.warnings, *warnings, *trail.warnings)
        )

    def import_concepts(
        self,
        *,
        import_path: str,
        actor: str,
        secrets: str = "refuse",
        project_path: str | None = None,
        project_id: str | None = None,
        anywhere: bool = False,
    ) -> ImportedConcepts:
        """Propose the concepts of a registry, for a person's review; keep its other records as history, which nothing shows
        or finds. One transaction. A record that is wrong is named, and does not hold the others back."""
        from scaffale.answers.ledger import ImportedConcepts
        from scaffale.indexer import paths, proposals, registry
        from scaffale.indexer.proposals import Proposal

        said = {"import_path": import_path, "secrets": secrets}
        with self._audited("ledger_import", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            one_of("secrets", secrets, ("refuse", "redact"))
            stores = (self._settings.memory_db_path, self._settings.docs_db_path)
            path = paths.resolve_inside(
                import_path, None if anywhere else resolved.roots, kind="import_path", base=resolved.folder, stores=stores
            )
            try:
                data = files.read_regular(path, MAX_BYTES)
            except OSError as error:
                raise InvalidParam(f"import_path: {path} cannot be read: {error.strerror}") from error
            skips: list[str] = []
            found = list(_read(data, resolved, skips, redact=secrets == "redact"))
            proposed = kept = 0
            database, _ = self._open()
            with database.write() as connection:
                if not resolved.registered and found:
                    projects.register(connection, resolved.project, clock.now(), remember=resolved.remember)
                project, now = resolved.project.id, clock.now()
                known = registry.like(connection, project, [each.key for each in found if each.draft])
                existing = 0
                for each in found:
                    if each.draft is None:
                        if registry.keep(connection, project, each.digest, each.kind, each.record, now):
                            kept += 1
                        else:
                            existing += 1
                        continue
                    proposal = Proposal(new_id(), project, f"registry: {path}", each.draft, now)
                    if _is_known(connection, known, each) or not proposals.add(connection, proposal, each.digest):
                        existing += 1
                    else:
                        proposed += 1
                counts = {"proposed": proposed, "existing": existing, "kept": kept, "failed": len(skips)}
                trail.done(connection, result={"seen": len(found) + len(skips), **counts})
        return ImportedConcepts(
            resolved.project.id, len(found) + len(skips), proposed, existing, kept, len(skips), tuple(skips[:NAMED]),
            (*resolved.warnings, *trail.warnings),
        )  # fmt: skip


def _record(entry: Entry, *, shaken: bool) -> dict[str, Any]:
    """A concept as a line says it; the order of its fields is fixed."""
    first, *merged = concepts.sources_of(entry.metadata or {})
    record: dict[str, Any] = {
        "id": entry.display_id,
        "at": first.get("at") or entry.created_at,
        "session_id": first.get("session_id"),
        "decision_seq": first.get("seq"),
        "type": CONCEPT,
        "subject": entry.title or entry.topic,
        "detail": entry.content,
        "rationale": first.get("rationale"),
        "question_context": first.get("question_context"),
        "tables": [],
        "concepts": first.get("concepts") or [],
    }
    if merged:
        record["merged"] = merged
    if entry.status != "active":
        record["status"] = entry.status
    if shaken:
        record["evidence"] = "changed"
    return record


class _Found(NamedTuple):
    """A record of a file. Without a `draft` it is no concept."""

    record: dict[str, Any]
    kind: str
    digest: str
    key: str = ""
    draft: dict[str, Any] | None = None


def _is_known(connection: apsw.Connection, known: Mapping[str, tuple[str, int]], found: _Found) -> bool:
    """Whether a promoted concept says the same and has all these sources already."""
    if found.key not in known or found.draft is None:
        return False
    row = entries.find(connection, known[found.key][0])
    places = [(each.get("session_id"), each.get("seq")) for each in concepts.sources_of((row and row.entry.metadata) or {})]
    return all((each.get("session_id"), each.get("seq")) in places for each in concepts.sources_of(found.draft["metadata"]))


# --- reading -----------------------------------------------------------------------------------------------------------


def _read(data: bytes, resolved: Resolved, skips: list[str], *, redact: bool) -> Iterator[_Found]:
    """The records of a file; what is wrong with others goes to the skips, by line. Blank lines are none."""
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidParam("import_path: the file is not UTF-8") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield _found(line, resolved, redact=redact)
        except SecretDetected as error:
            raise SecretDetected(f"import_path: line {number}: {error.detail}", project_id=resolved.project.id) from error
        except ScaffaleError as error:
            skips.append(f"line {number}: {error.detail}")


def _found(line: str, resolved: Resolved, *, redact: bool) -> _Found:
    """One record, checked. Raises what is wrong with it."""
    from scaffale.memory import drafts

    try:
        record = json.loads(line, parse_constant=_refuse)
        _encode(record).encode()  # half a surrogate pair is no text
    except (ValueError, RecursionError) as error:
        raise InvalidParam("is not JSON") from error
    if not isinstance(record, dict) or not isinstance(record.get("type"), str) or not record["type"]:
        raise InvalidParam("is no record with a type")
    how = {"secrets": "redact"} if redact else {}
    kind = record["type"][:80]
    subject = record.get("subject")
    no_concept = (
        kind not in concepts.REUSABLE_TYPES
        or record.get("status", "active") != "active"
        or (isinstance(subject, str) and concepts.refusal(subject) is not None)
    )
    if no_concept:
        values, _ = drafts.without_secrets({"record": _encode(record), **how}, resolved.settings)
        whole = json.loads(values["record"])
        return _Found(whole, kind, sha256(json.dumps(whole, sort_keys=True, ensure_ascii=False)))
    sources = concepts.sources_from(record, "decision_seq", "timestamp")
    if not isinstance(subject, str) or not subject.strip() or not isinstance(record.get("detail"), str):
        raise InvalidParam("subject, detail: a concept has both, as text")
    if "\0" in subject + record["detail"]:
        raise InvalidParam("subject, detail: holds a NUL character")
    said = {
        **dict.fromkeys(("summary", "source_path", "source_uri", "confidence")), "scope": concepts.SCOPE, "topic": subject,
        "title": subject.strip(), "content": record["detail"], "source_type": CONCEPT, "tags": (), "importance": 3,
        "source_ref": _ref(sources[0]), **how,
    }  # fmt: skip
    draft, _ = drafts.checked(resolved, said, reviewed=True)
    metadata = _clean(concepts.metadata_of(sources), resolved, how)
    if len(_encode(metadata).encode()) > 2 * resolved.settings.max_entry_bytes:
        raise LimitExceeded("rationale, question_context: longer than twice an entry may be (MEMORY_MAX_ENTRY_BYTES)")
    values = {name: value for name, value in draft._asdict().items() if value not in (None, ())}
    values["metadata"] = metadata
    if isinstance(record.get("id"), str) and entries.display_number(record["id"]):
        values["display_id"] = record["id"]
    key = concepts.likeness(draft.title or draft.topic, draft.content)
    return _Found(record, kind, sha256(key + _encode(metadata)), key, values)


def _ref(source: Mapping[str, Any]) -> str | None:
    if source["session_id"] is None:
        return None
    return f"session:{source['session_id']} seq:{source['seq']}"


def _clean(metadata: dict[str, Any], resolved: Resolved, how: Mapping[str, str]) -> dict[str, Any]:
    """The metadata without certain secrets: refused, or masked."""
    from scaffale.memory import drafts

    sources = concepts.sources_of(metadata)
    clean = [drafts.without_secrets({**each, **how}, resolved.settings)[0] for each in sources]
    return concepts.metadata_of([{name: value for name, value in each.items() if name != "secrets"} for each in clean])


def _refuse(name: str) -> None:
    raise ValueError(name)
