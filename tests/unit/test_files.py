"""Opening without being fooled, comparing without being trapped."""

import os
import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale import files
from scaffale.errors import InvalidParam, LimitExceeded

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX files")


def test_reads_the_bytes_and_the_stat_of_the_open_file(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * 3_000_000)
    data, info = files.read_with_stat(str(path), 3_000_000)
    assert data == b"x" * 3_000_000
    assert (info.st_size, info.st_ino) == (3_000_000, path.stat().st_ino)


def test_an_empty_file_is_empty_bytes(tmp_path):
    (tmp_path / "empty").touch()
    assert files.read_regular(str(tmp_path / "empty"), 10) == b""


def test_more_than_the_limit_is_refused_with_both_numbers(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * 11)
    with pytest.raises(LimitExceeded, match=r"11 bytes; the limit is 10"):
        files.read_regular(str(path), 10)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_file_without_a_size_is_cut_off_at_the_limit():
    assert os.stat("/proc/self/status").st_size == 0
    with pytest.raises(LimitExceeded):
        files.read_regular(f"/proc/{os.getpid()}/status", 10)


@posix
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "socket", "link"])
def test_what_is_not_a_regular_file_is_refused_at_once(tmp_path, kind):
    path = tmp_path / "x"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = "/dev/zero"
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    else:
        (tmp_path / "target").write_text("secret")
        path.symlink_to(tmp_path / "target")
    with pytest.raises(InvalidParam):
        files.read_regular(str(path), 100)


@posix
def test_a_folder_swapped_for_a_link_after_the_check_is_noticed(tmp_path):
    inside, outside = tmp_path / "root" / "docs", tmp_path / "outside"
    inside.mkdir(parents=True)
    outside.mkdir()
    (inside / "a.md").write_text("fine")
    (outside / "a.md").write_text("secret")
    checked = files.real(str(inside / "a.md"))
    inside.rename(tmp_path / "root" / "old")
    inside.symlink_to(outside)
    with pytest.raises(InvalidParam, match="swapped"):
        files.read_regular(checked, 100)


@posix
def test_the_same_swap_is_noticed_without_a_proc_file_system(tmp_path, monkeypatch):
    def no_proc(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(files.os, "readlink", no_proc)
    monkeypatch.setattr(files.os.path, "realpath", lambda path: str(tmp_path / "elsewhere"))
    (tmp_path / "a.md").write_text("fine")
    with pytest.raises(InvalidParam, match="swapped"):
        files.read_regular(str(tmp_path / "a.md"), 100)


def test_a_missing_file_is_the_systems_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        files.read_regular(str(tmp_path / "none"), 100)


@posix
def test_no_descriptor_stays_open(tmp_path):
    (tmp_path / "big").write_bytes(b"x" * 100)
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        with pytest.raises(LimitExceeded):
            files.read_regular(str(tmp_path / "big"), 10)
        with pytest.raises(InvalidParam):
            files.read_regular(str(tmp_path), 10)
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="plays the part of macOS with the help of /proc")
def test_a_path_gets_the_spelling_of_the_file_system_where_it_exists(tmp_path, monkeypatch):
    import fcntl

    def spelling(descriptor, command, buffer):
        assert (command, len(buffer)) == (50, 1024)
        return os.readlink(f"/proc/self/fd/{descriptor}").replace("proj", "Proj").encode().ljust(1024, b"\0")

    (tmp_path / "proj").mkdir()
    monkeypatch.setattr(fcntl, "fcntl", spelling)
    monkeypatch.setattr(files.sys, "platform", "darwin")
    assert files.real(str(tmp_path / "proj")) == str(tmp_path / "Proj")
    assert files.real(str(tmp_path / "proj/none/a.md")) == str(tmp_path / "Proj/none/a.md")


@posix
def test_inside_is_not_a_prefix_of_letters():
    assert files.is_inside("/a/b", "/a/b")
    assert files.is_inside("/a/b/c", "/a/b")
    assert not files.is_inside("/a/bc", "/a/b")
    assert not files.is_inside("/a", "/a/b")
    assert files.is_inside("/a", "/")


SEGMENTS = st.lists(st.text("abcB.-", min_size=1).filter(lambda name: name not in (".", "..")), max_size=4)


@posix
@given(SEGMENTS, SEGMENTS)
def test_inside_agrees_with_the_parts_of_the_path(path, root):
    expected = path[: len(root)] == root
    assert files.is_inside("/" + "/".join(path), "/" + "/".join(root)) is expected
