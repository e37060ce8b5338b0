"""How a ratio is taken: arms in turn, item by item, in one process, CPU time of the thread, medians and p99."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Figure(NamedTuple):
    """One measured number with its goal. `at_most` says on which side of the goal it must lie. `arms` are shown, not judged.

    `slack` is the share of the baseline by which the gate lets it be worse; the default suits times, not counts.
    """

    name: str
    value: float
    goal: float
    at_most: bool = True
    arms: str = ""
    slack: float = 0.25  # shared machines: medians of ratios still wander by a tenth or two

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        return self.value <= self.goal if self.at_most else self.value >= self.goal


def interleaved(
    arms: Sequence[Callable[[int], object]],
    rounds: int,
    *,
    warm_up: int = 3,
    clock: Callable[[], float] = time.thread_time,
) -> list[list[float]]:
    """Seconds of CPU time (of the thread, unless told otherwise) of each arm for items 0 … rounds-1, arms in turn, in
    another order each round. What the benchmark itself holds in memory is kept out of every arm's garbage collections."""
    times: list[list[float]] = [[] for _ in arms]
    for item in range(min(warm_up, rounds)):
        for arm in arms:
            arm(item)
    gc.collect()
    gc.freeze()
    for item in range(rounds):
        for turn in range(len(arms)):
            which = (item + turn) % len(arms)
            start = clock()
            arms[which](item)
            times[which].append(clock() - start)
    gc.unfreeze()
    return times


def median(times: Sequence[float]) -> float:
    """The middle one."""
    return sorted(times)[len(times) // 2]


def p99(times: Sequence[float]) -> float:
    """The one that a hundredth exceeds."""
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.99))]


def show(*arms: tuple[str, float]) -> str:
    """Times in milliseconds, for the reader."""
    return ", ".join(f"{name} {seconds * 1000:.3f} ms" for name, seconds in arms)


def process_cpu(commands: Sequence[Sequence[str]], rounds: int, **options: object) -> list[float]:
    """Median CPU seconds (user and system) of each command as a whole process, commands in turn."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds + 1):
        for which, command in enumerate(commands):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times[which].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return [median(each[1:]) for each in times]


def server_cpu(commands: Sequence[Sequence[str]], rounds: int, environ: dict[str, str]) -> list[float]:
    """Median CPU seconds of each MCP server from its start to its first answered `tools/list`, in turn."""
    messages = (
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        '"clientInfo":{"name":"benchmark","version":"1"}}}\n'
        '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        '{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
    )
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds + 1):
        for which, command in enumerate(commands):
            with subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ, text=True
            ) as server:
                assert server.stdin
                assert server.stdout
                server.stdin.write(messages)
                server.stdin.flush()
                while '"id":2' not in server.stdout.readline().replace(" ", ""):
                    pass
                with open(f"/proc/{server.pid}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                times[which].append((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
                server.stdin.close()
                server.wait(timeout=10)
    return [median(each[1:]) for each in times]


def resident_mb() -> float:
    """Peak resident memory of this process in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024 / 1024
