"""`python -m benchmarks peers [--folder FOLDER --queries FILE] [--bin FOLDER …] [--python PROGRAM …]`: other tools, beside.

One folder of Markdown, one list of queries (as `scaffale eval` reads them), each tool through a face that it has in common
with Scaffale: a search from the command line, a call of a library in one process, a tool call over MCP. For each: CPU to
index, CPU of a search, size of the index, tokens of an answer, and how often a right document is among the first 3 and 10.

Nothing is installed here. Programs are looked for in `--bin` folders and on PATH, libraries in the interpreters of
`--python`; what is not there is named as absent. Tools run with a home folder of their own and keyword search alone: no
model is loaded. Tokens are counted as words and marks, since each model counts its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from scaffale.evaluate import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, "samples")
TOP = 10
_TOKEN = re.compile(r"\w+|[^\w\s]")


class Place(NamedTuple):
    """Where a peer is measured: the notes, a home folder of its own, its environment, the interpreters to try."""

    notes: str
    home: str
    environ: dict[str, str]
    pythons: tuple[str, ...]


class Found(NamedTuple):
    """One answer: paths relative to the notes, best first; what a reader gets; CPU seconds."""

    paths: list[str]
    text: str
    cpu: float


class Absent(Exception):
    """The tool is not installed. `str(error)` says what was looked for."""


class Indexed(NamedTuple):
    """A tool that has indexed the notes: CPU seconds of that, its bytes on disk, and how to ask it."""

    cpu: float
    size: int
    search: Callable[[str], Found]
    close: Callable[[], object] = lambda: None


# --- the command line ------------------------------------------------------------------------------------------------


def _run(place: Place, *command: str) -> tuple[str, float]:
    """What a command prints, and the CPU seconds of the whole process. One that fails has found nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, check=False, capture_output=True, text=True, env=place.environ, cwd=place.home)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ran.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _program(place: Place, name: str) -> str:
    found = shutil.which(name, path=place.environ["PATH"])
    if found is None:
        raise Absent(f"no program {name}")
    return found


def _bytes(*folders: str) -> int:
    return sum(
        os.path.getsize(os.path.join(folder, name)) for top in folders for folder, _, names in os.walk(top) for name in names
    )


def scaffale_command(place: Place) -> Indexed:
    """`scaffale search`, a process a search."""
    program = [sys.executable, "-m", "scaffale.server.cli"]
    environ = {**place.environ, "PYTHONPATH": os.path.dirname(HERE)}
    place = place._replace(environ=environ)
    _, cpu = _run(place, *program, "scan", place.notes)

    def search(query: str) -> Found:
        text, seconds = _run(place, *program, "search", "--docs", "--json", "--limit", str(TOP), "--", query)
        answer = json.loads(text)
        shown = json.dumps(answer["results"], ensure_ascii=False)
        return Found([os.path.relpath(hit["file_path"], place.notes) for hit in answer["results"]], shown, seconds)

    return Indexed(cpu, _bytes(place.home), search)


def qmd(place: Place) -> Indexed:
    """npm `@tobilu/qmd`: SQLite FTS5 over Markdown; its `search` uses no model."""
    program = _program(place, "qmd")
    _, cpu = _run(place, program, "collection", "add", place.notes, "--name", "notes")

    def search(query: str) -> Found:
        text, seconds = _run(place, program, "search", "--json", "-n", str(TOP), "--", query)
        hits = json.loads(text) if text.lstrip().startswith("[") else []
        return Found([hit["file"].removeprefix("qmd://notes/") for hit in hits], text, seconds)

    return Indexed(cpu, _bytes(place.home), search)


def basic_memory(place: Place) -> Indexed:
    """PyPI `basic-memory`: notes in SQLite FTS5; `tool search-notes` is its MCP search as a command."""
    program = _program(place, "basic-memory")
    _, cpu = _run(place, program, "project", "add", "notes", place.notes)
    _run(place, program, "project", "default", "notes")

    def search(query: str) -> Found:
        text, seconds = _run(place, program, "tool", "search-notes", "--page-size", str(TOP), "--", query)
        hits = json.loads(text)["results"] if text.lstrip().startswith("{") else []
        return Found([hit["file_path"] for hit in hits if hit.get("file_path")], text, seconds)

    return Indexed(cpu, _bytes(place.home), search)


# --- libraries -------------------------------------------------------------------------------------------------------

_LIBRARY = """
import json, os, sys, time
notes, home = sys.argv[1:3]
texts = {}
for folder, _, names in os.walk(notes):
    for name in names:
        if name.endswith(".md"):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                texts[os.path.relpath(path, notes)] = file.read()
%s
print(json.dumps(cpu), flush=True)
for line in sys.stdin:
    start = time.process_time()
    best = search(json.loads(line))
    print(json.dumps([best, time.process_time() - start]), flush=True)
"""
_BM25S = """
import bm25s, Stemmer
start = time.process_time()
stemmer = Stemmer.Stemmer("english")
paths = list(texts)
index = bm25s.BM25()
index.index(bm25s.tokenize(list(texts.values()), stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
cpu = time.process_time() - start
index.save(os.path.join(home, "bm25s"))
def search(query):
    asked = bm25s.tokenize(query, stopwords="en", stemmer=stemmer, show_progress=False)
    found, scores = index.retrieve(asked, k=min(10, len(paths)), show_progress=False)
    return [paths[each] for each, score in zip(found[0], scores[0]) if score > 0]
"""
_TXTAI = """
from txtai import Embeddings
start = time.process_time()
index = Embeddings(keyword=True)
index.index(texts.items())
cpu = time.process_time() - start
index.save(os.path.join(home, "txtai"))
def search(query):
    return [path for path, _ in index.search(query, 10)]
"""
_SCAFFALE = """
from scaffale.docs import Docs
from scaffale.settings import load
docs = Docs(load({"HOME": home}, home))
start = time.process_time()
docs.scan_folder(folder_path=notes, shelf="notes")
cpu = time.process_time() - start
def search(query):
    return [os.path.relpath(hit.file_path, notes) for hit in docs.search(query=query, limit=10).results]
"""


def _library(code: str, module: str) -> Callable[[Place], Indexed]:
    def indexed(place: Place) -> Indexed:
        python = next((each for each in place.pythons if _imports(each, module, place)), None)
        if python is None:
            raise Absent(f"no module {module} in {', '.join(place.pythons)}")
        child = subprocess.Popen(
            [python, "-c", _LIBRARY % code, place.notes, place.home],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=place.environ, cwd=place.home,
        )  # fmt: skip
        said = _said(child)

        def search(query: str) -> Found:
            assert child.stdin
            child.stdin.write(json.dumps(query) + "\n")
            child.stdin.flush()
            paths, seconds = next(said)
            return Found(paths, "", seconds)

        cpu = next(said)
        return Indexed(cpu, _bytes(place.home), search, child.communicate)

    return indexed


def _said(child: subprocess.Popen[str]) -> Iterator[object]:
    assert child.stdout
    for line in child.stdout:
        if line.startswith(("[", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")):
            yield json.loads(line)


def _imports(python: str, module: str, place: Place) -> bool:
    command = [python, "-c", f"import {module}"]
    tried = subprocess.run(command, check=False, capture_output=True, env=place.environ, cwd=place.home)
    return tried.returncode == 0


# --- MCP -------------------------------------------------------------------------------------------------------------


class _Server:
    """A client of one stdio server, with the least that it takes."""

    def __init__(self, place: Place, *command: str) -> None:
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=place.environ,
            cwd=place.home,
        )  # fmt: skip
        self._next = 0
        who = {"name": "benchmark", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, object]) -> None:
        assert self._child.stdin
        self._child.stdin.write(json.dumps(message) + "\n")
        self._child.stdin.flush()

    def _ask(self, method: str, params: dict[str, object]) -> dict[str, object]:
        self._next += 1
        self._send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        assert self._child.stdout
        for line in self._child.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._next:
                result: dict[str, object] = answer["result"]
                return result
        raise RuntimeError(f"{method}: the server left")

    def call(self, tool: str, arguments: dict[str, object]) -> tuple[str, float]:
        """The text of the answer, and CPU seconds of the server (clock ticks: sum them over many calls)."""
        before = self._cpu()
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        blocks: list[dict[str, str]] = result["content"]  # type: ignore[assignment]
        return "\n".join(block.get("text", "") for block in blocks), self._cpu() - before

    def _cpu(self) -> float:
        with open(f"/proc/{self._child.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the server by closing its input."""
        self._child.communicate(timeout=20)


def scaffale_mcp(place: Place) -> Indexed:
    """`scaffale serve`, one tool call a search."""
    place = place._replace(environ={**place.environ, "PYTHONPATH": os.path.dirname(HERE)})
    server = _Server(place, sys.executable, "-m", "scaffale.server.cli", "serve")
    _, cpu = server.call("docs_management", {"action": "scan_folder", "folder_path": place.notes, "shelf": "notes"})

    def search(query: str) -> Found:
        text, seconds = server.call("docs_navigation", {"action": "search", "query": query, "limit": TOP})
        paths = [os.path.relpath(hit["file_path"], place.notes) for hit in json.loads(text.split("\n", 1)[0])]
        return Found(paths, text, seconds)

    return Indexed(cpu, _bytes(place.home), search, server.close)


def server_memory(place: Place) -> Indexed:
    """npm `@modelcontextprotocol/server-memory`: a graph in a JSONL file; a search looks for the query as one substring."""
    program = _program(place, "mcp-server-memory")
    place.environ["MEMORY_FILE_PATH"] = os.path.join(place.home, "memory.jsonl")
    server = _Server(place, program)
    made = []
    for folder, _, names in os.walk(place.notes):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            made.append({"name": os.path.relpath(path, place.notes), "entityType": "document", "observations": [text]})
    _, cpu = server.call("create_entities", {"entities": made})

    def search(query: str) -> Found:
        text, seconds = server.call("search_nodes", {"query": query})
        return Found([each["name"] for each in json.loads(text)["entities"]], text, seconds)

    return Indexed(cpu, _bytes(place.home), search, server.close)


FACES: dict[str, dict[str, Callable[[Place], Indexed]]] = {
    "command line": {"scaffale": scaffale_command, "qmd": qmd, "basic-memory": basic_memory},
    "library": {
        "scaffale": _library(_SCAFFALE, "scaffale.docs"),
        "bm25s": _library(_BM25S, "bm25s"),
        "txtai": _library(_TXTAI, "txtai"),
    },
    "MCP": {"scaffale": scaffale_mcp, "server-memory": server_memory},
}


def main(arguments: Sequence[str]) -> int:
    """Measure each tool through each face, and print a table of each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers", description=__doc__)
    parser.add_argument("--folder", default=os.path.join(SAMPLES, "en"), help="Markdown to index (default: the samples)")
    parser.add_argument("--queries", default=os.path.join(SAMPLES, "en.jsonl"), help="queries with their documents")
    parser.add_argument("--bin", action="append", default=[], help="a folder with programs of peers; repeatable")
    parser.add_argument("--python", action="append", default=[], help="an interpreter with libraries of peers; repeatable")
    parser.add_argument("--face", choices=FACES, action="append", help="only this face; repeatable")
    said = parser.parse_args(arguments)
    asked = [(each.query, set(each.expected)) for each in read(said.queries)]
    path = os.pathsep.join([*map(os.path.abspath, said.bin), os.environ["PATH"]])
    pythons = tuple(map(os.path.abspath, [*said.python, sys.executable]))
    print(f"{len(asked)} queries over {said.folder}")
    for face in said.face or FACES:
        tools = FACES[face]
        print(f"\n{face:<14} {'index':>10} {'search':>10} {'size':>9} {'tokens':>7} {'top 3':>6} {'top 10':>6}")
        for name, indexed in tools.items():
            with tempfile.TemporaryDirectory(prefix="scaffale-peers-") as home:
                notes = os.path.join(home, "notes")
                shutil.copytree(said.folder, notes)
                own = os.path.join(home, "home")
                os.makedirs(own)
                environ = {"HOME": own, "PATH": path, "PYTHONDONTWRITEBYTECODE": ""}
                try:
                    print(_row(name, indexed(Place(notes, own, environ, pythons)), asked), flush=True)
                except Absent as absent:
                    print(f"{name:<14} absent: {absent}", flush=True)
    return 0


def _row(name: str, tool: Indexed, asked: Sequence[tuple[str, set[str]]]) -> str:
    answers = [(tool.search(query), wanted) for query, wanted in asked]
    tool.close()
    cpu = sum(found.cpu for found, _ in answers) / len(answers)
    tokens = sum(len(_TOKEN.findall(found.text)) for found, _ in answers) / len(answers)
    top = [sum(bool(wanted & set(found.paths[:cut])) for found, wanted in answers) / len(answers) for cut in (3, TOP)]
    said = f"{tokens:7.0f}" if tokens else f"{'–':>7}"
    return f"{name:<14} {tool.cpu * 1e3:7.0f} ms {cpu * 1e3:7.2f} ms {tool.size / 1e3:6.0f} kB {said} {top[0]:6.0%} {top[1]:6.0%}"
