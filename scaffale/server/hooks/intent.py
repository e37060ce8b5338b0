"""Does the user's current message ask to keep something beyond this session? English and Italian. Pure; standard library only.

A hint needs all of these, and each is looked for where it must stand, not anywhere in the text:

1. a *head*: an imperative of remembering (`remember`, `make a note`, `ricorda`, `tieni a mente`), at the head of its clause:
   at its beginning, behind nothing but courtesy (`please`, `can you`, `voglio che ti`) and connectives;
2. an *object* to keep: a that-clause, `this`, `my …`, `this decision`, something after a colon. Weak heads (`save`, `store`,
   `keep`, `salva`, `conserva`) need a purpose beyond the session, too: `for next time`, `as a convention`, `in your memory`;
3. none of what speaks against: negation, quotation, talk about words (an example, a test, a prompt), questions, features
   of the software being built (`remember the last tab`).

What a message shows rather than says (see `segments`) and what stands in quotation marks is blanked before.
Rules of this file: offsets are code points of the message; every pattern is bounded, so the work is linear; a doubt is a no.
"""

from __future__ import annotations

import re
from collections import namedtuple

from scaffale.server.hooks import wording
from scaffale.server.hooks.segments import blank, segment_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

POLICY = "memory-intent"
HINT = "memory.possible-intent"
NONE = "MEM_NO_EXPLICIT_INTENT"
EXCLUDED = "MEM_MATCH_EXCLUDED_REGION"
NEGATED = "MEM_NEGATED"
METALINGUISTIC = "MEM_METALINGUISTIC"
POSSIBLE = "MEM_POSSIBLE_EXPLICIT_INTENT"
MAX_EVIDENCE = 8
LONG = 1_500  # characters that are said: in a longer message `remember that …` is as a rule about the task at hand
_BEFORE, _AFTER, _ABOVE = 300, 400, 1_000  # characters that are looked at around a head

Evidence = namedtuple("Evidence", "rule_id start end")
Evidence.__doc__ = "What a decision rests on: the rule, and the place in the message."
PolicyResult = namedtuple("PolicyResult", "policy_id decision reason_code evidence hint_id", defaults=((), None))
PolicyResult.__doc__ = """What a policy says of a message or of a call: `decision` is noop, hint, allow, rewrite, block or audit;
`reason_code` is stable; `evidence` is a tuple of `(rule_id, start, end)`; `hint_id` names the hint where there is one."""


def memory_intent(text: str) -> PolicyResult:
    """Whether a message asks to keep something for later sessions: `hint`, or `noop` with the strongest reason against it.

    Reasons: `MEM_POSSIBLE_EXPLICIT_INTENT` (the hint), `MEM_NEGATED`, `MEM_METALINGUISTIC`, `MEM_MATCH_EXCLUDED_REGION`
    (only what is shown holds such words), `MEM_NO_EXPLICIT_INTENT`. Never raises; never sees anything but this text.
    """
    shown = [(region.start, region.end) for region in segment_prompt(text) if not region.eligible]
    said = blank(text, iter(shown))
    message = _Message(said)
    against: dict[str, list[Evidence]] = {}
    for rule, start, end, reason in message.findings():
        found = against.setdefault(reason, [])
        if len(found) < MAX_EVIDENCE:
            found.append(Evidence(rule, start, end))
        if reason == POSSIBLE:
            return PolicyResult(POLICY, "hint", POSSIBLE, tuple(found), HINT)
    for reason in (NEGATED, METALINGUISTIC):
        if reason in against:
            return PolicyResult(POLICY, "noop", reason, tuple(against[reason]))
    hidden = _strong_words(text, shown)
    if hidden:
        return PolicyResult(POLICY, "noop", EXCLUDED, hidden)
    return PolicyResult(POLICY, "noop", NONE)


class _Found:
    """A wish that was found: by which rule, and where."""

    def __init__(self, rule: str, start: int, end: int) -> None:
        self.rule, self.start, self.end = rule, start, end


class _Message:
    """What is said, folded, with quotations crossed out."""

    def __init__(self, said: str) -> None:
        self.said = said
        self.with_quotations = fold(said)
        self.text = self.with_quotations
        if '"' in self.text or "'" in self.text:
            self.text = wording.QUOTED.sub(lambda match: re.sub(r"[^\n]", "\x01", match[0]), self.text)
        self.is_long = len(said) > LONG and sum(map(len, said.split())) > LONG
        self.is_diff = "\n@@ " in said

    def findings(self) -> Iterator[tuple[str, int, int, str]]:
        """`(rule, start, end, reason)` of each head that comes into question, in order; quotations come last."""
        for head in wording.heads(self.text):
            kind = head.lastgroup or ""
            limit = self.sentence_end(head.end())
            found = self.wish(kind, head, limit)
            if found:
                reason = self.stance(found, kind, limit)
                if reason:
                    yield f"{kind}.{found.rule}", found.start, found.end, reason
            elif kind in wording.STRONG and _negates(self.sentence_before(head.start())):
                yield kind, head.start(), head.end(), NEGATED
        if self.text != self.with_quotations:
            for head in wording.heads(_bare(self.with_quotations)):
                if head.lastgroup in wording.STRONG and self.text[head.start()] == "\x01":
                    yield "quoted", head.start(), head.end(), METALINGUISTIC

    # --- what is wished --------------------------------------------------------------------------------------------------

    def wish(self, kind: str, head: re.Match[str], limit: int) -> _Found | None:
        """What of a head and the rest of its sentence says that something is to be kept; None when nothing does."""
        if kind == "standing":
            return self.standing(head, limit)
        rest = self.text[head.end() : limit]
        before = self.sentence_before(head.start())
        later = bool(wording.LATER.search(rest) or wording.LATER.search(before))
        if kind == "keep":
            rule = self.purpose(head, rest, later=later)
        elif "?" in rest and not _words(before) & wording.ASKS:
            rule = None
        else:
            rule = self.object(kind, head, rest, later=later)
        return _Found(rule, head.start(), head.end()) if rule else None

    def standing(self, head: re.Match[str], limit: int) -> _Found | None:
        """`from now on` before or behind an instruction."""
        rest = self.text[head.end() : limit]
        following = [word for word in wording.WORD.findall(rest[:80]) if word not in wording.COURTEOUS][:1]
        if following and following[0].partition("'")[0] not in wording.NOT_OURS and following[0][0].isalpha():
            return _Found("rule", head.start(), head.end())
        before = self.sentence_before(head.start())
        opening = [word for word in _list(before) if word not in wording.COURTEOUS][:1]
        if not rest.strip(" .!") and opening and opening[0] in wording.DIRECTIVE:
            return _Found("rule", head.start() - len(before.lstrip()), head.end())
        return None

    def object(self, kind: str, head: re.Match[str], rest: str, *, later: bool) -> str | None:
        """The rule by which a head that speaks for itself has an object to keep. `later`: the sentence looks ahead."""
        if wording.IS_EXAMPLE.search(rest):
            return None
        into = wording.INTO_MEMORY.match(rest)
        if into and _words(into["where"]) & wording.OWN_MEMORY:
            return "memory"
        if wording.HOLDS_OBJECT.search(head[0]) and (wording.SAID.match(rest) or _ends(rest)):
            return "this"
        rule, word, after = _object(rest)
        told = ":" in after or wording.SAID.match(after)
        if rule is None:
            return self.thing(kind, rest, later=later)
        if rule == "clause" and word == "that" and not later and wording.THAT_THING.match(after):
            return None
        named = after.partition(":")[0]
        if rule == "mine" and (_has_place(named) or (kind != "recall" and not told)):
            return None
        if rule in ("this", "news", "fact") and not wording.SAID.match(after) and (_has_place(named) or _others(named)):
            return None
        if rule == "fact" and kind == "note" and not later and not (told or " che " in after or " that " in after):
            return None
        if kind == "mind" and rule != "this" and not later:
            alone = self.is_all(head.start(), head.end() + len(rest)) and wording.OURS.match(after)
            return rule if alone else None  # else it is said of the task at hand
        return rule

    def thing(self, kind: str, rest: str, *, later: bool) -> str | None:
        """Any other object: only for the verbs of remembering, and with a sign that it is meant for later, or is told."""
        if kind != "recall" or _others(rest) or _has_place(rest):
            return None
        if later and wording.THING.match(rest):
            return "later"
        return "label" if wording.LABEL.match(rest) else None

    def purpose(self, head: re.Match[str], rest: str, *, later: bool) -> str | None:
        """The rule by which a weak head is a wish to keep something beyond the session."""
        verb = head[0]
        into = wording.INTO_MEMORY.match(rest)
        if into:
            return "memory" if self.to_memory(verb, into, rest[into.end() :]) else None
        if verb in ("update", "aggiorna"):
            found = wording.UPDATE_MEMORY.match(rest)
            return "memory" if found and _words(found[0]) & wording.OWN_MEMORY else None
        if wording.A_MEMORY.match(rest):
            return "memory"
        if verb in wording.WRITING:
            return None
        lesson = wording.LESSON.match(rest)
        if lesson and lesson["noun"] in wording.FACTS and not _others(lesson[0]):
            return None if _has_place(rest[lesson.end() :].partition(":")[0]) else "lesson"
        rule, word, after = _object(rest)
        if rule is None or _has_place(rest.partition(":")[0]):
            return None
        if rule in ("this", "news", "fact") and later:
            return "later"
        if rule == "clause" and verb == "note" and wording.LATER.search(self.sentence_before(head.start())):
            return "later"
        if rule in ("news", "fact") and wording.SAID.match(after):
            return rule
        if verb.startswith(("record", "persist", "registra")) and (
            (rule == "clause" and word) or (rule == "this" and wording.STATED.match(after))
        ):
            return rule
        if rule == "this" and wording.ALONE.match(rest) and wording.RULE_BEFORE.search(self.before(head.start())):
            return "rule"
        return None

    def to_memory(self, verb: str, into: re.Match[str], after: str) -> bool:
        """Whether the memory that something goes into is the assistant's, and not the machine's."""
        what = into["what"].strip()
        if _words(into["where"]) & wording.OWN_MEMORY or verb.startswith("commit"):
            return True
        rule, _, left = _object(after)
        if rule in ("news", "fact") or (rule == "this" and left.lstrip().startswith(":")):
            return not _others(after.partition(":")[0])
        if wording.SAID.match(after) and not _others(what):
            return True
        if what:
            rule, _, left = _object(what)
            goes_on = re.match(r"\s*(?:and|e)\b", after)  # put this in memory and free it: the machine's
            return what != "it" and not goes_on and rule in ("this", "news", "fact") and not left.strip()
        return verb.endswith(("lo", "la")) and bool(wording.ALONE.match(after))

    # --- how it is said --------------------------------------------------------------------------------------------------

    def stance(self, found: _Found, kind: str, limit: int) -> str | None:
        """The reason that the surroundings give: `POSSIBLE`, or what speaks against it; None when this is no imperative."""
        clause = self.clause_before(found.start)
        if clause is None:
            return NEGATED if _negates(self.sentence_before(found.start)) else None
        introduced, joined = clause
        if (
            introduced
            and introduced.split()[-1].strip(".@") not in wording.ANNOUNCING
            and not wording.LATER.search(introduced)
        ):
            if _words(introduced) & wording.ABOUT_WORDS:
                return METALINGUISTIC
            if found.rule not in ("this", "later", "memory") and not wording.TO_YOU.match(introduced):
                return None  # `Bob: remember that …`
        if _words(joined) & wording.CITED or self.announced(found.start):
            return METALINGUISTIC
        if self.is_long and kind != "standing" and found.rule not in ("later", "memory", "lesson"):
            later = wording.LATER.search(self.text, found.end, limit)
            if not later and not self.frames(found.start):
                return None
        return POSSIBLE

    def clause_before(self, start: int) -> tuple[str, str] | None:
        """`(what introduces the clause with a colon, what the clause is joined to)` when a head at `start` is at the head of
        its clause, behind courtesy at most; None when it is not."""
        before = self.before(start)
        offset = start - len(before)
        cut, mark = (0, "") if offset == 0 else (-1, "")
        for boundary in wording.BOUNDARY.finditer(before):
            if not ("\n" in boundary[0] and self.wraps(offset, boundary)):
                cut, mark = boundary.end(), boundary[0]
        if cut < 0:
            return None
        bullet = wording.BULLET.match(before, cut)
        lead = before[bullet.end() if bullet and not (self.is_diff and "-" in bullet[0]) else cut :]
        introduced = ""
        if ":" in mark:
            introduced = re.split(r"[.!?\n;]", before[: cut - len(mark)])[-1].strip(" *_-")
        if _is_lead(lead):
            return introduced, ""
        joints = list(wording.JOINT.finditer(lead))
        if not joints or introduced:
            return None
        joined, lead = lead[: joints[-1].start()], lead[joints[-1].end() :]
        if not _is_lead(lead) or "\x01" in joined:
            return None
        if _words(joined) & wording.CONDITIONS and (not wording.TO_YOU.match(joined) or _others(joined)):
            return None
        if "," not in joints[-1][0] and len(joined.split()) > 8:
            return None
        return "", joined

    def wraps(self, offset: int, boundary: re.Match[str]) -> bool:
        """Whether a line break only wraps a sentence: behind a long line without an end mark, before a small letter."""
        line = boundary.string[: boundary.start()].rpartition("\n")[2].rstrip()
        if len(boundary[0]) > 1 or not line:
            return False
        following = self.said[offset + boundary.end() : offset + boundary.end() + 1]
        return line.split()[-1] in wording.GOES_ON or (
            len(line) >= 50 and line[-1] not in ".!?:;" and following.islower()
        )

    def before(self, start: int) -> str:
        """The text before a place, as far as it is looked at."""
        return self.text[max(0, start - _BEFORE) : start]

    def sentence_before(self, start: int) -> str:
        """What stands between the beginning of the sentence and a place in it, as far as it is looked at."""
        return str(wording.SENTENCE_START.split(self.before(start) + " ")[-1][:-1])

    def sentence_end(self, at: int) -> int:
        """Where the sentence ends that goes on at this place; a question mark is part of it."""
        end = wording.SENTENCE_END.search(self.text, at, at + _AFTER)
        return min(len(self.text), at + _AFTER) if end is None else end.start() + (end[0][0] == "?")

    def announced(self, start: int) -> bool:
        """Whether the paragraph, or the line before it, announces words to be looked at: a test, a message, an example."""
        paragraphs = re.split(r"\n[ ]*\n", self.text[max(0, start - _ABOVE) : start])
        lines = paragraphs[-1].split("\n")[:-1]
        if len(paragraphs) > 1:
            lines.insert(0, paragraphs[-2].rstrip().rpartition("\n")[2])
        announcing = [line for line in lines if line.rstrip(" *_").endswith(":")]
        return bool(announcing and _words(announcing[-1]) & wording.ABOUT_WORDS)

    def begins(self, start: int) -> bool:
        """Whether the message begins here, courtesy aside."""
        return start < _BEFORE and _is_lead(_without_bullet(self.text[:start]))

    def is_all(self, start: int, end: int) -> bool:
        """Whether the message is this one sentence, with nothing joined to it."""
        return (
            self.begins(start)
            and not self.text[end:].strip(" .!\n")
            and not wording.AND_DO.search(self.text[start:end])
        )

    def frames(self, start: int) -> bool:
        """Whether a paragraph begins here that is the first or the last of the message."""
        if not _is_lead(_without_bullet(re.split(r"\n[ ]*\n", self.before(start))[-1])):
            return False
        return not wording.ANOTHER.search(self.text, start) or self.begins(start)


# --- pieces of text ------------------------------------------------------------------------------------------------------


def fold(text: str) -> str:
    """Lower case, without accents, with straight quotes; as long as it was."""
    folded = text.lower()
    if len(folded) != len(text):  # a letter whose lower case is two
        folded = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    return folded.translate(wording.FOLD)


def _bare(text: str) -> str:
    """Without quotes and backticks around words; apostrophes stay."""
    return re.sub(r"(?<!\w)'|'(?!\w)", " ", text)


def _list(text: str) -> list[str]:
    return wording.WORD.findall(text)


def _words(text: str) -> set[str]:
    return set(wording.WORD.findall(text))


def _negates(text: str) -> bool:
    return bool(_words(text) & wording.NEGATIONS) or "n't" in text


def _others(text: str) -> bool:
    """Whether it is of somebody or something else: users, devices."""
    return bool(_words(text) & wording.OTHERS)


def _has_place(text: str) -> bool:
    """Whether it names a place of the software that something goes into: a file, a table, a cache."""
    words = re.findall(r"\w+", text)
    return any(
        word in wording.INTO and wording.PLACES.intersection(words[n + 1 : n + 5]) for n, word in enumerate(words)
    )


def _ends(text: str) -> bool:
    """Whether an object is complete here."""
    return bool(wording.END.match(text) or wording.LATER.match(text.lstrip()))


def _object(rest: str) -> tuple[str | None, str, str]:
    """`(rule, word, what follows)` of the object that the text begins with; the rule is None when there is none."""
    at = wording.FILLER.match(rest).end()
    ahead = wording.LATER.match(rest, at)
    if ahead:
        at = ahead.end()
        at += len(rest[at:]) - len(rest[at:].lstrip(" ,"))
    where = wording.IN_MEMORY.match(rest, at)
    at = where.end() if where else at
    found = wording.OBJECT.match(rest, at)
    if found and not (found["clause"] == "that" and _ends(rest[found.end() :])):
        return found.lastgroup, found[0], rest[found.end() :]
    found = wording.THIS.match(rest, at)
    if found and _ends(rest[found.end() :]):
        return "this", found[0], rest[found.end() :]
    found = wording.NAMED.match(rest, at)
    if found:
        which = found["which"].strip()
        this_one = which in wording.THIS_ONE or which.endswith(("following", "seguente", "seguenti"))
        known = wording.NEWS if this_one else wording.FACTS
        for noun in wording.WORD.finditer(rest, found.start("noun"), found.end("noun")):
            if noun[0] in known:
                return ("news" if this_one else "fact"), noun[0], rest[noun.end() :]
    return ("later", "", rest[at:]) if ahead and _ends(rest[at:]) else (None, "", rest)


def _without_bullet(text: str) -> str:
    return text[wording.BULLET.match(text).end() :]


def _is_lead(text: str) -> bool:
    """Whether this may stand between the beginning of a clause and its imperative: courtesy, connectives, a request."""
    rest, asked = text, False
    while rest.strip():
        request = None if asked else wording.REQUEST.match(rest)
        if request:
            asked, rest = True, rest[request.end() :]
            continue
        ahead = wording.LATER.match(rest)
        words = list(wording.WORD.finditer(rest[:80]))[: wording.LONGEST_COURTESY]
        ends = [ahead.end()] if ahead else []
        ends += [word.end() for word in reversed(words) if " ".join(rest[: word.end()].split()) in wording.COURTESIES]
        if not ends:
            return False
        rest = rest[ends[0] :].lstrip(" \n,:!.¬-")
    return True


def _strong_words(text: str, spans: list[tuple[int, int]]) -> tuple[Evidence, ...]:
    """Where the words of remembering stand in what is only shown."""
    found: list[Evidence] = []
    for start, end in spans:
        for head in wording.heads(_bare(fold(text[start:end]))):
            if head.lastgroup in wording.STRONG:
                found.append(Evidence("shown", start + head.start(), start + head.end()))
            if len(found) == MAX_EVIDENCE:
                return tuple(found)
    return tuple(found)
