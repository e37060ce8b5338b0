"""`python -m benchmarks vectors [PART …]`: what search by meaning costs, as ratios within one run, against its goals.

Parts: `scan` (engines over 100,000 made-up vectors of 384 dimensions, beside a plain numpy scan), `commit` (entries and
documents, vectors on against off), `again` (an unchanged shelf), `start` (processes with vectors off), `missing` (a model that is
not there), `cold` (embedders in fresh processes; wants `--model` and `--onnx`), `milvus` (the road to a collection).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from benchmarks import corpora
from benchmarks.cases import markdown, settings
from benchmarks.measure import Figure, interleaved, median, process_cpu, show
from scaffale import backends
from scaffale.backends.spaces import Space
from scaffale.docs import Docs
from scaffale.memory import Memory
from scaffale.model import Filter, Passage, Watermark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DIMENSIONS = 384
HASHING = Space("hashing", "hashing", "1", 256)
LOAD = """
import sys
from scaffale import backends
from scaffale.backends import spaces
backends.embedder(spaces.loaded(sys.argv[1])).embed_query("how do tokens expire")
"""


def main(argv: Sequence[str]) -> int:
    """Measure the parts and print figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks vectors", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--vectors", type=int, default=100_000, help="how many are scanned (default: 100000)")
    parser.add_argument("--bare", metavar="PYTHON", help="an interpreter with Scaffale and without the extras, for `start`")
    parser.add_argument("--model", help="a folder of a model of sentence-transformers, for `cold`")
    parser.add_argument("--onnx", help="a folder of the same model in ONNX, for `cold`")
    asked = parser.parse_args(argv)
    unknown = set(asked.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}")
    missed = 0
    for part in asked.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="scaffale-vectors-") as folder:
            for figure in PARTS[part](folder, asked):
                sign = "≤" if figure.at_most else "≥"
                missed += not figure.met
                verdict = "met" if figure.met else "MISSED"
                told = f"{figure.name:<62} {figure.value:8.3f}  goal {sign} {figure.goal:<7g} {verdict:<6}  {figure.arms}"
                print(told, flush=True)
    return 0


# --- engines -----------------------------------------------------------------------------------------------------------


def made_up(count: int, seed: int = 5) -> Any:
    """Vectors as models make them: a few hundred topics, a spectrum that falls off, all a little to one side."""
    import numpy as np

    draw = np.random.default_rng(seed)
    spectrum = np.linspace(1.0, 0.15, DIMENSIONS).astype(np.float32)
    side = draw.standard_normal(DIMENSIONS).astype(np.float32) * 0.15
    topics = draw.standard_normal((max(20, count // 250), DIMENSIONS)).astype(np.float32) * spectrum
    own = draw.standard_normal((count, DIMENSIONS)).astype(np.float32) * spectrum
    rows = topics[draw.integers(0, len(topics), count)] + 0.7 * own + side
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def scan(folder: str, asked: argparse.Namespace) -> Iterator[Figure]:
    """The ten nearest of all."""
    import numpy as np

    from scaffale.backends.codes import encode

    count = asked.vectors
    rows = made_up(count + 200)
    questions, rows = rows[count:], np.ascontiguousarray(rows[:count])
    indexes = {}
    for name in ("numpy", "sqlite-vec"):
        index = indexes[name] = backends.vector(name).open(os.path.join(folder, name), DIMENSIONS)
        began = time.thread_time()
        for at in range(0, count, 5_000):
            index.apply(
                [
                    (n, [(Passage(n, n, "", "", "", "", ("all", f"tenth={n % 10}")), [encode(rows[n])])])
                    for n in range(at, min(count, at + 5_000))
                ],
                Watermark("s", at + 1, 1),
            )
        print(f"  ({name}: {count / (time.thread_time() - began):.0f} vectors a CPU second written)", flush=True)
    texts = [question.tobytes() for question in questions]
    from array import array

    vectors = [array("f", text) for text in texts]
    tenth = Filter((("tenth=3",),))

    def whole(n: int) -> Any:
        scores = rows @ questions[n]
        return np.argpartition(-scores, 10)[:10]

    arms: list[Callable[[int], object]] = [
        whole,
        lambda n: indexes["numpy"].search(vectors[n], Filter(), 10),
        lambda n: indexes["numpy"].search(vectors[n], tenth, 10),
        lambda n: indexes["sqlite-vec"].search(vectors[n], Filter(), 10),
    ]
    plain, bits, filtered, vec = (median(times) for times in interleaved(arms, 40))
    shown = show(("numpy float32", plain), ("bits", bits), ("a tenth", filtered), ("sqlite-vec", vec))
    recall = sum(
        len({hit.id for hit in indexes["numpy"].search(vectors[n], Filter(), 10)} & set(whole(n).tolist())) for n in range(200)
    )
    yield Figure(f"{count} vectors, bits against a numpy float32 scan", bits / plain, 0.5, arms=shown)
    yield Figure(f"{count} vectors, bits against sqlite-vec float32", bits / vec, 0.15, arms=shown)
    own = np.arange(3, count, 10)
    within = 0
    for n in range(200):
        best = own[np.argsort(-(rows[own] @ questions[n]))[:10]]
        within += len({hit.id for hit in indexes["numpy"].search(vectors[n], tenth, 10)} & set(best.tolist()))
    yield Figure(f"{count} vectors, recall@10 of bits", recall / 2_000, 0.97, at_most=False)
    yield Figure(f"{count} vectors, recall@10 of bits in a tenth", within / 2_000, 0.97, at_most=False)
    yield Figure(f"{count} vectors, a filter that keeps a tenth against none", filtered / bits, 0.3, arms=shown)
    for index in indexes.values():
        index.close()


# --- writing -----------------------------------------------------------------------------------------------------------


def commit(folder: str, asked: argparse.Namespace) -> Iterator[Figure]:
    """Vectors on against off."""
    pieces = corpora.sections(1_200)
    off, on = Memory(settings(os.path.join(folder, "off"))), Memory(settings(os.path.join(folder, "on")))
    on.enable_vectors(space=HASHING)

    def add(memory: Memory) -> Callable[[int], object]:
        numbers = iter(range(10_000))
        return lambda n: memory.add_entry(
            actor="me", project_id="p", scope="s", topic="t", content=f"{next(numbers)} {pieces[n].text}", source_type="decision"
        )

    without, with_ = (median(times) for times in interleaved([add(off), add(on)], 150))
    yield Figure("an entry kept, vectors on against off", with_ / without, 1.5, arms=show(("off", without), ("on", with_)))
    files = os.path.join(folder, "files")
    markdown(files, pieces)
    times: dict[str, list[float]] = {"off": [], "on": []}
    for turn in range(6):
        for name in ("off", "on") if turn % 2 else ("on", "off"):
            with Docs(settings(os.path.join(folder, f"{name}{turn}"))) as docs:
                if name == "on":
                    docs.enable_vectors(space=HASHING)
                began = time.thread_time()
                docs.scan_folder(folder_path=files, shelf="s")
                times[name].append(time.thread_time() - began)
    without, with_ = median(times["off"]), median(times["on"])
    yield Figure("a folder scanned, vectors on against off", with_ / without, 1.5, arms=show(("off", without), ("on", with_)))
    off.close()
    on.close()


def again(folder: str, asked: argparse.Namespace) -> Iterator[Figure]:
    """An unchanged shelf."""
    files = os.path.join(folder, "files")
    markdown(files, corpora.sections(600))
    with Docs(settings(folder)) as docs:
        docs.scan_folder(folder_path=files, shelf="s")
        docs.enable_vectors(space=HASHING)
        began = time.thread_time()
        first = docs.build_vectors()
        built = time.thread_time()
        docs.resync_all()
        begun = time.thread_time()
        second = docs.build_vectors()
        done = time.thread_time()
    yield Figure(
        "texts embedded for an unchanged shelf", second.texts, 0,
        arms=f"first {first.texts}; {show(('first', built - began), ('again', done - begun))}",
    )  # fmt: skip


# --- processes ---------------------------------------------------------------------------------------------------------

MASKED = (
    "import sys; sys.modules.update(dict.fromkeys(('numpy','sqlite_vec','onnxruntime','tokenizers','torch','pymilvus',"
    "'sentence_transformers'))); sys.argv[0] = 'scaffale'; from scaffale.server.cli import entry; entry()"
)
PLAIN = "import sys; sys.argv[0] = 'scaffale'; from scaffale.server.cli import entry; entry()"


def start(folder: str, asked: argparse.Namespace) -> Iterator[Figure]:
    """`scaffale search` with the extras and without."""
    files = os.path.join(folder, "files")
    markdown(files, corpora.sections(400))
    with Docs(settings(folder)) as docs:
        docs.scan_folder(folder_path=files, shelf="s")
        docs.maintain()
    environ = {**os.environ, "HOME": folder}
    bare = [asked.bare, "-c", PLAIN] if asked.bare else [sys.executable, "-c", MASKED]
    command = ["search", "how do tokens expire", "--docs", "--json"]
    with_, without = process_cpu([[sys.executable, "-c", PLAIN, *command], [*bare, *command]], 30, env=environ)
    yield Figure(
        "a search as a process, extras installed and off against absent", with_ / without, 1.05,
        arms=show(("installed", with_), ("absent" if asked.bare else "masked", without)),
    )  # fmt: skip


def missing(folder: str, asked: argparse.Namespace) -> Iterator[Figure]:
    """A model that is not there: what a question takes beyond words alone, less the deadline."""
    files = os.path.join(folder, "files")
    markdown(files, corpora.sections(2_000))
    short = tempfile.mkdtemp(prefix="sc-")
    gone = Space("static", "gone", "1", 256, path=os.path.join(folder, "nowhere"))
    with Docs(settings(folder, MEMORY_VECTOR_FOLDER=os.path.join(short, "e"))) as docs:
        docs.scan_folder(folder_path=files, shelf="s")
        docs.enable_vectors(space=gone)
        docs.maintain()
        questions = [" ".join(piece.text.split()[3:8]) for piece in corpora.sections(60)]
        docs.search(query="warm up of everything")
        arms: list[Callable[[int], object]] = [
            lambda n: docs.search(query=questions[n], retrieval="lexical"),
            lambda n: docs.search(query=questions[n]),
        ]
        lexical, hybrid = (median(times) for times in interleaved(arms, 40, clock=time.monotonic))
        state = docs.search(query="what is said of it").vector or {}
    deadline = 0.150
    yield Figure(
        f"a question, model {state.get('state')}, against words and the deadline", hybrid / (1.1 * lexical + deadline), 1.0,
        arms=show(("words", lexical), ("both", hybrid)),
    )  # fmt: skip


def cold(folder: str, asked: argparse.Namespace) -> Iterator[Figure]:
    """From nothing to the first vector, in CPU seconds of a process."""
    if not (asked.model and asked.onnx):
        print("  (cold: give --model and --onnx)")
        return
    from scaffale.backends.spaces import dumped
    from scaffale.meaning import managing

    commands = [
        [sys.executable, "-c", LOAD, dumped(space)]
        for space in (
            managing.space_of(managing.Wish(asked.onnx, "onnx")),
            managing.space_of(managing.Wish(asked.model, "sentence-transformers")),
        )
    ]
    onnx, transformers = process_cpu(commands, 3, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    yield Figure(
        "cold start without torch against sentence-transformers", onnx / transformers, 0.1,
        arms=show(("onnx", onnx), ("sentence-transformers", transformers)),
    )  # fmt: skip


def milvus(folder: str, asked: argparse.Namespace) -> Iterator[Figure]:
    """How many owners a second the road takes to a collection, by the size of a batch; embedded, so without a network."""
    from scaffale.backends.codes import encode

    rows = made_up(4_000)
    index = backends.vector("milvus").open(os.path.join(folder, "vectors"), DIMENSIONS)
    stored = [encode(row) for row in rows]
    for batch in (16, 64, 256, 1_000):
        began, done = time.monotonic(), 0
        for at in range(0, min(len(rows), batch * 12), batch):
            passages = [Passage(n, n, "", "", "", "", (f"shelf={n % 40}",)) for n in range(at, min(len(rows), at + batch))]
            index.apply([(p.id, [(p, [stored[p.id]])]) for p in passages], Watermark("s", at + 1, 1))
            done += min(batch, len(rows) - at)
        print(f"  (milvus, embedded: batches of {batch}: {done / (time.monotonic() - began):.0f} vectors a second)", flush=True)
    from array import array

    vectors = [array("f", row.tobytes()) for row in rows[:40]]
    times = interleaved([lambda n: index.search(vectors[n], Filter((("shelf=3",),)), 10)], 40, clock=time.monotonic)
    print(f"  (milvus, embedded: {show(('a question with a filter', median(times[0])))} over {index.count()} vectors)")
    index.close()
    yield from ()


PARTS = {"scan": scan, "commit": commit, "again": again, "start": start, "missing": missing, "cold": cold, "milvus": milvus}
