"""A process that records concepts and decides upon them until it is killed; it prints a verdict after it was answered.

`python review_worker.py HOME SEED STATEMENT`. With a STATEMENT above 0 it decides upon what waits first, and kills itself
before that statement of its first verdict; with 0 it works at random until somebody else kills it. Lines: `ready`,
`ID VERDICT`, `done`.
"""

from __future__ import annotations

import os
import random
import signal
import sys

from scaffale import settings
from scaffale.memory import Memory

HOME = {"project_id": "p"}


def say(*words):
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def decide(memory, shown, verdict):
    into = {}
    if verdict == "merge" and shown.similar:
        into = {"into": shown.similar[0].display_id, "into_digest": shown.similar[0].digest}
    elif verdict == "merge":
        verdict = "accept"
    memory.decide(id=shown.id, verdict=verdict, digest=shown.digest, actor="worker", **into, **HOME)
    say(shown.id, verdict)


def die_before(memory, statement):
    """Kill this process before that statement that its connection is asked to run."""
    count = 0

    def trace(*_):
        nonlocal count
        count += 1
        if count == statement:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    memory._open()[0].connection.exec_trace = trace


def work(memory, chance, seed):
    memory.open_session(session_id="s", actor="worker", **HOME)
    number = 0
    while True:
        for _ in range(chance.randrange(1, 4)):
            number += 1
            memory.record_decision(
                session_id="s", phase="F1", type="concept_clarified", actor="worker", subject=f"Concept {seed} {number}",
                detail=f"one two three four five six seven eight nine {chance.randrange(9)}", **HOME,
            )  # fmt: skip
        for shown in memory.review(limit=3, **HOME).waiting:
            decide(memory, shown, chance.choice(("accept", "accept", "decline", "merge")))


if __name__ == "__main__":
    home, seed, statement = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    memory = Memory(settings.load({"HOME": home, "MEMORY_LEXICAL_BACKEND": "fts5"}, home), background=not statement)
    say("ready")
    if statement:
        shown = memory.review(**HOME).waiting[0]
        die_before(memory, statement)
        decide(memory, shown, "accept")
        say("done")
    else:
        work(memory, random.Random(seed), seed)
