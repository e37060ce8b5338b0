"""The process that has the models, for all processes of one user: `python -m scaffale.server.embedder FOLDER`.

Rules of this file: one process at a time, by a lock that dies with it; the socket is for its user alone; it knows no
store, only texts and vectors; a question never waits for more than a few documents. It goes by itself when nobody has
asked for long, and keeps nothing that would be missed when it is killed.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from scaffale import backends
from scaffale.backends import daemon, spaces
from scaffale.backends.ports import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scaffale.backends.ports import Embedder, Vector
    from scaffale.backends.spaces import Space

SLICE = 2  # documents between which a question may come in
RETRY_SECONDS = 5.0  # before a model that could not be loaded is tried again


class Models:
    """The models in use, each loaded once, by a thread of its own."""

    def __init__(self, load: Callable[[Space], Embedder] = backends.embedder) -> None:
        self._load = load
        self._guard = threading.Lock()
        self._slots: dict[Space, _Slot] = {}

    def answer(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """What is said to a request, and the vectors behind it."""
        what = request.get("ask")
        if what == "status":
            with self._guard:
                loaded = [slot.space.model for slot in self._slots.values() if slot.embedder]
            return {"ok": True, "pid": os.getpid(), "protocol": daemon.PROTOCOL, "models": loaded}, b""
        try:
            space = spaces.loaded(str(request.get("space")))
            texts = [str(text) for text in request["texts"]]
        except (KeyError, TypeError, ValueError):
            return {"ok": False, "reason": "a request that is none"}, b""
        with self._guard:
            slot = self._slots.get(space)
            if slot is None or slot.may_be_tried_again():
                slot = self._slots[space] = _Slot(space, self._load)
        if slot.error:
            return {"ok": False, "reason": slot.error.reason, "hint": slot.error.hint}, b""
        if slot.embedder is None:
            return {"ok": False, "warming": True}, b""
        try:
            vectors = slot.query(texts) if what == "query" else slot.documents(texts)
        except EmbedderUnavailable as error:
            return {"ok": False, "reason": error.reason, "hint": error.hint}, b""
        except MemoryError:
            return {"ok": False, "reason": f"{space.model} ran out of memory"}, b""
        return {"ok": True, "count": len(vectors)}, b"".join(vector.tobytes() for vector in vectors)


class _Slot:
    """One model: on its way, there, or not to be had."""

    def __init__(self, space: Space, load: Callable[[Space], Embedder]) -> None:
        self.space = space
        self.embedder: Embedder | None = None
        self.error: EmbedderUnavailable | None = None
        self._failed = 0.0
        self._asking = 0
        self._turn = threading.Condition()
        self._busy = False
        threading.Thread(target=self._become, args=(load,), daemon=True).start()

    def may_be_tried_again(self) -> bool:
        return self.error is not None and time.monotonic() - self._failed > RETRY_SECONDS

    def query(self, texts: Sequence[str]) -> list[Vector]:
        """Before any documents that wait."""
        with self._turn:
            self._asking += 1
            self._turn.wait_for(lambda: not self._busy)
            self._asking -= 1
            self._busy = True
        try:
            assert self.embedder
            return [self.embedder.embed_query(text) for text in texts]
        finally:
            self._next()

    def documents(self, texts: Sequence[str]) -> list[Vector]:
        """A few at a time."""
        found: list[Vector] = []
        assert self.embedder
        for at in range(0, len(texts), SLICE):
            with self._turn:
                self._turn.wait_for(lambda: not self._busy and not self._asking)
                self._busy = True
            try:
                found += self.embedder.embed_documents(texts[at : at + SLICE])
            finally:
                self._next()
        return found

    def _next(self) -> None:
        with self._turn:
            self._busy = False
            self._turn.notify_all()

    def _become(self, load: Callable[[Space], Embedder]) -> None:
        try:
            self.embedder = load(self.space)
        except EmbedderUnavailable as error:
            self.error = error
        except BaseException as error:  # a library that panics must not leave questions waiting for ever
            self.error = EmbedderUnavailable(f"{self.space.model} cannot be loaded ({type(error).__name__})")
        self._failed = time.monotonic()


class Service:
    """The socket, and who is served at it."""

    def __init__(self, folder: str, idle: float, models: Models) -> None:
        self._folder = folder
        self._idle = idle
        self._models = models
        self._last = time.monotonic()
        self._serving = 0
        self._guard = threading.Lock()

    def run(self) -> int:
        """Serve until idle. 0 also when another process does so already."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        os.chmod(self._folder, 0o700)
        path = daemon.socket_path(self._folder)
        lock = _locked(path + ".lock")
        if lock is None:
            return 0
        with suppress(FileNotFoundError):
            os.unlink(path)  # of one that was killed
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            before = os.umask(0o177)
            listener.bind(path)
            os.umask(before)
            listener.listen(64)
            listener.settimeout(min(1.0, self._idle))
            try:
                self._listen(listener)
            finally:
                with suppress(OSError):
                    os.unlink(path)
                os.close(lock)
        return 0

    def _listen(self, listener: socket.socket) -> None:
        while True:
            with self._guard:
                if not self._serving and time.monotonic() - self._last > self._idle:
                    return
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            with self._guard:
                self._serving += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, EOFError, ValueError), connection:  # who hangs up, or talks nonsense, has left
            connection.settimeout(daemon.PATIENCE)
            request = json.loads(daemon.receive(connection))
            said, payload = self._models.answer(request if isinstance(request, dict) else {})
            daemon.send(connection, json.dumps(said).encode())
            if said.get("ok"):
                daemon.send(connection, payload)
        with self._guard:
            self._serving -= 1
            self._last = time.monotonic()


def _locked(path: str) -> int | None:
    """The lock of the one process; `None` while another has it."""
    import fcntl

    lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def main(argv: Sequence[str] | None = None) -> int:
    """Serve."""
    parser = argparse.ArgumentParser(prog="python -m scaffale.server.embedder", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--idle", type=float, default=daemon.IDLE_SECONDS)
    arguments = parser.parse_args(argv)
    os.environ.update(OFFLINE)
    return Service(arguments.folder, arguments.idle, Models()).run()


OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}

if __name__ == "__main__":
    sys.exit(main())
