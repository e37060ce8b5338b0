"""Shelves that stay level with their folders as files change: real folders, a real watcher."""

from __future__ import annotations

import queue
import shutil
import threading

import pytest

from scaffale.docs import Docs, watching
from scaffale.errors import NotFound, StoreBusy

PATIENCE = 30  # seconds after which a test gives up; nothing is measured


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(watching, "QUIET_MS", 50)
    monkeypatch.setattr(watching, "RECHECK_MS", 100)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / ".hidden" / "notes"  # what lies above a root does not matter
    folder.mkdir(parents=True)
    (folder / "one.md").write_text("# One\n")
    return folder


@pytest.fixture
def docs(make_settings, folder):
    with Docs(make_settings()) as opened:
        opened.scan_folder(folder_path=str(folder), shelf="notes")
        yield opened


@pytest.fixture
def watch(docs):
    """Starts a watcher; the value has a queue of the reports in which something happened."""
    stop = threading.Event()
    threads = []

    def start(**arguments):
        reports: queue.Queue = queue.Queue()
        began = threading.Event()

        def run():
            for report in docs.watch(stop=stop, **arguments):
                if report.new or report.changed or report.moved or report.missing or report.removed or report.failed:
                    reports.put(report)
                began.set()

        thread = threading.Thread(target=run)
        thread.start()
        threads.append(thread)
        assert began.wait(PATIENCE)
        return reports

    yield start
    stop.set()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def until(reports, wanted):
    """Takes reports until the sum of them is as wanted."""
    while not wanted(reports.get(timeout=PATIENCE)):
        pass


def test_new_and_changed_files_are_found_without_a_scan(docs, folder, watch):
    reports = watch()
    (folder / "two.md").write_text("# Two\n\nzebra\n")
    assert reports.get(timeout=PATIENCE).new == 1
    assert docs.search(query="zebra").results[0].title == "Two"
    (folder / "two.md").write_text("# Two\n\ngiraffe\n")
    assert reports.get(timeout=PATIENCE).changed == 1
    assert docs.search(query="giraffe").results


def test_what_changed_before_somebody_watched_comes_first(folder, watch):
    (folder / "two.md").write_text("# Two\n")
    assert watch().get(timeout=PATIENCE).new == 1


def test_a_storm_of_changes_is_few_scans(docs, folder, watch):
    reports = watch()
    for number in range(400):
        (folder / f"{number}.md").write_text(f"# Number {number}\n")
    seen = []
    until(reports, lambda report: seen.append(report.new) or sum(seen) == 400)
    assert len(seen) < 40
    assert docs.list_documents(limit=1).total == 401


def test_folders_move_with_their_documents_and_go_with_them(docs, folder, watch):
    reports = watch(remove_missing=True)
    (folder / "v1.0").mkdir()
    (folder / "v1.0" / "deep.md").write_text("# Deep\n")
    until(reports, lambda report: report.new == 1)
    before = docs.search(query="deep").results[0].id
    (folder / "v1.0").rename(folder / "v2.0")
    until(reports, lambda report: report.moved == 1)
    assert docs.search(query="deep").results[0].id == before
    shutil.rmtree(folder / "v2.0")
    until(reports, lambda report: report.removed == 1)
    assert not docs.search(query="deep").results


def test_missing_files_are_reported_and_kept_unless_they_are_to_go(docs, folder, watch):
    reports = watch()
    (folder / "one.md").unlink()
    assert reports.get(timeout=PATIENCE).missing == 1
    assert docs.search(query="one").results[0].freshness == "gone"


def test_a_file_that_is_put_in_place_of_a_watched_one_is_watched_too(docs, tmp_path, watch):
    alone = tmp_path / "alone.md"
    alone.write_text("# Alone\n")
    docs.scan_file(file_path=str(alone), shelf="single")
    reports = watch(shelf="single")
    for word in ("first", "second", "third"):
        (tmp_path / "fresh").write_text(f"# Alone\n\n{word}\n")
        (tmp_path / "fresh").rename(alone)
        until(reports, lambda report: report.changed == 1)
        assert docs.search(query=word, shelf="single").results


def test_folders_that_are_scanned_later_and_folders_that_come_back_are_watched(docs, folder, tmp_path, watch):
    reports = watch()
    other = tmp_path / "other"
    other.mkdir()
    docs.scan_folder(folder_path=str(other), shelf="other")
    (other / "new.md").write_text("# New\n")
    until(reports, lambda report: report.shelf == "other" and report.new == 1)
    folder.rename(tmp_path / "away")
    until(reports, lambda report: report.missing == 1)
    (tmp_path / "away").rename(folder)
    (folder / "late.md").write_text("# Late\n")
    until(reports, lambda report: report.new == 1)


def test_a_scan_that_cannot_be_done_now_is_done_later(docs, folder, watch, monkeypatch):
    real, failures = docs.resync_all, iter([StoreBusy("another scan is at work")] * 3)
    reports = watch()

    def resync(**arguments):
        for failure in failures:
            raise failure
        return real(**arguments)

    monkeypatch.setattr(docs, "resync_all", resync)
    (folder / "two.md").write_text("# Two\n")
    assert reports.get(timeout=PATIENCE).new == 1


def test_links_are_made_for_what_changed_when_asked(folder, watch):
    reports = watch(correlate=True)
    (folder / "two.md").write_text("# Two\n\nSee [one](one.md).\n")
    assert reports.get(timeout=PATIENCE).correlation.scanned_documents >= 1


def test_there_is_nothing_to_watch_without_shelves_or_on_one_that_is_not_there(make_settings, docs, tmp_path):
    with pytest.raises(NotFound, match="no shelf"):
        next(docs.watch(shelf="nothing"))
    with Docs(make_settings(DOCS_DB_PATH=str(tmp_path / "none" / "docs.sqlite"))) as empty, pytest.raises(NotFound):
        next(empty.watch())


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("/a/.n/one.md", True), ("/a/.n/x.txt", True), ("/a/.n/sub/.gitignore", True), ("/a/.n/.git/index", False),
        ("/a/.n/node_modules/p/readme.md", False), ("/a/.n/.one.md.swp", False), ("/a/.n", True), ("/a/.n/sub/.x/a.md", False),
    ],
)  # fmt: skip
def test_folders_that_no_scan_enters_do_not_matter(path, matters):
    assert watching._Filter(["/a/.n"])(None, path) is matters


def test_where_the_system_gives_no_more_watches_folders_are_polled(docs, folder, monkeypatch):
    import watchfiles

    real, asked = watchfiles.watch, []

    def watch(*paths, force_polling, **rest):
        asked.append(force_polling)
        if not force_polling:
            raise OSError(28, "OS file watch limit reached")
        return real(*paths, force_polling=True, **rest)

    monkeypatch.setattr(watchfiles, "watch", watch)
    (folder / "two.md").write_text("# Two\n")
    stop = threading.Event()
    for report in docs.watch(stop=stop):
        if report.new == 1:
            stop.set()
    assert asked == [None, True]
