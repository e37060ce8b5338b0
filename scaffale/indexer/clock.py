"""The one place that asks what time it is, so that tests can turn the clock back."""

from __future__ import annotations

import time


def milliseconds() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def iso(ms: int) -> str:
    """UTC ISO-8601 with milliseconds, e.g. `2026-05-05T09:30:00.123Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03d}Z"


def now() -> str:
    """The current time as `iso` writes it."""
    return iso(milliseconds())


def milliseconds_of(written: str) -> int:
    """Milliseconds since the epoch of a time as ISO 8601 knows it."""
    from datetime import datetime  # the usual engine has imported it already

    return round(datetime.fromisoformat(written).timestamp() * 1_000)
