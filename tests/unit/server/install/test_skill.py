"""The skill against the specification of Agent Skills (agentskills/agentskills, docs/specification.mdx)."""

import json
import re

from scaffale.server.cli import main
from scaffale.server.install.clients import SKILL, rules, skill_files

FILES = skill_files()
TEXT = FILES[f"{SKILL}/SKILL.md"]


def front_matter():
    """Keys and values of the front matter; nested ones under their parent's name."""
    [matter] = re.findall(r"\A---\n(.*?)\n---\n", TEXT, re.S)
    return dict(re.findall(r"^([a-z-]+):[ ]?(.*)$", matter, re.M))


def test_it_keeps_to_the_specification():
    matter = front_matter()
    assert set(matter) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert matter["name"] == SKILL
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", SKILL)
    assert len(SKILL) <= 64
    assert 1 <= len(matter["description"]) <= 1024
    assert "Use when" in matter["description"]
    assert 1 <= len(matter["compatibility"]) <= 500
    assert len(TEXT.splitlines()) < 500


def test_what_it_refers_to_is_there():
    named = set(re.findall(r"\]\(([^)]+)\)", TEXT))
    assert named == {name.partition("/")[2] for name in FILES if "/references/" in name}


def test_the_evals_are_whole():
    evals = json.loads(FILES[f"{SKILL}/evals/evals.json"])
    assert evals["skill_name"] == SKILL
    assert all({"id", "prompt", "expected_output", "expectations"} == set(each) for each in evals["evals"])
    assert len({each["id"] for each in evals["evals"]}) == len(evals["evals"]) >= 3


def test_it_says_what_it_must():
    for text in (TEXT, rules()):
        assert "hint" in text
        assert "consent" in text
        assert "invalidated" in text
        assert re.search(r"code,\s+tickets,\s+documentation", text)
    assert "confirm=true" in TEXT
    assert len(rules().splitlines()) < 20


def test_the_command_prints_it(capsys):
    assert main(["skill"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in FILES)
    assert main(["skill", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, **FILES}
