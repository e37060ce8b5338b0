"""An embedder one hop away: the process that has the models, one for each user, shared by all of this user's processes.

A socket in a folder that only the user may enter, one request a connection: a frame of JSON, and a frame of JSON with the
vectors behind it. The process is started by the first question that finds none, goes when it was idle for long, and may
be killed at any time: its socket is then refused or absent, and the next question starts another. Its name bears the
version of what is said here, so that a process of another version is left to those who started it.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
import time
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scaffale.backends import spaces
from scaffale.backends.ports import EmbedderUnavailable

if TYPE_CHECKING:
    import socket as sockets
    from collections.abc import Sequence

    from scaffale.backends.ports import Vector
    from scaffale.backends.spaces import Space

PROTOCOL = 1  # to be raised with any change of what is said, or of how vectors are made
MAX_FRAME = 64 * 1024 * 1024
MAX_PATH = 100  # of a socket's name, which systems cut at 104 or 108 bytes
IDLE_SECONDS = 600
START_SECONDS = 20.0  # before another is started, should the last one not have come up
PATIENCE = 300.0  # for documents
ASK_AGAIN = 0.01
_LENGTH = struct.Struct("!I")


class Warming(EmbedderUnavailable):
    """The model is being loaded; it will serve soon."""


class Daemon:
    """The `Embedder` of a space, in the other process. `deadline` is how long a question is waited for."""

    def __init__(self, space: Space, folder: str, *, deadline: float) -> None:
        self._space = space
        self._folder = folder
        self._deadline = deadline
        self._started = -START_SECONDS

    def embed_query(self, text: str) -> Vector:
        """The vector of a question. Starts the process when there is none."""
        until = time.monotonic() + self._deadline
        while True:
            try:
                return self._ask("query", [text], max(0.01, until - time.monotonic()))[0]
            except _NotThere:
                self._start()
                reason = "the process with the model is being started"
            except Warming as error:
                reason = error.reason
            if time.monotonic() + self._deadline / 3 > until:  # in time to say that it is, and not only late
                raise Warming(reason)
            time.sleep(ASK_AGAIN)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, by a process that is there already."""
        try:
            return self._ask("documents", texts, PATIENCE)
        except _NotThere:
            raise EmbedderUnavailable("no process with the model is running") from None

    def close(self) -> None:
        """Others may be using it: it goes by itself."""

    def _ask(self, what: str, texts: Sequence[str], patience: float) -> list[Vector]:
        said, payload = ask(
            self._folder, {"ask": what, "space": spaces.dumped(self._space), "texts": list(texts)}, patience
        )
        if said.get("warming"):
            raise Warming("the model is being loaded")
        if not said.get("ok"):
            raise EmbedderUnavailable(str(said.get("reason") or "it gave no reason"), str(said.get("hint") or ""))
        size = 4 * self._space.dimensions
        if said.get("count") != len(texts) or len(payload) != size * len(texts):
            raise EmbedderUnavailable("the process with the model answered with vectors of another model")
        return [array("f", payload[at : at + size]) for at in range(0, len(payload), size)]

    def _start(self) -> None:
        if time.monotonic() - self._started < START_SECONDS:
            return
        self._started = time.monotonic()
        start(self._folder)


class _NotThere(Exception):
    """No process listens."""


def socket_path(folder: str) -> str:
    """Where the process of this version listens."""
    return os.path.join(folder, f"embedder-{PROTOCOL}.sock")


def start(folder: str, idle: float = IDLE_SECONDS) -> None:
    """Start the process; it is not waited for. Two that are started at once settle it among themselves."""
    import subprocess

    with suppress(OSError):  # no memory for it, say: the next question says that there is none
        started = subprocess.Popen(  # noqa: S603  (our own interpreter and module)
            [sys.executable, "-m", "scaffale.server.embedder", folder, "--idle", str(idle)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            close_fds=True,
            cwd=_existing(folder),
        )
        threading.Thread(target=started.wait, daemon=True).start()  # whoever dies is taken leave of


def _existing(folder: str) -> str:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def ask(folder: str, request: dict[str, Any], patience: float) -> tuple[dict[str, Any], bytes]:
    """One request to the process and its answer. Raises `EmbedderUnavailable`, or `_NotThere`."""
    import json
    import socket

    if not hasattr(socket, "AF_UNIX"):
        raise EmbedderUnavailable("this system has no local sockets, so no process can keep a model for others")
    path = socket_path(folder)
    if len(os.fsencode(path)) > MAX_PATH:
        raise EmbedderUnavailable(f"{path} is too long a name for a socket", "MEMORY_VECTOR_FOLDER names a shorter folder")
    try:
        if os.stat(path).st_uid != os.getuid():
            raise EmbedderUnavailable(f"{path} belongs to somebody else")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(patience)
            connection.connect(path)
            send(connection, json.dumps(request).encode())
            said = json.loads(receive(connection))
            payload = receive(connection) if isinstance(said, dict) and said.get("ok") else b""
    except (FileNotFoundError, ConnectionRefusedError, ConnectionResetError, BrokenPipeError, EOFError) as error:
        raise _NotThere from error
    except TimeoutError as error:
        raise EmbedderUnavailable("the process with the model did not answer in time") from error
    except (OSError, ValueError) as error:
        raise EmbedderUnavailable(f"what listens at {path} is not ours, or broken ({error})") from error
    if not isinstance(said, dict):
        raise EmbedderUnavailable(f"what listens at {path} is not ours")
    return said, payload


def send(connection: sockets.socket, data: bytes) -> None:
    """One frame."""
    connection.sendall(_LENGTH.pack(len(data)) + data)


def receive(connection: sockets.socket) -> bytes:
    """One frame. `EOFError` when the other side hangs up, `ValueError` for what is no frame of ours."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > MAX_FRAME:
        raise ValueError("a frame that is too long")
    return _exactly(connection, length)


def _exactly(connection: sockets.socket, count: int) -> bytes:
    parts = []
    while count:
        part = connection.recv(min(count, 1024 * 1024))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
