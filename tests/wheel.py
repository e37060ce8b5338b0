"""The built wheel alone: `python -m tests.wheel` builds it, installs it apart from the checkout, and does the main job.

What a checkout hides comes out here: a module or `py.typed` left out of the wheel, a name that only the tests provide,
a program that does not start from another folder. The dependencies are those of the Python that runs it. Exit code 0
when all holds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
NOTE = "# Frobnicator\n\n## Linux\n\nRun it with care.\n"
LIBRARY = """
import os, sys
import scaffale
assert os.path.dirname(os.path.dirname(scaffale.__file__)) == sys.argv[1], scaffale.__file__
with scaffale.open_docs() as docs:
    assert docs.scan_folder(folder_path=sys.argv[2], shelf="notes").new == 1
    hit = docs.search(query="run with care").results[0]
    assert hit.heading_path == ("Frobnicator", "Linux"), hit
    assert docs.read_document(document_id=hit.id, section="Linux").content.endswith("Run it with care.\\n")
with scaffale.open_memory() as memory:
    added = memory.add_entry(
        actor="wheel", project_id="p", scope="s", topic="t", content="kept by the library", source_type="decision"
    )
    assert memory.search(query="library", project_id="p").results[0].id == added.entry_id
"""


class Broken(Exception):
    """What does not hold."""


def check(holds: object, what: str) -> None:
    """Say what holds, or raise `Broken`."""
    if not holds:
        raise Broken(what)
    print(f"  {what}")


def build(folder: Path) -> Path:
    """The wheel of this checkout."""
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(CHECKOUT))
    wheels = list(folder.glob("*.whl"))
    check(len(wheels) == 1, f"one wheel: {', '.join(wheel.name for wheel in wheels)}")
    return wheels[0]


def inspect(wheel: Path) -> None:
    """What must lie in it, and what must not."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        headers = archive.read(metadata).decode()
        licence = next((name for name in names if name.endswith(".dist-info/licenses/LICENSE")), None)
        texts = archive.read(licence).decode() if licence else ""
    modules = {path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "scaffale").rglob("*.py")}
    check(modules <= names, f"all {len(modules)} modules are in it")
    check("scaffale/py.typed" in names, "py.typed is in it")
    page = {path.relative_to(CHECKOUT).as_posix() for path in (CHECKOUT / "scaffale/server/web").rglob("*.*")}
    page = {name for name in page if "__pycache__" not in name}
    check(page <= names, f"all {len(page)} files of the web page are in it")
    check("Apache License" in texts, "the licence is in it")
    tops = {name.partition("/")[0] for name in names}
    check({top for top in tops if not top.endswith(".dist-info")} == {"scaffale"}, "it claims one name and brings no tests")
    check("License-Expression: Apache-2.0" in headers, "its metadata name the licence")
    check("Requires-Python: >=3.11" in headers, "its metadata name the Python")


def use(home: Path, wheel: Path) -> None:
    """Install it apart and do the main job from another folder: as a library, from the command line, over MCP."""
    installed, elsewhere, notes = home / "installed", home / "elsewhere", home / "notes"
    pip("install", "--no-deps", "--target", str(installed), str(wheel))
    elsewhere.mkdir()
    notes.mkdir()
    (notes / "note.md").write_text(NOTE, encoding="utf-8")
    program = installed / "bin" / "scaffale" if os.name != "nt" else installed / "bin" / "scaffale.exe"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_", "DOCS_", "PYTHON"))},
        "PYTHONPATH": str(installed),
        "PYTHONWARNINGS": "error",
        "HOME": str(home),
        "USERPROFILE": str(home),
    }

    def run(*command: str, said: str = "") -> str:
        ran = subprocess.run(
            command, input=said, capture_output=True, text=True, check=False, cwd=elsewhere, env=environment, timeout=120
        )
        if ran.returncode:
            raise Broken(f"{command[:4]} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        return ran.stdout

    run(sys.executable, "-c", LIBRARY, str(installed), str(notes))
    check(True, "the library scans, searches, reads, adds")
    run(str(program), "add", "kept from the shell", "--scope", "s", "--topic", "t", "--project-id", "p")
    found = json.loads(run(str(program), "search", "shell", "care", "--project-id", "p", "--json"))
    check(found["memory"]["results"][0]["snippet"] == "kept from the >>>shell<<<", "the command line keeps and finds")
    check(found["docs"]["results"][0]["freshness"] == "same", "and shares the stores with the library")
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wheel", "version": "0"}}
    lines = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    said = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    answers = [json.loads(line) for line in run(str(program), "serve", said=said).splitlines()]
    check([answer["id"] for answer in answers] == [1, 2], "the server answers each request once")
    tools = {tool["name"] for tool in answers[1]["result"]["tools"]}
    check({"memory_search", "docs_navigation"} <= tools, f"and lists {len(tools)} tools")


def pip(*arguments: str) -> None:
    """Run pip quietly; what it says is shown only when it fails."""
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise Broken(f"pip {' '.join(arguments)}:\n{ran.stdout}{ran.stderr}")


def main() -> int:
    """Build, inspect, use. Returns the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        try:
            (home / "wheels").mkdir()
            wheel = build(home / "wheels")
            inspect(wheel)
            use(home, wheel)
        except Broken as broken:
            print(f"the wheel does not hold: {broken}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
