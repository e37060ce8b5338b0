"""`python -m benchmarks faces [page] [keys] [map] [team] [--sections N]`: the web page in a real browser, and a team's server.

`page`: what the heaviest page weighs. `keys`: from a keystroke to the painted results, over the same search called in the
server plus an empty answer fetched and painted, in one browser and one run. `map`: opening the map of 2,000 documents over
one of 200. `team`: calls a second of fifty clients at once over one client alone, on one server. It needs the extra
`browser` and Chromium, but for `team`. Times are wall times, medians: a busy machine shows in all arms alike.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchmarks import corpora
from benchmarks.cases import markdown, settings
from benchmarks.measure import Figure, median
from scaffale.docs import Docs
from scaffale.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

KEYSTROKES = 60
OPENINGS = 7
CLIENTS = 50
CALLS = 20  # of each client
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = [
    "--no-sandbox",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PAGES = ("", "?q=module", "map", "memory", "review", "health")
TYPED = """
async (text) => {
  const field = document.getElementById('q'), form = document.getElementById('search');
  performance.clearMarks('results');
  const began = performance.now();
  field.value = text;
  field.dispatchEvent(new Event('input', {bubbles: true}));
  while (!performance.getEntriesByName('results').length) await new Promise((go) => setTimeout(go, 0));
  await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));
  return performance.now() - began;
}
"""
OPENED = """
async () => {
  while (!document.querySelector('#map[data-ready]')) await new Promise((go) => setTimeout(go, 5));
  await new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)));
  return performance.now();
}
"""


def main(arguments: Sequence[str]) -> int:
    """Measure what was asked for, print the figures. Exit code 1 when a goal is missed."""
    cases: dict[str, Callable[[str, int], Iterator[Figure]]] = {"page": weight, "keys": keys, "map": map_, "team": team}
    parser = argparse.ArgumentParser(prog="python -m benchmarks faces", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of {', '.join(cases)} (default: all)")
    parser.add_argument(
        "--sections", type=int, default=100_000, help="of the corpus that `keys` searches (default: 100000)"
    )
    said = parser.parse_args(arguments)
    if unknown := set(said.cases) - set(cases):
        parser.error(f"no case {', '.join(sorted(unknown))}")
    met = True
    for name in said.cases or list(cases):
        with tempfile.TemporaryDirectory(prefix="scaffale-faces-") as folder:
            for figure in cases[name](folder, said.sections):
                met &= figure.met
                sign = "≤" if figure.at_most else "≥"
                verdict = "met" if figure.met else "MISSED"
                print(
                    f"{figure.name:<58} {figure.value:8.3f}  goal {sign} {figure.goal:<7g} {verdict:<6}  {figure.arms}",
                    flush=True,
                )
    return 0 if met else 1


# --- the page ----------------------------------------------------------------------------------------------------------


@contextmanager
def _served(folder: str, *command: str) -> Iterator[str]:
    """The address of a face that serves the stores in the folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "scaffale.server.cli", *command, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": folder, "USERPROFILE": folder},
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        yield next(word for word in line.split() if word.startswith("http"))
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=OPTIONS)
        yield browser
        browser.close()


def weight(folder: str, _: int) -> Iterator[Figure]:
    """Bytes of the heaviest page with all that it loads, as they are after unpacking; the data of the map apart."""
    _linked(folder, 30)
    heaviest, where = 0, ""
    with _served(folder, "ui", "--no-open") as address, _browser() as browser:
        for path in PAGES:
            tab = browser.new_context().new_page()
            tab.goto(address + path)
            tab.wait_for_load_state("networkidle")
            weighs = tab.evaluate(
                "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
                ".filter((each) => !each.name.endsWith('/picture')).reduce((sum, each) => sum + each.decodedBodySize, 0)"
            )
            if weighs > heaviest:
                heaviest, where = weighs, path or "search"
    yield Figure("the heaviest page, kB", heaviest / 1_000, 600, arms=where)


def keys(folder: str, sections: int) -> Iterator[Figure]:
    """A keystroke to painted results, over the server's own search and an empty answer painted."""
    pieces = corpora.sections(sections)
    notes = os.path.join(folder, "notes")
    markdown(notes, pieces)
    ours = settings(folder)
    with Docs(ours) as docs, Memory(ours) as memory:
        docs.scan_folder(folder_path=notes, shelf="s")
        for number, piece in enumerate(pieces[:200]):
            memory.add_entry(
                actor="bench",
                project_id="p",
                scope="s",
                topic=f"t{number}",
                content=piece.text,
                source_type="decision",
                dedupe=False,
            )
    words = [each.split() for each in corpora.queries(pieces, KEYSTROKES, 3)]
    typed = [
        " ".join(each[:2]) + " " + each[2][: random.Random(n).randint(1, len(each[2]))] for n, each in enumerate(words)
    ]
    own, empty, painted = [], [], []
    with (
        Docs(ours) as docs,
        Memory(ours) as memory,
        _served(folder, "ui", "--no-open") as address,
        _browser() as browser,
    ):
        tab = browser.new_page()
        tab.goto(address)
        for turn, text in enumerate(["warm up", "warmer", *typed]):
            tab.wait_for_timeout(30)
            nothing = tab.evaluate(TYPED, " " * (turn % 2 + 1))
            tab.wait_for_timeout(30)
            whole = tab.evaluate(TYPED, text)
            tab.wait_for_timeout(30)
            began = time.perf_counter()
            docs.search(query=text, limit=20, include_tags=True)
            memory.search(query=text, mode="cross_project", limit=20)
            took = (time.perf_counter() - began) * 1_000
            if turn > 1:
                own.append(took)
                empty.append(nothing)
                painted.append(whole)
    a, b, c = median(painted), median(own), median(empty)
    arms = f"painted {a:.1f} ms, search alone {b:.1f} ms, empty answer {c:.1f} ms"
    yield Figure(f"keystroke to results, {sections} sections / its parts", a / (b + c), 1.5, arms=arms)


def map_(folder: str, _: int) -> Iterator[Figure]:
    """Opening a map of 2,000 documents over one of 200; and what 10,000 take."""
    took = {}
    with _browser() as browser:
        for count in (200, 2_000, 10_000):
            home = os.path.join(folder, str(count))
            _linked(home, count)
            with _served(home, "ui", "--no-open") as address:
                times = []
                for _turn in range(OPENINGS):
                    tab = browser.new_context().new_page()
                    tab.goto(f"{address}map")
                    times.append(tab.evaluate(OPENED))
                    tab.context.close()
                took[count] = median(times)
    arms = ", ".join(f"{count} documents {each:.0f} ms" for count, each in took.items())
    yield Figure("opening a map of 2,000 documents / of 200", took[2_000] / took[200], 4.0, arms=arms)


def _linked(folder: str, count: int) -> None:
    """So many documents on seven shelves, with links between them."""
    drawn = random.Random(7)
    ours = settings(folder)
    words = "ledger invoice token cache shard deploy rollback queue worker index schema audit tenant".split()
    for number in range(count):
        place = os.path.join(folder, "notes", f"s{number % 7}", drawn.choice(words), f"{number}.md")
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(f"# {' '.join(drawn.choices(words, k=3))} {number}\n\n{' '.join(drawn.choices(words, k=40))}\n")
    with Docs(ours) as docs:
        for shelf in range(7):
            docs.scan_folder(folder_path=os.path.join(folder, "notes", f"s{shelf}"), shelf=f"shelf {shelf}")
        ids = [dot.id for dot in docs.picture().documents]
        for source in ids:
            targets = [each for each in drawn.sample(ids, drawn.choice((0, 1, 1, 2))) if each != source]
            links = [
                {"target_document_id": each, "relation": "related_to", "confidence": drawn.random()} for each in targets
            ]
            if links:
                docs.manage_document_links(
                    operation="replace_for_document", origin="manual", document_id=source, links=links
                )


# --- the team's server ---------------------------------------------------------------------------------------------------


def team(folder: str, _: int) -> Iterator[Figure]:
    """Calls a second: fifty clients at once over one alone; four reads to a write."""
    ours = settings(folder)
    texts = [piece.text for piece in corpora.sections(CLIENTS * CALLS)]
    with Memory(ours) as memory:
        for number, text in enumerate(texts[:500]):
            memory.add_entry(
                actor="bench",
                project_id="p",
                scope="s",
                topic=f"t{number}",
                content=text,
                source_type="decision",
                dedupe=False,
            )
    with _served(folder, "serve", "--http") as address:
        asyncio.run(_rate(address, 1, 50, texts))  # warm up
        rates = [
            (asyncio.run(_rate(address, 1, 300, texts)), asyncio.run(_rate(address, CLIENTS, CALLS, texts)))
            for _ in range(3)
        ]
    alone, together = (median([each[which][0] for each in rates]) for which in (0, 1))
    errors = sum(each[which][1] for each in rates for which in (0, 1))
    arms = f"alone {alone:.0f} calls/s, together {together:.0f} calls/s"
    yield Figure("fifty clients at once / one alone, calls a second", together / alone, 0.8, at_most=False, arms=arms)
    yield Figure("errors of all of them", errors, 0)


async def _rate(address: str, clients: int, calls: int, texts: Sequence[str]) -> tuple[float, int]:
    """Calls a second, and how many failed."""
    import httpx2

    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    failed = 0

    async def one(number: int) -> None:
        nonlocal failed
        async with httpx2.AsyncClient(timeout=120) as client:
            for turn in range(calls):
                text = texts[(number * calls + turn) % len(texts)]
                if turn % 5 == 0:
                    tool = "memory_add_entry"
                    said = {
                        "scope": "s",
                        "topic": "t",
                        "content": f"{number} {turn} {text}",
                        "source_type": "decision",
                        "dedupe": False,
                    }
                else:
                    tool, said = "memory_search", {"query": " ".join(text.split()[:3])}
                params = {"name": tool, "arguments": {"project_id": "p", **said}, "_meta": meta}
                headers = {
                    "Accept": "application/json, text/event-stream",
                    "MCP-Protocol-Version": "2026-07-28",
                    "Mcp-Method": "tools/call",
                    "Mcp-Name": tool,
                    "Content-Type": "application/json",
                }
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
                answer = await client.post(address, content=body, headers=headers)
                if answer.status_code != 200 or not answer.json()["result"]["structuredContent"]["ok"]:
                    failed += 1

    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(clients)))
    return clients * calls / (time.perf_counter() - began), failed
