"""The process with the models, as its clients meet it: started, shared, killed, of another kind, gone by itself."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

import pytest

from scaffale.backends import daemon
from scaffale.backends.daemon import Daemon, Warming
from scaffale.backends.hashing import Hashing
from scaffale.backends.ports import EmbedderUnavailable
from scaffale.backends.spaces import Space

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no local sockets on this system")
HASHING = Space("hashing", "hashing", "1", 64)


@pytest.fixture
def folder():
    """A folder with a short name, as sockets want it; whatever process listens in it is ended."""
    made = tempfile.mkdtemp(prefix="sc-")
    yield os.path.join(made, "e")
    for each in {status["pid"] for status in [_status(os.path.join(made, "e"))] if status}:
        os.kill(each, signal.SIGKILL)
    shutil.rmtree(made, ignore_errors=True)


def _status(folder):
    try:
        return daemon.ask(folder, {"ask": "status"}, 5)[0]
    except (EmbedderUnavailable, daemon._NotThere):
        return None


def run(folder, idle=60.0):
    daemon.start(folder, idle)
    return until(lambda: _status(folder))


def until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it never came to be")


def answer(client, text):
    """The vector, as soon as there is one."""

    def ask():
        try:
            return client.embed_query(text)
        except Warming:
            return None

    return until(ask)


def test_the_first_question_starts_it_and_later_ones_are_answered(folder):
    with pytest.raises(Warming):
        Daemon(HASHING, folder, deadline=0.001).embed_query("first")  # no process starts in that time
    client = Daemon(HASHING, folder, deadline=0.05)
    assert answer(client, "how do tokens expire") == Hashing(HASHING).embed_query("how do tokens expire")
    assert client.embed_documents(["a b", "c", "d"]) == Hashing(HASHING).embed_documents(["a b", "c", "d"])
    assert _status(folder)["models"] == ["hashing"]


def test_documents_alone_start_nothing(folder):
    with pytest.raises(EmbedderUnavailable, match="no process"):
        Daemon(HASHING, folder, deadline=0.05).embed_documents(["a"])
    assert not os.path.exists(folder)


def test_it_is_for_its_user_alone(folder):
    run(folder)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(daemon.socket_path(folder)).st_mode) == 0o600


def test_there_is_one_however_many_are_started(folder):
    first = run(folder)
    for _ in range(3):
        subprocess.run([sys.executable, "-m", "scaffale.server.embedder", folder, "--idle", "60"], check=True, timeout=60)
    assert _status(folder)["pid"] == first["pid"]


def test_one_that_was_killed_is_followed_by_another(folder):
    client = Daemon(HASHING, folder, deadline=0.05)
    client._started = -daemon.START_SECONDS
    first = run(folder)
    answer(client, "before")
    os.kill(first["pid"], signal.SIGKILL)
    until(lambda: _status(folder) is None)
    assert os.path.exists(daemon.socket_path(folder)), "what it left behind is in nobody's way"
    assert answer(client, "after")
    assert _status(folder)["pid"] != first["pid"]


def test_it_goes_when_nobody_asks(folder):
    run(folder, idle=0.2)
    until(lambda: not os.path.exists(daemon.socket_path(folder)))
    assert _status(folder) is None


def test_many_ask_at_once(folder):
    client = Daemon(HASHING, folder, deadline=10.0)
    run(folder)
    answer(client, "warm")
    found = {}

    def ask(number):
        found[number] = (client.embed_query(f"word{number}"), client.embed_documents([f"doc{number}"] * 5))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    inner = Hashing(HASHING)
    assert found == {n: (inner.embed_query(f"word{n}"), inner.embed_documents([f"doc{n}"] * 5)) for n in range(16)}


def test_a_model_that_is_missing_or_changed_says_so_and_is_tried_again(folder, tmp_path):
    client = Daemon(Space("static", "m", "1", 64, path=str(tmp_path / "nowhere")), folder, deadline=5.0)
    run(folder)
    with pytest.raises(EmbedderUnavailable, match=r"not at|not installed"):
        answer(client, "a")
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    client = Daemon(Space("static", "m", "1", 64, path=str(model)), folder, deadline=5.0)
    with pytest.raises(EmbedderUnavailable, match=r"has changed|not installed"):
        answer(client, "a")


@pytest.mark.parametrize("said", [b"", b"\0\0\0\2{}", b"\0\0\0\2[]", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 64])
def test_whatever_else_listens_there_is_no_embedder(folder, said):
    os.makedirs(folder, 0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(daemon.socket_path(folder))
        listener.listen(8)

        def talk():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(10)
                    connection.sendall(said)

        threading.Thread(target=talk, daemon=True).start()
        client = Daemon(HASHING, folder, deadline=0.2)
        client._started = time.monotonic()  # it would start one of its own
        with pytest.raises(EmbedderUnavailable):
            client.embed_query("a")
        listener.shutdown(socket.SHUT_RDWR)


def test_one_that_says_nothing_is_not_waited_for(folder):
    os.makedirs(folder, 0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(daemon.socket_path(folder))
        listener.listen(8)
        with pytest.raises(EmbedderUnavailable, match="in time"):
            Daemon(HASHING, folder, deadline=0.1).embed_query("a")


def test_nonsense_ends_a_connection_and_nothing_else(folder):
    status = run(folder)
    for said in (b"", b"\0\0\0\4nope", b"\xff\xff\xff\xff", b"\0\0\0\2[]", b"\0\0\0\2{}"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(daemon.socket_path(folder))
            connection.sendall(said)
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(10)
            while connection.recv(1024):
                pass
    assert _status(folder)["pid"] == status["pid"]


def test_a_name_that_is_too_long_for_a_socket_says_what_to_do(tmp_path):
    with pytest.raises(EmbedderUnavailable, match="MEMORY_VECTOR_FOLDER"):
        Daemon(HASHING, str(tmp_path / ("x" * 120)), deadline=0.1).embed_query("a")
