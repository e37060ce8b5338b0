"""The search hall, asked through documents and memory, on every engine."""

from __future__ import annotations

import os

import pytest

from scaffale.docs import Docs
from scaffale.memory import Memory

HOSTILE = (
    "'; DROP TABLE users; --", '"', "\"\"", "''", "*", "**", "%", "_", "\\", "\\\\n", "()", "((((", "AND OR NOT", "NEAR(a b)",
    "a AND b OR c", "title:", "col:*", "-", "--", "-x", "+x", "^^", "~~", "{}[]", "[1 TO 5]", "=>", "::", "/* x */", "<b>",
    "&amp;", "🎉", "👩‍👩‍👧", "❤️", "…", "—", "\u0301", "C++", ".env", "std::vector<int>", "$HOME/.bashrc", "100%",
    "key:value", "rm -rf /",
    "\u200bzero\u200b", "¿qué?",
)  # fmt: skip


@pytest.fixture
def shelf(tmp_path, make_settings, engine_name):
    """`shelf({"a.md": text})`: a docs hall that has scanned these files."""
    opened = []

    def scan(files):
        for name, text in files.items():
            path = tmp_path / "notes" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            os.utime(path, (1_700_000_000, 1_700_000_000))
        docs = Docs(make_settings(DOCS_LEXICAL_BACKEND=engine_name))
        opened.append(docs)
        docs.scan_folder(folder_path=str(tmp_path / "notes"), shelf="notes")
        return docs

    yield scan
    for each in opened:
        each.close()


def found(docs, query, **more):
    return [os.path.basename(hit.file_path) for hit in docs.search(query=query, **more).results]


def test_forty_hostile_strings_find_the_text_that_holds_them(shelf):
    assert len(HOSTILE) >= 40
    docs = shelf({f"{number}.md": f"# Page\n\nBefore {text} after.\n" for number, text in enumerate(HOSTILE)})
    missed = [text for number, text in enumerate(HOSTILE) if f"{number}.md" not in found(docs, text, limit=50)[:12]]
    assert missed == []


PAGES = {
    "clean.md": "# Clean up\n\nrm -rf removes a folder.\n",
    "trash.md": "# Trash\n\nrm moves things to the bin.\n",
    "rf.md": "# Signals\n\nThe rf unit and the rm unit.\n",
    "field.md": "# Syntax\n\nWrite title:lock to look in titles.\n",
    "lock.md": "# Lock\n\nWho holds it.\n",
}


def test_no_operator_hides_what_holds_it_as_it_is_written(shelf):
    docs = shelf(PAGES)
    assert found(docs, "rm -rf") == ["clean.md", "trash.md"]
    assert set(found(docs, "title:lock")) == {"lock.md", "field.md"}


def test_operators_without_a_hit_are_read_as_words_with_a_warning(shelf):
    docs = shelf(PAGES)
    answer = docs.search(query="title:signals +bin")
    assert {os.path.basename(hit.file_path) for hit in answer.results} == {"rf.md", "trash.md", "field.md"}
    assert "nothing fits the query's operators; they were read as words" in answer.warnings


def test_a_tag_is_a_filter(shelf):
    docs = shelf({"a.md": "---\ntags: [ops]\n---\n# A\n\nlock\n", "b.md": "# B\n\nlock\n"})
    assert found(docs, "tag:ops lock") == ["a.md"]


def test_a_slip_finds_suggestions_and_never_results(shelf):
    docs = shelf({"a.md": "# Backups\n\nThe backup runs at night.\n", "b.md": "# Locks\n\nNothing else.\n"})
    answer = docs.search(query="bakcup")
    assert answer.results == ()
    assert [hit.title for hit in answer.suggestions] == ["Backups"]
    assert answer.unmatched == ("bakcup",)
    assert "backup" in " ".join(answer.closest)
    answer = docs.search(query="zzzzzz")
    assert (answer.results, answer.suggestions, answer.closest, answer.unmatched) == ((), None, None, ("zzzzzz",))
    assert docs.search(query="backup").suggestions is None


def test_words_side_by_side_decide_between_texts_that_hold_them_as_often(shelf):
    docs = shelf({
        "apart.md": "# One\n\nThe lock is here and a writer is there, long after.\n",
        "beside.md": "# Two\n\nHere is the writer lock and so is a thing, long after.\n",
    })  # fmt: skip
    if docs.feature_status().lexical_backend == "like":
        pytest.skip("LIKE does not weigh words")
    answer = docs.search(query="where is the writer lock kept by whom", explain=True)
    assert os.path.basename(answer.results[0].file_path) == "beside.md"
    assert answer.results[0].explain["side_by_side"] > 0


def test_parts_of_a_score_add_up_to_it(shelf):
    docs = shelf({**PAGES, "more.md": "# Locksmiths\n\nWho is the lock holder?\n"})
    for query in ("lock holder", "rm -rf", "who holds the lock", "lock", "locks unit"):
        for hit in docs.search(query=query, explain=True).results:
            assert sum(hit.explain.values()) == pytest.approx(hit.score, abs=0.02), (query, hit)


def test_entries_of_a_scope_speak_for_one_another(make_settings, engine_name):
    with Memory(make_settings(MEMORY_LEXICAL_BACKEND=engine_name)) as memory:
        for scope, content in (
            ("deploy", "The release train leaves on Monday."),
            ("deploy", "A release train waits for the tests."),
            ("deploy", "The train is late."),
            ("cooking", "The train is late."),
        ):
            memory.add_entry(
                actor="t", project_id="p", scope=scope, topic="t", content=content, source_type="decision", dedupe=False
            )
        results = memory.search(query="release train", project_id="p", explain=True).results
    assert [hit.scope for hit in results][-1] == "cooking"
    assert results[0].explain["company"] > results[-1].explain["company"] > 0


def test_suggestions_of_memory_stay_inside_the_project(make_settings, engine_name):
    with Memory(make_settings(MEMORY_LEXICAL_BACKEND=engine_name)) as memory:
        for project, content in (("p", "The backup runs at night."), ("q", "The secretword is here.")):
            memory.add_entry(
                actor="t", project_id=project, scope="s", topic="t", content=content, source_type="decision", dedupe=False
            )
        answer = memory.search(query="bakcup", project_id="p")
        assert [hit.content or hit.snippet for hit in answer.suggestions] == ["The >>>backup<<< runs at night."]
        other = memory.search(query="secretwrod", project_id="p")
        assert (other.results, other.suggestions, other.closest) == ((), None, None)
