"""The checklist of a review: all preselected, keys change verdicts, and the code is of the very texts and verdicts."""

from __future__ import annotations

import pytest

from scaffale.answers.ledger import Near, Waiting
from scaffale.server.cli.checklist import KEYS, SHOWN_LINES, Checklist


def near(number):
    title, text = f"Near {number}", f"text of near {number}"
    return Near(f"mem-000{number}", f"e{number}", title, text, None, 0.75, number == 2, f"n{number}")


def waiting(number, lines=2, similar=()):
    text = "\n".join(f"line {line} of {number}" for line in range(lines))
    return Waiting(f"concept/s/{number}", "concept", f"Concept\n{number}", text, f"d{number}", "session s", similar)


def page(**second):
    return [waiting(1), waiting(2, **second), waiting(3)]


def pressed(keys, items=None):
    checklist = Checklist(items or page())
    for key in keys:
        checklist.key(key)
    return checklist


def verdicts(checklist):
    return [(each.waiting.id[-1], each.verdict, each.into and each.into.display_id) for each in checklist.verdicts()]


def test_all_are_preselected_and_nothing_is_decided_before_enter():
    checklist = pressed([])
    assert verdicts(checklist) == [("1", "accept", None), ("2", "accept", None), ("3", "accept", None)]
    assert checklist.done is None
    assert pressed(["enter"]).done is True
    assert pressed(["q"]).done is False


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([" "], "decline accept accept"),
        ([" ", " "], "accept accept accept"),
        (["j", " ", "down", " ", "j", "j", " "], "accept decline accept"),
        (["k", "up", " "], "decline accept accept"),
        (["j", "l"], "accept accept"),
        (["l", "j", "l", "j", "l"], ""),
        (["l", " "], "accept accept accept"),
        (["x", "", "\x00", "7"], "accept accept accept"),
        (["m"], "accept accept accept"),
    ],
)
def test_keys_change_the_verdict_of_one(keys, expected):
    assert " ".join(each.verdict for each in pressed(keys).verdicts()) == expected


def test_merging_goes_through_what_stands_beside_and_back():
    items = page(similar=(near(1), near(2)))
    assert verdicts(pressed(["j", "m"], items))[1] == ("2", "merge", "mem-0001")
    assert verdicts(pressed(["j", "m", "m"], items))[1] == ("2", "merge", "mem-0002")
    assert verdicts(pressed(["j", "m", "m", "m"], items))[1] == ("2", "accept", None)
    assert verdicts(pressed(["j", "m", " "], items))[1] == ("2", "accept", None)


def test_details_show_the_whole_text_and_what_stands_beside():
    items = page(lines=SHOWN_LINES + 3, similar=(near(1), near(2)))
    closed = "\n".join(Checklist(items).lines())
    assert ("3 more lines: d opens them" in closed, f"line {SHOWN_LINES} of 2" in closed) == (True, False)
    assert "beside it mem-0001 (75% alike): Near 1" in closed
    assert "beside it mem-0002 (cited, 75% alike): Near 2" in closed
    opened = "\n".join(pressed(["j", "d"], items).lines())
    assert f"line {SHOWN_LINES + 2} of 2" in opened
    assert "text of near 1" in opened
    assert "\n".join(pressed(["j", "d", "d"], items).lines()).count("d opens them") == 1
    assert "1. Concept 1" in closed
    merged = "\n".join(pressed(["j", "m"], items).lines())
    assert ("merge into mem-0001" in merged, "text of near 1" in merged, "text of near 2" in merged) == (True, True, False)


def test_what_is_accepted_is_shown_whole_before_the_code():
    items = [waiting(1, SHOWN_LINES + 1), waiting(2, SHOWN_LINES + 1), waiting(3, SHOWN_LINES), waiting(4, SHOWN_LINES + 1)]
    text = "\n".join(pressed(["d", "j", "j", "j", " "], items).unread())
    assert [f"line {SHOWN_LINES} of {number}" in text for number in (1, 2, 3, 4)] == [False, True, False, False]


def test_the_code_is_of_every_text_and_every_verdict():
    items = page(similar=(near(1), near(2)))
    codes = {Checklist(items).code()}
    for keys in ([" "], ["l"], ["j", " "], ["j", "m"], ["j", "m", "m"]):
        codes.add(pressed(keys, items).code())
    codes.add(Checklist([items[0]._replace(digest="other"), *items[1:]]).code())
    codes.add(Checklist([items[0]._replace(id="concept/t/1"), *items[1:]]).code())
    codes.add(pressed(["j", "m"], page(similar=(near(1)._replace(digest="other"),))).code())
    assert len(codes) == 9
    assert Checklist(items).code() == pressed(["j", "d", "x"], items).code()


def test_every_key_is_told():
    assert all(f"{key} " in KEYS for key in ("space", "d", "m", "l", "Enter", "q"))
