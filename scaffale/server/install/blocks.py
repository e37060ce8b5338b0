"""A marked block in a Markdown file that is somebody else's. Pure."""

from __future__ import annotations

BEGIN, END = "<!-- scaffale:begin -->", "<!-- scaffale:end -->"


class Ambiguous(ValueError):
    """The marks do not pair. `str(error)` says how."""


def parse(text: str) -> str | None:
    """What stands between the marks, or None when there is no block."""
    begins, ends = text.count(BEGIN), text.count(END)
    if begins == ends == 0:
        return None
    at = text.find(BEGIN)
    if begins != 1 or ends != 1 or text.find(END) < at:
        raise Ambiguous(f"the marks {BEGIN} and {END} do not pair")
    return text[at + len(BEGIN) : text.find(END)].strip("\n")


def put(text: str, block: str) -> str:
    """The text with this block: in the place of the old one, else at the end."""
    whole = f"{BEGIN}\n{block}\n{END}"
    if parse(text) is None:
        return (text.rstrip("\n") + "\n\n" if text.strip() else "") + whole + "\n"
    return text[: text.find(BEGIN)] + whole + text[text.find(END) + len(END) :]


def remove(text: str) -> str:
    """The text without the block."""
    if parse(text) is None:
        return text
    before, after = text[: text.find(BEGIN)].rstrip("\n"), text[text.find(END) + len(END) :].lstrip("\n")
    return (before + "\n" if before else "") + (f"\n{after}" if before and after else after)
