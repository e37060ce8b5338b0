"""What is Milvus's alone: collections of others, and an address where nobody answers."""

from __future__ import annotations

import socket
import time

import pytest

from scaffale.backends import Remote, vector
from scaffale.backends.ports import EngineAway

milvus = pytest.importorskip("scaffale.backends.milvus")
if milvus.available("") is not None:
    pytest.skip(milvus.available(""), allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries that are none of ours


def test_a_collection_of_another_program_is_refused_and_left_alone(tmp_path):
    folder = str(tmp_path / "vectors-x")
    (tmp_path / "vectors-x").mkdir()
    client = milvus._client("", "", folder)
    client.create_collection(milvus._name(folder), dimension=8)
    client.insert(milvus._name(folder), [{"id": 1, "vector": [1.0] * 8}])
    client.close()
    with pytest.raises(EngineAway, match="left alone"):
        vector("milvus").open(folder, 64)
    with milvus._Border():
        client = milvus._client("", "", folder)
        assert client.query(milvus._name(folder), filter="id == 1", output_fields=["id"])
        client.close()


def test_an_address_where_nobody_answers_is_away(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(EngineAway, match="does not answer"):
        vector("milvus", Remote(f"http://127.0.0.1:{port}", "secret")).open(str(tmp_path / "v"), 64)
    assert time.monotonic() - began < 60
    vector("milvus", Remote(f"http://127.0.0.1:{port}")).discard(str(tmp_path / "v"))


def test_filters_are_quoted():
    from scaffale.model import Filter

    said = milvus._expression(Filter((('tag=a" or 1 == 1 or "', "tag=b\\"), ("project=p",))), {3, 1})
    assert said == (
        'array_contains_any(facets, ["tag=a\\" or 1 == 1 or \\"", "tag=b\\\\"]) and'
        ' array_contains_any(facets, ["project=p"]) and place in ["project=p"] and owner not in [1, 3]'
    )
