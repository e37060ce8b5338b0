"""A correlation report as one page of HTML: no script, nothing from elsewhere; every text in it is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scaffale.answers.atlas import CorrelationReport

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }}
body {{ max-width: 75rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; width: 100% }}
caption {{ text-align: start; padding: .5rem 0; font-weight: 600 }}
th, td {{ text-align: start; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid #8884 }}
td.number {{ font-variant-numeric: tabular-nums; text-align: end }}
</style>
<h1>{title}</h1>
<p>{said}</p>
<table><caption>Counts</caption><tbody>{counts}</tbody></table>
{warnings}
<table><caption>{caption}</caption>
<thead><tr><th scope="col">confidence<th scope="col">from<th scope="col">relation<th scope="col">to<th scope="col">because</thead>
<tbody>
{links}
</tbody></table>
</html>
"""
_COUNTS = (
    "scanned_documents", "unchanged_documents", "candidate_links", "applied_links", "would_apply", "skipped_low_confidence",
    "skipped_existing", "skipped_over_limit", "skipped_rejected", "skipped_gone", "ambiguous_references",
)  # fmt: skip


def page(report: CorrelationReport) -> str:
    """The whole page."""
    kept = report.applied_links if report.apply else report.would_apply
    warnings = "".join(f"<li>{escape(each)}" for each in report.warnings)
    return _PAGE.format(
        title=escape(f"Links of {report.shelf}"),
        said=escape(
            f"{report.heuristic_version}, {report.scope}, confidence from {report.min_confidence}; "
            + ("links were kept" if report.apply else "nothing was written")
        ),
        counts="".join(
            f'<tr><th scope="row">{name.replace("_", " ")}<td class="number">{getattr(report, name)}' for name in _COUNTS
        ),
        warnings=f"<h2>Warnings</h2><ul>{warnings}</ul>" if warnings else "",
        caption=f"{len(report.sample_links)} of {kept} links, the surest first",
        links="\n".join(
            f'<tr><td class="number">{each.confidence:.2f}<td>{escape(each.source_title)}<td>{escape(each.relation)}'
            f"<td>{escape(each.target_title)} ({escape(each.target_shelf)})<td>{escape(each.rationale)}"
            for each in report.sample_links
        ),
    )
