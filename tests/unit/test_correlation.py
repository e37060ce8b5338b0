"""Correlation: which links are proposed, in which direction, what stays untouched, and sums that come out even."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scaffale.docs import Docs
from scaffale.errors import InvalidParam, NotFound

FILES = {
    "standard/export.md": "# Order export\n\nOrders are exported every night as pipe separated files to the exchange folder.\n",
    "standard/keys.md": "# Signing keys\n\nSigning keys rotate weekly.\n\n## Where\n\nIn the vault.\n",
    "client/export.md": "# Order export of the client\n\nExtends [the standard](../standard/export.md): orders are exported"
    " hourly as pipe separated files to the exchange folder.\n",
    "client/retry.md": "# Retry of failed exports\n\nA failed order export is retried; see [export](export.md#retries).\n",
    "client/garden.md": "# Garden\n\nTulips and daffodils bloom in spring.\n",
}


@pytest.fixture
def docs(make_settings, tmp_path):
    with Docs(make_settings()) as opened:
        fill(opened, tmp_path / "notes", FILES)
        opened.manage_shelf_links(operation="add_parent", shelf="client", parent_shelf="standard")
        yield opened


def fill(docs, folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for shelf in sorted({name.split("/")[0] for name in files}):
        docs.scan_folder(folder_path=str(folder / shelf), shelf=shelf)


def ids(docs):
    return {"/".join(each.file_path.split("/")[-2:]): each.id for each in docs.list_documents(limit=100).documents}


def kept(docs, document_id):
    links = docs.manage_document_links(operation="list", origin="mcp", document_id=document_id).links
    return {each.target.id: each for each in links}


def adds_up(report):
    return report.candidate_links == (
        report.applied_links + report.would_apply + report.skipped_low_confidence + report.skipped_existing
        + report.skipped_over_limit + report.skipped_rejected + report.skipped_gone
    )  # fmt: skip


def test_nothing_is_written_unless_it_is_asked_for(docs):
    report = docs.correlate(shelf="client", min_confidence=0.0)
    assert (report.mode, report.scope, report.heuristic_version) == ("shelf", "shelf_with_parents", "docs-links-v2")
    assert report.would_apply > 0
    assert report.applied_links == 0
    assert adds_up(report)
    assert not any(kept(docs, each) for each in ids(docs).values())


def test_a_child_is_linked_to_its_parent_with_reasons(docs):
    of = ids(docs)
    report = docs.correlate(shelf="client", min_confidence=0.05, apply=True)
    assert report.scanned_documents == 3
    assert adds_up(report)
    link = kept(docs, of["client/export.md"])[of["standard/export.md"]]
    assert (link.relation, link.origin, link.heuristic_version) == ("extends_standard", "heuristic", "docs-links-v2")
    assert "the text refers to it" in link.rationale
    assert "parent shelf" in link.rationale
    assert of["client/export.md"] in kept(docs, of["client/retry.md"])
    assert of["client/garden.md"] not in kept(docs, of["client/retry.md"])


def test_a_single_document_is_correlated_alone(docs):
    of = ids(docs)
    report = docs.correlate(document_id=of["client/retry.md"], min_confidence=0.05, apply=True)
    assert (report.mode, report.scanned_documents, report.document_id) == ("document", 1, of["client/retry.md"])
    assert kept(docs, of["client/retry.md"])
    assert not kept(docs, of["client/export.md"])


@pytest.mark.parametrize("version", ["docs-links-v1", "docs-links-v2"])
@pytest.mark.parametrize("wide", [{"allow_all_shelves": True}, {"target_shelves": ["client", "below"]}])
def test_no_heuristic_link_runs_from_a_shelf_to_one_that_leans_on_it_however_far(docs, tmp_path, wide, version):
    fill(docs, tmp_path / "more", {"below/export.md": FILES["standard/export.md"]})
    docs.manage_shelf_links(operation="add_parent", shelf="below", parent_shelf="client")
    report = docs.correlate(
        shelf="standard", scope="cross_shelf", min_confidence=0.0, apply=True, heuristic_version=version, **wide
    )
    assert report.heuristic_version == version
    assert report.target_shelves == ("standard",)
    assert bool(report.warnings) == ("target_shelves" in wide)
    below = {id for name, id in ids(docs).items() if not name.startswith("standard/")}
    assert not below & set(kept(docs, ids(docs)["standard/export.md"]))


def test_the_scope_says_which_shelves_hold_targets(docs, tmp_path):
    fill(docs, tmp_path / "more", {"top/rules.md": "# Rules of export\n\nOrders are exported.\n"})
    docs.manage_shelf_links(operation="add_parent", shelf="standard", parent_shelf="top")
    shown = {
        ("shelf", 1): ("client",),
        ("shelf_with_parents", 0): ("client",),
        ("shelf_with_parents", 1): ("client", "standard"),
        ("shelf_with_parents", 2): ("client", "standard", "top"),
    }
    for (scope, depth), names in shown.items():
        report = docs.correlate(shelf="client", scope=scope, include_parent_depth=depth)
        assert tuple(sorted(report.target_shelves)) == names
    with pytest.raises(InvalidParam, match="target_shelves"):
        docs.correlate(shelf="client", scope="cross_shelf")


def test_links_of_people_stay_as_they_are_and_are_not_doubled(docs):
    of = ids(docs)
    ends = {"source_document_id": of["client/export.md"], "target_document_id": of["standard/export.md"]}
    for origin in ("manual", "mcp"):
        docs.manage_document_links(operation="add", origin=origin, relation="depends_on", label=origin, **ends)
    report = docs.correlate(shelf="client", min_confidence=0.05, apply=True)
    assert report.skipped_existing == 1
    links = docs.manage_document_links(operation="list", origin="mcp", document_id=of["client/export.md"]).links
    to_standard = [each for each in links if each.target.id == of["standard/export.md"]]
    assert sorted((each.origin, each.label, each.relation) for each in to_standard) == [
        ("manual", "manual", "depends_on"), ("mcp", "mcp", "depends_on"),
    ]  # fmt: skip


def test_what_was_rejected_does_not_come_back_and_what_was_pinned_stays(docs):
    of = ids(docs)
    docs.correlate(shelf="client", min_confidence=0.05, apply=True)
    wrong = kept(docs, of["client/export.md"])[of["standard/export.md"]]
    right = kept(docs, of["client/retry.md"])[of["client/export.md"]]
    docs.manage_document_links(operation="reject", origin="mcp", link_id=wrong.link_id)
    docs.manage_document_links(operation="pin", origin="mcp", link_id=right.link_id)
    report = docs.correlate(shelf="client", min_confidence=0.05, apply=True)
    assert report.skipped_rejected == 1
    assert adds_up(report)
    assert of["standard/export.md"] not in kept(docs, of["client/export.md"])
    docs.correlate(shelf="client", min_confidence=1.0, apply=True)
    assert set(kept(docs, of["client/retry.md"])) == {of["client/export.md"]}
    assert not kept(docs, of["client/export.md"])


def test_former_heuristic_links_go_unless_they_are_to_stay(docs):
    of = ids(docs)
    docs.correlate(shelf="client", min_confidence=0.05, apply=True)
    before = kept(docs, of["client/export.md"])
    docs.correlate(shelf="client", min_confidence=1.0, apply=True, replace_heuristic_links=False)
    assert kept(docs, of["client/export.md"]) == before
    docs.correlate(shelf="client", min_confidence=1.0, apply=True)
    assert not kept(docs, of["client/export.md"])


def test_only_so_many_links_a_document(docs):
    report = docs.correlate(shelf="client", min_confidence=0.0, max_links_per_document=1)
    assert report.would_apply == 3
    assert report.skipped_over_limit > 0
    assert adds_up(report)


def test_a_second_run_works_on_what_changed_and_what_is_near_it(docs, tmp_path):
    first = docs.correlate(shelf="client", apply=True, only_changed=True)
    assert (first.scanned_documents, first.unchanged_documents) == (3, 0)
    again = docs.correlate(shelf="client", apply=True, only_changed=True)
    assert (again.scanned_documents, again.unchanged_documents) == (0, 3)
    other = docs.correlate(shelf="client", apply=True, only_changed=True, min_confidence=0.3)
    assert other.scanned_documents == 3
    garden = tmp_path / "notes" / "client" / "garden.md"
    garden.write_text("# Garden\n\nRoses climb.\n")
    docs.scan_folder(folder_path=str(garden.parent), shelf="client")
    changed = docs.correlate(shelf="client", apply=True, only_changed=True, min_confidence=0.3)
    assert 1 <= changed.scanned_documents == 3 - changed.unchanged_documents
    assert docs.correlate(shelf="client", apply=True, only_changed=True, min_confidence=0.3).scanned_documents == 0


def test_an_interrupted_run_leaves_whole_documents_and_goes_on(docs):
    def stop(done, total, what):
        raise KeyboardInterrupt  # the first report comes after the first document

    of = ids(docs)
    with pytest.raises(KeyboardInterrupt):
        docs.correlate(shelf="client", apply=True, only_changed=True, min_confidence=0.05, progress=stop)
    assert [name for name, id in sorted(of.items()) if kept(docs, id)] == ["client/export.md"]
    rest = docs.correlate(shelf="client", apply=True, only_changed=True, min_confidence=0.05)
    assert (rest.scanned_documents, rest.unchanged_documents) == (2, 1)
    assert of["standard/export.md"] in kept(docs, of["client/export.md"])
    assert of["client/export.md"] in kept(docs, of["client/retry.md"])


def test_a_scan_correlates_what_it_changed_when_asked(docs, tmp_path):
    folder = str(tmp_path / "notes" / "client")
    assert docs.scan_folder(folder_path=folder, shelf="client").correlation is None
    assert docs.scan_folder(folder_path=folder, shelf="client", correlate=True).correlation.scanned_documents == 3
    assert docs.scan_file(file_path=f"{folder}/retry.md", shelf="client", correlate=True).correlation.scanned_documents == 0
    (done,) = (each.correlation for each in docs.resync_all(shelf="client", correlate=True))
    assert (done.apply, done.unchanged_documents) == (True, 3)
    of = ids(docs)
    assert of["standard/export.md"] in kept(docs, of["client/export.md"])


def test_shared_headings_speak_in_the_first_formula(docs, tmp_path):
    files = {f"guide/{name}.md": f"# {name}\n\n## Rolling back\n\n### Twice\n\n{name}\n" for name in ("alpha", "omega")}
    fill(docs, tmp_path / "notes", files)
    report = docs.correlate(shelf="guide", heuristic_version="docs-links-v1", min_confidence=0.0)
    assert all("shared headings" in each.rationale for each in report.sample_links)
    assert report.would_apply == 2


def test_ambiguous_references_are_reported_not_guessed(docs, tmp_path):
    files = {f"guide/{name}/setup.md": f"# Setup of {name}\n" for name in ("one", "two")}
    fill(docs, tmp_path / "notes", files | {"guide/start.md": "# Start\n\nSee [the setup](gone/setup.md).\n"})
    report = docs.correlate(shelf="guide")
    assert report.ambiguous_references == 1
    assert any("'gone/setup.md' fits several documents" in each for each in report.warnings)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"mode": "all"}, "mode"), ({"scope": "world"}, "scope"), ({"min_confidence": 1.5}, "min_confidence"),
        ({"max_links_per_document": 0}, "max_links_per_document"), ({"heuristic_version": "v9"}, "heuristic_version"),
        ({"include_parent_depth": -1}, "include_parent_depth"), ({"mode": "document"}, "document_id"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_named(docs, wrong, named):
    with pytest.raises(InvalidParam, match=named):
        docs.correlate(shelf="client", **wrong)


def test_unknown_shelves_and_documents_are_named(docs):
    wide = {"shelf": "client", "scope": "cross_shelf", "target_shelves": ["x"]}
    for asked in ({"shelf": "nowhere"}, {"document_id": 999}, wide):
        with pytest.raises(NotFound):
            docs.correlate(**asked)


WORDS = st.sampled_from("order export retry garden tulip signing key vault client nightly".split())


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=7),
    least=st.floats(0, 1), most=st.integers(1, 4), apply=st.booleans(),
    version=st.sampled_from(["docs-links-v1", "docs-links-v2"]),
)  # fmt: skip
def test_sums_come_out_even_and_repeat_themselves(docs, tmp_path, texts, least, most, apply, version):
    folder = tmp_path / "free" / "any"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for number, words in enumerate(texts):
        (folder / f"{words[0]}-{number}.md").write_text(f"# {' '.join(words[:2])}\n\n{' '.join(words)}\n")
    docs.scan_folder(folder_path=str(folder), shelf="any")
    asked = {"shelf": "any", "min_confidence": least, "max_links_per_document": most, "heuristic_version": version}
    first = docs.correlate(apply=apply, **asked)
    assert adds_up(first)
    again = docs.correlate(**asked)
    assert adds_up(again)
    assert again.would_apply == first.applied_links + first.would_apply
    assert all(least <= each.confidence <= 1 for each in again.sample_links)


def test_several_processes_find_what_one_finds(docs, monkeypatch):
    from scaffale.docs import weighing

    one = docs.correlate(shelf="client", min_confidence=0.0)
    monkeypatch.setattr(weighing, "FEW_SOURCES", 1)
    assert docs.correlate(shelf="client", min_confidence=0.0, jobs=2) == one
    assert one.candidate_links > 0


def test_a_report_names_as_many_links_as_are_asked_for(docs):
    found = docs.correlate(shelf="client", min_confidence=0.0, samples=1)
    assert len(found.sample_links) == 1 < found.would_apply
