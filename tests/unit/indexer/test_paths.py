"""The path policy: what leaves the roots, what is no file, what is no path at all."""

import os
import re
import socket

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from scaffale.errors import InvalidParam
from scaffale.indexer import paths

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX paths")

ARGUMENTS = ("source_path", "save_path", "import_path", "file_path", "folder_path")


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("a")
    return folder


def inside(path, root, kind="source_path", **more):
    return paths.resolve_inside(str(path), (str(root),), kind=kind, **more)


# --- the project's folder ---


def test_a_project_has_one_path_whatever_its_spelling(root, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(root)
    for spelling in (root, f"{root}/", f"{root}/sub/..", f"{root}/./", tmp_path / "link", ".", "sub/.."):
        assert paths.resolve_project_path(str(spelling), ()) == str(root)


@pytest.mark.parametrize("bad", ["nothing", "a.md", "a.md/sub"])
def test_a_project_is_an_existing_folder(root, bad):
    with pytest.raises(InvalidParam, match="project_path"):
        paths.resolve_project_path(str(root / bad), ())


def test_a_project_lies_inside_the_roots_when_there_are_any(root, tmp_path):
    assert paths.resolve_project_path(str(root / "sub"), (str(root),)) == str(root / "sub")
    assert paths.resolve_project_path(str(root), (str(tmp_path / "other"), str(root))) == str(root)
    with pytest.raises(InvalidParam, match="outside the allowed roots"):
        paths.resolve_project_path(str(tmp_path), (str(root),))
    with pytest.raises(InvalidParam, match="outside the allowed roots"):
        paths.resolve_project_path(f"{root}/..", (str(root),))


# --- other arguments ---


def test_a_path_inside_comes_back_real(root):
    (root / "link.md").symlink_to("a.md")
    for spelling in ("a.md", "link.md", "sub/../a.md", "./a.md"):
        assert inside(root / spelling, root) == str(root / "a.md")
        assert inside(spelling, root, base=str(root)) == str(root / "a.md")


@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.parametrize(
    "escape", ["../secret", "sub/../../secret", "out/secret", "out", "secret.md", "dangling", "/etc/passwd"]
)
def test_no_spelling_leaves_the_roots(root, tmp_path, kind, escape):
    (tmp_path / "secret").write_text("s")
    (root / "out").symlink_to(tmp_path)
    (root / "secret.md").symlink_to(tmp_path / "secret")
    (root / "dangling").symlink_to(tmp_path / "not-yet")
    with pytest.raises(InvalidParam, match=f"^{kind} .*outside the allowed roots"):
        inside(escape, root, kind, base=str(root))


def test_a_sibling_with_the_same_beginning_is_outside(root, tmp_path):
    sibling = tmp_path / "rootkit"
    sibling.mkdir()
    (sibling / "a.md").write_text("a")
    with pytest.raises(InvalidParam, match="outside"):
        inside(sibling / "a.md", root)


NO_UNICODE = ("a\ud800b", "\udcff")
NO_LENGTH = ("x" * 5000, "é" * 2500, "x" * 300)
ELSEWHERE = ("C:\\Windows", "C:/Windows", "c:", r"\\server\share\a", "//server/share/a", r"\\.\pipe\x", r"\\?\C:\x")


@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.parametrize("bad", ["", "  ", "a\0b", *NO_UNICODE, *NO_LENGTH, *ELSEWHERE])
def test_what_is_no_path_is_refused_by_the_name_of_the_argument(root, kind, bad):
    if kind in ("source_path", "save_path") and bad == "x" * 300:
        bad = "x" * 300 + "/y"
    with pytest.raises(InvalidParam, match=f"^{kind} ") as caught:
        inside(bad, root, kind, base=str(root))
    caught.value.detail.encode()  # a message can always be sent
    with pytest.raises(InvalidParam, match=r"^project_path "):
        paths.resolve_project_path(bad, ())


@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.parametrize("odd", ["pipe", "socket", "loop"])
def test_what_cannot_be_read_as_a_file_is_refused(root, kind, odd):
    path = root / odd
    if odd == "pipe":
        os.mkfifo(path)
    elif odd == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    else:
        path.symlink_to(path)
    with pytest.raises(InvalidParam, match=f"^{kind} "):
        inside(path, root, kind)


def test_a_device_is_refused():
    with pytest.raises(InvalidParam, match=r"^source_path .* a device"):
        inside("/dev/null", "/dev")


@pytest.mark.parametrize(
    ("kind", "folder", "file", "nothing"),
    [
        ("source_path", True, True, True),
        ("save_path", False, True, True),
        ("import_path", False, True, False),
        ("file_path", False, True, False),
        ("folder_path", True, False, False),
    ],
)
def test_each_argument_wants_its_own_kind(root, kind, folder, file, nothing):
    for path, fits in ((root / "sub", folder), (root / "a.md", file), (root / "none", nothing)):
        if fits:
            assert inside(path, root, kind) == str(path)
        else:
            with pytest.raises(InvalidParam, match=f"^{kind} "):
                inside(path, root, kind)


def test_no_roots_allow_nothing_and_none_allows_everything(root):
    with pytest.raises(InvalidParam, match=r"^source_path: no allowed roots"):
        paths.resolve_inside(str(root / "a.md"), (), kind="source_path")
    assert paths.resolve_inside(str(root / "a.md"), None, kind="file_path") == str(root / "a.md")


def test_a_relative_path_needs_a_base(root):
    with pytest.raises(InvalidParam, match="relative"):
        paths.resolve_inside("a.md", None, kind="file_path")


@pytest.mark.parametrize("part", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("alias", ["plain", "link", "hard link"])
def test_a_store_is_never_opened_by_another_road(root, part, alias):
    store = root / "memory.sqlite"
    file = root / f"memory.sqlite{part}"
    file.touch()
    named = file if alias == "plain" else root / "export.json"
    if alias == "link":
        named.symlink_to(file)
    elif alias == "hard link":
        named.hardlink_to(file)
    with pytest.raises(InvalidParam, match="a store of this program"):
        inside(named, root, "import_path", stores=(str(store),))


def test_a_store_that_is_not_there_yet_cannot_be_a_target(root):
    with pytest.raises(InvalidParam, match="a store of this program"):
        inside(root / "sub/../memory.sqlite", root, "save_path", stores=(str(root / "memory.sqlite"),))


def test_a_message_shows_no_disguise(root):
    with pytest.raises(InvalidParam, match=re.escape(r"a\u202eb\nc")):
        inside("/a\u202eb\nc", root)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["..", ".", "sub", "out", "a.md", "", "x", "é", "~"]), max_size=8).map("/".join))
def test_whatever_is_accepted_lies_inside(root, tmp_path, path):
    if not (root / "out").is_symlink():
        (root / "out").symlink_to(tmp_path)
    try:
        resolved = inside(path, root, base=str(root))
    except InvalidParam:
        return
    assert os.path.realpath(resolved) == resolved
    assert os.path.commonpath([resolved, str(root)]) == str(root)
