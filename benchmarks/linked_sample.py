"""A small collection of our own for the gate: made pages of four fields, each with the pages that its author would name.

What a page names stands in no text, so it has to be found from words, names and an index page. The same on every machine.
"""

from __future__ import annotations

import random

FIELDS = {
    "storage": "disk volume snapshot mount partition quota inode replica",
    "network": "packet route gateway subnet latency firewall proxy tunnel",
    "billing": "invoice ledger refund payment tariff discount receipt credit",
    "garden": "tulip compost seed trellis pruning mulch harvest greenhouse",
}
VERBS = "check restore create remove list move".split()
COMMON = "the page says what to do when a step fails and whom to ask about it before trying again".split()


def documents() -> tuple[list[dict[str, object]], dict[str, set[str]]]:
    """The pages as `links` reads them, and for each page those that are to be found from it."""
    chance = random.Random(7)
    pages: list[dict[str, object]] = []
    wanted: dict[str, set[str]] = {}
    for field, said in FIELDS.items():
        nouns = said.split()
        for noun in nouns:
            for verb in VERBS:
                id = f"{field}/{verb}-{noun}.md"
                others = [word for word in nouns if word != noun]
                text = [verb, noun, *chance.choices(COMMON, k=40), *[noun] * 3, *chance.choices(others, k=6)]
                chance.shuffle(text)
                pages.append(_page(id, f"{verb} {noun}", " ".join(text), []))
                wanted[id] = {f"{field}/{each}-{noun}.md" for each in VERBS if each != verb} | {f"{field}/index.md"}
        inside = [str(page["id"]) for page in pages if str(page["id"]).startswith(f"{field}/")]
        pages.append(_page(f"{field}/index.md", f"{field} guide", f"All about {field}: {' '.join(nouns)}.", inside))
    return pages, wanted


def _page(id: str, title: str, body: str, links: list[str]) -> dict[str, object]:
    text = f"# {title}\n\n{body}\n"
    return {"id": id, "path": id, "title": title, "headings": [], "tags": [], "inline_links": links, "body": text,
            "body_nolinks": text}  # fmt: skip
