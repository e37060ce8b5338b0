"""The review: one verb by which a person decides upon whatever waits, be it a concept of a session, an imported concept, a
proposal of a peer, or the edit of a promoted concept.

A decision names the digest of the very text that was shown. What has changed since is a `Conflict`, and has to be looked
at again. Each decision is one transaction: entry, number, mark in the ledger, audit row and journal line, or none of
them. No tool of agents comes here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.errors import Conflict, InvalidParam, NotFound, quoted
from scaffale.indexer import clock, entries
from scaffale.memory import concepts, waiting
from scaffale.memory.finding import SIMILAR_AT, SIMILAR_READ
from scaffale.memory.life import new_id, sha256
from scaffale.memory.proposing import Proposing
from scaffale.memory.room import masked, one_of
from scaffale.memory.sessions import SHOWN_LEFT, Sessions
from scaffale.model import DECLINED, PROMOTED, Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from scaffale.answers.ledger import Near, Preview, Review, Reviewed, Waiting
    from scaffale.indexer.database import Database
    from scaffale.indexer.entries import Row
    from scaffale.indexer.projects import Resolved
    from scaffale.indexer.proposals import Proposal
    from scaffale.indexer.sync import Projection
    from scaffale.memory.concepts import Group, Left
    from scaffale.model import Session

PAGE = 5  # candidates of a preview
MOST_NEAR = 5  # concepts that are shown beside a candidate
VERDICTS = ("accept", "decline", "merge")
_HINT = "A person decides, with `scaffale review {}` on a terminal or on the web page; no tool does."


class _Decided(NamedTuple):
    """What came of a verdict, inside its transaction."""

    entry_id: str | None = None
    number: int | None = None
    changed: bool = True
    warnings: Sequence[str] = ()


class Reviewing(Sessions, Proposing):
    """Preview, review, decide."""

    def propose_promotion(
        self,
        *,
        session_id: str,
        page: int = 1,
        page_size: int = PAGE,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Preview:
        """The concepts of a session that a person may promote, in the order of its ledger, page by page, equal ones once;
        and every other undecided concept with the reason. Writes nothing."""
        from scaffale.answers.ledger import Candidate, LeftOut, Preview
        from scaffale.indexer import ledger

        page, page_size = max(1, page), max(1, min(page_size, 50))
        resolved, session, connection = self._look(session_id, project_path, project_id)
        with connection as snapshot:
            groups, left, _ = self._sifted(snapshot, session, ledger.outline(snapshot, session))
        start = (page - 1) * page_size
        found = []
        for group in groups[start : start + page_size]:
            first = _masked_decision(group.first)
            near = self._near(resolved.project.id, group)
            similar = tuple(
                {"display_id": each.display_id, "title": each.title, "similarity": each.similarity, "cited": each.cited}
                for each in near
            )
            found.append(
                Candidate(
                    first.seq, first.phase, first.subject, first.detail, first.rationale, first.question_context,
                    first.concepts, group.seqs[1:], similar,
                )
            )  # fmt: skip
        return Preview(
            resolved.project.id, session.id, tuple(found), len(groups), page,
            page + 1 if len(groups) > start + page_size else None, tuple(LeftOut(*each) for each in _shown_left(left)),
            _HINT.format(session.id) if groups else "Nothing waits: there is nothing to review in this session.",
            resolved.warnings + _uncounted(left),
        )  # fmt: skip

    def review(
        self,
        *,
        session_id: str | None = None,
        limit: int = PAGE,
        offset: int = 0,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Review:
        """What waits for a person: the candidates of a session, or without one everything in the project, each with the text
        that is decided upon, its digest, and the promoted concepts that say nearly the same. Writes nothing."""
        from scaffale.answers.ledger import LeftOut, Review
        from scaffale.indexer import ledger, proposals

        resolved = self._resolve(project_path, project_id)
        limit, offset = max(1, min(limit, 200)), max(0, offset)
        store = self._store()
        items: list[Waiting] = []
        left: list[Left] = []
        candidates: list[tuple[str, Group]] = []
        others = 0
        found: Sequence[Proposal] = ()
        current: dict[str, Row | None] = {}
        if store:
            with store[0].read() as connection:
                if session_id is not None:
                    sessions = [self._session(connection, session_id, resolved)]
                else:
                    sessions = ledger.undecided(connection, resolved.project.id)
                    others = proposals.count(connection, resolved.project.id)
                for session in sessions:
                    groups, more, _ = self._sifted(connection, session, ledger.outline(connection, session))
                    candidates += [(session.id, group) for group in groups]
                    left += more
                wanted = limit - len(candidates[offset : offset + limit])
                if others and wanted:
                    skip = max(0, offset - len(candidates))
                    found = proposals.of_project(connection, resolved.project.id, wanted, skip)
                for proposal in found:
                    if "revises" in proposal.draft:
                        current[proposal.id] = entries.find(connection, proposal.draft["revises"])
        elif session_id is not None:
            self._look(session_id, project_path, project_id)  # says that there is no such session
        for session_of, group in candidates[offset : offset + limit]:
            items.append(waiting.concept(session_of, group, self._near(resolved.project.id, group)))
        for proposal in found:
            near = self._near_text(resolved.project.id, proposal.draft) if waiting.kind(proposal) == "imported_concept" else ()
            items.append(waiting.proposal(proposal, current.get(proposal.id), near))
        total = len(candidates) + others
        return Review(
            resolved.project.id, session_id, tuple(items), total, offset + limit if total > offset + limit else None,
            tuple(LeftOut(*each) for each in _shown_left(left)), resolved.warnings + _uncounted(left),
        )  # fmt: skip

    def decide(
        self,
        *,
        id: str,
        verdict: str,
        digest: str,
        actor: str,
        into: str | None = None,
        into_digest: str | None = None,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Reviewed:
        """What a person decides upon one thing that waits, having read the text of that digest; one transaction.

        `accept` makes an entry of it, `decline` does not, `merge` adds it to the sources of the concept `into`, whose text
        stays and was read, too (`into_digest`). The same verdict again changes nothing. `Conflict` when the text is not
        the one that was shown, or somebody decided otherwise.
        """
        from scaffale.answers.ledger import Reviewed

        said = {"id": id, "verdict": verdict, "digest": digest, "into": into, "into_digest": into_digest}
        with self._audited("ledger_review", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            one_of("verdict", verdict, VERDICTS)
            if (verdict == "merge") != (into is not None and into_digest is not None):
                raise InvalidParam("into, into_digest: the concept that is merged into, and the digest of its text")
            kind, _, rest = id.partition("/")
            nothing = NotFound(f"nothing waits as {quoted(id)} in {resolved.project.id}", project_id=resolved.project.id)
            if kind not in ("concept", "proposal") or self._store() is None:
                raise nothing
            database, projection = self._open()
            with database.write() as connection:
                work = _Verdict(connection, resolved, verdict, digest, actor, into, into_digest)
                if kind == "concept":
                    session_id, _, seq = rest.rpartition("/")
                    if not (seq.isascii() and seq.isdigit() and len(seq) <= 15):
                        raise nothing
                    session = self._session(connection, session_id, resolved)
                    done = self._upon_concept(work, id, session, int(seq))
                else:
                    done = self._upon_proposal(work, id, rest)
                shown = entries.display_id(done.number) if done.number is not None else None
                trail.done(
                    connection, entry_id=done.entry_id,
                    result={"verdict": verdict, "changed": done.changed, "display_id": shown},
                )  # fmt: skip
            projection.nudge()
        return Reviewed(
            resolved.project.id, id, verdict, done.entry_id, shown, done.changed,
            (*resolved.warnings, *done.warnings, *trail.warnings),
        )  # fmt: skip

    # --- a concept of a session ------------------------------------------------------------------------------------

    def _upon_concept(self, work: _Verdict, id: str, session: Session, seq: int) -> _Decided:
        from scaffale.indexer import ledger, registry

        connection = work.connection
        lines = ledger.outline(connection, session)
        marked = {line.about_seq: line for line in lines if line.type in (PROMOTED, DECLINED)}
        if mark := marked.get(seq):
            entry_id, number = registry.promoted(connection, session).get(seq, (None, None))
            if (mark.type == PROMOTED) == (work.verdict != "decline"):
                return _Decided(entry_id, number, changed=False)
            was = "promoted" if mark.type == PROMOTED else "declined"
            raise work.conflict(f"{id} was {was} already (seq {mark.seq}); what is recorded anew can be decided on anew")
        groups, left, _ = self._sifted(connection, session, lines)
        group = next((each for each in groups if each.first.seq == seq), None)
        if group is None:
            why = next((each.reason for each in left if each.seq == seq), "no concept of the session")
            raise work.conflict(f"{id} cannot be decided on: {why}")
        work.check(waiting.concept(session.id, group).digest)
        sources = [concepts.source_of(each, session.id) for each in (group.first, *group.also)]
        done = work.declined() if work.verdict == "decline" else work.promoted(concepts.draft_of(group, session.id), sources)
        now = clock.now()
        where = session.phases[ledger.last(connection, session)[1]]
        for each in (group.first, *group.also):
            told = f"as {entries.display_id(done.number)}" if done.number is not None else None
            mark_type = PROMOTED if done.entry_id else DECLINED
            ledger.append(
                connection, session,
                Decision(0, now, where, mark_type, each.subject, f"seq:{each.seq}", told, None, (), work.actor, None, each.seq),
            )  # fmt: skip
            if done.entry_id:
                registry.add_source(connection, session, each.seq, done.entry_id)
        return done

    # --- what lies in the queue ------------------------------------------------------------------------------------

    def _upon_proposal(self, work: _Verdict, id: str, proposal_id: str) -> _Decided:
        from scaffale.indexer import journal, proposals

        connection, resolved = work.connection, work.resolved
        found = proposals.find(connection, proposal_id)
        if found is None or found.project_id != resolved.project.id:
            raise NotFound(
                f"nothing waits as {quoted(id)} in {resolved.project.id}; somebody may have decided on it",
                project_id=resolved.project.id,
            )
        kind = waiting.kind(found)
        row = entries.find(connection, found.draft["revises"]) if kind == "edit" else None
        if kind == "edit" and row is None:
            raise work.conflict(f"{id} is an edit of a concept that is gone")
        work.check(waiting.proposal(found, row).digest)
        if work.verdict == "merge" and kind != "imported_concept":
            raise InvalidParam("verdict: only a concept is merged")
        if work.verdict == "decline":
            done = work.declined()
            journal.forget(connection, 0)  # its bytes leave the files with the next maintenance
        elif row is not None:
            done = work.edited(row, found.draft)
        elif kind == "imported_concept":
            done = work.promoted(waiting.said(found), waiting.sources(found), waiting.wanted_number(found))
        else:
            done = work.accepted(waiting.said(found))
        proposals.remove(connection, proposal_id)
        return done

    # --- what is shown beside --------------------------------------------------------------------------------------

    def _near(self, project_id: str, group: Group) -> tuple[Near, ...]:
        first = group.first
        cited = concepts.CITATION.findall(f"{first.subject} {first.detail} {first.rationale or ''}")
        return self._near_to(project_id, first.subject, first.detail, cited)

    def _near_text(self, project_id: str, draft: dict[str, Any]) -> tuple[Near, ...]:
        return self._near_to(project_id, str(draft.get("title") or draft.get("topic")), str(draft["content"]), ())

    def _near_to(self, project_id: str, subject: str, detail: str, cited: Sequence[str]) -> tuple[Near, ...]:
        """Promoted concepts that a candidate cites, that say nearly the same, or are called the same; most alike first."""
        from scaffale.text import slug, words

        store: tuple[Database, Projection] = self._open()
        rows: dict[int, tuple[float, Row]] = {}
        mine = frozenset(words(detail))
        with store[0].read() as connection:
            named = [entries.find(connection, each, project_id) for each in dict.fromkeys(cited)]
            wanted = entries.EntryFilter(project_id, topic=slug(subject), statuses=("active",), concepts=True)
            named += entries.listing(connection, wanted, MOST_NEAR, 0)[0]
        for row in named:
            if row and row.entry.display_id and row.entry.status == "active":
                theirs = frozenset(words(row.entry.content))
                rows[row.rid] = (len(mine & theirs) / max(1, len(mine | theirs)), row)
        for share, row in self._alike(store, project_id, detail, None, SIMILAR_READ, concepts=True):
            if share >= SIMILAR_AT:
                rows.setdefault(row.rid, (share, row))
        best = sorted(rows.values(), key=lambda each: (-each[0], each[1].entry.display_id or ""))[:MOST_NEAR]
        return tuple(waiting.near(masked(row), share, row.entry.display_id in cited) for share, row in best)


class _Verdict:
    """One verdict inside its transaction: what it makes of the store."""

    def __init__(
        self,
        connection: apsw.Connection,
        resolved: Resolved,
        verdict: str,
        digest: str,
        actor: str,
        into: str | None,
        into_digest: str | None,
    ) -> None:
        self.connection = connection
        self.resolved = resolved
        self.verdict = verdict
        self.actor = actor
        self._digest = digest
        self._into = into
        self._into_digest = into_digest

    def conflict(self, detail: str) -> Conflict:
        """What to raise when something stands in the way of the verdict."""
        return Conflict(detail, project_id=self.resolved.project.id)

    def check(self, digest: str) -> None:
        """Raise unless the text is the one that was shown."""
        if digest != self._digest:
            raise self.conflict("the text is not the one that was shown: look at it again")

    def declined(self) -> _Decided:
        """Nothing becomes memory."""
        return _Decided()

    def accepted(self, said: dict[str, Any]) -> _Decided:
        """The proposal of a peer becomes an entry, or is the one that says exactly this already."""
        from scaffale.memory import drafts

        draft, warnings = drafts.checked(self.resolved, said)
        digest = sha256(draft.content)
        existing = entries.find_duplicate(self.connection, self.resolved.project.id, draft.scope, digest)
        if existing:
            return _Decided(existing, warnings=[*warnings, f"entry {existing} said exactly this already"])
        entry_id = new_id()
        entries.add(self.connection, entry_id, self.resolved.project.id, draft, digest, self.actor, clock.now())
        return _Decided(entry_id, warnings=warnings)

    def promoted(self, said: dict[str, Any], sources: Sequence[dict[str, Any]], wanted: int | None = None) -> _Decided:
        """A concept becomes an entry with a number of its own; or one more source of the concept that it is merged into, or
        that says the same."""
        from scaffale.indexer import registry
        from scaffale.memory import drafts

        project = self.resolved.project.id
        subject = str(said["title"])
        if why := concepts.refusal(subject):
            raise InvalidParam(f"subject: {why}")
        key = concepts.likeness(subject, said["content"])
        row = self._target(key)
        if row is not None:
            known = concepts.sources_of(row.entry.metadata or {})
            new = [each for each in sources if each not in known]
            _, warnings = drafts.without_secrets({"rationale": [_texts(each) for each in new]}, self.resolved.settings)
            self._change(row, {"metadata": concepts.metadata_of([*known, *new])}, "merged")
            return _Decided(row.entry.id, entries.display_number(row.entry.display_id or ""), warnings=warnings)
        draft, warnings = drafts.checked(self.resolved, said, reviewed=True)
        drafts.without_secrets({"rationale": [_texts(each) for each in sources]}, self.resolved.settings)
        draft = draft._replace(metadata=concepts.metadata_of(sources))
        entry_id = new_id()
        entries.add(self.connection, entry_id, project, draft, sha256(draft.content), self.actor, clock.now())
        number = registry.add(self.connection, project, entry_id, key, wanted)
        return _Decided(entry_id, number, warnings=warnings)

    def edited(self, row: Row, draft: dict[str, Any]) -> _Decided:
        """The promoted concept says what was proposed."""
        from scaffale.indexer import registry
        from scaffale.memory import drafts

        new, warnings = drafts.changed(self.resolved, draft["changes"], row.entry)
        if "status" in draft["changes"] and draft["changes"]["status"] != row.entry.status:
            new["status"] = draft["changes"]["status"]
        now = {**row.entry._asdict(), **new}
        if why := concepts.refusal(str(now["title"] or now["topic"])):
            raise InvalidParam(f"title: {why}")
        if "content" in new:
            new["content_sha256"] = sha256(new["content"])
        if new:
            self._change(row, new, "reviewed")
            registry.liken(self.connection, row.entry.id, concepts.likeness(str(now["title"] or now["topic"]), now["content"]))
        return _Decided(row.entry.id, entries.display_number(row.entry.display_id or ""), bool(new), warnings)

    def _target(self, key: str) -> Row | None:
        """The concept that a concept becomes one more source of."""
        from scaffale.indexer import registry

        project = self.resolved.project.id
        if self._into is None:
            same = registry.like(self.connection, project, [key]).get(key)
            return entries.find(self.connection, same[0]) if same else None
        row = entries.find(self.connection, self._into, project)
        if row is None or row.entry.project_id != project or not row.entry.display_id:
            raise NotFound(f"into: no concept {quoted(self._into)} in {project}", project_id=project)
        if row.entry.status != "active":
            raise self.conflict(f"into: {row.entry.display_id} is {row.entry.status}")
        if waiting.near(masked(row), 0.0, cited=False).digest != self._into_digest:
            raise self.conflict(f"into: {row.entry.display_id} is not what was shown: look at it again")
        return row

    def _change(self, row: Row, new: dict[str, Any], operation: str) -> None:
        from scaffale.indexer import revisions

        at = revisions.next_time(row)
        revisions.change(self.connection, row, new, operation=operation, actor=self.actor, at=at)


def _texts(source: dict[str, Any]) -> str:
    """What of a source is text, to be looked through for secrets."""
    return "\n".join(filter(None, (source.get("rationale"), source.get("question_context"), *source.get("concepts", ()))))


def _masked_decision(decision: Decision) -> Decision:
    from scaffale import secrets

    return decision._replace(
        subject=secrets.mask(decision.subject),
        detail=secrets.mask(decision.detail),
        rationale=decision.rationale and secrets.mask(decision.rationale),
        question_context=decision.question_context and secrets.mask(decision.question_context),
    )


def _shown_left(left: Sequence[Left]) -> list[Left]:
    from scaffale import secrets

    return [each._replace(subject=secrets.mask(each.subject)) for each in left[:SHOWN_LEFT]]


def _uncounted(left: Sequence[Left]) -> tuple[str, ...]:
    return (f"{len(left) - SHOWN_LEFT} more concepts are left out",) if len(left) > SHOWN_LEFT else ()
