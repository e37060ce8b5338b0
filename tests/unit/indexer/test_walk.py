"""A folder → its Markdown files: what is taken, what is named as skipped, and what the ignore rules mean."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scaffale.errors import InvalidParam
from scaffale.indexer import walk as room
from scaffale.indexer.walk import check_patterns, walk


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    return root


def make(root, *names, text="text\n"):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def walked(root, **options):
    """Relative paths of the files, and the reasons of the skips by relative path."""
    files, skips = [], {}
    for folder in walk(str(root), **options):
        files += [os.path.relpath(path, root) for path, _ in folder.files]
        skips |= {os.path.relpath(skip.file_path, root): skip.reason for skip in folder.skips}
    return files, skips


def test_takes_markdown_in_order_folder_by_folder(root):
    make(root, "z.md", "b/2.MD", "a/1.markdown", "a/c/3.mdx", "a.md", "x.txt", "md", "a/.hidden.md")
    make(root, ".git/no.md", ".obsidian/no.md", "node_modules/no.md", "a/node_modules/no.md")
    assert walked(root) == (["a.md", "z.md", "a/.hidden.md", "a/1.markdown", "a/c/3.mdx", "b/2.MD"], {})


def test_stats_are_those_of_the_files(root):
    make(root, "a.md")
    ((path, info),) = next(iter(walk(str(root)))).files
    assert os.path.samestat(info, os.stat(path))
    assert info.st_size == 5


def test_not_recursive_stays_in_the_folder(root):
    make(root, "a.md", "b/c.md")
    assert walked(root, recursive=False) == (["a.md"], {})


def test_is_lazy(root):
    make(root, "a.md", "b/c.md")
    folders = walk(str(root))
    next(folders)
    make(root, "b/late.md")
    assert [os.path.basename(path) for path, _ in next(folders).files] == ["c.md", "late.md"]


def test_names_are_data(root):
    names = ["new\nline.md", "per'ché \u202e.md", "*.md", "[x].md", "\\.md", "-rf.md"]
    make(root, *names)
    assert walked(root, ignore=["nothing"]) == (sorted(names), {})


def test_what_is_no_file_is_named(root):
    os.mkfifo(root / "fifo.md")
    server = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(root)  # the name of a socket may be no longer than 107 bytes
    server.bind("socket.md")
    os.chdir(here)
    (root / "folder.md").mkdir()
    make(root, "folder.md/in.md")
    files, skips = walked(root)
    server.close()
    assert files == ["folder.md/in.md"]
    assert set(skips) == {"fifo.md", "socket.md"}
    assert "named pipe" in skips["fifo.md"]
    assert "socket" in skips["socket.md"]


def test_a_name_that_is_no_unicode_is_named_in_ascii(root):
    os.mkdir(os.fsencode(root) + b"/d\xff")
    for name in (b"/\xff.md", b"/d\xff/in.md"):
        with open(os.fsencode(root) + name, "w"):
            pass
    assert walked(root) == ([], dict.fromkeys(("\\udcff.md", "d\\udcff"), "its name is not valid UTF-8"))


def test_a_folder_that_cannot_be_listed_is_named(root, monkeypatch):
    make(root, "a.md", "b/c.md", "d/e.md")
    scandir = os.scandir

    def refuse(path):
        if path.endswith("/b"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    files, skips = walked(root)
    assert files == ["a.md", "d/e.md"]
    assert skips == {"b": "the folder cannot be read: Permission denied"}


# --- links ---------------------------------------------------------------------------------------------------------


def test_links_inside_are_followed_once_and_links_that_leave_are_named(root, tmp_path):
    make(tmp_path, "outside/secret.md")
    make(root, "a.md", ".versions/2/v.md", "plain.txt")
    (root / "out.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "again.md").symlink_to("a.md")
    (root / "nothing.md").symlink_to("gone.md")
    (root / "loop.md").symlink_to("loop.md")
    (root / "text.md").symlink_to("plain.txt")
    (root / "latest").symlink_to(".versions/2")
    (root / "latest-too").symlink_to(".versions/2")
    (root / "self").symlink_to(".")
    (root / "up").symlink_to("..")
    files, skips = walked(root)
    assert files == ["a.md", "latest/v.md", "text.md"]
    assert set(skips) == {"out.md", "out", "again.md", "nothing.md", "loop.md", "latest-too", "self", "up"}
    for name in ("out.md", "out", "up"):
        assert "leaves" in skips[name]
    for name in ("again.md", "latest-too", "self"):
        assert "scanned where it lies" in skips[name]


def test_circles_of_links_end(root):
    make(root, ".hidden/a.md", ".hidden/sub/b.md")
    (root / ".hidden/back").symlink_to(root)
    (root / ".hidden/sub/round").symlink_to(root / ".hidden")
    (root / "in").symlink_to(".hidden/sub")
    (root / "in-too").symlink_to(".hidden")
    (root / "in-vain").symlink_to(".hidden/sub")
    files, skips = walked(root)
    assert files == ["in/b.md", "in-too/a.md"]
    assert "in-vain" in skips
    assert all("scanned where it lies" in reason for reason in skips.values())


def test_a_folder_link_is_not_followed_when_not_recursive(root):
    make(root, ".versions/v.md")
    (root / "latest").symlink_to(".versions")
    assert walked(root, recursive=False) == ([], {})


# --- ignore rules --------------------------------------------------------------------------------------------------


def test_ignore_patterns_are_relative_to_the_root(root):
    make(root, "a.md", "drafts/b.md", "x/drafts/c.md", "x/d.tmp.md", "x/keep.tmp.md")
    assert walked(root, ignore=["/drafts/", "*.tmp.md", "!keep.tmp.md"])[0] == ["a.md", "x/keep.tmp.md", "x/drafts/c.md"]


def test_a_bad_pattern_is_refused(root):
    with pytest.raises(InvalidParam, match="ignore"):
        check_patterns(["ok", "!"])


TREE = [
    "a.md", "b.md", "build/x.md", "doc/build/y.md", "doc/keep.md", "doc/c.md", "doc/deep/keep.md", "doc/deep/d.md",
    "doc/deep/e.md", "logs/f.md", "logs/sub/g.md", "t mp/h.md", "é/i.md", "#j.md", "only/k.md", "only/l.md",
]  # fmt: skip
RULES = {
    ".gitignore": "# comment\n\n/b.md\nbuild/\n*.tmp\nt\\ mp\n\\#j.md\né/\nlogs/**/g.md\n!\nonly/*\n!only/k.md\n",
    "doc/.gitignore": "*.md\r\n!keep.md\r\n!/deep/d.md\r\n",
    "doc/deep/.gitignore": "keep.md\n",
}


def test_gitignore_files_mean_what_git_means(root):
    make(root, *TREE)
    for name, text in RULES.items():
        (root / name).write_text(text, newline="")
    git = ["git", "-c", "core.quotePath=false", "-c", "core.excludesFile=/dev/null", "-C", str(root)]
    try:
        subprocess.run([*git, "init", "-q"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("git is not here")
    listed = subprocess.run(
        [*git, "ls-files", "-z", "-o", "--exclude-standard"], check=True, capture_output=True, text=True
    ).stdout.split("\0")
    expected = sorted(name for name in listed if name.endswith(".md"))
    assert expected == sorted(walked(root)[0])
    assert sorted(walked(root, respect_gitignore=False)[0]) == sorted(TREE)


PATTERN = st.lists(st.sampled_from("a b / * ** ? ! [ab] [!a] \\ # .md x/ /a é".split()), min_size=1, max_size=6).map("".join)
PATH = st.lists(st.sampled_from(["a", "b", "x", "a.md", "é", "ab", "new\nline"]), min_size=1, max_size=4).map("/".join)


@example(["**/"], "new\nline/a", "")
@given(st.lists(PATTERN, max_size=6), PATH, st.sampled_from(["", "/"]))
def test_the_short_cut_never_decides_otherwise(patterns, path, end):
    made = room._compile_what_is_valid(patterns)
    if not made.any.match(path + end):
        assert made.spec.check_file(path + end).include is None


def test_own_patterns_go_before_gitignore(root):
    make(root, "a.md", "b.md")
    (root / ".gitignore").write_text("a.md\n")
    assert walked(root, ignore=["!a.md", "b.md"]) == (["a.md"], {})


def test_a_gitignore_that_cannot_be_read_is_named_and_has_no_say(root):
    make(root, "a.md", "b/c.md")
    (root / ".gitignore").mkdir()
    (root / "b/.gitignore").symlink_to("/etc/hostname")
    files, skips = walked(root)
    assert files == ["a.md", "b/c.md"]
    assert set(skips) == {".gitignore", "b/.gitignore"}


def test_rules_of_the_repository_above_apply_unless_they_ignore_the_root_itself(root):
    make(root, "docs/a.md", "docs/b.draft.md", "build/c.md", "build/d.draft.md")
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("*.draft.md\nbuild/\n")
    assert walked(root / "docs")[0] == ["a.md"]
    assert walked(root / "build")[0] == ["c.md", "d.draft.md"]


def test_no_library_is_loaded_where_there_are_no_rules(root, monkeypatch):
    make(root, "a.md")
    monkeypatch.setitem(__import__("sys").modules, "pathspec", None)
    assert walked(root)[0] == ["a.md"]
