"""`scaffale eval`, from its arguments to its exit code."""

from __future__ import annotations

import json

import pytest

from scaffale.server.cli import main


@pytest.fixture
def shelf(tmp_path, monkeypatch, capsys):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("MEMORY_DB_PATH", "DOCS_DB_PATH", "MEMORY_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "keys.md").write_text("# Keys\n\nRotate the signing key.\n", encoding="utf-8")
    (notes / "backup.md").write_text("# Backups\n\nEvery night.\n", encoding="utf-8")
    (tmp_path / "questions.csv").write_text("query,expected\nsigning key,keys.md\nzebra,backup.md\n", encoding="utf-8")
    assert main(["scan", str(notes)]) == 0
    capsys.readouterr()
    return tmp_path


def test_rows_for_each_engine_and_for_each_miss(shelf, capsys):
    assert main(["eval", "questions.csv", "--shelf", "notes"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        ["tantivy", "0.500", "0.500", "1 of 2"],
        ["fts5", "0.500", "0.500", "1 of 2"],
        ["like", "0.500", "0.500", "1 of 2"],
        [""],
        ["tantivy fts5 like", "3", "zebra", str(shelf / "notes" / "backup.md"), ""],
    ]


def test_the_answer_as_json(shelf, capsys):
    assert main(["eval", "questions.csv", "--engine", "fts5", "--k", "1", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["k"], answer["questions"], answer["documents"]) == (True, 1, 2, 2)
    (engine,) = answer["engines"]
    assert (engine["engine"], engine["recall"], len(engine["missed"])) == ("fts5", 0.5, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nothing.csv"], 3, "no file nothing.csv"),
        (["notes/keys.md"], 2, "neither JSON nor a head"),
        (["questions.csv", "--shelf", "x"], 3, "no shelf 'x'"),
        (["questions.csv", "--k", "0"], 2, "k: must be between"),
        (["questions.csv", "--engine", "grep"], 2, "invalid choice"),
    ],
)
def test_what_is_wrong_is_said(shelf, capsys, arguments, code, said):
    assert main(["eval", *arguments]) == code
    assert said in capsys.readouterr().err
