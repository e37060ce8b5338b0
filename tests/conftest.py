"""Fixtures that every test may want: settings on a folder of its own, and the halls over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis
import pytest

from scaffale import settings as settings_module
from scaffale.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scaffale.settings import Settings

ENGINES = ("tantivy", "fts5", "like")
# How long a draw takes on a machine with other work says nothing: no test is timed.
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[..., Settings]:
    """`make_settings(MEMORY_MAX_TAGS="2")`: settings as a launcher with that environment would load them."""

    def make(**environ: str) -> Settings:
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        return settings_module.load({"HOME": str(home), **environ}, str(home))

    return make


@pytest.fixture(params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def open_memory(make_settings: Callable[..., Settings]) -> Iterator[Callable[..., Memory]]:
    """`open_memory(MEMORY_LEXICAL_BACKEND="fts5")`: a memory hall, closed after the test. Calls share one store."""
    opened: list[Memory] = []

    def open_one(*, background: bool = False, **environ: str) -> Memory:
        opened.append(Memory(make_settings(**environ), background=background))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    return open_memory()
