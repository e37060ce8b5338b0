"""Bytes → text → title, tags and sections. Pure: the same bytes always give the same parts.

Rules of this file: the sections of a document tile its text, so `"".join(s.body for s in sections) == text`; nothing
is quadratic, whatever the text; a text that can be read is never refused, only what is no text at all.

Headings are found by a reader of plain cases, one regular expression over the lines that could matter, and wherever
that reader is in doubt (setext headings, HTML blocks, indented fences, ...) by `pyromark`, the CommonMark parser that
has the last word. The plain cases are nine files in ten, and four times faster.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scaffale.indexer import front_matter
from scaffale.model import Section
from scaffale.text import MAX_BODY_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyromark.event import Event

LONG_SECTION = 4_000  # characters; a longer section is cut into pieces at blank lines
MAX_HEADINGS = 10_000  # of one document: a file of nothing but headings is no outline
MAX_HEADING_CHARS = 300
PREAMBLE, FRONT_MATTER = 0, -1  # levels of what stands under no heading, and of what is kept but not searched

_SAMPLE_BYTES = 8_192
_BINARY_SHARE = 0.25


class NotText(Exception):
    """The bytes are no text. `str(error)` is the reason, for people."""


class Decoded(NamedTuple):
    """The text without byte order mark, line ends as they were. `warnings` say what could not be read as it was."""

    text: str
    warnings: tuple[str, ...] = ()


class Parsed(NamedTuple):
    """What a Markdown text says of itself. `sections` tile it; `tags` and `aliases` are as written there."""

    title: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    sections: tuple[Section, ...]
    line_count: int
    warnings: tuple[str, ...] = ()


class _Heading(NamedTuple):
    start: int  # offset of its first line
    level: int
    text: str


# --- bytes → text --------------------------------------------------------------------------------------------------


def decode(data: bytes) -> Decoded:
    """The text of a file: UTF-8, or UTF-16 or UTF-32 that says or shows it. Raises `NotText` for binary data."""
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
        warnings: tuple[str, ...] = ()
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        warnings = (f"not all of it is valid {encoding.upper()}; the unreadable bytes are shown as \ufffd",)
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        if _looks_binary(text[:_SAMPLE_BYTES]):
            raise NotText("binary data, not text")
        text = text.replace("\0", "\ufffd")
        warnings += ("it holds NUL bytes, shown as \ufffd",)
    return Decoded(text, warnings)


def _encoding(data: bytes) -> str:
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "utf-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in data and len(data) % 2 == 0:
        # Text of western scripts in UTF-16 has a zero in every second place and hardly any elsewhere.
        sample = data[:_SAMPLE_BYTES]
        half = len(sample) // 2
        even, odd = sample[::2].count(0) / half, sample[1::2].count(0) / half
        if odd > 0.4 and even < 0.05:
            return "utf-16-le"
        if even > 0.4 and odd < 0.05:
            return "utf-16-be"
    return "utf-8"


def _looks_binary(sample: str) -> bool:
    strange = sum((each < " " and each not in "\t\n\r\f\x1b") or each == "\ufffd" for each in sample)
    return strange > len(sample) * _BINARY_SHARE


# --- text → document -----------------------------------------------------------------------------------------------

_LONE_CR = re.compile(r"\r(?!\n)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+\Z")


def lines(text: str) -> list[str]:
    """The lines as sections count them, each with its line end (CRLF, LF or a lone CR)."""
    return _LINE.findall(text)


def parse(text: str, *, file_name: str) -> Parsed:
    """The document. Title: of the front matter, else the first heading of level 1, else of any, else the file name."""
    # A lone CR ends a line as LF does. For finding places they may be the same: neither moves an offset.
    shape = _LONE_CR.sub("\n", text) if text.count("\r") != text.count("\r\n") else text
    matter = front_matter.read(shape)
    headings = _headings(shape, matter.end)
    warnings: tuple[str, ...] = ()
    if len(headings) > MAX_HEADINGS:
        headings = headings[:MAX_HEADINGS]
        warnings = (f"it has more than {MAX_HEADINGS} headings; those after them make no sections of their own",)
    sections = tuple(_sections(text, shape, matter.end, headings))
    too_long = next((each for each in sections if len(each.body) > MAX_BODY_CHARS), None)
    if too_long:
        warnings += (f"line {too_long.start_line} is very long; only {MAX_BODY_CHARS} characters of it are searched",)
    return Parsed(
        title=_short(matter.title) or _title(headings) or _stem(file_name),
        tags=matter.tags,
        aliases=matter.aliases,
        sections=sections,
        line_count=sections[-1].end_line if sections else 0,
        warnings=warnings,
    )


def _title(headings: list[_Heading]) -> str:
    first = next((heading.text for heading in headings if heading.level == 1 and heading.text), "")
    return first or next((heading.text for heading in headings if heading.text), "")


def _stem(file_name: str) -> str:
    stem, dot, _ = file_name.rpartition(".")
    return _short(stem if dot and stem else file_name)


def _short(text: str) -> str:
    """On one line, and no longer than a heading should be."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_HEADING_CHARS else text[: MAX_HEADING_CHARS - 1].rstrip() + "…"


# --- sections ------------------------------------------------------------------------------------------------------

_FENCE_LINE = re.compile(r"\n[ \t>]*(`{3,}|~{3,})([^\n]*)")
_BLANK_LINES = re.compile(r"\n[ \t\r\n]*\n")  # of a repeated group the engine would remember every turn


def _sections(text: str, shape: str, begin: int, headings: list[_Heading]) -> Iterator[Section]:
    line = 1
    trail: list[tuple[int, tuple[str, ...]]] = [(FRONT_MATTER - 1, ())]  # level and path of each heading that is open
    starts = [_Heading(0, FRONT_MATTER, ""), _Heading(begin, PREAMBLE, ""), *headings]
    ends = [start for start, _, _ in starts[1:]]
    for (begins, level, name), end in zip(starts, [*ends, len(text)], strict=True):
        while trail[-1][0] >= level:
            trail.pop()
        path = trail[-1][1]
        if name:
            path = (*path, name)
            trail.append((level, path))
        short = begins < end <= begins + LONG_SECTION  # as most are
        for start, stop in ((begins, end),) if short else _pieces(shape, begins, end):
            after = line + shape.count("\n", start, stop)
            last = after - 1 if shape[stop - 1] == "\n" else after
            yield Section(path, level, line, last, text[start:stop])
            line = after


def _pieces(shape: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch in pieces of at most `LONG_SECTION` characters, cut at blank lines outside fences if possible, else
    at line ends. A line that is longer stays whole."""
    if end - start <= LONG_SECTION:
        if end > start:
            yield start, end
        return
    gaps = _gaps(shape, start, end)
    gap = next(gaps, end)
    while end - start > LONG_SECTION:
        cut = 0
        while gap <= start + LONG_SECTION:
            cut = gap
            gap = next(gaps, end)
        if cut <= start:
            cut = shape.rfind("\n", start, start + LONG_SECTION) + 1 or shape.find("\n", start + LONG_SECTION, end) + 1
        cut = cut or end
        yield start, cut
        start = cut
    if end > start:
        yield start, end


def _gaps(shape: str, start: int, end: int) -> Iterator[int]:
    """Where a blank line outside fences ends, in order."""
    fences = _fences(shape, start, end)
    opens, closes = next(fences, (end, end))
    for blank in _BLANK_LINES.finditer(shape, start, end):
        while closes <= blank.start():
            opens, closes = next(fences, (end, end))
        if blank.start() < opens:
            yield blank.end()


def _fences(shape: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of fenced code, loosely: at any indentation, in lists and quotes too."""
    opened, mark = 0, ""
    for fence in _FENCE_LINE.finditer(shape, max(start - 1, 0), end):
        if not mark:
            if "`" not in fence[2] or fence[1][0] == "~":
                opened, mark = fence.start(), fence[1]
        elif fence[1].startswith(mark) and not fence[2].strip():
            yield opened, fence.end()
            mark = ""
    if mark:
        yield opened, end


# --- headings ------------------------------------------------------------------------------------------------------

_MARK = re.compile(
    r"""\n(?=[#`~<=\ -])(?:
      (?P<atx>\#{1,6}) (?=[ \t\r\n]|\Z) (?P<heading>[^\n]*)
    | (?P<fence>`{3,}|~{3,}) (?P<info>[^\n]*)
    | (?P<html>\ {0,3}<[^\n]*)
    | (?P<underline>\ {0,3}(?:=+|-+)[ \t]*\r?(?=\n|\Z))
    | (?P<indented>\ {1,3}(?:\#{1,6}(?=[ \t\r\n]|\Z)|`{3,}|~{3,})[^\n]*)
    )""",
    re.VERBOSE,
)
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])\#+$")
_INLINE_MARKUP = re.compile(r"[`*\\\[<&]|_(?<![^\W_]_).*_(?![^\W_])")  # underscores within words are no markup
_CODE_SPAN = re.compile(r"(?<![`\\])`[^`]+`(?!`)")
_LONG_HTML = re.compile(r" {0,3}<(?:[!?]|(?:script|pre|style|textarea)\b)", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")


class _Doubt(Exception):
    """The text holds what only a whole parser can judge."""


def _headings(shape: str, begin: int) -> list[_Heading]:
    """Top-level headings from `begin` on, in order; a heading in a list or a quotation is no part of the outline."""
    try:
        return _plain_headings("\n" + shape[begin:], begin)
    except _Doubt:
        return _parsed_headings(shape[begin:], begin)


def _plain_headings(source: str, begin: int) -> list[_Heading]:
    """Headings of a text without difficulties, or `_Doubt`. `source` is the text after a line feed.

    A line that starts with `#` in the first column ends every list, quotation and paragraph: it is a heading unless it
    stands in fenced code or in an HTML block.
    """
    headings: list[_Heading] = []
    fence = ""
    html = -1  # from where to look for the blank line that ends the HTML, if there is any
    comment = 0  # where a comment ends
    for mark in _MARK.finditer(source):
        kind = mark.lastgroup
        if fence:
            line = mark[0].strip(" \t\r\n")
            if line.startswith(fence) and not line.strip(fence[0]):
                fence = ""
            continue
        if mark.start() < comment:
            continue
        if html >= 0:
            html = -1 if _BLANK_LINE.search(source, html, mark.start() + 1) else mark.start()
        if kind == "html":
            if _LONG_HTML.match(mark["html"]):
                comment = _comment_end(source, mark, within_html=html >= 0)
            elif html < 0:
                html = mark.start()
        elif html >= 0:
            raise _Doubt
        elif kind == "heading":
            marks, text = mark.group("atx", "heading")
            headings.append(_Heading(begin + mark.start(), len(marks), _heading_text(text, source)))
            if len(headings) > MAX_HEADINGS:
                break
        elif kind == "info":
            if "`" not in mark["info"] or mark["fence"][0] == "~":
                fence = mark["fence"]
        elif kind == "indented" or _follows_text(source, mark.start()):
            raise _Doubt
    return headings


def _comment_end(source: str, mark: re.Match[str], *, within_html: bool) -> int:
    """Where a comment that begins with this line ends. Other HTML that outlives blank lines is not plain."""
    if not mark["html"].lstrip().startswith("<!--"):
        raise _Doubt
    if "-->" in mark["html"]:
        return mark.end()
    if within_html or mark["html"].startswith(" "):  # or perhaps in a list: what is around it may end first
        raise _Doubt
    close = source.find("-->", mark.end())
    close = source.find("\n", close) if close >= 0 else close
    return close if close >= 0 else len(source)


def _follows_text(source: str, line_end: int) -> bool:
    """Whether the line that ends there holds anything."""
    return bool(source[source.rfind("\n", 0, line_end) + 1 : line_end].strip())


def _heading_text(raw: str, source: str) -> str:
    text = raw.strip(" \t\r")
    if text.endswith("#"):
        text = _CLOSING_MARKS.sub("", text).rstrip(" \t")
    if not _INLINE_MARKUP.search(text):
        return _short(text)
    if "[" in _CODE_SPAN.sub("", text) and "]:" in source:
        raise _Doubt  # perhaps a reference to a link that is defined elsewhere
    import pyromark

    return _short("".join(_plain(event) for event in pyromark.events(f"# {text}")))


def _parsed_headings(source: str, begin: int) -> list[_Heading]:
    import pyromark

    places: list[tuple[int, int, str]] = []  # byte offset, level, text
    depth = 0
    parts: list[str] | None = None
    for event, span in pyromark.events_with_range(source):
        if isinstance(event, dict):
            if "Start" in event:
                tag = event["Start"]
                if depth == 0 and isinstance(tag, dict) and "Heading" in tag:
                    parts = []
                    places.append((span["start"], int(tag["Heading"]["level"][1]), ""))
                depth += 1
                continue
            if "End" in event:
                depth -= 1
                if depth == 0 and parts is not None:
                    places[-1] = (*places[-1][:2], _short("".join(parts)))
                    parts = None
                    if len(places) > MAX_HEADINGS:
                        break
                continue
        if parts is not None:
            parts.append(_plain(event))
    return _placed(source, begin, places)


def _plain(event: Event) -> str:
    """What of an inline event people read: text and code, white space for a line break, nothing for a tag."""
    if isinstance(event, dict):
        return event.get("Text") or event.get("Code") or ""  # type: ignore[return-value]
    return " "


def _placed(source: str, begin: int, places: list[tuple[int, int, str]]) -> list[_Heading]:
    """Byte offsets as offsets of the first character of the line."""
    data = b"" if source.isascii() else source.encode()
    headings: list[_Heading] = []
    byte = character = 0
    for place, level, text in places:
        character += len(data[byte:place].decode()) if data else place - byte
        byte = place
        headings.append(_Heading(begin + source.rfind("\n", 0, character) + 1, level, text))
    return headings
