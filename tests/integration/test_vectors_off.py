"""With the extras installed and vectors off, a process is what it is without them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

HEAVY = ("numpy", "sqlite_vec", "onnxruntime", "tokenizers", "sentence_transformers", "torch", "pymilvus", "huggingface_hub")
PROGRAM = """
import json, sys
from scaffale import settings
from scaffale.docs import Docs
from scaffale.memory import Memory
from scaffale.server.cli import main
home, folder = sys.argv[1:]
said = settings.load({"HOME": home}, home)
with Docs(said, background=True) as docs, Memory(said, background=True) as memory:
    docs.scan_folder(folder_path=folder, shelf="s")
    memory.add_entry(actor="a", project_id="p", scope="s", topic="t", content="word", source_type="decision")
    docs.search(query="word"), memory.search(query="word", project_id="p")
    memory.find_similar(text="word", project_id="p")
    docs.correlate(shelf="s")
    memory.status(), docs.feature_status()
print(json.dumps(sorted(name for name in sys.modules)))
"""


def modules(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nword\n", encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(home), str(tmp_path)],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "HOME": str(home)},
    )  # fmt: skip
    return set(json.loads(ran.stdout.strip().splitlines()[-1]))


def test_nothing_of_vectors_is_imported_while_they_are_off(tmp_path):
    if importlib.util.find_spec("numpy") is None:
        pytest.skip("the extra `vectors` is not installed: there is nothing to keep out")
    found = modules(tmp_path)
    assert not found & set(HEAVY)
    assert not {name for name in found if name.startswith("scaffale.meaning")}
    assert not {"scaffale.indexer.embedding", "scaffale.indexer.vector_sync", "scaffale.backends.codes"} & found
