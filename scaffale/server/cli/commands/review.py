"""`scaffale review`: a person reads what waits, and decides. It takes a terminal and a typed code; no flag stands for them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scaffale.errors import InvalidParam, ScaffaleError
from scaffale.server.cli.commands import DONE, PARTLY, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.answers.ledger import Review
    from scaffale.memory import Memory
    from scaffale.server.cli.checklist import Checklist
    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace

CLEAR = "\x1b[2J\x1b[H"


def review_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="the concepts of this session (default: everything that waits in the project)")
    parser.add_argument("--page-size", type=shared.at_least(1), default=5, help="how many at a time (default: 5)")
    shared.project_arguments(parser, cross=False)


def review(arguments: Arguments, output: Output) -> int:
    where = shared.project(arguments)
    passed = decided = failed = 0
    seen: set[str] = set()
    with shared.open_memory() as memory:
        while True:
            page = memory.review(session_id=arguments.session, limit=arguments.page_size, offset=passed, **where)
            if again := sum(each.id in seen for each in page.waiting):  # they were left, and stand before what is new
                passed += again
                continue
            if not page.waiting:
                break
            seen |= {each.id for each in page.waiting}
            if output.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
                raise InvalidParam(
                    f"{page.total} wait, and a review takes a person on a terminal; `scaffale ledger candidates` and"
                    " `scaffale memory proposals` list them"
                )
            checklist = _checked(page, passed, output)
            if not checklist.done:
                output.note("nothing of this page was decided")
                break
            good, bad = _decided(memory, checklist, where, output)
            decided, failed = decided + good, failed + bad
    if output.as_json:
        output.json({"ok": True, "project_id": page.project_id, "total": 0, "warnings": list(page.warnings)})
    else:
        _tell(page, decided, passed, output)
    return PARTLY if failed else DONE


def _checked(page: Review, passed: int, output: Output) -> Checklist:
    """The page with the verdicts of a person, who has typed its code; not `done` when they left, or typed another."""
    from scaffale.server.cli.checklist import KEYS, Checklist

    checklist = Checklist(page.waiting)
    with _Keys() as keys:
        while checklist.done is None:
            sys.stdout.write(CLEAR)
            output.line(f"{page.total - passed} wait in {page.project_id}\n")
            for line in checklist.lines():
                output.line(line)
            output.line(KEYS)
            sys.stdout.flush()
            checklist.key(keys.next())
    verdicts = checklist.verdicts()
    if not (checklist.done and verdicts):
        return checklist
    for line in checklist.unread():
        output.line(line)
    for each in verdicts:
        into = f" into {each.into.display_id}" if each.into else ""
        output.line(f"{each.verdict}{into}: {' '.join(each.waiting.title.split())}")
    output.note(f"type {checklist.code()} to decide so; anything else changes nothing")
    if sys.stdin.readline().strip() != checklist.code():
        output.note("that is not the code")
        checklist.done = False
    return checklist


def _decided(memory: Memory, checklist: Checklist, where: dict[str, Any], output: Output) -> tuple[int, int]:
    """Decide; how many were, and how many could not be. One that is refused does not hold the others back."""
    good = bad = 0
    for each in checklist.verdicts():
        into = {"into": each.into.display_id, "into_digest": each.into.digest} if each.into else {}
        try:
            done = memory.decide(
                id=each.waiting.id, verdict=each.verdict, digest=each.waiting.digest, actor=shared.login(), **into, **where
            )
        except ScaffaleError as error:
            bad += 1
            output.note(f"{each.waiting.id}: {error.detail} [{error.code}]")
            continue
        good += 1
        output.line(f"{done.display_id or done.entry_id or 'declined'}  {' '.join(each.waiting.title.split())}")
        for warning in done.warnings:
            output.note(f"warning: {warning}")
    return good, bad


def _tell(page: Review, decided: int, passed: int, output: Output) -> None:
    for each in page.left_out:
        output.note(f"not shown: seq {each.seq} {' '.join(each.subject.split())}: {each.reason}")
    for warning in page.warnings:
        output.note(f"warning: {warning}")
    if not decided and not passed:
        output.note("nothing waits: the review is closed" if not page.total else f"{page.total} wait")
    else:
        output.note(f"{decided} decided, {max(page.total, passed)} wait")


class _Keys:
    """`with _Keys() as keys:` gives keys one by one, without an Enter after each."""

    def __enter__(self) -> _Keys:
        if sys.platform != "win32":
            import termios
            import tty

            self._descriptor = sys.stdin.fileno()
            self._mode = termios.tcgetattr(self._descriptor)
            tty.setcbreak(self._descriptor)
        return self

    def __exit__(self, *error: object) -> None:
        if sys.platform != "win32":
            import termios

            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._mode)

    def next(self) -> str:
        """The next key: a character, or `up`, `down`, `enter`."""
        if sys.platform == "win32":
            import msvcrt

            key = msvcrt.getwch()
            if key in ("\x00", "\xe0"):
                return {"H": "up", "P": "down"}.get(msvcrt.getwch(), "")
        else:
            import os

            data = os.read(self._descriptor, 1)
            if data == b"\x1b":  # an arrow comes as one piece
                return {b"[A": "up", b"[B": "down", b"OA": "up", b"OB": "down"}.get(os.read(self._descriptor, 2), "")
            key = data.decode("latin-1") if data else "q"  # the other end is gone
        return "enter" if key in ("\r", "\n") else "q" if key in ("\x03", "\x04") else key
