"""The report of a correlation as a page: complete, and harmless whatever titles say."""

from scaffale.answers.atlas import CorrelationReport, SampleLink
from scaffale.server.cli.correlation_page import page

EVIL = "<script>alert(1)</script><img src=https://example.com/x.png>"


def report(**changes):
    numbers = dict.fromkeys(CorrelationReport._fields, 0)
    words = {"shelf": "notes", "scope": "shelf", "heuristic_version": "docs-links-v2", "warnings": (), "apply": False}
    return CorrelationReport(**{**numbers, **words, "target_shelves": (), "sample_links": (), **changes})


def test_every_text_is_escaped():
    link = SampleLink(1, EVIL, 2, EVIL, EVIL, "mentions", 0.71, EVIL)
    made = page(report(shelf=EVIL, sample_links=(link,), warnings=(EVIL,)))
    assert "<script" not in made
    assert "<img" not in made
    assert made.count("&lt;script&gt;") == 7
    assert "0.71" in made


def test_it_says_what_was_done():
    assert "links were kept" in page(report(apply=True))
    assert "nothing was written" in page(report())
    assert '<th scope="row">skipped rejected<td class="number">7' in page(report(skipped_rejected=7))
