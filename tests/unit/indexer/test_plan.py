"""The pure part of a scan: what is new, changed, young, missing, moved."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from scaffale.indexer.documents import Stored
from scaffale.indexer.plan import Seen, pair, plan
from scaffale.indexer.walk import Folder
from scaffale.model import Skip


class Info:
    """What a plan reads of a stat."""

    def __init__(self, number):
        self.st_size = self.st_mtime_ns = self.st_ctime_ns = self.st_ino = number


NAMES = st.sampled_from(["/r/a.md", "/r/b.md", "/r/c.md", "/r/sub/d.md", "/r/sub/e.md"])


@given(st.dictionaries(NAMES, st.integers(0, 2)), st.dictionaries(NAMES, st.integers(0, 2)), st.sets(NAMES))
def test_a_plan_adds_up(there, known, skipped):
    met = {name: number for name, number in there.items() if name not in skipped}
    folder = Folder([(name, Info(number)) for name, number in met.items()], [Skip(name, "why") for name in skipped])
    stored = {
        name: Stored(name, index, number, number, number, number, 10**10 * number, 1)
        for index, (name, number) in enumerate(known.items())
    }
    made = plan([folder], stored, 1)
    assert made.seen == len(met) + len(skipped)
    assert {each.path for each in made.added} == set(met) - set(known)
    assert {each.path for each in made.changed} == {name for name in set(met) & set(known) if met[name] != known[name]}
    assert {each.path for each in made.young} == {name for name in set(met) & set(known) if met[name] == known[name] == 0}
    assert made.same == sum(met[name] == known[name] != 0 for name in set(met) & set(known))
    assert {each.file_path for each in made.missing} == set(known) - set(met) - skipped
    assert plan([folder], stored, 2).missing == []


def orphan(number, digest, inode):
    return Stored(f"/r/old-{number}.md", number, 1, 1, 1, inode, 1, 1, digest)


def added(*inodes):
    return [Seen(f"/r/new-{index}.md", Info(inode)) for index, inode in enumerate(inodes)]


def paired(new, orphans, digests):
    pairs = pair(new, orphans, dict(zip((each.path for each in new), digests, strict=True)))
    return {each.path: each.known.id for each in pairs}


def test_pairs_have_the_same_bytes_and_if_possible_the_same_inode():
    orphans = [orphan(1, "x", 10), orphan(2, "x", 20), orphan(3, "y", 30), orphan(4, "z", 40)]
    new = added(99, 20, 40, 30)
    assert paired(new, orphans, ["x", "x", "y", ""]) == {"/r/new-0.md": 1, "/r/new-1.md": 2, "/r/new-2.md": 3}


def test_no_document_is_paired_twice():
    assert paired(added(10, 10, 10), [orphan(1, "x", 10), orphan(2, "x", 10)], ["x"] * 3) in (
        {"/r/new-0.md": 2, "/r/new-1.md": 1},
    )


def test_a_folder_of_equal_files_is_paired_in_linear_time():
    count = 20_000
    began = time.process_time()
    pairs = pair(
        added(*range(count)), [orphan(n, "x", count + n) for n in range(count)], {f"/r/new-{n}.md": "x" for n in range(count)}
    )
    assert [each.known.id for each in pairs] == list(range(count))
    assert time.process_time() - began < 5
