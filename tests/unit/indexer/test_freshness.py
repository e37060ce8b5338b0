"""The one test of whether a stored document is still its file."""

from __future__ import annotations

import os
import time

import pytest

from scaffale.indexer import freshness as room
from scaffale.indexer.freshness import digest, freshness, is_young, numbers
from scaffale.indexer.records import Fingerprint

OLD_NS = 1_600_000_000_000_000_000


def indexed(path, *, checked_ns=None):
    info = os.stat(path)
    return Fingerprint(*numbers(info), time.time_ns() if checked_ns is None else checked_ns, digest(path.read_bytes()))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("first")
    os.utime(path, ns=(OLD_NS, OLD_NS))
    return path


@pytest.fixture
def no_reading(monkeypatch):
    monkeypatch.setattr(room.files, "read_with_stat", None)


@pytest.mark.usefixtures("no_reading")
def test_same_numbers_are_the_same_file(file):
    assert freshness(indexed(file), str(file)) == "same"


@pytest.mark.usefixtures("no_reading")
def test_another_size_is_a_change(file):
    known = indexed(file)
    file.write_text("longer than it was")
    assert freshness(known, str(file)) == "changed"


def test_the_same_size_and_time_with_other_bytes_is_a_change(file):
    known = indexed(file)
    file.write_text("other")
    os.utime(file, ns=(OLD_NS, OLD_NS))
    assert freshness(known, str(file)) == "changed"


def test_the_same_bytes_under_other_numbers_are_the_same(file):
    known = indexed(file)
    os.utime(file)
    assert freshness(known, str(file)) == "same"


def test_a_file_that_was_young_when_it_was_read_is_read_again(file):
    known = indexed(file, checked_ns=OLD_NS + 1_000_000_000)
    assert freshness(known, str(file)) == "same"
    assert freshness(known._replace(sha256=digest(b"other")), str(file)) == "changed"
    trusted = known._replace(checked_ns=OLD_NS + 3_000_000_000, sha256=digest(b"other"))
    assert freshness(trusted, str(file)) == "same"


def test_gone(file, tmp_path):
    known = indexed(file)
    file.unlink()
    assert freshness(known, str(file)) == "gone"
    assert freshness(known, str(file / "below")) == "gone"
    file.mkdir()
    assert freshness(known, str(file)) == "gone"
    os.mkfifo(tmp_path / "fifo")
    assert freshness(known._replace(size=0), str(tmp_path / "fifo")) == "gone"
    assert freshness(known, "no\0path") == "gone"


def test_what_cannot_be_read_again_is_not_called_the_same(file, monkeypatch):
    known = indexed(file)
    os.utime(file)

    def refuse(path, max_bytes):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(room.files, "read_with_stat", refuse)
    assert freshness(known, str(file)) == "changed"


def test_a_linked_file_is_judged_by_what_it_leads_to(file, tmp_path):
    link = tmp_path / "link.md"
    link.symlink_to(file)
    known = indexed(file)
    os.utime(file)
    assert freshness(known, str(link)) == "same"


@pytest.mark.parametrize(
    ("seconds", "young"), [(0, True), (1.9, True), (-1.9, True), (2, False), (-2, False), (3600, False)]
)
def test_young_is_within_two_seconds(seconds, young):
    assert is_young(OLD_NS, OLD_NS + int(seconds * 1e9)) is young


def test_numbers_fit_a_store():
    class Info:
        st_size, st_mtime_ns, st_ctime_ns, st_ino = 1, 2**70, -(2**70), 2**64 - 1

    assert numbers(Info) == (1, 2**63 - 1, -(2**63 - 1), 2**63 - 1)
