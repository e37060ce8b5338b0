"""The one normaliser and the one query parser: what becomes of words, and that nothing is too strange for them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaffale import text as room
from scaffale.text import (
    MAX_QUERY_CHARS,
    MAX_QUERY_TERMS,
    Term,
    camel_parts,
    fields,
    fold,
    fold_in_place,
    has_word,
    is_italian,
    italian,
    literally,
    normalise,
    parse,
    plain,
    plainly,
    words,
)

# Any code point at all, halves of surrogate pairs included, and pieces that are likely to hurt.
AWKWARD = (
    "C++", "c#", ".NET", "getUserById", "HTTPServer", "l’utente", "perche\u0301", "検索", "ไทย", "İ", "ß", "ﬁ", "\ud83d",
    "\0", "𝒳", "_", "'",
)  # fmt: skip
anything = st.one_of(
    st.text(st.characters(codec=None, categories=None), max_size=60),
    st.lists(st.one_of(st.sampled_from(AWKWARD), st.text(max_size=6)), max_size=12).map(" ".join),
    st.lists(st.sampled_from(AWKWARD), max_size=12).map("".join),
)


def asked(text):
    return [term.text for term in parse(text).terms if term.weight == 1.0]


# --- queries -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("write-ahead log", ["write-ahead", "log"]),
        ("  log \t log\nLog ", ["log", "Log"]),
        ("how does the lock work?", ["lock", "work?"]),
        ("come funziona il blocco", ["funziona", "blocco"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("Il \"che\"", ["Il", "che"]),
        ("rm --force / && echo", ["rm", "--force", "echo"]),
        ('NOT (a:b) "d', ["(a:b)"]),
        ('NOT (a:b) "x', ["(a:b)", '"x']),
        ("", []),
        ("?! --- ...", []),
        ("E0308 1.2.3 --dry-run docs/foo.md", ["E0308", "1.2.3", "--dry-run", "docs/foo.md"]),
        ("l’utente", ["l'utente"]),
    ],
)
def test_a_query_is_its_words_without_the_common_ones(text, expected):
    assert asked(text) == expected


def test_the_parts_of_an_identifier_are_asked_for_with_less_weight():
    assert parse("getUserById").terms == (
        Term("getUserById"), *(Term(part, room.PART_WEIGHT) for part in ("get", "User", "Id")),
    )  # fmt: skip


def test_a_long_query_is_cut_and_says_so():
    many = " ".join(f"word{n}" for n in range(100))
    assert len(parse(many).terms) == MAX_QUERY_TERMS
    assert parse(many).cut
    assert parse("x" * (MAX_QUERY_CHARS + 1)).cut
    assert not parse(" ".join(f"word{n}" for n in range(MAX_QUERY_TERMS))).cut


@given(anything)
def test_any_text_is_a_query(text):
    query = parse(text)
    assert query.text == text
    assert len(query.terms) <= MAX_QUERY_TERMS
    assert all(0 < term.weight <= 1 and has_word(term.text) for term in query.terms)
    assert len(set(query.terms)) == len(query.terms) or any(term.weight < 1 for term in query.terms)
    assert bool(query.terms) == has_word(plain(text))
    assert not any(character.isspace() for term in query.terms for character in term.text)


# --- what engines see --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++ and C#, F# or .NET", "cpp and csharp fsharp or dotnet"),
        ("std::vector ABC++ c++17", "std vector abc cpp 17"),
        ("検索x", "検 索 x"),
        ("dell’ordine", "dell ordine"),
        ("getUserById", "getuserbyid get user by id"),
        ("naïve Perché", "naive perche"),
        ("a_b-c", "a b c"),
    ],
)
def test_words_as_they_are_indexed(text, expected):
    assert words(normalise(text)) == expected.split()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserById", "get User By Id"),
        ("HTTPServer", "HTTP Server"),
        ("parseJSON2Text", "parse JSON 2 Text"),
        ("x getUser y getUser", "get User"),
        ("plain Words ONLY snake_case", ""),
        ("fooBar,bazQux", "foo Bar baz Qux"),
    ],
)
def test_parts_of_camel_case(text, parts):
    assert camel_parts(text) == parts.split()


@given(st.text("abcXYZ01", max_size=20))
def test_the_parts_of_a_word_are_the_whole_of_it(word):
    assert "".join(camel_parts(word)) in {"", word}


@given(anything)
def test_any_text_can_be_normalised(text):
    for normal in (normalise(text), plain(text), *fields(text, text, text, text).values()):
        normal.encode()  # it is Unicode, whatever the text was
    assert words(normalise(text))[: len(words(plain(text)))] == words(plain(text))
    assert set(fields(text, text, text, text)) == {"title", "heading", "body", "labels"}
    assert isinstance(is_italian(text), bool)


@given(anything)
def test_accents_and_case_fold_however_they_are_written(text):
    assert words(unicodedata.normalize("NFD", plain(text))) == words(unicodedata.normalize("NFC", plain(text)))


@given(anything)
def test_folding_in_place_moves_no_offset(text):
    folded = fold_in_place(text)
    assert len(folded) == len(text)
    assert all(a == b or fold(b) == a for a, b in zip(folded, text, strict=True))


def test_no_more_of_a_body_than_is_useful_is_indexed():
    assert len(fields("t", "h", "x" * 1_000_000, "")["body"]) == room.MAX_BODY_CHARS


# --- languages ---------------------------------------------------------------------------------------------------------


def test_italian_is_told_by_its_function_words():
    assert is_italian("La scadenza di un token che non vale per il server")
    assert is_italian("Il lock dell'ordine, la coda dell'utente")
    assert is_italian("Elenca le sedi"), "one word is enough where nothing speaks for English"
    assert is_italian("Stampare e fotocopiare")
    assert is_italian("Configurazione")
    assert not is_italian("The expiry of a token that is not valid for the server")
    assert not is_italian("List the sites and le tout")
    assert not is_italian("for row in rows: print(row)")
    assert not is_italian("lock() di() il() che()")
    assert not is_italian("")


def test_forms_of_an_italian_word_have_one_stem():
    for forms in ("richiesta richieste", "connessione connessioni", "scrivere scriveva scrivendo"):
        assert len(set(italian(forms).split())) == 1, forms
    assert italian("E0308 a_b 1.2.3") == "e0308 a_b 1.2.3", "names stay"


def test_an_italian_passage_goes_in_as_stems_and_keeps_its_labels():
    text = "Le richieste di un utente che scade per il server"
    found = fields("Richieste", "", text, "richieste")
    assert "richiest" in words(found["body"])
    assert "richieste" not in words(found["body"])
    assert words(found["labels"]) == ["richieste"]
    english = fields("Requests", "", "The requests of a user that expire", "")
    assert "requests" in words(english["body"]), "the engine's own analyzer stems English"


# --- operators and literal texts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "terms", "required", "excluded", "tags"),
    [
        ("lock -reader", ["lock"], [], [("reader", "", False)], ()),
        ("lock +reader", ["lock", "reader"], [("reader", "", False)], [], ()),
        ('lock -"the reader"', ["lock"], [], [("the reader", "", False)], ()),
        ("title:lock x", ["lock", "x"], [("lock", "title", False)], [], ()),
        ('heading:"a lock"', ["lock"], [("a lock", "heading", False)], [], ()),
        ("path:docs/a.md", ["docs/a.md"], [("docs/a.md", "path", False)], [], ()),
        ("-title:lock x", ["x"], [], [("lock", "title", False)], ()),
        ("tag:ops lock", ["lock"], [], [], ("ops",)),
        ("conf* lock", ["lock", "conf"], [], [], ()),
        ("lock -conf*", ["lock"], [], [("conf", "", True)], ()),
    ],
)
def test_operators_are_read(text, terms, required, excluded, tags):
    query = parse(text)
    assert [term.text for term in query.terms] == terms
    assert [tuple(need) for need in query.required] == required
    assert [tuple(need) for need in query.excluded] == excluded
    assert query.tags == tags


@pytest.mark.parametrize(
    "text",
    [
        "--dry-run", "-x", "-", "+", "- x", "a - b", "x -1", "C++ +", "title:", "title: x", "title:: x", "std::vector",
        "key:value", '"', 'a"b', '"" x', "*", "a*b", "** x", "-tag:x y", "a -- b", "+5 x", "title:-x", "http://title:80/",
    ],
)  # fmt: skip
def test_what_does_not_read_as_an_operator_is_text(text):
    query = parse(text)
    assert (query.required, query.excluded, query.tags, query.operators) == ((), (), (), ())
    assert not any(term.prefix for term in query.terms)


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("--dry-run", ("--dry-run",)),
        ("rm -rf", ("rm -rf",)),
        ("exit code 137", ("exit code 137",)),
        ("a AND b OR c", ("a AND b OR c",)),
        ("how does the lock work", ()),
        ("CustomEntry Element for View", ()),
        ('say "two words" of it', ("two words",)),
        ("=>", ("=>",)),
        ("", ()),
    ],
)
def test_what_is_to_be_found_as_it_stands(text, literals):
    assert parse(text).literals == literals


@pytest.mark.parametrize(
    ("text", "literal", "held"),
    [
        ("use --dry-run now", "--dry-run", True),
        ("use dry run now", "--dry-run", False),
        ("version 1.2.30", "1.2.3", False),
        ("E0308:", "e0308", True),
        ("myenv", "env", False),
        ("two\n  words", "two words", True),
        ("zero\u200bwidth", "zerowidth", True),
        ("perche\u0301", "perché", True),
        ("", "x", False),
        ("x", "", False),
    ],
)
def test_a_text_holds_a_literal_as_it_stands_or_not(text, literal, held):
    assert literally(text, literal) is held


@given(anything)
def test_plain_words_know_no_operators(text):
    query = plainly(text)
    assert (query.required, query.excluded, query.tags, query.operators) == ((), (), (), ())


@pytest.mark.parametrize(
    ("text", "word"),
    [("zero\u200bwidth", "zerowidth"), ("soft\u00adhyphen", "softhyphen"), ("E[x]tract it", "Extract"), ("a[i] b", "i")],
)
def test_what_stands_inside_a_word_does_not_split_it(text, word):
    assert word in plain(text).replace("]", " ").replace("[", " ").split()
