"""Export and import: a byte-stable round trip, three ways to meet what is there, and files that are made to harm."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keeping import HOME, audit, files_with, ids, keep, read

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, ScaffaleError, SecretDetected
from scaffale.indexer import portable
from scaffale.memory import Memory, archive
from scaffale.model import CONCEPT

ACTOR = {"actor": "mover", **HOME}
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def elsewhere(tmp_path):
    """`elsewhere("b")`: a memory with a store of its own."""
    from scaffale import settings as settings_module

    opened = []

    def open_one(name, **environ):
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        opened.append(Memory(settings_module.load({"HOME": str(home), **environ}, str(home))))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def export(memory, path, **more):
    return memory.export_project(save_path=str(path), anywhere=True, overwrite=True, **{**ACTOR, **more})


def bring(memory, path, **more):
    return memory.import_project(import_path=str(path), anywhere=True, **{**ACTOR, **more})


def without_date(path):
    return re.sub(rb'"exported_at": ?"[^"]*"', b"", path.read_bytes())


def filled(memory):
    """Entries of every status, with tags, links, and characters of all kinds."""
    one = keep(memory, "One: «è» 🙂\r\n\ttabs  ", title="First", summary="S", tags=["b", "a"], confidence=0.25, importance=5)
    two = keep(memory, "Two.", source_ref="X-1", source_uri="https://example.org/?q=1", topic="other")
    three = keep(memory, "Three, superseded.")
    four = keep(memory, "Four, archived.", tags=["only-here"])
    five = keep(memory, "Five, invalidated.")
    memory.link_entries(source_entry_id=one, target_entry_id=three, relation="supersedes", rationale="newer", **ACTOR)
    memory.link_entries(source_entry_id=two, target_uri="https://example.org/x", label="see", confidence=0.5, **ACTOR)
    memory.link_entries(source_entry_id=two, target_entry_id=four, **ACTOR)
    memory.update_entry(entry_id=four, status="archived", **ACTOR)
    memory.invalidate_entry(entry_id=five, reason="wrong", **ACTOR)
    return one, two, three, four, five


# --- out ---------------------------------------------------------------------------------------------------------------


def test_an_export_holds_what_it_says(memory, tmp_path):
    one, two, three, four, _ = filled(memory)
    done = export(memory, tmp_path / "p.json")
    written = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert (written["format"], written["version"]) == ("memory-node.project-export", 1)
    assert written["project"]["id"] == "p"
    assert [entry["id"] for entry in written["entries"]] == [one, two, three]
    assert written["entries"][0]["content"] == "One: «è» 🙂\r\n\ttabs  "
    assert [tag["name"] for tag in written["tags"]] == ["a", "b"]
    assert len(written["links"]) == 2
    assert (done.entries, done.tags, done.links) == (3, 2, 2)
    assert done.left_out == {"archived": 1, "invalidated": 1, "links": 1}
    assert any("links" in warning for warning in done.warnings)
    assert (tmp_path / "p.json").stat().st_mode & 0o077 == 0
    whole = export(memory, tmp_path / "all.json", include_archived=True, include_invalidated=True)
    assert (whole.entries, whole.links, whole.left_out) == (5, 3, {})
    assert four in (tmp_path / "all.json").read_text(encoding="utf-8")
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("form", ["json", "zip"])
def test_the_round_trip_is_the_same_to_the_byte_but_for_the_date(memory, elsewhere, tmp_path, form):
    filled(memory)
    given = {"format": form, "include_archived": True, "include_invalidated": True}
    first, second = tmp_path / f"1.{form}", tmp_path / f"2.{form}"
    export(memory, first, **given)
    other = elsewhere("b")
    done = bring(other, first)
    assert (done.seen, done.new, done.links) == (5, 5, 3)
    export(other, second, **given)
    if form == "json":
        assert without_date(first) == without_date(second)
    else:
        parts = [zipfile.ZipFile(path) for path in (first, second)]
        assert parts[0].namelist() == parts[1].namelist() == list(archive.MEMBERS)
        for name in ("entries.json", "tags.json", "links.json"):
            assert parts[0].read(name) == parts[1].read(name)
    assert ids(other.search(query="two", **HOME)) == ids(memory.search(query="two", **HOME))
    again = bring(other, first, on_conflict="merge")
    assert (again.new, again.changed, again.same, again.skipped) == (0, 0, 5, 0)


def test_a_file_that_is_there_is_not_overwritten_unless_that_is_meant(memory, tmp_path):
    keep(memory)
    path = tmp_path / "p.json"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(Conflict, match="there already"):
        memory.export_project(save_path=str(path), anywhere=True, **ACTOR)
    assert path.read_text(encoding="utf-8") == "mine"
    export(memory, path)
    assert path.read_text(encoding="utf-8") != "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["home", "p.json"]


def test_paths_stay_inside_the_roots(open_memory, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    os.symlink(outside, project / "out")
    memory = open_memory()
    where = {"actor": "a", "project_path": str(project)}
    memory.add_entry(scope="s", topic="t", content="x", source_type="decision", **where)
    for path in (str(outside / "x.json"), "../x.json", "out/x.json", str(project), "/dev/null", "C:\\x.json", ""):
        with pytest.raises(InvalidParam):
            memory.export_project(save_path=path, **where)
        with pytest.raises(InvalidParam):
            memory.import_project(import_path=path, **where)
    with pytest.raises(InvalidParam, match="roots"):
        memory.export_project(save_path=str(outside / "x.json"), **ACTOR)
    with pytest.raises(InvalidParam, match="store of this program"):
        memory.import_project(import_path=memory.status().db_path, anywhere=True, **where)
    assert memory.export_project(save_path="inside.json", **where).save_path == str((project / "inside.json").resolve())
    assert list(outside.iterdir()) == []


def test_there_is_nothing_to_export_without_a_store(memory, tmp_path):
    with pytest.raises(NotFound):
        export(memory, tmp_path / "p.json")
    assert not memory.status().exists


def test_credentials_that_older_rules_let_in_are_masked_in_an_export_that_still_fits_its_checksums(memory, elsewhere, tmp_path):
    entry = keep(memory)
    with memory._open()[0].write() as connection:
        connection.execute("UPDATE memory_entries SET content = ?, secret_rules = 0", (f"token {TOKEN} end",))
    done = export(memory, tmp_path / "p.json")
    assert any("masked" in warning for warning in done.warnings)
    assert not files_with(tmp_path, TOKEN) & {"p.json"}
    other = elsewhere("b")
    assert bring(other, tmp_path / "p.json").new == 1
    assert "REDACTED" in read(other, entry).content


# --- in ----------------------------------------------------------------------------------------------------------------


def test_fail_changes_nothing_when_an_entry_is_there(memory, elsewhere, tmp_path):
    one, *_ = filled(memory)
    export(memory, tmp_path / "p.json")
    other = elsewhere("b")
    bring(other, tmp_path / "p.json")
    other.update_entry(entry_id=one, title="Changed", **ACTOR)
    more = keep(memory, "A new one.")
    export(memory, tmp_path / "p.json")
    with pytest.raises(Conflict, match="3 of the entries"):
        bring(other, tmp_path / "p.json")
    assert read(other, one).title == "Changed"
    with pytest.raises(NotFound):
        other.read_entry(entry_id=more, **HOME)


def test_merge_adds_what_is_new_and_fills_in_what_is_absent(memory, elsewhere, tmp_path):
    one, two = keep(memory, "One.", title="Theirs", tags=["x"]), keep(memory, "Two.", summary="Said.")
    other = elsewhere("b")
    export(memory, tmp_path / "p.json")
    bring(other, tmp_path / "p.json")
    other.update_entry(entry_id=one, title="", tags=["y"], **ACTOR)
    other.update_entry(entry_id=two, content="Two, otherwise.", **ACTOR)
    three = keep(memory, "Three.")
    memory.update_entry(entry_id=two, importance=5, **ACTOR)
    export(memory, tmp_path / "p.json")
    done = bring(other, tmp_path / "p.json", on_conflict="merge")
    assert (done.seen, done.new, done.changed, done.same, done.skipped) == (3, 1, 1, 0, 1)
    assert [(skip.entry_id, "differs" in skip.reason) for skip in done.skips] == [(two, True)]
    assert (read(other, one).title, read(other, one).tags) == ("Theirs", ("x", "y"))
    assert read(other, two).content == "Two, otherwise."
    assert read(other, three).content == "Three."
    assert other.entry_history(entry_id=one, **HOME).events[-1].operation == "merged"
    again = bring(other, tmp_path / "p.json", on_conflict="merge")
    assert (again.new, again.changed, again.same, again.skipped) == (0, 0, 2, 1)


def test_replace_takes_an_export_first_and_leaves_a_tombstone_for_each(memory, elsewhere, tmp_path):
    filled(memory)
    export(memory, tmp_path / "p.json")
    other = elsewhere("b")
    gone = keep(other, "Only here, and going: needleword.", title="Going")
    stays = keep(other, "A concept.")
    with other._open()[0].write() as connection:
        connection.execute("UPDATE memory_entries SET source_type = ? WHERE id = ?", (CONCEPT, stays))
    with pytest.raises(InvalidParam, match="confirm_replace"):
        bring(other, tmp_path / "p.json", on_conflict="replace")
    done = bring(other, tmp_path / "p.json", on_conflict="replace", confirm_replace=True)
    assert (done.new, done.removed, done.kept) == (3, 1, 1)
    with pytest.raises(NotFound):
        other.read_entry(entry_id=gone, **HOME)
    assert read(other, stays).content == "A concept."
    (tombstone,) = audit(other, "memory_delete_entry")
    assert (tombstone["entry_id"], tombstone["result"]["deleted"]) == (gone, True)
    assert "needleword" not in str(audit(other))
    assert "Going" not in str(audit(other))
    backup = json.loads(Path(done.backup).read_text(encoding="utf-8"))
    assert {entry["id"] for entry in backup["entries"]} == {gone, stays}
    assert os.stat(done.backup).st_mode & 0o077 == 0
    twice = bring(other, tmp_path / "p.json", on_conflict="replace", confirm_replace=True)
    assert (twice.new, twice.removed) == (3, 3)


def test_an_export_of_another_project_comes_in_under_new_ids_and_only_when_that_is_said(memory, elsewhere, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    filled(memory)
    export(memory, tmp_path / "p.json")
    with pytest.raises(InvalidParam, match="another project"):
        memory.import_project(actor="a", project_path=str(project), import_path=str(tmp_path / "p.json"), anywhere=True)
    done = memory.import_project(actor="a", project_id="q", import_path=str(tmp_path / "p.json"), anywhere=True)
    assert (done.new, done.links, len(done.id_map)) == (3, 2, 3)
    for old, new in done.id_map.items():
        assert read(memory, new, project_id="q").content == read(memory, old).content
        with pytest.raises(NotFound):
            memory.read_entry(entry_id=old, project_id="q")
    one = next(iter(done.id_map.values()))
    assert memory.list_entry_links(entry_id=one, project_id="q").links[0].target_uri.rpartition("/")[2] in done.id_map.values()


def test_an_id_that_another_project_has_is_given_anew(memory, elsewhere, tmp_path):
    entry = keep(memory, "Mine.")
    export(memory, tmp_path / "p.json")
    other = elsewhere("b")
    with (tmp_path / "p.json").open(encoding="utf-8") as file:
        whole = json.load(file)
    whole["project"]["id"] = "q"
    (tmp_path / "q.json").write_text(json.dumps(whole), encoding="utf-8")
    other.import_project(actor="a", project_id="q", import_path=str(tmp_path / "q.json"), anywhere=True)
    done = bring(other, tmp_path / "p.json")
    assert list(done.id_map) == [entry]
    assert read(other, done.id_map[entry]).content == "Mine."
    assert read(other, entry, project_id="q").content == "Mine."


def test_concepts_wait_for_a_person(memory, elsewhere, tmp_path):
    concept, plain = keep(memory, "A concept."), keep(memory, "Plain.")
    memory.link_entries(source_entry_id=plain, target_entry_id=concept, **ACTOR)
    with memory._open()[0].write() as connection:
        connection.execute("UPDATE memory_entries SET source_type = ? WHERE id = ?", (CONCEPT, concept))
    export(memory, tmp_path / "p.json")
    other = elsewhere("b")
    done = bring(other, tmp_path / "p.json")
    assert (done.seen, done.new, done.proposed, done.links) == (2, 1, 1, 0)
    assert ids(other.search(query="concept", status="any", **HOME)) == []
    assert bring(other, tmp_path / "p.json", on_conflict="merge").proposed == 1
    database, _ = other._open()
    assert database.connection.execute("SELECT count(*) FROM memory_proposals").get == 1


def test_credentials_are_refused_or_masked(memory, elsewhere, tmp_path):
    keep(memory, "Plain.")
    entry = keep(memory, f"Plain: {'x' * 20}.")
    export(memory, tmp_path / "p.json")
    text = (tmp_path / "p.json").read_text(encoding="utf-8")
    whole = json.loads(text)
    whole["entries"][1]["content"] = f"token {TOKEN} end"
    del whole["entries"][1]["content_sha256"]
    (tmp_path / "p.json").write_text(json.dumps(whole), encoding="utf-8")
    other = elsewhere("b")
    with pytest.raises(SecretDetected, match=r"entries\[1\].content") as refused:
        bring(other, tmp_path / "p.json")
    assert TOKEN not in refused.value.detail
    assert other.status(**HOME).counts["entries"] == 0
    done = bring(other, tmp_path / "p.json", secrets="redact")
    assert done.redacted == 1
    assert read(other, entry).content == "token [REDACTED:github-token] end"
    assert read(other, entry).content_sha256 == hashlib.sha256(read(other, entry).content.encode()).hexdigest()
    allowing = elsewhere("c", MEMORY_ALLOWED_SECRETS="github-token")
    assert bring(allowing, tmp_path / "p.json").redacted == 0


def test_a_crash_in_the_middle_leaves_nothing(memory, elsewhere, tmp_path, monkeypatch):
    from scaffale.indexer import transfer

    filled(memory)
    export(memory, tmp_path / "p.json")
    other = elsewhere("b")
    mine = keep(other, "Mine.")

    def crash(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(transfer, "bring_in_links", crash)
    for mode in ("merge", "replace"):
        with pytest.raises(KeyboardInterrupt):
            bring(other, tmp_path / "p.json", on_conflict=mode, confirm_replace=True)
        assert other.status(**HOME).counts["entries"] == 1
        assert read(other, mine).content == "Mine."


# --- files that are wrong, or made to harm -------------------------------------------------------------------------------


def whole(**more):
    """A small export, as a value."""
    at = "2026-01-01T00:00:00.000Z"
    entry = {"id": "e1", "scope": "s", "topic": "t", "content": "c", "source_type": "decision"}
    entry |= {"created_at": at, "updated_at": at}
    other = {**entry, "id": "e2", "content": "d", "tags": ["x"]}
    return {
        "format": "memory-node.project-export", "version": 1, "exported_at": at, "project": {"id": "p"},
        "entries": [entry, other], "tags": [{"name": "x", "created_at": at}],
        "links": [{"id": "l1", "source_entry_id": "e1", "target_entry_id": "e2", "relation": "explains", "created_at": at}],
        **more,
    }  # fmt: skip


def changed(part, number, **fields):
    value = whole()
    for name, field in fields.items():
        if field is ...:
            value[part][number].pop(name, None)
        else:
            value[part][number][name] = field
    return value


def test_the_small_export_is_a_good_one(memory, tmp_path):
    (tmp_path / "x.json").write_text(json.dumps(whole()), encoding="utf-8")
    assert bring(memory, tmp_path / "x.json").new == 2


WRONG = {
    "no JSON": b"{",
    "cut off": json.dumps(whole()).encode()[:-40],
    "not UTF-8": json.dumps(whole()).encode("utf-16"),
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "another format": whole(format="something-else"),
    "a later version": whole(version=2),
    "a version that is a truth": whole(version=True),
    "no project": whole(project=None),
    "an empty project": whole(project={"id": ""}),
    "no entries": whole(entries=None),
    "entries that are no objects": whole(entries=["x"]),
    "NaN": json.dumps(whole()).replace('"version": 1', '"version": 1, "x": NaN').encode(),
    "an id twice": whole(entries=[whole()["entries"][0]] * 2),
    "a tag twice": whole(tags=whole()["tags"] * 2),
    "a link twice": whole(links=whole()["links"] * 2),
    "no content": changed("entries", 0, content=...),
    "empty content": changed("entries", 0, content=""),
    "content of NUL": changed("entries", 0, content="a\0b"),
    "half a surrogate": changed("entries", 0, content="\ud800"),
    "a number for content": changed("entries", 0, content=7),
    "too much content": changed("entries", 0, content="é" * 100_001),
    "a wrong checksum": changed("entries", 0, content_sha256="0" * 64),
    "a wrong id": changed("entries", 0, id="../../x"),
    "a long id": changed("entries", 0, id="x" * 201),
    "no scope": changed("entries", 0, scope=...),
    "an empty topic": changed("entries", 0, topic="  "),
    "a long topic": changed("entries", 0, topic="x" * 201),
    "a long title": changed("entries", 0, title="x" * 201),
    "an unknown kind": changed("entries", 0, source_type="rumour"),
    "an unknown status": changed("entries", 0, status="draft"),
    "importance out of range": changed("entries", 0, importance=6),
    "importance in parts": changed("entries", 0, importance=1.5),
    "importance as a truth": changed("entries", 0, importance=True),
    "confidence out of range": changed("entries", 0, confidence=-0.1),
    "confidence as text": changed("entries", 0, confidence="high"),
    "no time": changed("entries", 0, created_at=...),
    "a time that is none": changed("entries", 0, updated_at="yesterday"),
    "tags that are no list": changed("entries", 1, tags="x"),
    "tags that are numbers": changed("entries", 1, tags=[1]),
    "too many tags": changed("entries", 1, tags=[str(n) for n in range(21)]),
    "an empty tag": changed("entries", 1, tags=[""]),
    "a link from nowhere": changed("links", 0, source_entry_id="e9"),
    "a link to nowhere": changed("links", 0, target_entry_id="e9"),
    "a link with two ends": changed("links", 0, target_uri="https://x"),
    "a link with no end": changed("links", 0, target_entry_id=...),
    "an unknown relation": changed("links", 0, relation="likes"),
    "sections that are no list": changed("links", 0, section="x"),
    "a circle": whole(
        links=[
            {**whole()["links"][0], "relation": "supersedes"},
            {**whole()["links"][0], "id": "l2", "relation": "supersedes", "source_entry_id": "e2", "target_entry_id": "e1"},
        ]
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_wrong_is_refused_whole(memory, tmp_path, name):
    data = WRONG[name]
    (tmp_path / "x.json").write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode("utf-8", "surrogatepass"))
    with pytest.raises((InvalidParam, LimitExceeded)) as refused:
        bring(memory, tmp_path / "x.json")
    assert refused.value.detail.startswith("import_path: ")
    assert memory.status(**HOME).counts["entries"] == 0


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(name, data)
    return out.getvalue()


def members(**more):
    value = whole()
    parts = {f"{name}.json": json.dumps(value.pop(name)).encode() for name in ("entries", "tags", "links")}
    parts.update(more)
    sums = {name: {"sha256": hashlib.sha256(data).hexdigest()} for name, data in parts.items()}
    return [("manifest.json", json.dumps({**value, "members": sums}).encode()), *parts.items()]


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


GOOD = zipped(members())
HARMFUL = {
    "a member that leads elsewhere": zipped([*members(), ("../../evil.json", b"[]")]),
    "an absolute member": zipped([*members(), ("/etc/evil.json", b"[]")]),
    "a member that no export has": zipped([*members(), ("extra.json", b"[]")]),
    "a missing member": zipped(members()[:-1]),
    "no manifest": zipped(members()[1:]),
    "a manifest without checksums": zipped([("manifest.json", json.dumps(whole()).encode()), *members()[1:]]),
    "a wrong checksum": zipped([members()[0], ("entries.json", b"[]"), *members()[2:]]),
    "a bomb": zipped([members()[0], ("entries.json", b" " * 50_000_000), *members()[2:]]),
    "cut off": GOOD[:-30],
    "cut in the middle": GOOD[: len(GOOD) // 2],
    "a flipped byte": flipped(GOOD, GOOD.index(b"entries.json") + 40),
    "nothing but a name": b"PK",
    "an empty ZIP": zipped([]),
    "a later version": zipped([("manifest.json", members()[0][1].replace(b'"version": 1', b'"version": 2')), *members()[1:]]),
}


def test_the_small_zip_is_a_good_one(memory, tmp_path):
    (tmp_path / "x.zip").write_bytes(GOOD)
    assert bring(memory, tmp_path / "x.zip").new == 2


@pytest.mark.parametrize("name", HARMFUL)
def test_a_zip_that_is_made_to_harm_is_refused_whole(memory, tmp_path, name):
    (tmp_path / "x.zip").write_bytes(HARMFUL[name])
    with pytest.raises((InvalidParam, LimitExceeded)):
        bring(memory, tmp_path / "x.zip")
    assert memory.status(**HOME).counts["entries"] == 0
    assert not (tmp_path.parent / "evil.json").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_with_a_member_twice_or_encrypted_is_refused(memory, tmp_path):
    (tmp_path / "x.zip").write_bytes(zipped([*members(), members()[1]]))
    with pytest.raises(InvalidParam, match="twice"):
        bring(memory, tmp_path / "x.zip")
    data = bytearray(GOOD)
    at = GOOD.index(b"PK\x01\x02")
    data[at + 8] |= 1
    (tmp_path / "x.zip").write_bytes(bytes(data))
    with pytest.raises(InvalidParam):
        bring(memory, tmp_path / "x.zip")


def test_a_file_that_is_too_large_is_not_read(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(portable, "MAX_BYTES", 100)
    (tmp_path / "x.json").write_text(json.dumps(whole()), encoding="utf-8")
    with pytest.raises(LimitExceeded):
        bring(memory, tmp_path / "x.json")


@settings(max_examples=150, deadline=None)
@given(data=st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(lambda tail: b"PK\x03\x04" + tail),
                      st.integers(0, len(GOOD) - 1).map(lambda at: flipped(GOOD, at))))  # fmt: skip
def test_whatever_the_bytes_are_they_are_read_whole_or_refused(data):
    from scaffale.settings import Settings

    try:
        found = archive.read(data, Settings("/x", "/y"))
    except ScaffaleError as error:
        assert error.code in ("INVALID_PARAM", "LIMIT_EXCEEDED")
    else:
        assert [entry.id for entry in found.entries] == ["e1", "e2"]


def test_writes_are_audited_without_contents(memory, tmp_path):
    filled(memory)
    export(memory, tmp_path / "p.json")
    (row,) = audit(memory, "memory_export_project")
    assert row["result"]["entries"] == 3
    with pytest.raises(Conflict):
        bring(memory, tmp_path / "p.json")
    (refused,) = audit(memory, "memory_import_project")
    assert (refused["outcome"], refused["error_code"]) == ("refused", "CONFLICT")
