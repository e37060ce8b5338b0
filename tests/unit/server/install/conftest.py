"""A home folder that is nobody's."""

import pytest

from scaffale.server.install.clients import Place


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def place(home):
    return Place(str(home), {})
