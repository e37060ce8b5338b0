"""Git's files read by hand, against what Git itself makes, and against what it would never make."""

import os
import shutil
import subprocess

import pytest

from scaffale.indexer import repository

HOME = "/home/repo"

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(folder, *words):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, env=environ)


def bare_hands(folder, config=""):
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(config)
    return folder


def remote(folder):
    found = repository.around(str(folder))
    return repository.remote(found) if found else None


# --- one remote, many spellings ---


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Owner/repo.git",
        "https://github.com/Owner/repo",
        "https://github.com/Owner/repo/",
        "https://github.com/Owner/repo.git/",
        "http://github.com/Owner/repo.git",
        "https://user@github.com/Owner/repo.git",
        "https://user:pa:ss@w@GitHub.com:443/Owner/repo.git",
        "git@github.com:Owner/repo.git",
        "github.com:Owner/repo",
        "git@github.com:/Owner/repo.git",
        "ssh://git@github.com/Owner/repo.git",
        "ssh://git@github.com:22/Owner/repo",
        "SSH://GIT@GITHUB.COM/Owner/repo",
        "git+ssh://git@github.com/Owner/repo",
        "git://github.com/Owner/repo.git",
    ],
)
def test_every_spelling_of_a_remote_is_one_remote(url):
    assert repository.canonical(url, HOME) == "github.com/Owner/repo"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://gitlab.example.org/group/sub/project.git", "gitlab.example.org/group/sub/project"),
        ("ssh://git@[2001:db8::1]:2222/owner/repo.git", "[2001:db8::1]/owner/repo"),
        ("git@[2001:db8::1]:owner/repo.git", "[2001:db8::1]/owner/repo"),
        ("https://host/owner/repo.github", "host/owner/repo.github"),
        ("/srv/git/repo.git", "localhost/srv/git/repo"),
        ("file:///srv/git/repo.git", "localhost/srv/git/repo"),
        ("file://localhost/srv/git/repo.git", "localhost/srv/git/repo"),
        ("../other.git", "localhost/home/other"),
        ("./a:b", "localhost/home/repo/a:b"),
        ("", None),
        ("https://github.com/", None),
        ("git@host:\x1b[2J", None),
        (None, None),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_other_remotes(url, expected):
    assert repository.canonical(url, HOME) == expected


def test_credentials_never_enter_the_id():
    assert "hunter2" not in repository.canonical("https://me:hunter2@host/a/b", HOME)


# --- the configuration file ---


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ('[remote "origin"]\n\turl = https://h/o/r.git\n', "h/o/r"),
        ('[remote "up"]\nurl=https://h/u/r\n[remote "origin"]\nurl=https://h/o/r\n', "h/o/r"),
        ('[remote "up"]\nurl=https://h/u/r\n[branch "main"]\nremote = up\n', "h/u/r"),
        ('[remote "up"]\nurl=https://h/u/r\n[remote "down"]\nurl=https://h/d/r\n', None),
        ('[remote "origin"]\nurl=https://h/1/r\nurl=https://h/2/r\n', "h/1/r"),
        ('[remote "origin"]\npushurl=https://h/p/r\n', None),
        ('[REMOTE "origin"] URL = "https://h/o/r" ; ours\n', "h/o/r"),
        ('[remote "origin"]\r\n  url = https://h/o/r   # ours\r\n', "h/o/r"),
        ('[remote "origin"]\nurl = https://h/\\\no/r\n', "h/o/r"),
        ('[remote "a\\"b"]\nurl = https://h/o/r\n', "h/o/r"),
        ('# [remote "origin"]\n#url = https://h/o/r\n', None),
        ('[remote "origin"\nurl = https://h/o/r\n', None),
        ("", None),
        ("\xff\0[[[[", None),
    ],
)
def test_the_remote_is_origin_else_the_only_one(tmp_path, config, expected):
    assert remote(bare_hands(tmp_path / "r", config)) == expected


def test_a_changed_configuration_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(repository.time, "time_ns", lambda: 1 << 62)
    folder = bare_hands(tmp_path / "r", '[remote "origin"]\nurl=https://h/o/r\n')
    assert remote(folder) == "h/o/r"
    with monkeypatch.context() as patched:
        patched.setattr(repository, "_small_text", None)
        assert remote(folder) == "h/o/r"
    (folder / ".git/config").write_text('[remote "origin"]\nurl=https://h/o/renamed\n')
    assert remote(folder) == "h/o/renamed"


# --- what Git makes ---


@needs_git
def test_subfolders_worktrees_and_clones_are_one_repository(tmp_path):
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "commit", "-q", "--allow-empty", "-m", "x")
    git(main, "worktree", "add", "-q", "../tree")
    (tmp_path / "tree/deep/er").mkdir(parents=True)
    (main / "sub").mkdir()
    for folder in (main, main / "sub", tmp_path / "tree", tmp_path / "tree/deep/er"):
        found = repository.around(str(folder))
        assert found.home == str(main)
        assert repository.remote(found) is None
    git(main, "remote", "add", "origin", "git@h:o/r.git")
    assert remote(tmp_path / "tree/deep/er") == remote(main) == "h/o/r"


@needs_git
def test_a_submodule_has_its_own_remote(tmp_path):
    library, main = tmp_path / "library", tmp_path / "main"
    for folder in (library, main):
        folder.mkdir()
        git(folder, "init", "-q")
        git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    git(main, "remote", "add", "origin", "git@h:o/main.git")
    git(main, "submodule", "add", "-q", str(library), "lib")
    git(main / "lib", "remote", "set-url", "origin", "https://h/o/library")
    assert remote(main) == "h/o/main"
    assert remote(main / "lib") == "h/o/library"
    assert repository.around(str(main / "lib")).home == str(main / "lib")


# --- what Git would never make ---


@pytest.mark.parametrize("marker", ["gitdir: /nowhere", "gitdir:", "rubbish", "gitdir: \0", "", "gitdir: ."])
def test_a_git_file_that_leads_nowhere_is_not_a_repository(tmp_path, marker):
    outer = bare_hands(tmp_path / "outer", '[remote "origin"]\nurl=https://h/o/r\n')
    (outer / "inner").mkdir()
    (outer / "inner/.git").write_text(marker)
    assert repository.around(str(outer / "inner")).top == str(outer)


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
@pytest.mark.parametrize("name", ["", "config", "commondir"])
def test_a_pipe_in_the_place_of_a_file_does_not_hang(tmp_path, name):
    folder = tmp_path / "r"
    if name == "":
        folder.mkdir()
        os.mkfifo(folder / ".git")
        assert repository.around(str(folder)) is None
        return
    bare_hands(folder)
    (folder / ".git/config").unlink()
    if name == "config":
        os.mkfifo(folder / ".git/config")
        assert remote(folder) is None
    else:
        (tmp_path / "w").mkdir()
        (tmp_path / "w/.git").write_text(f"gitdir: {folder}/.git")
        os.mkfifo(folder / ".git/commondir")
        assert remote(tmp_path / "w") is None


def test_an_empty_git_folder_is_not_a_repository(tmp_path):
    (tmp_path / "r/.git").mkdir(parents=True)
    assert repository.around(str(tmp_path / "r")) is None
