"""Where the page listens, and how it begins and ends as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from scaffale.errors import Conflict, InvalidParam
from scaffale.server.http import listen


def test_a_port_in_use_is_said_or_another_is_taken():
    with listen.bound("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(Conflict, match=f"port {port} is in use"):
            listen.bound("127.0.0.1", port)
        with listen.bound("127.0.0.1", port, or_any=True) as other:
            assert other.getsockname()[1] != port
            assert listen.address(other) == f"http://127.0.0.1:{other.getsockname()[1]}"


def test_what_is_no_port_is_refused():
    with pytest.raises(InvalidParam, match="70000"):
        listen.bound("127.0.0.1", 70_000)


@pytest.mark.parametrize("more", [(), ("--no-token",)])
def test_the_page_starts_prints_its_address_and_ends(tmp_path, more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "DOCS_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "scaffale.server.cli", "ui", "--no-open", "--port", "0", "--json", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)},
    )
    address = json.loads(process.stdout.readline())["address"]
    assert address.startswith("http://127.0.0.1:")
    assert (len(address.split("/")[3]) > 20) is not bool(more), "a token, unless told otherwise"
    with urllib.request.urlopen(address) as answer:
        assert "Scaffale" in answer.read().decode()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")
    assert list(tmp_path.iterdir()) == []
