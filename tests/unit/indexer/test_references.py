"""What a text leads to, and which document that is."""

from __future__ import annotations

import pytest

from scaffale.indexer.references import Map, Target

PATHS = ("a/start.md", "a/My Guide.md", "a/deep/index.md", "b/setup.md", "c/setup.md", "b/only.markdown", "a/api(v2).md")
TARGETS = [Target(n, 1, f"/root/{path}", "/root/", path.split("/")[-1][:-3].title()) for n, path in enumerate(PATHS)]
TARGETS.append(Target(99, 2, "/other/only.markdown", "/other/", "Elsewhere", ("The other one",)))


def found(text, source=0):
    return Map(TARGETS).references(TARGETS[source], text)


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("[g](My%20Guide.md)", 1), ("[g](<My Guide.md>)", 1), ("[g](./My%20Guide.md#part \"title\")", 1),
        ("[d](deep/)", 2), ("[d](deep)", 2), ("[s](../b/setup.md)", 3), ("[s](/c/setup.md)", 4), ("[s](../b/setup)", 3),
        ("[x][r]\n\n[r]: ../b/setup.md\n", 3), ("[[My Guide]]", 1), ("[[my guide|that]]", 1), ("[[My Guide#part]]", 1),
        ("[[The other one]]", 99), ("see `b/setup.md` there", 3), ("read only.markdown first", 5), ("[v](api(v2).md)", 6),
        ("[moved](old/place/only.markdown)", 5), ("<a href=\"../b/setup.md\">s</a>", 3), ("[w](..\\b\\setup.md)", 3),
        ("![picture](x.png) [g](my%20guide.MD)", 1),
    ],
)  # fmt: skip
def test_references_of_every_kind_are_resolved(text, id):
    assert found(text) == ((id,), ())


@pytest.mark.parametrize(
    "text",
    ["[web](https://example.org/b/setup.md)", "[mail](mailto:a@b.c)", "[self](start.md#x)", "[here](#anchor)", "[no](none.md)",
     "[]()", "[[]]", "[up](../../../../../x)", "```\n[s](../b/only)\n```\n", "`[s](../b/only)`", "[nul](%00.md)"],
)  # fmt: skip
def test_what_leads_nowhere_is_left_out(text):
    assert found(text) == ((), ())


def test_several_that_fit_are_ambiguous_and_the_own_shelf_goes_first():
    assert found("[s](gone/setup.md)") == ((), ("gone/setup.md",))
    assert found("only.markdown", source=7) == ((), ())  # itself
    assert found("[x](sub/only.markdown)", source=3) == ((5,), ())
