"""What the torch-free embedders share: a model's own tokenizer, and texts in windows of no more than the model reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scaffale.backends.ports import EmbedderUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokenizers import Encoding, Tokenizer


def tokenizer(folder: str) -> Tokenizer:
    """The tokenizer of the model, without cutting or padding. Raises `EmbedderUnavailable`."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise EmbedderUnavailable("tokenizers is not installed", "pip install 'scaffale[onnx]' brings it") from error
    path = os.path.join(folder, "tokenizer.json")
    if not os.path.isfile(path):
        raise EmbedderUnavailable(f"{folder} holds no tokenizer.json")
    try:
        found = Tokenizer.from_file(path)
    except Exception as error:
        raise EmbedderUnavailable(f"{path} cannot be read as a tokenizer") from error
    found.no_truncation()
    found.no_padding()
    return found


def windows(encoding: Encoding, most: int) -> list[list[int]]:
    """The tokens of a text in windows of at most `most`, each between the marks of beginning and end that the whole has."""
    ids: list[int] = encoding.ids
    if len(ids) <= most or most <= 0:
        return [ids]
    special: Sequence[int] = encoding.special_tokens_mask
    first = next((at for at, mark in enumerate(special) if not mark), 0)
    last = len(special) - next((at for at, mark in enumerate(reversed(special)) if not mark), 0)
    head, body, tail = ids[:first], ids[first:last], ids[last:]
    room = max(1, most - len(head) - len(tail))
    return [[*head, *body[at : at + room], *tail] for at in range(0, len(body), room)]
