"""A CommonMark parser judges the segmenter: what it takes for code, quotation or comment is never said; and, where the
segmenter does not exclude more on purpose, what it takes for text is."""

import re

import pyromark
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from scaffale.server.hooks import mask, segment_prompt

PIECES = (
    "`", "``", "```", "````", "~~~", "~~~~", ">", "> ", ">\t", "- ", "* ", "+ ", "1. ", "2) ", "-", " ", "  ", "    ",
    "\t", "\n",
    "\n", "\n\n", "\r\n", "word", "é𝄞", "\\", "#", "# ", "---", "===", "***", "py", "a",
)  # fmt: skip
MARKUP = (
    "<!--",
    "-->",
    "<b>",
    "<div>",
    "</div>",
    '<a t="',
    '">',
    "<x:y>",
    "<pre>",
    "</pre>",
    "<?",
    "?>",
    "<!A", "<![CDATA[", "]]>",
    ">",
    "<",
)
plain = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
marked = st.lists(st.sampled_from(PIECES + MARKUP), max_size=40).map("".join)
JUDGE = pyromark.Markdown()
# Where this parser leaves the specification: tabs may follow a closing fence (4.5), and a quote's mark behind a tab goes
# on with no quote (5.1).
TABS = re.compile(r"[`~][ ]*\t|\t[ ]*>")


def judged(text):
    """The offsets that CommonMark takes for code, quotation or comment."""
    offsets = []
    for index, character in enumerate(text):
        offsets += [index] * len(character.encode())
    offsets.append(len(text))
    out, comment_block = set(), None
    for event, place in JUDGE.events_with_range(text):
        start, end = offsets[place["start"]], offsets[place["end"]]
        name, value = next(iter(event.items())) if isinstance(event, dict) else (event, None)
        tag = next(iter(value)) if isinstance(value, dict) else value
        comment = name == "InlineHtml" and text.startswith("<!--", start)
        if comment or name == "Code" or (name == "Start" and tag in ("CodeBlock", "BlockQuote")):
            out.update(range(start, end))
        elif name == "Start" and tag == "HtmlBlock":
            comment_block = re.match(r"[ \t]*<!--", text[start:end])
            if comment_block:
                stop = text.find("-->", start + comment_block.end() - 2, end)
                out.update(range(start, end if stop < 0 else stop + 3))
    return out


def inked(text, offsets):
    return {offset for offset in offsets if not text[offset].isspace()}


def excluded(text, *, until=None):
    return {
        offset
        for region in segment_prompt(text)
        if not region.eligible
        for offset in range(region.start, region.end)
        if until is None or offset < until
    }


@settings(max_examples=2500, deadline=None)
@given(marked)
@example("<?>\n```")
@example("`<!A``>``~~~``")
@example("`<?``?>``a``")
@example("`<![CDATA[``]]>``a``")
@example("<!-->\n```")
def test_what_a_parser_calls_data_is_never_said(text):
    assume(not TABS.search(text))
    missed = inked(text, judged(text)) - excluded(text)
    assert not missed, (text, sorted(missed), segment_prompt(text))


@settings(max_examples=2500, deadline=None)
@given(plain)
@example("- - \n\n\n    `")
def test_what_a_parser_calls_text_is_said(text):
    assume(not TABS.search(text))
    regions = segment_prompt(text)
    # A fence that its list item leaves open takes the rest, which for the parser ends with the item.
    until = regions[-1].start if regions and regions[-1].kind == "fenced_code" else None
    judge = {offset for offset in judged(text) if until is None or offset < until}
    extra = inked(text, excluded(text, until=until)) - judge
    assert not extra, (text, sorted(extra), regions)


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.text(max_size=200), marked))
@example("\ud800`\udfff`")
@example("> \x00\n`\x85`\x0b")
def test_regions_tile_any_text_and_the_mask_keeps_its_shape(text):
    regions = segment_prompt(text)
    assert "".join(text[region.start : region.end] for region in regions) == text
    assert all(region.start < region.end for region in regions)
    assert [region.end for region in regions[:-1]] == [region.start for region in regions[1:]]
    masked = mask(text)
    assert len(masked) == len(text)
    hidden = excluded(text)
    for offset, (was, now) in enumerate(zip(text, masked, strict=True)):
        if was in "\r\n" or offset not in hidden:
            assert now == was
        else:
            assert now == " "
