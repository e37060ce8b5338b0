"""`python -m benchmarks scale [--sections N …] [--plot FILE]`: what grows, and how, up to a million sections.

Each size is measured in a process of its own: first scan, rescan of unchanged files, catching up with changed files,
searches, memory. Every figure stands beside the bare engine's in the same run. `--plot` draws the ratios as an SVG.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from benchmarks import corpora, raw
from benchmarks.cases import WORDS, markdown, settings
from benchmarks.measure import interleaved, median, p99, resident_mb
from scaffale.docs import Docs

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = (10_000, 100_000, 1_000_000)
CHANGED = 100  # files written to between two scans
QUERIES = 200
RATIOS = {  # name: what is divided by what
    "first scan": ("scan_cpu", "bare_ingest_cpu"),
    "rescan": ("rescan_cpu", "stat_cpu"),
    "search p50": ("search_p50", "bare_search_p50"),
    "search p99": ("search_p99", "bare_search_p99"),
}
GROWTH = ("scan_cpu", "rescan_cpu", "catch_up_cpu", "search_p50", "search_p99", "resident_mb")


def main(arguments: Sequence[str]) -> int:
    """Measure each size, print the table, draw the plot."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale", description=__doc__)
    parser.add_argument("--sections", type=int, action="append", help="a size; repeatable (default: 10k, 100k, 1M)")
    parser.add_argument("--plot", metavar="FILE", help="write the ratios as an SVG")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)  # what the process of one size is called with
    said = parser.parse_args(arguments)
    if said.one:
        with tempfile.TemporaryDirectory(prefix="scaffale-scale-") as folder:
            json.dump(_measured(folder, said.one), sys.stdout)
        return 0
    rows = []
    for size in said.sections or SIZES:
        command = [sys.executable, "-m", "benchmarks", "scale", "--one", str(size)]
        ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(ran.stdout))
        print(_line(rows[-1]), flush=True)
    if len(rows) > 1:
        print(_growth(rows))
    if said.plot:
        with open(said.plot, "w", encoding="utf-8") as file:
            file.write(_plot(rows))
    return 0


# --- one size --------------------------------------------------------------------------------------------------------


def _measured(folder: str, size: int) -> dict[str, float]:
    """All figures of one size: seconds of CPU (of the process for bulk work, of the thread for searches), megabytes."""
    pieces = corpora.sections(size)
    notes = os.path.join(folder, "notes")
    paths = markdown(notes, pieces)
    asked = corpora.queries(pieces, QUERIES, WORDS)
    del pieces
    figures: dict[str, float] = {"sections": size, "files": len(paths), "bytes": sum(map(os.path.getsize, paths))}
    bare_folder = os.path.join(folder, "tantivy")
    figures["bare_ingest_cpu"] = _process_cpu(
        lambda: raw.read_parse_ingest(paths, os.path.join(folder, "bare.sqlite"), bare_folder)
    )
    with Docs(settings(folder)) as docs:
        scan = lambda: docs.scan_folder(folder_path=notes, shelf="notes")  # noqa: E731
        figures["scan_cpu"] = _process_cpu(scan)
        stats, again = interleaved([lambda _: raw.stat_all(paths), lambda _: scan()], 3)
        figures["stat_cpu"], figures["rescan_cpu"] = median(stats), median(again)
        bare = raw.BareTantivy(bare_folder)
        bare.open()
        ours, theirs = interleaved([lambda n: docs.search(query=asked[n]), lambda n: bare.search_text(asked[n])], QUERIES)
        figures["search_p50"], figures["bare_search_p50"] = median(ours), median(theirs)
        figures["search_p99"], figures["bare_search_p99"] = p99(ours), p99(theirs)
        for path in paths[:: max(1, len(paths) // CHANGED)][:CHANGED]:
            with open(path, "a", encoding="utf-8") as file:
                file.write("\nOne more line, written after the first scan.\n")
        figures["catch_up_cpu"] = _process_cpu(scan)
    figures["resident_mb"] = resident_mb()
    return figures


def _process_cpu(work: object) -> float:
    start = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - start


# --- tables and the plot ---------------------------------------------------------------------------------------------


def _line(row: dict[str, float]) -> str:
    ratios = ", ".join(f"{name} {_ratio(row, name):.2f}" for name in RATIOS)
    return (
        f"{int(row['sections']):>9,} sections in {int(row['files']):,} files, {row['bytes'] / 1e6:.0f} MB: {ratios}"
        f" of bare; scan {row['scan_cpu']:.1f} s, {CHANGED} changed files {row['catch_up_cpu'] * 1e3:.0f} ms,"
        f" search p50 {row['search_p50'] * 1e3:.2f} ms, p99 {row['search_p99'] * 1e3:.2f} ms,"
        f" {row['resident_mb']:.0f} MB resident"
    )


def _ratio(row: dict[str, float], name: str) -> float:
    ours, bare = RATIOS[name]
    return row[ours] / row[bare]


def _growth(rows: Sequence[dict[str, float]]) -> str:
    """The exponent of each figure between the smallest and the largest size: 1 is linear, 0 does not grow."""
    first, last = rows[0], rows[-1]
    span = math.log(last["sections"] / first["sections"])
    exponents = ", ".join(f"{name} {math.log(last[name] / first[name]) / span:.2f}" for name in GROWTH)
    return f"growth (figure ~ sections^x) from {int(first['sections']):,} to {int(last['sections']):,}: {exponents}"


_COLOURS = ("#0b6e99", "#c4540a", "#4d7c0f", "#7c3aed")
_LEFT, _TOP, _WIDTH, _HEIGHT = 60, 20, 480, 260


def _plot(rows: Sequence[dict[str, float]]) -> str:
    """Ratios to the bare engine over the number of sections, both axes logarithmic."""
    sizes = [row["sections"] for row in rows]
    most = max(_ratio(row, name) for row in rows for name in RATIOS) * 1.2
    low, high = math.log10(min(sizes)), math.log10(max(sizes))

    def x(size: float) -> float:
        return _LEFT + (math.log10(size) - low) / max(high - low, 1e-9) * _WIDTH

    def y(ratio: float) -> float:
        return _TOP + _HEIGHT - math.log(max(ratio, 0.5) / 0.5) / math.log(most / 0.5) * _HEIGHT

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 150} {_TOP + _HEIGHT + 50}"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    tick = 1
    while tick < most:
        parts.append(f'<path d="M{_LEFT} {y(tick):.1f}h{_WIDTH}" stroke="#dddddd"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick}×</text>')
        tick *= 2
    for size in sizes:
        parts.append(f'<text x="{x(size):.1f}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle">{int(size):,}</text>')
    under = f'x="{_LEFT + _WIDTH / 2}" y="{_TOP + _HEIGHT + 42}" text-anchor="middle"'
    parts.append(f"<text {under}>sections; CPU time against the bare engine</text>")
    for colour, name in zip(_COLOURS, RATIOS, strict=True):
        points = [(x(row["sections"]), y(_ratio(row, name))) for row in rows]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>' for px, py in points]
        parts.append(f'<text x="{points[-1][0] + 8:.1f}" y="{points[-1][1] + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])
