"""Every block of code in the documentation is run, or says why not.

Shell blocks run in a small world (a repository with notes, shelves, tags, links, memory, a session), Python blocks in a
process of their own, JSON and TOML are read. `<!-- not run: REASON -->` before a block excuses it; the reasons are few.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from scaffale import safekeeping
from scaffale import settings as settings_module
from scaffale.docs import Docs
from scaffale.memory import Memory

CHECKOUT = Path(__file__).parents[2]
PAGES = [
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    CHECKOUT / "SECURITY.md",
    *sorted((CHECKOUT / "docs").glob("*.md")),
]
BLOCK = re.compile(r"(?:<!-- not run: ([^\n]*?) -->\n+)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REASONS = {  # why a block need not be run here, and where it is instead
    "it serves until it is stopped": "test_http_process.py, tests/browser and the tests of stdio start it",
    "it asks a person on a terminal": "test_memory_together.py and the tests of the review play the person",
    "it needs a model, which is not shipped": "tests of vectors bring a small one",
    ".ci/run runs it, from the checkout alone": ".ci/run",
    "it fetches other programs": "test_real_hosts.py, where they are there",
}
SHELL = ("sh", "bash")
PROJECT = "git:example.org/acme/app"


class Block(NamedTuple):
    """A block and where it stands."""

    page: str
    line: int
    language: str
    text: str
    excuse: str | None


def blocks():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start(3))
            yield Block(page.name, line, match[2], match[3], match[1])


BLOCKS = list(blocks())


def of(*languages):
    return [
        pytest.param(block, id=f"{block.page}:{block.line}")
        for block in BLOCKS
        if block.language in languages and not block.excuse
    ]


def test_every_block_is_of_a_kind_that_is_tried_or_says_why_not():
    assert len(BLOCKS) > 50
    unknown = {
        (block.page, block.line, block.language)
        for block in BLOCKS
        if block.language not in (*SHELL, "python", "json", "toml") and not block.excuse
    }
    assert not unknown
    excused = {block.excuse for block in BLOCKS if block.excuse}
    assert excused <= set(REASONS)


@pytest.mark.parametrize("block", of("json", "toml"))
def test_data_can_be_read(block):
    if block.language == "toml":
        assert tomllib.loads(block.text)
        return
    try:
        assert json.loads(block.text)
    except ValueError:
        assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())


@pytest.mark.parametrize("block", of("python"))
def test_python_runs_and_gives_what_the_comments_say(block, tmp_path):
    lines = []
    for line in block.text.splitlines():
        code, comment, value = line.partition("  # ")
        said = re.fullmatch(r"[A-Z_]+", value.strip())
        lines.append(f"assert {code.strip()} == {value.strip()!r}" if comment and said else line)
    home = {**os.environ, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, cwd=tmp_path, env=home)


# --- the world in which shell blocks run ---------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """A home with stores, and a repository `app` in it; returns the home and what IDs stand for."""
    home = tmp_path_factory.mktemp("world")
    app, notes = home / "app", home / "notes"
    for folder in ("docs", "docs/security", "docs/deploy"):
        (app / folder).mkdir(parents=True)
    notes.mkdir()
    for number in range(14):
        (app / "docs" / f"page{number}.md").write_text(
            f"# Page {number}\n\nThe write-ahead log of page {number}.\n\n"
            "## Recovery\n\nA checkpoint.\n\n## Keys\n\nThey rotate.\n"
            + "\nOne more line.\n" * 30,
            encoding="utf-8",
        )
    for name in ("security/keys", "deploy/rights", "deploy/index"):
        (app / "docs" / f"{name}.md").write_text(
            f"# {name}\n\nHow to rotate the signing key, and who may deploy.\n", encoding="utf-8"
        )
    (notes / "a.md").write_text("# A\n\nwrite-ahead log\n", encoding="utf-8")
    (app / "NOTES.md").write_text("# Notes\n\n## Decision\n\nDecision: we use pnpm.\n", encoding="utf-8")
    (app / "AGENTS.md").write_text(
        "# Rules\n\n## Style\n\n- Always run the linter\n- Never push on Friday\n", encoding="utf-8"
    )
    (app / "questions.jsonl").write_text(
        '{"query": "rotate the signing key", "expected": ["security/keys.md"]}\n', encoding="utf-8"
    )
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (
        ["init", "-q"], ["remote", "add", "origin", "https://example.org/acme/app.git"], ["add", "."], ["commit", "-qm", "begin"],
        ["tag", "v1"], ["commit", "-q", "--allow-empty", "-m", "fix: the expiry is inclusive\n\nBecause of <="],
    ):  # fmt: skip
        subprocess.run(
            [*git, *command], check=True, cwd=app, capture_output=True, env={**os.environ, "HOME": str(home)}
        )
    settings = settings_module.load({"HOME": str(home)}, str(app))
    with Docs(settings) as docs, Memory(settings) as memory:
        docs.scan_folder(folder_path=str(app / "docs"), shelf="guide")
        docs.scan_folder(folder_path=str(notes), shelf="notes")
        for shelf in ("standard", "client", "runbooks"):
            docs.create_shelf(name=shelf)
        for tag in ("billing", "howto"):
            docs.create_tag(name=tag)
        for target in (2, 3, 4):
            docs.manage_document_links(
                operation="add", origin="manual", source_document_id=1, target_document_id=target
            )
        said = {"actor": "a", "project_id": PROJECT, "scope": "s", "source_type": "decision"}
        entry, gone, other = (
            memory.add_entry(topic=f"t{number}", content=f"a fact about {number} and its expiry", **said).entry_id
            for number in range(3)
        )
        memory.invalidate_entry(entry_id=gone, project_id=PROJECT, actor="a", reason="x")
        link = memory.link_entries(
            source_entry_id=entry, target_entry_id=other, target_type="memory_entry", relation="explains", project_id=PROJECT,
            actor="a", origin="manual",
        ).link_id  # fmt: skip
        memory.propose(source_path=str(app / "AGENTS.md"), actor="a", project_id=PROJECT, scope="app", anywhere=True)
        waiting = memory.list_proposals(project_id=PROJECT).proposals[0].id
        memory.export_project(project_id=PROJECT, save_path=str(app / "app.json"), anywhere=True, actor="a")
        docs.export_shelf(shelf="guide", save_path=str(app / "guide.json"))
        memory.create_token(name="bob", actor="a")
        memory.open_session(session_id="q17", title="Ablations", project_id=PROJECT, actor="a")
        memory.record_decision(
            session_id="q17", phase="F1", type="concept_clarified", subject="Ablation", detail="A procedure.", project_id=PROJECT,
            actor="a",
        )  # fmt: skip
        memory.export_concepts(project_id=PROJECT, save_path=str(app / "registry.jsonl"), anywhere=True, actor="a")
    safekeeping.back_up(settings, str(app / "scaffale-december"))
    return home, {"ID": entry, "GONE": gone, "LINK": link, "PROPOSAL": waiting}


def filled(text, ids):
    """The block with what stands for something of the world in place of its capitals."""
    text = re.sub(r"\bmemory delete ID\b", f"memory delete {ids['GONE']}", text)
    text = re.sub(r"\bmemory (accept|decline) ID\b", rf"memory \1 {ids['PROPOSAL']}", text)
    text = text.replace("token revoke ada", "token revoke bob")
    return re.sub(r"\b(ID|LINK)\b", lambda match: ids[match[1]], text)


@pytest.mark.parametrize("block", of(*SHELL))
def test_shell_runs(block, world, tmp_path):
    """A check that finds something (`doctor`) may answer 1: the world is no tidy one."""
    source, ids = world
    home = tmp_path / "home"
    shutil.copytree(source, home)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "DOCS_"))}
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "scaffale").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m scaffale.server.cli "$@"\n', encoding="utf-8"
    )
    (programs / "scaffale").chmod(0o755)
    # `shelf export` and others refuse to write over what is there.
    for made in re.findall(r"\bexport .*?(\S+\.(?:jsonl|json|zip))", block.text):
        (home / "app" / made).unlink(missing_ok=True)
    for made in re.findall(r"\bscaffale backup (\S+)", block.text):
        shutil.rmtree(home / "app" / made)
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", filled(block.text, ids)],
        input="what comes in from elsewhere\n", capture_output=True, text=True, check=False, cwd=home / "app", timeout=120,
        env={**kept, "HOME": str(home), "USERPROFILE": str(home), "PATH": f"{programs}{os.pathsep}{kept['PATH']}"},
    )  # fmt: skip
    checks = block.text.strip().rpartition("scaffale ")[2].startswith("doctor")
    assert ran.returncode in ((0, 1) if checks else (0,)), ran.stdout + ran.stderr
