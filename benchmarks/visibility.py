"""Several processes write and search one store for a while; every write that was acknowledged is looked for.

A writer notes each acknowledged token in a file that all read. Each search asks for the newest own or the newest foreign
token. The writer lock of the index is free: the background threads commit as they do in servers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import NamedTuple

WORKER = "benchmarks.visibility"


class Outcome(NamedTuple):
    """Sums over all processes. `with_tail` is the share of searches that had uncommitted changes to show."""

    writes: int
    searches: int
    own_missed: int
    others_missed: int
    errors: int
    with_tail: float


def measure(folder: str, *, processes: int, seconds: float, backend: str = "auto") -> Outcome:
    """Run the processes on a store in `folder` and sum up what they saw."""
    os.makedirs(folder, exist_ok=True)
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", WORKER, folder, str(number), str(processes), str(seconds), backend],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    seen = [json.loads(worker.communicate(timeout=seconds * 3 + 60)[0]) for worker in workers]
    total = {key: sum(each[key] for each in seen) for key in seen[0]}
    with_tail = total.pop("with_tail") / max(1, total["searches"])
    return Outcome(**total, with_tail=with_tail)


def work(folder: str, number: int, processes: int, seconds: float, backend: str) -> dict[str, int]:
    """One process: write, then look for the newest own and foreign tokens."""
    from scaffale import settings
    from scaffale.errors import ScaffaleError
    from scaffale.memory import Memory

    memory = Memory(settings.load({"HOME": folder, "MEMORY_LEXICAL_BACKEND": backend}, folder), background=True)
    counts = dict.fromkeys(("writes", "searches", "own_missed", "others_missed", "errors", "with_tail"), 0)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        token = f"token{number}x{counts['writes']}"
        try:
            memory.add_entry(
                actor="bench", project_id="p", scope="s", topic="t", source_type="agent_note",
                content=f"{token} of a shared store",
            )  # fmt: skip
            counts["writes"] += 1
            _note(folder, number, token)
            for whose, wanted in (("own", token), ("others", _newest(folder, (number + 1) % processes))):
                if wanted:
                    found = memory.search(query=wanted, project_id="p", limit=1)
                    counts["searches"] += 1
                    counts["with_tail"] += bool(memory._open()[1]._handle and memory._open()[1]._handle.overlaid())
                    if not found.results or wanted not in found.results[0].snippet.replace(">>>", "").replace("<<<", ""):
                        counts[f"{whose}_missed"] += 1
        except ScaffaleError as error:
            sys.stderr.write(f"{error}\n")
            counts["errors"] += 1
    memory.close()
    return counts


def _note(folder: str, number: int, token: str) -> None:
    path = os.path.join(folder, f"newest-{number}")
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(token)
    os.replace(f"{path}.new", path)


def _newest(folder: str, number: int) -> str | None:
    try:
        with open(os.path.join(folder, f"newest-{number}"), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    print(json.dumps(work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])))
