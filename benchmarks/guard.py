"""`python -m benchmarks guard [--data DIR]`: false hints and missed requests, prompt by prompt; what reading a prompt costs.

Two sets: `samples/intent.jsonl`, our own sentences, which ship with the source and were in sight when the rules were
written; and the development prompts of `../shared/eval/prompt-intent`, where they are: real prompts to coding agents,
commands of voice assistants, descriptions of commands. Prompts labelled `ambiguous`, `reminder` or `statement` are reported
apart and count as neither.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import Figure, process_cpu, show
from scaffale.server import hooks
from scaffale.server.hooks import memory_intent, segment_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "samples", "intent.jsonl")
ROUNDS = 21
DATA = os.path.join(HERE, "..", "..", "shared", "eval")


class Prompt(NamedTuple):
    """A prompt, and whether it asks to keep something: None when people would not agree."""

    text: str
    wanted: bool | None
    kind: str


class Judged(NamedTuple):
    """What the policy says of a set: misses are requests that were not found."""

    requests: int
    missed: list[Prompt]
    others: int
    false: list[Prompt]
    apart: list[Prompt]  # hints on prompts that count as neither


def sample() -> list[Prompt]:
    """Our own sentences."""
    with open(SAMPLE, encoding="utf-8") as file:
        return [Prompt(row["text"], row["wanted"], "sample") for row in map(json.loads, file)]


def development(data: str) -> list[Prompt]:
    """The development prompts, or nothing where they are not."""
    path = os.path.join(data, "prompt-intent", "prompts.dev.jsonl.gz")
    if not os.path.exists(path):
        return []
    wanted = {"positive": True, "negative": False}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [
            Prompt(row["text"], wanted.get(row["label"]), f"{row['label']}, {row['kind']}")
            for row in map(json.loads, file)
        ]


def judge(prompts: list[Prompt]) -> Judged:
    """Ask the policy about every prompt."""
    hints = [prompt for prompt in prompts if memory_intent(prompt.text).decision == "hint"]
    hinted = set(hints)
    return Judged(
        sum(prompt.wanted is True for prompt in prompts),
        [prompt for prompt in prompts if prompt.wanted and prompt not in hinted],
        sum(prompt.wanted is False for prompt in prompts),
        [prompt for prompt in hints if prompt.wanted is False],
        [prompt for prompt in hints if prompt.wanted is None],
    )


def figures(folder: str, _size: int) -> Iterator[Figure]:
    """Hints right and wrong, the cost of the installed hook against a bare interpreter, and of twice the text."""
    for name, prompts in (("sample", sample()), ("development prompts", development(DATA))):
        if not prompts:
            continue
        judged = judge(prompts)
        arms = f"{len(judged.false)} of {judged.others}"
        yield Figure(f"guard: false hints, {name}", len(judged.false) / judged.others, 0.001, arms=arms, slack=0)
        arms = f"{len(judged.missed)} of {judged.requests} missed"
        yield Figure(
            f"guard: requests found, {name}", 1 - len(judged.missed) / judged.requests, 0.9, False, arms, slack=0.02
        )
    yield from _processes()
    yield from _growth()


def _processes() -> Iterator[Figure]:
    """The hook in the form that the installer writes, whole processes, with a prompt that holds no word of memory and with
    one that has to be read to its end."""
    hook = [sys.executable, "-I", "-S", os.path.join(os.path.dirname(hooks.__file__), "__main__.py"), "codex"]
    for name, text in (
        ("prompt of no concern", "Please fix the bug in the parser."),
        ("prompt that asks", "Danke. Ricorda che usiamo pnpm, non npm."),
    ):
        payload = {"session_id": "s", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": text}
        bare, ours = process_cpu([[sys.executable, "-c", "pass"], hook], ROUNDS, input=json.dumps(payload).encode())
        yield Figure(f"guard: hook / python -c pass, {name}", ours / bare, 2.2, arms=show(("bare", bare), ("hook", ours)))


SHAPES = {
    "prose": lambda n: "Fix the `parser`, then run it again.\nIt fails on line 3.\n\n" * (n // 60),
    "requests reported": lambda n: "He said to remember that we use pnpm. " * (n // 38),
    "one long sentence": lambda n: "so we remember that " * (n // 20),
    "paragraphs": lambda n: "He said so.\n\nRemember that the list is long.\n\n" * (n // 46),
    "a nest of quotes": lambda n: "> " * (n // 2) + "x",
    "quotes in lines": lambda n: ("> " * 200 + "x\nlazy\n") * (n // 407),
    "lists in lists": lambda n: "- " * (n // 3) + "x\n" + "\n" * (n // 3),
    "backticks": lambda n: "`" * n,
    "runs of backticks": lambda n: "` " * (n // 2),
    "comments": lambda n: "a <!--\n\n" * (n // 8) + "-->",
    "tags": lambda n: "<a b='" * (n // 6),
    "quotation marks": lambda n: '"a ' * (n // 3),
}


def _growth() -> Iterator[Figure]:
    """CPU time of twice the text, the worst of some shapes of half a megabyte; the best of three each."""
    worst, arms = 0.0, []
    for name, shape in SHAPES.items():
        times = []
        for size in (250_000, 500_000):
            text = shape(size)
            times.append(min(_cpu(text) for _ in range(3)))
        ratio = times[1] / max(times[0], 1e-4)
        arms.append(f"{name} {times[1]:.2f} s ×{ratio:.2f}")
        worst = max(worst, ratio)
    yield Figure("guard: twice the prompt / the prompt, worst shape", worst, 2.3, arms=", ".join(arms), slack=0.1)


def _cpu(text: str) -> float:
    began = time.thread_time()
    segment_prompt(text)
    memory_intent(text)
    return time.thread_time() - began


def main(arguments: list[str]) -> int:
    """Print both sets, prompt by prompt where the policy is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks guard", description=__doc__)
    parser.add_argument("--data", default=DATA, help="the folder that holds prompt-intent")
    chosen = parser.parse_args(arguments)
    wrong = 0
    for name, prompts in (("sample", sample()), ("development prompts", development(chosen.data))):
        if not prompts:
            print(f"{name}: not here")
            continue
        judged = judge(prompts)
        found = judged.requests - len(judged.missed)
        print(
            f"{name}: {len(judged.false)} false hints on {judged.others} other prompts;",
            f"{found} of {judged.requests} requests found",
        )
        for title, listed in (
            ("false hint", judged.false),
            ("missed", judged.missed),
            ("hint, counted as neither", judged.apart),
        ):
            for prompt in listed:
                print(f"  {title} ({prompt.kind}): {' '.join(prompt.text.split())[:160]}")
        wrong += len(judged.false)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
