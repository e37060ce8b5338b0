"""A server process spoken to in raw lines: every request is answered once, and the end is clean.

Most of it runs over fake halls, which can be slow and fail on demand; bad lines are put to the program itself, too.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import bad_lines
import pytest
from bad_lines import ID

SERVER = os.path.join(os.path.dirname(__file__), "fake_server.py")
PROGRAM = ("-c", "import sys; from scaffale.server.cli import main; sys.exit(main())", "serve")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and process trees of POSIX")


class Peer:
    """A client that knows nothing but lines."""

    def __init__(self, *arguments: str, program: tuple[str, ...] = (SERVER,), home: str | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT if home is None else {**ENVIRONMENT, "HOME": home},
            cwd=home,
        )
        self._last_id = 1_000
        self._pending = b""

    def send(self, *lines: bytes) -> None:
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def receive(self, timeout: float = 20.0) -> dict:
        deadline = time.monotonic() + timeout
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self.process.stdout], [], [], deadline - time.monotonic())
            assert ready, "no answer in time"
            chunk = os.read(self.process.stdout.fileno(), 65_536)
            assert chunk, f"the server is gone: {self.process.stderr.read().decode()}"
            self._pending += chunk
        line, self._pending = self._pending.split(b"\n", 1)
        return json.loads(line)

    def new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def request(self, method: str, params: dict | None = None) -> dict:
        request_id = self.new_id()
        self.send(_line({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}))
        answer = self.receive()
        assert answer["id"] == request_id
        return answer

    def open(self) -> Peer:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
        assert self.request("initialize", hello)["result"]["serverInfo"]["name"] == "scaffale"
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return self

    def end(self) -> tuple[int, str]:
        """Close stdin; the exit code and what was logged."""
        self.process.stdin.close()
        code = self.process.wait(10)
        return code, self.process.stderr.read().decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):
                stream.close()


def _line(message: dict) -> bytes:
    return json.dumps(message).encode()


def _call(request_id: object, name: str, arguments: dict) -> bytes:
    params = {"name": name, "arguments": arguments}
    return _line({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})


@pytest.fixture
def start():
    peers = []

    def start(*arguments: str) -> Peer:
        peers.append(Peer(*arguments))
        return peers[-1]

    yield start
    for peer in peers:
        peer.close()


@pytest.fixture(scope="module")
def peer():
    one = Peer("all", "home")
    yield one.open()
    one.close()


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    home = str(tmp_path_factory.mktemp("home"))
    one = Peer("--tools", "all", "--project", "home", program=PROGRAM, home=home)
    yield one.open()
    one.close()


@pytest.fixture(params=["fake", "real"])
def either(request):
    """A server over fake halls, and the program as it is installed."""
    return request.getfixturevalue("peer" if request.param == "fake" else "real")


# --- every line gets what it is due ---------------------------------------------------------------------------------

REFUSED = [(line, None, bad_lines.PARSE) for line in bad_lines.NOT_JSON] + bad_lines.NO_REQUEST + bad_lines.BAD_REQUESTS
JUDGED = [(line, ID, code) for line, code in bad_lines.FOR_THE_SERVER]


@pytest.mark.parametrize(("line", "answered", "code"), REFUSED + JUDGED, ids=lambda part: repr(part)[:70])
def test_a_bad_line_is_answered_once_and_the_server_goes_on(either, line, answered, code):
    request_id = either.new_id()
    either.send(line.replace(b"ID", str(request_id).encode()))
    answer = either.receive()
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] == (request_id if answered is ID else answered)
    assert answer["error"]["code"] == code
    assert "Traceback" not in answer["error"]["message"]
    assert either.request("ping")["result"] == {}  # and nothing came in between


@pytest.mark.parametrize("line", bad_lines.SILENT)
def test_a_line_that_asks_for_nothing_is_not_answered(either, line):
    either.send(line)
    assert either.request("ping")["result"] == {}


@pytest.mark.parametrize("line", bad_lines.REFUSED_CALLS, ids=lambda line: repr(line)[90:150])
def test_bad_arguments_are_an_error_of_the_tool(either, line):
    request_id = either.new_id()
    either.send(line.replace(b"ID", str(request_id).encode()))
    answer = either.receive()
    assert answer["id"] == request_id
    assert answer["result"]["isError"] is True
    assert answer["result"]["structuredContent"]["error_code"] == "INVALID_PARAM"
    assert either.request("ping")["result"] == {}


def test_all_bad_lines_at_once(either):
    numbered = [(line, answered, either.new_id()) for line, answered, _ in REFUSED + JUDGED]
    either.send(*(line.replace(b"ID", str(number).encode()) for line, _, number in numbered))
    expected = sorted(repr(number if answered is ID else answered) for _, answered, number in numbered)
    assert sorted(repr(either.receive()["id"]) for _ in numbered) == expected
    assert either.request("ping")["result"] == {}


def test_any_id_comes_back_as_it_was_sent(either):
    for request_id in (0, -5, 2**60, "", "seven", "7", "perché", "a" * 1_000, "tab\t\u2028", "\x00"):
        either.send(_line({"jsonrpc": "2.0", "id": request_id, "method": "ping"}))
        assert either.receive()["id"] == request_id


def test_a_huge_line_is_refused_by_its_id_and_skipped(either):
    request_id = either.new_id()
    for line in (
        b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"%s"}}' % (request_id, b"x" * 17_000_000),
        b'{"method":"ping","params":{"x":"%s"},"jsonrpc":"2.0","id":%d}' % (b"x" * 17_000_000, request_id),
    ):
        either.send(line)
        answer = either.receive()
        assert answer["id"] == request_id
        assert answer["error"]["code"] == bad_lines.INVALID_REQUEST
    assert either.request("ping")["result"] == {}


def test_a_large_legal_line_is_served(either):
    either.send(_call(1, "memory_search", {"query": "x" * 2_000_000, "project_id": "p"}))
    assert either.receive()["result"]["structuredContent"]["error_code"] == "LIMIT_EXCEEDED"
    either.send(_call(2, "memory_search", {"query": "( " * 400_000, "project_id": "p"}))
    assert either.receive()["result"]["structuredContent"]["ok"] is True


def test_many_requests_at_once_are_all_answered(peer):
    count = 2_500  # more than the server reads ahead
    calls = [_call(f"many-{n}", "memory_search", {"query": "x", "project_id": "p"}) for n in range(count)]
    sender = threading.Thread(target=peer.send, args=calls)
    sender.start()
    assert {peer.receive()["id"] for _ in range(count)} == {f"many-{n}" for n in range(count)}
    sender.join()


def test_an_id_in_use_is_refused_and_free_again_afterwards(start):
    peer = start().open()
    peer.send(_call(5, "docs_management", {"action": "scan_folder", "folder_path": "/slow", "shelf": "s"}))
    peer.send(_line({"jsonrpc": "2.0", "id": 5, "method": "ping"}))
    answer = peer.receive()
    assert (answer["id"], answer["error"]["code"]) == (5, bad_lines.INVALID_REQUEST)
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    peer.send(_line(cancel))
    deadline = time.monotonic() + 10
    while "error" in answer:  # until the scan has noticed
        assert time.monotonic() < deadline
        peer.send(_line({"jsonrpc": "2.0", "id": 5, "method": "ping"}))
        answer = peer.receive()
    assert answer == {"jsonrpc": "2.0", "id": 5, "result": {}}


# --- around the calls -----------------------------------------------------------------------------------------------


def test_what_the_program_prints_goes_to_the_log(start):
    peer = start().open()
    peer.send(_call(1, "memory_search", {"query": "crash", "project_id": "p"}))
    assert peer.receive()["result"]["structuredContent"]["error_code"] == "INTERNAL"
    code, log = peer.end()
    assert code == 0
    assert "a stray line" in log
    assert "RuntimeError: a detail that nobody may see" in log


def test_progress_is_reported_when_asked_for(peer):
    arguments = {"action": "scan_folder", "folder_path": "/x", "shelf": "s"}
    params = {"name": "docs_management", "arguments": arguments}
    without = peer.request("tools/call", params)
    assert without["result"]["isError"] is False
    request_id = peer.new_id()
    asked = {**params, "_meta": {"progressToken": "\ud83d\ude00"}}
    peer.send(_line({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": asked}))
    seen = []
    while "id" not in (message := peer.receive()):
        seen.append(message["params"])
    assert message["id"] == request_id
    assert seen[-1] == {"progressToken": "\U0001f600", "progress": 100.0, "total": 100.0, "message": "/docs/100?.md"}


def test_the_later_era_needs_no_handshake(start):
    peer = start("docs")
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    found = peer.request("server/discover", {"_meta": meta})["result"]
    assert found["instructions"].startswith("Scaffale")
    listed = peer.request("tools/list", {"_meta": meta})["result"]
    assert [tool["name"] for tool in listed["tools"]] == ["docs_navigation", "docs_management"]
    assert listed["ttlMs"] > 0 and listed["cacheScope"] == "public"
    assert peer.request("initialize", {})["error"]["code"] == -32022


# --- the end --------------------------------------------------------------------------------------------------------


def ends(process: subprocess.Popen, within: float = 2.0) -> int:
    started = time.monotonic()
    code = process.wait(10)
    assert time.monotonic() - started < within
    return code


def test_it_ends_with_stdin(start):
    peer = start().open()
    peer.process.stdin.close()
    assert ends(peer.process) == 0


def test_it_ends_before_anything_was_said(start):
    peer = start()
    peer.process.stdin.close()
    assert peer.process.wait(20) == 0


def test_what_was_asked_before_the_end_is_answered(start):
    peer = start()
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
    said = [
        _line({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        *(_call(n, "memory_search", {"query": "x", "project_id": "p"}) for n in range(1, 50)),
        b"no JSON, and no newline at the end",
    ]
    out, _ = peer.process.communicate(b"\n".join(said), timeout=20)
    answers = [json.loads(line) for line in out.splitlines()]
    assert {answer["id"] for answer in answers} == {*range(50), None}
    assert len(answers) == 51
    assert all("result" in answer for answer in answers if answer["id"] is not None)
    assert peer.process.returncode == 0


def test_it_ends_in_the_middle_of_long_work(start):
    peer = start().open()
    peer.send(_call(1, "docs_management", {"action": "scan_folder", "folder_path": "/slow", "shelf": "s"}))
    peer.send(_call(2, "memory_search", {"query": "wait", "project_id": "p"}))  # cannot be interrupted
    assert peer.request("ping")["result"] == {}
    peer.process.stdin.close()
    assert ends(peer.process) == 0


@posix
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_on_a_signal(start, sent):
    peer = start().open()
    peer.process.send_signal(sent)
    assert ends(peer.process) == 0


@posix
def test_it_ends_on_a_signal_in_the_middle_of_a_call(start):
    peer = start().open()
    peer.send(_call(2, "memory_search", {"query": "wait", "project_id": "p"}))
    assert peer.request("ping")["result"] == {}
    peer.process.send_signal(signal.SIGTERM)
    assert ends(peer.process) == 0


def test_it_ends_when_nobody_reads_its_answers(start):
    peer = start().open()
    peer.process.stdout.close()
    peer.send(_line({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
    assert ends(peer.process) == 0


@posix
def test_it_ends_with_its_parent_even_if_stdin_stays_open(tmp_path):
    program = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, {SERVER!r}], stdin=0, stdout=1)\n"
        "print(child.pid, file=sys.stderr, flush=True)\n"
        "child.wait()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    try:
        child = int(parent.stderr.readline())
        parent.stdin.write(_line({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + b"\n")
        parent.stdin.flush()
        assert json.loads(parent.stdout.readline())["id"] == 1
        parent.kill()
        parent.wait()
        deadline = time.monotonic() + 2.5
        # the child held the other end of this pipe: it reads as ended when the child is gone
        ready, _, _ = select.select([parent.stdout], [], [], deadline - time.monotonic())
        assert ready and parent.stdout.read() == b""
        assert not _lives(child)
    finally:
        for stream in (parent.stdin, parent.stdout, parent.stderr):
            stream.close()


def _lives(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
