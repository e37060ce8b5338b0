"""A server over HTTP as a process of its own: fifty clients at once, lost connections, its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx2
import pytest

from scaffale import settings as settings_module
from scaffale.memory import Memory

HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def environment(home):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "DOCS_"))}
    return {**kept, "HOME": str(home), "USERPROFILE": str(home)}


class Served:
    """`scaffale serve --http` on a free port."""

    def __init__(self, home, *more: str) -> None:
        self.log = home / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scaffale.server.cli", "serve", "--http", "--port", "0", *more],
                stdout=subprocess.PIPE, stderr=log, text=True, env=environment(home),
            )  # fmt: skip
        line = self.process.stdout.readline()
        assert "http://" in line, line + self.log.read_text()
        self.address = line.split()[-1]
        host, _, port = self.address.removeprefix("http://").partition("/")[0].rpartition(":")
        self.place = (host.strip("[]"), int(port))

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(30)
        self.process.stdout.close()
        return code


@pytest.fixture
def home(tmp_path):
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def hall(home):
    with Memory(settings_module.load({"HOME": str(home)}, str(home))) as memory:
        yield memory


@pytest.fixture
def served(home, hall):
    """A running server, ended after the test."""
    server = Served(home)
    yield server
    if server.process.poll() is None:
        try:
            server.stop()
        finally:
            server.process.kill()


def said(tool, **arguments):
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": META},
    }


def written(number, content):
    return said(
        "memory_add_entry",
        project_id="p",
        scope="s",
        topic=f"t{number}",
        content=content,
        source_type="decision",
        dedupe=False,
    )


async def call(client, address, message):
    name = message["params"]["name"]
    answer = await client.post(address, json=message, headers={**HEADERS, "Mcp-Name": name})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert "result" in body, body
    return body["result"]["structuredContent"]


@pytest.mark.slow
def test_fifty_clients_read_and_write_at_once_without_an_error(served, hall):
    each = 12

    async def one(number):
        async with httpx2.AsyncClient(timeout=120) as client:
            for turn in range(each):
                word = f"word{number}x{turn}"
                answer = await call(client, served.address, written(number, f"client {number} learnt {word}"))
                assert answer["ok"], answer
                found = await call(client, served.address, said("memory_search", project_id="p", query=word))
                assert [hit["id"] for hit in found["results"]] == [answer["entry_id"]], "its own write is found at once"

    async def all_of_them():
        await asyncio.gather(*(one(number) for number in range(50)))

    asyncio.run(all_of_them())
    assert hall.status(project_id="p").counts["active"] == 50 * each
    assert served.stop() == 0


@pytest.mark.slow
def test_a_connection_that_is_lost_during_a_write_leaves_the_entry_whole_or_not_there(served, hall):
    for number in range(40):
        body = json.dumps(written(number, f"kept whole {number} " + "x" * 50_000)).encode()
        head = (
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nMcp-Name: memory_add_entry\r\n"
            + "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
            + f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        whole = head + body
        with socket.create_connection(served.place) as peer:
            peer.sendall(whole if number % 2 else whole[: len(whole) * (number + 1) // 41])
            if number % 3 == 0:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset instead of a farewell
            elif number % 3 == 1:
                time.sleep(0.01)
    headers = {**HEADERS, "Mcp-Name": "memory_add_entry"}
    answer = httpx2.post(served.address, json=written("last", "the server is well"), headers=headers, timeout=60)
    assert answer.json()["result"]["structuredContent"]["ok"]
    assert served.stop() == 0
    kept = hall.timeline(project_id="p", limit=200).entries
    assert all(len(entry.content) > 50_000 for entry in kept if entry.topic != "tlast")
    assert hall.damage() == {"store": [], "index": []}
    assert served.log.read_text() == "", "a client that leaves is nothing to tell of"
    assert {entry.topic for entry in kept} <= {f"t{number}" for number in (*range(1, 40, 2), "last")}


@pytest.mark.slow
def test_what_has_begun_is_answered_before_the_end(served, hall):
    answers = []

    def write(number):
        message = written(number, f"said before the end {number} " + "y" * 100_000)
        headers = {**HEADERS, "Mcp-Name": "memory_add_entry"}
        try:
            answer = httpx2.post(served.address, json=message, headers=headers, timeout=60)
        except httpx2.TransportError:
            return  # it came too late to be let in
        answers.append(answer.json()["result"]["structuredContent"]["ok"])

    writers = [threading.Thread(target=write, args=(number,)) for number in range(20)]
    for writer in writers:
        writer.start()
    while not hall.status(project_id="p").counts["active"]:
        time.sleep(0.005)
    code = served.stop()
    for writer in writers:
        writer.join()
    assert code == 0
    assert sum(answers) == hall.status(project_id="p").counts["active"], "acknowledged and kept are the same"


def test_a_port_in_use_is_said(served, home):
    ran = subprocess.run(
        [sys.executable, "-m", "scaffale.server.cli", "serve", "--http", "--port", str(served.place[1])],
        capture_output=True, text=True, check=False, env=environment(home), timeout=60,
    )  # fmt: skip
    assert ran.returncode == 4
    assert f"port {served.place[1]} is in use" in ran.stderr


def test_beyond_loopback_nothing_is_served_without_a_token(home, hall):
    command = [sys.executable, "-m", "scaffale.server.cli", "serve", "--http", "--host", "0.0.0.0", "--port", "0"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(home), timeout=60)
    assert ran.returncode == 2
    assert "scaffale token create" in ran.stderr
    hall.create_token(name="ada", actor="me")
    server = Served(home, "--host", "0.0.0.0")
    try:
        port = server.place[1]
        assert (
            httpx2.post(f"http://127.0.0.1:{port}/mcp", json=said("memory_status"), headers=HEADERS).status_code == 401
        )
        stranger = {**HEADERS, "Host": f"evil.example:{port}"}
        assert (
            httpx2.post(f"http://127.0.0.1:{port}/mcp", json=said("memory_status"), headers=stranger).status_code == 421
        )
        assert server.stop() == 0
    finally:
        server.process.kill()
        server.process.wait()
