"""What errors repeat of a caller's words."""

from __future__ import annotations

import pytest

from scaffale.errors import quoted

SECRET = "ghp_" + "q7Zk2Vt9XbR4mWc8Ld1Hs6Jf3Np5GyTaUeKi"


@pytest.mark.parametrize("before", [0, 20, 60, 75, 79])
def test_half_a_secret_is_not_repeated_either(before):
    text = quoted("x" * before + " " + SECRET)
    assert SECRET[:10] not in text
    assert len(text) <= 80


def test_words_are_repeated_as_they_are():
    assert quoted("no-such-shelf") == "no-such-shelf"
    assert quoted("é" * 100, 10) == "é" * 10
