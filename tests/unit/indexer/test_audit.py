"""What the trail keeps, what it never keeps, and that nothing makes it fail."""

import hashlib
import hmac
import json
import os
import stat

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.indexer import audit

KEY = bytes(range(32))
TOKEN = "ghp_" + "q7Zk2Vt9XbR4mWc8Ld1Hs6Jf3Np5GyTaUeKi"
TEXTS = ("content", "summary", "query", "text", "document", "title", "body", "payload", "Content")


@pytest.fixture
def connection():
    opened = apsw.Connection(":memory:")
    opened.execute("CREATE TABLE store (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID")
    opened.execute("INSERT INTO store VALUES ('key', ?)", (KEY,))
    audit.create(opened)
    yield opened
    opened.close()


def redacted(params):
    return json.loads(audit.redacted_json(KEY, params))


def write(connection, **more):
    return audit.record(connection, operation="memory_add_entry", outcome="ok", **more)


# --- rows ---


def test_a_row_says_who_did_what_when_to_what_and_how_it_ended(connection):
    row = audit.record(
        connection,
        operation="memory_add_entry",
        project_id="p",
        entry_id="e",
        actor="client 1.0",
        outcome="refused",
        error_code="LIMIT_EXCEEDED",
        params={"scope": "s", "content": "c"},
        result={"deduped": False},
    )
    (kept,) = connection.execute(
        "SELECT id, timestamp, project_id, operation, entry_id, actor, outcome, error_code, params_redacted_json,"
        " result_json FROM audit_log"
    ).fetchall()
    assert kept == row
    assert kept[2:8] == ("p", "memory_add_entry", "e", "client 1.0", "refused", "LIMIT_EXCEEDED")
    assert json.loads(row.params_redacted_json)["scope"] == "s"
    assert json.loads(row.result_json) == {"deduped": False}
    assert row.timestamp.endswith("Z")


def test_rows_are_in_the_order_of_acknowledgement_whatever_the_clock_says(connection, monkeypatch):
    for now in ("2026-01-02T00:00:00.000Z", "2025-01-01T00:00:00.000Z"):
        monkeypatch.setattr(audit.clock, "now", lambda now=now: now)
        write(connection)
    rows = connection.execute("SELECT timestamp FROM audit_log ORDER BY seq").fetchall()
    assert rows == [("2026-01-02T00:00:00.000Z",), ("2025-01-01T00:00:00.000Z",)]


def test_a_row_belongs_to_the_callers_transaction(connection):
    connection.execute("BEGIN IMMEDIATE")
    write(connection)
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT count(*) FROM audit_log").get == 0


def test_the_key_of_the_store_is_used_when_none_is_given(connection):
    row = write(connection, params={"content": "x"})
    assert json.loads(row.params_redacted_json)["content"]["digest"] == audit.digest(KEY, "x")
    assert write(connection, key=b"other", params={"content": "x"}).params_redacted_json != row.params_redacted_json


def test_ids_do_not_repeat(connection):
    assert len({write(connection).id for _ in range(100)}) == 100


# --- redaction ---


def test_the_digest_is_keyed_and_cut():
    assert audit.digest(KEY, "hunter2") == hmac.new(KEY, b"hunter2", hashlib.sha256).hexdigest()[:32]


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_becomes_its_name_digest_and_size(name):
    assert redacted({name: "perché"}) == {
        name: {"field": name, "digest": audit.digest(KEY, "perché"), "bytes": 7, "chars": 6}
    }


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(
    "shape",
    [
        lambda name: {name: "canary"},
        lambda name: {"a": {"b": [{name: "canary"}]}},
        lambda name: {name: ["canary", {"inner": "canary"}]},
        lambda name: {name: {"anything": "canary"}},
        lambda name: {name: b"canary"},
        lambda name: {"entries": [{"scope": "s", name: "canary"}]},
        lambda name: {"a": {"a": {"a": {"a": {"a": {"a": {"a": {name: "canary"}}}}}}}},
    ],
)
def test_a_text_is_kept_at_no_depth_and_in_no_shape(name, shape):
    assert "canary" not in audit.redacted_json(KEY, shape(name))


def test_numbers_under_the_name_of_a_text_are_not_kept_either():
    assert "1234" not in audit.redacted_json(KEY, {"text": 1234, "content": [1234, 1234.0]})
    assert redacted({"summary": None, "dedupe": True, "importance": 3}) == {"summary": None, "dedupe": True, "importance": 3}


def test_other_texts_are_cut_and_their_secrets_masked():
    kept = redacted({"source_ref": "r" * 500, "source_uri": f"https://h/?t={TOKEN}", "tags": [TOKEN, "fine"]})
    assert kept["source_ref"] == "r" * audit.KEPT_CHARS + "... (500 characters)"
    assert kept["source_uri"] == "https://h/?t=[REDACTED:github-token]"
    assert kept["tags"] == ["[REDACTED:github-token]", "fine"]


def test_a_secret_is_masked_before_a_text_is_cut():
    cut = audit.redacted_json(KEY, {"topic": "x" * (audit.KEPT_CHARS - 30) + " " + TOKEN, "note_ref": TOKEN})
    assert TOKEN[:12] not in cut


def test_a_secret_as_a_name_is_masked_too():
    assert TOKEN not in audit.redacted_json(KEY, {TOKEN: 1})


def test_long_lists_and_rows_say_what_they_leave_out():
    assert redacted({"ids": list(range(60))})["ids"][-1] == "10 more"
    assert redacted({f"k{n}": n for n in range(60)})["more"] == 10
    many = audit.redacted_json(KEY, {f"k{n}": ["v" * 190] * 40 for n in range(40)})
    assert json.loads(many)["cut"]["field"] == "params"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.just(object()),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON))
def test_anything_can_be_recorded(params):
    text = audit.redacted_json(KEY, params)
    text.encode()
    json.loads(text)


@given(st.text(alphabet=st.characters(exclude_categories=()), min_size=1))
def test_any_text_can_be_digested(text):
    mark = redacted({"content": text})["content"]
    assert mark["chars"] == len(text)
    assert mark["bytes"] == len(text.encode("utf-8", "surrogatepass"))


def test_a_lone_surrogate_can_be_stored(connection):
    row = write(connection, params={"scope": "a\ud800b"})
    assert json.loads(row.params_redacted_json) == {"scope": "a\ud800b"}


def test_nothing_is_an_empty_object():
    assert audit.redacted_json(KEY, None) == audit.redacted_json(KEY, {}) == "{}"


# --- the mirror ---


def test_the_mirror_gets_one_line_for_each_row(connection, tmp_path):
    path = tmp_path / "audit" / "log.jsonl"
    rows = [write(connection, params={"content": f"c{n}", "scope": "perché"}, result={"n": n}) for n in range(3)]
    assert [audit.mirror(str(path), row) for row in rows] == [None, None, None]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["result"] for line in lines] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert [line["id"] for line in lines] == [row.id for row in rows]
    assert lines[0]["params"] == json.loads(rows[0].params_redacted_json)
    assert lines[0].keys() == {
        "id", "timestamp", "project_id", "operation", "entry_id", "actor", "outcome", "error_code", "params", "result",
    }  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_the_mirror_is_private(connection, tmp_path):
    path = tmp_path / "audit" / "log.jsonl"
    before = os.umask(0)
    try:
        audit.mirror(str(path), write(connection))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
@pytest.mark.parametrize("kind", ["folder", "pipe", "under a file"])
def test_a_mirror_that_cannot_be_written_is_a_warning(connection, tmp_path, kind):
    path = tmp_path / "log.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.touch()
        path = path / "log.jsonl"
    warning = audit.mirror(str(path), write(connection))
    assert str(path) in warning
