"""What time it is, and back again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.indexer import clock

YEAR_9999 = 253_402_300_799_999


@given(st.integers(0, YEAR_9999))
def test_a_time_that_is_written_reads_back(ms):
    written = clock.iso(ms)
    assert clock.milliseconds_of(written) == ms
    assert datetime.fromisoformat(written) == datetime.fromtimestamp(ms // 1_000, UTC).replace(microsecond=ms % 1_000 * 1_000)


@pytest.mark.parametrize(
    "written", ["2026-05-05T09:30:00Z", "2026-05-05T09:30:00+00:00", "2026-05-05T11:30:00.000+02:00", "2026-05-05T09:30:00.000Z"]
)
def test_times_that_others_wrote_are_read(written):
    assert clock.milliseconds_of(written) == 1_777_973_400_000


def test_now_is_now():
    before = clock.milliseconds()
    assert before <= clock.milliseconds_of(clock.now()) <= clock.milliseconds()
