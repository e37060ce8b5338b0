"""`python -m benchmarks run|gate [CASE …] [--sections N]`: measure, and hold the figures to their baseline.

Other commands say more of themselves with `--help`: `quality`, `vectors`, `literals`, `answerable`, `guard`, `credentials`,
`scale`, `peers`, `faces`.

`run` prints every figure with its goal. `gate` does the same at a size that fits CI and fails when a figure is worse than
its baseline by more than the slack, or when the frozen raw arms changed. `gate --accept REASON` writes new baselines.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.measure import Figure

HERE = os.path.dirname(os.path.abspath(__file__))
BASELINES = os.path.join(HERE, "baselines.json")
OTHERS = (  # with a `main` of their own
    "quality", "literals", "answerable", "guard", "scale", "peers", "credentials", "links", "vectors", "faces",
)  # fmt: skip


def main() -> int:
    """Parse, measure, print, judge."""
    if sys.argv[1:] and sys.argv[1] in OTHERS:
        return int(import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:]))
    cases = _cases()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("command", choices=("run", "gate"))
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of {', '.join(cases)} (default: all)")
    parser.add_argument("--sections", type=int, action="append", help="corpus sizes (default: 10000 and 100000)")
    parser.add_argument("--accept", metavar="REASON", help="store these figures as the baseline, and why")
    arguments = parser.parse_args()
    unknown = set(arguments.cases) - set(cases)
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}")
    figures = measured(arguments.cases or list(cases), arguments.sections or [10_000, 100_000])
    if arguments.command == "run":
        return 0
    return judged(figures, arguments.accept)


def _cases() -> dict[str, Callable[[str, int], Iterator[Figure]]]:
    """All that can be measured, by name: what things cost, then how good answers are."""
    from benchmarks import answerable, carrying, credentials, guard, ledger, links, literals, quality, tokens
    from benchmarks.cases import CASES

    good = {"sample": quality.sample_figures, "sets": quality.set_figures}
    more = {"literals": literals.figures, "answerable": answerable.figures, "guard": guard.figures, "tokens": tokens.figures}
    more |= {"credentials": credentials.figures, "carrying": carrying.figures, "links": links.figures, "ledger": ledger.figures}
    return {**CASES, **good, **more}


def measured(names: list[str], sizes: list[int]) -> list[Figure]:
    """Run the cases and print their figures as they come. Cases that do not grow with the corpus run once."""
    from scaffale import __version__

    cases = _cases()

    print(f"scaffale {__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    figures = []
    for name in names:
        for size in sizes if name in ("search", "tail", "scan") else sizes[:1]:
            began = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="scaffale-bench-") as folder:
                for figure in cases[name](folder, size):
                    sign = "≤" if figure.at_most else "≥"
                    verdict = "met" if figure.met else "MISSED"
                    print(f"{figure.name:<58} {figure.value:8.3f}  goal {sign} {figure.goal:<7g} {verdict:<6}  {figure.arms}")
                    figures.append(figure)
            print(f"  ({name} took {time.monotonic() - began:.0f} s)", flush=True)
    return figures


def judged(figures: list[Figure], accept: str | None) -> int:
    """Hold the figures to the stored baseline; or store them."""
    with open(os.path.join(HERE, "raw.py"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    stored = {"raw_sha256": None, "figures": {}}
    if os.path.exists(BASELINES):
        with open(BASELINES, encoding="utf-8") as file:
            stored = json.load(file)
    if accept:
        stored["raw_sha256"] = digest
        for figure in figures:
            stored["figures"][figure.name] = {"value": round(figure.value, 3), "reason": accept}
        with open(BASELINES, "w", encoding="utf-8") as file:
            json.dump(stored, file, indent=2, ensure_ascii=False)
            file.write("\n")
        return 0
    problems = [] if stored["raw_sha256"] == digest else ["benchmarks/raw.py is frozen and has changed"]
    for figure in figures:
        known = stored["figures"].get(figure.name)
        if known is None:
            problems.append(f"{figure.name}: no baseline; store one with --accept REASON")
        elif not _holds(figure, known["value"]):
            problems.append(f"{figure.name}: {figure.value:.3f}, baseline {known['value']}, goal {figure.goal}")
    for problem in problems:
        print(f"GATE: {problem}", file=sys.stderr)
    print("gate:", "failed" if problems else f"{len(figures)} figures hold")
    return 1 if problems else 0


def _holds(figure: Figure, baseline: float) -> bool:
    """No worse than the baseline and its slack; a figure that meets its goal by far may use that room."""
    if figure.at_most:
        return figure.value <= max(baseline * (1 + figure.slack), min(figure.goal, baseline * 1.5))
    return figure.value >= min(baseline * (1 - figure.slack), figure.goal)


if __name__ == "__main__":
    sys.exit(main())
