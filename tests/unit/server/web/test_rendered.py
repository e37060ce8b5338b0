"""Stored Markdown can do nothing on the page, and stays readable."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale.server.web.markdown import ATTRIBUTES, TAGS, html

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![a](https://evil.example/beacon.png)",
    "![a](javascript:alert(1))",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](data:text/html,<script>alert(1)</script>)",
    "[a](vbscript:x)",
    "<a href='java\tscript:alert(1)'>a</a>",
    "<form action=https://evil.example><input name=q><button>go</button></form>",
    "<iframe src=https://evil.example></iframe>",
    "<svg onload=alert(1)><script>1</script></svg>",
    "<style>@import 'https://evil.example'</style>",
    "<p style='background:url(https://evil.example)'>x</p>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example>",
    "<link rel=stylesheet href=https://evil.example>",
    "<object data=x></object><embed src=x>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "# heading {onclick=alert(1) .x #pass}",
    "<h1 id=pass name=pass>x</h1>",
    "<a id=search name=q>x</a>",
    "<p class=problem role=alert data-from=x>x</p>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video src=x poster=https://evil.example></video><audio src=x>",
    "<textarea></div></textarea></div></article><script>1</script>",
    "<img alt='a>b' src='https://evil.example/x.png'>",
    "<IMG SRC=https://evil.example/x.png>",
    "<img\nsrc=https://evil.example/x.png\n>",
]
ELEMENT = re.compile(r"<\s*([a-z][\w-]*)([^>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*"([^"]*)\"""")


def harmless(made: str) -> None:
    for name, attributes in ELEMENT.findall(made):
        assert name in TAGS, name
        for attribute, value in ATTRIBUTE.findall(attributes):
            assert attribute in ATTRIBUTES.get(name, set()) | {"rel"}, (name, attribute)
            if attribute == "href":
                assert value.startswith(("http://", "https://", "mailto:", "/to?reference=")), value
            if attribute == "id":
                assert re.fullmatch(r"L\d+", value), value
        assert not re.sub(ATTRIBUTE, "", attributes).strip(" /"), attributes
    rest = re.sub(ELEMENT, "", re.sub(r"</[a-z]\w*>", "", made))
    assert "<" not in rest


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_harmless(text):
    harmless(html(text, follow="/to"))
    harmless(html(f"a {text} b\n\n> - {text}\n", follow="/to"))


@given(st.lists(st.sampled_from([*HOSTILE, "\n", "\n\n", "> ", "- ", "`", "```\n", "# ", "x", "|", "\t", "&lt;", "<", ">", '"'])))
def test_whatever_is_put_together_is_harmless(parts):
    harmless(html("".join(parts), follow="/to"))


@given(st.text())
def test_any_text_is_shown(text):
    harmless(html(text))


def test_headings_bear_their_lines():
    text = "# One\n\npara\n\nTwo\n===\n\n## Three ##\n\n> ## in a quote\n\n```\n# no heading\n```\n\n### é *x* `y`\n"
    made = html(text)
    found = re.findall(r'<h(\d) id="L(\d+)">', made)
    assert found == [("1", "1"), ("1", "5"), ("2", "8"), ("2", "10"), ("3", "16")]
    assert "# no heading" in made
    assert "{#L" not in made
    shifted = re.findall(r'id="L(\d+)"', html(text, first_line=101))
    assert shifted == ["101", "105", "108", "110", "116"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_count_alike_however_they_end(end):
    assert re.findall(r'id="L(\d+)"', html(end.join(["# a", "", "b", "-", "", "## c", ""]))) == ["1", "3", "6"]


def test_front_matter_is_not_text():
    made = html("---\ntitle: x\ntags: [a]\n---\n\n# Head\n")
    assert "tags" not in made
    assert '<h1 id="L6">Head</h1>' in made


def test_images_are_links_with_their_words():
    made = html("![a plan](https://example.org/plan.png)")
    assert '<a href="https://example.org/plan.png" rel="noopener noreferrer nofollow">[a plan]</a>' in made
    assert "<img" not in made


def test_relative_links_are_followed_by_the_page_or_lead_nowhere():
    assert 'href="/to?reference=../a%2520b.md%23c"' in html("[x](<../a b.md#c>)", follow="/to")
    assert "href" not in html("[x](../a.md)")
    assert "href" not in html("[x](#there)", follow="/to")
    assert "href" not in html("[x](//evil.example/a)", follow="/to")


def test_what_is_common_is_kept():
    made = html(
        "- [x] done\n- [ ] open\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```python\nx < y\n```\n\n~~old~~ text[^1]\n\n[^1]: note\n"
    )
    assert "\u2611 done" in made
    assert "\u2610 open" in made
    assert "<table>" in made
    assert '<code class="language-python">x &lt; y' in made
    assert "<del>old</del>" in made
    assert "note" in made


def test_a_long_text_of_nothing_but_headings_is_shown_in_one_go():
    made = html("".join(f"# Heading {n}\n\n" for n in range(10_000)))
    assert made.count("<h1") == 10_000
    assert 'id="L19999"' in made


def test_right_to_left_and_combining_text_stay_as_they_are():
    text = "\u05e9\u05dc\u05d5\u05dd e\u0301\u0301 \u0645\u0631\u062d\u0628\u0627"
    assert text in html(text)
