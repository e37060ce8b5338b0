"""The manifest of promises holds both ways: each promise names tests that exist, and what is promised is all named."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from promises import PROMISES  # noqa: E402

CHAPTERS = (
    "1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9 1.10 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 3.1 3.2 3.3 4 6 8.1 8.2 8.3 8.4 8.6 8.7 8.8 8.11"
    " 8.12 9"
).split()
# Whatever these hold is a promise to users, and stands in the manifest.
ACCEPTANCE = ("contract/*.py", "property/*.py", "architecture/*.py", "unit/test_memory.py", "unit/memory/test_*.py",
              "unit/test_docs.py",
              "integration/test_mcp_real.py", "integration/test_processes.py", "integration/test_bad_stores.py",
              "integration/test_kill.py", "unit/backends/test_choice.py")  # fmt: skip


@cache
def shown_in(path):
    """`name` or `Class::name` of each test function in a file, read and not run."""
    found = set()
    for node in ast.parse((TESTS / path).read_text(encoding="utf-8")).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        above = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {above + each.name for each in members if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    return {name for name in found if name.rpartition("::")[2].startswith("test_")}


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.id)
def test_a_promise_is_shown_by_tests_that_exist_or_is_for_later(promise):
    assert re.fullmatch(r"(\d+(?:\.\d+)?)-[a-z0-9-]+", promise.id)
    assert promise.text.endswith(".")
    assert len(promise.text) <= 130
    assert bool(promise.tests) != bool(promise.later)
    assert len(set(promise.tests)) == len(promise.tests)
    for test in promise.tests:
        path, _, name = test.partition("::")
        assert (TESTS / path).is_file(), test
        assert name in shown_in(path), test


def test_no_id_is_given_twice():
    assert [id for id, count in Counter(promise.id for promise in PROMISES).items() if count > 1] == []


def test_every_chapter_makes_promises_that_are_kept():
    kept = {promise.id.partition("-")[0] for promise in PROMISES if promise.tests}
    assert [chapter for chapter in CHAPTERS if chapter not in kept] == []


def test_whatever_is_shown_of_the_whole_is_promised():
    """The other way: a test of the whole that no promise names shows something that nobody was told of."""
    cited = {test for promise in PROMISES for test in promise.tests}
    shown = {
        f"{path.relative_to(TESTS).as_posix()}::{name}"
        for pattern in ACCEPTANCE
        for path in TESTS.glob(pattern)
        for name in shown_in(path.relative_to(TESTS).as_posix())
    }
    assert sorted(shown - cited) == []
