"""A page over halls of its own, as a browser that obeys nothing would call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from scaffale.server.halls import Halls
from scaffale.server.web.app import build

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "t0ken"
GUIDE = """# Guide

See [the other](other.md) and [the web](https://example.org/x).

## Recovery

The write-ahead log is replayed.
"""


class Face:
    """The page of one test: `get` and `post` below its token, and the halls behind it."""

    def __init__(self, client: TestClient, halls: Halls) -> None:
        self.client = client
        self.halls = halls
        self.pass_ = client.app.state.web.pass_

    def get(self, path: str, **more: object):
        return self.client.get(f"/{TOKEN}{path}", **more)

    def post(self, path: str, data: dict[str, str], **more: object):
        return self.client.post(f"/{TOKEN}{path}", data={"pass": self.pass_, **data}, follow_redirects=False, **more)


@pytest.fixture
def face(make_settings, tmp_path) -> Iterator[Face]:
    settings = make_settings()
    halls = Halls.over(settings)
    app = build(halls, settings, TOKEN, "ada")
    with TestClient(app, base_url="http://127.0.0.1:7340", raise_server_exceptions=False) as client:
        yield Face(client, halls)


@pytest.fixture
def shelf(face: Face, tmp_path):
    """Two documents that know each other; returns their ids."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "guide.md").write_text(GUIDE, encoding="utf-8")
    (notes / "other.md").write_text("# Other\n\nSomething else.\n", encoding="utf-8")
    face.halls.docs.scan_folder(folder_path=str(notes), shelf="notes")
    return {dot.title: dot.id for dot in face.halls.docs.picture().documents}


@pytest.fixture
def entry(face: Face) -> str:
    """One active entry; returns its id."""
    added = face.halls.memory.add_entry(
        actor="a", project_id="app", scope="backend", topic="auth", title="Expiry is inclusive",
        content="Use < for the *expiry* of tokens.", source_type="decision", tags=["jwt"],
    )  # fmt: skip
    return added.entry_id
