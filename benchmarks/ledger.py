"""What recall costs beside a memory search, and what a session's verbs cost per decision as the session grows.

The recall asks among 2,000 promoted concepts in a project of 10,000 entries, for a session that has decided on some of
them; the memory search asks the same project the same things. Sessions hold concepts (some say the same), choices of
tables, withdrawals, supersessions and returns to earlier phases. CPU time of the thread, arms in turn.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks import corpora
from benchmarks.measure import Figure, interleaved, median, show
from scaffale import settings as settings_module
from scaffale.indexer import entries, ledger, projects, registry
from scaffale.memory import Memory
from scaffale.memory import concepts as rules
from scaffale.model import CONCEPT, PHASES, Decision, EntryDraft, Project, Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

PROJECT = "benchmark"
HOME = {"project_id": PROJECT}
NOW = "2026-01-01T00:00:00.000Z"
ENTRIES = 10_000
CONCEPTS = 2_000
QUERIES = 300
SHORT, LONG = 10_000, 100_000  # decisions
ROUNDS = 5


def figures(folder: str, size: int) -> Iterator[Figure]:
    """Recall against a memory search; growth of each verb of a session."""
    with Memory(settings_module.load({"HOME": folder}, folder)) as memory:
        pieces = corpora.sections(ENTRIES)
        _fill(memory, pieces)
        yield _recall(memory, corpora.queries(pieces, QUERIES, 4))
        yield from _growth(memory)


def _recall(memory: Memory, asked: list[str]) -> Figure:
    memory.maintain()
    recall, search = interleaved(
        [
            lambda n: memory.recall_concepts(query=asked[n], session_id="recalling", **HOME),
            lambda n: memory.search(query=asked[n], **HOME),
        ],
        QUERIES,
    )
    arms = show(("recall", median(recall)), ("memory search", median(search)))
    return Figure("recall p50 / memory search p50", median(recall) / median(search), 1.5, arms=arms)


def _growth(memory: Memory) -> Iterator[Figure]:
    """Time per decision in a session of 100,000 over that in one of 10,000: 1 is linear."""
    last = {"short": SHORT, "long": LONG}

    def record(session: str) -> object:
        last[session] += 1
        return memory.record_decision(
            session_id=session, phase=PHASES[-1], type=CONCEPT, subject=f"Recorded {last[session]}", detail="x", actor="a", **HOME
        )

    verbs = {
        "opening": lambda session: memory.open_session(session_id=session, actor="a", **HOME),
        "recording": record,
        "preview": lambda session: memory.propose_promotion(session_id=session, **HOME),
        "summary": lambda session: memory.session_summary(session_id=session, **HOME),
        "review": lambda session: memory.review(session_id=session, **HOME),
    }
    for name, verb in verbs.items():
        short, long = interleaved([lambda _, verb=verb: verb("short"), lambda _, verb=verb: verb("long")], ROUNDS, warm_up=1)
        arms = show((f"{SHORT:,}", median(short)), (f"{LONG:,}", median(long)))
        constant = name in ("opening", "recording")  # of these the whole must not grow, and least of all with the session
        growth = median(long) / median(short) / (1 if constant else LONG / SHORT)
        yield Figure(f"session of 100,000, {name}: growth over 10,000", growth, 1.5, arms=arms)


# --- what is measured on -----------------------------------------------------------------------------------------------


def _fill(memory: Memory, pieces: list[corpora.Piece]) -> None:
    with memory._open()[0].write() as connection:
        projects.register(connection, Project(PROJECT), NOW)
        sessions = [
            ledger.open_session(connection, Session(0, PROJECT, name, None, PHASES, NOW, "a"))
            for name in ("recalling", "short", "long")
        ]
        for number, piece in enumerate(pieces[CONCEPTS:]):
            draft = EntryDraft("scope", f"topic-{number % 50}", piece.text, "decision", piece.title[:200])
            entries.add(connection, f"entry-{number}", PROJECT, draft, str(number), "a", NOW)
        for number, piece in enumerate(pieces[:CONCEPTS]):
            _promoted(connection, sessions[0], number, piece)
        _decide(connection, sessions[1], SHORT, pieces)
        _decide(connection, sessions[2], LONG, pieces)


def _promoted(connection: apsw.Connection, session: Session, number: int, piece: corpora.Piece) -> None:
    subject = f"{piece.title} {number}"[:200]
    decision = Decision(0, NOW, "F1", CONCEPT, subject, piece.text, "said so", piece.heading, (), "a", None, None)
    metadata = rules.metadata_of([rules.source_of(decision, "recalling")])
    draft = EntryDraft(rules.SCOPE, subject.lower(), piece.text, CONCEPT, subject, metadata=metadata)
    entries.add(connection, f"concept-{number}", PROJECT, draft, str(number), "a", NOW)
    registry.add(connection, PROJECT, f"concept-{number}", rules.likeness(subject, piece.text))
    if number % 40 == 0:  # what the session has decided on
        registry.add_source(connection, session, ledger.append(connection, session, decision), f"concept-{number}")


def _decide(connection: apsw.Connection, session: Session, count: int, pieces: list[corpora.Piece]) -> None:
    chance = random.Random(count)
    place, far = 0, count // len(PHASES)
    for seq in range(1, count + 1):
        piece = pieces[chance.randrange(len(pieces))]
        what = chance.random()
        place = max(place, min(seq // far, len(PHASES) - 1))
        type, about, supersedes, subject = CONCEPT, None, None, f"{piece.title} {chance.randrange(count)}"[:200]
        if what < 0.4:
            type, subject = "table_excluded", f"table_{chance.randrange(1_000)}"
            ledger.link_name(connection, session, subject)
        elif what < 0.5 and seq > 1:
            type, about = "decision_withdrawn", chance.randrange(1, seq)
        elif what < 0.55 and seq > 1:
            supersedes = chance.randrange(1, seq)
        elif what < 0.551:
            type, place = "phase_reopened", max(0, place - 1)
        decision = Decision(0, NOW, PHASES[place], type, subject, piece.text[:400], None, None, (), "a", supersedes, about)
        ledger.append(connection, session, decision)
