"""Who a project is, and which folders may say so."""

import os
from functools import partial

import apsw
import pytest

from scaffale import settings
from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound
from scaffale.indexer import projects
from scaffale.model import Project
from scaffale.settings import Settings

ORIGIN = '[remote "origin"]\nurl = git@GitHub.com:Owner/repo.git\n'
BASE = Settings("/m.sqlite", "/d.sqlite")


@pytest.fixture
def connection():
    opened = apsw.Connection(":memory:")
    opened.execute("PRAGMA foreign_keys = ON")
    projects.create(opened)
    yield opened
    opened.close()


def folder(path, *, env=None, config=None):
    path.mkdir(parents=True, exist_ok=True)
    if env is not None:
        (path / ".env").write_text(env)
    if config is not None:
        (path / ".git").mkdir()
        (path / ".git/HEAD").touch()
        (path / ".git/config").write_text(config)
    return path


def resolve(path=None, base=BASE, **more):
    return projects.resolve(base, project_path=path and str(path), **more)


def write(connection, resolved, now="2026-01-01T00:00:00.000Z"):
    projects.register(connection, resolved.project, now, remember=resolved.remember)


def lookup(connection):
    return partial(projects.find, connection)


# --- the order ---


def test_the_argument_wins_then_env_then_remote_then_path(tmp_path):
    path = folder(tmp_path / "app", env="MEMORY_PROJECT_ID=from-env", config=ORIGIN)
    assert resolve(path, project_id="given").project.id == "given"
    assert resolve(path).project.id == "from-env"
    (path / ".env").unlink()
    assert resolve(path).project.id == "git:github.com/Owner/repo"
    (path / ".git/config").write_text("")
    assert resolve(path).project.id == projects.path_id(str(path))


def test_a_path_id_is_a_prefix_of_the_hash(tmp_path):
    import hashlib

    path = folder(tmp_path / "app")
    digest = hashlib.sha256(str(path).encode()).hexdigest()
    assert resolve(path).project.id == "pathhash:" + digest[:16]


def test_what_is_known_of_a_resolved_project(tmp_path):
    path = folder(tmp_path / "app", env='MEMORY_PROJECT_DISPLAY_NAME="The App"\nMEMORY_MAX_TAGS=3', config=ORIGIN)
    found = resolve(path)
    assert found.project == Project("git:github.com/Owner/repo", "The App", str(path), "github.com/Owner/repo", False)
    assert (found.folder, found.roots, found.settings.max_tags) == (str(path), (str(path),), 3)
    assert found.warnings == ()


def test_a_name_is_found_for_everyone(tmp_path):
    assert resolve(folder(tmp_path / "app")).project.display_name == "app"
    assert resolve("/").project.display_name == "/"


def test_an_id_alone_has_no_path_and_no_roots():
    found = resolve(project_id="only")
    assert found == (Project("only"), BASE, settings.DomainKeys(), (), None, (), True, False)
    assert resolve(project_id="only", base=BASE._replace(memory_allowed_roots=("/r",))).roots == ("/r",)


def test_neither_argument_is_an_error():
    with pytest.raises(InvalidParam, match=r"project_path .* or project_id"):
        resolve()


@pytest.mark.parametrize("id", ["", "  ", "a\nb", "a\0b", "a\x1b[2J", "a\u2028b", "\ud800", "a\x85b"])
def test_an_id_is_readable_text(tmp_path, id):
    with pytest.raises(InvalidParam, match="project_id"):
        resolve(project_id=id)


def test_an_id_has_a_greatest_length(tmp_path):
    assert resolve(project_id="é" * 200).project.id == "é" * 200
    with pytest.raises(LimitExceeded, match="201 characters"):
        resolve(project_id="é" * 201)
    with pytest.raises(LimitExceeded, match=r"MEMORY_PROJECT_ID in the \.env"):
        resolve(folder(tmp_path / "app", env="MEMORY_PROJECT_ID=" + "x" * 201))


@pytest.mark.parametrize("id", ["a b", " a", "a/b", "%_'\"--", "日本", "👨‍👩‍👧", "git:x", "A", "a", "../../etc"])
def test_awkward_ids_are_taken_as_they_are(id):
    assert resolve(project_id=id).project.id == id


def test_a_remote_too_long_for_an_id_is_no_name(tmp_path):
    path = folder(tmp_path / "app", config='[remote "origin"]\nurl=https://h/' + "x" * 300)
    assert resolve(path).project.id == projects.path_id(str(path))


# --- nesting ---


def test_a_nested_folder_is_its_repository(tmp_path):
    top = folder(tmp_path / "app", config=ORIGIN)
    inner = folder(top / "a/b")
    found = resolve(inner)
    assert found.project.id == resolve(top).project.id == "git:github.com/Owner/repo"
    assert found.project.canonical_path == str(top)
    assert (found.folder, found.roots) == (str(inner), (str(inner),))
    assert resolve(inner, project_id="hard").project == Project("hard", "b", str(inner), "github.com/Owner/repo")


def test_a_nested_folder_takes_the_id_that_its_repository_claims(tmp_path):
    top = folder(tmp_path / "app", env="MEMORY_PROJECT_ID=whole", config=ORIGIN)
    inner = folder(top / "a", env="MEMORY_SCOPE_DEFAULT=a")
    found = resolve(inner)
    assert (found.project.id, found.keys.scope_default, found.project.canonical_path) == ("whole", "a", str(top))


def test_a_repository_without_a_remote_is_its_top_from_everywhere(tmp_path):
    top = folder(tmp_path / "app", config="")
    assert resolve(folder(top / "a/b")).project.id == resolve(top).project.id == projects.path_id(str(top))


def test_siblings_without_git_are_strangers(tmp_path):
    ids = {resolve(folder(tmp_path / name)).project.id for name in ("a", "ab", "a b", "A")}
    assert len(ids) == 4


# --- roots ---


def test_a_project_outside_the_roots_is_refused(tmp_path):
    path = folder(tmp_path / "app")
    allowed = BASE._replace(memory_allowed_roots=(str(tmp_path / "other"),))
    with pytest.raises(InvalidParam, match="project_path"):
        resolve(path, allowed)


def test_an_env_narrows_the_roots_of_paths_not_of_the_project_itself(tmp_path):
    path = folder(tmp_path / "app", env="MEMORY_ALLOWED_ROOTS=docs")
    assert resolve(path).roots == (str(path / "docs"),)
    allowed = BASE._replace(memory_allowed_roots=(str(tmp_path),))
    assert resolve(path, allowed).roots == (str(path / "docs"),)


# --- the store ---


def test_resolving_writes_nothing(tmp_path, connection):
    resolve(folder(tmp_path / "app"), known=lookup(connection))
    assert connection.execute("SELECT count(*) FROM projects").get == 0


def test_registering_makes_known_and_remembers_the_folder(tmp_path, connection):
    path = folder(tmp_path / "app", config=ORIGIN)
    write(connection, resolve(path))
    known = projects.find(connection, "git:github.com/Owner/repo")
    assert known == (
        Project("git:github.com/Owner/repo", "app", str(path), "github.com/Owner/repo", True),
        (str(path),),
    )
    assert resolve(path, known=lookup(connection)).project.known
    assert resolve(project_id=known.project.id, known=lookup(connection)).project == known.project._replace(
        canonical_path=None
    )


def test_a_project_is_registered_as_it_is_until_something_of_it_changes(tmp_path, connection):
    path = folder(tmp_path / "app", config=ORIGIN)
    assert not resolve(path, known=lookup(connection)).registered
    write(connection, resolve(path))
    assert resolve(path, known=lookup(connection)).registered
    assert resolve(project_id="git:github.com/Owner/repo", known=lookup(connection)).registered
    assert not resolve(folder(tmp_path / "clone", config=ORIGIN), known=lookup(connection)).registered
    (path / ".env").write_text("MEMORY_PROJECT_DISPLAY_NAME=New")
    assert not resolve(path, known=lookup(connection)).registered


def test_registering_again_changes_nothing(tmp_path, connection):
    found = resolve(folder(tmp_path / "app"))
    write(connection, found)
    before = connection.total_changes()
    write(connection, found, "2027-01-01T00:00:00.000Z")
    assert connection.total_changes() == before


def test_a_clone_elsewhere_is_the_same_project_and_both_folders_are_kept(tmp_path, connection):
    one, two = folder(tmp_path / "one", config=ORIGIN), folder(tmp_path / "two", config=ORIGIN)
    for path in (one, two):
        write(connection, resolve(path, known=lookup(connection)))
    found = resolve(two, known=lookup(connection))
    assert found.warnings == ()
    assert projects.find(connection, found.project.id) == (
        Project(found.project.id, "one", str(one), "github.com/Owner/repo", True),
        (str(one), str(two)),
    )


def test_a_new_display_name_is_taken_but_a_lookalike_does_not_rename(tmp_path, connection):
    path = folder(tmp_path / "app", env="MEMORY_PROJECT_ID=x\nMEMORY_PROJECT_DISPLAY_NAME=One")
    write(connection, resolve(path))
    (path / ".env").write_text("MEMORY_PROJECT_ID=x\nMEMORY_PROJECT_DISPLAY_NAME=Other")
    write(connection, resolve(path, known=lookup(connection)))
    assert projects.find(connection, "x").project.display_name == "Other"
    stranger = folder(tmp_path / "stranger", env="MEMORY_PROJECT_ID=y\nMEMORY_PROJECT_DISPLAY_NAME=Mine")
    write(connection, resolve(stranger, project_id="x", known=lookup(connection)))
    assert projects.find(connection, "x").project.display_name == "Other"


def test_an_id_first_known_without_a_folder_gets_one_later(tmp_path, connection):
    write(connection, resolve(project_id="x"))
    assert projects.find(connection, "x") == (Project("x", known=True), ())
    path = folder(tmp_path / "app")
    write(connection, resolve(path, project_id="x", known=lookup(connection)))
    assert projects.find(connection, "x").project.canonical_path == str(path)


# --- binding ---


@pytest.fixture
def claimant(tmp_path, connection):
    """A folder not seen before that claims the id of a known project."""
    write(connection, resolve(folder(tmp_path / "own", env="MEMORY_PROJECT_ID=shared")))
    return folder(tmp_path / "claimant", env="MEMORY_PROJECT_ID=shared")


def test_a_claim_is_answered_with_a_warning_until_the_folder_has_written(tmp_path, connection, claimant):
    found = resolve(claimant, known=lookup(connection))
    (warning,) = found.warnings
    assert str(tmp_path / "own") in warning
    assert str(claimant) in warning
    assert resolve(tmp_path / "own", known=lookup(connection)).warnings == ()
    write(connection, found)
    assert resolve(claimant, known=lookup(connection)).warnings == ()


def test_strict_binding_refuses_until_a_person_binds(connection, claimant):
    strict = BASE._replace(project_binding="strict")
    with pytest.raises(Conflict, match="project bind") as caught:
        resolve(claimant, strict, known=lookup(connection))
    assert caught.value.project_id == "shared"
    projects.bind(connection, "shared", str(claimant))
    projects.bind(connection, "shared", str(claimant))
    assert resolve(claimant, strict, known=lookup(connection)).warnings == ()


def test_an_env_cannot_loosen_the_binding(connection, claimant):
    (claimant / ".env").write_text("MEMORY_PROJECT_ID=shared\nMEMORY_PROJECT_BINDING=warn")
    with pytest.raises(Conflict):
        resolve(claimant, BASE._replace(project_binding="strict"), known=lookup(connection))


def test_under_strict_an_argument_uses_an_id_but_binds_no_folder(connection, claimant):
    strict = BASE._replace(project_binding="strict")
    write(connection, resolve(claimant, strict, project_id="shared", known=lookup(connection)))
    with pytest.raises(Conflict):
        resolve(claimant, strict, known=lookup(connection))


def test_a_claim_on_the_folders_own_remote_is_no_claim(tmp_path, connection):
    write(connection, resolve(folder(tmp_path / "one", config=ORIGIN)))
    two = folder(tmp_path / "two", env="MEMORY_PROJECT_ID=git:github.com/Owner/repo", config=ORIGIN)
    assert resolve(two, known=lookup(connection)).warnings == ()


def test_an_unknown_id_may_be_claimed_by_anyone(tmp_path, connection):
    path = folder(tmp_path / "app", env="MEMORY_PROJECT_ID=new")
    assert resolve(path, BASE._replace(project_binding="strict"), known=lookup(connection)).warnings == ()


def test_a_claim_is_checked_again_from_a_subfolder(tmp_path, connection):
    top = folder(tmp_path / "app", env="MEMORY_PROJECT_ID=shared", config="")
    write(connection, resolve(folder(top / "sub"), known=lookup(connection)))
    assert resolve(top, known=lookup(connection)).warnings == ()


def test_binding_needs_a_known_project(connection):
    with pytest.raises(NotFound, match="none"):
        projects.bind(connection, "none", "/x")


@pytest.mark.skipif(os.name == "nt", reason="counts POSIX calls")
def test_a_repeated_resolve_opens_no_file(tmp_path, monkeypatch):
    path = folder(tmp_path / "app", env="MEMORY_PROJECT_ID=x", config=ORIGIN)
    for file in (path / ".env", path / ".git/config"):
        os.utime(file, ns=(1, 1))
    monkeypatch.setattr("time.time_ns", lambda: 1 << 62)
    first = resolve(path)
    monkeypatch.setattr(os, "open", None)
    assert resolve(path) == first
