"""Every lexical engine, alone and with its writer lock held by another live process."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from scaffale import backends

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scaffale.backends.ports import LexicalIndex

HOLD = """
import sys
from scaffale import backends
index = backends.lexical(sys.argv[1]).open(sys.argv[2])
with index.writer():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=backends.LEXICAL)
def engine(request: pytest.FixtureRequest) -> backends.Engine:
    found = backends.lexical(request.param)
    assert found.name == request.param, "the engine under test must be installed"
    return found


@pytest.fixture
def index(engine: backends.Engine, tmp_path: Path) -> Iterator[LexicalIndex]:
    opened = engine.open(str(tmp_path / "index"))
    yield opened
    opened.close()


@pytest.fixture
def hold_writer(engine: backends.Engine, tmp_path: Path) -> Iterator[None]:
    """Another process holds the writer lock of `index` for the whole test."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, engine.name, str(tmp_path / "index")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        yield
        assert holder.poll() is None
        holder.communicate()
