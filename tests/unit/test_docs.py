"""The docs hall: every verb, on every engine where the engine matters, over real folders."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaffale import backends
from scaffale import docs as hall
from scaffale.docs import Docs, room
from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, StoreUnreadable
from scaffale.indexer import journal, markdown

OLD_NS = 1_600_000_000_000_000_000
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
KEY_LINE = "MIIEpAIBAAKCAQEA7bq98f2u1d0s5K3hVnTqzLw0pXyRmJc4GtEoNsUaBvHkQ{:02d}"
GUIDE = """# Guide

Intro to the tool.

## Linux

Run the frobnicator with care.

### Options

The frobnicator takes options.

## Mac

Drag it.
"""


@pytest.fixture
def open_docs(make_settings):
    """`open_docs(DOCS_ALLOWED_ROOTS="/notes")`: a docs hall, closed after the test. Calls share one store."""
    opened = []

    def open_one(*, background=False, **environ):
        opened.append(Docs(make_settings(**environ), background=background))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def docs(open_docs, engine_name):
    return open_docs(DOCS_LEXICAL_BACKEND=engine_name)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def write(folder, name, text, *, age=0):
    """A file, settled: written long before any scan."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, ns=(OLD_NS + age, OLD_NS + age))
    return path


def on_shelf(docs, folder, shelf="notes", **more):
    return docs.scan_folder(folder_path=str(folder), shelf=shelf, **more)


def names(found):
    return [os.path.basename(hit.file_path) for hit in found.results]


def id_of(docs, name):
    return next(each.id for each in docs.list_documents(limit=100).documents if each.file_path.endswith(name))


def counted(report):
    assert report.seen == report.new + report.changed + report.same + report.skipped + report.failed
    assert (report.skipped, report.failed, report.missing) == (
        len(report.skips), len(report.failures), len(report.missing_files),
    )  # fmt: skip
    return report


def tree(folder):
    """Every byte, name, mode and time below the folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else None
        found[str(path)] = (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino, content)
    return found


def journal_lines(docs):
    return docs._open()[0].connection.execute("SELECT count(*), max(seq) FROM journal").fetchone()


def stored_bytes(docs):
    """All that lies on the disk for this hall: the store, its log, the folders of its indexes. Closes it: no store is
    read beside SQLite."""
    docs.close()
    home = Path(docs._settings.docs_db_path).parent
    return b"".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


# --- searching ---------------------------------------------------------------------------------------------------------


def test_a_hit_is_the_best_section_with_all_that_leads_to_it(docs, folder):
    path = write(folder, "guide.md", GUIDE)
    write(folder, "other.md", "# Other\n\nNothing of interest.\n")
    on_shelf(docs, folder, "My Notes")
    (hit,) = docs.search(query="frobnicator care").results
    assert (hit.title, hit.heading_path, hit.start_line, hit.end_line) == ("Guide", ("Guide", "Linux"), 5, 8)
    assert "Run the >>>frobnicator<<< with >>>care<<<." in hit.snippet
    assert (hit.file_path, hit.freshness) == (str(path), "same")
    (shelf,) = docs.list_shelves().shelves
    assert (hit.shelf_id, hit.shelf_name, hit.shelf_uri) == (shelf.id, "My Notes", shelf.uri)
    assert shelf.uri == f"docs://shelf/{shelf.id}-my-notes"
    assert hit.resource_uri == hit.uri == f"docs://document/{hit.id}"
    assert hit.score > 0
    assert (hit.tags, hit.explain) == (None, None)
    lines = path.read_text().splitlines(keepends=True)[hit.start_line - 1 : hit.end_line]
    read = docs.read_document(document_id=hit.id, start_line=hit.start_line, end_line=hit.end_line)
    assert read.content == "".join(lines)
    assert docs.read_document(document_id=hit.id, section=hit.heading_path).content == read.content


def test_a_document_is_answered_once_however_many_of_its_sections_match(docs, folder):
    manual = "# Manual\n\n" + "".join(f"## Step {n}\n\nThe needle, needle and needle.\n\n" for n in range(120))
    write(folder, "manual.md", manual)
    for n in range(12):
        write(folder, f"{n:02}.md", f"# Note {n}\n\nA long text in which the word needle stands once, and much besides.\n")
    on_shelf(docs, folder)
    found = docs.search(query="needle", limit=10)
    assert len(names(found)) == len(set(names(found))) == 10
    assert found.matching_sections == 132
    assert found.next_offset == 10
    rest = docs.search(query="needle", limit=10, offset=10)
    assert len(rest.results) == 3
    assert rest.next_offset is None
    assert len({*names(found), *names(rest), "manual.md"}) == 13
    one_by_one = [names(docs.search(query="needle", limit=1, offset=n)) for n in range(13)]
    assert [name for (name,) in one_by_one] == names(found) + names(rest)


def test_ties_are_broken_by_time_then_path_then_line(docs, folder):
    same = "# Same\n\n## One\n\nequal words\n\n## One\n\nequal words\n"
    for name, age in (("b.md", 0), ("a.md", 0), ("newer.md", 10_000_000_000), ("sub/a.md", 0)):
        write(folder, name, same, age=age)
    on_shelf(docs, folder)
    found = docs.search(query="equal").results
    places = [(os.path.relpath(hit.file_path, folder), hit.start_line) for hit in found]
    assert places == [("newer.md", 3), ("a.md", 3), ("b.md", 3), (os.path.join("sub", "a.md"), 3)]


def test_words_are_ored_and_every_string_is_a_query(docs, folder):
    write(folder, "both.md", "alpha and beta\n")
    write(folder, "one.md", "alpha alone here\n")
    on_shelf(docs, folder)
    assert names(docs.search(query="beta alpha")) == ["both.md", "one.md"]
    for hostile in ("", "  ", '"', "NOT (", "-", "a:b:c", "*", "\0", "(" * 20_000, "🙂", "\ud800", "x" * 100_000):
        assert isinstance(docs.search(query=hostile).results, tuple)
    assert any("too long" in warning for warning in docs.search(query="word " * 5_000).warnings)


def test_literals_words_of_the_title_the_path_and_tags_are_found(docs, folder):
    write(folder, "deploy-prod.md", "---\ntags: [ops]\naliases: [Rollout]\n---\n# Shipping\n\nCall `getUserById --dry-run`.\n")
    write(folder, "other.md", "nothing\n")
    on_shelf(docs, folder)
    for query in ("shipping", "rollout", "ops", "deploy-prod", "getUserById", "--dry-run", "user"):
        assert names(docs.search(query=query)) == ["deploy-prod.md"], query


def test_freshness_is_asked_of_the_file_when_it_is_answered(docs, folder):
    kept, edited, gone = (write(folder, f"{name}.md", f"the word in {name}\n") for name in ("kept", "edited", "gone"))
    on_shelf(docs, folder)
    edited.write_text("the word, edited\n")
    gone.unlink()
    states = {os.path.basename(hit.file_path): hit.freshness for hit in docs.search(query="word").results}
    assert states == {"kept.md": "same", "edited.md": "changed", "gone.md": "gone"}
    assert {os.path.basename(d.file_path): d.freshness for d in docs.list_documents().documents} == states
    assert docs.read_document(document_id=id_of(docs, "kept.md")).warnings == ()
    stale = docs.read_document(document_id=id_of(docs, "edited.md"))
    assert (stale.content, stale.freshness) == ("the word in edited\n", "changed")
    assert "has changed" in stale.warnings[0]
    assert "is gone" in docs.read_document(document_id=id_of(docs, "gone.md")).warnings[0]
    assert kept.exists()
    os.utime(kept, ns=(OLD_NS + 5, OLD_NS + 5))
    assert docs.read_document(document_id=id_of(docs, "kept.md")).freshness == "same", "the same bytes"


def test_tags_filter_all_or_any(docs, folder):
    write(folder, "ab.md", "---\ntags: [Red, Dark Blue]\n---\nword\n")
    write(folder, "a.md", "---\ntags: [red]\n---\nword\n")
    write(folder, "none.md", "word\n")
    on_shelf(docs, folder)

    def found(*tags, **more):
        return sorted(names(docs.search(query="word", tags=tags, **more)))

    assert found() == ["a.md", "ab.md", "none.md"]
    assert found("RED") == ["a.md", "ab.md"]
    assert found("red", "dark blue") == ["ab.md"]
    assert found("red", "dark-blue", tag_match="any") == ["a.md", "ab.md"]
    assert found("dark-blue", "unknown", tag_match="any") == ["ab.md"]
    assert found("unknown") == []
    tags = {hit.file_path: hit.tags for hit in docs.search(query="word", include_tags=True).results}
    assert tags[str(folder / "ab.md")] == ("dark-blue", "red")
    assert tags[str(folder / "none.md")] == ()
    with pytest.raises(InvalidParam, match="tag_match"):
        docs.search(query="word", tag_match="some")


def test_a_shelf_is_named_by_name_id_slug_or_uri(docs, folder):
    write(folder, "one/a.md", "word\n")
    write(folder, "two/b.md", "word\n")
    on_shelf(docs, folder / "one", "First Shelf")
    on_shelf(docs, folder / "two", "Second")
    first = docs.list_shelves().shelves[0]
    for reference in ("first  SHELF", str(first.id), f"{first.id}-first-shelf", first.uri):
        found, listed = docs.search(query="word", shelf=reference), docs.list_documents(shelf=reference)
        assert names(found) == ["a.md"], reference
        assert [d.shelf_id for d in listed.documents] == [first.id]
        assert found.shelf == listed.shelf == docs.search(query="zebra", shelf=reference).shelf == "First Shelf"
    assert docs.search(query="word").shelf is docs.list_documents().shelf is None
    assert sorted(names(docs.search(query="word"))) == ["a.md", "b.md"]
    with pytest.raises(NotFound, match="First Shelf, Second"):
        docs.search(query="word", shelf="Third")


def test_a_filter_is_part_of_the_query(docs, folder):
    """One document among many that match better is found on the first page."""
    for n in range(300):
        write(folder, f"crowd/{n}.md", "word word word\n")
    write(folder, "needle/needle.md", "---\ntags: [rare]\n---\n" + "filler " * 200 + "word\n")
    on_shelf(docs, folder / "crowd", "crowd")
    on_shelf(docs, folder / "needle", "needle")
    assert names(docs.search(query="word", shelf="needle", limit=1)) == ["needle.md"]
    assert names(docs.search(query="word", tags=["rare"], limit=1)) == ["needle.md"]


def test_nothing_found_says_what_there_is(docs, folder):
    nothing = docs.search(query="word")
    assert (nothing.results, nothing.shelves, nothing.matching_sections) == ((), (), 0)
    write(folder, "a.md", "text\n")
    on_shelf(docs, folder, "b")
    docs.create_shelf(name="a")
    nothing = docs.search(query="zebra")
    assert (nothing.results, nothing.shelves, nothing.next_offset) == ((), ("a", "b"), None)
    assert "list_shelves" in nothing.hint
    found = docs.search(query="text")
    assert (found.hint, found.shelves) == (None, None)
    assert docs.search(query="text", offset=5).hint is None, "a page behind the last is no empty search"


def test_a_limit_above_the_maximum_is_clamped_aloud(open_docs, folder):
    docs = open_docs()
    write(folder, "a.md", "text\n")
    on_shelf(docs, folder)
    assert any("limit 101" in warning for warning in docs.search(query="text", limit=101).warnings)
    assert any("limit 101" in warning for warning in docs.list_documents(limit=101).warnings)
    assert docs.search(query="text", limit=100).warnings == ()


def test_scores_are_explained_by_the_numbers_that_ranked(docs, folder):
    write(folder, "a.md", "word\n")
    on_shelf(docs, folder)
    (hit,) = docs.search(query="word", explain=True).results
    assert hit.explain == {"words": round(hit.score - 100, 2), "literal": 100.0}


# --- reading -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def guide(open_docs, folder):
    """A hall with one document, and its id."""
    docs = open_docs()
    write(folder, "guide.md", GUIDE)
    on_shelf(docs, folder)
    return docs, id_of(docs, "guide.md")


def test_a_document_is_read_whole(guide, folder):
    docs, document_id = guide
    read = docs.read_document(document_id=document_id)
    assert read.content == GUIDE
    assert (read.start_line, read.end_line, read.line_count, read.next_start_line) == (1, 15, 15, None)
    assert (read.title, read.file_path, read.freshness) == ("Guide", str(folder / "guide.md"), "same")
    assert read.shelf == {"id": read.shelf_id, "name": "notes", "uri": read.shelf_uri, "parents": []}
    assert read.links == {"outgoing": [], "outgoing_count": 0, "incoming_count": 0}
    assert (read.heading_path, read.subsections, read.matches) == (None, None, None)


@pytest.mark.parametrize(
    ("start", "end", "lines"),
    [(5, 7, (5, 7)), (5, None, (5, 15)), (None, 3, (1, 3)), (15, 15, (15, 15)), (14, 999, (14, 15)), (1, 1, (1, 1))],
)
def test_lines_are_counted_from_one_and_inclusive(guide, start, end, lines):
    docs, document_id = guide
    read = docs.read_document(document_id=document_id, start_line=start, end_line=end)
    assert (read.start_line, read.end_line) == lines
    assert read.content == "".join(GUIDE.splitlines(keepends=True)[lines[0] - 1 : lines[1]])


@pytest.mark.parametrize(
    ("start", "end", "named"),
    [(16, None, "start_line"), (0, None, "start_line"), (-3, None, "start_line"), (5, 4, "end_line"), (1, 0, "end_line")],
)
def test_lines_out_of_range_are_refused(guide, start, end, named):
    docs, document_id = guide
    with pytest.raises(InvalidParam, match=named):
        docs.read_document(document_id=document_id, start_line=start, end_line=end)


@pytest.mark.parametrize("text", [b"", b"\xef\xbb\xbf", b"\n", b"one line without an end", b"a\r\nb\rc\n\r\n"])
def test_odd_documents_read_back(open_docs, folder, text):
    docs = open_docs()
    write(folder, "odd.md", text)
    on_shelf(docs, folder)
    read = docs.read_document(document_id=id_of(docs, "odd.md"), start_line=1)
    assert read.content == text.decode("utf-8-sig")
    assert read.line_count == len(markdown.lines(read.content))


texts = st.lists(
    st.sampled_from(["# A", "## B", "text", "```", "---", "", "", "tab\t", "é 🙂", "> q", "title: x", "===", "<div>"]),
    max_size=30,
).flatmap(lambda parts: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(parts)))


@settings(max_examples=40, deadline=None)
@given(text=texts, data=st.data())
def test_any_two_ranges_of_lines_join_to_the_text(tmp_path_factory, text, data):
    from scaffale.settings import load

    home = tmp_path_factory.mktemp("home")
    write(home, "n/a.md", text)
    with Docs(load({"HOME": str(home), "DOCS_LEXICAL_BACKEND": "like"}, str(home))) as docs:
        on_shelf(docs, home / "n")
        whole = docs.read_document(document_id=1)
        assert whole.content == text
        if whole.line_count > 1:
            middle = data.draw(st.integers(1, whole.line_count - 1))
            first = docs.read_document(document_id=1, end_line=middle)
            second = docs.read_document(document_id=1, start_line=middle + 1)
            assert first.content + second.content == text
            assert first.end_line == middle
        for section in docs._open()[0].connection.execute("SELECT start_line, end_line, body FROM sections"):
            assert docs.read_document(document_id=1, start_line=section[0], end_line=section[1]).content == section[2]


def test_a_literal_is_shown_with_the_lines_around_it(guide):
    docs, document_id = guide
    read = docs.read_document(document_id=document_id, search_string="FROBNICATOR", context_lines=1)
    assert [(match.line, match.start_line, match.end_line) for match in read.matches] == [(7, 6, 8), (11, 10, 12)]
    assert read.matches[0].content == "\nRun the frobnicator with care.\n\n"
    assert read.content == "\n".join(match.content for match in read.matches)
    near = docs.read_document(document_id=document_id, search_string="frobnicator", context_lines=2)
    assert [(match.line, match.start_line, match.end_line) for match in near.matches] == [(7, 5, 13)], "overlaps are one"
    bare = docs.read_document(document_id=document_id, search_string="frobnicator", context_lines=0)
    assert [match.content for match in bare.matches] == [
        "Run the frobnicator with care.\n", "The frobnicator takes options.\n",
    ]  # fmt: skip
    within = docs.read_document(document_id=document_id, search_string="frobnicator", section="Linux", context_lines=99)
    assert [(match.line, match.start_line, match.end_line) for match in within.matches] == [(7, 5, 8)]
    by_default = docs.read_document(document_id=document_id, search_string="Drag it").matches
    assert [(match.line, match.start_line, match.end_line) for match in by_default] == [(15, 5, 15)]


def test_a_literal_may_run_over_lines_whatever_ends_them(open_docs, folder):
    docs = open_docs()
    write(folder, "a.md", "# A\r\n\r\nfirst line\r\nsecond line\r\n")
    on_shelf(docs, folder)
    (match,) = docs.read_document(document_id=1, search_string="LINE\nsecond", context_lines=0).matches
    assert (match.line, match.content) == (3, "first line\r\n")


def test_a_literal_that_is_not_there_is_an_empty_answer_with_a_warning(guide):
    docs, document_id = guide
    read = docs.read_document(document_id=document_id, search_string="zebra")
    assert (read.matches, read.content) == ((), "")
    assert any("does not stand" in warning for warning in read.warnings)
    with pytest.raises(InvalidParam, match="search_string"):
        docs.read_document(document_id=document_id, search_string="")
    with pytest.raises(LimitExceeded, match="search_string"):
        docs.read_document(document_id=document_id, search_string="x" * 10_001)


def test_many_places_are_cut_aloud_and_read_on(open_docs, folder):
    docs = open_docs()
    write(folder, "a.md", "needle\n\n\n" * (hall.MAX_MATCHES + 10))
    on_shelf(docs, folder)
    ask = {"document_id": 1, "search_string": "needle", "context_lines": 0}
    first = docs.read_document(**ask)
    assert len(first.matches) == hall.MAX_MATCHES
    assert first.next_start_line == 3 * hall.MAX_MATCHES + 1
    assert any(f"start_line={first.next_start_line}" in warning for warning in first.warnings)
    rest = docs.read_document(**ask, start_line=first.next_start_line)
    assert len(rest.matches) == 10
    assert rest.next_start_line is None


def test_a_long_text_is_cut_at_a_line_and_read_on(open_docs, folder, monkeypatch):
    monkeypatch.setattr(hall, "MAX_READ_CHARS", 100)
    monkeypatch.setattr(hall._cut, "__defaults__", (100,))
    docs = open_docs()
    text = "".join(f"line number {n:04}\n" for n in range(40)) + "x" * 300 + "\nend\n"
    write(folder, "a.md", text)
    on_shelf(docs, folder)
    for ask in ({}, {"search_string": "n", "context_lines": 0}):
        got, start = "", 1
        while start is not None:
            read = docs.read_document(document_id=1, start_line=start, **ask)
            parts = [match.content for match in read.matches] if ask else [read.content]
            assert sum(map(len, parts)) <= 100 or parts[0].count("\n") == 1, "more than there is room for"
            got += "".join(parts)
            assert (read.next_start_line is None) == (not any("read on" in warning for warning in read.warnings))
            start = read.next_start_line
        assert got == (text.replace("x" * 300 + "\n", "") if ask else text)


def test_a_section_is_named_by_its_path_joined_or_by_its_end(guide):
    docs, document_id = guide
    options = "### Options\n\nThe frobnicator takes options.\n\n"
    for asked in (
        ["Guide", "Linux", "Options"], ("Linux", "Options"), ["Options"], "Options", "Guide › Linux › Options",
        "Guide > Linux > Options", "Guide/Linux/Options", "Linux > Options",
    ):  # fmt: skip
        read = docs.read_document(document_id=document_id, section=asked)
        assert (read.content, read.start_line, read.end_line) == (options, 9, 12), asked
        assert read.heading_path == ("Guide", "Linux", "Options")
    top = docs.read_document(document_id=document_id, section=["Guide"])
    assert top.content == "# Guide\n\nIntro to the tool.\n\n"
    assert top.subsections == (("Guide", "Linux"), ("Guide", "Linux", "Options"), ("Guide", "Mac"))


def test_a_section_that_is_missing_or_ambiguous_names_what_there_is(open_docs, folder):
    docs = open_docs()
    examples = "before\n\n# A\n\n## Example\n\none\n\n# B\n\n## Example\n\ntwo\n\n"
    write(folder, "a.md", examples + "# C\n\n## Twice\n\n1\n\n## Twice\n\n2\n")
    on_shelf(docs, folder)
    with pytest.raises(InvalidParam, match=r"several match.*A › Example; B › Example"):
        docs.read_document(document_id=1, section="Example")
    assert docs.read_document(document_id=1, section="B › Example").content == "## Example\n\ntwo\n\n"
    with pytest.raises(NotFound, match=r"before the first heading.*A › Example"):
        docs.read_document(document_id=1, section=["Nowhere"])
    assert docs.read_document(document_id=1, section=[]).content == "before\n\n", "what stands before the first heading"
    assert docs.read_document(document_id=1, section=["C", "Twice"]).content == "## Twice\n\n1\n\n## Twice\n\n2\n"


def test_of_two_sections_with_the_same_headings_the_first_is_read_and_the_other_named(open_docs, folder):
    docs = open_docs()
    write(folder, "a.md", "# A\n\n## Usage\n\none\n\n## Other\n\n## Usage\n\ntwo\n")
    on_shelf(docs, folder)
    read = docs.read_document(document_id=1, section=["A", "Usage"])
    assert read.content == "## Usage\n\none\n\n"
    assert any("again at line 9" in warning for warning in read.warnings)
    assert docs.read_document(document_id=1, section="Other").warnings == ()


def test_a_long_section_is_one_when_it_is_read(open_docs, folder):
    docs = open_docs()
    body = "".join(f"paragraph {n} of many words\n\n" for n in range(500))
    write(folder, "a.md", f"# Top\n\n## Long\n\n{body}## After\n\nend\n")
    on_shelf(docs, folder)
    assert docs.feature_status().counts["sections"] > 4
    assert docs.read_document(document_id=1, section="Long").content == f"## Long\n\n{body}"
    (hit,) = docs.search(query="paragraph 400").results
    assert hit.end_line - hit.start_line < 1_000
    assert "400" in docs.read_document(document_id=hit.id, start_line=hit.start_line, end_line=hit.end_line).content


@pytest.mark.parametrize("document_id", [99, 0, -1, 2**70])
def test_a_document_that_is_not_there_is_not_found(guide, open_docs, document_id):
    docs, _ = guide
    for ask in (docs.read_document, docs.remove_document):
        with pytest.raises(NotFound, match=str(document_id)):
            ask(document_id=document_id)


# --- lists and shelves -------------------------------------------------------------------------------------------------


def test_documents_are_listed_by_path_in_pages(open_docs, folder):
    docs = open_docs()
    for name in "edcba":
        write(folder, f"{name}.md", f"---\ntags: [odd]\n---\n{name}\n" if name in "ace" else name)
    on_shelf(docs, folder)
    seen, offset = [], 0
    while offset is not None:
        page = docs.list_documents(limit=2, offset=offset)
        assert page.total == 5
        seen += [os.path.basename(each.file_path) for each in page.documents]
        offset = page.next_offset
    assert seen == ["a.md", "b.md", "c.md", "d.md", "e.md"]
    assert docs.list_documents(tag="ODD").total == docs.list_documents(tagged=True).total == 3
    assert docs.list_documents(tagged=False).total == 2
    assert docs.list_documents(tag="even").total == 0
    (first,) = docs.list_documents(limit=1).documents
    assert (first.tags, first.line_count, first.size, first.uri) == (("odd",), 4, 22, f"docs://document/{first.id}")


def test_ten_documents_are_listed_unless_more_are_asked_for(open_docs, folder):
    docs = open_docs()
    for n in range(12):
        write(folder, f"{n}.md", "text\n")
    on_shelf(docs, folder)
    assert len(docs.list_documents().documents) == len(docs.search(query="text").results) == 10
    assert docs.list_documents().next_offset == 10


def test_the_life_of_a_shelf(docs, folder):
    made = docs.create_shelf(name=" My  Shelf ", description="what it is for").shelf
    assert (made.name, made.description, made.document_count) == ("My Shelf", "what it is for", 0)
    with pytest.raises(Conflict, match="My Shelf"):
        docs.create_shelf(name="MY SHELF")
    with pytest.raises(InvalidParam):
        docs.create_shelf(name="  ")
    write(folder, "a.md", "word\n")
    on_shelf(docs, folder, "my shelf")
    renamed = docs.update_shelf(shelf="My Shelf", new_name="Other", new_description="").shelf
    assert (renamed.id, renamed.name, renamed.description, renamed.document_count) == (made.id, "Other", None, 1)
    assert renamed.uri == f"docs://shelf/{made.id}-other"
    assert docs.search(query="word").results[0].shelf_uri == renamed.uri
    with pytest.raises(InvalidParam, match="new_name"):
        docs.update_shelf(shelf="Other")
    removed = docs.remove_shelf(shelf=made.uri)
    assert (removed.shelf, removed.removed_documents) == ("Other", 1)
    assert (folder / "a.md").exists()
    assert docs.search(query="word").results == ()
    assert docs.list_shelves().shelves == ()
    for verb in (docs.remove_shelf, docs.update_shelf):
        with pytest.raises(NotFound):
            verb(shelf="Other", **({"new_name": "x"} if verb == docs.update_shelf else {}))
    assert docs.create_shelf(name="Other").shelf.id > made.id, "an id is never given twice"


def test_a_removed_document_is_forgotten_and_may_come_back(docs, folder):
    write(folder, "a.md", "word\n")
    write(folder, "b.md", "word\n")
    on_shelf(docs, folder)
    gone = id_of(docs, "a.md")
    removed = docs.remove_document(document_id=gone)
    assert (removed.document_id, removed.removed_documents, removed.shelf) == (gone, 1, "notes")
    assert names(docs.search(query="word")) == ["b.md"]
    with pytest.raises(NotFound):
        docs.read_document(document_id=gone)
    assert counted(docs.resync_all()[0]).new == 1
    assert sorted(names(docs.search(query="word"))) == ["a.md", "b.md"]


# --- scanning ----------------------------------------------------------------------------------------------------------


def test_what_a_scan_stored_is_found_when_it_has_answered(docs, folder):
    for n in range(40):
        write(folder, f"{n}.md", f"# Note\n\nnumber{n} word\n")
    report = counted(on_shelf(docs, folder))
    assert (report.shelf, report.seen, report.new, report.sections) == ("notes", 40, 40, 40)
    found = docs.search(query="number39")
    assert names(found) == ["39.md"]
    assert found.lag == 0
    write(folder, "39.md", "# Note\n\nreplaced word\n")
    (folder / "0.md").unlink()
    assert counted(on_shelf(docs, folder)).changed == 1
    assert names(docs.search(query="number39")) == []
    assert names(docs.search(query="replaced")) == ["39.md"]


def test_an_unchanged_folder_again_leaves_no_journal_line(open_docs, folder):
    docs = open_docs()
    for n in range(5):
        write(folder, f"{n}.md", "text\n")
    on_shelf(docs, folder)
    before = journal_lines(docs)
    for report in (on_shelf(docs, folder), *docs.resync_all()):
        assert (counted(report).seen, report.same) == (5, 5)
    assert journal_lines(docs) == before


def test_resync_says_what_is_new_changed_and_missing(docs, folder):
    for name in ("same", "edited", "gone", "moved"):
        write(folder, f"{name}.md", f"the word in {name}\n")
    on_shelf(docs, folder)
    before = {name: id_of(docs, f"{name}.md") for name in ("edited", "moved", "gone")}
    write(folder, "edited.md", "the word, edited and longer\n")
    write(folder, "new.md", "the word in new\n")
    (folder / "sub").mkdir()
    (folder / "moved.md").rename(folder / "sub" / "elsewhere.md")
    (folder / "gone.md").unlink()
    (report,) = docs.resync_all()
    counted(report)
    assert (report.seen, report.new, report.changed, report.same, report.moved, report.missing) == (4, 1, 1, 2, 1, 1)
    assert report.missing_files == (str(folder / "gone.md"),)
    assert any("remove_missing" in warning for warning in report.warnings), "guidance"
    assert id_of(docs, "elsewhere.md") == before["moved"]
    assert id_of(docs, "edited.md") == before["edited"]
    states = {hit.id: hit.freshness for hit in docs.search(query="word").results}
    assert states[before["gone"]] == "gone"
    (report,) = docs.resync_all(shelf="notes", remove_missing=True)
    assert (counted(report).removed, report.missing) == (1, 0)
    assert before["gone"] not in {hit.id for hit in docs.search(query="word").results}
    with pytest.raises(NotFound):
        docs.resync_all(shelf="unknown")


def test_the_same_file_on_two_shelves_is_two_documents(docs, folder):
    path = write(folder, "a.md", "word\n")
    on_shelf(docs, folder, "one")
    report = docs.scan_file(file_path=str(path), shelf="two")
    assert (counted(report).new, report.shelf) == (1, "two")
    hits = docs.search(query="word").results
    assert len({hit.id for hit in hits}) == len({hit.shelf_id for hit in hits}) == 2
    assert {hit.file_path for hit in hits} == {str(path)}
    docs.remove_shelf(shelf="one")
    assert [hit.shelf_name for hit in docs.search(query="word").results] == ["two"]


def test_bad_files_are_named_and_the_rest_is_taken(docs, folder):
    write(folder, "good.md", "word\n")
    write(folder, "binary.md", bytes(range(256)) * 20)
    write(folder, "latin.md", "word caff\xe9\n".encode("latin-1"))
    write(folder, "wide.md", "word wide\n".encode("utf-16"))
    write(folder, "ignored/x.md", "word\n")
    write(folder, "node_modules/x.md", "word\n")
    write(folder, ".hidden/x.md", "word\n")
    write(folder, "note.txt", "word\n")
    write(folder, ".gitignore", "other/\n")
    write(folder, "other/x.md", "word\n")
    (folder / ".git").mkdir()
    os.symlink("/etc", folder / "out.md")
    report = counted(on_shelf(docs, folder, ignore=["ignored/"]))
    assert (report.new, report.skipped, report.failed) == (3, 2, 0)
    assert {os.path.basename(skip.file_path) for skip in report.skips} == {"binary.md", "out.md"}
    assert all(skip.reason for skip in report.skips)
    assert any("latin.md" in warning for warning in report.warnings)
    assert sorted(names(docs.search(query="word"))) == ["good.md", "latin.md", "wide.md"]
    everything = counted(on_shelf(docs, folder, ignore=["ignored/"], respect_gitignore=False))
    assert everything.new == 1
    assert counted(on_shelf(docs, folder, "flat", recursive=False)).new == 3


def test_a_file_above_the_limit_is_named_with_both_sizes(open_docs, folder):
    docs = open_docs(DOCS_MAX_FILE_BYTES="1000")
    write(folder, "big.md", "x" * 1001)
    write(folder, "small.md", "x\n")
    report = counted(on_shelf(docs, folder))
    assert (report.new, report.skipped) == (1, 1)
    assert "1001" in report.skips[0].reason
    assert "1000" in report.skips[0].reason


def test_progress_rises_to_the_total(open_docs, folder):
    docs = open_docs()
    for n in range(7):
        write(folder, f"{n}.md", "text\n")
    told = []
    on_shelf(docs, folder, progress=lambda done, total, path: told.append((done, total)))
    assert told[-1] == (7, 7)
    assert told == sorted(told)


def test_sources_stay_as_they_are_byte_for_byte(docs, folder):
    write(folder, "a.md", GUIDE)
    write(folder, "b.md", b"\xef\xbb\xbf# B\r\n\r\nword\r\n")
    write(folder, "c.md", f"the token {TOKEN}\n")
    write(folder, "d.md", b"\xff\xfe\x00bad\n")
    before = tree(folder)
    on_shelf(docs, folder)
    docs.scan_file(file_path=str(folder / "a.md"), shelf="other")
    docs.search(query="word token")
    docs.read_document(document_id=id_of(docs, "b.md"))
    docs.resync_all(remove_missing=True)
    docs.update_shelf(shelf="other", new_name="another")
    docs.remove_document(document_id=id_of(docs, "a.md"))
    docs.maintain(rebuild=True)
    docs.remove_shelf(shelf="another")
    docs.remove_shelf(shelf="notes")
    assert tree(folder) == before


# --- what is allowed ---------------------------------------------------------------------------------------------------


def test_a_scan_stays_inside_the_roots(open_docs, tmp_path, folder):
    outside = tmp_path / "outside"
    write(outside, "a.md", "word\n")
    write(folder, "a.md", "word\n")
    os.symlink(outside, folder / "link")
    os.symlink(outside / "a.md", folder / "file.md")
    docs = open_docs(DOCS_ALLOWED_ROOTS=str(folder))
    for path in (outside, folder / ".." / "outside", folder / "link", tmp_path):
        with pytest.raises(InvalidParam, match="folder_path"):
            on_shelf(docs, path)
    for path in (outside / "a.md", folder / "file.md"):
        with pytest.raises(InvalidParam, match="file_path"):
            docs.scan_file(file_path=str(path), shelf="s")
    assert not os.path.exists(docs._settings.docs_db_path), "a refused scan makes nothing"
    report = counted(on_shelf(docs, folder))
    assert (report.new, report.skipped) == (1, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes in folders are of POSIX")
def test_what_is_no_file_is_refused(open_docs, folder):
    os.mkfifo(folder / "pipe.md")
    write(folder, "text.txt", "text\n")
    docs = open_docs()
    for path in ("pipe.md", "absent.md", "text.txt", "", "a\0b.md"):
        with pytest.raises(InvalidParam):
            docs.scan_file(file_path=str(folder / path) if path else "", shelf="s")
    with pytest.raises(InvalidParam):
        docs.scan_file(file_path="relative.md", shelf="s")
    with pytest.raises(InvalidParam):
        on_shelf(docs, folder / "text.txt")
    report = counted(on_shelf(docs, folder))
    assert [os.path.basename(skip.file_path) for skip in report.skips] == ["pipe.md"]


def test_a_store_is_no_document(open_docs, folder):
    docs = open_docs()
    write(folder, "a.md", "text\n")
    on_shelf(docs, folder)
    with pytest.raises(InvalidParam, match="store"):
        docs.scan_file(file_path=docs._settings.docs_db_path, shelf="s")


def test_a_certain_secret_is_never_shown_or_found_on_the_disk(docs, folder):
    key = [KEY_LINE.format(n) for n in range(30)]
    armour = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(key) + "\n-----END RSA PRIVATE KEY-----\n"
    write(folder, "deploy.md", f"---\ntags: [{TOKEN}]\n---\n# Deploy {TOKEN}\n\nuse the ghp token {TOKEN} now\n")
    # Long enough for the key to run over the place where a long section is cut.
    long = "# Key\n\n" + "filler words here\n" * 160 + armour + "words after it\n" * 50
    write(folder, "key.md", long)
    report = counted(on_shelf(docs, folder))
    assert report.new == 2
    assert any("deploy.md" in warning and "github-token" in warning for warning in report.warnings)
    shown = []
    for query in ("ghp token", "key filler", "words after", TOKEN, *key[:30:5]):
        shown += docs.search(query=query, include_tags=True).results
    assert shown
    shown += docs.list_documents().documents
    for document_id in (1, 2):
        whole = docs.read_document(document_id=document_id)
        shown.append(whole)
        shown += [docs.read_document(document_id=document_id, start_line=n, end_line=n) for n in range(1, whole.line_count + 1)]
        shown.append(docs.read_document(document_id=document_id, search_string="words", context_lines=3))
    text = str(shown)
    database, _ = docs._open()
    with database.read() as connection:
        indexed = str(room.DocsSource(database).passages(connection, [1, 2]))
    assert "words after it" in indexed
    assert "[REDACTED:github-token]" in text
    assert "[REDACTED:private-key]" in text
    on_disk = stored_bytes(docs)
    for secret in (TOKEN, TOKEN.lower(), *key):
        assert secret not in text
        assert secret not in indexed
        assert secret.encode() not in on_disk
    read = docs.read_document(document_id=id_of(docs, "key.md"))
    assert read.line_count == len(long.splitlines()), "lines stay where they are"
    assert read.content.endswith("words after it\n")
    assert read.freshness == "same"
    assert TOKEN in (folder / "deploy.md").read_text(), "the source is untouched"


# --- the store ---------------------------------------------------------------------------------------------------------


def test_looking_creates_nothing(open_docs, tmp_path):
    docs = open_docs()
    status = docs.feature_status()
    assert (status.exists, status.counts, status.index_lag, status.wal_bytes) == (False, {}, {}, 0)
    assert status.db_path.endswith(os.path.join(".mcp-servers", "docs", "docs.sqlite"))
    assert docs.search(query="x").results == ()
    assert docs.list_documents().documents == docs.list_shelves().shelves == docs.resync_all() == ()
    assert "nothing to do" in docs.maintain()[0]
    for missing in (
        lambda: docs.search(query="x", shelf="s"),
        lambda: docs.list_documents(shelf="s"),
        lambda: docs.resync_all(shelf="s"),
        lambda: docs.read_document(document_id=1),
        lambda: docs.remove_document(document_id=1),
        lambda: docs.remove_shelf(shelf="s"),
        lambda: docs.update_shelf(shelf="s", new_name="t"),
    ):
        with pytest.raises(NotFound):
            missing()
    assert not os.path.exists(tmp_path / "home" / ".mcp-servers")


def test_status_tells_what_there_is_and_what_serves(docs, folder, engine_name):
    write(folder, "a.md", "---\ntags: [x, y]\n---\n# A\n\ntext\n")
    on_shelf(docs, folder)
    status = docs.feature_status()
    assert status.exists
    assert status.lexical_backend == engine_name
    assert status.features == {"fts": engine_name != "like", "lexical_backend": engine_name, "vector": False}
    assert status.counts == {"shelves": 1, "documents": 1, "sections": 2, "tags": 2, "scan_sources": 1}
    assert status.index_lag["unsearchable"] == 0
    assert re.fullmatch(r"3\.\d+\.\d+", status.sqlite_version)


def test_a_missing_engine_is_a_warning_not_a_failure(open_docs, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "tantivy", None)
    monkeypatch.delitem(sys.modules, "scaffale.backends.tantivy", raising=False)
    monkeypatch.delattr(backends, "tantivy", raising=False)
    docs = open_docs()
    write(folder, "a.md", "word\n")
    on_shelf(docs, folder)
    found = docs.search(query="word")
    assert (names(found), found.lexical_backend) == (["a.md"], "fts5")
    assert any("fts5 serves" in warning for warning in found.warnings)
    assert any("fts5 serves" in warning for warning in docs.feature_status().warnings)


def test_an_index_that_is_gone_comes_back(docs, folder):
    write(folder, "a.md", GUIDE)
    on_shelf(docs, folder)
    expected = docs.search(query="frobnicator").results
    docs.close()
    shutil.rmtree(docs._settings.docs_db_path + ".index")
    assert [hit._replace(score=0) for hit in docs.search(query="frobnicator").results] == [expected[0]._replace(score=0)]
    assert docs.maintain(rebuild=True)[0].endswith("built anew")
    assert docs.search(query="frobnicator").results == expected


def test_changes_of_a_scan_that_died_are_told_as_lag_and_brought_in(open_docs, folder):
    """Its lines are above the commit and belong to a scan that never answered."""
    docs = open_docs()
    write(folder, "a.md", "word\n")
    on_shelf(docs, folder)
    database, _ = docs._open()
    with database.write() as connection:
        connection.execute("UPDATE documents SET title = 'dangling'")
        journal.append(connection, 1, 12345)
    behind = docs.search(query="word")
    assert behind.lag == 1
    assert any("not searchable yet" in warning for warning in behind.warnings)
    docs.maintain()
    level = docs.search(query="dangling")
    assert (names(level), level.lag) == (["a.md"], 0)


def test_documents_that_a_running_scan_has_changed_are_found_as_they_are_now(open_docs, folder):
    docs = open_docs()
    for n in range(30):
        write(folder, f"{n}.md", f"# Note {n}\n\nword of old\n")
    on_shelf(docs, folder)
    database, _ = docs._open()
    with database.write() as connection:  # as the scan stores a batch
        for document in range(1, 26):
            connection.execute("DELETE FROM sections WHERE document_id = ?", (document,))
            connection.execute(
                "INSERT INTO sections (document_id, level, heading_path, start_line, end_line, body)"
                " VALUES (?, 1, 'Note', 1, 3, '# Note\n\nword of new\n')",
                (document,),
            )
        journal.append_all(connection, range(1, 26), 12345)
    found = docs.search(query="word", limit=10)
    assert len(found.results) == 10
    assert found.lag == 25
    assert all("of new" in hit.snippet or hit.id > 25 for hit in found.results)
    docs.maintain()
    found = docs.search(query="word", limit=100)
    assert (len(found.results), found.matching_sections, found.lag) == (30, 30, 0)


@pytest.mark.parametrize("changed", [False, True], ids=["nothing new", "something new"])
def test_the_next_scan_brings_in_what_a_scan_that_died_left(open_docs, folder, changed):
    docs = open_docs()
    write(folder, "a.md", "word\n")
    on_shelf(docs, folder)
    database, _ = docs._open()
    with database.write() as connection:
        connection.execute("UPDATE documents SET title = 'dangling'")
        journal.append(connection, 1, 12345)
    if changed:
        write(folder, "b.md", "word\n")
    on_shelf(docs, folder)
    found = docs.search(query="dangling")
    assert (names(found), found.lag) == (["a.md"], 0)


def test_a_scan_costs_other_processes_a_look_at_its_commit_and_no_more(open_docs, folder):
    """What one has committed, another shows from the index, be it hundreds of documents."""
    docs, other = open_docs(), open_docs(background=True)
    write(folder, "first.md", "word\n")
    on_shelf(docs, folder)
    assert len(other.search(query="word").results) == 1
    for n in range(60):
        write(folder, f"{n}.md", f"number{n} word\n")
    on_shelf(docs, folder)
    assert names(other.search(query="number59")) == ["59.md"]
    assert other._projection._handle.overlaid() == 0


def test_the_tables_are_those_of_the_contract(docs, folder):
    write(folder, "a.md", "---\ntags: [x]\n---\n# A\n")
    on_shelf(docs, folder)
    tables = {
        "shelves": "id name description created_at updated_at",
        "documents": "id shelf_id title file_path content_sha256",
        "sections": "id document_id heading_path level start_line end_line body",
        "tags": "id name description", "document_tags": "document_id tag_id",
        "scan_sources": "id shelf_id root", "feature_state": "key value", "schema_migrations": "version name applied_at",
    }  # fmt: skip
    for table, columns in tables.items():
        there = {row[1] for row in docs._open()[0].connection.execute(f"PRAGMA table_info({table})")}
        assert set(columns.split()) <= there, table


def test_documents_and_memory_share_no_file(docs, folder, open_memory, tmp_path):
    write(folder, "a.md", "word\n")
    on_shelf(docs, folder)
    memory = open_memory()
    memory.add_entry(actor="t", project_id="p", scope="s", topic="t", content="word", source_type="decision")
    stores = sorted(path.relative_to(tmp_path / "home").as_posix() for path in (tmp_path / "home").rglob("*.sqlite"))
    assert [store for store in stores if ".index/" not in store] == [
        ".mcp-servers/docs/docs.sqlite", ".mcp-servers/memory/memory.sqlite",
    ]  # fmt: skip
    tables = "SELECT name FROM sqlite_schema WHERE name IN ('documents', 'memory_entries')"
    assert [hall._open()[0].connection.execute(tables).get for hall in (docs, memory)] == ["documents", "memory_entries"]


def test_a_background_thread_does_not_change_what_is_found(open_docs, folder):
    docs = open_docs(background=True)
    for n in range(30):
        write(folder, f"{n}.md", f"number{n} word\n")
        on_shelf(docs, folder)
        assert names(docs.search(query=f"number{n}")) == [f"{n}.md"]


def test_a_context_manager_closes_the_store(make_settings, folder):
    write(folder, "a.md", "word\n")
    with Docs(make_settings()) as docs:
        on_shelf(docs, folder)
    assert docs._database is None
    assert names(docs.search(query="word")) == ["a.md"]
    docs.close()


@pytest.mark.skipif(os.name != "posix", reason="an open file cannot be removed there")
def test_nothing_is_written_into_a_store_that_was_taken_away(open_docs, folder):
    docs = open_docs(background=True)
    write(folder, "a.md", "# A\n\nlock\n")
    on_shelf(docs, folder)
    path = docs.feature_status().db_path
    for each in (path, f"{path}-wal", f"{path}-shm"):
        os.unlink(each)
    with pytest.raises(StoreUnreadable, match="removed or replaced"):
        on_shelf(docs, folder)
    assert docs.list_shelves().shelves == ()
    assert on_shelf(docs, folder).new == 1
    assert len(docs.search(query="lock").results) == 1
