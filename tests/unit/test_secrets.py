"""Every rule both ways; every kind in every disguise; prose left alone; nothing that takes long."""

import base64
import re
import subprocess
import sys
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.credentials import KINDS, WRAPS, Maker, draw
from scaffale import secrets
from scaffale.secret_rules import NAMED, PREFIXED
from scaffale.secrets import Finding, find, mask

RULES = (*PREFIXED, *NAMED)

# Their one literal, or their lack of one, does not survive this break.
LOST = {("discord bot", "wrapped"), ("airtable", "wrapped"), ("mailchimp", "wrapped")}




# --- rules ---


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_each_rule_finds_its_example_and_not_its_counterexample(rule):
    for text in (rule.example, f"it is {rule.example}, ok", f"`{rule.example}`", f'x="{rule.example}"'):
        assert [found.kind for found in find(text, 1)] == [rule.kind]
    assert find(rule.counter, 1) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_each_rule_is_linear(rule):
    pieces = {*rule.hints[:2], rule.example[: len(rule.example) // 2], rule.example[:-1] + "!", rule.example}
    for piece in pieces:
        for pump in (piece, piece + "-", piece + "\n"):
            text = pump * (20_000 // len(pump))
            start = process_time()
            find(text)
            assert process_time() - start < 0.5, repr(pump[:40])


def test_no_two_rules_have_one_pattern():
    assert len({rule.pattern for rule in RULES}) == len(RULES)


# --- kinds and disguises ---


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_certain_in_each_disguise_and_masked_whole(kind):
    for wrap in WRAPS.keys() - {wrap for lost, wrap in LOST if lost == kind}:
        text = WRAPS[wrap](draw(kind))
        assert [found.tier for found in find(text, 1)] == [1], wrap
        (found,) = find(text, 1)
        secret, masked = text[found.start : found.end], mask(text)
        assert masked == text[: found.start] + f"[REDACTED:{found.kind}]" + text[found.end :]
        assert len(secret) >= 14
        assert not any(secret[at : at + 10] in masked for at in range(len(secret) - 9)), wrap


def test_most_of_all_cases_are_found():
    """The few that are lost are named above; they are the only ones, and few."""
    missed = {(kind, wrap) for kind in KINDS for wrap in WRAPS if not find(WRAPS[wrap](draw(kind)), 1)}
    assert missed == LOST
    assert len(missed) < 0.01 * len(KINDS) * len(WRAPS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_draws_of_each_kind(kind):
    maker = Maker(f"{kind} again")
    missed = [text for text in (KINDS[kind](maker) for _ in range(100)) if not find(text, 1)]
    assert len(missed) <= 1


@pytest.mark.parametrize(
    "key",
    [
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9\nabcd==\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\r\nb3BlbnNzaC1rZXktdjEAAAAA\r\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\nlQOYBF2\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
        "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0B\\n-----END PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n  MIIFDjBABgkqhkiG9w0BBQ0w\n  -----END ENCRYPTED PRIVATE KEY-----",
        "> -----BEGIN EC PRIVATE KEY-----\n> MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04f\n> -----END EC PRIVATE KEY-----",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nP2/56wAAAgIAAAA\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nAAAAIC5hS9\nPrivate-MAC: 0a1b2c",
    ],
)
def test_key_blocks_are_found_whole(key):
    first = key.index("-----B") if "-----B" in key else 0
    text = f"Before.\n{key}\nAfter."
    assert find(text, 1) == [Finding("private-key", 1, 8 + first, 8 + len(key))]
    assert mask(text).endswith("[REDACTED:private-key]\nAfter.")


def test_a_key_block_without_an_end_goes_as_far_as_the_key():
    text = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9\nMIIEpAIBAAKCAQEA7bq9ab\nThen the log stops."
    assert mask(text) == "[REDACTED:private-key]\nThen the log stops."


@pytest.mark.parametrize(
    "prose",
    [
        "The file begins with -----BEGIN RSA PRIVATE KEY----- and is readable by root only.",
        "Look for -----BEGIN PRIVATE KEY----- or -----END PRIVATE KEY----- in it.",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBg\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    ],
)
def test_talk_about_key_blocks_is_no_key(prose):
    assert find(prose, 1) == []


# --- what is no secret ---


@pytest.mark.parametrize(
    "text",
    [
        "AKIA" + "IOSFODNN7EXAMPLE",
        "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
        "export GITHUB_TOKEN=ghp_" + "x" * 36,
        "git clone https://<user>:<token>@github.com/o/r",
        "https://user:${TOKEN}@github.com/o/r",
        "https://user:{{ token }}@github.com/o/r",
        "https://user:***@github.com/o/r",
        "postgres://user:password@localhost/db",
        "amqp://guest:guest@localhost:5672/",
        "SLACK_BOT_TOKEN=xoxb-your-bot-token-here",
        "ANTHROPIC_API_KEY=sk-ant-your-own-key-goes-in-here",
        "https://$USER:$PASS@host/x",
        "http://localhost:8080/@vite/client",
        "https://medium.com/@someone/a-story-1234567890abcdef",
        "https://example.org:8443/path?mail=a@b.org",
        "sk-learn and scikit-learn, risk-assessment-of-everything-in-the-house",
        "task-0123456789abcdef0123456789abcdef01234567",
        "git checkout 0123456789abcdef0123456789abcdef01234567",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id 123e4567-e89b-42d3-a456-426614174000",
        "getUserByIdOrFailWithSomethingVeryLong and memory_add_from_docs_result_2",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "eyJhbGciOiJIUzI1NiJ9 is only the head of a token",
        "pkg:npm/%40scope/name@1.2.3",
        "node_modules/npm_config_registry_settings_and_more_words",
    ],
)
def test_examples_names_and_hashes_are_left_alone(text):
    assert find(text) == []
    assert mask(text, 2) == text


def test_the_password_alone_is_cut_out_of_a_url():
    assert mask("see postgres://admin:s3cr3tpw@db/x now") == "see postgres://admin:[REDACTED:url-password]@db/x now"
    assert mask("redis://:p@ss:w0rd@cache:6379") == "redis://:[REDACTED:url-password]@cache:6379"


def test_the_next_sentence_is_not_taken_for_more_of_a_token():
    token = draw("github classic")
    assert mask(f"it was {token}\nThen we went on") == "it was [REDACTED:github-token]\nThen we went on"
    longer = draw("anthropic")
    assert mask(f"it was {longer[:60]}\n{longer[60:]}\nThen") == "it was [REDACTED:anthropic-key]\nThen"


def test_places_count_code_points():
    token = draw("github classic")
    text = f"perché 👩‍👩‍👧 {token} è"
    (found,) = find(text, 1)
    assert text[found.start : found.end] == token
    hidden = f"👍🏽 ｇhp_{token[4:10]}\u200b{token[10:]} è"
    (found,) = find(hidden, 1)
    assert hidden[found.start : found.end] == f"ｇhp_{token[4:10]}\u200b{token[10:]}"


def test_base64_is_found_in_both_alphabets_and_over_lines():
    secret = "?".join(["token=" + draw("stripe"), "~~~>>>???"])
    standard, url_safe = base64.b64encode(secret.encode()).decode(), base64.urlsafe_b64encode(secret.encode()).decode()
    assert standard != url_safe
    for text in (standard, url_safe, url_safe.rstrip("=")):
        assert [found.kind for found in find(f"x: {text}\n", 1)] == ["stripe-key"]


def test_several_secrets_of_several_kinds_are_all_found_in_order():
    parts = [draw(kind) for kind in ("github classic", "stripe", "jwt", "npm")]
    text = " then ".join(parts)
    assert [text[found.start : found.end] for found in find(text)] == parts


# --- probable ---


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('password = "Tr0ub4dor&3"', "Tr0ub4dor&3"),
        ("DB_PASSWORD=kX92mLq7", "kX92mLq7"),
        ("my password is hunter2.", "hunter2"),
        ("the password for the staging host is kX92-mLq7", "kX92-mLq7"),
        ("la password del server è kX92mLq7", "kX92mLq7"),
        ("client_secret: '9aK2mZ7qPw4rT8vX'", "9aK2mZ7qPw4rT8vX"),
        ("api_key=9aK2mZ7qPw4rT8vX", "9aK2mZ7qPw4rT8vX"),
        ("ApiKey: 9aK2mZ7qPw4rT8vX", "9aK2mZ7qPw4rT8vX"),
        ("export APP_TOKEN=9aK2mZ7qPw4rT8vX", "9aK2mZ7qPw4rT8vX"),
        ("mysqldump --password kX92mLq7 db", "kX92mLq7"),
        ("curl -u admin:kX92mLq7 https://h/", "kX92mLq7"),
        ("machine h login me password kX92mLq7", "kX92mLq7"),
        ("CREATE USER x IDENTIFIED BY 'kX92mLq7'", "kX92mLq7"),
        ("<password>kX92mLq7</password>", "kX92mLq7"),
        ("db_pass=kX92mLq7", "kX92mLq7"),
        ('passphrase "kX92mLq7"', "kX92mLq7"),
        ("Authorization: Bearer 9aK2mZ7qPw4rT8vX1y", "9aK2mZ7qPw4rT8vX1y"),
        ("Authorization: Basic YWRtaW46a1g5Mm1McTc=", "YWRtaW46a1g5Mm1McTc="),
    ],
)
def test_a_name_with_a_noisy_value_is_probable(text, value):
    (found,) = find(text)
    assert (found.tier, text[found.start : found.end]) == (2, value)
    assert find(text, 1) == []
    assert mask(text) == text
    assert value not in mask(text, 2)


@pytest.mark.parametrize(
    "text",
    [
        "password: string",
        "the password is required",
        "password = get_password()",
        "password=os.environ['DB_PASSWORD_2']",
        "token = response.json()['token2']",
        "max_tokens: 4096",
        "token_count=1234567",
        "api_key=${API_KEY_2}",
        "api_key: <your-api-key-1>",
        "secret_name = my-secret-name-1",
        "key: value1234567",
        "primary key: user_id_1234567",
        "the token is abc",
        "password_file=/run/secrets/db_password_1",
        "--password --insecure",
        "tokenizer: cl100k_base",
        "secret = settings.SECRET_KEY_V2",
        "token: v1.2.3-beta4",
        "credentials: include",
        "docker run -u 1000:1000 image:1.2",
        "tests passed: 1234abcd of them",
        "password Base64 and SHA256 encodings",
        "token = getUserById42",
        "PublicKeyToken=31bf3856ad364e35",
        '"ClientToken": "b83d6f391d3742c0a1"',
        "bearer of good news in the year 2024",
    ],
)
def test_names_with_plain_values_are_not(text):
    assert find(text) == []


# --- properties ---

GLUE = [" ", "\n", "\n    ", ", ", '"', "=", ": ", "password", " is ", "é", "\u200b", "a1B2c3D4e5F6", "x", "://", "@"]
FRAGMENTS = [*(rule.example for rule in PREFIXED), *(rule.counter for rule in PREFIXED), *GLUE * 10]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join))
def test_findings_are_in_order_apart_and_inside(text):
    found = find(text)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(each.tier in (1, 2) and re.fullmatch("[a-z0-9-]+", each.kind) for each in found)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join))
def test_masking_twice_is_masking_once(text):
    assert mask(mask(text)) == mask(text)


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text):
    assert mask(text, 2) == "".join(mask(text, 2))
    assert find(text, 1) == [found for found in find(text) if found.tier == 1]


PIECES = ["a", "A1", "-", "://", "://a:", "eyJ", "eyJ.", "password=", "password is ", "key ", "\n", "\u200b", "MOO."]
PIECES += ["-----BEGIN PRIVATE KEY-----\n", "é\u200b", "bearer ", "aws_secret ", "a" * 60 + "\n", "Q2hh"]


@pytest.mark.parametrize("piece", PIECES)
def test_pumped_texts_cost_linear_time(piece):
    for pump in (piece, piece + "a", piece + "\n", piece + "A" * 50):
        text = pump * (100_000 // len(pump))
        start = process_time()
        find(text)
        assert process_time() - start < 1.5


def test_secrets_and_their_rules_load_nothing_heavy():
    heavy = {"hashlib", "base64", "unicodedata", "dataclasses"}
    program = f"import scaffale.secrets, sys; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
    assert secrets.find("") == []
