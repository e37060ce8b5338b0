"""What a server over HTTP has done, in the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats).

Counted are calls by tool and outcome, how long they took, and HTTP answers by status. No project, query or caller is named.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._answers: Counter[int] = Counter()
        self.open_requests = 0

    def called(self, tool: str, outcome: str, seconds: float) -> None:
        """One call of a tool; `outcome` is `ok` or the code of its error."""
        with self._lock:
            self._calls[tool, outcome] += 1
            self._seconds[tool] += seconds  # type: ignore[assignment]
            self._buckets[tool, next((bound for bound in BOUNDS if seconds <= bound), float("inf"))] += 1

    def answered(self, status: int) -> None:
        """One HTTP answer."""
        with self._lock:
            self._answers[status] += 1

    def text(self) -> str:
        """All of it, as it is scraped."""
        with self._lock:
            return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        from scaffale import __version__

        yield from _head("scaffale_info", "gauge", "The program that serves.")
        yield f'scaffale_info{{version="{__version__}"}} 1'
        yield from _head("scaffale_calls_total", "counter", "Calls of tools by outcome.")
        for (tool, outcome), count in sorted(self._calls.items()):
            yield f'scaffale_calls_total{{tool="{tool}",outcome="{outcome}"}} {count}'
        yield from _head("scaffale_call_seconds", "histogram", "How long calls of tools took, the wait for a worker included.")
        for tool in sorted(self._seconds):
            total = 0
            for bound in (*BOUNDS, float("inf")):
                total += self._buckets[tool, bound]
                shown = "+Inf" if bound == float("inf") else f"{bound:g}"
                yield f'scaffale_call_seconds_bucket{{tool="{tool}",le="{shown}"}} {total}'
            yield f'scaffale_call_seconds_sum{{tool="{tool}"}} {self._seconds[tool]:.6f}'
            yield f'scaffale_call_seconds_count{{tool="{tool}"}} {total}'
        yield from _head("scaffale_http_answers_total", "counter", "HTTP answers by status.")
        for status, count in sorted(self._answers.items()):
            yield f'scaffale_http_answers_total{{status="{status}"}} {count}'
        yield from _head("scaffale_http_open_requests", "gauge", "HTTP requests that are being answered.")
        yield f"scaffale_http_open_requests {self.open_requests}"


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"
