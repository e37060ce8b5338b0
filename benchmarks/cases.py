"""What is measured. Each case builds what it needs in a folder of its own and yields figures."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks import corpora, raw
from benchmarks.measure import Figure, interleaved, median, p99, process_cpu, resident_mb, server_cpu, show
from scaffale import settings as settings_module
from scaffale.docs import Docs
from scaffale.indexer import audit, entries, projects
from scaffale.memory import Memory
from scaffale.model import SOURCE_TYPES, EntryDraft, Project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scaffale.settings import Settings

NOW = "2026-01-01T00:00:00.000Z"
WORDS = 4
QUERIES = 200
TAIL = 64
P99_SLACK = 0.5  # two or three times of a run decide a p99: it wanders more than a median


def settings(folder: str, **environ: str) -> Settings:
    """Settings on a folder of the benchmark's own."""
    return settings_module.load({"HOME": folder, **environ}, folder)


def add(folder: str, size: int) -> Iterator[Figure]:
    """One entry, durably, against a bare transaction of the same rows: the store's part, and the whole verb."""
    texts = [piece.text for piece in corpora.sections(1_200)]
    bare = raw.entry_store(os.path.join(folder, "bare.sqlite"))
    memory = Memory(settings(folder))
    whole = Memory(settings(os.path.join(folder, "whole")))
    whole._similar = lambda *_: ()  # type: ignore[method-assign]  (looked up after the commit: no part of this figure)
    database, _ = memory._open()
    project = Project("project")
    key = audit.store_key(database.connection)
    with database.write() as connection:
        projects.register(connection, project, NOW)

    def bare_add(n: int) -> None:
        raw.add_entry(bare, f"id-{n}", texts[n], f"hash-{n}", '{"content":{"digest":"0","bytes":400}}')

    def store_add(n: int) -> None:
        draft = EntryDraft("scope", "topic", texts[n], "decision", "title", tags=("one", "two"))
        with database.write() as connection:
            entries.add(connection, f"id-{n}", project.id, draft, f"hash-{n}", "me", NOW)
            audit.record(
                connection, key, operation="add", project_id=project.id, entry_id=f"id-{n}", actor="me", outcome="ok",
                params={"topic": "topic", "content": texts[n]}, result={"deduped": False},
            )  # fmt: skip

    def verb_add(n: int) -> None:
        whole.add_entry(
            actor="me", project_id="project", scope="scope", topic="topic", title="title", content=texts[n],
            source_type="decision", tags=("one", "two"),
        )  # fmt: skip

    rounds = 600

    def fresh(arm: Callable[[int], None]) -> Callable[[int], None]:
        calls = iter(range(len(texts)))
        return lambda _: arm(next(calls))

    b, s, v = interleaved([fresh(bare_add), fresh(store_add), fresh(verb_add)], rounds)
    arms = show(("bare", median(b)), ("store", median(s)), ("verb", median(v)))
    yield Figure("add: store / bare transaction", median(s) / median(b), 1.5, arms=arms)
    yield Figure("add: whole verb / bare transaction", median(v) / median(b), 3.0, arms=arms)
    memory.close()
    whole.close()


def search(folder: str, size: int) -> Iterator[Figure]:
    """The whole search of memory, three filters, top 10, against bare Tantivy and bare FTS5 on the same rows."""
    pieces = corpora.sections(size)
    memory, rows = _filled(folder, pieces)
    tantivy = raw.BareTantivy(os.path.join(folder, "tantivy"))
    tantivy.fill(rows)
    fts5 = raw.BareFts5(os.path.join(folder, "fts5.sqlite"))
    fts5.fill(rows)
    asked = corpora.queries(pieces, QUERIES, WORDS)
    mixed = [query for words in range(2, 9) for query in corpora.queries(pieces, QUERIES // 7, words, seed=words)]
    random.Random(1).shuffle(mixed)
    where = ("project0", "active", "decision")

    def ours(query: str) -> object:
        return memory.search(query=query, project_id=where[0], source_type=where[2])

    goal = 2.0 if size >= 100_000 else 8.0  # below that the bare search is a tenth of a millisecond
    for tail in (0, TAIL):
        _leave_tail(memory, pieces, tail)
        o, b = interleaved(
            [lambda n: ours(asked[n % QUERIES]), lambda n: tantivy.search(asked[n % QUERIES], *where)], 2 * QUERIES
        )
        arms = show(("bare p50", median(b)), ("ours p50", median(o)), ("bare p99", p99(b)), ("ours p99", p99(o)))
        yield Figure(f"search {size}, tail {tail}: p50 / bare Tantivy", median(o) / median(b), goal, arms=arms)
        yield Figure(f"search {size}, tail {tail}: p99 / bare Tantivy", p99(o) / p99(b), goal, slack=P99_SLACK, arms=arms)
    similar = lambda n: memory._similar(memory._open(), where[0], pieces[n].text, 0)  # noqa: E731
    o, s, b = interleaved(
        [lambda n: ours(asked[n % QUERIES]), similar, lambda n: tantivy.search(asked[n % QUERIES], *where)], QUERIES
    )
    arms = show(("bare search of 4 words", median(b)), ("search", median(o)), ("similar", median(s)))
    yield Figure(f"search {size}: similar entries of a text / a search", median(s) / median(o), 3.0, arms=arms)
    o, f = interleaved([lambda n: ours(mixed[n]), lambda n: fts5.search(mixed[n], *where)], len(mixed) // 2)
    yield Figure(f"search {size}, 2-8 words: p50 / one FTS5 statement", median(o) / median(f), 0.2 if size >= 100_000 else 0.6,
                 arms=show(("FTS5", median(f)), ("ours", median(o))))  # fmt: skip
    yield Figure(f"search {size}: resident MB", resident_mb(), 1_500.0)
    memory.close()


def tail(folder: str, size: int) -> Iterator[Figure]:
    """A search that shows uncommitted changes from memory against one that has none to show."""
    pieces = corpora.sections(size)
    memory, _ = _filled(folder, pieces)
    asked = corpora.queries(pieces, QUERIES, WORDS)

    def measured() -> list[float]:
        (times,) = interleaved(
            [lambda n: memory.search(query=asked[n % QUERIES], project_id="project0", source_type="decision")], 2 * QUERIES
        )
        return times

    none = measured()
    for changes, goal in ((64, 1.3), (256, 2.0)):
        _leave_tail(memory, pieces, changes)
        some = measured()
        arms = show(("none", median(none)), (str(changes), median(some)))
        yield Figure(f"search {size}, tail {changes} / no tail: p50", median(some) / median(none), goal, arms=arms)
        yield Figure(f"search {size}, tail {changes} / no tail: p99", p99(some) / p99(none), goal, slack=P99_SLACK, arms=arms)
    memory.close()


def scan(folder: str, size: int) -> Iterator[Figure]:
    """A folder of Markdown: the first scan against reading, parsing and bare bulk ingest; a rescan against `os.stat`."""
    notes = os.path.join(folder, "notes")
    paths = markdown(notes, corpora.sections(size))
    whole_process = time.process_time  # bulk work uses threads of the engine

    def first(n: int) -> object:
        with Docs(settings(os.path.join(folder, str(n)))) as docs:
            return docs.scan_folder(folder_path=notes, shelf="notes")

    def bare(n: int) -> object:
        own = os.path.join(folder, f"bare{n}")
        os.makedirs(own)
        return raw.read_parse_ingest(paths, os.path.join(own, "bare.sqlite"), os.path.join(own, "tantivy"))

    with Docs(settings(os.path.join(folder, "few"))) as docs:  # imports, and patterns that are compiled when they are met
        docs.scan_folder(folder_path=os.path.dirname(paths[0]), shelf="few")
    rounds = 3 if size <= 20_000 else 1
    theirs, ours = (median(times) for times in interleaved([bare, first], rounds, warm_up=0, clock=whole_process))
    arms = show(("bare", theirs), ("ours", ours))
    yield Figure(f"first scan of {size} sections, MB/s / bare ingest", theirs / ours, 0.6, at_most=False, arms=arms)
    with Docs(settings(os.path.join(folder, "0"))) as docs:
        again = lambda _: docs.scan_folder(folder_path=notes, shelf="notes")  # noqa: E731
        same, stats = interleaved([again, lambda _: raw.stat_all(paths)], 15)
    arms = show(("os.stat", median(stats)), ("rescan", median(same)))
    yield Figure(f"rescan of the unchanged files of {size} sections / os.stat", median(same) / median(stats), 3.0, arms=arms)


def start(folder: str, size: int) -> Iterator[Figure]:
    """Cold starts: the stdio server against an empty one of the same SDK, a search from the command line against imports."""
    notes = os.path.join(folder, "notes")
    markdown(notes, corpora.sections(400))
    program = [sys.executable, "-m", "scaffale.server.cli"]
    script = os.path.join(os.path.dirname(sys.executable), "scaffale")
    if os.path.exists(script):
        program = [script]
    environ = {**os.environ, "HOME": folder}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its byte code
    subprocess.run([*program, "scan", notes], check=True, env=environ, stdout=subprocess.DEVNULL)
    empty, ours = server_cpu([[sys.executable, "-c", raw.EMPTY_SERVER], [*program, "serve"]], 7, environ)
    yield Figure("stdio server to its first tools/list / empty server", ours / empty, 1.15,
                 arms=show(("empty", empty), ("ours", ours)))  # fmt: skip
    keep = [*program, "add", "The value is returned at once.", "--topic", "t", "--scope", "s", "--project-id", "p"]
    subprocess.run(keep, check=True, env=environ, stdout=subprocess.DEVNULL)
    search = [*program, "search", "return the value"]
    bare, documents, both = process_cpu(
        [[sys.executable, "-c", raw.IMPORT_ENGINES], [*search, "--docs"], [*search, "--project-id", "p"]], 15, env=environ
    )
    for what, ours in (("--docs", documents), ("of both domains", both)):
        arms = show(("import", bare), ("ours", ours))
        yield Figure(f"scaffale search {what} / import apsw, tantivy", ours / bare, 2.5, arms=arms)


def visibility(folder: str, size: int) -> Iterator[Figure]:
    """Four processes write and search one store: how many acknowledged writes a search missed."""
    from benchmarks.visibility import measure

    seconds = float(os.environ.get("SCAFFALE_BENCH_SECONDS", "30"))
    outcome = measure(folder, processes=4, seconds=seconds)
    arms = f"{outcome.writes} writes, {outcome.searches} searches, {outcome.errors} errors in {seconds:.0f} s"
    yield Figure("4 processes: own writes missed", outcome.own_missed, 0, arms=arms)
    yield Figure("4 processes: others' writes missed", outcome.others_missed, 0, arms=arms)
    yield Figure("4 processes: errors", outcome.errors, 0, arms=arms)
    yield Figure("4 processes: share of searches with a tail", outcome.with_tail, 0.5, at_most=False, arms=arms)


CASES: dict[str, Callable[[str, int], Iterator[Figure]]] = {
    "add": add,
    "search": search,
    "tail": tail,
    "scan": scan,
    "start": start,
    "visibility": visibility,
}


# --- what cases share ------------------------------------------------------------------------------------------------


def _filled(folder: str, pieces: list[corpora.Piece]) -> tuple[Memory, list[tuple[int, str, str, str, str, str]]]:
    """A memory that holds the pieces as entries of 20 projects (Zipf), committed; and the same as rows for raw arms."""
    memory = Memory(settings(os.path.join(folder, "memory")))
    database, projection = memory._open()
    rng = random.Random(1)
    rows = []
    with database.write(durable=False) as connection:
        for n in range(20):
            projects.register(connection, Project(f"project{n}"), NOW)
        for n, piece in enumerate(pieces):
            project = f"project{min(19, int(rng.paretovariate(0.6)) - 1)}"
            source = ("decision", *SOURCE_TYPES[3:6])[n % 4]
            draft = EntryDraft(f"scope{n % 12}", f"topic{n % 50}", piece.text, source, piece.heading, tags=(f"tag{n % 200}",))
            rid = entries.add(connection, f"{n:08d}", project, draft, f"hash{n}", "me", NOW)
            rows.append((rid, piece.heading, piece.text, project, "active", source))
    projection.catch_up(bulk=True)
    return memory, rows


def _leave_tail(memory: Memory, pieces: list[corpora.Piece], changes: int) -> None:
    """Everything committed but for the last `changes` additions."""
    database, projection = memory._open()
    projection.catch_up()
    with database.write(durable=False) as connection:
        start = connection.execute("SELECT count(*) FROM memory_entries").get
        for n in range(changes):
            draft = EntryDraft("scope0", "topic0", pieces[n].text, "decision", pieces[n].heading)
            entries.add(connection, f"{start + n:08d}", "project0", draft, f"hash{start + n}", "me", NOW)
    memory.search(query="warm up", project_id="project0")
    uncommitted = projection.lag()["uncommitted"]
    assert uncommitted == changes, f"{uncommitted} changes in the tail instead of {changes}"


def markdown(folder: str, pieces: list[corpora.Piece]) -> list[str]:
    """Write the pieces as Markdown files, 40 folders of them. Returns their paths."""
    documents: dict[int, list[corpora.Piece]] = {}
    for piece in pieces:
        documents.setdefault(piece.document, []).append(piece)
    paths = []
    for number, parts in documents.items():
        path = os.path.join(folder, f"{number % 40:02d}", f"{number}.md")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"# {parts[0].title}\n\n" + "\n".join(f"## {part.heading}\n\n{part.text}\n" for part in parts))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        paths.append(path)
    return paths
