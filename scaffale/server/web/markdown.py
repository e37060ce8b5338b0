"""Stored Markdown as HTML that can do nothing: no script, no style, no form, no image, no frame; links that only lead away.

The text is somebody else's. CommonMark is rendered by `pyromark`, whatever HTML it holds included, and then everything but
a short list of harmless elements is taken out by `nh3` (Ammonia). The page's policy would refuse the rest as well. An
image is shown as a link with its description. Headings get their line as `id`, so that a section can be pointed at.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nh3
    import pyromark
    from markupsafe import Markup

TAGS = frozenset(
    "a abbr b blockquote br caption cite code dd del details dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p"
    " pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr tt u ul var".split()
)
ATTRIBUTES = {
    "a": {"href", "title"}, "abbr": {"title"}, "code": {"class"}, "li": {"value"}, "ol": {"start"},
    "td": {"align", "colspan", "rowspan"}, "th": {"align", "colspan", "rowspan", "scope"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}  # fmt: skip
SCHEMES = frozenset(("http", "https", "mailto"))
_LINE_ID = re.compile(r"L\d{1,9}")
_LANGUAGE = re.compile(r"language-[\w+#.-]{1,40}")
_TASK = re.compile(r'<input disabled="" type="checkbox"( checked="")? ?/>\n?')
_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(alt|src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)
_FRONT = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def html(text: str, *, first_line: int = 1, follow: str | None = None) -> Markup:
    """The text as safe HTML. `first_line` is the line that it begins with; `follow` is the address to which relative links
    lead, the link itself appended as a query, or they lead nowhere."""
    from markupsafe import Markup

    front = _FRONT.match(text) if first_line == 1 else None
    if front:
        first_line += front[0].count("\n")
        text = text[front.end() :]
    rendered = _parser().html(_with_lines(text, first_line))
    rendered = _TASK.sub(lambda match: "\u2611 " if match[1] else "\u2610 ", _IMAGE.sub(_described, rendered))
    return Markup(_cleaner(follow).clean(rendered))  # noqa: S704  (this is what makes it safe)


def _with_lines(text: str, first_line: int) -> str:
    """The text with `{#L12}` behind each heading, which CommonMark's extension makes its `id`."""
    source = text.encode("utf-8", "replace")
    spans = []
    for event, span in _parser().events_with_range(source.decode()):
        tag: object = event.get("Start") if isinstance(event, dict) else None
        if isinstance(tag, dict) and "Heading" in tag:
            spans.append(span)
    parts, at, line = [], 0, first_line
    for span in spans:
        start = span["start"]
        line += source.count(b"\n", at, start)
        block = source[start : span["end"]].rstrip()
        lines = block.split(b"\n")
        underlined = len(lines) > 1 and not lines[-1].strip(b" \t\r>=-")
        end = start + (len(b"\n".join(lines[:-1]).rstrip()) if underlined else len(block))
        parts += [source[at:end], b" {#L%d}" % line]
        line += source.count(b"\n", start, end)
        at = end
    return (b"".join(parts) + source[at:]).decode()


@cache
def _parser() -> pyromark.Markdown:
    import pyromark

    options = pyromark.Options
    return pyromark.Markdown(
        options=options.ENABLE_TABLES
        | options.ENABLE_STRIKETHROUGH
        | options.ENABLE_TASKLISTS
        | options.ENABLE_FOOTNOTES
        | options.ENABLE_HEADING_ATTRIBUTES
    )


def _cleaner(follow: str | None) -> nh3.Cleaner:
    import nh3

    def allowed(tag: str, name: str, value: str) -> str | None:
        shape = {"id": _LINE_ID, "class": _LANGUAGE}.get(name)
        return value if shape is None or shape.fullmatch(value) else None

    def led(url: str) -> str | None:
        from urllib.parse import quote

        # Anchors of a text are not kept: the outline leads to every section. `//host/` would leave for the web.
        return f"{follow}?reference={quote(url)}" if follow and not url.startswith(("#", "//")) else None

    return nh3.Cleaner(
        tags=set(TAGS),
        clean_content_tags={"script", "style", "iframe", "object", "embed", "svg", "math", "template", "noscript", "textarea",
                            "select", "title", "audio", "video", "canvas", "xmp", "plaintext", "noembed", "noframes"},
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        attribute_filter=allowed,
        url_relative=led,
        url_schemes=set(SCHEMES),
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )  # fmt: skip


def _described(match: re.Match[str]) -> str:
    """An image as what it shows, and a link to where it lies; nothing is fetched."""
    from html import escape, unescape

    said = {name.lower(): unescape(one or two or three) for name, one, two, three in _ATTRIBUTE.findall(match[0])}
    words = escape(said.get("alt") or "image")
    source = said.get("src", "")
    return f'<a href="{escape(source)}">[{words}]</a>' if source else f"[{words}]"
