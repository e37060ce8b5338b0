"""Precedence, where values come from, and what a `.env` may and may not do."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale import settings
from scaffale.errors import InvalidParam
from scaffale.settings import KEYS, Settings

ROOT = Path(settings.__file__).parents[1]


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def load(home, cwd, **environ):
    return settings.load({"HOME": str(home), **{key: str(value) for key, value in environ.items()}}, str(cwd))


def env(folder, text):
    (folder / ".env").write_text(text)


# --- defaults and the launcher's environment ---


def test_defaults_are_those_of_the_contract(home, work):
    loaded = load(home, work)
    assert loaded.memory_db_path == str(home / ".mcp-servers/memory/memory.sqlite")
    assert loaded.docs_db_path == str(home / ".mcp-servers/docs/docs.sqlite")
    assert loaded.memory_allowed_roots == loaded.docs_allowed_roots == ()
    assert (loaded.max_entry_bytes, loaded.max_search_results, loaded.max_tags) == (200_000, 50, 20)
    assert (loaded.max_title_chars, loaded.max_summary_chars) == (200, 500)
    assert (loaded.max_source_ref_chars, loaded.max_source_uri_chars) == (400, 1000)
    assert (loaded.max_project_id_chars, loaded.max_scope_chars) == (200, 120)
    assert (loaded.max_topic_chars, loaded.max_tag_chars) == (200, 80)
    assert (loaded.memory_enable_vector, loaded.memory_vector_backend, loaded.debug) == (False, "none", False)
    assert (loaded.audit_log, loaded.audit_jsonl, loaded.project_binding) == (True, None, "warn")
    assert loaded.memory_lexical_backend == loaded.docs_lexical_backend == "auto"
    assert loaded.warnings == ()
    assert set(loaded.sources.values()) == {"default"}


def test_every_key_fills_a_field_of_its_own_and_has_a_source(home, work):
    fields = [key.field for key in KEYS.values()]
    assert len(set(fields)) == len(fields)
    assert set(fields) == set(Settings._fields) - {"sources", "warnings"}
    assert load(home, work).sources.keys() == KEYS.keys()


def test_the_environment_sets_values_and_is_named_as_their_source(home, work):
    said = {"MEMORY_MAX_TAGS": " 3 ", "MEMORY_AUDIT_LOG": "off", "DOCS_LEXICAL_BACKEND": "FTS5"}
    loaded = load(home, work, MEMORY_DB_PATH="~/m.sqlite", **said)
    assert (loaded.max_tags, loaded.audit_log, loaded.docs_lexical_backend) == (3, False, "fts5")
    assert loaded.memory_db_path == str(home / "m.sqlite")
    assert loaded.sources["MEMORY_MAX_TAGS"] == "environment"
    assert loaded.sources["MEMORY_MAX_TITLE_CHARS"] == "default"


def test_an_empty_value_is_not_said(home, work):
    assert load(home, work, MEMORY_MAX_TAGS="", MEMORY_ALLOWED_ROOTS="", MEMORY_CONFIG="") == load(home, work)


def test_roots_are_real_paths_without_doubles(home, work, tmp_path):
    (tmp_path / "link").symlink_to(work)
    listed = os.pathsep.join([str(work), str(tmp_path / "link"), "", "~", "sub"])
    roots = load(home, work, MEMORY_ALLOWED_ROOTS=listed).memory_allowed_roots
    assert roots == (str(work), str(home), str(work / "sub"))


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("MEMORY_MAX_TAGS", "abc", "a whole number, 0 or more"),
        ("MEMORY_MAX_TAGS", "-1", "a whole number"),
        ("MEMORY_MAX_TAGS", "1_0", "a whole number"),
        ("MEMORY_MAX_TAGS", "٣", "a whole number"),
        ("MEMORY_MAX_ENTRY_BYTES", "0", "a whole number, 1 or more"),
        ("MEMORY_AUDIT_LOG", "maybe", "1 or 0"),
        ("MEMORY_LEXICAL_BACKEND", "lucene", "auto, tantivy, fts5, like"),
        ("MEMORY_PROJECT_BINDING", "loose", "warn, strict"),
        ("MEMORY_VECTOR_BACKEND", "a b", "a short name"),
        ("MEMORY_DB_PATH", "a\0b", "a path"),
    ],
)
def test_a_value_that_does_not_parse_is_named_with_key_value_and_source(home, work, key, value, expected):
    with pytest.raises(InvalidParam) as caught:
        load(home, work, **{key: value})
    assert key in caught.value.detail
    assert repr(value) in caught.value.detail
    assert "environment" in caught.value.detail
    assert expected in caught.value.detail


def test_memory_and_documents_never_share_a_file(home, work, tmp_path):
    (tmp_path / "link").symlink_to(work)
    with pytest.raises(InvalidParam, match="MEMORY_DB_PATH and DOCS_DB_PATH"):
        load(home, work, MEMORY_DB_PATH=work / "x.sqlite", DOCS_DB_PATH=tmp_path / "link" / "x.sqlite")


@pytest.mark.parametrize("part", ["", "-wal", "-shm"])
@pytest.mark.parametrize("store", ["MEMORY_DB_PATH", "DOCS_DB_PATH"])
def test_the_audit_mirror_is_no_part_of_a_store(home, work, store, part):
    with pytest.raises(InvalidParam, match="MEMORY_AUDIT_JSONL"):
        load(home, work, MEMORY_AUDIT_JSONL=work / f"x.sqlite{part}", **{store: work / "x.sqlite"})


def test_a_domain_key_in_the_environment_is_ignored_aloud(home, work):
    (warning,) = load(home, work, MEMORY_PROJECT_ID="x").warnings
    assert "MEMORY_PROJECT_ID" in warning


def test_nothing_reads_the_process_environment(home, work, monkeypatch):
    monkeypatch.setenv("MEMORY_MAX_TAGS", "1")
    monkeypatch.setenv("MEMORY_DB_PATH", "/elsewhere")
    assert load(home, work) == load(home, work)
    assert load(home, work).max_tags == 20


# --- memory.config.json ---


def test_the_configuration_file_lies_between_defaults_and_environment(home, work):
    config = work / "memory.config.json"
    said = {"MEMORY_MAX_TAGS": 7, "memory_max_title_chars": "90", "max_topic_chars": 60, "memory_audit_log": False}
    config.write_text(json.dumps(said))
    loaded = load(home, home, MEMORY_CONFIG=config, MEMORY_MAX_TAGS=5)
    assert (loaded.max_tags, loaded.max_title_chars, loaded.max_topic_chars, loaded.audit_log) == (5, 90, 60, False)
    assert loaded.sources["MEMORY_MAX_TITLE_CHARS"] == f"memory.config.json at {config}"
    assert loaded.sources["MEMORY_MAX_TAGS"] == "environment"


def test_paths_of_the_configuration_file_start_at_its_folder(home, work):
    config = work / "memory.config.json"
    config.write_text(json.dumps({"memory_allowed_roots": ["a", "~/b"], "docs_db_path": "d.sqlite"}))
    loaded = load(home, home, MEMORY_CONFIG=config)
    assert loaded.memory_allowed_roots == (str(work / "a"), str(home / "b"))
    assert loaded.docs_db_path == str(work / "d.sqlite")


def test_an_unknown_key_of_the_configuration_file_is_a_warning(home, work):
    config = work / "memory.config.json"
    config.write_text(json.dumps({"memory_max_tagz": 7, "memory_project_id": "x"}))
    first, second = load(home, work, MEMORY_CONFIG=config).warnings
    assert "memory_max_tagz" in first
    assert "memory_project_id" in second


@pytest.mark.parametrize(
    "text", ["{", "[]", '"x"', "[" * 100_000, '{"memory_max_tags": 1.5}', '{"memory_max_tags": true}', "\0", ""]
)
def test_a_configuration_file_that_makes_no_sense_is_an_error_that_names_it(home, work, text):
    config = work / "memory.config.json"
    config.write_text(text)
    with pytest.raises(InvalidParam, match=re.escape(str(config))):
        load(home, work, MEMORY_CONFIG=config)


def test_a_missing_configuration_file_is_an_error(home, work):
    with pytest.raises(InvalidParam, match="MEMORY_CONFIG"):
        load(home, work, MEMORY_CONFIG=work / "none.json")


# --- the discovered .env ---


def test_the_nearest_env_above_the_working_folder_lowers_limits(home, work):
    deep = work / "a" / "b"
    deep.mkdir(parents=True)
    env(work, "MEMORY_MAX_TAGS=1")
    env(work / "a", "MEMORY_MAX_TAGS=2")
    loaded = load(home, deep)
    assert loaded.max_tags == 2
    assert loaded.sources["MEMORY_MAX_TAGS"] == f".env of {work / 'a'}"


def test_an_env_above_the_roots_is_not_looked_at(home, work):
    inside = work / "root" / "sub"
    inside.mkdir(parents=True)
    env(work, "MEMORY_MAX_TAGS=1")
    assert load(home, inside, MEMORY_ALLOWED_ROOTS=work / "root").max_tags == 20
    assert load(home, work, MEMORY_ALLOWED_ROOTS=work / "root").max_tags == 20
    env(work / "root", "MEMORY_MAX_TAGS=2")
    assert load(home, inside, MEMORY_ALLOWED_ROOTS=work / "root").max_tags == 2


def test_the_discovered_env_cannot_name_roots_where_none_are_configured(home, work):
    env(work, f"MEMORY_ALLOWED_ROOTS={work}")
    loaded = load(home, work)
    assert loaded.memory_allowed_roots == ()
    assert "MEMORY_ALLOWED_ROOTS" in loaded.warnings[0]


# --- the .env of a project ---


def test_domain_keys_belong_to_the_project(home, work):
    env(
        work,
        'MEMORY_PROJECT_ID=cliente-x/app\nMEMORY_PROJECT_DISPLAY_NAME="Cliente X"\n'
        "MEMORY_SCOPE_DEFAULT=backend\nMEMORY_ALLOWED_TAGS=decision, bug,,bug",
    )
    answer = settings.for_project(load(home, home), str(work))
    assert answer.keys == ("cliente-x/app", "Cliente X", "backend", ("decision", "bug"), str(work))
    assert answer.warnings == ()


def test_without_an_env_the_very_same_settings_come_back(home, work):
    loaded = load(home, home)
    answer = settings.for_project(loaded, str(work))
    assert answer.settings is loaded
    assert answer.keys == settings.DomainKeys()


def test_limits_go_down_not_up(home, work):
    env(work, "MEMORY_MAX_TAGS=2\nMEMORY_MAX_ENTRY_BYTES=999999999\nMEMORY_MAX_TITLE_CHARS=200")
    answer = settings.for_project(load(home, home), str(work))
    assert (answer.settings.max_tags, answer.settings.max_entry_bytes) == (2, 200_000)
    (warning,) = answer.warnings
    assert "MEMORY_MAX_ENTRY_BYTES" in warning
    assert str(work) in warning
    assert answer.settings.sources["MEMORY_MAX_TAGS"] == f".env of {work}"
    assert answer.settings.sources["MEMORY_MAX_ENTRY_BYTES"] == "default"


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_no_limit_ever_rises(wanted, current):
    base = Settings("/m", "/d", max_tags=current)
    place = settings._Place("", "/", "")
    value, wider = settings._lowered("MEMORY_MAX_TAGS", str(wanted), place, current, ())
    assert value <= base.max_tags
    assert wider is (wanted > current)


HOSTILE = {
    "MEMORY_DB_PATH": "/tmp/stolen.sqlite",
    "MEMORY_AUDIT_LOG": "0",
    "MEMORY_AUDIT_JSONL": "/tmp/stolen.jsonl",
    "MEMORY_ALLOWED_SECRETS": "deadbeef",
    "MEMORY_PROJECT_BINDING": "strict",
    "MEMORY_LEXICAL_BACKEND": "like",
    "MEMORY_ENABLE_VECTOR": "1",
    "MEMORY_VECTOR_BACKEND": "exact",
    "MEMORY_DEBUG": "1",
    "MEMORY_CONFIG": "/tmp/config.json",
    "MEMORY_ALLOWED_ROOTS": "/",
    "MEMORY_MAX_SEARCH_RESULTS": "5000",
}


@pytest.mark.parametrize("key", HOSTILE)
def test_what_a_project_may_not_set_is_ignored_with_a_warning_and_without_its_value(home, work, key):
    env(work, f"{key}={HOSTILE[key]}")
    loaded = load(home, home)
    answer = settings.for_project(loaded, str(work))
    assert answer.settings == loaded
    (warning,) = answer.warnings
    assert key in warning
    assert len(HOSTILE[key]) < 4 or HOSTILE[key] not in warning


def test_saying_what_is_already_so_needs_no_warning(home, work):
    env(work, "MEMORY_AUDIT_LOG=1\nMEMORY_DEBUG=false\nMEMORY_LEXICAL_BACKEND=auto")
    assert settings.for_project(load(home, home), str(work)).warnings == ()


def test_other_programs_keys_are_passed_over(home, work):
    env(work, "DOCS_DB_PATH=/tmp/x\nDATABASE_URL=postgres://a\nMEMORY_FILE_PATH=/tmp/y")
    loaded = load(home, home)
    assert settings.for_project(loaded, str(work)) == (loaded, settings.DomainKeys(), ())


def test_roots_become_narrower(home, work, tmp_path):
    env(work, f"MEMORY_ALLOWED_ROOTS=src{os.pathsep}{tmp_path}{os.pathsep}../other")
    answer = settings.for_project(load(home, home), str(work))
    assert answer.settings.memory_allowed_roots == (str(work / "src"),)
    assert "MEMORY_ALLOWED_ROOTS" in answer.warnings[0]


def test_a_link_does_not_carry_a_root_outside(home, work, tmp_path):
    (work / "src").symlink_to(tmp_path)
    env(work, "MEMORY_ALLOWED_ROOTS=src")
    assert settings.for_project(load(home, home), str(work)).settings.memory_allowed_roots == ()


def test_a_value_that_does_not_parse_names_the_env(home, work):
    env(work, "MEMORY_MAX_TAGS=many")
    with pytest.raises(InvalidParam, match=re.escape(f"MEMORY_MAX_TAGS is 'many' in .env of {work}")):
        settings.for_project(load(home, home), str(work))


def test_a_subfolder_takes_the_keys_of_its_repository_and_adds_its_own(home, work):
    sub = work / "sub"
    sub.mkdir()
    env(work, "MEMORY_PROJECT_ID=whole\nMEMORY_SCOPE_DEFAULT=all\nMEMORY_MAX_TAGS=5")
    env(sub, "MEMORY_SCOPE_DEFAULT=part\nMEMORY_MAX_TAGS=7")
    loaded = load(home, home)
    answer = settings.for_project(loaded, str(sub), top=str(work))
    assert answer.keys[:3] == ("whole", None, "part")
    assert answer.keys.claimed_by == str(work)
    assert answer.settings.max_tags == 5
    inside = loaded._replace(memory_allowed_roots=(str(sub),))
    assert settings.for_project(inside, str(sub), top=str(work)).keys.project_id is None


def test_a_changed_env_is_read_again_and_an_unchanged_one_is_not(home, work, monkeypatch):
    loaded = load(home, home)
    env(work, "MEMORY_PROJECT_ID=one")
    os.utime(work / ".env", ns=(1, 1))
    monkeypatch.setattr(settings.time, "time_ns", lambda: 1 << 62)
    assert settings.for_project(loaded, str(work)).keys.project_id == "one"
    with monkeypatch.context() as patched:
        patched.setattr(settings.files, "read_regular", None)
        assert settings.for_project(loaded, str(work)).keys.project_id == "one"
    env(work, "MEMORY_PROJECT_ID=two")
    assert settings.for_project(loaded, str(work)).keys.project_id == "two"
    (work / ".env").unlink()
    assert settings.for_project(loaded, str(work)).keys.project_id is None


def test_a_young_env_is_never_remembered(home, work):
    loaded = load(home, home)
    for name in ("one", "two", "six"):  # same size, perhaps the same tick of the clock
        env(work, f"MEMORY_PROJECT_ID={name}")
        assert settings.for_project(loaded, str(work)).keys.project_id == name


# --- a .env may be anything ---


@pytest.mark.parametrize("kind", ["huge", "binary", "utf16", "latin1", "pipe", "link out", "loop"])
@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
def test_an_env_that_is_no_env_is_ignored_with_a_warning(home, work, tmp_path, kind):
    path = work / ".env"
    if kind == "huge":
        path.write_text("MEMORY_PROJECT_ID=x\n" * 100_000)
    elif kind == "binary":
        path.write_bytes(b"MEMORY_PROJECT_ID=x\n\0\xff")
    elif kind == "utf16":
        path.write_text("MEMORY_PROJECT_ID=x", encoding="utf-16")
    elif kind == "latin1":
        path.write_bytes("MEMORY_PROJECT_ID=perché".encode("latin-1"))
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link out":
        env(tmp_path, "MEMORY_PROJECT_ID=x")
        path.symlink_to(tmp_path / ".env")
    else:
        path.symlink_to(path)
    loaded = load(home, home)
    answer = settings.for_project(loaded, str(work))
    assert answer[:2] == (loaded, settings.DomainKeys())
    (warning,) = answer.warnings
    assert str(path) in warning


def test_a_folder_named_env_is_a_virtual_environment(home, work):
    (work / ".env").mkdir()
    loaded = load(home, home)
    assert settings.for_project(loaded, str(work)) == (loaded, settings.DomainKeys(), ())


def test_a_link_inside_the_project_is_followed(home, work):
    (work / "config.env").write_text("MEMORY_PROJECT_ID=x")
    (work / ".env").symlink_to("config.env")
    assert settings.for_project(load(home, home), str(work)).keys.project_id == "x"
