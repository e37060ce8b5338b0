"""Which engine serves, and what is said when it is not the one that was wanted."""

from __future__ import annotations

import sys

import pytest

from scaffale import backends
from scaffale.backends import fts5


@pytest.fixture
def without_tantivy(monkeypatch):
    monkeypatch.setitem(sys.modules, "tantivy", None)
    monkeypatch.delitem(sys.modules, "scaffale.backends.tantivy", raising=False)
    monkeypatch.delattr(backends, "tantivy", raising=False)


@pytest.fixture
def without_fts5(monkeypatch):
    monkeypatch.setattr(fts5, "available", lambda: False)


def test_the_best_engine_serves_unless_one_is_named():
    assert backends.lexical("auto")[:2] == backends.lexical("tantivy")[:2]
    for name in backends.LEXICAL:
        engine = backends.lexical(name)
        assert (engine.name, engine.warning) == (name, None)
    assert len({backends.lexical(name).identity for name in backends.LEXICAL}) == 3


def test_without_tantivy_fts5_serves_aloud(without_tantivy):
    for choice in ("auto", "tantivy"):
        engine = backends.lexical(choice)
        assert engine.name == "fts5"
        assert "tantivy is not available; fts5 serves" in engine.warning
    assert backends.lexical("fts5").warning is None


def test_without_both_like_serves_aloud(without_tantivy, without_fts5):
    assert "tantivy is not available; like serves" in backends.lexical("auto").warning
    assert "fts5 is not available; like serves" in backends.lexical("fts5").warning


def test_a_hall_serves_on_the_last_engine_and_says_so(without_tantivy, without_fts5, open_memory):
    memory = open_memory()
    memory.add_entry(
        actor="t", project_id="p", scope="s", topic="t", content="100% of the lock_writers", source_type="decision"
    )
    found = memory.search(query="100% lock_writers", project_id="p")
    assert found.total == 1
    assert found.lexical_backend == memory.status().lexical_backend == "like"
    for warnings in (found.warnings, memory.status().warnings):
        assert any("like serves" in warning for warning in warnings)
    assert memory.status().features["fts"] is False
    assert memory.search(query="%%", project_id="p").total == 0, "no pattern of the engine"
    assert memory.search(query="%", project_id="p").total == 1, "a sign that stands there"
