"""Several real processes on one store: what one acknowledged the others find, nobody hears of locks, races have one winner."""

from __future__ import annotations

import os
import subprocess
import sys

import apsw
import pytest
from hall_worker import Workers

from benchmarks import visibility
from scaffale import backends
from scaffale.indexer import entries, shelves

SAID = {"actor": "tester", "project_id": "p", "scope": "s", "topic": "t", "source_type": "decision"}
HOLD = """
import sys
from scaffale import backends
index = backends.lexical(sys.argv[1]).open(sys.argv[2])
with index.writer():
    print("held", flush=True)
    sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="counts on POSIX processes")


@pytest.fixture(params=["tantivy", "fts5"])
def engine_name(request):
    return request.param


@pytest.fixture(params=["free", "held"])
def writer_lock(request, tmp_path, engine_name):
    """Nobody, or a live process all the time, holds the writer locks of both indexes."""
    if request.param == "free":
        yield request.param
        return
    identity = backends.lexical(engine_name).identity
    holders = []
    for hall in ("memory", "docs"):
        folder = tmp_path / ".mcp-servers" / hall / f"{hall}.sqlite.index" / f"{identity}-1"
        holders.append(
            subprocess.Popen(
                [sys.executable, "-c", HOLD, engine_name, str(folder)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        )
    for holder in holders:
        assert holder.stdout.readline() == "held\n"
    yield request.param
    for holder in holders:
        assert holder.poll() is None
        holder.communicate()


def write_notes(folder, count, word):
    folder.mkdir(exist_ok=True)
    for n in range(count):
        (folder / f"note{n}.md").write_text(f"# Note {n}\n\nIt says {word} and number{n}.\n", encoding="utf-8")
    return folder


# --- visibility ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_write_is_missed_and_no_lock_is_heard_of(tmp_path, engine_name, writer_lock):
    outcome = visibility.measure(str(tmp_path), processes=4, seconds=4, backend=engine_name)
    assert outcome.writes > 20
    assert outcome.searches > outcome.writes
    assert (outcome.own_missed, outcome.others_missed, outcome.errors) == (0, 0, 0)
    assert outcome.with_tail > 0.5


def test_each_sees_what_each_wrote(tmp_path, engine_name, writer_lock):
    with Workers(3, tmp_path, engine_name) as workers:
        for n in range(12):
            writer = workers[n % 3]
            entry_id = writer.ask("memory", "add_entry", content=f"fact number{n}", **SAID)["entry_id"]
            for answer in workers.all_ask("memory", "search", query=f"number{n}", project_id="p"):
                assert answer["results"][0]["id"] == entry_id
            if n % 4 == 3:
                writer.ask("memory", "invalidate_entry", entry_id=entry_id, actor="tester", project_id="p")
                for answer in workers.all_ask("memory", "search", query=f"number{n}", project_id="p"):
                    assert entry_id not in [hit["id"] for hit in answer["results"]]


# --- the first open ------------------------------------------------------------------------------------------------------

NEWCOMER = """
import json, os, sys, time
from scaffale import settings
from scaffale.docs import Docs
from scaffale.memory import Memory

home, number, engine = sys.argv[1:]
loaded = settings.load({"HOME": home, "MEMORY_LEXICAL_BACKEND": engine, "DOCS_LEXICAL_BACKEND": engine}, home)
print("ready", flush=True)
sys.stdin.readline()
memory, docs = Memory(loaded), Docs(loaded)
said = dict(actor="a", project_id="p", scope="s", topic="t", source_type="decision")
entry = memory.add_entry(content=f"newcomer number{number}", **said)
own = [hit.id for hit in memory.search(query=f"number{number}", project_id="p").results][:1]
shelf = docs.create_shelf(name=f"shelf {number}").shelf.id
names = [shelf.name for shelf in docs.list_shelves().shelves]
uuids = [hall._open()[0].uuid for hall in (memory, docs)]
print(json.dumps([own == [entry.entry_id], f"shelf {number}" in names, uuids]), flush=True)
memory.close()
docs.close()
"""


def open_at_once(home, engine, count):
    """Let `count` processes open the empty stores of `home` in the same moment; what each of them printed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    newcomers = [
        subprocess.Popen(
            [sys.executable, "-c", NEWCOMER, str(home), str(number), engine],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for number in range(count)
    ]
    for each in newcomers:
        assert each.stdout.readline() == "ready\n"
    for each in newcomers:
        each.stdin.write("go\n")
        each.stdin.flush()
    said = []
    for each in newcomers:
        out, err = each.communicate(timeout=120)
        assert (each.returncode, err) == (0, ""), err
        said.append(out)
    return said


STEPS = {"memory_entries": entries.SCHEMA.migrations, "shelves": shelves.SCHEMA.migrations}


def check_one_store(home, said, count):
    assert len(set(said)) == 1, "they all saw their own, in the same stores"
    assert said[0].startswith("[true, true, ")
    for path, table in (("memory/memory.sqlite", "memory_entries"), ("docs/docs.sqlite", "shelves")):
        store = apsw.Connection(str(home / ".mcp-servers" / path))
        assert store.execute(f"SELECT count(*) FROM {table}").get == count
        assert store.execute("SELECT count(*), max(version) FROM schema_migrations").get == (len(STEPS[table]),) * 2
        assert store.pragma("integrity_check") == "ok"
        store.close()


def test_eight_processes_open_an_empty_store_at_once(tmp_path, engine_name):
    check_one_store(tmp_path, open_at_once(tmp_path, engine_name, 8), 8)


@pytest.mark.slow
def test_eight_processes_open_an_empty_store_at_once_twenty_times(tmp_path, engine_name):
    for number in range(20):
        home = tmp_path / str(number)
        home.mkdir()
        check_one_store(home, open_at_once(home, engine_name, 8), 8)


# --- races ---------------------------------------------------------------------------------------------------------------


def test_of_equal_entries_added_at_once_one_is_kept(tmp_path):
    with Workers(4, tmp_path) as workers:
        for n in range(15):
            answers = workers.all_ask("memory", "add_entry", content=f"the same thing {n}", **SAID)
            assert all(answer["ok"] for answer in answers), answers
            assert sorted(answer["deduped"] for answer in answers) == [False, True, True, True]
            assert len({answer["entry_id"] for answer in answers}) == 1
            assert {answer["existing_entry_id"] for answer in answers if answer["deduped"]} == {answers[0]["entry_id"]}
        assert workers[0].ask("memory", "status", project_id="p")["counts"]["entries"] == 15


def test_of_invalidations_at_once_one_changes_the_entry(tmp_path):
    with Workers(4, tmp_path) as workers:
        for n in range(15):
            entry_id = workers[0].ask("memory", "add_entry", content=f"soon not valid {n}", **SAID)["entry_id"]
            answers = workers.all_ask(
                "memory", "invalidate_entry", entry_id=entry_id, actor="tester", project_id="p", reason="raced"
            )
            assert all(answer["ok"] for answer in answers), answers
            assert sorted(answer["changed"] for answer in answers) == [False, False, False, True]
            assert len({answer["invalidated_at"] for answer in answers}) == 1
            assert {answer["previous_status"] for answer in answers if answer["changed"]} == {"active"}


def test_of_shelves_made_at_once_under_one_name_one_is_made(tmp_path):
    with Workers(4, tmp_path) as workers:
        for n in range(10):
            answers = workers.all_ask("docs", "create_shelf", name=f"Shelf {n}")
            assert sorted(answer.get("error_code", "made") for answer in answers) == ["CONFLICT"] * 3 + ["made"]


def test_of_scans_at_once_of_one_folder_each_document_comes_once(tmp_path, engine_name):
    notes = write_notes(tmp_path / "notes", 60, "harbour")
    with Workers(3, tmp_path, engine_name) as workers:
        reports = workers.all_ask("docs", "scan_folder", folder_path=str(notes), shelf="notes")
        for report in reports:
            assert report["ok"], report
            assert report["seen"] == 60 == report["new"] + report["changed"] + report["same"]
        for answer in workers.all_ask("docs", "search", query="harbour", limit=100):
            assert (len(answer["results"]), answer["matching_sections"], answer["lag"]) == (60, 60, 0)


# --- scans and other processes -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("role", ["server", "command"])
def test_during_a_scan_others_see_documents_or_how_many_they_do_not_see_yet(tmp_path, engine_name, role):
    """Whatever is stored is either found, or counted as lag; when the scan has answered all is found."""
    count = 3_000
    notes = write_notes(tmp_path / "notes", count, "harbour")
    with Workers(3, tmp_path, engine_name, role) as workers:
        scanner, *others = workers
        scanner.say("docs", "scan_folder", folder_path=str(notes), shelf="notes")
        behind = 0
        while not scanner.has_answered():
            for other in others:
                stored = other.ask("docs", "feature_status")["counts"].get("documents", 0)
                answer = other.ask("docs", "search", query="harbour", limit=1)
                assert answer["matching_sections"] + answer["lag"] >= stored
                behind += answer["lag"] > 0
                if answer["lag"]:
                    assert any("not searchable yet" in warning for warning in answer["warnings"])
        report = scanner.hear()
        assert (report["new"], report["failed"]) == (count, 0)
        for answer in workers.all_ask("docs", "search", query="harbour", limit=1):
            assert (answer["matching_sections"], answer["lag"]) == (count, 0)
        for n in (0, 1_234, count - 1):
            for answer in workers.all_ask("docs", "search", query=f"number{n}", limit=1):
                assert answer["results"][0]["title"] == f"Note {n}"
        assert behind, "no search fell into the scan"


@pytest.mark.slow
@pytest.mark.parametrize("role", ["server", "command"])
def test_during_a_scan_of_changed_documents_they_do_not_vanish(tmp_path, engine_name, role):
    """The index has their old sections, the store their new ones: others find the new, or are told how many they miss."""
    count = 1_500
    notes = write_notes(tmp_path / "notes", count, "harbour")
    with Workers(2, tmp_path, engine_name, role) as workers:
        scanner, other = workers
        scanner.ask("docs", "scan_folder", folder_path=str(notes), shelf="notes")
        write_notes(notes, count, "harbour and lighthouse")
        scanner.say("docs", "scan_folder", folder_path=str(notes), shelf="notes")
        behind = 0
        while not scanner.has_answered():
            answer = other.ask("docs", "search", query="harbour", limit=20)
            assert len(answer["results"]) == 20
            assert answer["matching_sections"] + answer["lag"] >= count
            assert all("harbour" in hit["snippet"] for hit in answer["results"])
            behind += answer["lag"] > 0
        assert scanner.hear()["changed"] == count
        for answer in workers.all_ask("docs", "search", query="lighthouse", limit=1):
            assert (answer["matching_sections"], answer["lag"]) == (count, 0)
        assert behind, "no search fell into the scan"


def test_changes_and_removals_of_documents_reach_the_others(tmp_path, engine_name, writer_lock):
    notes = write_notes(tmp_path / "notes", 8, "harbour")
    with Workers(3, tmp_path, engine_name) as workers:
        scanner = workers[0]

        def all_find(query):
            counts = {answer["matching_sections"] for answer in workers.all_ask("docs", "search", query=query)}
            assert len(counts) == 1, counts
            return counts.pop()

        scanner.ask("docs", "scan_folder", folder_path=str(notes), shelf="notes")
        assert all_find("harbour") == 8
        for n in range(3):
            (notes / f"note{n}.md").write_text(f"# Note {n}\n\nIt tells of lighthouses, number{n}.\n", encoding="utf-8")
        assert scanner.ask("docs", "resync_all")["reports"][0]["changed"] == 3
        assert (all_find("harbour"), all_find("lighthouses")) == (5, 3)
        (gone,) = workers[1].ask("docs", "search", query="number5")["results"]
        workers[1].ask("docs", "remove_document", document_id=gone["id"])
        assert (all_find("harbour"), all_find("number5")) == (4, 0)
        os.remove(notes / "note6.md")
        os.rename(notes / "note7.md", notes / "moved.md")
        report = scanner.ask("docs", "resync_all", remove_missing=True)["reports"][0]
        assert (report["moved"], report["removed"], report["new"]) == (1, 1, 1)  # the removed document came back
        assert (all_find("number6"), all_find("number7"), all_find("number5")) == (0, 1, 1)
        workers[2].ask("docs", "remove_shelf", shelf="notes")
        assert (all_find("harbour"), all_find("lighthouses")) == (0, 0)
