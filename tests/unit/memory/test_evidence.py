"""Evidence wherever an entry appears, documents beside hits, budgets, likeness, handoff, verification."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from keeping import HOME, audit, ids, keep, read

from scaffale.docs import Docs
from scaffale.errors import InvalidParam, NotFound
from scaffale.memory.budget import cost, cut

ACTOR = {"actor": "tester", **HOME}
GUIDE = "# Guide\n\nIntroduction.\n\n## Locks\n\nThe writer holds the lock.\n"


@pytest.fixture
def guide(make_settings, tmp_path):
    """A scanned document: its path and its URI."""
    path = tmp_path / "guide.md"
    path.write_text(GUIDE, encoding="utf-8")
    with Docs(make_settings()) as docs:
        docs.scan_file(file_path=str(path), shelf="s")
        return path, docs.list_documents().documents[0].uri


# --- evidence ------------------------------------------------------------------------------------------------------------


def test_an_entry_whose_evidence_changed_is_marked_wherever_it_appears(memory, guide):
    path, uri = guide
    cites, plain = keep(memory, "Locks are held by the writer."), keep(memory, "Locks are held by nobody.")
    memory.link_entries(source_entry_id=cites, target_uri=uri, section="Locks", **ACTOR)

    def marks():
        found = {hit.id: hit.evidence for hit in memory.search(query="locks", **HOME).results}
        listed = {hit.id: hit.evidence for hit in memory.search(query="", **HOME).results}
        summed = {item.id: item.evidence for item in memory.handoff_summary(**HOME).decisions}
        assert found == listed == summed
        assert read(memory, cites).evidence == found[cites]
        assert found[plain] is None
        return found[cites]

    assert marks() is None
    path.write_text(GUIDE.replace("holds", "drops"), encoding="utf-8")
    assert marks() == "changed"
    assert any("changed" in warning for warning in memory.read_entry(entry_id=cites, **HOME).warnings)
    path.unlink()
    assert marks() == "gone"
    path.write_text(GUIDE, encoding="utf-8")
    assert marks() is None


def test_a_search_names_the_documents_that_its_hits_cite_when_asked(memory, guide):
    path, uri = guide
    one, two = keep(memory, "Locks one."), keep(memory, "Locks two.")
    keep(memory, "Locks three.")
    for entry in (one, two):
        memory.link_entries(source_entry_id=entry, target_uri=uri, **ACTOR)
    assert memory.search(query="locks", **HOME).documents is None
    (document,) = memory.search(query="locks", include_docs=True, **HOME).documents
    assert (document.uri, document.title, document.file_path, document.status) == (uri, "Guide", str(path), "same")
    assert set(document.entry_ids) == {one, two}
    assert memory.search(query="three", include_docs=True, **HOME).documents == ()


# --- budgets -------------------------------------------------------------------------------------------------------------


def test_a_budget_leaves_out_results_and_says_how_to_go_on(memory):
    kept = {keep(memory, f"Lock number {n}: " + "word " * 60) for n in range(12)}
    full = memory.search(query="lock", limit=12, **HOME)
    assert full.left_out is None
    got, offset = [], 0
    while offset is not None:
        page = memory.search(query="lock", limit=12, offset=offset, budget_tokens=600, **HOME)
        assert 1 <= len(page.results) < 12
        assert sum(map(cost, page.results)) <= 600 or len(page.results) == 1
        got += ids(page)
        offset = page.next_offset
        if page.left_out:
            assert any("left out" in warning for warning in page.warnings)
    assert got == ids(full)
    assert set(got) == kept


def test_a_budget_that_holds_no_whole_content_cuts_it_and_says_so(memory):
    text = "".join(f"line {n} of a long entry\n" for n in range(400))
    entry = keep(memory, text)
    found = memory.search(query="long entry", include_content=True, budget_tokens=300, **HOME)
    assert text.startswith(found.results[0].content)
    assert len(found.results[0].content) < 1000
    assert any("memory_read_entry" in warning for warning in found.warnings)
    parts, at = [], 0
    while at is not None:
        answer = memory.read_entry(entry_id=entry, start_char=at, budget_tokens=500, **HOME)
        parts.append(answer.entry.content)
        at = answer.next_char
    assert len(parts) > 3
    assert "".join(parts) == text
    assert memory.read_entry(entry_id=entry, **HOME).next_char is None
    assert memory.read_entry(entry_id=entry, start_char=10**6, **HOME).entry.content == ""


@pytest.mark.parametrize("text", ["", "a", "é" * 50, "🙂" * 50, "word " * 50, "x" * 500])
def test_a_cut_text_begins_as_it_did_and_gets_on(text):
    for tokens in (1, 3, 10, 1000):
        short = cut(text, tokens)
        assert text.startswith(short)
        assert short or not text


# --- history beside the entry ----------------------------------------------------------------------------------------------


def test_a_read_tells_the_history_when_asked(memory):
    entry = keep(memory)
    memory.update_entry(entry_id=entry, content="Other.", **ACTOR)
    assert memory.read_entry(entry_id=entry, **HOME).history is None
    history = memory.read_entry(entry_id=entry, include_history=True, **HOME).history
    assert history == memory.entry_history(entry_id=entry, **HOME).events


# --- likeness ------------------------------------------------------------------------------------------------------------


def test_what_is_alike_is_found_for_an_entry_and_for_a_text(open_memory, engine_name):
    memory = open_memory(MEMORY_LEXICAL_BACKEND=engine_name)
    first = keep(memory, "Tokens expire after ten minutes of silence.")
    near = keep(memory, "Tokens expire after twenty minutes of silence.")
    keep(memory, "The cafeteria closes at noon.")
    other = keep(memory, "Tokens expire after ten minutes of silence.", project_id="q")
    gone = keep(memory, "Tokens expire after thirty minutes of silence.")
    memory.invalidate_entry(entry_id=gone, **ACTOR)
    found = memory.find_similar(entry_id=first, **HOME)
    assert ids(found) == [near]
    assert 0.5 < found.results[0].similarity < 1
    by_text = memory.find_similar(text="Tokens expire after ten minutes of silence.", **HOME)
    assert [(hit.id, hit.similarity == 1) for hit in by_text.results] == [(first, True), (near, False)]
    assert {first, near, other} == set(ids(memory.find_similar(text="tokens expire", mode="cross_project")))
    assert len(memory.find_similar(text="tokens expire", limit=1, **HOME).results) == 1


def test_likeness_wants_one_thing_to_compare(memory):
    for given in ({}, {"entry_id": "x", "text": "y"}):
        with pytest.raises(InvalidParam, match="either"):
            memory.find_similar(**given, **HOME)
    with pytest.raises(NotFound):
        memory.find_similar(entry_id="x", **HOME)
    assert memory.find_similar(text="anything", **HOME).results == ()
    assert not memory.status().exists


# --- handoff -------------------------------------------------------------------------------------------------------------


def test_a_handoff_sums_up_what_changed(memory):
    decided = keep(memory, "We use leases.\n\nTODO: measure them", title="Leases")
    note = keep(memory, "- [ ] ask the customer\nNext step: call them\nan open door", source_type="handoff", topic="calls")
    old, wrong, away = keep(memory, "Old way."), keep(memory, "Wrong."), keep(memory, "Away.")
    memory.link_entries(source_entry_id=decided, target_entry_id=old, relation="supersedes", **ACTOR)
    memory.invalidate_entry(entry_id=wrong, reason="measured otherwise", **ACTOR)
    memory.update_entry(entry_id=away, status="archived", **ACTOR)
    found = memory.handoff_summary(**HOME)
    assert [item.id for item in found.decisions] == [decided]
    assert [item.id for item in found.notes] == [note]
    assert [item.id for item in found.superseded] == [old]
    assert [(item.id, item.reason) for item in found.invalidated] == [(wrong, "measured otherwise")]
    assert [item.id for item in found.archived] == [away]
    assert {(point.entry_id, point.line, point.text, point.marker) for point in found.open_points} == {
        (decided, 3, "measure them", "todo"), (note, 1, "ask the customer", "[ ]"), (note, 2, "call them", "next step"),
    }  # fmt: skip
    assert found.counts["changed"] == 5 == sum(
        found.counts[kind] for kind in ("decisions", "notes", "superseded", "invalidated", "archived")
    )
    for text in ("## Decisions", "Leases", "## Open points", "measure them", "## Not valid any more", "measured otherwise"):
        assert text in found.markdown
    assert memory.handoff_summary(since=found.since, **HOME) == found


def test_a_handoff_keeps_to_its_time_and_scope(memory):
    keep(memory, "Here.")
    there = keep(memory, "There.", scope="elsewhere")
    assert [item.id for item in memory.handoff_summary(scope="Elsewhere", **HOME).decisions] == [there]
    for since in ("1h", "2 w", "3M", "1y", "2020-01-01", "2020-01-01T10:00:00+02:00", "9999y"):
        assert memory.handoff_summary(since=since, **HOME).counts["changed"] == 2
    assert memory.handoff_summary(since="2999-01-01", **HOME).counts["changed"] == 0
    for since in ("", "yesterday", "7", "-7d", "7x", "2020-13-01", "12345d", "7d; x"):
        with pytest.raises(InvalidParam, match="since"):
            memory.handoff_summary(since=since, **HOME)
    assert memory.handoff_summary(project_id="nobody").counts["changed"] == 0


# --- verification ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_verifying_looks_at_file_section_and_commit_and_remembers(open_memory, project, guide):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    path, uri = guide
    memory = open_memory()
    where = {"actor": "v", "project_path": str(project)}

    def git(*words):
        command = ["git", "-C", str(project), "-c", "user.name=n", "-c", "user.email=e@x", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q", "-b", "main")
    (project / "notes.md").write_text("# Notes\n\n## Locks\n\nDecision: the writer holds the lock.\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "First")
    commit = git("rev-parse", "HEAD")
    (mined,) = memory.mine_project_notes(source_path="notes.md", scope="s", apply=True, **where).candidates
    entry = mined.entry_id
    memory.link_entries(source_entry_id=entry, target_uri=uri, section="Locks", **where)
    (of_commit,) = memory.add_from_git_context(rev="HEAD", scope="s", apply=True, **where).candidates
    assert of_commit.source_ref == commit

    def outcomes(id):
        done = memory.verify_entry(entry_id=id, **where)
        seen = memory.read_entry(entry_id=id, project_path=str(project)).verified
        assert seen == done.checks
        return done.outcome, {check.check: check.outcome for check in done.checks}

    assert outcomes(entry) == ("same", {"file": "same", "section": "same"})
    assert outcomes(of_commit.entry_id) == ("same", {"commit": "same"})
    (project / "notes.md").write_text("# Notes\n\nNothing.\n", encoding="utf-8")
    path.write_text(GUIDE.replace("holds", "drops"), encoding="utf-8")
    assert outcomes(entry) == ("changed", {"file": "changed", "section": "changed"})
    (project / "notes.md").unlink()
    assert outcomes(entry) == ("gone", {"file": "gone", "section": "changed"})
    git("commit", "-q", "--amend", "-m", "Other")
    assert outcomes(of_commit.entry_id) == ("gone", {"commit": "gone"})
    plain = memory.add_entry(scope="s", topic="t", content="Plain.", source_type="decision", **where).entry_id
    assert memory.verify_entry(entry_id=plain, **where).outcome == "none"
    assert memory.read_entry(entry_id=plain, project_path=str(project)).verified is None
    assert audit(memory, "memory_verify_entry")[0]["result"] == {"outcome": "same", "checks": 2}
    assert not [each.name for each in project.iterdir() if each.name != ".git"]


def test_verifying_an_entry_of_another_project_is_not_possible(memory):
    entry = keep(memory)
    with pytest.raises(NotFound):
        memory.verify_entry(entry_id=entry, actor="v", project_id="q")
