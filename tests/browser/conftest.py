"""A real browser before a real `scaffale ui`. Without a browser these tests are skipped, and say so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from scaffale import settings as settings_module
from scaffale.docs import Docs
from scaffale.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = [
    "--no-sandbox", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-quic", "--no-first-run",
]  # fmt: skip
HOSTILE = """# Hostile

<script>document.title = "owned"</script>
<img src=x onerror="document.title='owned'"> ![beacon](http://127.0.0.1:9/beacon.png)
<iframe src="http://127.0.0.1:9/"></iframe><form action="http://127.0.0.1:9/"><button>go</button></form>
<a href="javascript:document.title='owned'">click</a> <svg onload="document.title='owned'"></svg>
<style>body { display: none }</style>

\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202egnp.exe e\u0301\u0301\u0301
"""


@pytest.fixture(scope="module")  # the driver keeps a loop running in this thread: it must be gone before other tests want one
def browser() -> Iterator[object]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip("no browser: Debian's package `chromium` has one")
    api = pytest.importorskip("playwright.sync_api", reason="no driver for the browser: the extra `browser` has it")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=OPTIONS)
        yield opened
        opened.close()


class Page:
    """`scaffale ui` on a home of its own."""

    def __init__(self, home: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "DOCS_"))}
        self.home = home
        self.log = home / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "scaffale.server.cli", "ui", "--no-open", "--port", "0", "--json"],
                stdout=subprocess.PIPE, stderr=log, text=True, env={**kept, "HOME": str(home), "USERPROFILE": str(home)},
            )  # fmt: skip
        self.address = json.loads(self.process.stdout.readline())["address"]

    def stop(self) -> int:
        self.process.terminate()
        code = self.process.wait(30)
        self.process.stdout.close()
        return code


def kept_in(home: Path) -> None:
    """A small world: three shelves of which one stands above another, links, memory of a project, something to review."""
    notes = home / "notes"
    for shelf, names in {
        "standard": ["naming", "errors", "reviews"], "runbooks": ["deploy", "rollback", "keys", "alerts"], "hostile": [],
    }.items():  # fmt: skip
        (notes / shelf / "deep").mkdir(parents=True)
        for name in names:
            text = f"---\ntags: [{shelf}]\n---\n\n# About {name}\n\nHow we do {name} and why.\n\n"
            text += f"## Steps of {name}\n\nFirst look, then {name}.\n"
            (notes / shelf / ("deep" if name in ("keys", "alerts") else "") / f"{name}.md").write_text(
                text, encoding="utf-8"
            )
    (notes / "hostile" / "hostile.md").write_text(HOSTILE, encoding="utf-8")
    (notes / "hostile" / "long.md").write_text(
        "".join(f"# Heading {n}\n\nword\n\n" for n in range(10_000)), encoding="utf-8"
    )
    (notes / "hostile" / "huge.md").write_text(
        "# Huge\n\n" + ("a long line of words that goes on " * 30 + "\n\n") * 4_800, encoding="utf-8"
    )
    settings = settings_module.load({"HOME": str(home)}, str(home))
    with Docs(settings) as docs, Memory(settings) as memory:
        for shelf in ("standard", "runbooks", "hostile"):
            docs.scan_folder(folder_path=str(notes / shelf), shelf=shelf)
        docs.manage_shelf_links(operation="add_parent", shelf="runbooks", parent_shelf="standard")
        ids = {dot.title: dot.id for dot in docs.picture().documents}
        for source, target, relation, confidence in (
            ("About deploy", "About rollback", "depends_on", 0.9), ("About deploy", "About errors", "references_standard", 0.7),
            ("About keys", "About alerts", "related_to", 0.3),
        ):  # fmt: skip
            docs.manage_document_links(
                operation="add", origin="heuristic", source_document_id=ids[source], target_document_id=ids[target],
                relation=relation, confidence=confidence, rationale=f"{source} names {target}",
            )  # fmt: skip
        for number, text in enumerate(("Deploys wait for a lock", "Keys rotate weekly", "Alerts go to the channel")):
            memory.add_entry(
                actor="ada", project_id="git:example.org/acme/app", scope="ops", topic=f"t{number}", title=text,
                content=f"{text}. <script>document.title='owned'</script> It was decided after the outage.",
                source_type="decision", tags=["ops"],
            )  # fmt: skip
        (home / "AGENTS.md").write_text(
            "# Rules\n\n- Always run the linter\n- Never push on Friday\n", encoding="utf-8"
        )
        memory.propose(
            source_path=str(home / "AGENTS.md"),
            actor="ada",
            project_id="git:example.org/acme/app",
            scope="ops",
            anywhere=True,
        )


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    home = tmp_path / "home"
    home.mkdir()
    kept_in(home)
    opened = Page(home)
    yield opened
    if opened.process.poll() is None:
        opened.stop()


@pytest.fixture
def tab(browser, page) -> Iterator[object]:
    """A tab; whatever it complains of, or asks of another host, fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    opened = context.new_page()
    trouble: list[str] = []
    opened.on("pageerror", lambda error: trouble.append(f"script: {error}"))
    opened.on(
        "console", lambda message: trouble.append(f"console: {message.text}") if message.type == "error" else None
    )
    opened.on(
        "request",
        lambda request: None if request.url.startswith(page.address) else trouble.append(f"asked: {request.url}"),
    )
    opened.trouble = trouble
    yield opened
    context.close()
    assert trouble == []
