"""A search that shows uncommitted changes from memory answers as one after the commit would.

Which passages match must be equal, whatever was added, changed and removed. Scores may drift, since a commit changes
the corpus statistics and nothing can know them before: so orders are compared between passages that stand apart by
more than that drift.
"""

from __future__ import annotations

import tempfile
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaffale import backends
from scaffale.backends.brute import search_passages
from scaffale.model import Filter, Passage, Watermark
from scaffale.text import parse

WORDS = ("lock", "writer", "reader", "index", "commit", "perché", "getUserById", "dry-run", "shelf", "note")
DRIFT = 0.25  # a few changes among some hundred passages move an idf by less, on either formula

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
changes = st.lists(
    st.tuples(st.integers(1, 320), st.one_of(st.none(), texts), st.sampled_from(("a", "b"))), min_size=1, max_size=10
)
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


def passage(owner, text, project):
    return Passage(owner, owner, "Title", "", text, "", (f"project={project}",), importance=owner % 3)


def base():
    return {n: passage(n, f"{WORDS[n % 10]} {WORDS[n % 7]} filler{n} " * (1 + n % 4), "ab"[n % 2]) for n in range(1, 301)}


@pytest.mark.parametrize("name", backends.LEXICAL)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=changes, query=queries, project=st.sampled_from((None, "a", "b")))
def test_overlay_and_commit_agree(name, changes, query, project):
    filter = Filter(((f"project={project}",),)) if project else Filter()
    world = base()
    with tempfile.TemporaryDirectory() as folder:
        index = backends.lexical(name).open(folder)
        with index.writer() as writer:
            for owner, each in world.items():
                writer.replace(owner, [each])
            writer.commit(Watermark("s", 1, 1))
        index.refresh()
        for seq, (owner, text, facet) in enumerate(changes, 2):
            world.pop(owner, None)
            if text is not None:
                world[owner] = passage(owner, text, facet)
            index.overlay([(seq, owner, [world[owner]] if owner in world else [])], Watermark("s", seq, seq))
        overlaid = index.search(parse(query), filter, 1_000)
        with index.writer() as writer:
            for owner in dict.fromkeys(owner for owner, _, _ in changes):
                writer.replace(owner, [world[owner]] if owner in world else [])
            writer.commit(Watermark("s", seq, seq))
        index.refresh()
        assert index.overlaid() == 0
        committed = index.search(parse(query), filter, 1_000)
        index.close()

    expected = {hit.id for hit in search_passages(world.values(), parse(query), filter, 1_000).hits}
    assert {hit.id for hit in overlaid.hits} == {hit.id for hit in committed.hits}
    assert expected <= {hit.id for hit in committed.hits}
    assert overlaid.total == committed.total
    after = {hit.id: hit.score for hit in committed.hits}
    order = sorted(overlaid.hits, key=lambda hit: -hit.score)
    for better, worse in pairwise(order):
        if better.score * (1 - DRIFT) > worse.score and better.score > 0.5:
            assert after[better.id] > after[worse.id] * (1 - DRIFT)
