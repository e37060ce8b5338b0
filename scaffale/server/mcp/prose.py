"""Answers in words, for clients that show the model nothing but text.

Rules of this file: each function gets an answer as JSON and returns a text that is enough on its own, short where
there is nothing to say. Absent fields are skipped, never guessed. Warnings are added by `results`, the same for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scaffale.server.mcp.registry import Answer

SHOWN_SKIPS = 20
EXCERPT_CHARS = 100  # of a snippet; a page of ten stays below a thousand tokens
NORMAL = 3  # importance
SHOWN_LINES = 12  # of a candidate; all of it stands in the structure


# --- memory ---------------------------------------------------------------------------------------------------------


def memory_status(answer: Answer) -> str:
    """Store, project, counts and features, one to a line."""
    return _facts(answer, leave_out=("ok", "warnings"))


def memory_search(answer: Answer) -> str:
    """The entries found, and how to go on; or what exists when nothing was found."""
    results = answer.get("results", [])
    lines: list[str | None] = [_count(answer, results, "entry", "entries", _within(answer))]
    for number, hit in enumerate(results, start=1):
        lines.append(f"{number}. {_entry_head(hit)}")
        lines.append(_indented(hit.get("content") or _excerpt_of(hit.get("snippet"))))
    if results:
        lines.append(results[0].get("verification_hint"))
    lines.append(answer.get("hint"))
    lines += [f"near: {_entry_head(hit)}" for hit in answer.get("suggestions", [])]
    for document in answer.get("documents", []):
        about = f"{document.get('title') or 'document'} {document.get('file_path') or ''}".strip()
        lines.append(f"cites {document.get('uri')} ({document.get('status')}): {about}")
    for noun in ("scopes", "topics"):
        if answer.get(noun):
            lines.append(f"Existing {noun}: {_named(answer[noun])}")
    return _lines(lines)


def memory_entry(answer: Answer) -> str:
    """The whole entry: what it is, then its text."""
    entry = answer.get("entry", {})
    leave_out = ("id", "title", "content", "tags", "verification_hint", "content_sha256")
    head = [_entry_head(entry), _facts(entry, leave_out=leave_out)]
    if entry.get("tags"):
        head.append(f"tags: {', '.join(entry['tags'])}")
    links = answer.get("links", {})
    head += [f"link: {_link(each)}" for each in links.get("outgoing", [])]
    if links.get("outgoing_count", 0) > len(links.get("outgoing", [])):
        head.append(f"{links['outgoing_count']} outgoing links in all; memory_list_entry_links lists them")
    if links.get("incoming_count"):
        head.append(f"incoming links: {links['incoming_count']}")
    for each in answer.get("verified", []):
        head.append(f"verified {each.get('at')}: {each.get('check')} {each.get('of')}: {each.get('outcome')}")
    history = [f"{each.get('at')} {each.get('operation')} by {each.get('actor')}" for each in answer.get("history", [])]
    return _lines([*head, *history, entry.get("verification_hint"), "", entry.get("content")])


def memory_added(answer: Answer) -> str:
    """What became of the entry, and what is similar to it."""
    if answer.get("deduped"):
        existing = answer.get("existing_entry_id") or answer.get("entry_id")
        first = f"Already stored as {existing}{_within(answer)}; nothing added."
    else:
        first = f"Stored as {answer.get('entry_id')}{_within(answer)}."
    similar = [f"Similar: {_brief(each)}" for each in answer.get("similar_entries", [])]
    return _lines([first, *similar])


def memory_invalidated(answer: Answer) -> str:
    """The change of state, or that there was none."""
    entry, status = answer.get("entry_id"), answer.get("status")
    if answer.get("changed"):
        return f"Entry {entry} is now {status}; it was {answer.get('previous_status')}."
    return f"Entry {entry} was {status} already; nothing changed."


def memory_updated(answer: Answer) -> str:
    """What changed, and where the earlier text is."""
    entry, changed = answer.get("entry_id"), answer.get("changed")
    if not changed:
        return f"Entry {entry} says that already; nothing changed."
    similar = [f"Similar: {_brief(each)}" for each in answer.get("similar_entries", [])]
    first = f"Entry {entry}: {', '.join(changed)} changed; now {answer.get('status')}, updated_at {answer.get('updated_at')}."
    return _lines([f"{first} Revision {answer.get('revision')} keeps what was.", *similar])


def memory_deleted(answer: Answer) -> str:
    """That it is gone."""
    return f"Entry {answer.get('entry_id')} is deleted; it was {answer.get('previous_status')}."


def memory_linked(answer: Answer) -> str:
    """The link, and what it moved."""
    link = answer.get("link", {})
    lines = [f"{'Linked' if answer.get('created') else 'Link updated'}: {_link(link)}"]
    if answer.get("superseded"):
        lines.append(f"Entry {answer['superseded']} is now superseded.")
    lines += [f"Still active and similar: {_brief(each)}" for each in answer.get("similar_entries", [])]
    return _lines(lines)


def memory_unlinked(answer: Answer) -> str:
    """That the link is gone."""
    return f"Link {answer.get('link_id')} is removed."


def memory_links(answer: Answer) -> str:
    """The links, one to a line."""
    links = answer.get("links", [])
    head = _count(answer, links, "link", "links", f" of {answer.get('entry_id')} ({answer.get('direction')})")
    return _lines([head, *map(_link, links)])


def memory_rebuilt(answer: Answer) -> str:
    """What the old index was like."""
    if not answer.get("rebuilt"):
        return "The index could not be rebuilt now."
    faults = [f"{answer.get(kind)} {kind}" for kind in ("missing", "surplus") if answer.get(kind)]
    faults += [f"damage: {each}" for each in answer.get("damage", [])]
    was = "; ".join(faults) or "nothing differed"
    return f"{answer.get('lexical_backend')} index rebuilt over {answer.get('entries')} entries; before: {was}."


def memory_similar(answer: Answer) -> str:
    """The entries, most alike first."""
    results = answer.get("results", [])
    lines = [_count(answer, results, "entry", "entries", _within(answer))]
    for number, hit in enumerate(results, start=1):
        lines += [f"{number}. {hit.get('similarity', 0):.0%} {_entry_head(hit)}", _indented(_excerpt_of(hit.get("snippet")))]
    return _lines(lines)


def memory_handoff(answer: Answer) -> str:
    """The summary, as it was written."""
    return str(answer.get("markdown", "")).rstrip()


def memory_verified(answer: Answer) -> str:
    """What was seen, one to a line."""
    checks = [f"{each.get('check')} {each.get('of')}: {each.get('outcome')}" for each in answer.get("checks", [])]
    return _lines([f"Evidence of {answer.get('entry_id')}: {answer.get('outcome')}", *checks])


def memory_captured(answer: Answer) -> str:
    """The entries as they were or would be written, and which words they were taken from."""
    seen = answer.get("seen", 0)
    if answer.get("applied"):
        counts = ", ".join(f"{answer.get(kind)} {kind}" for kind in ("written", "existing", "failed"))
        first = f"{seen} candidates{_within(answer)} = {counts}"
    else:
        first = f"Preview of {seen} candidates{_within(answer)}; nothing is written without apply=true"
    lines: list[str | None] = [first]
    for number, each in enumerate(answer.get("candidates", []), start=1):
        place = f"{each.get('scope')}/{each.get('topic')} · {each.get('source_type')}"
        lines.append(f"{number}. {each.get('title') or each.get('topic')} · {place}{_candidate_state(each)}")
        lines.append(_indented(_short(each.get("content", ""))))
        words = "; ".join(f"{one.get('field')} from {_quoted(one.get('words'))}" for one in each.get("taken", []))
        lines.append(f"   {words}" if words else None)
    lines += [f"skipped: {each}" for each in _first(answer.get("skipped", []))]
    return _lines(lines)


def memory_exported(answer: Answer) -> str:
    """Where the file is and what it holds."""
    held = ", ".join(f"{answer.get(kind)} {kind}" for kind in ("entries", "tags", "links"))
    left = ", ".join(f"{count} {kind}" for kind, count in answer.get("left_out", {}).items())
    return f"{answer.get('save_path')}: {held}, {answer.get('bytes')} bytes" + (f"; left out: {left}" if left else "")


def memory_imported(answer: Answer) -> str:
    """Counts that add up, and each entry that was not taken."""
    kinds = ("new", "changed", "same", "skipped", "proposed")
    lines = [f"{answer.get('seen')} entries seen = " + ", ".join(f"{answer.get(kind)} {kind}" for kind in kinds)]
    lines.append(f"{answer.get('links')} links; {answer.get('removed')} entries removed")
    if answer.get("id_map"):
        lines.append(f"{len(answer['id_map'])} entries have new ids; see id_map")
    if answer.get("backup"):
        lines.append(f"what was there before: {answer['backup']}")
    lines += [f"skipped: {each.get('entry_id')}: {each.get('reason')}" for each in _first(answer.get("skips", []))]
    return _lines(lines)


def names(answer: Answer) -> str:
    """Names with counts."""
    items = answer.get("items", [])
    return f"{_named(items)}" if items else f"None{_within(answer)}."


# --- documents ------------------------------------------------------------------------------------------------------


def docs_search(answer: Answer) -> str:
    """How many were found and how to go on. The hits themselves are the listing."""
    shelves = f"Shelves: {', '.join(answer['shelves'])}" if answer.get("shelves") else None
    near = [f"near: [{hit.get('id')}] {hit.get('title')}" for hit in answer.get("suggestions", [])]
    return _lines([_count(answer, answer.get("results", []), "document", "documents"), answer.get("hint"), *near, shelves])


def document(answer: Answer) -> str:
    """Where the text is from, then the text itself."""
    head = [f"{answer.get('title')} [{answer.get('id')}] {answer.get('file_path')}"]
    head.append(f"lines {answer.get('start_line')}-{answer.get('end_line')} of {answer.get('line_count')}")
    if answer.get("heading_path"):
        head.append(" > ".join(answer["heading_path"]))
    if answer.get("freshness") != "same":
        head.append(f"file {answer.get('freshness')} since it was indexed")
    below = [f"section below: {' > '.join(path)}" for path in answer.get("subsections", [])]
    matches = answer.get("matches")
    text = [answer.get("content")] if matches is None else map(_excerpt, matches)
    return _lines([" · ".join(head), *below, "", *text])


def documents(answer: Answer) -> str:
    """How many there are and how to go on."""
    return _count(answer, answer.get("documents", []), "document", "documents")


def shelves(answer: Answer) -> str:
    """How many there are."""
    return _count(answer, answer.get("shelves", []), "shelf", "shelves")


def shelf_changed(answer: Answer) -> str:
    """The shelf as it is now."""
    shelf = answer.get("shelf", {})
    return f"Shelf {shelf.get('name')} [{shelf.get('id')}] {shelf.get('uri')}, {shelf.get('document_count')} documents"


def shelf_parents(answer: Answer) -> str:
    """What stands above a shelf, and below it."""
    lines = [shelf_changed(answer)]
    for kind, word in (("parents", "parent"), ("children", "child")):
        lines += [f"{word}: {each.get('name')} {each.get('uri')}" for each in answer.get(kind, [])]
    return _lines(lines)


def tags(answer: Answer) -> str:
    """How many there are. The tags themselves are the listing."""
    return _count(answer, answer.get("tags", []), "tag", "tags")


def tag_changed(answer: Answer) -> str:
    """One tag."""
    tag = answer.get("tag", {})
    return f"Tag {tag.get('name')}, {tag.get('document_count')} documents"


def tags_set(answer: Answer) -> str:
    """What each document bears now."""
    return _lines([f"document {each['document_id']}: {' '.join(each['tags']) or 'no tags'}" for each in answer["documents"]])


def correlation(answer: Answer) -> str:
    """Counts that add up, and the surest links with their reasons."""
    kinds = ("applied_links", "would_apply", *(kind for kind in answer if kind.startswith("skipped_")))
    counts = ", ".join(f"{answer[kind]} {kind}" for kind in kinds if kind in answer)
    lines = [
        f"Shelf {answer.get('shelf')}, {answer.get('heuristic_version')}: {answer.get('scanned_documents')} documents, "
        f"{answer.get('unchanged_documents')} unchanged; {answer.get('candidate_links')} candidate links = {counts}"
    ]
    for link in answer.get("sample_links", []):
        lines.append(
            f"{link['source_title']} [{link['source_document_id']}] {link['relation']} {link['confidence']:.2f} -> "
            f"{link['target_title']} [{link['target_document_id']}]: {link['rationale']}"
        )
    return _lines(lines)


def document_links(answer: Answer) -> str:
    """The links, one to a line, from source to target."""
    links = answer.get("links", [])
    return _lines([_count(answer, links, "link", "links"), *map(_document_link, links)])


def _document_link(link: Answer) -> str:
    source, target = link.get("source", {}), link.get("target", {})
    sure = f" {link['confidence']:.2f}" if "confidence" in link else ""
    verdict = f" ({link['verdict']})" if "verdict" in link else ""
    line = f"[{link.get('link_id')}] {source.get('title')} [{source.get('id')}] {link.get('relation')}{sure}"
    line += f" -> {target.get('title')} [{target.get('id')}], {link.get('origin')}{verdict}"
    return f"{line}: {link['rationale']}" if "rationale" in link else line


def removed(answer: Answer) -> str:
    """What was forgotten."""
    what = f"Document {answer['document_id']}" if "document_id" in answer else f"Shelf {answer.get('shelf')}"
    count = answer.get("removed_documents")
    return f"{what} is forgotten ({count} document{'' if count == 1 else 's'}); files stay as they are."


def features(answer: Answer) -> str:
    """The state of each feature, one to a line."""
    return _facts(answer, leave_out=("ok", "warnings"))


def scan_report(answer: Answer) -> str:
    """Counts that add up, and each file that was not taken, with its reason."""
    reports = answer.get("reports", [answer])
    return "\n".join(map(_one_scan, reports)) if reports else "Nothing has been scanned yet."


def shelf_exported(answer: Answer) -> str:
    """What the file holds."""
    return (
        f"{answer.get('save_path')}: shelf {answer.get('shelf')}, {answer.get('documents')} documents, "
        f"{answer.get('document_links')} links, {answer.get('bytes')} bytes"
    )


def shelf_imported(answer: Answer) -> str:
    """Counts that add up, and each document and link that was not taken, with its reason."""
    lines = [_one_scan(answer), f"{answer.get('document_links')} links of documents, {answer.get('shelf_links')} of shelves"]
    left_out = [f"left out: {each['relative_path']}: {each['warning']}" for each in answer.get("unresolved", [])]
    lines += _first(left_out)
    if "backup" in answer:
        lines.append(f"before that the shelf was exported to {answer['backup']}")
    return _lines(lines)


def _one_scan(report: Answer) -> str:
    kinds = ("new", "changed", "same", "skipped", "failed")
    counts = ", ".join(f"{report[kind]} {kind}" for kind in kinds if kind in report)
    lines = [f"Shelf {report.get('shelf')}: {report.get('seen')} seen = {counts}"]
    outside = ", ".join(f"{report[kind]} {kind}" for kind in ("moved", "missing", "removed") if report.get(kind))
    lines.append(f"also {outside}" if outside else "")
    for kind, noun in (("failures", "failed"), ("skips", "skipped")):
        for each in _first(report.get(kind, [])):
            lines.append(f"{noun}: {each.get('file_path')}: {each.get('reason')}" if isinstance(each, dict) else each)
    lines += [f"missing: {path}" for path in _first(report.get("missing_files", []))]
    return _lines(line for line in lines if line)


def _first(items: list[Any]) -> list[Any]:
    more = len(items) - SHOWN_SKIPS
    return [*items[:SHOWN_SKIPS], f"and {more} more in the structured answer"] if more > 0 else items


def _excerpt(match: Answer) -> str:
    place = f"found in line {match.get('line')}, lines {match.get('start_line')}-{match.get('end_line')}"
    return f"--- {place}\n{match.get('content')}"


# --- pieces ---------------------------------------------------------------------------------------------------------


def _lines(lines: Iterable[str | None]) -> str:
    return "\n".join(line for line in lines if line is not None)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _excerpt_of(snippet: str | None) -> str:
    """The part of a snippet around its first match; the whole of it stands in the structure."""
    text = _one_line(snippet)
    if len(text) <= EXCERPT_CHARS:
        return text
    begin = max(0, text.find(">>>") - EXCERPT_CHARS // 4)
    begin = text.find(" ", begin) + 1 if begin else 0
    end = text.rfind(" ", begin, begin + EXCERPT_CHARS)
    end = end if end > begin else begin + EXCERPT_CHARS
    if text.count(">>>", begin, end) > text.count("<<<", begin, end):  # never inside a match
        end = text.find("<<<", end) + 3
    return f"{'… ' if begin else ''}{text[begin:end]}{' …' if end < len(text) else ''}"


def _indented(text: str) -> str:
    return "   " + text.replace("\n", "\n   ")


def _within(answer: Answer) -> str:
    return f" in {answer['project_id']}" if answer.get("project_id") else ""


def _count(answer: Answer, items: list[Any], one: str, many: str, where: str = "") -> str:
    total = answer.get("total", len(items))
    shown = "" if total == len(items) else f"{len(items)} of "
    next_offset = answer.get("next_offset")
    more = "" if next_offset is None else f"; go on with offset {next_offset}"
    return f"{shown}{total} {one if total == 1 else many}{where}{more}"


def _entry_head(entry: Answer) -> str:
    """What an entry is, in a line: what is usual (active, of normal importance) is not said."""
    about = [f"{entry.get('scope')}/{entry.get('topic')}", entry.get("source_type"), entry.get("source_ref")]
    if entry.get("status") != "active":
        about.append(entry.get("status"))
    if entry.get("evidence"):
        about.append(f"evidence {entry['evidence']}")
    if entry.get("importance") != NORMAL:
        about.append(f"importance {entry.get('importance')}")
    if "confidence" in entry:
        about.append(f"confidence {entry['confidence']}")
    about.append(str(entry.get("updated_at"))[:10])
    title = f"{entry['title']} " if entry.get("title") else ""
    return f"{title}[{entry.get('id')}] {' · '.join(filter(None, about))}"


def _named(items: list[Any]) -> str:
    return ", ".join(f"{each['name']} ({each['count']})" if isinstance(each, dict) else str(each) for each in items)


def _candidate_state(candidate: Answer) -> str:
    for name, said in (("entry_id", "written as"), ("existing_entry_id", "kept already as"), ("problem", "not possible:")):
        if candidate.get(name):
            return f" · {said} {candidate[name]}"
    return ""


def _short(text: str) -> str:
    lines = text.strip().splitlines()
    return "\n".join(lines[:SHOWN_LINES]) + (f"\n… {len(lines) - SHOWN_LINES} more lines" if len(lines) > SHOWN_LINES else "")


def _quoted(text: object) -> str:
    return f"“{_one_line(str(text))}”"


def _link(link: Answer) -> str:
    incoming = link.get("direction") == "incoming"
    end = f"from {link.get('source_entry_id')}" if incoming else f"to {link.get('target_uri')}"
    section = f" § {' > '.join(link['section'])}" if link.get("section") else ""
    about = [f"{link.get('title')}" if link.get("title") else "", link.get("status"), link.get("label"), link.get("rationale")]
    return f"{link.get('relation')} {end}{section} [{link.get('id')}] {' · '.join(filter(None, about))}".rstrip()


def _brief(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_brief(each)}" for name, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(_brief, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _one_line(str(value))


def _facts(answer: Answer, *, leave_out: tuple[str, ...]) -> str:
    told = {name: value for name, value in answer.items() if name not in leave_out and value not in ({}, [], "")}
    return "\n".join(f"{name}: {_brief(value)}" for name, value in told.items())
