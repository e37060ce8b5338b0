"""Regions of a prompt, case by case. What CommonMark says of any text is held in tests/property/test_commonmark.py."""

import pytest

from scaffale.server.hooks import mask, segment_prompt


def excluded(text):
    """`(kind, text)` of all that is not said."""
    return [(region.kind, text[region.start : region.end]) for region in segment_prompt(text) if not region.eligible]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no markup at all", []),
        ("", []),
        ("say\n```\ncode\n```\nsay", [("fenced_code", "```\ncode\n```")]),
        ("````\n```\n````\nsay", [("fenced_code", "````\n```\n````")]),
        ("~~~ py title=x\ncode\n~~~~\nsay", [("fenced_code", "~~~ py title=x\ncode\n~~~~")]),
        ("```\n~~~\ncode", [("fenced_code", "```\n~~~\ncode")]),
        ("~~~\n```\ncode\n", [("fenced_code", "~~~\n```\ncode\n")]),
        ("``` a`b\nsay", []),
        ("say `code` say", [("inline_code", "`code`")]),
        ("say `` a ` b `` say", [("inline_code", "`` a ` b ``")]),
        ("say `code\nover lines` say", [("inline_code", "`code\nover lines`")]),
        ("say ` never closed\n\nsay `", []),
        (r"say \`not code\` say", []),
        ("> quoted\nlazy\n\nsay", [("block_quote", "> quoted\nlazy\n")]),
        ("> ```\n> code\nsay", [("block_quote", "> ```\n> code\n")]),
        ("- item\n  > quoted\n- say", [("block_quote", "> quoted\n")]),
        ("- item\n\n  ```\n  code\n  ```\n  say", [("fenced_code", "```\n  code\n  ```")]),
        ("- ```\n  never closed\n\nnot said", [("fenced_code", "```\n  never closed\n\nnot said")]),
        ("say <!-- aside --> say", [("html_comment", "<!-- aside -->")]),
        ("<!-- aside\n\nstill --> say", [("html_comment", "<!-- aside\n\nstill -->")]),
        ("say <!-- aside\n\nstill --> say", [("html_comment", "<!-- aside\n\nstill -->")]),
        ("<!-- never closed\n\nx", [("html_comment", "<!-- never closed\n\nx")]),
        ("say\n\n    indented\n\nsay", [("indented_code", "indented")]),
        ("say\n    goes on", []),
        ("> " * 20_000 + "deep\nsay" + "\n\nsay", [("block_quote", "> " * 20_000 + "deep\nsay\n")]),
        ("`" * 1_000_000, [("fenced_code", "`" * 1_000_000)]),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, str) else "",
)
def test_what_is_shown(text, expected):
    assert excluded(text) == expected


def test_offsets_count_code_points_and_the_mask_keeps_lines():
    text = "è 𝄞 `ricorda`\r\n```\r\nuno\r\ndue\r\n```\r\nfine"
    assert mask(text) == "è 𝄞          \r\n   \r\n   \r\n   \r\n   \r\nfine"
    assert [region.kind for region in segment_prompt(text)] == [
        "text", "inline_code", "text", "fenced_code", "text",
    ]  # fmt: skip


def test_a_mask_has_nothing_left_to_mask():
    text = "a `b` c\n> d\n\n```\ne\n```\nf <!-- g -->"
    assert "`" not in mask(text)
    assert mask(mask(text)) == mask(text)
