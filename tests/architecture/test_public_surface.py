"""What people may import, and what they may catch."""

from __future__ import annotations

import inspect
import types

import pytest

import scaffale
from scaffale import errors

SURFACE = [
    "Conflict", "Docs", "Document", "DocumentHit", "Entry", "EntryHit", "Internal", "InvalidParam", "LimitExceeded",
    "Memory", "NotFound", "Project", "ScaffaleError", "ScanReport", "SecretDetected", "Section", "Settings", "Shelf",
    "StoreBusy", "StoreUnreadable", "__version__", "load_settings", "open_docs", "open_memory",
]  # fmt: skip
CODES = {
    "ScaffaleError": "INTERNAL", "InvalidParam": "INVALID_PARAM", "NotFound": "NOT_FOUND", "Conflict": "CONFLICT",
    "LimitExceeded": "LIMIT_EXCEEDED", "SecretDetected": "SECRET_DETECTED", "StoreBusy": "STORE_BUSY",
    "StoreUnreadable": "STORE_UNREADABLE", "Internal": "INTERNAL", "IndexUnusable": "INTERNAL",
}  # fmt: skip


def test_the_surface_is_the_agreed_one():
    assert sorted(scaffale.__all__) == dir(scaffale) == SURFACE
    assert len(set(scaffale.__all__)) == len(scaffale.__all__)


@pytest.mark.parametrize("name", SURFACE)
def test_every_public_name_resolves_and_says_what_it_is(name):
    found = getattr(scaffale, name)
    assert name == "__version__" or (inspect.getdoc(found) or "").strip()


def test_nothing_else_is_public():
    others = {
        name
        for name, value in vars(scaffale).items()
        if not name.startswith("_") and name not in SURFACE and not isinstance(value, types.ModuleType)
    }
    assert others == {"annotations", "TYPE_CHECKING"}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = scaffale.nothing


def test_every_verb_of_a_hall_is_documented():
    for hall in (scaffale.Memory, scaffale.Docs):
        verbs = {name: verb for name, verb in inspect.getmembers(hall, inspect.isfunction) if not name.startswith("_")}
        assert len(verbs) > 8
        assert not [name for name, verb in verbs.items() if not (verb.__doc__ or "").strip()]


def test_halls_open_over_the_settings_of_the_process(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("MEMORY_DB_PATH", "DOCS_DB_PATH", "MEMORY_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# A\n\nword\n", encoding="utf-8")
    with scaffale.open_docs() as docs:
        assert docs.scan_folder(folder_path=str(tmp_path), shelf="s").new == 1
        assert isinstance(docs.search(query="word").results[0], scaffale.DocumentHit)
    with scaffale.open_memory(scaffale.load_settings()) as memory:
        memory.add_entry(actor="me", project_id="p", scope="s", topic="t", content="word", source_type="decision")
        assert isinstance(memory.search(query="word", project_id="p").results[0], scaffale.EntryHit)
    assert sorted(path.name for path in (tmp_path / ".mcp-servers").iterdir()) == ["docs", "memory"]


# --- errors ------------------------------------------------------------------------------------------------------------


def test_errors_are_one_tree_with_one_code_each():
    tree = {name: value for name, value in vars(errors).items() if inspect.isclass(value)}
    assert {name: error.code for name, error in tree.items()} == CODES
    for name, error in tree.items():
        expected = Exception if name == "ScaffaleError" else errors.ScaffaleError
        assert error.__bases__ == (expected,)


def test_the_tree_is_drawn_where_it_grows():
    drawn = [line.split()[1] for line in errors.__doc__.splitlines() if line.strip().startswith(("├──", "└──"))]
    assert drawn == [name for name in CODES if name != "ScaffaleError"]


def test_an_error_is_its_detail():
    error = errors.NotFound("no entry 7", project_id="p")
    assert (str(error), error.detail, error.project_id, error.code) == ("no entry 7", "no entry 7", "p", "NOT_FOUND")
