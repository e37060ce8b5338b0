"""The verbs that build entries from tickets, commits, document hits and notes: a preview, written only with `apply`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam, ScaffaleError
from scaffale.indexer import entries
from scaffale.memory.life import sha256
from scaffale.memory.linking import Linking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from scaffale.answers.capture import Candidate, Captured
    from scaffale.answers.memory import AddedEntry
    from scaffale.indexer.projects import Resolved
    from scaffale.indexer.repository import Repository

NOTES = (".md", ".markdown", ".mdx", ".txt")
MOST_FILES = 200
MOST_CANDIDATES = 200


class Capture(Linking):
    """Build entries."""

    def add_from_ticket(
        self,
        *,
        text: str,
        ticket_ref: str,
        actor: str,
        scope: str | None = None,
        topic: str | None = None,
        apply: bool = False,
        secrets: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Captured:
        """The entry of a ticket: its text word for word; title, tags, importance and summary as its fields say."""
        from scaffale.memory import extract

        with self._refusals("memory_add_from_ticket", actor, project_id, {"ticket_ref": ticket_ref, "text": text}, apply=apply):
            if not text.strip():
                raise InvalidParam("text: must not be empty")
            resolved = self._resolve(project_path, project_id)
            found = [extract.ticket(text, ticket_ref, extract.Place(scope, topic))]
            return self._captured(resolved, found, actor, project_path, project_id, apply=apply, secrets=secrets)

    def add_from_git_context(
        self,
        *,
        actor: str,
        rev: str | None = None,
        range: str | None = None,
        scope: str | None = None,
        topic: str | None = None,
        apply: bool = False,
        secrets: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Captured:
        """The entry of a commit (`rev`), or of each commit of a `range` or branch: the message and the files it changed."""
        from scaffale.indexer import git
        from scaffale.memory import extract

        with self._refusals("memory_add_from_git_context", actor, project_id, {"rev": rev, "range": range}, apply=apply):
            if (rev is None) == (range is None):
                raise InvalidParam("give either rev (one commit) or range (A..B, or a branch)")
            resolved = self._resolve(project_path, project_id)
            commits = git.commits(_repository(resolved), rev or range or "", single=rev is not None)
            found = [extract.commit(commit, extract.Place(scope, topic)) for commit in commits]
            more = (f"only the newest {git.MOST} commits were read",) if len(commits) == git.MOST else ()
            return self._captured(resolved, found, actor, project_path, project_id, apply=apply, secrets=secrets, warnings=more)

    def add_from_docs_result(
        self,
        *,
        document_id: int,
        note: str,
        actor: str,
        section: Sequence[str] | str | None = None,
        scope: str | None = None,
        topic: str | None = None,
        apply: bool = False,
        secrets: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Captured:
        """An entry that notes something about a document, or a section of it, and is linked to it: should that change, the
        entry says so."""
        from scaffale.answers.capture import Candidate, Taken
        from scaffale.memory import extract

        said = {"document_id": document_id, "note": note}
        with self._refusals("memory_add_from_docs_result", actor, project_id, said, apply=apply):
            if not note.strip():
                raise InvalidParam("note: must not be empty")
            resolved = self._resolve(project_path, project_id)
            uri = f"docs://document/{document_id}"
            document, path, _ = self._documents.cite(uri, section)
            below = path[1:] if path and path[:1] == (document.title,) else path or ()
            title = " › ".join((document.title, *below))[: extract.TITLE_CHARS]
            heading = path[-1] if path else document.title
            found = Candidate(
                scope, topic or extract.topic_of(heading), title, note, None, "doc_observation", None, None, uri, (), 3,
                () if topic else (Taken("topic", heading),),
            )  # fmt: skip

            def link(entry_id: str) -> str:
                return self.link_entries(
                    actor=actor, source_entry_id=entry_id, target_uri=uri, section=path, relation="derived_from",
                    project_path=project_path, project_id=project_id,
                ).link_id  # fmt: skip

            return self._captured(resolved, [found], actor, project_path, project_id, apply=apply, secrets=secrets, link=link)

    def mine_project_notes(
        self,
        *,
        source_path: str,
        actor: str,
        scope: str | None = None,
        topic: str | None = None,
        apply: bool = False,
        secrets: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Captured:
        """Entries from Markdown notes (a file, or the files of a folder): one for each decision, root cause or the like
        that is marked as one, else one for each section, with the file and its lines."""
        from scaffale import files
        from scaffale.indexer import markdown, paths
        from scaffale.memory import extract

        with self._refusals("memory_mine_project_notes", actor, project_id, {"source_path": source_path}, apply=apply):
            resolved = self._resolve(project_path, project_id)
            stores = (resolved.settings.memory_db_path, resolved.settings.docs_db_path)
            path = paths.resolve_inside(source_path, resolved.roots, kind="source_path", base=resolved.folder, stores=stores)
            found: list[Candidate] = []
            skipped: list[str] = []
            for name in _notes(path):
                try:
                    real = paths.resolve_inside(name, resolved.roots, kind="file_path", stores=stores)
                    decoded = markdown.decode(files.read_regular(real, resolved.settings.docs_max_file_bytes))
                except markdown.NotText as reason:
                    skipped.append(f"{name}: it is {reason}")
                    continue
                except (OSError, ScaffaleError) as error:
                    skipped.append(f"{name}: {getattr(error, 'detail', None) or getattr(error, 'strerror', error)}")
                    continue
                parsed = markdown.parse(decoded.text, file_name=os.path.basename(real))
                for each in extract.notes(parsed.sections, real, extract.Place(scope, topic)):
                    if isinstance(each, str):
                        skipped.append(f"{name}: {each}")
                    elif len(found) < MOST_CANDIDATES:
                        found.append(each)
                    else:
                        skipped.append(f"{name}: {each.source_ref}: over {MOST_CANDIDATES} candidates; mine fewer notes at once")
            return self._captured(
                resolved, found, actor, project_path, project_id, apply=apply, secrets=secrets, skipped=tuple(skipped)
            )

    # --- parts of verbs --------------------------------------------------------------------------------------------

    def _refusals(
        self, operation: str, actor: str, project_id: str | None, said: dict[str, Any], *, apply: bool
    ) -> AbstractContextManager[object]:
        """What is refused is audited, when it would have been written; what is written, `add_entry` has audited."""
        from contextlib import nullcontext

        return self._audited(operation, actor, project_id, said) if apply else nullcontext()

    def _captured(
        self,
        resolved: Resolved,
        found: Sequence[Candidate],
        actor: str,
        project_path: str | None,
        project_id: str | None,
        *,
        apply: bool,
        secrets: str | None,
        link: Callable[[str], str] | None = None,
        skipped: tuple[str, ...] = (),
        warnings: tuple[str, ...] = (),
    ) -> Captured:
        """The candidates as they would be written, or as they were."""
        from scaffale.answers.capture import Captured

        shown = []
        more = dict.fromkeys((*resolved.warnings, *warnings))
        for candidate in found:
            try:
                added = None
                if apply:  # first: what is refused is audited there
                    said = _said(candidate, secrets)
                    added = self.add_entry(actor=actor, project_path=project_path, project_id=project_id, **said)
                checked, told = self._candidate(resolved, candidate, secrets)
                if added:
                    checked, told = _written(checked, added, link)
                more.update(dict.fromkeys(told))
                shown.append(checked)
            except ScaffaleError as error:
                if len(found) == 1:
                    raise
                shown.append(candidate._replace(content="", problem=f"{error.code}: {error.detail}"))
        written = sum(each.entry_id is not None for each in shown)
        existing = sum(each.existing_entry_id is not None for each in shown)
        failed = sum(each.problem is not None for each in shown)
        return Captured(
            resolved.project.id, apply, tuple(shown), len(shown), written, existing, failed, skipped, tuple(more)
        )

    def _candidate(self, resolved: Resolved, candidate: Candidate, secrets: str | None) -> tuple[Candidate, list[str]]:
        """The candidate as `add_entry` would take it: normalised, within limits, without secrets; or its error."""
        from scaffale.memory import drafts

        draft, told = drafts.checked(resolved, _said(candidate, secrets))
        existing = None
        store = self._store()
        if store:
            with store[0].read() as connection:
                existing = entries.find_duplicate(connection, resolved.project.id, draft.scope, sha256(draft.content))
        values = {name: getattr(draft, name) for name in draft._fields if name in candidate._fields}
        return candidate._replace(**values, existing_entry_id=existing), told


def _written(
    checked: Candidate, added: AddedEntry, link: Callable[[str], str] | None
) -> tuple[Candidate, list[str]]:
    """The candidate as it was written, and linked."""
    told = list(added.warnings)
    done = checked._replace(entry_id=None if added.deduped else added.entry_id, existing_entry_id=added.existing_entry_id)
    if link is not None:
        try:
            done = done._replace(link_id=link(added.entry_id))
        except ScaffaleError as error:  # the entry is kept all the same
            told.append(f"the entry is kept, but not linked: {error.detail}")
    return done, told


def _said(candidate: Candidate, secrets: str | None) -> dict[str, Any]:
    """The candidate as the arguments of `add_entry`."""
    c = candidate
    return {
        "scope": c.scope, "topic": c.topic, "content": c.content, "source_type": c.source_type, "title": c.title,
        "summary": c.summary, "source_ref": c.source_ref, "source_path": c.source_path, "source_uri": c.source_uri,
        "tags": list(c.tags), "importance": c.importance, "confidence": None, "dedupe": True, "secrets": secrets,
    }  # fmt: skip


def _repository(resolved: Resolved) -> Repository:
    """The repository that is meant; it lies inside the allowed roots, where there are any."""
    from scaffale import files
    from scaffale.indexer import repository

    if resolved.folder is None:
        raise InvalidParam("project_path: needed to read commits; give the folder of the repository")
    found = repository.around(resolved.folder)
    if found is None:
        raise InvalidParam(f"project_path: {resolved.folder} lies in no Git repository")
    roots = resolved.settings.memory_allowed_roots
    if roots and not any(files.is_inside(files.real(found.config), root) for root in roots):
        raise InvalidParam("project_path: the repository lies outside the allowed roots")
    return found


def _notes(path: str) -> list[str]:
    """The notes at a path: the file, or the Markdown files below a folder, without hidden ones."""
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise InvalidParam("source_path: does not exist")
        return [path]
    names: list[str] = []
    for folder, below, files_here in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith(".") and name != "node_modules")
        names += [os.path.join(folder, name) for name in sorted(files_here) if name.lower().endswith(NOTES) and name[0] != "."]
        if len(names) > MOST_FILES:
            raise InvalidParam(f"source_path: holds more than {MOST_FILES} notes; give a folder further down")
    return names
