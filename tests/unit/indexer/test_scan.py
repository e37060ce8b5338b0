"""Folder → plan → store: counts that add up, bad files survived, moves followed, nothing written twice."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scaffale import files
from scaffale.backends import sqlite_file
from scaffale.errors import Conflict, InvalidParam, NotFound, StoreUnreadable
from scaffale.indexer import clock, markdown, shelves
from scaffale.indexer import scan as room
from scaffale.indexer.database import Database
from scaffale.indexer.scan import Options, resync, scan
from scaffale.model import Skip

OLD_NS = 1_600_000_000_000_000_000
GONE = Options(remove_missing=True)


@pytest.fixture
def database(tmp_path):
    database = Database(str(tmp_path / "store" / "docs.sqlite"), shelves.SCHEMA)
    yield database
    database.close()


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    return root


def make(root, name="a.md", text="# A\n\ntext\n", *, age=0):
    """A file, settled: written long before any scan."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, ns=(OLD_NS + age, OLD_NS + age))
    return path


def journal_length(database):
    return database.connection.execute("SELECT max(seq) FROM journal").get


def changes(database):
    return database.connection.total_changes()


def ids(database):
    return dict(database.connection.execute("SELECT rel_path, id FROM documents ORDER BY rel_path"))


def text_of(database, document_id):
    return "".join(section.body for section in shelves.sections(database.connection, document_id))


def tally(report):
    assert report.seen == report.new + report.changed + report.same + report.skipped + report.failed
    assert report.skipped == len(report.skips)
    assert report.failed == len(report.failures)
    assert report.missing == len(report.missing_files)
    names = ("seen", "new", "changed", "same", "skipped", "failed", "moved", "missing", "removed")
    return {name: value for name in names if (value := getattr(report, name))}


# --- scanning ------------------------------------------------------------------------------------------------------


def test_a_folder_becomes_a_shelf(database, root):
    make(root, "a.md", "---\ntags: [One Two]\n---\n# A\n\ntext\n")
    make(root, "sub/b.markdown", "no heading\n")
    report = scan(database, "Notes", str(root))
    assert tally(report) == {"seen": 2, "new": 2}
    assert report.shelf == "Notes"
    assert report.sections == 3
    (first, second), total = shelves.list_documents(database.connection)
    assert total == 2
    assert (first.title, first.tags, first.file_path) == ("A", ("one-two",), str(root / "a.md"))
    assert (second.title, second.line_count) == ("b", 1)
    assert text_of(database, first.id) == (root / "a.md").read_text()
    (source,) = shelves.sources(database.connection, first.shelf_id)
    assert source[2:] == (str(root), False, True, True, ())


def test_the_same_folder_again_writes_nothing(database, root):
    for number in range(5):
        make(root, f"{number}.md")
    scan(database, "s", str(root))
    before = changes(database)
    assert tally(scan(database, "s", str(root))) == {"seen": 5, "same": 5}
    assert tally(resync(database)[0]) == {"seen": 5, "same": 5}
    assert changes(database) == before


def test_unchanged_files_are_not_opened(database, root, monkeypatch):
    make(root)
    scan(database, "s", str(root))
    monkeypatch.setattr(files, "read_with_stat", None)
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "same": 1}


def test_a_changed_file_keeps_its_id_and_is_stored_anew(database, root):
    make(root, "a.md")
    make(root, "b.md")
    scan(database, "s", str(root))
    before, lines = ids(database), journal_length(database)
    make(root, "a.md", "# Changed\n", age=1)
    assert tally(scan(database, "s", str(root))) == {"seen": 2, "changed": 1, "same": 1}
    assert ids(database) == before
    assert text_of(database, before["a.md"]) == "# Changed\n"
    assert journal_length(database) == lines + 1


def test_a_change_that_keeps_size_and_time_is_seen(database, root):
    make(root, "a.md", "first\n")
    scan(database, "s", str(root))
    make(root, "a.md", "other\n")
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "changed": 1}


def test_a_touched_file_is_the_same_and_its_new_time_is_kept(database, root):
    path = make(root)
    scan(database, "s", str(root))
    lines = journal_length(database)
    os.utime(path, ns=(OLD_NS + 10**9, OLD_NS + 10**9))
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "same": 1}
    assert journal_length(database) == lines + 1
    before = changes(database)
    scan(database, "s", str(root))
    assert changes(database) == before


def test_a_young_file_is_read_again_until_it_can_be_trusted(database, root, monkeypatch):
    path = make(root, "a.md", "first\n")
    now = OLD_NS // 10**6
    monkeypatch.setattr(clock, "milliseconds", lambda: now)
    scan(database, "s", str(root))
    before = changes(database)
    reads = []
    read = files.read_with_stat
    monkeypatch.setattr(files, "read_with_stat", lambda *args: reads.append(args[0]) or read(*args))
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "same": 1}
    assert reads == [str(path)]
    assert changes(database) == before
    now += 5_000
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "same": 1}
    assert len(reads) == 2
    noted = changes(database)
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "same": 1}
    assert len(reads) == 2
    assert changes(database) == noted
    assert journal_length(database) == 2


def test_one_file_can_be_scanned(database, root):
    path = make(root, "sub/a.md")
    make(root, "sub/b.md")
    assert tally(scan(database, "s", str(path))) == {"seen": 1, "new": 1}
    assert tally(scan(database, "s", str(path))) == {"seen": 1, "same": 1}
    assert list(ids(database)) == ["a.md"]


def test_the_same_file_on_two_shelves_is_two_documents(database, root):
    make(root)
    scan(database, "one", str(root))
    assert tally(scan(database, "two", str(root))) == {"seen": 1, "new": 1}
    assert shelves.counts(database.connection)["documents"] == 2


def test_a_shelf_is_named_by_whatever_names_it(database, root):
    make(root)
    with database.write() as connection:
        shelf = shelves.create_shelf(connection, "My Shelf")
    for reference in ("my shelf", str(shelf.id), shelf.uri):
        assert scan(database, reference, str(root)).shelf == "My Shelf"
    with pytest.raises(NotFound):
        scan(database, "docs://shelf/9-x", str(root))


def test_options_are_kept_for_the_next_time(database, root):
    for name in ("a.md", "b.tmp.md", "sub/c.md", "d.md"):
        make(root, name)
    (root / ".gitignore").write_text("d.md\n")
    options = Options(recursive=False, ignore=("*.tmp.md",), respect_gitignore=False)
    assert tally(scan(database, "s", str(root), options)) == {"seen": 2, "new": 2}
    assert tally(resync(database)[0]) == {"seen": 2, "same": 2}
    assert tally(scan(database, "s", str(root))) == {"seen": 3, "new": 2, "same": 1, "missing": 1}


@pytest.mark.parametrize("name", ["gone", "a.txt", "fifo.md"])
def test_a_root_that_is_none_is_refused_and_nothing_is_made(database, root, name):
    (root / "a.txt").write_text("text")
    os.mkfifo(root / "fifo.md")
    with pytest.raises(InvalidParam, match=name):
        scan(database, "s", str(root / name))
    assert shelves.list_shelves(database.connection) == []


def test_a_root_whose_name_is_no_unicode_is_refused(database, root):
    os.mkdir(os.fsencode(root) + b"/\xff")
    with pytest.raises(InvalidParam, match="UTF-8"):
        scan(database, "s", os.fsdecode(os.fsencode(root) + b"/\xff"))


def test_a_root_outside_the_allowed_ones_is_refused(database, root, tmp_path):
    make(root)
    with pytest.raises(InvalidParam, match="allowed"):
        scan(database, "s", str(root), Options(allowed_roots=(str(tmp_path / "other"),)))
    assert tally(scan(database, "s", str(root), Options(allowed_roots=(str(tmp_path),)))) == {"seen": 1, "new": 1}


def test_a_bad_pattern_is_refused_and_nothing_is_made(database, root):
    with pytest.raises(InvalidParam, match="ignore"):
        scan(database, "s", str(root), Options(ignore=("!",)))
    assert shelves.list_shelves(database.connection) == []


def test_a_read_only_store_refuses_only_what_would_write(database, root, monkeypatch):
    make(root)
    scan(database, "s", str(root))
    os.utime(root / "a.md")
    monkeypatch.setattr(sqlite_file, "writable", lambda path: False)
    reader = Database(database.path, shelves.SCHEMA)
    assert tally(scan(reader, "s", str(root))) == {"seen": 1, "same": 1}
    make(root, "b.md")
    with pytest.raises(StoreUnreadable):
        scan(reader, "s", str(root))
    reader.close()


# --- bad files -----------------------------------------------------------------------------------------------------


def test_every_kind_of_bad_file_is_survived_and_named(database, root, tmp_path):
    texts = {
        "empty.md": b"",
        "bom.md": b"\xef\xbb\xbf# Bom\n",
        "utf16.md": "# Città\r\n".encode("utf-16"),
        "crlf.md": b"# Crlf\r\n\r\ntext\r\n",
        "invalid.md": b"# Caff\xe8\n",
        "nul.md": b"# Nul\n\nwith \0 in it, a little\n",
        "line.md": b"x" * 1_000_000,
        "deep.md": b"- " * 10_000 + b"x",
        "links.md": b"[a](b) " * 100_000,
        "new\nline.md": b"# N\n",
    }
    for name, data in texts.items():
        make(root, name, data)
    make(root, "big.md", b"x" * 2_000_000)
    make(root, "image.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 9)
    os.mkfifo(root / "fifo.md")
    make(tmp_path, "secret.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    with open(os.fsencode(root) + b"/\xff.md", "w"):
        pass
    report = scan(database, "s", str(root), Options(max_file_bytes=1_500_000))
    assert tally(report) == {"seen": 15, "new": 10, "skipped": 5}
    reasons = {os.path.basename(skip.file_path): skip.reason for skip in report.skips}
    assert set(reasons) == {"big.md", "image.md", "fifo.md", "out.md", "\\udcff.md"}
    assert reasons["big.md"] == "it holds 2000000 bytes; the limit is 1500000"
    assert reasons["image.md"] == "it is binary data, not text"
    assert {warning.split(": ")[0].rpartition("/")[2] for warning in report.warnings} == {
        "invalid.md", "line.md", "nul.md", "links.md"
    }  # fmt: skip
    assert set(ids(database)) == set(texts)
    assert text_of(database, ids(database)["crlf.md"]) == "# Crlf\r\n\r\ntext\r\n"
    again = scan(database, "s", str(root), Options(max_file_bytes=1_500_000))
    assert tally(again) == {"seen": 15, "same": 10, "skipped": 5}


def test_a_file_that_cannot_be_read_is_named(database, root, monkeypatch):
    make(root, "a.md")
    make(root, "b.md")
    read = files.read_with_stat

    def refuse(path, max_bytes):
        if path.endswith("a.md"):
            raise PermissionError(13, "Permission denied", path)
        return read(path, max_bytes)

    monkeypatch.setattr(files, "read_with_stat", refuse)
    report = scan(database, "s", str(root))
    assert tally(report) == {"seen": 2, "new": 1, "skipped": 1}
    assert report.skips == (Skip(str(root / "a.md"), "it cannot be read: Permission denied"),)


def test_a_file_that_vanishes_is_named(database, root, monkeypatch):
    make(root, "a.md")
    make(root, "b.md")
    read = files.read_with_stat

    def vanish(path, max_bytes):
        Path(path).unlink(missing_ok=path.endswith("a.md"))
        return read(path, max_bytes)

    monkeypatch.setattr(files, "read_with_stat", vanish)
    report = scan(database, "s", str(root))
    assert tally(report) == {"seen": 2, "skipped": 2}
    assert "vanished" in report.skips[0].reason


def test_a_file_that_grows_while_it_is_read_is_left_for_the_next_scan(database, root, monkeypatch):
    make(root, "a.md")
    make(root, "log.md")
    read = files.read_with_stat

    def grow(path, max_bytes):
        answer = read(path, max_bytes)
        if path.endswith("log.md"):
            with open(path, "a") as log:
                log.write("more\n")
        return answer

    monkeypatch.setattr(files, "read_with_stat", grow)
    report = scan(database, "s", str(root))
    assert tally(report) == {"seen": 2, "new": 1, "skipped": 1}
    assert "being written" in report.skips[0].reason
    monkeypatch.undo()
    assert tally(scan(database, "s", str(root))) == {"seen": 2, "new": 1, "same": 1}


def test_a_file_swapped_for_a_link_that_leaves_is_not_read(database, root, tmp_path, monkeypatch):
    make(root, "a.md")
    secret = make(tmp_path, "secret.md", "secret\n")
    read = files.read_with_stat

    def swap(path, max_bytes):
        if path.endswith("a.md"):
            Path(path).unlink()
            Path(path).symlink_to(secret)
        return read(path, max_bytes)

    monkeypatch.setattr(files, "read_with_stat", swap)
    report = scan(database, "s", str(root))
    assert tally(report) == {"seen": 1, "skipped": 1}
    assert "symbolic link" in report.skips[0].reason


class Panic(BaseException):
    """As the extension modules' panics are no `Exception`."""


@pytest.mark.parametrize("error", [Panic, RecursionError, MemoryError, ValueError])
def test_a_parser_that_fails_costs_one_file(database, root, monkeypatch, error):
    make(root, "a.md")
    make(root, "b.md", "# B\n")
    parse = markdown.parse

    def fail(text, *, file_name):
        if file_name == "a.md":
            raise error("with the text of a.md")
        return parse(text, file_name=file_name)

    monkeypatch.setattr(markdown, "parse", fail)
    report = scan(database, "s", str(root))
    assert tally(report) == {"seen": 2, "new": 1, "failed": 1}
    assert report.failures == (Skip(str(root / "a.md"), f"it could not be taken in: {error.__name__}"),)


def test_an_interrupt_goes_through_and_what_was_stored_stays(database, root, monkeypatch):
    for number in range(4):
        make(root, f"{number}.md")
    monkeypatch.setattr(room, "BATCH_FILES", 2)
    parse = markdown.parse

    def stop(text, *, file_name):
        if file_name == "3.md":
            raise KeyboardInterrupt
        return parse(text, file_name=file_name)

    monkeypatch.setattr(markdown, "parse", stop)
    with pytest.raises(KeyboardInterrupt):
        scan(database, "s", str(root))
    assert list(ids(database)) == ["0.md", "1.md"]
    monkeypatch.undo()
    assert tally(resync(database)[0]) == {"seen": 4, "new": 2, "same": 2}


def test_sources_stay_as_they_are(database, root):
    for name, text in (("a.md", b"\xef\xbb\xbfx\r\n"), ("b.md", b"\xff\0"), ("c.md", b"# C\n")):
        make(root, name, text)
    before = {path: (path.read_bytes(), os.stat(path)) for path in root.iterdir()}
    scan(database, "s", str(root))
    scan(database, "s", str(root))
    resync(database, "s", GONE)
    for path, (data, info) in before.items():
        now = os.stat(path)
        assert path.read_bytes() == data
        assert (now.st_mtime_ns, now.st_ctime_ns, now.st_ino, now.st_mode) == (
            info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_mode
        )  # fmt: skip
    assert set(before) == set(root.iterdir())


# --- batches, progress ---------------------------------------------------------------------------------------------


def test_batches_are_told_and_carry_the_scan(database, root, monkeypatch):
    for number in range(5):
        make(root, f"{number}.md")
    monkeypatch.setattr(room, "BATCH_FILES", 2)
    told = []
    scan(database, "s", str(root), Options(scan_id=7), on_batch=told.append)
    assert told == [2, 2, 1]
    rows = database.connection.execute("SELECT owner, scan FROM journal WHERE owner > 0 ORDER BY seq").fetchall()
    assert rows == [(number, 7) for number in sorted(ids(database).values())]


def test_a_batch_is_bounded_by_bytes_too(database, root, monkeypatch):
    for number in range(4):
        make(root, f"{number}.md", "x" * 100)
    monkeypatch.setattr(room, "BATCH_BYTES", 150)
    told = []
    scan(database, "s", str(root), on_batch=told.append)
    assert told == [2, 2]


def test_no_file_is_read_inside_a_transaction(database, root, monkeypatch):
    make(root, "a.md")
    scan(database, "s", str(root))
    make(root, "a.md", "# new\n", age=1)
    make(root, "b.md")
    read, seen = files.read_with_stat, []
    monkeypatch.setattr(
        files, "read_with_stat", lambda *args: seen.append(database.connection.in_transaction) or read(*args)
    )
    scan(database, "s", str(root))
    assert seen == [False, False]


def test_progress_only_rises_and_ends_at_the_total(database, root):
    for number in range(3):
        make(root, f"one/{number}.md")
        make(root, f"two/{number}.md")
    scan(database, "s", str(root / "one"))
    scan(database, "s", str(root / "two"))
    make(root, "one/0.md", "changed\n", age=1)
    make(root, "two/9.md")
    told = []
    resync(database, progress=lambda *step: told.append(step))
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert all(done <= total for done, total, _ in told)
    assert told[-1][:2] == (7, 7)
    assert str(root / "two/9.md") in [path for _, _, path in told]


def test_a_shelf_removed_meanwhile_ends_the_scan(database, root, monkeypatch):
    for number in range(3):
        make(root, f"{number}.md")
    monkeypatch.setattr(room, "BATCH_FILES", 1)

    def remove(lines):
        with database.write() as connection:
            shelves.remove_shelf(connection, shelves.shelf(connection, "s").id)

    with pytest.raises(Conflict, match="removed"):
        scan(database, "s", str(root), on_batch=remove)
    assert shelves.counts(database.connection)["documents"] == 0


def test_two_scans_at_once_make_each_document_once(database, root):
    for number in range(200):
        make(root, f"{number}.md", f"# {number}\n")
    reports = []
    threads = [threading.Thread(target=lambda: reports.append(scan(database, "s", str(root)))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [tally(report)["seen"] for report in reports] == [200, 200]
    assert shelves.counts(database.connection)["documents"] == 200
    assert tally(scan(database, "s", str(root))) == {"seen": 200, "same": 200}


# --- moves, missing files, resync ----------------------------------------------------------------------------------


def test_a_moved_file_keeps_its_document(database, root):
    make(root, "a.md", "no heading, titled by its file\n")
    make(root, "b.md")
    scan(database, "s", str(root))
    before = ids(database)
    (root / "sub").mkdir()
    (root / "a.md").rename(root / "sub/z.md")
    assert tally(scan(database, "s", str(root))) == {"seen": 2, "same": 2, "moved": 1}
    assert ids(database) == {"b.md": before["b.md"], "sub/z.md": before["a.md"]}
    assert shelves.document(database.connection, before["a.md"]).title == "z"
    assert tally(scan(database, "s", str(root))) == {"seen": 2, "same": 2}


def test_among_equal_files_the_inode_says_which_moved(database, root):
    for name in ("a.md", "b.md", "c.md"):
        make(root, name, "all the same\n")
    scan(database, "s", str(root))
    before = ids(database)
    for old, new in (("a.md", "3.md"), ("b.md", "2.md"), ("c.md", "1.md")):
        (root / old).rename(root / new)
    assert tally(scan(database, "s", str(root))) == {"seen": 3, "same": 3, "moved": 3}
    assert ids(database) == {"1.md": before["c.md"], "2.md": before["b.md"], "3.md": before["a.md"]}


def test_a_file_recreated_elsewhere_is_moved_too(database, root):
    make(root, "a.md")
    scan(database, "s", str(root))
    before = ids(database)
    shutil.copy(root / "a.md", root / "b.md")
    (root / "a.md").unlink()
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "same": 1, "moved": 1}
    assert ids(database) == {"b.md": before["a.md"]}


def test_of_two_copies_one_is_the_moved_document(database, root):
    make(root, "a.md")
    scan(database, "s", str(root))
    before = ids(database)
    (root / "a.md").unlink()
    make(root, "b.md")
    make(root, "c.md")
    assert tally(scan(database, "s", str(root))) == {"seen": 2, "new": 1, "same": 1, "moved": 1}
    assert before["a.md"] in ids(database).values(), "b or c: the system may give the inode of a to either"


def test_a_copy_is_a_new_document(database, root):
    make(root, "a.md")
    scan(database, "s", str(root))
    shutil.copy(root / "a.md", root / "b.md")
    assert tally(scan(database, "s", str(root))) == {"seen": 2, "new": 1, "same": 1}


def test_a_moved_and_changed_file_is_another_document(database, root):
    make(root, "a.md")
    scan(database, "s", str(root))
    (root / "a.md").unlink()
    make(root, "b.md", "# B\n\ntext\n")
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "new": 1, "missing": 1}


@pytest.mark.parametrize(("old", "new"), [("one", "two"), ("two", "one")])
def test_a_file_that_moves_between_the_folders_of_a_shelf_keeps_its_document(database, root, old, new):
    for folder in ("one", "two"):
        make(root, f"{folder}/stays.md", f"# {folder}\n")
    make(root, f"{old}/a.md", "# A\n")
    for folder in ("one", "two"):
        scan(database, "s", str(root / folder))
    before = ids(database)["a.md"]
    (root / old / "a.md").rename(root / new / "b.md")
    (report,) = resync(database, None, GONE)
    assert tally(report) == {"seen": 3, "same": 3, "moved": 1}
    assert ids(database)["b.md"] == before
    assert shelves.document(database.connection, before).file_path == str(root / new / "b.md")


def test_missing_files_are_reported_and_removed_on_request_only(database, root):
    make(root, "a.md")
    make(root, "b.md")
    scan(database, "s", str(root))
    owner, lines = ids(database)["a.md"], journal_length(database)
    (root / "a.md").unlink()
    (report,) = resync(database)
    assert tally(report) == {"seen": 1, "same": 1, "missing": 1}
    assert report.missing_files == (str(root / "a.md"),)
    assert any("remove_missing" in warning for warning in report.warnings)
    assert journal_length(database) == lines
    told = []
    (report,) = resync(database, "s", Options(remove_missing=True, scan_id=3), on_batch=told.append)
    assert tally(report) == {"seen": 1, "same": 1, "removed": 1}
    assert told == [1]
    assert list(ids(database)) == ["b.md"]
    assert database.connection.execute("SELECT owner, scan FROM journal WHERE seq > ?", (lines,)).get == (owner, 3)


def test_a_missing_root_is_reported_and_removed_on_request_only(database, root):
    make(root, "one/a.md")
    make(root, "two/b.md")
    scan(database, "s", str(root / "one"))
    scan(database, "s", str(root / "two"))
    scan(database, "s", str(root / "two/b.md"))
    shutil.rmtree(root / "one")
    (report,) = resync(database)
    assert tally(report) == {"seen": 1, "same": 1, "missing": 1}
    assert any(str(root / "one") in warning and "gone" in warning for warning in report.warnings)
    assert shelves.counts(database.connection)["documents"] == 2
    assert tally(resync(database, None, GONE)[0]) == {"seen": 1, "same": 1, "removed": 1}


def test_what_a_scan_now_leaves_out_is_missing(database, root):
    make(root, "a.md")
    make(root, "drafts/b.md")
    scan(database, "s", str(root))
    report = scan(database, "s", str(root), Options(ignore=("drafts/",)))
    assert tally(report) == {"seen": 1, "same": 1, "missing": 1}
    assert tally(scan(database, "s", str(root))) == {"seen": 2, "same": 2}


def test_what_was_met_and_not_taken_is_not_missing(database, root, monkeypatch):
    make(root, "a.md", "x" * 100)
    make(root, "sub/b.md")
    scan(database, "s", str(root))
    make(root, "a.md", "x" * 1_000, age=1)
    scandir = os.scandir

    def refuse(path):
        if path.endswith("/sub"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    (report,) = resync(database, None, Options(remove_missing=True, max_file_bytes=500))
    assert tally(report) == {"seen": 2, "skipped": 2}
    assert len(ids(database)) == 2


def test_files_behind_a_closed_door_are_not_missing(database, root, monkeypatch):
    make(root, "a.md")
    scan(database, "s", str(root))
    (root / "a.md").unlink()

    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "lstat", refuse)
    assert tally(resync(database, None, GONE)[0]) == {}


def test_overlapping_sources_count_a_file_once(database, root):
    make(root, "a.md")
    make(root, "sub/b.md")
    scan(database, "s", str(root / "sub"))
    scan(database, "s", str(root))
    scan(database, "s", str(root / "a.md"))
    assert tally(resync(database, None, GONE)[0]) == {"seen": 2, "same": 2}


def test_what_another_source_has_come_to_cover_is_not_missing(database, root):
    make(root, "a.md")
    make(root, "sub/b.md")
    scan(database, "s", str(root), Options(ignore=("sub/",)))
    scan(database, "s", str(root / "sub"))
    scan(database, "s", str(root))
    assert tally(resync(database, None, GONE)[0]) == {"seen": 2, "same": 2}
    assert len(ids(database)) == 2


def test_a_source_that_left_the_allowed_roots_is_named_and_kept(database, root):
    make(root)
    scan(database, "s", str(root))
    (report,) = resync(database, None, Options(remove_missing=True, allowed_roots=("/elsewhere",)))
    assert tally(report) == {"seen": 1, "skipped": 1}
    assert len(ids(database)) == 1


def test_a_root_that_became_a_link_is_named_and_kept(database, root, tmp_path):
    make(root)
    scan(database, "s", str(root))
    root.rename(tmp_path / "moved")
    root.symlink_to(tmp_path / "moved")
    (report,) = resync(database, None, GONE)
    assert tally(report) == {"seen": 1, "skipped": 1}
    assert str(tmp_path / "moved") in report.skips[0].reason
    assert len(ids(database)) == 1


def test_linked_files_are_read_where_they_lie(database, root):
    make(root, ".versions/2/v.md", "# V\n")
    (root / "latest").symlink_to(".versions/2")
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "new": 1}
    assert list(ids(database)) == ["latest/v.md"]
    assert tally(scan(database, "s", str(root))) == {"seen": 1, "same": 1}


def test_resync_covers_every_shelf_or_the_one_named(database, root):
    make(root)
    assert resync(database) == []
    for name in ("one", "two"):
        scan(database, name, str(root))
    assert [report.shelf for report in resync(database)] == ["one", "two"]
    assert [report.shelf for report in resync(database, "TWO")] == ["two"]
    with pytest.raises(NotFound, match="one, two"):
        resync(database, "three")


# --- any history ---------------------------------------------------------------------------------------------------

TREES = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "c.md", "x/a.md", "x/b.md", "x/y/c.md"]), st.sampled_from(["", "# A\n", "# B\n", "c"])
)


@settings(max_examples=40, deadline=None)
@given(st.lists(TREES, min_size=1, max_size=4), st.booleans())
def test_after_any_history_the_store_holds_what_lies_there(trees, remove):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        database = Database(str(Path(folder, "docs.sqlite")), shelves.SCHEMA)
        for step, tree in enumerate(trees):
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            for name, text in tree.items():
                make(root, name, text, age=step * 10**9)
            report = scan(database, "s", str(root), Options(remove_missing=remove))
            tally(report)
            assert report.seen == len(tree)
            before = changes(database)
            again = scan(database, "s", str(root), Options(remove_missing=remove))
            assert (again.seen, again.same) == (len(tree), len(tree))
            assert changes(database) == before
            held = {name: text_of(database, owner) for name, owner in ids(database).items()}
            assert {name: held[name] for name in tree} == tree
            if remove:
                assert set(held) == set(tree)
            assert set(held) - set(tree) == {os.path.relpath(path, root) for path in again.missing_files}
        database.close()
