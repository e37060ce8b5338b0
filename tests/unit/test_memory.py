"""The memory hall: every verb, on every engine where the engine matters."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys

import pytest

from scaffale import backends
from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, SecretDetected, StoreBusy, StoreUnreadable
from scaffale.indexer import clock, entries
from scaffale.model import CONCEPT, STATUSES, VERIFICATION_HINT, EntryDraft


def keep(memory, content="The writer holds the lock.", **more):
    given = {
        "actor": "tester", "project_id": "p", "scope": "backend", "topic": "locks", "content": content,
        "source_type": "decision", **more,
    }  # fmt: skip
    return memory.add_entry(**given)


def ids(found):
    return [hit.id for hit in found.results]


@pytest.fixture
def memory(open_memory, engine_name):
    return open_memory(MEMORY_LEXICAL_BACKEND=engine_name)


def audit_rows(memory):
    database, _ = memory._open()
    columns = "operation, project_id, entry_id, actor, outcome, error_code, params_redacted_json, result_json"
    return database.connection.execute(f"SELECT {columns} FROM audit_log ORDER BY seq").fetchall()


def test_an_entry_that_is_kept_is_acknowledged_whatever_becomes_of_the_look_up_after_it(memory, monkeypatch):
    def fail(*args, **more):
        raise StoreBusy("somebody else is at it")

    monkeypatch.setattr(type(memory), "_similar", fail)
    added = keep(memory)
    assert any("somebody else is at it" in warning for warning in added.warnings)
    assert memory.read_entry(entry_id=added.entry_id, project_id="p").entry.status == "active"


@pytest.mark.skipif(os.name != "posix", reason="an open file cannot be removed there")
@pytest.mark.parametrize("background", [False, True])
def test_nothing_is_written_into_a_store_that_was_taken_away(open_memory, background):
    memory = open_memory(background=background)
    path = memory.status().db_path
    first = keep(memory, "The first lock entry.")
    copy = f"{path}.copy"
    memory._open()[0].copy(copy)
    for each in (path, f"{path}-wal", f"{path}-shm"):
        os.unlink(each)
    with pytest.raises(StoreUnreadable, match="removed or replaced"):
        keep(memory, "A lock entry for nobody.")
    second = keep(memory, "The first lock entry of a new store.")
    assert ids(memory.search(query="lock", project_id="p")) == [second.entry_id]
    for each in (f"{path}-wal", f"{path}-shm"):
        os.unlink(each)
    os.replace(copy, path)  # a backup comes back under a running server
    with pytest.raises(StoreUnreadable, match="removed or replaced"):
        memory.search(query="lock", project_id="p")
    assert ids(memory.search(query="lock", project_id="p")) == [first.entry_id]


# --- adding ------------------------------------------------------------------------------------------------------------


def test_an_entry_is_kept_word_for_word_and_found_at_once(memory):
    content = "  Verbatim:\r\n\ttabs, «quotes», emoji 🙂 and trailing space  "
    added = keep(memory, content, title="Title", summary="Short", tags=["One Two", "one two", "THREE"], confidence=0.5)
    assert not added.deduped
    assert added.tags == ("one-two", "three")
    entry = memory.read_entry(entry_id=added.entry_id, project_id="p").entry
    assert entry.content == content
    assert (entry.title, entry.summary, entry.confidence, entry.importance) == ("Title", "Short", 0.5, 3)
    assert (entry.status, entry.created_by, entry.verification_hint) == ("active", "tester", VERIFICATION_HINT)
    assert entry.created_at == entry.updated_at
    assert entry.created_at.endswith("Z")
    assert len(entry.created_at) == len("2026-05-05T09:30:00.123Z")
    assert ids(memory.search(query="verbatim", project_id="p")) == [added.entry_id]


def test_scope_topic_and_tags_are_normalised_alike_when_kept_and_when_asked_for(memory):
    added = keep(memory, scope="  Back  End ", topic="Auth\tTokens", tags=["Perché No"])
    assert (added.scope, added.topic, added.tags) == ("back-end", "auth-tokens", ("perché-no",))
    found = memory.search(query="", project_id="p", scope="BACK END", topic="auth  tokens", tags=["perche\u0301 no"])
    assert ids(found) == [added.entry_id]
    assert (found.scope, found.topic) == ("back-end", "auth-tokens")


def test_an_exact_duplicate_in_the_same_scope_is_kept_once(memory):
    first = keep(memory)
    again = keep(memory, topic="other")
    assert again.deduped
    assert again.entry_id == again.existing_entry_id == first.entry_id
    assert not keep(memory, scope="frontend").deduped
    assert not keep(memory, project_id="q").deduped
    assert not keep(memory, dedupe=False).deduped
    memory.invalidate_entry(actor="tester", entry_id=first.entry_id, project_id="p")
    assert keep(memory).entry_id != first.entry_id


def test_the_answer_to_a_duplicate_is_what_is_kept(memory):
    first = keep(memory, topic="locks", tags=["a"], importance=5)
    again = keep(memory, topic="locks", tags=["A"])
    assert (again.entry_id, again.topic, again.tags, again.warnings) == (first.entry_id, "locks", ("a",), ())
    other = keep(memory, topic="other", tags=["b"], title="Title", importance=4, confidence=0.5, source_type="bug_pattern")
    assert (other.entry_id, other.topic, other.tags) == (first.entry_id, "locks", ("a",))
    (warning,) = other.warnings
    assert "its own topic, title, source_type, tags, importance, confidence;" in warning
    entry = memory.read_entry(entry_id=first.entry_id, project_id="p").entry
    assert (entry.topic, entry.tags, entry.title, entry.importance) == ("locks", ("a",), None, 5)


def test_near_duplicates_are_named_not_merged(memory):
    first = keep(memory, "Use a strict comparison for the expiry of tokens in the legacy middleware.")
    second = keep(memory, "Use a strict comparison for the expiry of tokens in our legacy middleware.")
    assert [each.id for each in second.similar_entries] == [first.entry_id]
    assert second.similar_entries[0].similarity > 0.6
    assert any("nearly the same" in warning for warning in second.warnings)
    assert not keep(memory, "Something about the colour of buttons.").similar_entries
    other = keep(memory, "Use a strict comparison for the expiry of tokens in the legacy middleware!", project_id="q")
    assert not other.similar_entries, "another project is never named"


@pytest.mark.parametrize(
    ("wrong", "error", "named"),
    [
        ({"content": "   "}, InvalidParam, "content"),
        ({"topic": " "}, InvalidParam, "topic"),
        ({"scope": None}, InvalidParam, "MEMORY_SCOPE_DEFAULT"),
        ({"source_type": "gossip"}, InvalidParam, "source_type"),
        ({"source_type": CONCEPT}, InvalidParam, "review"),
        ({"importance": 0}, InvalidParam, "importance"),
        ({"importance": 6}, InvalidParam, "importance"),
        ({"confidence": 1.1}, InvalidParam, "confidence"),
        ({"confidence": float("nan")}, InvalidParam, "confidence"),
        ({"content": "x" * 200_001}, LimitExceeded, "MEMORY_MAX_ENTRY_BYTES"),
        ({"content": "é" * 100_001}, LimitExceeded, "bytes"),
        ({"title": "x" * 201}, LimitExceeded, "title"),
        ({"summary": "x" * 501}, LimitExceeded, "summary"),
        ({"scope": "x" * 121}, LimitExceeded, "scope"),
        ({"topic": "x" * 201}, LimitExceeded, "topic"),
        ({"tags": ["x" * 81]}, LimitExceeded, "tags"),
        ({"tags": [str(n) for n in range(21)]}, LimitExceeded, "tags"),
        ({"source_ref": "x" * 401}, LimitExceeded, "source_ref"),
        ({"source_uri": "x" * 1001}, LimitExceeded, "source_uri"),
        ({"project_id": "x" * 201}, LimitExceeded, "project_id"),
        ({"project_id": None}, InvalidParam, "project"),
        ({"source_path": "/etc/passwd"}, InvalidParam, "source_path"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_kept(open_memory, wrong, error, named):
    memory = open_memory()
    keep(memory, "An entry that stands already.")
    with pytest.raises(error) as caught:
        keep(memory, **wrong)
    assert named in caught.value.detail
    assert memory.status(project_id="p").counts["entries"] == 1


def test_a_certain_secret_is_refused_by_kind_and_place_and_can_be_redacted(open_memory):
    memory = open_memory()
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    with pytest.raises(SecretDetected) as caught:
        keep(memory, f"The token is {secret}, do not tell.")
    assert secret not in caught.value.detail
    assert "content" in caught.value.detail
    added = keep(memory, f"The token is {secret}, do not tell.", secrets="redact")
    content = memory.read_entry(entry_id=added.entry_id, project_id="p").entry.content
    assert secret not in content
    assert content.startswith("The token is [REDACTED:")
    assert all(secret not in str(row) for row in audit_rows(memory))


def test_a_reason_holds_no_secret_either(open_memory):
    memory = open_memory()
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    added = keep(memory)
    with pytest.raises(SecretDetected, match=r"reason: .*github-token.*Remove it\.") as caught:
        memory.invalidate_entry(actor="tester", entry_id=added.entry_id, project_id="p", reason=f"leaked {secret}")
    assert secret not in caught.value.detail
    assert memory.read_entry(entry_id=added.entry_id, project_id="p").entry.status == "active"
    done = memory.invalidate_entry(
        actor="tester", entry_id=added.entry_id, project_id="p", reason="leaked db_password = xK9$mQ2vLp7z"
    )
    assert done.changed
    assert any("reason: may hold a secret" in warning for warning in done.warnings)
    assert all(secret not in str(row) for row in audit_rows(memory))


def test_no_id_and_no_name_carries_a_secret_into_a_store_or_an_answer(open_memory, tmp_path):
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    memory = open_memory()
    entry = keep(memory).entry_id
    with pytest.raises(SecretDetected, match="project_id looks like a secret"):
        keep(memory, project_id=secret)
    named = {"project_id": None, "project_path": str(tmp_path)}
    for line in (f"MEMORY_PROJECT_ID={secret}", f"MEMORY_PROJECT_DISPLAY_NAME={secret}"):
        (tmp_path / ".env").write_text(f"{line}\n")
        with pytest.raises(SecretDetected, match="looks like a secret"):
            keep(memory, **named)
    for project, wrong in (("p", secret), (secret, entry)):
        with pytest.raises(NotFound):
            memory.update_entry(actor="tester", entry_id=wrong, project_id=project, title="x")
    rows = audit_rows(memory)
    assert sum("refused" in row for row in rows) == 5
    assert all(secret not in str(row) for row in rows)
    database, _ = memory._open()
    with database.read() as connection:
        assert list(connection.execute("SELECT id FROM projects")) == [("p",)]
    nothing = memory.search(query=f"zyx {secret}", project_id="p")
    assert nothing.unmatched == ("zyx", "[REDACTED:github-token]")


def test_what_older_rules_let_in_is_masked_on_its_way_out(open_memory):
    memory = open_memory()
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    added = keep(memory, "An older lock entry.", title="A title of locks")
    memory.invalidate_entry(actor="tester", entry_id=added.entry_id, project_id="p", reason="old")
    shown = ("title", "content", "summary", "source_ref", "source_uri", "source_path", "invalidation_reason")
    database, _ = memory._open()
    with database.write() as connection:
        values = ", ".join(f"{name} = ?1" for name in shown)
        connection.execute(f"UPDATE memory_entries SET secret_rules = 0, {values}", (secret,))
    entry = memory.read_entry(entry_id=added.entry_id, project_id="p").entry
    assert [getattr(entry, name) for name in shown] == ["[REDACTED:github-token]"] * len(shown)
    (hit,) = memory.search(query="", project_id="p", status="any", include_content=True).results
    assert secret not in repr(hit)


def test_characters_that_nobody_sees_are_kept_and_told_of(open_memory):
    memory = open_memory()
    content = "Plain \U000e0061\U000e0062 words, 👩\u200d👩 and a city, città."
    added = keep(memory, content, title="A\u202etitle")
    assert added.warnings == (
        "title: holds characters that nobody sees (U+202E at character 1 is the first); kept as given",
        "content: holds characters that nobody sees (U+E0061 at character 6 is the first); kept as given",
    )
    assert memory.read_entry(entry_id=added.entry_id, project_id="p").entry.content == content
    assert keep(memory, "Perché no? 👩\u200d👩 ❤\ufe0f").warnings == ()


def test_a_probable_secret_is_kept_with_a_warning_that_does_not_repeat_it(open_memory):
    memory = open_memory()
    added = keep(memory, "set db_password = xK9$mQ2vLp7z in the vault")
    (warning,) = added.warnings
    assert "content: may hold a secret (password)" in warning
    assert "xK9" not in warning
    assert memory.read_entry(entry_id=added.entry_id, project_id="p").entry.content.endswith("in the vault")


def test_only_the_configuration_of_the_launcher_can_allow_a_secret(open_memory, tmp_path):
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    (tmp_path / ".env").write_text("MEMORY_PROJECT_ID=p\nMEMORY_ALLOWED_SECRETS=github-token\n")
    with pytest.raises(SecretDetected):
        keep(open_memory(), f"token {secret}", project_id=None, project_path=str(tmp_path))
    with pytest.raises(InvalidParam, match="secrets"):
        keep(open_memory(), f"token {secret}", secrets="allow")
    assert not keep(open_memory(MEMORY_ALLOWED_SECRETS="github-token"), f"token {secret}").deduped


def test_tags_outside_the_allowed_ones_are_refused(open_memory, tmp_path):
    (tmp_path / ".env").write_text("MEMORY_PROJECT_ID=p\nMEMORY_ALLOWED_TAGS=bug,Data Base\nMEMORY_SCOPE_DEFAULT=core\n")
    memory = open_memory()
    added = keep(memory, project_id=None, project_path=str(tmp_path), scope=None, tags=["data base"])
    assert (added.project_id, added.scope, added.tags) == ("p", "core", ("data-base",))
    with pytest.raises(InvalidParam, match="gossip"):
        keep(memory, project_id=None, project_path=str(tmp_path), tags=["gossip"])


# --- isolation -----------------------------------------------------------------------------------------------------------


def test_a_project_sees_itself_alone_unless_asked_to_cross(memory):
    mine, theirs = keep(memory), keep(memory, "Their writer and their lock.", project_id="q")
    assert ids(memory.search(query="lock", project_id="p")) == [mine.entry_id]
    assert set(ids(memory.search(query="lock", mode="cross_project"))) == {mine.entry_id, theirs.entry_id}
    with pytest.raises(NotFound) as foreign:
        memory.read_entry(entry_id=theirs.entry_id, project_id="p")
    with pytest.raises(NotFound) as absent:
        memory.read_entry(entry_id="absent", project_id="p")
    assert foreign.value.detail.replace(theirs.entry_id, "X") == absent.value.detail.replace("absent", "X")
    assert memory.read_entry(entry_id=theirs.entry_id, mode="cross_project").project_id == "q"
    with pytest.raises(NotFound):
        memory.invalidate_entry(actor="t", entry_id=theirs.entry_id, project_id="p")
    assert [each.name for each in memory.list_scopes(project_id="q").items] == ["backend"]
    nothing = memory.search(query="lock", project_id="r")
    assert (nothing.total, nothing.scopes, nothing.topics) == (0, (), ())


def test_one_entry_among_many_of_others_is_found(memory):
    database, projection = memory._open()
    with database.write(durable=False) as connection:
        connection.execute("INSERT INTO projects (id, created_at, updated_at) VALUES ('crowd', '', '')")
        draft = EntryDraft("s", "t", "the same words as everybody", "decision")
        for n in range(3_000):
            entries.add(connection, f"crowd-{n}", "crowd", draft, "h", "t", clock.now())
    projection.catch_up(bulk=True)
    needle = keep(memory, "the same words as everybody, and one more")
    assert ids(memory.search(query="same words", project_id="p")) == [needle.entry_id]
    projection.catch_up()
    assert ids(memory.search(query="same words", project_id="p", limit=1)) == [needle.entry_id]


# --- searching -----------------------------------------------------------------------------------------------------------


def test_ties_are_broken_by_importance_confidence_freshness_and_id(memory, monkeypatch):
    at = iter(range(1_700_000_000_000, 1_800_000_000_000, 1_000_000))
    same = {"title": "Same", "dedupe": False}

    def kept(**more):
        now = clock.iso(next(at) if "now" not in more else more.pop("now"))
        monkeypatch.setattr(clock, "now", lambda: now)
        return keep(memory, "equal words", **same, **more).entry_id

    plain, confident, doubtful = kept(), kept(confidence=0.9), kept(confidence=0.1)
    weighty, light = kept(importance=5), kept(importance=1)
    later = kept()
    twins = sorted(kept(now=1_900_000_000_000) for _ in range(3))
    found = ids(memory.search(query="equal", project_id="p", limit=50))
    assert found == [weighty, confident, doubtful, *twins, later, plain, light]
    assert ids(memory.search(query="", project_id="p", limit=50)) == found
    for offset in range(9):
        assert ids(memory.search(query="equal", project_id="p", limit=1, offset=offset)) == [found[offset]]


def test_pages_follow_one_another_and_say_how_to_go_on(memory):
    kept = {keep(memory, f"note number {n}").entry_id for n in range(25)}
    seen, offset = [], 0
    while offset is not None:
        page = memory.search(query="note", project_id="p", limit=10, offset=offset)
        assert page.total == 25
        seen += ids(page)
        offset = page.next_offset
    assert len(seen) == 25
    assert set(seen) == kept


def test_entries_that_are_not_active_rank_after_those_that_are(memory):
    best = keep(memory, "lock lock lock", importance=5)
    weak = keep(memory, "a long text in which the word lock stands once among many other words of no interest at all")
    memory.invalidate_entry(actor="t", entry_id=best.entry_id, project_id="p", reason="was wrong")
    assert ids(memory.search(query="lock", project_id="p")) == [weak.entry_id]
    everything = memory.search(query="lock", project_id="p", status="any")
    assert ids(everything) == [weak.entry_id, best.entry_id]
    assert everything.total == 2
    assert ids(memory.search(query="", project_id="p", status="any")) == [weak.entry_id, best.entry_id]
    assert ids(memory.search(query="lock", project_id="p", status="invalidated")) == [best.entry_id]


def test_every_filter_narrows(memory):
    keep(memory, "note one", scope="a", topic="x", tags=["t1", "t2"])
    keep(memory, "note two", scope="a", topic="y", tags=["t1"], source_type="workaround")
    keep(memory, "note three", scope="b", topic="x", tags=["t2"])

    def count(**filters):
        with_words = memory.search(query="note", project_id="p", **filters).total
        assert with_words == memory.search(query="", project_id="p", **filters).total
        return with_words

    assert count() == 3
    assert count(scope="a") == 2
    assert count(topic="x") == 2
    assert count(tags=["t1"]) == 2
    assert count(tags=["t1", "t2"]) == 1
    assert count(source_type="workaround") == 1
    assert count(scope="a", topic="x", tags=["t1"], source_type="decision") == 1
    assert count(scope="nowhere") == 0


def test_the_place_named_by_the_query_lifts_an_entry(memory):
    elsewhere = keep(memory, "The auth flow, auth again.", scope="web", topic="flow", importance=5)
    there = keep(memory, "The flow of requests.", scope="auth", topic="requests")
    found = memory.search(query="auth", project_id="p", explain=True)
    assert found.results[0].id == there.entry_id
    assert found.results[0].explain["place"] == 1.0
    assert found.results[1].id == elsewhere.entry_id
    assert found.results[1].explain["place"] == 0.0
    for hit in found.results:
        parts = {name: value for name, value in hit.explain.items() if name not in ("importance", "confidence")}
        assert hit.score == pytest.approx(sum(parts.values()), abs=0.02)


def test_nothing_found_says_what_exists(memory):
    keep(memory, scope="backend", topic="locks")
    found = memory.search(query="zebra", project_id="p")
    assert (found.total, found.results) == (0, ())
    assert "nothing is invented" in found.hint
    assert [(each.name, each.count) for each in found.scopes] == [("backend", 1)]
    assert [each.name for each in found.topics] == ["locks"]


def test_nothing_found_names_a_similar_scope_that_has_matches(memory):
    keep(memory, "the lock", scope="backend")
    keep(memory, "the lock of the other", scope="back-end", topic="other")
    keep(memory, "no such word", scope="back-ends", topic="t")
    keep(memory, "the lock", scope="backend", project_id="q")
    found = memory.search(query="lock", project_id="p", scope="back_end")
    assert found.scope == "back_end"
    assert "The scope backend has 1 that match." in found.hint
    assert "The scope back-end has 1 that match." in found.hint
    assert "back-ends" not in found.hint
    assert "backend has" not in memory.search(query="lock", project_id="p", scope="back_end", topic="other").hint
    assert "The scope" not in memory.search(query="lock", project_id="p", scope="zebra").hint
    assert "The scope" not in memory.search(query="lock", mode="cross_project", scope="back_end").hint
    assert memory.search(query="lock", project_id="p", scope="back-end").hint is None


def test_every_result_carries_what_it_takes_to_judge_it(memory):
    keep(memory, source_ref="T-1", confidence=0.5)
    found = memory.search(query="lock", project_id="p").results
    assert found == memory.search(query="lock", project_id="p").results
    (hit,) = found
    assert (hit.source_type, hit.source_ref, hit.status, hit.confidence) == ("decision", "T-1", "active", 0.5)
    assert hit.created_at == hit.updated_at
    assert hit.verification_hint == VERIFICATION_HINT
    assert len(VERIFICATION_HINT) < 120
    (listed,) = memory.search(query="", project_id="p").results
    assert listed._replace(score=0, snippet="") == hit._replace(score=0, snippet="")


def test_a_limit_above_the_maximum_is_clamped_aloud(open_memory):
    memory = open_memory(MEMORY_MAX_SEARCH_RESULTS="2")
    for n in range(3):
        keep(memory, f"note {n}")
    found = memory.search(query="note", project_id="p", limit=10)
    assert len(found.results) == 2
    assert found.next_offset == 2
    assert any("limit 10" in warning for warning in found.warnings)


def test_snippets_mark_what_matched_in_any_script(memory):
    keep(memory, "日本語 と città: the Writer’s lock 🙂 waits. " + "filler " * 100 + "lock")
    snippet = memory.search(query="CITTA writer lock", project_id="p").results[0].snippet
    assert ">>>città<<<" in snippet
    assert ">>>Writer<<<" in snippet
    assert "🙂" in snippet


def test_content_comes_only_when_asked_for(memory):
    keep(memory)
    assert memory.search(query="lock", project_id="p").results[0].content is None
    assert memory.search(query="lock", project_id="p", include_content=True).results[0].content.startswith("The writer")


@pytest.mark.parametrize("wrong", [{"status": "gone"}, {"mode": "both"}, {"source_type": "gossip"}])
def test_an_unknown_choice_is_refused(open_memory, wrong):
    with pytest.raises(InvalidParam, match=next(iter(wrong))):
        open_memory().search(query="x", project_id="p", **wrong)


# --- the life of an entry ------------------------------------------------------------------------------------------------


def test_invalidating_is_soft_and_idempotent(memory):
    added = keep(memory)
    first = memory.invalidate_entry(actor="t", entry_id=added.entry_id, project_id="p", reason="fixed upstream")
    assert (first.previous_status, first.status, first.changed) == ("active", "invalidated", True)
    again = memory.invalidate_entry(actor="t", entry_id=added.entry_id, project_id="p", reason="another reason")
    assert (again.previous_status, again.changed, again.invalidated_at) == ("invalidated", False, first.invalidated_at)
    answer = memory.read_entry(entry_id=added.entry_id, project_id="p")
    assert answer.entry.invalidation_reason == "fixed upstream"
    assert any("fixed upstream" in warning for warning in answer.warnings)


def test_names_count_what_is_there(memory):
    gone = keep(memory, "one", scope="a", topic="x", tags=["t1"])
    keep(memory, "two", scope="a", topic="y", tags=["t1", "t2"])
    memory.invalidate_entry(actor="t", entry_id=gone.entry_id, project_id="p")
    scopes, topics, tags = memory.list_scopes, memory.list_topics, memory.list_tags
    assert [tuple(each) for each in scopes(project_id="p").items] == [("a", 1)]
    assert [tuple(each) for each in topics(project_id="p", scope="a").items] == [("y", 1)]
    assert [tuple(each) for each in tags(project_id="p").items] == [("t1", 1), ("t2", 1)]
    assert [tuple(each) for each in tags(project_id="p", status="any").items] == [("t1", 2), ("t2", 1)]
    assert [tuple(each) for each in tags(project_id="p", status="invalidated", topic="x").items] == [("t1", 1)]
    assert scopes(project_id="nobody").items == ()


def test_reading_creates_nothing(open_memory, tmp_path):
    memory = open_memory()
    assert memory.status().exists is False
    assert memory.status(project_id="p").counts == {"entries": 0, **dict.fromkeys(STATUSES, 0)}
    assert memory.search(query="x", project_id="p").total == 0
    assert memory.list_scopes(project_id="p").items == ()
    assert memory.list_entries("p").entries == ()
    with pytest.raises(NotFound):
        memory.read_entry(entry_id="x", project_id="p")
    with pytest.raises(NotFound):
        memory.invalidate_entry(actor="t", entry_id="x", project_id="p")
    assert not os.path.exists(tmp_path / "home" / ".mcp-servers")


def test_reading_registers_no_project_and_writes_nothing(memory, tmp_path):
    keep(memory)
    database, _ = memory._open()
    before = database.connection.execute("SELECT max(seq) FROM journal").get, audit_rows(memory)
    where = {"project_path": str(tmp_path)}
    memory.search(query="lock", **where)
    memory.status(**where)
    memory.list_topics(**where)
    with pytest.raises(NotFound):
        memory.read_entry(entry_id="x", **where)
    assert database.connection.execute("SELECT group_concat(id) FROM projects").get == "p"
    assert (database.connection.execute("SELECT max(seq) FROM journal").get, audit_rows(memory)) == before


def test_the_folder_of_the_project_stays_as_it_is(memory, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / ".env").write_text("MEMORY_PROJECT_ID=p\n")
    (project / "notes.md").write_text("notes\n")

    def tree():
        return {path: (path.stat().st_mtime_ns, path.is_dir() or path.read_bytes()) for path in [project, *project.iterdir()]}

    before = tree()
    added = keep(memory, project_id=None, project_path=str(project), source_path="notes.md")
    memory.invalidate_entry(actor="t", entry_id=added.entry_id, project_path=str(project))
    memory.search(query="lock", project_path=str(project))
    assert tree() == before
    entry = memory.read_entry(entry_id=added.entry_id, project_path=str(project)).entry
    assert (entry.project_id, entry.source_path) == ("p", str(project / "notes.md"))


def test_status_tells_what_serves(memory, engine_name):
    keep(memory)
    status = memory.status(project_id="p")
    assert status.exists
    assert status.project.known
    assert status.lexical_backend == engine_name
    assert status.counts["active"] == 1
    assert status.index_lag == {"uncommitted": 1, "unsearchable": 0}
    assert memory.status().counts["entries"] == 1


def test_a_missing_engine_is_a_warning_not_a_failure(open_memory, monkeypatch):
    monkeypatch.setitem(sys.modules, "tantivy", None)
    monkeypatch.delitem(sys.modules, "scaffale.backends.tantivy", raising=False)
    monkeypatch.delattr(backends, "tantivy", raising=False)
    memory = open_memory()
    added = keep(memory)
    found = memory.search(query="lock", project_id="p")
    assert ids(found) == [added.entry_id]
    assert found.lexical_backend == "fts5"
    assert any("tantivy is not available; fts5 serves" in warning for warning in found.warnings)
    assert any("fts5 serves" in warning for warning in memory.status().warnings)


def test_an_entry_costs_no_commit_of_an_index(memory):
    for n in range(10):
        keep(memory, f"note number {n}")
        assert len(ids(memory.search(query="note", project_id="p", limit=50))) == n + 1
    assert memory._projection.committed() == 0


def test_an_index_that_is_gone_comes_back(memory):
    kept = {keep(memory, f"note number {n}").entry_id for n in range(5)}
    memory.maintain()
    memory.close()
    shutil.rmtree(memory._settings.memory_db_path + ".index")
    assert set(ids(memory.search(query="note", project_id="p"))) == kept


def test_a_clock_that_goes_back_reorders_nothing(memory, monkeypatch):
    times = itertools.count(1_700_000_000_000, -1_000)
    monkeypatch.setattr(clock, "milliseconds", lambda: next(times))
    kept = [keep(memory, f"note {n}", dedupe=False).entry_id for n in range(3)]
    assert [entry.id for entry in memory.list_entries("p").entries] == kept
    assert [row[2] for row in audit_rows(memory)] == kept


def test_what_is_on_the_disk_is_for_its_owner_alone(memory, tmp_path):
    if os.name == "nt":
        pytest.skip("modes are of POSIX")
    keep(memory)
    memory.maintain()
    files = [path for path in (tmp_path / "home" / ".mcp-servers").rglob("*") if path.is_file()]
    assert len(files) > 1
    for path in files:
        private = path.stat().st_mode & 0o777 == 0o600 if path.name.startswith("memory.sqlite") else True
        assert private and path.parent.stat().st_mode & 0o777 == 0o700, path


def test_the_tables_are_those_of_the_contract(memory):
    keep(memory)
    database, _ = memory._open()
    tables = {
        "projects": "id canonical_path display_name git_remote created_at updated_at metadata_json",
        "memory_entries": "id project_id scope topic title content summary source_type source_ref source_path source_uri"
        " content_sha256 status confidence importance created_by created_at updated_at invalidated_at invalidation_reason"
        " metadata_json",
        "memory_tags": "id project_id name",
        "memory_entry_tags": "entry_id tag_id",
        "audit_log": "timestamp project_id operation entry_id actor outcome error_code params_redacted_json",
        "schema_migrations": "version name applied_at",
    }
    for table, columns in tables.items():
        there = {row[1] for row in database.connection.execute(f"PRAGMA table_info({table})")}
        assert set(columns.split()) <= there, table


def test_listing_pages_by_number(memory):
    kept = [keep(memory, f"note {n}").entry_id for n in range(5)]
    first = memory.list_entries("p", limit=3)
    rest = memory.list_entries("p", after=first.next_after, limit=3)
    assert [entry.id for entry in (*first.entries, *rest.entries)] == kept
    assert rest.next_after is None


# --- audit ---------------------------------------------------------------------------------------------------------------


def test_every_write_and_every_refused_write_leaves_one_row_without_content(open_memory):
    memory = open_memory()
    added = keep(memory, "A very private sentence.", summary="Private summary.")
    with pytest.raises(LimitExceeded):
        keep(memory, "x" * 200_001)
    memory.invalidate_entry(actor="other", entry_id=added.entry_id, project_id="p", reason="done")
    with pytest.raises(NotFound):
        memory.invalidate_entry(actor="other", entry_id="absent", project_id="p")
    rows = audit_rows(memory)
    assert [(row[0], row[4], row[5]) for row in rows] == [
        ("memory_add_entry", "ok", None),
        ("memory_add_entry", "refused", "LIMIT_EXCEEDED"),
        ("memory_invalidate_entry", "ok", None),
        ("memory_invalidate_entry", "refused", "NOT_FOUND"),
    ]
    assert rows[0][1:4] == ("p", added.entry_id, "tester")
    params = json.loads(rows[0][6])
    assert params["content"]["chars"] == len("A very private sentence.")
    assert params["topic"] == "locks"
    assert all("rivate" not in str(row) for row in rows)


def test_the_audit_can_be_mirrored_and_switched_off(open_memory, tmp_path):
    mirror = tmp_path / "trail" / "audit.jsonl"
    keep(open_memory(MEMORY_AUDIT_JSONL=str(mirror)))
    (line,) = mirror.read_text().splitlines()
    assert json.loads(line)["operation"] == "memory_add_entry"
    assert "writer" not in line
    silent = open_memory(MEMORY_AUDIT_LOG="0")
    keep(silent, "Another entry.")
    assert len(audit_rows(silent)) == 1


def test_a_context_manager_closes_the_store(make_settings):
    from scaffale.memory import Memory

    with Memory(make_settings()) as memory:
        keep(memory)
    assert memory._database is None
    assert memory.search(query="lock", project_id="p").total == 1
    memory.close()


def test_nobody_pages_without_end(open_memory):
    memory = open_memory()
    keep(memory)
    with pytest.raises(InvalidParam, match="offset"):
        memory.search(query="lock", project_id="p", offset=9_999, limit=10)
    assert memory.search(query="lock", project_id="p", offset=9_990, limit=10).results == ()


def test_a_query_of_signs_finds_what_holds_them_and_says_when_nothing_does(memory):
    arrow = keep(memory, "The arrow -> points on.")
    assert [hit.id for hit in memory.search(query="->", project_id="p").results] == [arrow.entry_id]
    for query in ("&& ||", "…"):
        found = memory.search(query=query, project_id="p")
        assert (found.results, found.total) == ((), 0)
        assert found.warnings == ("the query is signs alone, and no text holds them as they stand",)
    assert memory.search(query=" ", project_id="p").warnings == ()


# --- binding -----------------------------------------------------------------------------------------------------------


def test_a_person_binds_a_folder_that_claims_a_known_project(open_memory, tmp_path):
    claimant = tmp_path / "claimant"
    claimant.mkdir()
    (claimant / ".env").write_text("MEMORY_PROJECT_ID=p\n")
    memory = open_memory(MEMORY_PROJECT_BINDING="strict")
    keep(memory)
    with pytest.raises(Conflict, match=f"scaffale project bind --project {claimant}"):
        memory.search(query="lock", project_path=str(claimant))
    bound = memory.bind_project(actor="me", project_path=str(claimant))
    assert (bound.project_id, bound.folder, bound.changed) == ("p", str(claimant), True)
    assert len(memory.search(query="lock", project_path=str(claimant)).results) == 1
    assert not memory.bind_project(actor="me", project_path=str(claimant)).changed
    assert [(row[0], row[1], row[3], row[4]) for row in audit_rows(memory)][-2:] == [("project_bind", "p", "me", "ok")] * 2


def test_a_folder_is_bound_to_nothing_that_memory_does_not_know(open_memory, tmp_path):
    memory = open_memory()
    with pytest.raises(NotFound, match="pathhash:"):
        memory.bind_project(actor="me", project_path=str(tmp_path))
    assert not memory.status().exists
    keep(memory)
    with pytest.raises(NotFound, match="no project q"):
        memory.bind_project(actor="me", project_path=str(tmp_path), project_id="q")


# --- a project that moves ---


@pytest.mark.parametrize("named_by", ["remote", "env", "id"])
def test_a_project_that_moved_keeps_its_memory_when_more_than_its_path_names_it(open_memory, tmp_path, named_by):
    old, new = tmp_path / "old place", tmp_path / "new place"
    (old / ".git").mkdir(parents=True)
    (old / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    if named_by == "remote":
        (old / ".git" / "config").write_text('[remote "origin"]\n\turl = https://example.org/team/app.git\n')
    if named_by == "env":
        (old / ".env").write_text("MEMORY_PROJECT_ID=app\n")
    said = {"scope": "s", "topic": "t", "source_type": "decision", "actor": "me"}
    memory = open_memory()
    kept = memory.add_entry(content="Ports are fixed.", project_path=str(old), **said)
    old.rename(new)
    where = {"project_id": kept.project_id} if named_by == "id" else {"project_path": str(new)}
    assert [hit.id for hit in memory.search(query="ports", **where).results] == [kept.entry_id]
    memory.add_entry(content="Hosts are not.", **where, **said)
    assert memory.search(query="hosts", **where).project_id == kept.project_id
    if named_by == "id":  # by its path alone it is another project, and sees nothing of the old one
        assert memory.search(query="ports", project_path=str(new)).results == ()
