"""Credentials in texts: where they stand and what kind they are, never what they say.

Tier 1 is certain: a known prefix or format, a key block, a JWT, a password in a URL. Tier 2 is probable: a name such
as `password` with a value that looks like noise. Documented examples (`...EXAMPLE`, `xxxx`, `<token>`, `${TOKEN}`) are
neither. A text is also read without its invisible characters, with wrapped lines joined and with its base64 decoded;
what is found there is reported where it stands in the text as given.

Clean text costs a few literal searches in its noisy words; a rule is compiled when its hint is first met.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from scaffale.secret_rules import DOTTED, NAMED, PREFIXED, TEXT_HINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scaffale.secret_rules import Rule

SHORTEST = 8  # characters; nothing shorter is a secret, or worth the look
_ENCODED_WORD = 24
_ENCODED_MOST = 65_536
_VALUE_WORD = 32  # the shortest value that a rule with a service's name wants
_DOTTED_WORD = 56
_BLOCK_MOST = 30_000
_ROUNDS = 20


class _Pattern:
    """A regular expression that is compiled when it is first used. Most texts use few of them."""

    match: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    findall: Callable[..., list[str]]

    def __init__(self, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(*self._source)
        self.match, self.search, self.fullmatch = compiled.match, compiled.search, compiled.fullmatch
        self.findall = compiled.findall
        return getattr(compiled, name)


_ALNUM = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_PLAIN = b"abcdefghijklmnopqrstuvwxyz_-+%"
_LONG_RUN = b"a" * 15
_RUNS = bytes(ord("a") if chr(byte) in _ALNUM or byte in b"_-+%" or byte > 127 else ord(" ") for byte in range(256))
_SPACES = bytes(ord(" ") if byte in b"\t\v\f" else byte for byte in range(256))
_FEW_CAPITALS = 5  # one in so many letters, as in names; random letters have one in two
_VALUE_RUN = _Pattern("[A-Za-z0-9_/+-]{32}")
_DIGIT = _Pattern("[0-9]")
_HINTS: dict[tuple[str, str], list[tuple[str, Rule]]] = {}  # by their first two characters
for _rule in PREFIXED:
    for _hint in _rule.hints:
        if _hint not in TEXT_HINTS:
            _HINTS.setdefault((_hint[0], _hint[1]), []).append((_hint, _rule))
_TEXT_HINTS = [(hint, rule) for rule in PREFIXED for hint in rule.hints if hint in TEXT_HINTS]
_NAMES = [(hint, rule) for rule in NAMED for hint in rule.hints]

_ESCAPE = _Pattern(r"(?:\\[nrt]|%[0-9A-Fa-f]{2})\Z")
_EXAMPLE = _Pattern(r"example|your[-_]|placeholder|changeme|x{4}|<[^>]*>|\$\{|\$\(|\{\{|\*{3}|\.{3}|…|\[REDACTED", re.I)
_NO_PASSWORD = _Pattern(r"pass(?:word|wd|wort)?|pwd|secret|token|user(?:name)?|[$%{].*|[A-Z_]*PASS(?:WORD)?", re.I)


class Finding(NamedTuple):
    """A secret of a kind at `text[start:end]`, in code points. `tier` 1 is certain, 2 probable."""

    kind: str
    tier: int
    start: int
    end: int


def find(text: str, tier: int = 2) -> list[Finding]:
    """Secrets up to the tier, in the order of the text, without overlaps."""
    if len(text) < SHORTEST:
        return []
    back = None
    words = _noisy_words(text)
    if words and _disguised(words):
        text, back = _uncovered(text)
        words = _noisy_words(text)
    # One character is looked for several times faster than a longer text, and most of these hints come with one of two.
    met = [pair for pair in _TEXT_HINTS if pair[0] in text] if "@" in text or "~" in text or "SSWS" in text else []
    found = _blocks(text)
    if words or met:
        found += _certain(text, words, met)
    if any(_is_encoded(run) for word in words if len(word) >= _ENCODED_WORD for run in _RUN.findall(word)):
        found += _encoded(text)
    if tier > 1:
        found += _probable(text)
    if back is not None:
        found = [each._replace(start=back[each.start], end=back[each.end - 1] + 1) for each in found]
    return _apart(found) if found else found


def mask(text: str, tier: int = 1) -> str:
    """The text with each secret up to the tier replaced by `[REDACTED:kind]`."""
    for _ in range(_ROUNDS):  # what stood against a secret may be one once that is gone
        found = find(text, tier)
        if not found:
            break
        parts = []
        at = 0
        for each in found:
            parts += [text[at : each.start], f"[REDACTED:{each.kind}]"]
            at = each.end
        text = "".join(parts) + text[at:]
    return text


def _noisy_words(text: str) -> list[str]:
    """The words that could hold a known format: with a long run of letters and digits that does not look like prose, a
    name or a path. A word goes on over a line break. Runs are found in the bytes, at the speed of memory."""
    data = text.encode("utf-8", "surrogatepass").replace(b"\n    ", b"").translate(_SPACES, b"\r\n")
    shape = data.translate(_RUNS)
    words = []
    at = shape.find(_LONG_RUN)
    while at >= 0:
        end = shape.find(b" ", at)
        end = end if end >= 0 else len(data)
        telling = data[at:end].translate(None, _PLAIN)
        if telling and (len(telling) * _FEW_CAPITALS > end - at or not telling.isalpha()):
            start = data.rfind(b" ", 0, at) + 1
            end = data.find(b" ", end)
            end = end if end >= 0 else len(data)
            words.append(data[start:end].decode("utf-8", "surrogatepass"))
        at = shape.find(_LONG_RUN, end)
    return words


def _apart(found: list[Finding]) -> list[Finding]:
    """Without overlaps: the certain before the probable, the longer before the shorter."""
    from bisect import bisect_left

    kept: list[Finding] = []
    places: list[int] = []
    for each in sorted(set(found), key=lambda one: (one.tier, one.start - one.end, one.start, one.kind)):
        at = bisect_left(places, each.start)
        if (not at or kept[at - 1].end <= each.start) and (at == len(kept) or each.end <= kept[at].start):
            kept.insert(at, each)
            places.insert(at, each.start)
    return kept


# --- known formats -------------------------------------------------------------------------------------------------

_patterns: dict[str, re.Pattern[str]] = {}


def _pattern(rule: Rule) -> re.Pattern[str]:
    pattern = _patterns.get(rule.pattern)
    if pattern is None:
        pattern = _patterns[rule.pattern] = re.compile(rule.pattern, re.IGNORECASE if rule in NAMED else re.NOFLAG)
    return pattern


def _certain(text: str, words: list[str], met: list[tuple[str, Rule]]) -> list[Finding]:
    longs = " ".join(words)
    values = [word.partition("?")[2] if "://" in word else word for word in words if len(word) >= _VALUE_WORD]
    if any(len(value) >= _DOTTED_WORD and "." in value for value in values):
        longs += DOTTED
    starts = sorted(_HINTS.keys() & set(pairwise(longs)))
    met += [pair for start in starts for pair in _HINTS[start] if pair[0] in longs]
    found = [finding for rule in dict.fromkeys(rule for _, rule in met) for finding in _matches(text, rule)]
    if met and "\n" in text:
        found += _wrapped(text, met)
    if any(_DIGIT.search(value) and _VALUE_RUN.search(value) for value in values):
        found += _named(text)
    return found


def _matches(text: str, rule: Rule) -> Iterator[Finding]:
    for match in _pattern(rule).finditer(text):
        if (finding := _finding(text, rule, match)) is not None:
            yield finding


def _named(text: str) -> Iterator[Finding]:
    lower = _lower(text)
    tries = _WRAPS_MOST
    for name, rule in _NAMES:
        for at in _places(lower, name):
            if match := _pattern(rule).match(text, at):
                finding = _finding(text, rule, match)
            else:
                line_end = text.find("\n", at)
                tries -= line_end >= 0
                finding = _across(text, at, line_end, rule) if line_end >= 0 and tries > 0 else None
            if finding is not None:
                yield finding


def _finding(text: str, rule: Rule, match: re.Match[str]) -> Finding | None:
    """The match as a finding, unless it continues a word, is an example or a mark of ours."""
    group = match.re.groups
    start, end = match.span(group)
    if not group and text[start] in _ALNUM and _continues(text, start):
        return None
    value = text[start:end]
    if _EXAMPLE.search(value) or text.endswith("[REDACTED:", 0, start):
        return None
    if rule.kind == "url-password" and (_NO_PASSWORD.fullmatch(value) or match[0].startswith(f"://{value}:")):
        return None  # `user:password@` and `guest:guest@` are how examples are written
    return Finding(rule.kind, 1, start, end)


def _continues(text: str, start: int) -> bool:
    """Whether the character before is of the same word, and not the end of an escape such as `\\n` or `%3D`."""
    return start > 0 and text[start - 1] in _ALNUM and _ESCAPE.search(text, max(0, start - 3), start) is None


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


def _lower(text: str) -> str:
    """Lower case, character for character."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) != 1 else c.lower() for c in text)


# --- wrapped lines -------------------------------------------------------------------------------------------------

_WORD = r"[A-Za-z0-9_+/=.:@%~-]"
_RUN_ON = _Pattern(rf"{_WORD}*+(\\?\r?\n)?")
_NEXT_LINE = _Pattern(rf"[ \t>|#*]*+({_WORD}++)([ \t\"'`,;]*+(?=\r?\n|\Z))?")
_WRAPS_MOST = 30  # tries in one text
_LINES_MOST = 20  # of one secret


def _wrapped(text: str, met: list[tuple[str, Rule]]) -> Iterator[Finding]:
    """Secrets that a line break runs through. Looked for where the word of a hint goes on to the end of its line."""
    tries = _WRAPS_MOST
    for hint, rule in met:
        at = text.find(hint)
        while at >= 0 and tries:
            run = _RUN_ON.match(text, at)
            after = run.end() if run else at
            if run and run[1]:
                tries -= 1
                start = text.rfind("\n", 0, at) + 1
                start += max(text[start:at].rfind(edge) for edge in " \t\"'`") + 1
                if (finding := _across(text, start, run.start(1), rule)) is not None:
                    yield finding
            at = text.find(hint, max(after, at + len(hint)))


def _across(text: str, start: int, line_end: int, rule: Rule) -> Finding | None:
    """What the rule finds when the line from `start` is joined with those after it, as far as they look like one word."""
    joined = text[start:line_end]
    pieces = [(0, start)]  # where each piece begins, in the joined text and in the text
    best = next((each for each in _matches(joined, rule) if each.end == len(joined)), None)
    for _ in range(_LINES_MOST):
        line_end = text.find("\n", line_end)
        following = _NEXT_LINE.match(text, line_end + 1) if line_end >= 0 else None
        if following is None:
            break
        alone = following[2] is not None
        if best is not None and not (alone and len(following[1]) >= SHORTEST):
            break  # whole already, and what follows is the next sentence
        pieces.append((len(joined), following.start(1)))
        joined += following[1]
        longer = next((each for each in _matches(joined, rule) if each.end > pieces[-1][0]), None)
        if longer is None and best is not None:
            pieces.pop()
            break
        best = longer or best
        line_end = following.end(1)
        if not alone:
            break
    if best is None or len(pieces) == 1:
        return None

    def place(position: int) -> int:
        inside, outside = next(piece for piece in reversed(pieces) if piece[0] <= position)
        return outside + position - inside

    return best._replace(start=place(best.start), end=place(best.end - 1) + 1)


# --- key blocks ----------------------------------------------------------------------------------------------------

_BEGIN = _Pattern(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
    r"|PuTTY-User-Key-File-[0-9]:"
)
_CLOSING = _Pattern(r"-----END [A-Z0-9 ]{0,50}-----|---- END [A-Z0-9 ]{0,50} ----|Private-MAC:[^\n]{0,100}")
_ENDS = {"-----B": "-----END ", "---- B": "---- END ", "PuTTY-": "Private-MAC:"}
_BODY = _Pattern(r"(?:\s|\\[nr])[\s>|#*\"'\\nr]*[A-Za-z0-9+/=]{3}")
_LINES = _Pattern(r"(?:[\s>|#*\"'+,]|\\[nr])++(?:(?:[\s>|#*\"'+,]|\\[nr])*+[A-Za-z0-9+/]{16,}+={0,2})+")


def _blocks(text: str) -> list[Finding]:
    """Private keys in armour, from the first line to the last; without a last line, as far as the key goes."""
    if "PRIVATE KEY" not in text and "PuTTY-User" not in text:
        return []
    found = []
    at = 0
    while begin := _BEGIN.search(text, at):
        at = begin.end()
        last = text.find(_ENDS[begin[0][:6]], at, at + _BLOCK_MOST)
        if last >= 0:
            if _BODY.search(text, at, last) and not _EXAMPLE.search(text, at, min(last, at + 200)):
                closing = _CLOSING.match(text, last)
                at = closing.end() if closing else last
                found.append(Finding("private-key", 1, begin.start(), at))
        elif lines := _LINES.match(text, at):
            at = lines.end()
            found.append(Finding("private-key", 1, begin.start(), at))
    return found


# --- disguises -----------------------------------------------------------------------------------------------------

_DISGUISE = _Pattern(
    "[\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2070-\u209c"
    "\u2100-\u214f\u2460-\u24ff\u3164\ufe00-\ufe0f\ufeff\uff01-\uffee\U0001d400-\U0001d7ff\U000e0000-\U000e0fff]"
)


def _disguised(words: list[str]) -> bool:
    odd = "".join(word for word in words if not word.isascii())
    return bool(odd) and _DISGUISE.search(odd) is not None


def _uncovered(text: str) -> tuple[str, list[int]]:
    """The text as it looks: compatibility forms folded, invisible and combining characters gone; and each one's origin."""
    from unicodedata import category, normalize

    seen: list[str] = []
    back: list[int] = []
    for at, character in enumerate(text):
        for each in character if character.isascii() else normalize("NFKC", character):
            if each.isascii() or (category(each) not in ("Cf", "Mn", "Me") and each not in "\u115f\u1160\u3164"):
                seen.append(each)
                back.append(at)
    return "".join(seen), back


_RUN = _Pattern(r"[A-Za-z0-9+/_-]{24,}")
_CODES = bytes(ord("a") if chr(byte) in _ALNUM or byte in b"+/_-" else ord(" ") for byte in range(256))
_LONG_CODE = b"a" * _ENCODED_WORD


def _is_encoded(run: str) -> bool:
    """Whether base64 could look like this: no text of eighteen bytes encodes without capitals, small letters and digits."""
    return _DIGIT.search(run) is not None and not run.islower() and not run.isupper()


def _encoded(text: str) -> Iterator[Finding]:
    """Secrets in base64. The run that holds them is the finding."""
    data = text.encode("utf-8", "surrogatepass")
    shape = data.translate(_CODES)
    runs: dict[bytes, None] = {}
    at = shape.find(_LONG_CODE)
    while at >= 0:
        end = shape.find(b" ", at)
        end = end if end >= 0 else len(data)
        runs[data[at:end]] = None
        at = shape.find(_LONG_CODE, end)
    for run in map(bytes.decode, runs):
        inside = find(plain, 1) if _is_encoded(run) and (plain := _decoded(run)) else None
        if inside:
            for at in _places(text, run):
                yield Finding(inside[0].kind, 1, at, at + len(run))


def _decoded(run: str) -> str | None:
    """What base64 of either alphabet says, when it says a text."""
    from binascii import Error, a2b_base64

    if len(run) > _ENCODED_MOST:
        return None
    try:
        plain = a2b_base64(run.replace("-", "+").replace("_", "/") + "=" * (-len(run) % 4)).decode()
    except (Error, UnicodeDecodeError):
        return None
    return plain if plain.replace("\n", " ").replace("\r", " ").replace("\t", " ").isprintable() else None


# --- probable ------------------------------------------------------------------------------------------------------

_KEYWORDS = ("pass", "pwd", "secret", "token", "key", "credential")
_VALUE = r"""(?:"([^"\n]{6,200})"|'([^'\n]{6,200})'|`([^`\n]{6,200})`|([^\s"'`,;(){}<>\[\]|]{6,200}))"""
_ASSIGNED = _Pattern(
    r"([\w.-]{0,24})[\"'`\]*]{0,3}(?:\s{0,4}(?:=>|:=|==?|:|>)|\s{1,2}(?=[\"'`])"
    r"|(?:\s(?:for|of|to|on|per|di|del|della)\s[^\n:=.]{1,40}?)?\s(?:is|was|è|es|est|ist|lautet):?)\s{0,4}" + _VALUE,
    re.I,
)
_OPTION = _Pattern(r"()\s{1,2}" + _VALUE)  # `--password VALUE`
_PASSWORD = _Pattern(r"(?:word|wd|wort|phrase|code)s?", re.I)
_KEY_OWNER = _Pattern(r"(?:api|access|auth|private|secret|encryption|signing|master|account|admin|service)[\s_.-]?\Z")
_OTHER_THING = _Pattern(
    r".*(?:file|path|dir|url|uri|name|id|ids|len|length|size|count|limit|type|expir\w*|ttl|age|field|header|env|var|param"
    r"|prefix|policy|regex|pattern|format|hash|salt|izer|ize|izing|ization|hint|version|usage|code|index|prop|provider)",
    re.I,
)
_PHRASES = {
    "bearer": ("bearer-credential", _Pattern(r"bearer\s{1,3}([A-Za-z0-9._~+/=-]{16,400})", re.I)),
    "basic": ("basic-credential", _Pattern(r"basic\s{1,3}([A-Za-z0-9+/=]{12,400})", re.I)),
    "-u ": ("password", _Pattern(r"-u\s{1,2}[\"']?[^\s:\"']{1,64}:([^\s\"']{6,100})")),
    "--user ": ("password", _Pattern(r"--user\s{1,2}[\"']?[^\s:\"']{1,64}:([^\s\"']{6,100})")),
    " login ": ("password", _Pattern(r" login\s{1,4}\S{1,64}\s{1,4}password\s{1,4}(\S{6,100})", re.I)),
    "identified by ": ("password", _Pattern(r"identified by\s{1,3}[\"']([^\"'\n]{6,100})", re.I)),
}
_UUID = _Pattern(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_PLACE = _Pattern(r"https?:.*|[./~\\].*|[$%@&{].*|[\d.,:/+-]+[a-z]{0,2}|-.*|v?\d+(?:\.\d+)+.*", re.I)
_PIECES = _Pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_HEX = _Pattern("[0-9a-f]{16,}|[0-9A-F]{16,}")
_DOTTED_NAME = _Pattern(r"[A-Za-z_]\w*(?:(?:\.|::|->|/)\w+)+")
_PASSWORD_MOST = 40  # characters of a password that a person chose
_WORDLIKE = 2.6  # characters of one case, or digits, in a row, on average: more is words
_NOISE_BITS = 2.5  # of entropy per character
_NO_SECRET_TOKENS = ("publickey", "client", "cancellation", "continuation", "idempotency", "next", "page")


def _probable(text: str) -> Iterator[Finding]:
    lower = _lower(text)
    for keyword in _KEYWORDS:
        done = 0
        for at in _places(lower, keyword):
            after = _name_end(lower, keyword, at)
            if after is None or at < done:
                continue
            match = _ASSIGNED.match(text, after)
            if match is None and text.rfind("--", max(0, at - 16), at) >= 0:
                match = _OPTION.match(text, after)
            if match is None or _OTHER_THING.fullmatch(match[1]):
                continue
            start, done = match.span(match.lastindex or 0)
            value = text[start:done].rstrip(".,;:!?)")
            password = keyword.startswith("p")
            if _is_noise(value, password=password):
                yield Finding("password" if password else keyword, 2, start, start + len(value))
    for phrase, (kind, pattern) in _PHRASES.items():
        for at in _places(lower, phrase):
            match = pattern.match(text, at)
            if match and _is_noise(match[1], password=kind == "password"):
                yield Finding(kind, 2, *match.span(1))


def _name_end(lower: str, keyword: str, at: int) -> int | None:
    """Where the name of a secret that begins with the keyword ends; `None` when the keyword names something else."""
    after = at + len(keyword)
    if keyword == "key":
        return after if _KEY_OWNER.search(lower, max(0, at - 14), at) else None
    if keyword == "pass":
        if rest := _PASSWORD.match(lower, after):
            return rest.end()
        return after if at and lower[at - 1] in "_-." and not lower[after : after + 1].isalpha() else None
    if keyword == "token" and lower.endswith(_NO_SECRET_TOKENS, 0, at):
        return None
    return after


def _is_noise(value: str, *, password: bool) -> bool:
    """Whether a value looks made to be unguessable: no words, no place, no placeholder, digits among letters."""
    if len(value) < 6 or " " in value or _EXAMPLE.search(value) or _NO_PASSWORD.fullmatch(value) or _PLACE.fullmatch(value):
        return False
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    if not letters:
        return False
    if password and (len(value) - digits - letters > 1 or (digits and len(value) < _PASSWORD_MOST)):
        return not _DOTTED_NAME.fullmatch(value)
    if not digits or len(value) < SHORTEST or _UUID.fullmatch(value):
        return False
    wordlike = len(value) / len(_PIECES.findall(value)) >= _WORDLIKE and not _HEX.fullmatch(value)
    return not wordlike and _bits(value) >= _NOISE_BITS


def _bits(value: str) -> float:
    """Shannon entropy per character, in bits."""
    from math import log2

    shares = [value.count(c) / len(value) for c in set(value)]
    return -sum(share * log2(share) for share in shares)
