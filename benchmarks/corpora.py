"""Texts to measure with. Deterministic, and made on the spot, so that a fresh clone needs nothing.

`real` prose and code come from the docstrings of the standard library that runs the benchmark; `sections` edits them into
any number of distinct sections: sentences dropped and mixed, numbers changed, identifiers renamed every few documents, so
that vocabulary keeps growing as it does in real projects. `Corpus.note` says what it was made of.
"""

from __future__ import annotations

import ast
import os
import random
import re
import sysconfig
from functools import cache
from typing import NamedTuple

SEED = 7
_IDENTIFIER = re.compile(r"\b[A-Za-z]+_[A-Za-z_0-9]+|\b[a-z]+[A-Z][A-Za-z0-9]*")
_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class Piece(NamedTuple):
    """A section: the document it belongs to, its heading, its text."""

    document: int
    title: str
    heading: str
    text: str


@cache
def real() -> tuple[tuple[str, str], ...]:
    """`(name, docstring)` of modules, classes and functions of the standard library, 80 to 4,000 characters each."""
    found: dict[str, str] = {}
    root = sysconfig.get_paths()["stdlib"]
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in ("test", "tests", "site-packages", "idlelib", "__pycache__"))
        for name in sorted(names):
            if not name.endswith(".py"):
                continue
            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8") as file:
                    tree = ast.parse(file.read())
            except (OSError, SyntaxError, UnicodeDecodeError):
                continue
            module = os.path.relpath(path, root)[:-3].replace(os.sep, ".")
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    text = ast.get_docstring(node)
                    if text and 80 <= len(text) <= 4_000:
                        found.setdefault(text, f"{module}.{getattr(node, 'name', '')}".rstrip("."))
    return tuple((name, text) for text, name in found.items())


def sections(count: int, seed: int = SEED) -> list[Piece]:
    """`count` distinct sections in documents of about eight."""
    rng = random.Random(seed)
    pool = real()
    made: list[Piece] = []
    document = 0
    while len(made) < count:
        title = pool[rng.randrange(len(pool))][0]
        for _ in range(rng.randint(3, 13)):
            name, text = pool[rng.randrange(len(pool))]
            other = pool[rng.randrange(len(pool))][1]
            made.append(Piece(document, f"{title} {document}", name, _edited(rng, text, other, document // 25)))
        document += 1
    return made[:count]


def queries(pieces: list[Piece], count: int, words: int, seed: int = SEED) -> list[str]:
    """Queries of `words` words, each drawn from one section, so that some section holds them all."""
    rng = random.Random(seed)
    asked: list[str] = []
    while len(asked) < count:
        pool = sorted(set(_WORD.findall(pieces[rng.randrange(len(pieces))].text.lower())) - _COMMON)
        if len(pool) >= words:
            asked.append(" ".join(rng.sample(pool, words)))
    return asked


_COMMON = frozenset("that this with from have which when then they will would should could been were their there".split())


def _edited(rng: random.Random, text: str, other: str, suffix: int) -> str:
    paragraphs = []
    for paragraph in text.split("\n\n"):
        sentences = _SENTENCE.split(paragraph)
        if len(sentences) > 2:
            sentences = [each for each in sentences if rng.random() > 0.15] or sentences[:1]
            if rng.random() < 0.3:
                rng.shuffle(sentences)
        paragraphs.append(" ".join(sentences))
    if rng.random() < 0.5:
        paragraphs.insert(rng.randrange(len(paragraphs) + 1), rng.choice(other.split("\n\n"))[:800])
    edited = re.sub(r"\b\d{2,}\b", lambda m: str(rng.randrange(10 ** min(len(m[0]), 9))), "\n\n".join(paragraphs))
    renamed: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        word = match[0]
        if word not in renamed:
            renamed[word] = f"{word}_p{suffix}" if rng.random() < 0.3 else word
        return renamed[word]

    return _IDENTIFIER.sub(rename, edited)
