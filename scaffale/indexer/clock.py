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
    """Milliseconds since the epoch of a time as `iso` writes it, or as ISO 8601 knows it."""
    if len(written) != 24:
        from datetime import datetime

        return int(datetime.fromisoformat(written).timestamp() * 1_000)
    # By hand, since importing `datetime` costs a command a millisecond.
    year, month, day = int(written[:4]), int(written[5:7]), int(written[8:10])
    years = year - (month < 3)  # years that begin in March end in their leap day
    days = years * 365 + years // 4 - years // 100 + years // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day - 719469
    seconds = days * 86_400 + int(written[11:13]) * 3_600 + int(written[14:16]) * 60 + int(written[17:19])
    return seconds * 1_000 + int(written[20:23])
