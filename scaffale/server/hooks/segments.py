"""A prompt → what in it is said, and what is merely shown: code, quotations, comments. Pure; standard library only.

Blocks are found as CommonMark finds them, in one pass over the lines with the stack of open quotes and list items; inline
code and comments in one pass over each paragraph. It differs from CommonMark on purpose, each time to exclude more:
a fence that its list item leaves open takes the rest of the text; a comment that a paragraph leaves open goes on to its
end mark, wherever that stands; backticks pair inside raw HTML, too.

Rules of this file: offsets are code points of the text as given; regions tile it; no string makes it raise; the work is
in proportion to the length, whatever the text.
"""

from __future__ import annotations

import re
from collections import namedtuple

from scaffale.server.hooks.lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT, FENCE, INDENTED, CODE, QUOTE, COMMENT = (
    "text", "fenced_code", "indented_code", "inline_code", "block_quote", "html_comment",
)  # fmt: skip
MAX_DEPTH = 100  # of quotes and list items in one another; deeper markers are text of the innermost one
_QUOTED = -1  # a quote on the stack of containers; a list item is the column at which its content begins

Region = namedtuple("Region", "kind start end eligible")  # `typing` would cost a hook a third of its start
Region.__doc__ = (
    "A piece of a prompt: its `kind`, `start` and `end` in code points, and whether what it says is said (`eligible`)."
)

_LINE = re.compile(r"([^\r\n]*)(?:\r\n?|\n|\Z)")
_OPENER = re.compile(r"(`{3,})[^`]*\Z|(~{3,})")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|\Z)")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*\Z")
_RULE = re.compile(r"(?:\*[* \t]*|-[- \t]*|_[_ \t]*)\Z")  # when there are three of them
_ITEM = re.compile(r"([-+*]|[0-9]{1,9}[.)])(?=[ \t]|\Z)")
_TAG = Lazy(
    r"</?[A-Za-z][A-Za-z0-9-]{0,64}(?:\s{1,64}[A-Za-z_:][\w.:-]{0,64}"
    r"(?:\s{0,64}=\s{0,64}(?:[^\s\"'=<>`]{1,512}|'[^']{0,512}'|\"[^\"]{0,512}\"))?){0,32}\s{0,64}/?>"
    r"|<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{0,512}>"
)
_RAW = Lazy(r"<(?:(script|pre|style|textarea)(?:[\s>]|\Z)|(!--)|(\?)|(![A-Za-z])|(!\[CDATA\[))", re.I)
_RAW_ENDS = (Lazy(r"</(?:script|pre|style|textarea)>", re.I), *map(Lazy, ("-->", r"\?>", ">", r"\]\]>")))
_DECLARATION = Lazy(r"<(?:(\?)|(![A-Za-z])|(!\[CDATA\[))")
_DECLARATION_ENDS = ("?>", ">", "]]>")
_BLOCK_TAG = Lazy(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|"
    r"dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    r"menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|"
    r"ul)(?:[ \t]|/?>|\Z)",
    re.I,
)
_BLANK = Lazy("")  # ends a block of the other kinds
_SPECIAL = re.compile(r"[\\`<]")
_RUN = re.compile("`+")
_INK = re.compile(r"[^\r\n]")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def segment_prompt(text: str) -> tuple[Region, ...]:
    """The regions of a prompt, in order; together they are the whole text.

    `text` is eligible: it is what the writer says. `fenced_code`, `indented_code`, `inline_code`, `block_quote` and
    `html_comment` are not. A fence without an end takes the rest; what lies inside a quotation is quotation.
    """
    regions: list[Region] = []
    at = 0
    for begin, end, kind in sorted(_Blocks(text).excluded()):
        start = max(begin, at)
        if start >= end:
            continue
        if start > at:
            regions.append(Region(TEXT, at, start, True))
        if regions and kind == QUOTE == regions[-1].kind and regions[-1].end == start:
            regions[-1] = Region(kind, regions[-1].start, end, False)  # they are found line by line
        else:
            regions.append(Region(kind, start, end, False))
        at = end
    if at < len(text):
        regions.append(Region(TEXT, at, len(text), True))
    return tuple(regions)


def mask(text: str) -> str:
    """The text with a space for each character that is not eligible. Length, offsets and line ends stay as they were."""
    return blank(text, ((region.start, region.end) for region in segment_prompt(text) if not region.eligible))


def blank(text: str, spans: Iterator[tuple[int, int]]) -> str:
    """The text with spaces in these spans, which come in order. Line ends are kept."""
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += text[at:start], _INK.sub(" ", text[start:end])
        at = end
    parts.append(text[at:])
    return "".join(parts)


class _Blocks:
    """One pass over the lines. `stack` is what is open from the outside in, `leaf` what the innermost of it is filled with."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[int] = []
        self.hollow = False  # the innermost list item has no content yet: a blank line closes it
        self.leaf = ""  # "", "paragraph", FENCE, INDENTED or "html"
        self.fence = ("", 0)  # character and length of the open fence
        self.html_end = _BLANK
        self.began = self.ended = 0  # of the open leaf
        self.found: list[tuple[int, int, str]] = []
        self.commented = 0  # the end of the farthest comment
        self.marks: dict[str, int] = {}  # where the next of each is, as far as it was asked for

    def excluded(self) -> list[tuple[int, int, str]]:
        """`(start, end, kind)` of all that is not said. They may touch, and a comment may cover others."""
        for match in _LINE.finditer(self.text):
            if not self.line(match.start(), match.end(1)):
                self.leaf = FENCE  # it takes the rest
                self.ended = len(self.text)
                break
        if self.leaf == FENCE and _QUOTED not in self.stack:
            self.ended = len(self.text)
        self.close()
        return self.found

    # --- lines ---------------------------------------------------------------------------------------------------------

    def line(self, start: int, end: int) -> bool:
        """Take one line. False when an open fence takes all that follows."""
        text, stack = self.text, self.stack
        last = start + len(text[start:end].rstrip(" \t"))  # where its ink ends
        at, column, held, quoted = self.held(start, last)
        if held < len(stack) and self.leaf == FENCE and _QUOTED not in stack:
            return False
        if held == len(stack) and self.leaf in (FENCE, "html"):
            self.inside(at, column, last, end)
        else:
            quoted = self.begin(at, column, held, last, end, quoted)
        if _QUOTED in self.stack:
            self.found.append((start if quoted < 0 else quoted, min(end + 1, len(text)), QUOTE))
        return True

    def held(self, start: int, last: int) -> tuple[int, int, int, int]:
        """Walk the open containers that go on in this line: place, column, how many, and where the outermost quote's mark is."""
        at, column, quoted = start, 0, -1
        for count, content in enumerate(self.stack):
            if content == _QUOTED:
                mark, width = self.space(at, column, 4)
                if width > 3 or mark >= last or self.text[mark] != ">":
                    return at, column, count, quoted
                quoted = mark if quoted < 0 else quoted
                at, column = self.consume(mark + 1, column + width + 1, 1)
            elif at >= last:
                if self.hollow and count == len(self.stack) - 1:
                    return at, column, count, quoted
            else:
                _, width = self.space(at, column, content)
                if width < content:
                    return at, column, count, quoted
                at, column = self.consume(at, column, content)
        return at, column, len(self.stack), quoted

    def inside(self, at: int, column: int, last: int, end: int) -> None:
        """A line of an open fence, or of a block of HTML."""
        if self.leaf == FENCE:
            self.ended = end
            mark, width = self.space(at, column, 4)
            character, length = self.fence
            run = self.text[mark:last]
            if width <= 3 and len(run) >= length and run == character * len(run):
                self.close()
        elif self.html_end is _BLANK and at >= last:
            self.close()
        else:
            self.ended = end
            if self.html_end is not _BLANK and self.html_end.search(self.text, at, end):
                self.close()

    def begin(self, at: int, column: int, held: int, last: int, end: int, quoted: int) -> int:
        """A line that may begin blocks, go on with a paragraph, or be blank. Where the outermost quote's mark is, or -1."""
        text = self.text
        lazy = self.leaf == "paragraph"  # text alone goes on with it, wherever the containers end
        while at < last:
            mark, width = self.space(at, column, last - at + 4)
            if width >= 4:
                break
            running = lazy and held == len(self.stack)  # the paragraph is at this very level
            character = text[mark]
            if character == ">" and held < MAX_DEPTH:
                self.open(held, _QUOTED)
                quoted = mark if quoted < 0 else quoted
                at, column = self.consume(mark + 1, column + width + 1, 1)
            elif character in "`~" and (opener := _OPENER.match(text, mark, last)):
                self.open(held)
                self.leaf, self.began, self.ended = FENCE, mark, end
                self.fence = (character, len(opener[1] or opener[2]))
                return quoted
            elif (character == "#" and _HEADING.match(text, mark, last)) or (
                character in "*-_=" and self.is_rule(mark, last, running=running)
            ):
                underline = running and _UNDERLINE.match(text, mark, last)
                self.open(held)
                if not underline:
                    self.inline(mark, last)
                return quoted
            elif character == "<" and self.html(mark, last, running=running or (lazy and held < len(self.stack))):
                ends = self.html_end
                self.open(held)
                self.leaf, self.began, self.ended, self.html_end = "html", mark, end, ends
                if ends is not _BLANK and ends.search(text, mark + 1, end):
                    self.close()
                return quoted
            elif (
                held < MAX_DEPTH
                and (item := _ITEM.match(text, mark, last))
                and self.may_begin(item, last, running=running)
            ):
                at, column = item.end(), column + width + len(item[0])
                after, space = self.space(at, column, 5)
                step = space if after < last and 1 <= space <= 4 else 1
                self.open(held, width + len(item[0]) + step)
                self.hollow = after >= last
                at, column = self.consume(at, column, step)
            else:
                break
            held, lazy = len(self.stack), False
        if at >= last:
            self.pause(held)
        elif lazy:
            self.ended = end
        else:
            self.fill(at, column, held, end)
        return quoted

    def fill(self, at: int, column: int, held: int, end: int) -> None:
        """A line of text begins a paragraph or belongs to indented code."""
        mark, width = self.space(at, column, end - at + 4)
        leaf = INDENTED if width >= 4 else "paragraph"
        if leaf != self.leaf or held < len(self.stack):
            self.open(held)
            self.leaf, self.began = leaf, mark
        self.ended = end
        self.hollow = False

    def pause(self, held: int) -> None:
        """A blank line ends a paragraph and all containers that do not go on in it; indented code may outlast it."""
        hollow = self.hollow and held == len(self.stack)
        if held < len(self.stack) or self.leaf != INDENTED:
            self.open(held)
        self.hollow = hollow

    def open(self, held: int, container: int | None = None) -> None:
        """Close what does not go on in this line, and put a new container inside what does."""
        self.close()
        del self.stack[held:]
        self.hollow = False
        if container is not None:
            self.stack.append(container)

    def close(self) -> None:
        """The open leaf is complete."""
        if _QUOTED in self.stack:
            pass  # quotation as a whole, line by line
        elif self.leaf in (FENCE, INDENTED):
            self.found.append((self.began, self.ended, self.leaf))
        elif self.leaf:
            self.inline(self.began, self.ended)
        self.leaf = ""

    # --- what a line begins with ---------------------------------------------------------------------------------------

    def is_rule(self, mark: int, last: int, *, running: bool) -> bool:
        """A thematic break, or the underline of the paragraph above."""
        text = self.text
        if running and _UNDERLINE.match(text, mark, last):
            return True
        return (
            text[last - 1] == text[mark]
            and bool(_RULE.match(text, mark, last))
            and text.count(text[mark], mark, last) >= 3
        )

    def may_begin(self, item: re.Match[str], last: int, *, running: bool) -> bool:
        """A paragraph is broken only by an item with content, and a numbered one only by the first."""
        if not running:
            return True
        return self.space(item.end(), 0, last)[0] < last and (len(item[0]) == 1 or int(item[0][:-1]) == 1)

    def html(self, mark: int, last: int, *, running: bool) -> bool:
        """Whether a block of HTML begins here; `html_end` is then what ends it."""
        raw = _RAW.match(self.text, mark, last)
        if raw:
            self.html_end = _RAW_ENDS[(raw.lastindex or 1) - 1]
            return True
        self.html_end = _BLANK
        if _BLOCK_TAG.match(self.text, mark, last):
            return True
        tag = None if running else _TAG.match(self.text, mark, last)
        return bool(tag and ":" not in tag[0].split(None, 1)[0] and not self.text[tag.end() : last].strip(" \t"))

    def space(self, at: int, column: int, most: int) -> tuple[int, int]:
        """Where white space ends, and how many columns it takes; it is not measured beyond `most` columns."""
        text, end, width = self.text, len(self.text), 0
        while at < end and width < most:
            if text[at] == " ":
                width += 1
            elif text[at] == "\t":
                width += 4 - (column + width) % 4
            else:
                break
            at += 1
        return at, width

    def consume(self, at: int, column: int, columns: int) -> tuple[int, int]:
        """Step over so many columns of white space, at most; a tab may be left with some of its own."""
        text, end = self.text, len(self.text)
        while columns and at < end and text[at] in " \t":
            width = 1 if text[at] == " " else 4 - column % 4
            step = min(width, columns)
            column += step
            columns -= step
            if step == width:
                at += 1
        return at, column

    # --- inside a paragraph --------------------------------------------------------------------------------------------

    def inline(self, start: int, end: int) -> None:
        """Code spans and comments, leftmost first; a tag or an autolink hides the backticks in it."""
        if _QUOTED in self.stack:
            return
        text = self.text
        runs: dict[int, list[int]] = {}
        for run in _RUN.finditer(text, start, end):
            runs.setdefault(run.end() - run.start(), []).append(run.start())
        for places in runs.values():
            places.reverse()  # the next one is popped from the end
        special = _SPECIAL.search(text, start, end)
        while special:
            at = special.start()
            if text[at] == "\\":
                past = at + (2 if text[at + 1 : at + 2] in _PUNCTUATION else 1)
            elif text[at] == "`":
                past = self.code(at, end, runs)
            elif text.startswith("<!--", at):
                past = self.comment(at, end)
            else:
                past = self.markup(at, end)
            special = _SPECIAL.search(text, past, end)

    def code(self, at: int, end: int, runs: dict[int, list[int]]) -> int:
        """A run of backticks opens code when there is another of the same length. Where reading goes on."""
        past = _RUN.match(self.text, at, end).end()  # type: ignore[union-attr]
        places = runs.get(past - at, [])
        while places and places[-1] < past:
            places.pop()
        if not places:
            return past
        past = places.pop() + past - at
        self.found.append((at, past, CODE))
        return past

    def markup(self, at: int, end: int) -> int:
        """A tag, an autolink, a declaration, ... takes its backticks with it. Where reading goes on."""
        tag = _TAG.match(self.text, at, end)
        if tag:
            return int(tag.end())
        raw = _DECLARATION.match(self.text, at, end)
        if raw:
            mark = _DECLARATION_ENDS[raw.lastindex - 1]
            past = self.ahead(mark, raw.end())
            if 0 <= past <= end - len(mark):
                return past + len(mark)
        return at + 1

    def comment(self, at: int, end: int) -> int:
        """A comment ends with its mark; without one, a block of it ends with the block. Where reading goes on."""
        if at < self.commented:
            return at + 4
        past = self.ahead("-->", at + 2)
        if self.leaf == "html" and at == self.began and not 0 <= past <= end - 3:
            past = end - 3
        if past < 0:
            return at + 4
        self.commented = past + 3
        self.found.append((at, past + 3, COMMENT))
        return min(past + 3, end)

    def ahead(self, mark: str, at: int) -> int:
        """Where the next of these marks is, or -1. The text is searched once for each, however often it is asked for."""
        known = self.marks.get(mark, 0)
        if 0 <= known < at or mark not in self.marks:
            known = self.marks[mark] = self.text.find(mark, at)
        return known
