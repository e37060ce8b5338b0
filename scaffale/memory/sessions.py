"""The verbs of sessions: open one, record what is decided in it, see what holds, sum it up. None of them can approve."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, quoted
from scaffale.indexer import clock, entries, projects
from scaffale.memory.life import Life
from scaffale.memory.room import one_of
from scaffale.model import (
    CONCEPT,
    DECISION_TYPES,
    DECLINED,
    PHASES,
    PROMOTED,
    REJECTED,
    REOPENED,
    TABLE_TYPES,
    WITHDRAWN,
    Decision,
    Session,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from scaffale.answers.ledger import (
        DecisionList,
        DecisionShown,
        OpenedSession,
        Recorded,
        SessionList,
        SessionSummary,
    )
    from scaffale.indexer.ledger import Cause, Line
    from scaffale.indexer.projects import Resolved
    from scaffale.memory.concepts import Group, Left

MOST_PHASES = 64
LONGEST_PHASE = 40
SHOWN_LEFT = 200  # concepts that an answer names as left out; it counts all
_ID = re.compile(r"[\w.:+-]{1,120}")
_ABOUT = re.compile(r"\s*seq:([0-9]{1,15})\s*")


class Sessions(Life):
    """Open, record, list, sum up."""

    def open_session(
        self,
        *,
        actor: str,
        session_id: str | None = None,
        title: str | None = None,
        phases: Sequence[str] = (),
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> OpenedSession:
        """Begin a session, or go on with the one of this id. `phases` are its labels in order, F1 to F8 when none are given."""
        from scaffale.answers.ledger import OpenedSession
        from scaffale.indexer import ledger
        from scaffale.memory import drafts

        said = {"session_id": session_id, "title": title, "phases": list(phases)}
        with self._audited("ledger_open_session", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            if session_id is not None and not _ID.fullmatch(session_id):
                raise InvalidParam("session_id: up to 120 letters, digits and . : + - _")
            title = drafts.text("title", title, resolved.settings.max_title_chars)
            wanted = _phases(phases)
            _, warnings = drafts.without_secrets(
                {"session_id": session_id, "title": title, "phases": list(phases)}, resolved.settings
            )
            database, _ = self._open()
            with database.write() as connection:
                now = clock.now()
                id = session_id or _new_session_id(now)
                session = ledger.find(connection, resolved.project.id, id)
                created = session is None
                if session is None:
                    if not resolved.registered:
                        projects.register(connection, resolved.project, now, remember=resolved.remember)
                    new = Session(0, resolved.project.id, id, title, wanted or PHASES, now, actor)
                    session = ledger.open_session(connection, new)
                elif wanted and wanted != session.phases:
                    raise Conflict(
                        f"phases: the session has others already: {', '.join(session.phases)}",
                        project_id=resolved.project.id,
                    )
                elif title is not None and title != session.title:
                    warnings.append("title: the session keeps the one that it was opened with")
                seq, place = ledger.last(connection, session)
                trail.done(connection, result={"session_id": id, "created": created})
        return OpenedSession(
            resolved.project.id, id, session.title, session.phases, session.phases[place], seq, created, session.created_at,
            (*resolved.warnings, *warnings, *trail.warnings),
        )  # fmt: skip

    def record_decision(
        self,
        *,
        session_id: str,
        phase: str,
        type: str,
        actor: str,
        subject: str = "",
        detail: str = "",
        rationale: str | None = None,
        question_context: str | None = None,
        supersedes_seq: int | None = None,
        concepts: Sequence[str] = (),
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> Recorded:
        """Append one line to a session's ledger.

        Its phase is the one where the session stands, or a later one; `phase_reopened` goes back, which makes the
        decisions of the phases behind it stale. `decision_withdrawn` names its decision in the detail, as `seq:N`.
        Nothing that ended holds again by itself: what should is recorded anew. The marks of the review are not recorded here.
        """
        from scaffale.answers.ledger import Recorded
        from scaffale.indexer import ledger, registry

        said = {
            "session_id": session_id, "phase": phase, "type": type, "subject": subject, "detail": detail,
            "rationale": rationale, "question_context": question_context, "supersedes_seq": supersedes_seq,
            "concepts": list(concepts),
        }  # fmt: skip
        with self._audited("ledger_record_decision", actor, project_id, said) as trail:
            resolved = trail.resolved = self._resolve(project_path, project_id)
            wanted, warnings = _wanted(resolved, said, actor)
            database, _ = self._of_session(session_id, resolved)
            with database.write() as connection:
                session = self._session(connection, session_id, resolved)
                decision = _fitting(connection, session, wanted)
                warnings += _cited(connection, session, decision)
                seq = ledger.append(connection, session, decision)
                shaken: list[int] = []
                if decision.type in TABLE_TYPES:
                    from scaffale.memory.concepts import name_of

                    ledger.link_name(connection, session, name_of(decision.subject))
                if decision.type == REOPENED:
                    places = ledger.places_of(connection, session, registry.standing(connection, session))
                    shaken = [each for each, place in places.items() if place > session.phases.index(decision.phase)]
                elif (ended := decision.about_seq or decision.supersedes_seq) is not None:
                    shaken = [ended]
                promoted = registry.promoted(connection, session) if shaken else {}
                ids = [entries.display_id(promoted[each][1]) for each in shaken if each in promoted]
                registry.shake(connection, session, shaken, seq)
                trail.done(connection, result={"seq": seq, "shaken": ids})
        if ids:
            warnings.append(f"promoted from what this ends: {', '.join(ids)}; from now on marked as evidence: changed")
        return Recorded(
            resolved.project.id, session.id, seq, decision.at, decision.phase, decision.type, tuple(dict.fromkeys(ids)),
            (*resolved.warnings, *warnings, *trail.warnings),
        )  # fmt: skip

    def list_sessions(
        self, *, limit: int = 50, offset: int = 0, project_path: str | None = None, project_id: str | None = None
    ) -> SessionList:
        """The sessions of a project, oldest first."""
        from scaffale.answers.ledger import SessionList, SessionShown
        from scaffale.indexer import ledger

        resolved = self._resolve(project_path, project_id)
        limit, offset = max(1, min(limit, 200)), max(0, offset)
        store = self._store()
        found: list[SessionShown] = []
        total = 0
        if store:
            with store[0].read() as connection:
                total = ledger.count_sessions(connection, resolved.project.id)
                for each in ledger.sessions(connection, resolved.project.id, limit, offset):
                    seq, place = ledger.last(connection, each)
                    found.append(SessionShown(each.id, each.title, each.phases[place], seq, each.created_at))
        return SessionList(
            resolved.project.id, tuple(found), total, offset + limit if total > offset + limit else None, resolved.warnings
        )

    def list_decisions(
        self,
        *,
        session_id: str,
        which: str = "all",
        after: int = 0,
        limit: int = 100,
        project_path: str | None = None,
        project_id: str | None = None,
    ) -> DecisionList:
        """The ledger of a session, line by line: whether each decision holds, and if not, why and by which line.

        `which` is `all`, `effective` or `ended`.
        """
        from scaffale.answers.ledger import DecisionList
        from scaffale.indexer import ledger

        one_of("which", which, ("all", "effective", "ended"))
        limit = max(1, min(limit, 1_000))
        resolved, session, connection = self._look(session_id, project_path, project_id)
        with connection as snapshot:
            lines = ledger.outline(snapshot, session)
            causes = ledger.not_effective(lines)
            wanted = [
                line.seq
                for line in lines
                if line.seq > after and which in ("all", "ended" if line.seq in causes else "effective")
            ]
            shown = [_shown(each, causes) for each in ledger.decisions(snapshot, session, seqs=wanted[:limit])]
        more = wanted[limit - 1] if len(wanted) > limit else None
        return DecisionList(
            resolved.project.id, session.id, tuple(shown), len(lines), len(lines) - len(causes), more, resolved.warnings
        )

    def effective_decisions(
        self, *, session_id: str, project_path: str | None = None, project_id: str | None = None
    ) -> tuple[Decision, ...]:
        """The decisions of a session that hold: all lines but those that were withdrawn, superseded, or taken in a phase
        before which the session went back."""
        from scaffale.indexer import ledger

        _, session, connection = self._look(session_id, project_path, project_id)
        with connection as snapshot:
            causes = ledger.not_effective(ledger.outline(snapshot, session))
            return tuple(each for each in ledger.decisions(snapshot, session) if each.seq not in causes)

    def session_summary(
        self, *, session_id: str, project_path: str | None = None, project_id: str | None = None
    ) -> SessionSummary:
        """A session in short, as data and as Markdown: what was approved, what was declined, what waits, and what is not
        shown and why."""
        from scaffale.indexer import ledger
        from scaffale.memory import summary

        resolved, session, connection = self._look(session_id, project_path, project_id)
        with connection as snapshot:
            lines = ledger.outline(snapshot, session)
            found = summary.of(snapshot, session, lines, *self._sifted(snapshot, session, lines))
        return found._replace(project_id=resolved.project.id, warnings=resolved.warnings)

    # --- parts of verbs --------------------------------------------------------------------------------------------

    def _of_session(self, session_id: str, resolved: Resolved) -> Any:  # noqa: ANN401  (what `_open` gives)
        """The store, to append to a session in it."""
        if self._store() is None:
            raise _no_session(session_id, resolved)
        return self._open()

    @staticmethod
    def _session(connection: apsw.Connection, session_id: str, resolved: Resolved) -> Session:
        from scaffale.indexer import ledger

        session = ledger.find(connection, resolved.project.id, session_id)
        if session is None:
            raise _no_session(session_id, resolved)
        return session

    def _look(self, session_id: str, project_path: str | None, project_id: str | None) -> Any:  # noqa: ANN401
        """Project, session, and a snapshot to read it in."""
        resolved = self._resolve(project_path, project_id)
        store = self._store()
        if store is None:
            raise _no_session(session_id, resolved)
        with store[0].read() as connection:
            session = self._session(connection, session_id, resolved)
        return resolved, session, store[0].read()

    @staticmethod
    def _sifted(
        connection: apsw.Connection, session: Session, lines: Sequence[Line]
    ) -> tuple[list[Group], list[Left], Mapping[int, Cause]]:
        """The candidates of a session, what of its concepts is left out, and what does not hold."""
        from scaffale.indexer import ledger
        from scaffale.memory import concepts

        causes = ledger.not_effective(lines)
        decided = {line.about_seq for line in lines if line.type in (PROMOTED, DECLINED) and line.about_seq is not None}
        linked = ledger.linked_names(connection, session)
        clarified = ledger.decisions(connection, session, types=tuple(concepts.REUSABLE_TYPES))
        return (*concepts.sifted(clarified, causes, decided, linked), causes)


def _no_session(session_id: str, resolved: Resolved) -> NotFound:
    return NotFound(
        f"no session {quoted(session_id)} in project {resolved.project.id}; ledger_open_session opens one",
        project_id=resolved.project.id,
    )


def _new_session_id(now: str) -> str:
    import os

    return f"{now[:19].replace(':', '').replace('-', '')}-{os.urandom(3).hex()}"


def _phases(said: Sequence[str]) -> tuple[str, ...]:
    """The labels, trimmed; none when none were given."""
    phases = tuple(" ".join(each.split()) for each in said)
    if len(phases) > MOST_PHASES:
        raise LimitExceeded(f"phases: more than {MOST_PHASES}")
    if not all(phases) or len(set(phases)) != len(phases):
        raise InvalidParam("phases: labels in their order, each of them once, and none empty")
    if any(len(each) > LONGEST_PHASE for each in phases):
        raise LimitExceeded(f"phases: a label is longer than {LONGEST_PHASE} characters")
    return phases


# --- what may be recorded ----------------------------------------------------------------------------------------------


def _wanted(resolved: Resolved, said: dict[str, Any], actor: str) -> tuple[Decision, list[str]]:
    """The line that was asked for, as far as it can be checked without the session, and warnings."""
    from scaffale.memory import concepts, drafts

    type, settings = said["type"], resolved.settings
    if type in (PROMOTED, DECLINED):
        raise InvalidParam(f"type: {type} is written by a person's review alone (scaffale review)")
    one_of("type", type, DECISION_TYPES)
    subject, detail = said["subject"].strip(), said["detail"]
    about = None
    if type == WITHDRAWN:
        named = _ABOUT.fullmatch(detail)
        if named is None:
            raise InvalidParam("detail: a withdrawal names its decision as seq:N")
        about = int(named[1])
    if said["supersedes_seq"] is not None and type in (WITHDRAWN, REOPENED):
        raise InvalidParam(f"supersedes_seq: {type} supersedes nothing")
    if type not in (WITHDRAWN, REOPENED) and not subject:
        raise InvalidParam("subject: must not be empty")
    if type == REJECTED and not concepts.CITATION.search(f"{subject} {detail}"):
        raise InvalidParam("detail: name the memory that is rejected as mem-NNNN")
    warnings: list[str] = []
    if type == CONCEPT:
        if why := concepts.refusal(subject):
            raise InvalidParam(f"subject: {why}")
        draft = {"scope": concepts.SCOPE, "topic": subject, "title": subject, "content": detail, "source_type": CONCEPT}
        empty = dict.fromkeys(("summary", "source_ref", "source_path", "source_uri", "confidence"))
        _, warnings = drafts.checked(resolved, {**empty, **draft, "tags": (), "importance": 3}, reviewed=True)
    texts = {name: said[name] for name in ("subject", "detail", "rationale", "question_context", "concepts")}
    _, more = drafts.without_secrets(texts, settings)
    warnings += [each for each in more if each not in warnings]
    drafts.limited("subject", subject, settings.max_title_chars)
    for name in ("detail", "rationale", "question_context"):
        if said[name] is not None and len(said[name].encode()) > settings.max_entry_bytes:
            raise LimitExceeded(f"{name}: longer than {settings.max_entry_bytes} bytes (MEMORY_MAX_ENTRY_BYTES)")
    named_concepts = tuple(dict.fromkeys(name for each in said["concepts"] if (name := " ".join(each.split()))))
    if len(named_concepts) > settings.max_tags:
        raise LimitExceeded(f"concepts: more than {settings.max_tags} (MEMORY_MAX_TAGS)")
    for each in named_concepts:
        drafts.limited("concepts", each, settings.max_tag_chars)
    decision = Decision(
        0, clock.now(), said["phase"], type, subject, detail, said["rationale"], said["question_context"], named_concepts,
        actor, said["supersedes_seq"], about,
    )  # fmt: skip
    return decision, warnings


def _fitting(connection: apsw.Connection, session: Session, decision: Decision) -> Decision:
    """The line, which must fit where the session stands. Raises what is wrong with it."""
    from scaffale.indexer import ledger
    from scaffale.memory import concepts

    where = session.project_id
    if decision.phase not in session.phases:
        raise InvalidParam(f"phase: must be one of {', '.join(session.phases)}")
    place = session.phases.index(decision.phase)
    seq, now = ledger.last(connection, session)
    if decision.type == REOPENED and (seq == 0 or place > now):
        raise InvalidParam(f"phase: {decision.phase} was not reached yet; the session stands in {session.phases[now]}")
    if decision.type != REOPENED and place < now:
        raise Conflict(
            f"phase: the session stands in {session.phases[now]}; record phase_reopened with {decision.phase} first, which"
            " makes the decisions of the phases after it stale",
            project_id=where,
        )
    for name, target in (("detail", decision.about_seq), ("supersedes_seq", decision.supersedes_seq)):
        if target is None:
            continue
        found = ledger.decision(connection, session, target)
        if found is None:
            raise NotFound(f"{name}: no decision seq:{target} in session {session.id}", project_id=where)
        if found.type in ledger.ACTS:
            raise InvalidParam(f"{name}: seq:{target} is {found.type}; that stands, record what holds now")
    if decision.type == CONCEPT:
        linked = ledger.linked_names(connection, session, (concepts.name_of(decision.subject),))
        if why := concepts.refusal(decision.subject, linked):
            raise InvalidParam(f"subject: {why}")
    return decision


def _cited(connection: apsw.Connection, session: Session, decision: Decision) -> list[str]:
    """A warning for each `mem-NNNN` that a decision names and nobody knows; an error where the whole decision is about it."""
    from scaffale.memory.concepts import CITATION

    if decision.type not in (CONCEPT, REJECTED):
        return []
    said = f"{decision.subject} {decision.detail} {decision.rationale or ''}"
    unknown = [
        each for each in dict.fromkeys(CITATION.findall(said)) if entries.find(connection, each, session.project_id) is None
    ]
    if unknown and decision.type == REJECTED:
        raise NotFound(f"detail: no concept {unknown[0]} in project {session.project_id}", project_id=session.project_id)
    return [f"{each} is no concept of this project" for each in unknown]


def _shown(decision: Decision, causes: Mapping[int, Cause]) -> DecisionShown:
    from scaffale import secrets
    from scaffale.answers.ledger import DecisionShown

    cause = causes.get(decision.seq)
    texts = (decision.subject, decision.detail, decision.rationale, decision.question_context)
    subject, detail, rationale, question = (secrets.mask(text) if text else text for text in texts)
    return DecisionShown(
        decision.seq, decision.at, decision.phase, decision.type, subject or "", detail or "", rationale, question,
        decision.concepts, decision.actor, decision.supersedes_seq, cause is None, cause and cause.reason, cause and cause.by,
    )  # fmt: skip
