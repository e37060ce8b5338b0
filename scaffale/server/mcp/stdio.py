"""The server's side of stdin and stdout: one JSON message a line.

The SDK's own transport drops lines that it cannot read, and ends calls that are running when stdin ends. Here every
request gets its answer. Rules of this file: the protocol has private descriptors, so that a stray `print` goes to the
log; two daemon threads do the blocking reads and writes, so that the event loop always hears signals; what is open is
kept in one table, which only the loop touches; the end comes in bounded time whatever is still running.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from scaffale.server.mcp.lines import Refusal, split, understand

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp_types import JSONRPCMessage, RequestId

    Serve = Callable[
        [MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]], Awaitable[None]
    ]

MOST_OPEN = 1_000  # requests read ahead; the pipe holds back the rest
DRAIN_S = 1.0  # how long answers are waited for when there is nobody left to ask
FLUSH_S = 0.4
LEAVE_WITHIN_S = 1.6
PARENT_CHECK_S = 0.5


def run(serve: Serve) -> None:
    """Serve this process's stdin and stdout until stdin ends, a signal comes, or the parent is gone.

    `serve` is driven with the two streams of a connection. The process is left at the latest `LEAVE_WITHIN_S` after
    the end has come, even if something hangs: stores are safe against that, and hosts kill what lingers.
    """
    receive, send = _claim()
    anyio.run(_Wire(receive, send).run, serve)


class _Wire:
    """One connection. All methods but `_read` and `_write` run in the event loop."""

    def __init__(self, receive: int, send: int) -> None:
        self._receive = receive
        self._send = send
        self._open: set[RequestId | None] = set()
        self._asked: set[RequestId] = set()  # what the client was asked, and has not answered yet
        self._room = threading.Semaphore(MOST_OPEN)
        self._out: queue.SimpleQueue[tuple[bytes, bool] | None] = queue.SimpleQueue()

    async def run(self, serve: Serve) -> None:
        self._loop = _running_loop()
        self._no_more = anyio.Event()  # nothing will be asked any more
        self._hung_up = anyio.Event()  # nobody listens any more
        self._flushed = anyio.Event()
        self._inbox, requests = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
        answers_in, answers = anyio.create_memory_object_stream[SessionMessage]()
        threading.Thread(target=self._read, name="stdin", daemon=True).start()
        threading.Thread(target=self._write, name="stdout", daemon=True).start()
        async with anyio.create_task_group() as watches, self._inbox, answers:
            watches.start_soon(self._watch_signals)
            watches.start_soon(self._watch_parent)
            watches.start_soon(self._end_in_time)
            async with anyio.create_task_group() as work:
                work.start_soon(self._post, answers)
                await serve(requests, answers_in)
            self._out.put(None)
            with anyio.move_on_after(FLUSH_S):
                await self._flushed.wait()
            watches.cancel_scope.cancel()

    # --- in ---------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """The reading thread. It stands still while too much is open."""
        try:
            for line in split(partial(os.read, self._receive)):
                message = understand(line)
                if message is not None:
                    self._room.acquire()
                    self._in_loop(self._take, message)
        except OSError:
            return  # nothing more can be read: the same as its end
        finally:
            self._in_loop(self._no_more.set)

    def _take(self, message: JSONRPCMessage | Refusal) -> None:
        if isinstance(message, Refusal):
            self._out.put((message.encoded(), True))
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            self._room.release()
            if message.id in self._asked:  # any other is an answer to nothing
                self._asked.discard(message.id)
                self._hand_over(SessionMessage(message))
        elif not isinstance(message, JSONRPCRequest):
            self._room.release()
            self._hand_over(SessionMessage(message))
        elif message.id in self._open:
            refusal = Refusal(message.id, INVALID_REQUEST, "a request with this id is still being answered")
            self._out.put((refusal.encoded(), True))
        else:
            self._open.add(message.id)
            metadata = ServerMessageMetadata(on_request_unanswered=partial(self._settled, message.id))
            self._hand_over(SessionMessage(message, metadata))

    def _hand_over(self, message: SessionMessage) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the end has come
            self._inbox.send_nowait(message)

    async def _settled(self, id: RequestId) -> None:
        """A request that was cancelled, and by the rules of the protocol gets no answer."""
        self._open.discard(id)
        self._room.release()

    # --- out --------------------------------------------------------------------------------------------------------

    async def _post(self, answers: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async for item in answers:
            message = item.message
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self._out.put((_encoded(message), True))
                self._open.discard(message.id)
            else:
                if isinstance(message, JSONRPCRequest):
                    self._asked.add(message.id)
                self._out.put((_encoded(message), False))

    def _write(self) -> None:
        """The writing thread. An answer that is written makes room for another request."""
        try:
            while (item := self._out.get()) is not None:
                line, answering = item
                _write_all(self._send, line)
                if answering:
                    self._room.release()
        except OSError:  # the reader of our answers is gone
            self._in_loop(self._hung_up.set)
        self._in_loop(self._flushed.set)

    # --- the end ----------------------------------------------------------------------------------------------------

    async def _end_in_time(self) -> None:
        """See the connection off: let open requests be answered, close, and be gone in time."""
        await self._no_more.wait()
        threading.Thread(target=_leave_by_force, name="leaving", daemon=True).start()
        with anyio.move_on_after(DRAIN_S):
            while self._open and not self._hung_up.is_set():
                await anyio.sleep(0.01)
        self._inbox.close()

    async def _watch_parent(self) -> None:
        """A parent that dies may leave stdin open in the hands of a sibling. (Windows closes it.)"""
        parent = os.getppid()
        while os.getppid() == parent and not self._hung_up.is_set():
            with anyio.move_on_after(PARENT_CHECK_S):
                await self._hung_up.wait()
        self._no_more.set()

    async def _watch_signals(self) -> None:
        if sys.platform == "win32":
            return
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                self._no_more.set()

    def _in_loop(self, act: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: the process is about to end
            self._loop.call_soon_threadsafe(act, *arguments)


def _running_loop() -> asyncio.AbstractEventLoop:
    import asyncio

    return asyncio.get_running_loop()


def _encoded(message: JSONRPCMessage) -> bytes:
    """A message as a line. What cannot be written as JSON is a defect, and still gets its request an answer."""
    try:
        text = json.dumps(
            message.model_dump(by_alias=True, exclude_unset=True),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )
    except (TypeError, ValueError, RecursionError):
        refusal = Refusal(getattr(message, "id", None), INTERNAL_ERROR, "the answer could not be written as JSON")
        return refusal.encoded()
    return text.encode("utf-8", "replace") + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _claim() -> tuple[int, int]:
    """Private copies of stdin and stdout. Their old numbers now lead to nothing and to the log, for children too."""
    receive, send = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no log either
        os.dup2(nothing, 1)
    os.close(nothing)
    sys.stdout.flush()  # what was printed so far, into the log
    return receive, send


def _leave_by_force() -> None:
    threading.Event().wait(LEAVE_WITHIN_S)
    os._exit(0)
