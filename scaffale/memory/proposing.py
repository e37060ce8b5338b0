"""The verbs of the queue of proposals: what other tools remembered comes in here, and a person's review decides what becomes
memory. Nothing that waits is found by a search."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scaffale.errors import InvalidParam, ScaffaleError
from scaffale.indexer import clock, entries, projects
from scaffale.memory.life import Life, new_id, sha256
from scaffale.memory.room import one_of

if TYPE_CHECKING:
    from scaffale.answers.capture import Candidate
    from scaffale.answers.proposals import ProposalList, Proposed
    from scaffale.indexer.projects import Resolved
    from scaffale.indexer.proposals import Proposal

_FIELDS = (
    "scope", "topic", "title", "content", "summary", "source_type", "source_ref", "source_path", "source_uri", "tags",
    "importance", "confidence",
)  # fmt: skip


class Proposing(Life):
    """Propose, list."""

    def propose(
        self,
        *,
        source_path: str,
        actor: str,
        kind: str | None = None,
        scope: str | None = None,
        topic: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
        anywhere: bool = False,
    ) -> Proposed:
        """Bring what another tool remembered into the queue: the JSON lines of the official memory server, notes of
        basic-memory, `AGENTS.md`, `CLAUDE.md`. Nothing of it becomes memory before a person accepts it."""
        from scaffale import files
        from scaffale.answers.proposals import Proposed
        from scaffale.indexer import markdown, paths, proposals
        from scaffale.indexer.proposals import Proposal
        from scaffale.memory import extract, peers

        said = {"source_path": source_path, "kind": kind}
        with self._audited("memory_propose", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            stores = (resolved.settings.memory_db_path, resolved.settings.docs_db_path)
            path = paths.resolve_inside(
                source_path, None if anywhere else resolved.roots, kind="file_path", base=resolved.folder, stores=stores
            )
            try:
                text = markdown.decode(files.read_regular(path, resolved.settings.docs_max_file_bytes)).text
            except markdown.NotText as reason:
                raise InvalidParam(f"source_path: {path} is {reason}") from None
            except OSError as error:
                raise InvalidParam(f"source_path: {path} cannot be read: {error.strerror}") from error
            name = os.path.basename(path)
            form = one_of("kind", kind, peers.KINDS) if kind is not None else peers.kind_of(name, text)
            place = extract.Place(scope, topic)
            found = list(peers.candidates(form, name, path, text, place))
            skipped = [each for each in found if isinstance(each, str)]
            checked = [self._proposable(resolved, each, skipped) for each in found if not isinstance(each, str)]
            good = [each for each in checked if each is not None]
            proposed = 0
            database, _ = self._open()
            with database.write() as connection:
                if not resolved.registered and good:
                    projects.register(connection, resolved.project, clock.now(), remember=resolved.remember)
                for draft in good:
                    digest = sha256(str(draft["content"]))
                    if entries.find_duplicate(connection, resolved.project.id, str(draft["scope"]), digest):
                        continue
                    proposal = Proposal(new_id(), resolved.project.id, f"{form}: {path}", draft, clock.now())
                    proposed += proposals.add(connection, proposal, digest)
                trail.done(connection, result={"seen": len(checked), "proposed": proposed})
        return Proposed(
            resolved.project.id, form, len(checked), proposed, len(good) - proposed, len(checked) - len(good),
            tuple(skipped), (*resolved.warnings, *trail.warnings),
        )  # fmt: skip

    def list_proposals(
        self, *, limit: int = 50, offset: int = 0, project_path: str | None = None, project_id: str | None = None
    ) -> ProposalList:
        """What waits for a person, oldest first."""
        from scaffale import secrets
        from scaffale.answers.proposals import ProposalList
        from scaffale.indexer import proposals

        resolved = self._resolve(project_path, project_id)
        limit, offset = max(1, min(limit, 200)), max(0, offset)
        store = self._store()
        found: list[Proposal] = []
        total = 0
        if store:
            with store[0].read() as connection:
                found = list(proposals.of_project(connection, resolved.project.id, limit, offset))
                total = proposals.count(connection, resolved.project.id)
        shown = tuple(
            each._replace(draft={k: secrets.mask(v) if isinstance(v, str) else v for k, v in each.draft.items()})
            for each in found
        )
        return ProposalList(
            resolved.project.id, shown, total,
            offset + limit if total > offset + limit else None, resolved.warnings,
        )  # fmt: skip

    def _proposable(self, resolved: Resolved, candidate: Candidate, skipped: list[str]) -> dict[str, object] | None:
        """The candidate as a draft that an entry could be made of; else why not goes to the skipped."""
        from scaffale.memory import drafts

        given = {name: getattr(candidate, name, None) for name in _FIELDS}
        given |= {"tags": list(candidate.tags), "secrets": "redact", "source_path": None}
        given["source_ref"] = f"{candidate.source_path} {candidate.source_ref}"[-resolved.settings.max_source_ref_chars :]
        try:
            draft, _ = drafts.checked(resolved, given)
        except ScaffaleError as error:
            skipped.append(f"{candidate.source_ref}: {error.detail}")
            return None
        return {name: value for name, value in draft._asdict().items() if value not in (None, ())}
