"""Vectors through the halls: turned on, built, asked, followed, turned off."""

from __future__ import annotations

import contextlib
import json
import os
import shutil

import pytest

from scaffale.backends.ports import EmbedderUnavailable
from scaffale.backends.spaces import Space
from scaffale.docs import Docs
from scaffale.errors import InvalidParam, NotFound
from scaffale.memory import Memory

numpy = pytest.importorskip("numpy", reason="the extra `vectors` is not installed")
HASHING = Space("hashing", "hashing", "1", 128)


class Counting:
    """An embedder that counts the texts that it is asked for."""

    def __init__(self, space, **says):
        from scaffale.backends.hashing import Hashing

        self.inner = Hashing(space)
        self.texts = []
        self.says = says

    def embed_query(self, text):
        return self.inner.embed_query(text)

    def embed_documents(self, texts):
        self.texts += texts
        made = self.inner.embed_documents(texts)
        return [self.says.get(text.split()[-1], vector) for text, vector in zip(texts, made, strict=True)]

    def close(self):
        pass


@pytest.fixture
def counting():
    return Counting(HASHING)


@pytest.fixture
def docs(make_settings, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in {
        "wal": "# Write-ahead log\n\nChanges go to the log first.\n\n## Checkpoints\n\nThe log is folded in.\n",
        "cache": "# Cache\n\nWhat was read lately stays in memory.\n",
        "lock": "# Locks\n\nOne writer at a time.\n",
    }.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    hall = Docs(make_settings())
    hall.scan_folder(folder_path=str(folder), shelf="notes")
    yield hall
    hall.close()


def built(hall, counting, **more):
    return hall.build_vectors(load=lambda space: counting, **more)


def test_off_until_somebody_turns_them_on(docs):
    assert docs.vector_status().state == "off"
    assert docs.search(query="log").vector is None
    answer = docs.search(query="log", retrieval="hybrid")
    assert answer.results
    assert "vectors are off" in answer.warnings[0]
    with pytest.raises(NotFound, match="vectors enable"):
        docs.build_vectors()
    with pytest.raises(InvalidParam, match="retrieval"):
        docs.search(query="log", retrieval="magic")


def test_built_and_asked(docs, counting):
    assert docs.enable_vectors(space=HASHING).state == "building"
    made = built(docs, counting)
    assert (made.owners, made.texts, made.ready) == (3, 4, True)
    status = docs.vector_status()
    assert (status.state, status.coverage, status.embedded, status.total, status.jobs) == ("ready", 1.0, 3, 3, 0)
    answer = docs.search(query="how is the log folded in", explain=True)
    assert answer.vector == {"state": "used", "model": "hashing", "coverage": 1.0}
    assert answer.results[0].title == "Write-ahead log"
    parts = answer.results[0].explain
    assert parts["words"] + parts["meaning"] == pytest.approx(answer.results[0].score, abs=1e-3)
    assert parts["words_rank"] == parts["meaning_rank"] == 1
    only = docs.search(query="how is the log folded in", retrieval="vector")
    assert only.results[0].heading_path == ("Write-ahead log", "Checkpoints")
    assert docs.search(query="how is the log folded in", retrieval="lexical").vector is None


def test_what_is_unchanged_is_never_embedded_again(docs, counting, tmp_path):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    counting.texts.clear()
    assert built(docs, counting).texts == 0
    docs.resync_all()
    assert built(docs, counting).texts == 0
    (tmp_path / "notes" / "cache.md").rename(tmp_path / "notes" / "store.md")
    (tmp_path / "notes" / "wal.md").write_text(
        "# Write-ahead log\n\nChanges go to the log first.\n\n## Checkpoints\n\nNow it is another text.\n", encoding="utf-8"
    )
    docs.resync_all()
    made = built(docs, counting)
    assert made.texts == 1, "one section changed, and one file moved"
    assert "Now it is another text" in counting.texts[0]
    assert docs.search(query="another text", retrieval="vector").results[0].heading_path[-1] == "Checkpoints"


def test_what_was_written_since_is_found_by_words_and_counted(docs, counting, tmp_path):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    (tmp_path / "notes" / "new.md").write_text("# Purges\n\nBytes leave the files by rewriting.\n", encoding="utf-8")
    docs.resync_all()
    answer = docs.search(query="how do bytes leave the files")
    assert answer.results[0].title == "Purges"
    assert answer.vector["state"] == "used"
    assert answer.vector["coverage"] == 0.75
    assert docs.vector_status().jobs == 1
    built(docs, counting)
    assert docs.search(query="how do bytes leave the files").vector["coverage"] == 1.0


def test_what_is_gone_is_not_found_any_more(docs, counting, tmp_path):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    (tmp_path / "notes" / "lock.md").unlink()
    docs.resync_all(remove_missing=True)
    assert "Locks" not in {hit.title for hit in docs.search(query="one writer at a time", retrieval="vector").results}


def test_an_entry_that_changes_its_state_needs_no_model(make_settings, counting):
    with Memory(make_settings()) as memory:
        ids = [
            memory.add_entry(
                actor="a", project_id=project, scope="s", topic=f"t{n}", content=f"tokens expire {n}", source_type="decision"
            ).entry_id
            for n, project in enumerate(("p", "p", "other"))
        ]
        memory.enable_vectors(space=HASHING)
        built(memory, counting)
        counting.texts.clear()
        found = memory.search(query="when do tokens expire", project_id="p", retrieval="vector")
        assert {hit.id for hit in found.results} == set(ids[:2]), "another project's entry is not seen"
        memory.invalidate_entry(actor="a", project_id="p", entry_id=ids[0])
        found = memory.search(query="when do tokens expire", project_id="p", retrieval="vector")
        assert [hit.id for hit in found.results] == [ids[1]]
        assert found.vector["coverage"] == 1.0
        both = memory.search(query="when do tokens expire", project_id="p", status="any")
        assert [hit.id for hit in both.results] == [ids[1], ids[0]], "active before invalidated"
        memory.delete_entry(actor="a", project_id="p", entry_id=ids[0], confirm=True)
        assert len(memory.search(query="when do tokens expire", project_id="p", status="any").results) == 1
        assert counting.texts == []
        with memory._open()[0].read() as connection:
            assert connection.execute("SELECT count(*) FROM vectors").get == 2
            assert connection.execute("SELECT count(*) FROM vector_pieces").get == 2


def test_a_new_model_is_built_beside_the_old_one(docs, counting):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    other = HASHING._replace(dimensions=64)
    status = docs.enable_vectors(space=other)
    assert (status.state, status.dimensions, status.jobs) == ("ready", 128, 0)
    assert docs.search(query="the log is folded").vector["state"] == "used"
    built(docs, Counting(other))
    status = docs.vector_status()
    assert (status.state, status.dimensions, status.coverage) == ("ready", 64, 1.0)
    assert docs.search(query="the log is folded").vector["state"] == "used"
    with docs._open()[0].read() as connection:
        assert connection.execute("SELECT count(*) FROM vector_spaces").get == 1


def test_a_build_that_breaks_off_goes_on(docs, counting):
    docs.enable_vectors(space=HASHING)
    counting.embed_documents = lambda texts: (_ for _ in ()).throw(EmbedderUnavailable("killed"))
    with pytest.raises(EmbedderUnavailable, match="killed"):
        built(docs, counting)
    assert docs.vector_status().jobs == 3
    assert built(docs, Counting(HASHING)).ready


@pytest.mark.parametrize("bad", ["nan", "zero", "short"])
def test_vectors_that_are_none_are_refused(docs, bad):
    from array import array

    values = {"nan": [float("nan")] * 128, "zero": [0.0] * 128, "short": [1.0] * 3}[bad]
    counting = Counting(HASHING, **{"time.": array("f", values)})  # of the document on locks
    docs.enable_vectors(space=HASHING)
    made = built(docs, counting)
    assert (made.owners, made.problems) == (3, 1)
    status = docs.vector_status()
    assert status.state == "ready", "what stands, serves"
    assert status.embedded == 2
    assert "a vector" in status.problems[0]
    assert docs.search(query="one writer at a time").results[0].title == "Locks", "words find it"
    assert built(docs, Counting(HASHING), again=True).owners == 1
    assert docs.vector_status().coverage == 1.0


def test_a_question_that_is_a_literal_is_answered_by_words(docs, counting):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    for query in ('"log first"', "log -cache", "--dry-run"):
        assert docs.search(query=query).vector["state"] == "lexical"


def test_a_model_that_is_not_there_is_a_warning(docs, counting, monkeypatch):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    docs.search(query="log")

    def fail(self, text):
        raise EmbedderUnavailable("the model has gone", "fetch it")

    monkeypatch.setattr("scaffale.backends.hashing.Hashing.embed_query", fail)
    by_words = docs.search(query="log folded", retrieval="lexical")
    answer = docs.search(query="log folded")
    assert answer.vector["state"] == "unavailable"
    assert answer.warnings == ("vector: unavailable (the model has gone; fetch it)",)
    assert [hit.id for hit in answer.results] == [hit.id for hit in by_words.results]
    assert [hit.id for hit in docs.search(query="log folded", retrieval="vector").results] == [hit.id for hit in by_words.results]


def test_a_slow_model_is_not_waited_for(docs, counting, monkeypatch, make_settings):
    import threading

    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    held = threading.Event()
    inner = __import__("scaffale.backends.hashing", fromlist=["Hashing"]).Hashing.embed_query
    monkeypatch.setattr(
        "scaffale.backends.hashing.Hashing.embed_query", lambda self, text: held.wait(20) and inner(self, text)
    )
    with Docs(make_settings(MEMORY_VECTOR_DEADLINE_MS="20")) as hall:
        answer = hall.search(query="log folded in")
        assert answer.vector["state"] == "timeout"
        assert answer.results
        held.set()
        for _ in range(200):  # what came too late is there for the next time
            if hall.search(query="log folded in").vector["state"] == "used":
                break
        else:
            pytest.fail("never answered by meaning")


def test_the_environment_has_the_last_word(docs, counting, make_settings):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    with Docs(make_settings(DOCS_ENABLE_VECTOR="0")) as hall:
        assert hall.search(query="log").vector is None
        assert hall.vector_status().state == "off"
    with Docs(make_settings(DOCS_VECTOR_BACKEND="exact")) as hall:
        assert hall.search(query="log").vector["state"] == "used"
        assert hall.vector_status().backend == "exact"
    with Docs(make_settings(DOCS_VECTOR_BACKEND="nothing")) as hall:
        assert hall.search(query="log").results
        assert "no vector backend nothing" in hall.vector_status().warnings[0]


def test_turned_off_and_dropped(docs, counting, make_settings):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    docs.search(query="log")
    assert docs.disable_vectors().state == "off"
    assert docs.search(query="log").vector is None
    docs.enable_vectors(space=HASHING)
    assert built(docs, counting).texts == 0, "what was made is still there"
    docs.disable_vectors(drop=True)
    with docs._open()[0].read() as connection:
        for table in ("vector_spaces", "vectors", "vector_pieces", "vector_owners", "vector_marks"):
            assert connection.execute(f"SELECT count(*) FROM {table}").get == 0


@pytest.mark.parametrize("backend", ["numpy", "sqlite-vec", "exact"])
def test_an_index_that_is_damaged_or_lost_comes_back(docs, counting, backend, tmp_path):
    if backend == "sqlite-vec":
        from scaffale.backends import sqlite_vec

        if sqlite_vec.available():
            pytest.skip("no sqlite-vec here")
    docs.enable_vectors(space=HASHING, backend=backend)
    built(docs, counting)
    first = docs.search(query="log folded in", retrieval="vector")
    (index,) = (tmp_path / "home" / ".mcp-servers" / "docs" / "docs.sqlite.index").glob("vectors-*")

    shutil.rmtree(index)
    assert docs.search(query="log folded in", retrieval="vector").results == first.results
    docs.close()
    for file in index.iterdir():
        file.write_bytes(b"damaged" * 1000)
    assert docs.search(query="log folded in", retrieval="vector").results == first.results


def test_an_answer_tells_the_state_to_programs(docs, counting):
    from scaffale.server.render import structured

    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    said = json.loads(json.dumps(structured(docs.search(query="log folded in"))))
    assert said["vector"]["coverage"] == 1.0


def test_similar_entries_are_found_by_meaning_too(make_settings, counting):
    """The embedder of this test knows no meaning, but parts of words: enough for entries that share no whole word."""
    with Memory(make_settings()) as memory:
        ids = [
            memory.add_entry(actor="a", project_id="p", scope="s", topic=f"t{n}", content=text, source_type="decision").entry_id
            for n, text in enumerate(("authentication tokens", "authenticating token", "cooking pasta"))
        ]
        assert {hit.similarity for hit in memory.find_similar(entry_id=ids[0], project_id="p").results} == {0.0}
        memory.enable_vectors(space=HASHING)
        built(memory, counting)
        counting.texts.clear()
        found = memory.find_similar(entry_id=ids[0], project_id="p")
        assert found.results[0].id == ids[1]
        assert found.results[0].similarity > 0.4
        assert counting.texts == [], "its own vectors are asked, no model"


def test_an_engine_elsewhere_that_is_down_is_not_asked_at_every_search(docs, counting, monkeypatch):
    from scaffale.backends.ports import EngineAway
    from scaffale.indexer import vector_sync

    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    docs.search(query="log folded in")
    asked = []

    def away(self, *arguments):
        asked.append(arguments)
        raise EngineAway("connection refused")

    monkeypatch.setattr("scaffale.backends.numpy_bits.NumpyBits.search", away)
    discarded = []
    monkeypatch.setattr("scaffale.backends.vector_file.discard", discarded.append)
    for _ in range(3):
        answer = docs.search(query="log folded in")
        assert answer.vector["state"] == "unavailable"
        assert answer.results
    assert len(asked) == 1
    assert not discarded, "nothing is wrong with its index"
    monkeypatch.undo()
    docs._meaning.projection._rests_until = 0.0
    assert docs.search(query="log folded in").vector["state"] == "used"
    assert vector_sync.REST_SECONDS < 60


def test_the_journal_may_have_been_pruned(docs, counting, tmp_path):
    """Then all documents are looked through, and nothing is embedded again."""
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    counting.texts.clear()
    (tmp_path / "notes" / "lock.md").unlink()
    docs.resync_all(remove_missing=True)
    database, _ = docs._open()
    with database.write() as connection:
        connection.execute("DELETE FROM journal WHERE seq < (SELECT max(seq) FROM journal)")
    assert built(docs, counting).texts == 0
    titles = {hit.title for hit in docs.search(query="one writer at a time", retrieval="vector").results}
    assert titles == {"Write-ahead log", "Cache"}


def test_a_store_that_was_rolled_back_is_noticed(docs, counting, tmp_path):
    """Numbers of changes come again after a restore; what they are of does not."""
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    docs.search(query="log")
    database, _ = docs._open()
    backup = str(tmp_path / "backup.sqlite")
    database.copy(backup)
    (tmp_path / "notes" / "new.md").write_text("# Purges\n\nBytes leave the files.\n", encoding="utf-8")
    docs.resync_all()
    built(docs, counting)
    path = database.path
    docs.close()
    shutil.copy(backup, path)
    for tail in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + tail)
    (tmp_path / "notes" / "new.md").write_text("# Ovens\n\nBread is baked.\n", encoding="utf-8")
    docs.resync_all()
    built(docs, counting)
    found = docs.search(query="bread is baked", retrieval="vector").results
    assert found[0].title == "Ovens"
    assert "Purges" not in {hit.title for hit in found}


@pytest.mark.parametrize("text", ["", "   \n\t", "# Only a title\n", "x" * 1_000_000, "word " * 200_000])
def test_texts_of_no_length_and_of_a_million(docs, counting, tmp_path, text):
    (tmp_path / "notes" / "odd.md").write_text(text, encoding="utf-8")
    docs.resync_all()
    docs.enable_vectors(space=HASHING)
    made = built(docs, counting)
    assert made.problems == 0
    assert docs.vector_status().coverage == 1.0
    assert all(len(each) <= 2_300 for each in counting.texts)
    assert docs.search(query="how is the log folded in").vector["state"] == "used"


def test_correlation_takes_candidates_by_meaning_too(docs, counting, tmp_path):
    """Two texts without a common word, which the embedder of this test finds near by parts of words."""
    for name, text in (("one", "xylophonists xylophonically"), ("two", "xylophagous xylophagists")):
        (tmp_path / "notes" / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    docs.resync_all()
    number = docs.search(query="xylophonists").results[0].id
    other = docs.search(query="xylophagous").results[0].id

    def score():
        report = docs.correlate(document_id=number, min_confidence=0.0, max_links_per_document=20)
        return next((link.confidence for link in report.sample_links if link.target_document_id == other), 0.0)

    before = score()
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    counting.texts.clear()
    assert score() > before
    assert counting.texts == [], "no model is asked"


def test_maintenance_leaves_nothing_of_what_is_gone(docs, counting, tmp_path):
    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    (tmp_path / "notes" / "lock.md").unlink()
    docs.resync_all(remove_missing=True)
    assert any("index of vectors brought level" in line for line in docs.maintain())
    with docs._open()[0].read() as connection:
        assert connection.execute("SELECT count(*) FROM vectors").get == 3
    assert any("index of vectors built anew" in line for line in docs.maintain(rebuild=True))
    assert docs.search(query="how is the log folded in").vector["state"] == "used"


def test_servers_follow_by_themselves_once_somebody_asks(docs, counting, tmp_path, make_settings):
    """The background makes the vectors of what was written since."""
    import time

    docs.enable_vectors(space=HASHING)
    built(docs, counting)
    docs.close()
    with Docs(make_settings(), background=True) as hall:
        hall.search(query="how is the log folded in")
        (tmp_path / "notes" / "new.md").write_text("# Purges\n\nBytes leave the files by rewriting.\n", encoding="utf-8")
        hall.resync_all()
        for _ in range(400):
            if hall.search(query="how do bytes leave the files").vector["coverage"] == 1.0:
                break
            time.sleep(0.05)
        answer = hall.search(query="how do bytes leave the files", retrieval="vector")
        assert answer.results[0].title == "Purges"


def test_the_command_line_turns_them_on_and_asks(docs, capsys, monkeypatch, tmp_path):
    from scaffale.server.cli import main

    docs.close()
    home = str(tmp_path / "home")
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("USERPROFILE", home)
    monkeypatch.setattr(os, "environ", dict(os.environ))  # what the commands set is gone with the test

    def said(*arguments):
        code = main([*arguments, "--json"])
        return code, json.loads(capsys.readouterr().out)

    assert said("vectors", "build")[0] == 3, "they are off"
    assert said("vectors", "enable", "--model", str(tmp_path / "nowhere"), "--docs")[1]["error_code"] == "NOT_FOUND"
    code, answer = said("vectors", "enable", "--model", "hashing")
    assert (code, answer["docs"]["state"]) == (0, "building")
    assert said("vectors", "build")[1]["docs"]["texts"] == 4
    assert said("vectors", "status")[1]["docs"]["coverage"] == 1.0
    code, answer = said("search", "how is the log folded in", "--docs", "--retrieval", "vector")
    assert answer["vector"]["state"] == "used"
    assert said("vectors", "disable", "--drop")[1]["docs"]["state"] == "off"
    assert main(["vectors", "status"]) == 0
    assert "vectors are off" in capsys.readouterr().out
