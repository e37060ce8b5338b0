"""What an answer costs a model to read, in tokens, without a tokenizer at hand.

Tokenizers differ. English prose has about four bytes to a token, identifiers, ids and JSON nearer to three: three is
counted, so that an answer stays below its budget with any of them.
"""

from __future__ import annotations

BYTES_PER_TOKEN = 3
TOKENS_PER_FIELD = 4  # its name and its punctuation


def cost(values: tuple[object, ...]) -> int:
    """About how many tokens the fields of a result take; absent ones take none."""
    total = 0
    for value in values:
        if value not in (None, (), ""):
            total += TOKENS_PER_FIELD + len(str(value).encode("utf-8", "replace")) // BYTES_PER_TOKEN
    return total


def cut(text: str, tokens: int) -> str:
    """The beginning of the text that fits into so many tokens, at a line or word end where one is near."""
    data = text.encode("utf-8", "surrogatepass")[: max(1, tokens) * BYTES_PER_TOKEN]
    short = data.decode("utf-8", "ignore") or text[:1]
    if len(short) >= len(text):
        return text
    end = max(short.rfind("\n") + 1, short.rfind(" ") + 1)
    return short[:end] if end > len(short) // 2 else short
