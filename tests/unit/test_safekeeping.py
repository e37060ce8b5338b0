"""Backups, restoring, and what is saved of a damaged store."""

from __future__ import annotations

import json
import os
import random
import stat
from pathlib import Path

import pytest

from scaffale import safekeeping
from scaffale.docs import Docs
from scaffale.errors import Conflict, InvalidParam, NotFound, ScaffaleError, StoreUnreadable
from scaffale.indexer import database as database_module
from scaffale.memory import Memory

PAGE = 4096


@pytest.fixture
def settings(make_settings):
    return make_settings()


@pytest.fixture
def filled(settings, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(8):
        (notes / f"n{number}.md").write_text(f"# Note {number}\n\nThe harbour of note {number}.\n" + "word " * 300)
    with Docs(settings) as docs:
        docs.scan_folder(folder_path=str(notes), shelf="notes")
    with Memory(settings) as memory:
        for number in range(40):
            add(memory, number)
    return settings


def add(memory, number):
    return memory.add_entry(
        actor="test", project_id="p", scope="s", topic=f"t{number}", source_type="decision",
        content=f"Decision number {number} about lighthouse {number}. " + f"reason{number} " * 80, tags=["all"],
    ).entry_id  # fmt: skip


def contents(settings):
    with Memory(settings) as memory:
        found = memory.search(query="", project_id="p", limit=100, include_content=True).results
    return {hit.topic: hit.content for hit in found}


def titles(settings):
    with Docs(settings) as docs:
        return [each.title for each in docs.list_documents(limit=100).documents]


def edit(path, change):
    data = bytearray(Path(path).read_bytes())
    change(data)
    Path(path).write_bytes(data)


def flip(path, what):
    """Change one letter of a text that stands in the file."""

    def change(data):
        at = data.find(what.encode())
        assert at >= 0
        while at >= 0:
            data[at] ^= 0x01
            at = data.find(what.encode())

    edit(path, change)


# --- backups ---


def test_a_backup_is_whole_private_and_described(filled, tmp_path):
    made = safekeeping.back_up(filled, str(tmp_path / "kept"))
    assert [each.name for each in made.stores] == ["memory", "docs"]
    assert stat.S_IMODE(os.stat(made.folder).st_mode) == 0o700
    manifest = json.loads((tmp_path / "kept" / "manifest.json").read_text())
    for store in made.stores:
        path = tmp_path / "kept" / store.file
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert manifest["stores"][store.name]["sha256"] == store.sha256
        assert path.stat().st_size == store.bytes
    assert sorted(os.listdir(tmp_path / "kept")) == ["docs.sqlite", "manifest.json", "memory.sqlite"]


def test_a_backup_goes_on_beside_writers_and_holds_one_moment(filled, tmp_path):
    with Memory(filled) as memory:
        add(memory, 100)
        safekeeping.back_up(filled, str(tmp_path / "kept"))
        add(memory, 101)
        safekeeping.restore(filled, str(tmp_path / "kept"))
        found = {hit.topic for hit in memory.search(query="lighthouse", project_id="p", limit=100).results}
    assert "t100" in found
    assert "t101" not in found


def test_nothing_is_overwritten_and_nothing_is_left_of_a_backup_that_fails(filled, tmp_path, monkeypatch):
    (tmp_path / "kept").mkdir()
    with pytest.raises(Conflict):
        safekeeping.back_up(filled, str(tmp_path / "kept"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(database_module.Database, "copy", full)
    with pytest.raises(InvalidParam, match="No space left"):
        safekeeping.back_up(filled, str(tmp_path / "other"))
    assert [name for name in os.listdir(tmp_path) if name.startswith("other")] == []


def test_a_damaged_store_is_not_backed_up(filled, tmp_path):
    flip(filled.memory_db_path, "lighthouse 7")
    with pytest.raises(StoreUnreadable, match="is damaged"):
        safekeeping.back_up(filled, str(tmp_path / "kept"))
    assert not (tmp_path / "kept").exists()


def test_there_is_nothing_to_back_up_without_a_store(settings, tmp_path):
    with pytest.raises(NotFound):
        safekeeping.back_up(settings, str(tmp_path / "kept"))


# --- restoring ---


def test_what_was_backed_up_comes_back_and_what_it_replaces_is_kept(filled, tmp_path):
    before = contents(filled), titles(filled)
    safekeeping.back_up(filled, str(tmp_path / "kept"))
    with Memory(filled) as memory:
        add(memory, 200)
    with Docs(filled) as docs:
        docs.remove_shelf(shelf="notes")
    done = safekeeping.restore(filled, str(tmp_path / "kept"))
    assert (contents(filled), titles(filled)) == before
    with Docs(filled) as docs:
        assert docs.search(query="harbour").results
    for store in done.stores:
        assert os.path.exists(store.kept)
    kept = next(each for each in done.stores if each.name == "memory").kept
    assert "t200" in contents(filled._replace(memory_db_path=kept))


def test_a_backup_is_restored_where_there_is_no_store(filled, make_settings, tmp_path):
    safekeeping.back_up(filled, str(tmp_path / "kept"))
    other = make_settings(
        MEMORY_DB_PATH=str(tmp_path / "new" / "memory.sqlite"), DOCS_DB_PATH=str(tmp_path / "new" / "docs.sqlite")
    )
    done = safekeeping.restore(other, str(tmp_path / "kept"))
    assert [each.kept for each in done.stores] == [None, None]
    assert contents(other) == contents(filled)


def test_a_backup_takes_the_place_of_a_store_that_cannot_be_read(filled, tmp_path):
    safekeeping.back_up(filled, str(tmp_path / "kept"))
    before = contents(filled)
    Path(filled.memory_db_path).write_bytes(b"noise " * 5_000)
    done = safekeeping.restore(filled, str(tmp_path / "kept"))
    assert contents(filled) == before
    assert Path(done.stores[0].kept).read_bytes() == b"noise " * 5_000


def damaged_manifest(folder):
    (folder / "manifest.json").write_text("{")


def foreign_manifest(folder):
    (folder / "manifest.json").write_text('{"format": "other", "stores": {}}')


def without_a_file(folder):
    (folder / "memory.sqlite").unlink()


def changed_file(folder):
    edit(folder / "memory.sqlite", lambda data: data.__setitem__(len(data) // 2, data[len(data) // 2] ^ 1))


def of_tomorrow(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "version": 2}))


def swapped_stores(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "docs.sqlite").write_bytes((folder / "memory.sqlite").read_bytes())
    manifest["stores"]["docs"]["sha256"] = manifest["stores"]["memory"]["sha256"]
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    "spoil", [damaged_manifest, foreign_manifest, without_a_file, changed_file, of_tomorrow, swapped_stores]
)
def test_a_backup_that_is_not_whole_is_refused_and_nothing_changed(filled, tmp_path, spoil):
    safekeeping.back_up(filled, str(tmp_path / "kept"))
    before = contents(filled), titles(filled)
    spoil(tmp_path / "kept")
    with pytest.raises(InvalidParam):
        safekeeping.restore(filled, str(tmp_path / "kept"))
    assert (contents(filled), titles(filled)) == before
    assert not [name for name in os.listdir(os.path.dirname(filled.memory_db_path)) if ".before-" in name]


def test_a_newer_schema_is_refused(filled, tmp_path, monkeypatch):
    safekeeping.back_up(filled, str(tmp_path / "kept"))
    older = [
        each._replace(schema=each.schema._replace(migrations=each.schema.migrations[:-1]))
        for each in safekeeping.places(filled)
    ]
    monkeypatch.setattr(safekeeping, "places", lambda _: older)
    with pytest.raises(InvalidParam, match="this program knows"):
        safekeeping.restore(filled, str(tmp_path / "kept"))


# --- damage ---


def place(settings, name):
    return next(each for each in safekeeping.places(settings) if each.name == name)


def test_a_store_that_is_whole_has_no_findings(filled):
    assert safekeeping.verify(place(filled, "memory")) == []
    assert safekeeping.verify(place(filled, "docs")) == []


def test_a_changed_letter_is_found_flagged_and_never_passed_off_as_whole(filled):
    flip(filled.memory_db_path, "lighthouse 7")
    flip(filled.docs_db_path, "harbour of note 3")
    (finding,) = safekeeping.verify(place(filled, "memory"))
    assert "is not what was written" in finding
    (finding,) = safekeeping.verify(place(filled, "docs"))
    assert "is not what was stored" in finding
    with Memory(filled) as memory:
        entry = next(hit.id for hit in memory.search(query="", project_id="p", limit=100).results if hit.topic == "t7")
        assert any("the store is damaged" in each for each in memory.read_entry(entry_id=entry, project_id="p").warnings)
    with Docs(filled) as docs:
        number = next(each.id for each in docs.list_documents(limit=100).documents if each.title == "Note 3")
        assert any("the store is damaged" in each for each in docs.read_document(document_id=number).warnings)


def test_repair_saves_all_but_what_is_damaged_and_names_that(filled):
    before = contents(filled)
    flip(filled.memory_db_path, "lighthouse 7")
    done = safekeeping.repair(place(filled, "memory"))
    assert done.saved["memory_entries"] == len(before) - 1
    assert len(done.lost) >= 1
    assert os.path.exists(done.kept)
    assert contents(filled) == {topic: text for topic, text in before.items() if topic != "t7"}
    assert safekeeping.verify(place(filled, "memory")) == []
    with Memory(filled) as memory:
        assert memory.search(query="lighthouse", project_id="p").total == len(before) - 1
        assert memory.index_differences() == (0, 0)
        add(memory, 300)


def test_a_journal_with_a_hole_is_found(filled):
    opened = database_module.Database(filled.memory_db_path, place(filled, "memory").schema)
    with opened.write() as connection:
        connection.execute("DELETE FROM journal WHERE seq = 20")
    opened.close()
    assert "lacks 1 of its lines" in safekeeping.verify(place(filled, "memory"))[0]


@pytest.mark.parametrize("seed", range(20))
def test_of_pages_that_are_noise_all_rows_on_the_others_are_saved(filled, seed):
    """Nothing that comes back is other than it was; what does not come back is named."""
    before = contents(filled)
    chance = random.Random(seed)

    def change(data):
        for page in chance.sample(range(2, len(data) // PAGE), chance.randint(1, 5)):
            data[page * PAGE : (page + 1) * PAGE] = chance.randbytes(PAGE)

    edit(filled.memory_db_path, change)
    try:
        wrong = safekeeping.verify(place(filled, "memory"))
    except ScaffaleError as error:
        wrong = [error.detail]
    if not wrong:  # the noise fell on free pages
        assert contents(filled) == before
        return
    try:
        done = safekeeping.repair(place(filled, "memory"))
    except StoreUnreadable as error:
        assert "scaffale restore" in error.detail
        return
    after = contents(filled) if done.saved.get("projects") else {}
    assert after.items() <= before.items()
    assert len(after) == len(before) or done.lost
    assert safekeeping.verify(place(filled, "memory")) == []


def test_a_file_that_is_no_store_is_left_as_it_is(filled):
    Path(filled.memory_db_path).write_bytes(b"noise " * 5_000)
    with pytest.raises(StoreUnreadable, match="scaffale restore"):
        safekeeping.repair(place(filled, "memory"))
    assert Path(filled.memory_db_path).read_bytes() == b"noise " * 5_000
    assert not [name for name in os.listdir(os.path.dirname(filled.memory_db_path)) if name.endswith(".part")]
