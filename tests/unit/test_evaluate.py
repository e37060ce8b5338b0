"""A retrieval test of one's own: what a file of questions may say, what is measured, and that the store is left alone."""

from __future__ import annotations

import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale import backends, evaluate
from scaffale.docs import Docs
from scaffale.errors import InvalidParam, LimitExceeded, NotFound
from scaffale.evaluate import ndcg, read, recall, reciprocal_rank

NOTES = {
    "guide/backup.md": "# Backups\n\nA nightly backup copies the database to another disk.\n",
    "guide/restore.md": "# Restoring\n\nRestore a backup with the tool, then start the server again.\n",
    "old/backup.md": "# Tapes\n\nTapes were used for archives.\n",
    "keys.md": "# Keys\n\nRotate the signing key every month.\n",
}


@pytest.fixture
def write(tmp_path):
    def write_one(text, name="questions"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write_one


@pytest.fixture
def settings(make_settings, tmp_path):
    """Settings on a store that holds the notes on a shelf."""
    for name, text in NOTES.items():
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    made = make_settings()
    with Docs(made) as docs:
        docs.scan_folder(folder_path=str(tmp_path / "notes"), shelf="notes")
    return made


def digests(folder):
    return {path: hashlib.sha256(path.read_bytes()).digest() for path in sorted(folder.rglob("*")) if path.is_file()}


# --- the file of questions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"query": "a b", "expected": "x.md"}', [(1, "a b", {"x.md": 1})]),
        ('\n{"query": "a", "expected": ["x.md", 7], "grade": 2}\n\n', [(2, "a", {"x.md": 2, "7": 2})]),
        ('{"query": "a", "expected": {"x.md": 3, "y.md": 0.5}}', [(1, "a", {"x.md": 3, "y.md": 0.5})]),
        ('{"query": "a", "expected": 7}\n{"query": "b", "expected": "y"}', [(1, "a", {"7": 1}), (2, "b", {"y": 1})]),
        ('{"query": "a", "expected": "x"}\n{"query": "a", "expected": "y"}', [(1, "a", {"x": 1, "y": 1})]),
        ("query,expected\na,x.md\n", [(2, "a", {"x.md": 1})]),
        ('expected,query,grade\r\nx.md,"a, b",2\r\ny.md,"a, b",\r\n', [(2, "a, b", {"x.md": 2, "y.md": 1})]),
        ("\ufeffquery;expected\na;x.md\n", [(2, "a", {"x.md": 1})]),
        ("query\texpected\tgrade\nperché\tx.md\t1\n", [(2, "perché", {"x.md": 1})]),
    ],
)
def test_questions_are_read(write, text, expected):
    assert [tuple(question) for question in read(write(text))] == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "neither JSON nor a head"),
        ("query,expected\n", "holds no question"),
        ("what,where\na,b\n", "line 1: neither JSON nor a head"),
        ('{"query": "a", "expected": "x"}\n{"query"', "line 2: not a JSON object"),
        ('{"query": "a", "expected": "x"}\n7', "line 2: there is no query"),
        ('{"query": 7, "expected": "x"}', "line 1: there is no query"),
        ('{"query": " ", "expected": "x"}', "line 1: the query is empty"),
        ('{"query": "a"}', "line 1: expected must be"),
        ('{"query": "a", "expected": null}', "line 1: expected must be"),
        ('{"query": "a", "expected": []}', "line 1: no document is expected"),
        ('{"query": "a", "expected": {"x": 0}}', "line 1: a grade must be above 0"),
        ('{"query": "a", "expected": {"x": "much"}}', "line 1: a grade must be a number"),
        ('{"query": "a", "expected": "x", "grade": NaN}', "line 1: a grade must be above 0"),
        ("query,expected\na,x\nb,\n", "line 3: no document is expected"),
        ("query,expected,grade\na,x,-1\n", "line 2: a grade must be above 0"),
        ("{" * 100_000, "line 1: not a JSON object"),
        (b"query,expected\n\xff,x\n", "is not UTF-8"),
    ],
)
def test_what_cannot_be_understood_is_named(write, text, why):
    with pytest.raises(InvalidParam, match=why):
        read(write(text))


def test_a_file_must_be_one_that_can_be_read(tmp_path, write, monkeypatch):
    with pytest.raises(NotFound, match="no file"):
        read(str(tmp_path / "none"))
    with pytest.raises(InvalidParam, match="a folder"):
        read(str(tmp_path))
    monkeypatch.setattr(evaluate, "MAX_FILE_BYTES", 10)
    with pytest.raises(LimitExceeded):
        read(write("query,expected\na,x\n"))


# --- measures ----------------------------------------------------------------------------------------------------------


def test_measures_on_an_example_by_hand():
    relevant = {"a": 3.0, "b": 1.0, "c": 2.0}
    ranked = ["x", "b", "a", "y", "c"]
    assert recall(ranked, relevant, 3) == 2 / 3
    assert reciprocal_rank(ranked, relevant, 10) == 1 / 2
    assert reciprocal_rank(ranked, relevant, 1) == 0
    best = 3 + 2 / math.log2(3) + 1 / 2
    assert ndcg(ranked, relevant, 10) == pytest.approx((1 / math.log2(3) + 3 / 2 + 2 / math.log2(6)) / best)
    assert ndcg(ranked, relevant, 2) == pytest.approx((1 / math.log2(3)) / (3 + 2 / math.log2(3)))


@given(
    st.lists(st.integers(0, 30), unique=True, max_size=20),
    st.dictionaries(st.integers(0, 30), st.floats(0.1, 5), min_size=1, max_size=8),
    st.integers(1, 25),
)
def test_measures_lie_between_nothing_and_perfection(ranked, relevant, k):
    for measure in (recall, ndcg, reciprocal_rank):
        assert 0 <= measure(ranked, relevant, k) <= 1 + 1e-9
        assert measure([], relevant, k) == 0
    perfect = sorted(relevant, key=relevant.get, reverse=True)
    assert ndcg(perfect, relevant, k) == pytest.approx(1)
    assert recall(perfect, relevant, k) == min(1, k / len(relevant))


# --- asking ------------------------------------------------------------------------------------------------------------


def test_every_engine_is_asked(settings, write, tmp_path):
    path = write(
        '{"query": "nightly backup copies the database disk, restore tool",'
        ' "expected": {"guide/backup.md": 2, "guide/restore.md": 1}}\n'
        '{"query": "signing key", "expected": ["keys.md", "nowhere.md"]}\n'
        '{"query": "zebra", "expected": "keys.md"}\n'
    )
    told = []
    answer = evaluate.evaluate(settings, path, progress=lambda *of: told.append(of))
    assert (answer.shelf, answer.k, answer.questions, answer.documents) == (None, 10, 3, 4)
    assert answer.warnings == ("line 2: no document nowhere.md here; it counts as not found",)
    assert tuple(score.engine for score in answer.engines) == backends.LEXICAL
    keys = str(tmp_path / "notes" / "keys.md")
    for score in answer.engines:
        assert score.recall == pytest.approx((1 + 0.5 + 0) / 3)
        assert score.ndcg == pytest.approx((1 + 1 / (1 + 1 / math.log2(3)) + 0) / 3)
        assert score.missed == ((2, "signing key", ("nowhere.md",), (keys,)), (3, "zebra", (keys,), ()))
    assert told[0] == (1, 9, "tantivy")
    assert told[-1] == (9, 9, "like")


def test_the_store_is_left_as_it_was(settings, write, tmp_path):
    with Docs(settings) as docs:
        docs.search(query="key")
    before = digests(tmp_path / "home")
    assert len(before) > 2
    evaluate.evaluate(settings, write("query,expected\nkey,keys.md\n"))
    assert digests(tmp_path / "home") == before


@pytest.mark.parametrize(
    "name", ["guide/backup.md", "backup.md", "./guide/../guide/backup.md", "docs://document/{id}", "{id}", "{path}"]
)
def test_a_document_has_many_names(settings, write, tmp_path, name):
    (tmp_path / "notes" / "old" / "backup.md").unlink()
    with Docs(settings) as docs:
        docs.resync_all(remove_missing=True)
        hit = docs.search(query="nightly backup").results[0]
    name = name.format(id=hit.id, path=hit.file_path)
    path = write(json.dumps({"query": "nightly", "expected": name}))
    (score,) = evaluate.evaluate(settings, path, engines=["tantivy"]).engines
    assert (score.recall, score.missed) == (1.0, ())


def test_a_name_that_several_bear_is_refused(settings, write):
    with pytest.raises(InvalidParam, match=r"line 2: backup.md may be .*guide/backup.md or .*old/backup.md"):
        evaluate.evaluate(settings, write("query,expected\nnightly,backup.md\n"))


def test_a_file_on_two_shelves_is_one_document(settings, write, tmp_path):
    with Docs(settings) as docs:
        docs.scan_folder(folder_path=str(tmp_path / "notes"), shelf="again")
    path = write("query,expected\nnightly backup,guide/backup.md\n")
    both = evaluate.evaluate(settings, path, engines=["fts5"])
    one = evaluate.evaluate(settings, path, engines=["fts5"], shelf="again")
    assert [(each.documents, each.engines[0].recall, each.engines[0].ndcg) for each in (both, one)] == [(8, 1, 1), (4, 1, 1)]


def test_only_so_many_hits_count(settings, write):
    path = write("query,expected\nbackup database nightly,guide/restore.md\n")
    first, second = (evaluate.evaluate(settings, path, k=k, engines=["tantivy"]).engines[0] for k in (1, 2))
    assert (first.recall, second.recall) == (0, 1)
    with pytest.raises(InvalidParam, match="k: must be between 1 and 100"):
        evaluate.evaluate(settings, path, k=0)


def test_an_engine_that_cannot_serve_is_left_out_and_said_so(settings, write, monkeypatch):
    real = backends._load
    monkeypatch.setattr(backends, "_load", lambda name: None if name == "tantivy" else real(name))
    answer = evaluate.evaluate(settings, write("query,expected\nkey,keys.md\n"))
    assert [score.engine for score in answer.engines] == ["fts5", "like"]
    assert answer.warnings == ("tantivy is not available here and was left out",)


def test_there_must_be_something_to_search(make_settings, settings, write, tmp_path):
    path = write("query,expected\nkey,keys.md\n")
    with pytest.raises(NotFound, match="no shelf 'x'"):
        evaluate.evaluate(settings, path, shelf="x")
    with Docs(settings) as docs:
        docs.create_shelf(name="empty")
    with pytest.raises(NotFound, match="no document to be found"):
        evaluate.evaluate(settings, path, shelf="empty")
    with pytest.raises(NotFound, match="no shelves yet"):
        evaluate.evaluate(make_settings(DOCS_DB_PATH=str(tmp_path / "none" / "docs.sqlite")), path)
    assert not (tmp_path / "none").exists()
