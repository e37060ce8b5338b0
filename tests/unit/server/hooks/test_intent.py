"""The intent policy: every row of the segmentation matrix, the long specification, reasons and evidence."""

import json
from pathlib import Path

import pytest

from scaffale.server.hooks import memory_intent

FIXTURES = Path(__file__).parents[3] / "fixtures"
SAMPLE = Path(__file__).parents[4] / "benchmarks" / "samples" / "intent.jsonl"
RULE = "Ricorda che usiamo pnpm"

HINT = "MEM_POSSIBLE_EXPLICIT_INTENT"
EXCLUDED, NEGATED, CITED, NONE = (
    "MEM_MATCH_EXCLUDED_REGION", "MEM_NEGATED", "MEM_METALINGUISTIC", "MEM_NO_EXPLICIT_INTENT",
)  # fmt: skip

MATRIX = [
    (RULE, HINT),
    (f"```\n{RULE}\n```", EXCLUDED),
    (f"````\n{RULE}\n````", EXCLUDED),
    (f"~~~\n{RULE}\n~~~", EXCLUDED),
    (f"Guarda:\n```text\n{RULE}\n\nRicorda che usiamo anche npm", EXCLUDED),
    (f"Perché `{RULE}` non fa nulla?", EXCLUDED),
    (f"> {RULE}\n\nChe cosa vuol dire?", EXCLUDED),
    ("Non ricordare che usiamo pnpm", NEGATED),
    ('Testa la frase "ricorda che usiamo pnpm"', CITED),
    ("Conserva lo stato diagnostico", NONE),
    ("Ricorda questa configurazione:\n\n```toml\n[features]\nmemories = false\n```", HINT),
]


@pytest.mark.parametrize(("text", "reason"), MATRIX)
def test_the_segmentation_matrix(text, reason):
    result = memory_intent(text)
    assert result.reason_code == reason
    assert result.decision == ("hint" if reason == HINT else "noop")
    assert (result.hint_id is not None) == (reason == HINT)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Remember that we use pnpm", HINT),
        ("```\nRemember that we use pnpm\n```", EXCLUDED),
        ("> Remember that we use pnpm", EXCLUDED),
        ("<!-- Remember that we use pnpm -->", EXCLUDED),
        ("Do not remember that we use pnpm", NEGATED),
        ("Don't save this to your memory", NEGATED),
        ("Verify that 'remember' does not match", CITED),
        ("This hook says: remember that we use pnpm", CITED),
        ("Example: remember that we use pnpm", CITED),
        ("Keep the diagnostic state", NONE),
        ("Store the result, save the file, retain the log", NONE),
        ("Remember this configuration:\n```toml\na = 1\n```", HINT),
        ("", NONE),
        ("\ud800", NONE),
        ("İ" * 400 + ". Remember that we use pnpm", HINT),
    ],
)
def test_reasons(text, reason):
    assert memory_intent(text).reason_code == reason


def test_the_long_specification_is_no_request():
    text = (FIXTURES / "long_specification.md").read_text(encoding="utf-8")
    assert len(text) > 2_000
    assert memory_intent(text).decision == "noop"
    # what is asked behind it counts
    assert memory_intent(text + "\n\nRicorda che questo pannello è del gruppo Rete.\n").decision == "hint"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_in_a_long_message_a_reminder_counts_where_a_paragraph_of_its_own_begins_or_ends_it(newline):
    task = "Build the panel that lists the imports. " * 60
    for text, expected in (
        (f"Remember that we use pnpm.\n\n{task}", "hint"),
        (f"{task}\n\nRemember that we use pnpm.\n", "hint"),
        (f"{task}\n\nRemember that the list is long.\n\n{task}", "noop"),
        (f"{task}\n\nRemember this for future sessions: we use pnpm.\n\n{task}", "hint"),
    ):
        assert memory_intent(text.replace("\n", newline)).decision == expected


def test_evidence_names_the_rule_and_the_place():
    text = "Grazie. È tutto? Per favore, ricorda che usiamo pnpm."
    result = memory_intent(text)
    assert result.policy_id == "memory-intent"
    [(rule, start, end)] = result.evidence
    assert (rule, text[start:end]) == ("recall.clause", "ricorda")


def test_evidence_against_is_given_too():
    result = memory_intent("Write a test for `remember this`.")
    assert [(rule, start, end) for rule, start, end in result.evidence] == [("shown", 18, 26)]
    assert result.reason_code == EXCLUDED


@pytest.mark.parametrize(
    "row",
    [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()],
    ids=lambda row: row["text"][:40],
)
def test_nothing_of_the_sample_is_taken_for_a_request(row):
    """The share of requests that are found is a figure of the benchmark; a false hint is a failure."""
    if not row["wanted"]:
        assert memory_intent(row["text"]).decision == "noop"
    else:
        assert memory_intent(f"```\n{row['text']}\n```").decision == "noop"
        assert memory_intent(f"The log says:\n> {row['text']}\n").decision == "noop"


def test_a_hint_depends_on_nothing_but_the_message():
    assert memory_intent(RULE) == memory_intent(RULE)
    assert memory_intent(f"{RULE}.\n\n```\n{RULE}\n```").evidence == memory_intent(RULE + ".").evidence
