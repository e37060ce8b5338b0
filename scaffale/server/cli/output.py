"""What a command prints: JSON for programs, tables and colours on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from scaffale.server.render import plain, structured, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from scaffale.errors import ScaffaleError

BOLD, DIM, HIT, END = "\x1b[1m", "\x1b[2m", "\x1b[1;33m", "\x1b[0m"


class Output:
    """Where one command's answer goes. `rich` is imported only for a table or a bar on a terminal."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.is_terminal = not as_json and sys.stdout.isatty()

    def answer(self, answer: object, show: Callable[[Any], None]) -> None:
        """The whole answer as JSON, or `show(answer)`, then its warnings."""
        if self.as_json:
            self.json(structured(answer))
            return
        show(answer)
        for warning in dict.fromkeys(getattr(answer, "warnings", ())):
            self.note(f"warning: {warning}")

    def json(self, value: object) -> None:
        """One JSON value on stdout."""
        import json

        sys.stdout.write(json.dumps(value, ensure_ascii=not _takes_any_text(sys.stdout), indent=2) + "\n")

    def flush(self) -> None:
        """What was said so far reaches whoever reads it now."""
        sys.stdout.flush()

    def line(self, text: str = "") -> None:
        """One line on stdout. Control characters of stored text are shown, never obeyed."""
        _write(sys.stdout, visible(text) + "\n")

    def now(self, text: str) -> None:
        """One line on stdout that is there at once, from a command that goes on."""
        self.line(text)
        sys.stdout.flush()

    def hit(self, head: str, place: str, snippet: str) -> None:
        """A search result: what it is, where it stands, and the excerpt with its matches."""
        if self.is_terminal:
            marked = visible(snippet).replace(">>>", HIT).replace("<<<", END)
            _write(sys.stdout, f"{BOLD}{visible(head)}{END}\n{DIM}{visible(place)}{END}\n    {marked}\n\n")
        else:
            self.line(f"{head}\n{place}\n    {snippet}\n")

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Rows under headings; in a pipe tab-separated, without the headings."""
        if not rows:
            self.note("there is none")
            return
        if not self.is_terminal:
            for row in rows:
                self.line("\t".join("" if cell is None else str(cell) for cell in row))
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, header_style="bold", pad_edge=False)
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for row in rows:
            table.add_row(*(Text("" if cell is None else visible(str(cell))) for cell in row))
        Console().print(table)

    def note(self, text: str) -> None:
        """One line on stderr."""
        _write(sys.stderr, visible(text) + "\n")

    def error(self, error: ScaffaleError) -> None:
        """What was wrong, where, and what to do."""
        if self.as_json:
            self.json(refusal(error))
        else:
            self.note(f"scaffale: {error.detail} [{error.code}]")

    def progress(self, what: str = "reading", unit: str = "files") -> Progress:
        """A bar with rate and time left on a terminal; nothing elsewhere."""
        return Progress(what, unit, shown=not self.as_json and sys.stderr.isatty())


class Progress:
    """`with output.progress() as progress:` gives the callback that long verbs take."""

    def __init__(self, what: str, unit: str, *, shown: bool) -> None:
        self._what = what
        self._unit = unit
        self._shown = shown
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Callable[[int, int, str], None] | None:
        if not self._shown:
            return None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._what, total=None, rate="")
        self._bar.start()
        return self._report

    def _report(self, done: int, total: int, path: str) -> None:
        speed = self._bar.tasks[0].speed
        self._bar.update(self._task, completed=done, total=total, rate=f"{speed:.0f} {self._unit}/s" if speed else "")

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def refusal(error: ScaffaleError) -> dict[str, Any]:
    """An error as data."""
    answer = {"ok": False, "error_code": error.code, "detail": plain(error.detail)}
    if error.project_id is not None:
        answer["project_id"] = error.project_id
    return answer


def _write(stream: TextIO, text: str) -> None:
    """Write what the stream can show, and `?` for the rest."""
    if not _takes_any_text(stream):
        encoding = stream.encoding or "ascii"
        text = text.encode(encoding, "replace").decode(encoding)
    stream.write(text)


def _takes_any_text(stream: TextIO) -> bool:
    return (stream.encoding or "utf-8").lower().replace("-", "") == "utf8"
