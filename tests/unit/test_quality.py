"""The measurement of retrieval quality: that the shipped sample is whole, that the numbers are right, that changes show."""

from __future__ import annotations

import gzip
import json
import os
import runpy
import sys

import pytest

from benchmarks import __main__ as program
from benchmarks import answerable, literals, quality, rivals
from benchmarks.measure import Figure
from benchmarks.quality import Collection, Question, Text
from scaffale.text import words

SCORER = os.path.join(quality.DATA, "score.py")
SMALL = Collection(
    "small",
    "en",
    [
        Text("a/backup.md", "Backups", "# Backups\n\nCopies of the database are made at night.", ),
        Text("a/.hidden.md", "Restoring", "Restore a copy when the disk is lost."),
        Text("b/keys.md", "Keys: \"signing\"", "The signing key rotates."),
    ],
    [Question("q1", "restore database", {"a/.hidden.md": 2, "a/backup.md": 1}), Question("q2", "zebra", {"b/keys.md": 1})],
)
TALK = Collection(
    "talk",
    "en",
    [Text(f"{group}/{n}", "", f"Ann: turn {n} about {what}", group, f"{group}/s{n // 2}")
     for group in ("c1", "c2") for n, what in enumerate(("ships", "trains", "planes", "bikes"))],
    [Question("q1", "what about planes", {"c2/2": 1}, "c2", {"c2/s1": 1})],
)  # fmt: skip


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- the shipped sample ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", quality.SAMPLE)
def test_the_sample_is_whole(name):
    sample = quality.load(name, "nowhere")
    known = {text.id for text in sample.texts}
    assert len(known) == len(sample.texts) >= 40
    assert len(sample.questions) >= 40
    assert len({question.text for question in sample.questions}) == len(sample.questions)
    assert all(question.relevant.keys() <= known for question in sample.questions)
    assert all(text.title and text.body.startswith(f"# {text.title}\n\n") for text in sample.texts)


def test_answerable_queries_hold_no_word_of_the_sample():
    texts = {f"{name[-2:]}/{text.id}": text for name in quality.SAMPLE for text in quality.load(name, "nowhere").texts}
    known = {word for path, text in texts.items() for word in words(f"{path} {text.body}")}
    queries = answerable.queries()
    assert len({query.text for query in queries}) == 100
    for query in queries:
        assert query.expected
        assert query.expected <= texts.keys(), query
        assert not known & set(words(query.text)), query


def test_answerable_queries_are_counted(tmp_path):
    right, wrong = frozenset({"en/auth/tokens.md"}), frozenset({"it/sale/studio.md"})
    asked = [answerable.Query(*each) for each in (("refresh token", right), ("refresh token", wrong), ("qqq", right))]
    left = answerable.unanswered(asked, str(tmp_path), "tantivy")
    assert [(each.query, each.first) for each in left] == [(asked[1], "en/auth/tokens.md"), (asked[2], None)]


# --- measuring ---------------------------------------------------------------------------------------------------------


def test_documents_are_asked_through_the_hall_and_of_rivals(tmp_path, engine_name):
    outcomes = list(quality.outcomes(SMALL, str(tmp_path), [engine_name], with_rivals=True))
    assert [outcome.arm for outcome in outcomes][:3] == [f"scaffale, {engine_name}", *list(rivals.RIVALS)[:2]]
    for outcome in outcomes:
        assert outcome.ranked["q1"][0] == "a/.hidden.md", outcome.arm
        assert set(outcome.ranked["q1"]) == {"a/.hidden.md", "a/backup.md"}
        assert outcome.ranked["q2"] == []
        assert outcome.scores["q1"] == {"nDCG@10": 1, "R@10": 1, "R@100": 1, "MRR@10": 1}
        assert outcome.mean() == 0.5
        assert outcome.mean("R@100") == 0.5


def test_turns_are_asked_within_their_conversation(tmp_path, engine_name):
    outcomes = list(quality.outcomes(TALK, str(tmp_path), [engine_name], with_rivals=True))
    assert len(outcomes) >= 3
    for outcome in outcomes:
        assert outcome.ranked["q1"][0] == "c2/2", outcome.arm
        assert all(each.startswith("c2/") for each in outcome.ranked["q1"])
        assert outcome.scores["q1"] == {"turns R@10": 1, "sessions R@10": 1}


@pytest.mark.parametrize("name", rivals.RIVALS)
@pytest.mark.parametrize("language", rivals.LANGUAGES)
def test_rivals_rank_what_matches(name, language):
    if name in rivals.absent():
        pytest.skip(f"{name} is not installed")
    rival = rivals.RIVALS[name](["alba rossa", "notte fonda e rossa", "mare"], language)
    assert rival.rank("rossa alba", 10) == [0, 1]
    assert rival.rank("rossa alba", 1) == [0]
    assert rival.rank('zebra "OR" *', 10) == []
    assert rival.rank("?!", 10) == []


@pytest.fixture
def data(tmp_path):
    """A folder of evaluation sets with one small set of each shape."""
    root = tmp_path / "data"
    links = root / "links-cpp-en"
    own = root / "adhoc-anchor-cpp-en"
    talk = root / "memory-locomo"
    write_all(links / "docs.jsonl.gz", [
        {"id": f"docs/{n}.md", "title": word, "body_nolinks": f"The {word} page."} for n, word in enumerate(("alpha", "beta"))
    ])  # fmt: skip
    write_all(own / "queries.dev.jsonl.gz", [
        {"query_id": "q1", "text": "alpha"}, {"query_id": "q2", "text": "nothing"}, {"query_id": "q3", "text": "beta page"},
    ])  # fmt: skip
    write_all(own / "qrels.dev.jsonl.gz", [
        {"query_id": "q1", "rel": {"docs/0.md": 1}}, {"query_id": "q2", "rel": {"docs/0.md": 0}},
        {"query_id": "q3", "rel": {"docs/0.md": 1, "docs/1.md": 2}},
    ])  # fmt: skip
    write_all(talk / "entries.dev.jsonl.gz", [
        {"id": f"c/{n}", "project": "c", "session": f"c/S{n}", "ts": "", "speaker": "Ann", "text": text}
        for n, text in enumerate(("I like ships", "I like trains"))
    ])  # fmt: skip
    write_all(talk / "queries.dev.jsonl.gz", [
        {"query_id": "t1", "project": "c", "category": "single-hop", "text": "ships"},
        {"query_id": "t2", "project": "c", "category": "adversarial", "text": "trains"},
    ])  # fmt: skip
    for name, rel in (("qrels", "c/0"), ("qrels_sessions", "c/S0")):
        write_all(talk / f"{name}.dev.jsonl.gz", [{"query_id": query, "rel": {rel: 1}} for query in ("t1", "t2")])
    return root


def write_all(path, rows):
    path.parent.mkdir(exist_ok=True, parents=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def test_sets_are_read(data):
    pages = quality.load("adhoc-anchor-cpp-en", str(data))
    assert pages.language == "en"
    assert pages.texts[0] == ("docs/0.md", "alpha", "The alpha page.", "", "")
    assert [question.id for question in pages.questions] == ["q1", "q3"], "without a relevant document it is no question"
    talk = quality.load("memory-locomo", str(data))
    assert talk.texts[0] == ("c/0", "", "Ann: I like ships", "c", "c/S0")
    assert talk.questions == [("t1", "ships", {"c/0": 1}, "c", {"c/S0": 1})], "adversarial questions are left out"


def test_what_each_question_found_is_noted_and_compared(data, tmp_path, capsys):
    noted = tmp_path / "noted.jsonl"
    command = ["adhoc-anchor-cpp-en", "--data", str(data), "--engine", "fts5", "--no-rivals"]
    assert quality.main([*command, "--per-query", str(noted)]) == 0
    first, second = lines_of(noted)
    assert (first["set"], first["arm"], first["query_id"]) == ("adhoc-anchor-cpp-en", "scaffale, fts5", "q1")
    assert first["ranked_ids"] == ["docs/0.md"]
    assert first["measures"]["nDCG@10"] == 1
    assert second["ranked_ids"] == ["docs/1.md", "docs/0.md"]
    capsys.readouterr()
    assert quality.main([*command, "--against", str(noted)]) == 0
    assert "better" not in capsys.readouterr().out
    first["measures"]["nDCG@10"] = 0.25
    noted.write_text("\n".join(map(json.dumps, (first, second))), encoding="utf-8")
    assert quality.main([*command, "--against", str(noted)]) == 0
    said = capsys.readouterr().out
    assert "adhoc-anchor-cpp-en, scaffale, fts5: 1 better, 0 worse, mean +0.3750" in said
    assert "+0.750  q1  alpha  → docs/0.md" in said


def test_without_sets_the_sample_alone_is_measured(tmp_path, capsys):
    assert quality.main(["--data", str(tmp_path / "none"), "--no-rivals"]) == 0
    said = capsys.readouterr()
    assert "no evaluation sets in" in said.err
    assert [line for line in said.out.splitlines() if "texts" in line] == [
        "sample-en: 54 texts, 55 questions", "sample-it: 40 texts, 48 questions",
    ]  # fmt: skip


def test_goals_are_held_against_outcomes():
    def outcome(arm, score):
        collection = SMALL._replace(name="adhoc-tldr-it", questions=SMALL.questions[:1])
        return quality.Outcome(collection, arm, {"q1": dict.fromkeys(("nDCG@10", "R@10", "R@100", "MRR@10"), score)}, {}, 1.0)

    outcomes = [outcome("scaffale, tantivy", 0.75), outcome("scaffale, fts5", 0.7), outcome("bm25s", 0.69)]
    blank, tantivy, fts5 = quality.verdicts(outcomes)
    assert blank == ""
    assert "nDCG@10 0.7500 (goal 0.72, met)   +0.0600 to bm25s (goal +0.02, met)" in tantivy
    assert "(goal 0.72, MISSED)   +0.0100 to bm25s (goal +0.02, MISSED)   -0.0500 to tantivy (goal within 0.02, MISSED)" in fts5


# --- the gate ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_gate_has_figures_for_every_engine(tmp_path):
    made = {}
    for figures in (quality.sample_figures, literals.figures, answerable.figures):
        own = tmp_path / figures.__module__ / figures.__name__
        own.mkdir(parents=True)
        made.update({figure.name: figure for figure in figures(str(own), 0)})
    assert len(made) == 12
    for engine in quality.ENGINES:
        assert sum(f", {engine}: " in name for name in made) == 4
    assert all(figure.slack < 0.05 for figure in made.values()), "they are the same on every machine"


@pytest.mark.parametrize(
    ("value", "baseline", "holds"), [(0.90, 0.90, True), (0.89, 0.90, True), (0.88, 0.90, False), (0.95, 0.99, True)]
)
def test_the_gate_lets_a_share_fall_by_the_slack_and_no_further_than_the_goal(value, baseline, holds):
    assert program._holds(Figure("share", value, 0.95, at_most=False, slack=0.02), baseline) is holds


def test_sets_that_are_not_at_hand_are_no_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "DATA", str(tmp_path / "none"))
    assert list(quality.set_figures(str(tmp_path), 0)) == []


# --- the reference scorer ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists(SCORER), reason="the reference scorer is not at hand")
def test_scores_are_those_of_the_reference_scorer(tmp_path, capsys, monkeypatch):
    noted = tmp_path / "run.jsonl"
    assert quality.main(["adhoc-anchor-powershell-en", "--engine", "tantivy", "--no-rivals", "--per-query", str(noted)]) == 0
    qrels = os.path.join(quality.DATA, "adhoc-anchor-powershell-en", "qrels.dev.jsonl.gz")
    ours = {line["query_id"]: line["measures"] for line in lines_of(noted)}
    theirs = scored(qrels, noted, "ndcg@10,recall@10,recall@100,mrr@10", monkeypatch, capsys)
    assert ours == {
        query: dict(zip(("nDCG@10", "R@10", "R@100", "MRR@10"), values, strict=True)) for query, values in theirs.items()
    }


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists(SCORER), reason="the reference scorer is not at hand")
def test_scores_of_turns_are_those_of_the_reference_scorer(tmp_path, capsys, monkeypatch):
    noted = tmp_path / "run.jsonl"
    assert quality.main(["memory-locomo", "--engine", "tantivy", "--no-rivals", "--per-query", str(noted)]) == 0
    lines = lines_of(noted)
    folder = os.path.join(quality.DATA, "memory-locomo")
    theirs = scored(os.path.join(folder, "qrels.dev.jsonl.gz"), noted, "recall@10", monkeypatch, capsys)
    assert {line["query_id"]: [line["measures"]["turns R@10"]] for line in lines} == {
        query: values for query, values in theirs.items() if query in {line["query_id"] for line in lines}
    }
    session_of = {text.id: text.part for text in quality.load("memory-locomo", quality.DATA).texts}
    for line in lines:
        line["ranked_ids"] = [session_of[turn] for turn in line["ranked_ids"]]
    noted.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    theirs = scored(os.path.join(folder, "qrels_sessions.dev.jsonl.gz"), noted, "recall@10", monkeypatch, capsys)
    assert all([line["measures"]["sessions R@10"]] == theirs[line["query_id"]] for line in lines)


def scored(qrels, run, metrics, monkeypatch, capsys):
    """What the reference scorer makes of a run, by query, rounded to four digits."""
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["score.py", str(qrels), str(run), "--per-query", "--metrics", metrics])
    runpy.run_path(SCORER, run_name="__main__")
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    return {line.pop("query_id"): list(line.values()) for line in said}
