"""Where calls wait for a worker: the one step from the event loop into the blocking halls.

Rules of this file: a verb runs in a worker thread together with the rendering of its answer; long jobs queue among
themselves and leave the places of quick calls free. A cancelled call that has begun is seen through (a transaction is
never torn), but a long one stops at its next progress report.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread

from scaffale.errors import Internal, ScaffaleError
from scaffale.server import render
from scaffale.server.mcp import results
from scaffale.server.mcp.access import LOCAL
from scaffale.server.mcp.registry import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from scaffale.server.halls import Halls
    from scaffale.server.mcp.access import Access, Places
    from scaffale.server.mcp.metrics import Metrics
    from scaffale.server.mcp.registry import Prepared, ToolSpec

    Report = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]

QUICK_CALLS = 4
LONG_JOBS = 1
REPORT_EVERY_S = 0.25

log = logging.getLogger("scaffale.server")


class Desk:
    """Runs verbs of the halls for the event loop that it was made in."""

    def __init__(self, halls: Halls, metrics: Metrics | None = None, places: Places | None = None) -> None:
        self.halls = halls
        self._metrics = metrics
        self._places = places
        self._quick = anyio.CapacityLimiter(QUICK_CALLS)
        self._long = anyio.CapacityLimiter(LONG_JOBS)

    async def call(
        self, spec: ToolSpec, given: Mapping[str, Any] | None, actor: str, report: Report, access: Access = LOCAL
    ) -> dict[str, Any]:
        """The result of a call, be it an answer or an error. Raises nothing but cancellation."""
        began = time.monotonic()
        result = await self._result(spec, given, actor, report, access)
        if self._metrics:
            outcome = result["structuredContent"].get("error_code", "ok")
            self._metrics.called(spec.name, outcome, time.monotonic() - began)
        return result

    async def _result(
        self, spec: ToolSpec, given: Mapping[str, Any] | None, actor: str, report: Report, access: Access
    ) -> dict[str, Any]:
        try:
            if access is not LOCAL:
                allowed = partial(access.arguments, spec.name, spec.domain, given or {}, self.halls)
                given = await self.ask(allowed)
            prepared = spec.prepare(given)
        except BaseException as error:
            return self._failure(spec.name, error)
        call = Call(self.halls, prepared.arguments, actor, _throttled(report))
        limiter = self._long if prepared.verb.bulk else self._quick
        return await anyio.to_thread.run_sync(partial(self._answer, spec.name, prepared, call), limiter=limiter)

    async def ask(self, question: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What a quick question to the halls answers; what it raises is raised here."""
        return await anyio.to_thread.run_sync(question, limiter=self._quick)

    async def close(self) -> None:
        """Close the halls, even while being cancelled."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.halls.close)

    def told(self, detail: str) -> str:
        """What an error says, as callers are told it."""
        words = results.told(detail)
        return self._places.words(words) if self._places else words

    def _answer(self, tool: str, prepared: Prepared, call: Call) -> dict[str, Any]:
        try:
            told = self._places.told if self._places else None
            return results.success(prepared.verb.run(call), prepared.verb, prepared.warnings, told)
        except BaseException as error:
            return self._failure(tool, error)

    def _failure(self, tool: str, error: BaseException) -> dict[str, Any]:
        if isinstance(error, ScaffaleError):
            return results.failure(error, self._places.words if self._places else None)
        if not is_defect(error):
            raise error
        log.error("%s failed", tool, exc_info=error)
        return results.failure(Internal(results.SEE_LOG))


def is_defect(error: BaseException) -> bool:
    """Whether it is a failure to be logged and answered. Cancellation and exit are not; a panic of a Rust engine is."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _throttled(report: Report) -> Callable[[int, int, str], None]:
    """A progress callback for a worker thread: a few reports a second, and an end to the job when it was cancelled."""
    sent, sent_at = -1, 0.0

    def progress(done: int, total: int, path: str) -> None:
        nonlocal sent, sent_at
        anyio.from_thread.check_cancelled()
        now = time.monotonic()
        if done > sent and (done == total or now - sent_at >= REPORT_EVERY_S):
            sent, sent_at = done, now
            anyio.from_thread.run(report, float(done), float(total) if total else None, render.visible(path))

    return progress
