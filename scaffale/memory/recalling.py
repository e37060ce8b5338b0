"""Recall: promoted concepts that fit a question of a later session. Nothing is applied; the session chooses, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scaffale.indexer import entries
from scaffale.indexer.entries import EntryFilter
from scaffale.memory.reviewing import Reviewing
from scaffale.model import CONCEPT, VERIFICATION_HINT

if TYPE_CHECKING:
    import apsw

    from scaffale.answers.ledger import Concept, Recall
    from scaffale.model import Entry, Session

_HINT = (
    "Nothing is applied. Ask which of these hold here; record each that does as concept_clarified, its rationale citing the"
    " mem-NNNN. One left out leaves no mark."
)
_NOTHING = "No concept fits. Nothing is invented here: clarify, and record concept_clarified."


class Recalling(Reviewing):
    """Recall."""

    def recall_concepts(
        self,
        *,
        query: str,
        session_id: str | None = None,
        limit: int = 10,
        offset: int = 0,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Recall:
        """Promoted concepts that match, best first; an empty query lists. Those that the session has decided on already are
        left out: promoted from it, cited by one of its effective concepts, or rejected."""
        from scaffale.answers.ledger import Recall
        from scaffale.memory.concepts import refusal

        resolved = self._reach("project", project_path, project_id)
        assert resolved
        project = resolved.project.id
        warnings = list(resolved.warnings)
        most = resolved.settings.max_search_results
        if limit > most:
            warnings.append(f"limit {limit} is above the maximum; {most} is used")
        limit, offset = max(1, min(limit, most)), max(0, offset)
        store = self._store()
        decided: dict[int, str] = {}
        if session_id is not None:
            _, session, snapshot = self._look(session_id, None, project)
            with snapshot as connection:
                decided = _decided(connection, session)
        wanted = EntryFilter(project, statuses=("active",), concepts=True)
        results: list[Concept] = []
        total = 0
        if store:
            found = self._found(store, query, wanted, limit, offset, exclude=tuple(decided))
            evidence, _ = self._evidence(store, found.hits)
            results = [
                _concept(hit.entry, hit.score, evidence.get(hit.entry.id))
                for hit in found.hits
                if refusal(hit.entry.title or hit.entry.topic) is None  # whoever has put a table there: it is none
            ]
            total, warnings = found.total, [*warnings, *found.warnings]
        return Recall(
            project, session_id, tuple(results), total, offset + limit if total > offset + limit else None,
            tuple(sorted(decided.values())), _HINT if results else _NOTHING, tuple(warnings),
        )  # fmt: skip


def _decided(connection: apsw.Connection, session: Session) -> dict[int, str]:
    """Number in the store → `mem-NNNN`, of the concepts on which the session has decided."""
    from scaffale.indexer import ledger, registry
    from scaffale.memory.concepts import CITATION

    cited: set[int] = set()
    citing = ledger.citing(connection, session, "mem-")
    causes = ledger.not_effective(ledger.outline(connection, session)) if citing else {}
    for each in citing:
        if each.seq not in causes:
            said = each.rationale or "" if each.type == CONCEPT else f"{each.subject} {each.detail}"
            cited.update(number for name in CITATION.findall(said) if (number := entries.display_number(name)) is not None)
    found = registry.decided(connection, session, cited)
    return {rid: entries.display_id(number) for rid, number in found.items()}


def _concept(entry: Entry, score: float, evidence: str | None) -> Concept:
    from scaffale.answers.ledger import Concept

    metadata = entry.metadata or {}
    return Concept(
        entry.display_id or "", entry.id, entry.project_id, entry.scope, entry.topic, entry.title, entry.content,
        metadata.get("rationale"), metadata.get("question_context"), tuple(metadata.get("concepts", ())), entry.source_type,
        entry.source_ref, entry.status, entry.confidence, entry.importance, entry.created_at, entry.updated_at, score,
        VERIFICATION_HINT, evidence,
    )  # fmt: skip
