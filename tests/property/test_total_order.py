"""The order of answers is total: who was written first never shows, and engines agree on everything but scores."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaffale import backends
from scaffale.indexer import clock, entries
from scaffale.memory import Memory
from scaffale.model import EntryDraft
from scaffale.settings import load

WORDS = ("lock", "writer", "reader", "index", "commit")
drafts = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
        st.sampled_from([1, 3, 5]),
        st.sampled_from([None, 0.0, 0.9]),
        st.sampled_from([1_700_000_000_000, 1_700_000_000_001]),
    ),
    min_size=2,
    max_size=25,
)
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
quickly = settings(max_examples=12, deadline=None)


def keep(memory, numbered):
    """Entries with ids and times of their own, written in this order."""
    database, _ = memory._open()
    with database.write(durable=False) as connection:
        connection.execute("INSERT INTO projects (id, created_at, updated_at) VALUES ('p', '', '')")
        for number, (content, importance, confidence, at) in numbered:
            draft = EntryDraft("s", "t", content, "decision", title="Same", importance=importance, confidence=confidence)
            entries.add(connection, f"entry-{number:02}", "p", draft, "sha", "tester", clock.iso(at))


def open_memory(folder, engine):
    return Memory(load({"HOME": str(folder), "MEMORY_LEXICAL_BACKEND": engine}, str(folder)))


def ranked(memory, query):
    found = memory.search(query=query, project_id="p", limit=50)
    return [(hit.id, hit.score) for hit in found.results]


@pytest.mark.parametrize("engine", backends.LEXICAL)
@quickly
@given(data=st.data(), kept=drafts, query=queries)
def test_the_order_of_writing_never_shows(tmp_path_factory, engine, data, kept, query):
    numbered = list(enumerate(kept))
    with (
        open_memory(tmp_path_factory.mktemp("one"), engine) as one,
        open_memory(tmp_path_factory.mktemp("other"), engine) as other,
    ):
        keep(one, numbered)
        keep(other, data.draw(st.permutations(numbered)))
        assert ranked(one, "") == ranked(other, "")
        for memory in (one, other):
            memory.maintain(rebuild=True)
        assert ranked(one, query) == ranked(other, query)
        pages = [hit.id for n in range(len(kept)) for hit in one.search(query=query, project_id="p", limit=1, offset=n).results]
        assert pages == [id for id, _ in ranked(one, query)]


@quickly
@given(kept=drafts, query=queries)
def test_engines_agree_on_matches_and_on_ties(tmp_path_factory, kept, query):
    folder = tmp_path_factory.mktemp("home")
    answers = {}
    for engine in backends.LEXICAL:
        with open_memory(folder, engine) as memory:
            if not answers:
                keep(memory, list(enumerate(kept)))
            answers[engine] = ranked(memory, query)
    matched = {engine: {id for id, _ in answer} for engine, answer in answers.items()}
    assert len(set(map(frozenset, matched.values()))) == 1, matched
    content = {f"entry-{number:02}": said[0] for number, said in enumerate(kept)}
    for answer in answers.values():
        for (one, score), (other, after) in pairwise(answer):
            assert score >= after
            if content[one] == content[other]:
                assert score == after, "the same text scores the same"
    groups = [
        {text: [id for id, _ in answer if content[id] == text] for text in set(content.values())}
        for answer in answers.values()
    ]
    assert all(group == groups[0] for group in groups), "the same texts tie, and ties are broken alike"
