"""The one normaliser and the one query parser, for every engine, for the tail and for snippets. Pure.

The heavy work (splitting, case, accents, English stems) is done by the engines' own analyzers, several times faster than
Python could. What they would lose is prepared here: symbols such as `C++`, the parts of `getUserById`, scripts without
spaces, Italian stems.
A query is words, OR-ed. Nothing in it is engine syntax: an engine analyses each term with the analyzer of its index and
quotes the result, so every string is a valid query.
"""

import re
from functools import cache, lru_cache
from typing import Any, NamedTuple

MAX_QUERY_CHARS = 4_000
MAX_QUERY_TERMS = 32
MAX_LITERAL_WORDS = 6
MAX_BODY_CHARS = 100_000  # of one passage; a longer line than that is no prose
PART_WEIGHT = 0.4

_SYMBOLS = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}
SYMBOLS = frozenset(_SYMBOLS.values())  # as they are indexed
# The look behind stands after the first character, so that the engine skips from one such character to the next.
_SYMBOL = re.compile(r"[cC](?<![^\W_].)\+\+|[cCfF](?<![^\W_].)#|\.(?<![^\W_].)(?:NET|net)\b", re.DOTALL)
_MNEMONIC = re.compile(r"\[([^\W\d_]{1,3})\](?=[^\W\d_])")  # `E[x]tract`: a key shown inside its word
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_STEMS: dict[str, str] = {}
_CAMEL = re.compile(r"[A-Z](?:(?<=[a-z0-9].)|(?=[A-Z][a-z]))")
_CASES = bytes(65 if chr(b).isupper() and b < 128 else 97 if chr(b).isalnum() or b > 127 else 32 for b in range(256))
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

STOP_WORDS = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have how i if in into is it its
    may me my no not of on or our shall should so some such than that the their them then there these they
    this those to was we were what when where which while who why will with would you your

    ad agli ai al alla alle allo anche c che chi ci come con cosa cui d da dagli dai dal dalla dalle dallo de degli dei
    del dell della delle dello dove e ed era essere gli ha hanno ho il in io l la le lei lo loro lui ma mi ne negli nei
    nel nella nelle nello noi non nostro o per perché perche più piu po può quale quali quando quello questa queste
    questi questo qui quindi se sei si sia sono sta su sua sue sugli sui sul sulla sulle sullo suo suoi ti tra fra tu
    tutti tutto un una uno vi voi è all dall nell sull un'
    """.split()
)


class Term(NamedTuple):
    """One word of a query, as the user wrote it. An engine that splits it asks for the parts as a phrase, and for each."""

    text: str
    weight: float = 1.0
    prefix: bool = False  # and whatever begins like it
    place: int = 0  # among the words of the query, those that are left out included


class Need(NamedTuple):
    """What a passage must hold, or must not: words side by side, in `field` when it is named. See `Term` for `prefix`."""

    text: str
    field: str = ""
    prefix: bool = False


class Query(NamedTuple):
    """A parsed query. `terms` is empty only when the text holds no letter and no digit at all.

    `boosts` are facets that add to the score of a passage that matches anyway. `literals` come first where they stand as they
    are: several words in quotes, and the whole text when it looks like something to be found so (`--dry-run`, `a.b.c`,
    `rm -rf`) and not like a question. `operators` are the pieces that were read as such, as they are written.
    """

    text: str
    terms: tuple[Term, ...]
    cut: bool = False
    boosts: tuple[tuple[str, float], ...] = ()
    literals: tuple[str, ...] = ()
    required: tuple[Need, ...] = ()
    excluded: tuple[Need, ...] = ()
    tags: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()


def normalise(text: str) -> str:
    """The text as engines index it: NFC, straight apostrophes, `C++` → `cpp`, unspaced scripts split, camelCase parts added."""
    text = plain(text)
    parts = camel_parts(text)
    return f"{text}\n{' '.join(parts)}" if parts else text


def fields(title: str, heading: str, body: str, labels: str) -> dict[str, str]:
    """What of a passage stands in which field of an index. Italian passages go in as Italian stems (see `italian`)."""
    text = normalise(body[:MAX_BODY_CHARS])
    if not is_italian(text):
        return {"title": _name(title), "heading": normalise(heading), "body": text, "labels": _name(labels)}
    names = {"title": _italian_name(title), "heading": italian(normalise(heading))}
    return {**names, "body": italian(text), "labels": _name(labels)}


@lru_cache(64)
def _name(text: str) -> str:
    """All sections of a document have the same title and labels, and come one after another."""
    return normalise(text)


@lru_cache(64)
def _italian_name(text: str) -> str:
    return italian(_name(text))


def plain(text: str) -> str:
    """`normalise` without the added parts: the form in which a term of a query meets the index."""
    if not text.isascii():
        text = _unspaced().sub(r" \1 ", _compose(text))
    if "[" in text:
        text = _MNEMONIC.sub(r"\1", text)
    # One character is looked for at the speed of memory; the marks of a heading, which most passages begin with, do not count.
    if "+" in text or "#" in text.lstrip("#") or ".net" in text or ".NET" in text:
        text = _SYMBOL.sub(lambda match: f" {_SYMBOLS[match[0].lower()]} ", text)
    return text


def symbols(text: str) -> list[tuple[int, int, str]]:
    """`(start, end, word)` of each `C++` and its like: where it stands, and the word that it is indexed as."""
    return [(match.start(), match.end(), _SYMBOLS[match[0].lower()]) for match in _SYMBOL.finditer(text)]


def camel_parts(text: str) -> list[str]:
    """The parts of each distinct camelCase word of the text: `getUserById` gives get, User, By, Id."""
    data = text.encode("utf-8", "surrogatepass")
    shape = data.translate(_CASES)  # where case changes is found in the bytes, at the speed of memory
    words: dict[bytes, None] = {}
    for change in (b"aA", b"AAa"):
        at = shape.find(change)
        while at >= 0:
            end = shape.find(b" ", at)
            end = end if end >= 0 else len(data)
            words[data[shape.rfind(b" ", 0, at) + 1 : end]] = None
            at = shape.find(change, end)
    return [part for word in words for part in _parts_of(word)]


@lru_cache(10_000)
def _parts_of(word: bytes) -> tuple[str, ...]:
    words = _WORD.findall(word.decode("utf-8", "surrogatepass"))  # other scripts are told apart from their punctuation here
    return tuple(part for each in words if _CAMEL.search(each) for part in _CAMEL_PART.findall(each))


_ITALIAN_WORDS = (
    " di ", " il ", " che ", " per ", " la ", " un ", "ll'", " le ", " del ", " una ", " con ", " non ", " e ", "zion",
)  # fmt: skip
_ENGLISH_WORDS = (" the ", " of ", " to ", " and ", " is ")


def is_italian(text: str) -> bool:
    """A light guess by function words, good for a single sentence. A wrong one hides nothing: a query asks for each word
    in both forms."""
    # English prose, the usual case, is known by its first words.
    if (" the " in text or " of " in text or " to " in text) and " di " not in text:
        return False
    italian = sum(map(text.count, _ITALIAN_WORDS))
    return italian > 0 and italian > sum(map(text.count, _ENGLISH_WORDS))


def italian(text: str) -> str:
    """The text with each word as its Italian stem (Snowball). Engines stem English; no SQLite stems Italian, and running
    Tantivy's Italian stemmer over every word costs all shelves half again as much as it gives Italian ones."""
    return _LETTERS.sub(_italian_stem, text.lower())


def _italian_stem(match: re.Match[str]) -> str:
    word = match[0]
    stem = _STEMS.get(word)
    if stem is None:
        if len(_STEMS) > 100_000:
            _STEMS.clear()
        stem = _STEMS[word] = _italian_stemmer().stemWord(word)
    return stem


@cache
def _invisible() -> re.Pattern[str]:
    """What stands inside words and is not seen: soft hyphens, zero-width signs, direction marks, variation selectors, tags."""
    return re.compile(
        r"[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
    )


@cache
def _unspaced() -> re.Pattern[str]:
    """Letters of scripts that put no space between words. Compiling such ranges takes 6 ms, so only when they are met."""
    return re.compile(
        r"([\u2e80-\u2fff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f])"
    )


@cache
def _italian_stemmer() -> Any:  # noqa: ANN401  (the module is loaded at the first Italian word)
    import Stemmer

    return Stemmer.Stemmer("italian")


def parse(text: str) -> Query:
    """What the user asks for. Stop words are left out unless nothing else remains; very long queries are cut (`cut`).

    `"several words"` come first where they stand so. `+word` must be there, `-word` must not, `word*` goes on as it likes;
    `title:`, `heading:`, `path:` and `tag:` say where a word, or several in quotes, must be. What does not read so is text.
    """
    return _read(text, [_chunk(*match.groups("")) for match in _CHUNK.finditer(_compose(text[:MAX_QUERY_CHARS]))])


def plainly(text: str) -> Query:
    """The query as words alone: no sign in it is an operator."""
    return _read(text, [_Chunk(word, word) for word in _compose(text[:MAX_QUERY_CHARS]).split()])


class _Chunk(NamedTuple):
    """A piece of a query as it is `written`, and what it says. `sign` and `field` are empty unless they are operators."""

    written: str
    said: str
    sign: str = ""
    field: str = ""
    quoted: bool = False
    prefix: bool = False


_CHUNK = re.compile(r"""((?<!\S)[+-])?(?:(?:(?<!\S)|(?<=(?<!\S)[+-]))(title|heading|path|tag):)?(?:"([^"]+)"(?!\S)|(\S+))""")


def _chunk(sign: str, field: str, quoted: str, word: str) -> _Chunk:
    said = quoted or word
    written = f"{sign}{field}{':' if field else ''}" + (f'"{quoted}"' if quoted else word)
    first = said[0]
    begins = first.isalpha() if sign else first.isalnum() or (field == "path" and first in "./")
    if ((sign or field) and not (has_word(said) and (quoted or begins))) or (sign, field) == ("-", "tag"):
        return _Chunk(written, written)
    prefix = not quoted and len(word) > 2 and word.endswith("*") and word[:-1].isalnum()
    return _Chunk(written, word[:-1] if prefix else said, sign, field, bool(quoted), prefix)


def _read(text: str, chunks: list[_Chunk]) -> Query:
    if all(chunk.sign == "-" for chunk in chunks):  # that would be a question for everything else
        chunks = [_Chunk(chunk.written, chunk.written) for chunk in chunks]
    places: dict[str, int] = {}
    begun: list[Term] = []
    needs: dict[str, list[Need]] = {"+": [], "-": []}
    literals = []
    place = -1
    for chunk in chunks:
        place += 1
        if chunk.sign == "-" or (chunk.field and chunk.field != "tag"):
            needs[chunk.sign or "+"].append(Need(chunk.said, chunk.field, chunk.prefix))
        elif chunk.sign and not chunk.field:
            needs["+"].append(Need(chunk.said, "", chunk.prefix))
        if chunk.sign == "-" or chunk.field == "tag":
            continue
        if chunk.prefix:
            begun.append(Term(chunk.said, prefix=True, place=place))
            continue
        if chunk.quoted and " " in chunk.said:
            literals.append(chunk.said)
        for step, word in enumerate(chunk.said.split()):
            place += step > 0
            if has_word(word):
                places.setdefault(word, place)
    plain_words = [Term(word, place=place) for word, place in places.items()]
    terms = [term for term in plain_words if _core(term.text) not in STOP_WORDS] or ([] if begun else plain_words)
    terms += begun
    for word in places:
        terms += [Term(part, PART_WEIGHT) for part in camel_parts(word) if part.lower() not in STOP_WORDS]
    whole = text.strip()
    if whole and _is_literal(chunks):
        literals.append(whole)
    return Query(
        text,
        tuple(terms[:MAX_QUERY_TERMS]),
        len(text) > MAX_QUERY_CHARS or len(terms) > MAX_QUERY_TERMS,
        literals=tuple(dict.fromkeys(literals)),
        required=tuple(needs["+"][:MAX_QUERY_TERMS]),
        excluded=tuple(needs["-"][:MAX_QUERY_TERMS]),
        tags=tuple(chunk.said for chunk in chunks if chunk.field == "tag"),
        operators=tuple(chunk.written for chunk in chunks if chunk.sign or chunk.field),
    )


def _is_literal(chunks: list[_Chunk]) -> bool:
    """Whether the whole query looks like something to be found as it stands: one word, nothing but signs, or a few words
    among which one is no prose, or two are capitals."""
    written = [chunk.written for chunk in chunks if has_word(chunk.written)]
    if len(written) <= 1:
        return True
    if len(written) > MAX_LITERAL_WORDS:
        return False
    raised = [word for word in written if not word.islower()]
    capitals = sum(len(run) > 1 and run.isupper() for word in raised for run in _LETTERS.findall(word))
    return capitals > 1 or any(map(_is_no_prose, written))


def _is_no_prose(word: str) -> bool:
    """A flag, a number, a call, what a message begins with (`panic:`), or a word of a script that no engine stems. Names in
    camelCase and with `::` or `/` do not count: titles of pages are made of them."""
    if word.isascii() and word.isalpha():
        return False
    core = _core(word)
    return (
        word[0] == "-"
        or word[-1] == "'"
        or (word[:-1].islower() and word[:-1].isalpha() and word[-1] == ":")
        or _NUMBER.fullmatch(core) is not None
        or _CALL.match(word) is not None
        or max(core, default="") > _LATIN
    )


_NUMBER = re.compile(r"\d\w*(?:[^\w\s]\w+)*")
_CALL = re.compile(r"[^\W\d]\w*\(")
_LATIN = "\u024f"  # the last of the letters that stemmers know


def literally(text: str, literal: str) -> bool:
    """Whether the text holds the literal as it stands, in whatever case, and not inside longer words or numbers."""
    literal = _as_it_stands(literal)
    text = _as_it_stands(text)
    at = text.find(literal) if literal else -1
    while at >= 0:
        end = at + len(literal)
        before = at and _joins(literal[0]) and text[at - 1].isalnum()
        if not before and not (end < len(text) and _joins(literal[-1]) and text[end].isalnum()):
            return True
        at = text.find(literal, at + 1)
    return False


def _as_it_stands(text: str) -> str:
    return " ".join(_compose(text).casefold().split())


def _joins(character: str) -> bool:
    """Whether a letter or digit beside it would make another word of it, as in scripts with spaces."""
    return character.isdigit() or character.lower() != character.upper()


def slug(text: str | None) -> str | None:
    """Scope, topic and tag as they are kept: NFC, trimmed, lower case, inner white space to `-`."""
    if text is None:
        return None
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFC", text)
    return "-".join(text.lower().split())


def fold(text: str) -> str:
    """Lower case without accents, for comparing words."""
    if text.isascii():
        return text.lower()
    import unicodedata

    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def words(text: str) -> list[str]:
    """The words of a text, folded, in order: what an engine without an analyzer of its own indexes."""
    return _WORD.findall(fold(text))


def has_word(text: str) -> bool:
    """Whether there is anything to look for: a letter or a digit of any script."""
    return any(character.isalnum() for character in text)


def _core(word: str) -> str:
    return word.lower().strip("\"'.,;:!?()[]{}<>«»“”‘’`*_")


def _compose(text: str) -> str:
    if text.isascii():
        return text
    import unicodedata

    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair is no text
    text = _invisible().sub("", text)
    return unicodedata.normalize("NFC", text).replace("\u2019", "'").replace("\u02bc", "'")


def fold_in_place(text: str) -> str:
    """`fold`, character by character, so that offsets stay those of the text."""
    if text.isascii():
        return text.lower()
    return "".join(_folded(character) for character in text)


def _folded(character: str) -> str:
    known = _FOLDED.get(character)
    if known is None:
        folded = fold(character)
        known = _FOLDED[character] = folded if len(folded) == 1 else character
    return known


_FOLDED: dict[str, str] = {}
