"""`python -m benchmarks literals`: whoever asks for an exact text gets a document that holds it first.

Each case is a literal text in a sentence of one document, among documents that come near: a similar text in its place,
its parts apart, its parts in a title. All cases share one shelf. The texts stand in `samples/literals.jsonl`; the
sentences around them here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.measure import Figure
from scaffale import settings as settings_module
from scaffale.docs import Docs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "samples", "literals.jsonl")
ENGINES = ("tantivy", "fts5", "like")

SENTENCES = {
    "en": {
        "name": ("The call to {} returns before the cache is filled.", "Since spring {} is no longer public."),
        "code": ("The log ended with {} and nothing else.", "We saw {} twice after the update."),
        "path": ("Everything is written below {} during the night.", "Look at {} before asking."),
        "version": ("It was fixed in {} for good.", "The table says {} in the third column."),
        "flag": ("Add {} when the machine is slow.", "The script ends with {} on the last line."),
        "symbol": ("Half of the team prefers {} here.", "The page about {} is out of date."),
        "query": ("He typed {} into the box at the top.", "The example reads {} without a comment."),
        "word": ("On the board somebody wrote {} in blue.", "The label {} is too long for the button."),
    },
    "it": {
        "name": ("La funzione {} viene chiamata due volte.", "Da marzo {} non si usa quasi mai."),
        "code": ("Il registro finiva con {} e basta.", "Abbiamo visto {} dopo la modifica."),
        "path": ("Di notte si scrive tutto sotto {} senza avvisi.", "Guardate {} prima di chiedere."),
        "version": ("La tabella riporta {} nella terza colonna.", "Il difetto si vede con {} soltanto."),
        "flag": ("Si aggiunge {} quando la macchina rallenta.", "Lo script termina con {} in fondo."),
        "word": ("Sulla lavagna qualcuno ha scritto {} in blu.", "Il cartello dice {} in grande."),
    },
}
FILLERS = {
    "en": (
        "The meeting took longer than planned.", "Nobody remembers who decided that.", "Ask again next week.",
        "It works on the second floor, too.", "There is coffee in the kitchen.",
    ),
    "it": (
        "La riunione è durata più del previsto.", "Nessuno ricorda chi lo abbia deciso.", "Chiedete la settimana prossima.",
        "Funziona anche al secondo piano.", "Il caffè si trova in cucina.",
    ),
}  # fmt: skip
TITLES = {"en": ("Notes of the week", "Things to know"), "it": ("Appunti della settimana", "Cose da sapere")}
AND = {"en": "and", "it": "e"}


class Case(NamedTuple):
    """A literal text, what is asked to find it (mostly the same), and texts that come near."""

    literal: str
    query: str
    language: str
    kind: str
    near: tuple[str, ...]


class Told(NamedTuple):
    """A document. `role` says what it is to its case: `literal`, `near`, `apart` or `title`."""

    role: str
    text: str


class Miss(NamedTuple):
    """A case whose first hit, `first`, does not hold the literal. `rank` is where one does, `None` for nowhere."""

    case: Case
    rank: int | None
    first: Told


def main(argv: Sequence[str]) -> int:
    """Ask every case of every engine and print the share that holds, and each miss."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks literals", description=__doc__)
    parser.add_argument("--engine", action="append", choices=ENGINES, help="repeatable (default: all)")
    asked = parser.parse_args(argv)
    every = cases()
    with tempfile.TemporaryDirectory(prefix="scaffale-literals-") as folder:
        for engine, misses in missed(every, folder, asked.engine or ENGINES):
            print(f"\n{engine}: {len(every) - len(misses)} of {len(every)} first ({1 - len(misses) / len(every):.1%})")
            print("  held, by kind: ", _shares((case.kind for case in every), (miss.case.kind for miss in misses)))
            print("  missed, by what came first: ", _counts(miss.first.role for miss in misses))
            for miss in misses:
                asked_as = "" if miss.case.query == miss.case.literal else f" (asked as {miss.case.query})"
                rank = f"rank {miss.rank}" if miss.rank else "not found"
                first = " ".join(miss.first.text.split())[:90]
                print(f"  {miss.case.kind:<8} {miss.case.literal}{asked_as}: {rank}; {miss.first.role}: {first}")
    return 0


def _shares(every: Iterable[str], missed: Iterable[str]) -> str:
    lost = Counter(missed)
    return ", ".join(f"{kind} {count - lost[kind]}/{count}" for kind, count in Counter(every).items())


def _counts(roles: Iterable[str]) -> str:
    return ", ".join(f"{role} {count}" for role, count in Counter(roles).most_common()) or "none"


def figures(folder: str, size: int) -> Iterator[Figure]:
    """The share of the cases that hold, for the gate."""
    every = cases()
    for engine, misses in missed(every, folder, ENGINES):
        share = 1 - len(misses) / len(every)
        yield Figure(
            f"literals, {engine}: share first", share, 1.0, at_most=False, slack=0.0,
            arms=f"{len(every)} cases, missed: {' · '.join(miss.case.literal for miss in misses[:8])}" if misses else "",
        )  # fmt: skip


def cases() -> list[Case]:
    """All cases, in the order of the file."""
    with open(CASES, encoding="utf-8") as file:
        said = [json.loads(line) for line in file]
    return [
        Case(each["literal"], each.get("query", each["literal"]), each["language"], each["kind"], tuple(each["near"]))
        for each in said
    ]


def missed(every: Sequence[Case], folder: str, engines: Sequence[str]) -> Iterator[tuple[str, list[Miss]]]:
    """For each engine the cases that it misses, all cases on one shelf."""
    texts = _written(every, os.path.join(os.path.realpath(folder), "texts"))
    for engine in engines:
        environ = {"HOME": folder, "DOCS_LEXICAL_BACKEND": engine}
        with Docs(settings_module.load(environ, folder)) as docs:
            docs.scan_folder(folder_path=os.path.join(folder, "texts"), shelf="literals")
            yield engine, [miss for case in every if (miss := _asked(docs, case, texts))]


def _asked(docs: Docs, case: Case, texts: Mapping[str, Told]) -> Miss | None:
    found = [texts[hit.file_path] for hit in docs.search(query=case.query, limit=20).results]
    rank = next((rank for rank, told in enumerate(found, 1) if holds(told.text, case.literal)), None)
    return None if rank == 1 else Miss(case, rank, found[0] if found else Told("nothing", ""))


def holds(text: str, literal: str) -> bool:
    """Whether the text holds the literal, in whatever case, and not as a part of longer words or numbers."""
    before = r"(?<![^\W_])" if _joins(literal[0]) else ""
    after = r"(?![^\W_])" if _joins(literal[-1]) else ""
    return re.search(before + re.escape(literal.casefold()) + after, text.casefold()) is not None


def _joins(character: str) -> bool:
    """Whether a letter or digit beside it would make another word of it, as in scripts with spaces."""
    return character.isdigit() or character.lower() != character.upper()


# --- documents ---------------------------------------------------------------------------------------------------------


def documents(case: Case, number: int) -> list[Told]:
    """The document that holds the literal, last, after those that come near."""
    fill = _filler(case.language, number)
    sentences = SENTENCES[case.language][case.kind]
    title = TITLES[case.language][number % 2]

    def with_text(text: str, shift: int) -> str:
        return _document(title, fill[shift], sentences[(number + shift) % 2].format(text), fill[shift + 1])

    made = [Told("near", with_text(near, shift % 3)) for shift, near in enumerate(case.near)]
    parts = _parts(case.literal)
    if parts:
        apart = [sentences[shift % 2].format(part) for shift, part in enumerate(reversed(parts))]
        made.append(Told("apart", _document(title, *apart, fill[0], *apart)))
        made.append(Told("title", _document(f" {AND[case.language]} ".join(parts), *apart, fill[1])))
    made = [told for told in made if not holds(told.text, case.literal)]
    return [*made, Told("literal", with_text(case.literal, 2))]


def _document(title: str, *sentences: str) -> str:
    return f"# {title}\n\n{' '.join(sentences)}\n"


def _filler(language: str, number: int) -> list[str]:
    fillers = FILLERS[language]
    return [fillers[(number + step) % len(fillers)] for step in range(len(fillers))]


def _parts(literal: str) -> list[str]:
    """Runs of letters and digits, the parts of camelCase, the signs of scripts without spaces: each once."""
    runs = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", literal) if literal.isascii() else re.findall(r"[^\W_]+", literal)
    if runs == [literal] and literal.lower() == literal.upper():
        runs = list(literal)
    return list(dict.fromkeys(runs))


def _written(every: Sequence[Case], folder: str) -> dict[str, Told]:
    """Files under names that hold no word of any case, all of one time. Returns documents by path."""
    texts = {}
    for number, case in enumerate(every):
        for which, told in enumerate(documents(case, number)):
            path = os.path.join(folder, f"zq{_letters(number)}", f"zw{_letters(which)}.md")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(told.text)
            os.utime(path, (1_700_000_000, 1_700_000_000))
            texts[path] = told
    return texts


def _letters(number: int) -> str:
    return chr(ord("a") + number // 26) + chr(ord("a") + number % 26)

