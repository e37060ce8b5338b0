"""What each client wants, and where. One row of `CLIENTS` each; values are only such as the client is known to accept.

Sources of every path and shape: docs/guard.md.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.server.hooks import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

NAME = "scaffale"  # of the server, in every client
PROFILES = ("prudent", "auditable")
SKILL = "memory-operator"
HERE = os.path.dirname(os.path.abspath(__file__))
HOOK = os.path.join(os.path.dirname(HERE), "hooks", "__main__.py")
MODULE = "scaffale.server.cli"
REMOTE = ("url", "httpUrl", "serverUrl")  # of an entry for a server that is not started here
MARKS = ("scaffale-hook", "scaffale/server/hooks/__main__.py", "scaffale\\server\\hooks\\__main__.py")  # of a command of ours
SECONDS = 5

ENTRY, KEY, ITEM, BLOCK, WHOLE = "entry", "key", "item", "block", "whole"


class Wanted(NamedTuple):
    """One thing that a file shall hold: a server `entry`, a `key` with its value, an `item` of a list that is known by its
    command, a marked `block`, or the `whole` file."""

    kind: str
    path: tuple[str, ...]
    value: Any


class Target(NamedTuple):
    """A file and what it shall hold. `format` names the module that changes it: jsonc, toml, blocks, or whole."""

    file: str
    format: str
    wanted: tuple[Wanted, ...]


class Place(NamedTuple):
    """Where a client is configured. `home` is the person's folder, `config` the file of the server entry if it was named."""

    home: str
    environ: Mapping[str, str]
    config: str | None = None

    def under(self, *parts: str) -> str:
        """A path in the home folder."""
        return os.path.join(self.home, *parts)

    def beside(self, default: str, *parts: str) -> str:
        """A path beside the named file, or in the client's own folder."""
        return os.path.join(os.path.dirname(os.path.abspath(self.config)) if self.config else default, *parts)

    def application(self, *parts: str) -> str:
        """A path in the system's folder for applications."""
        if sys.platform == "darwin":
            return self.under("Library", "Application Support", *parts)
        if os.name == "nt":
            return os.path.join(self.environ.get("APPDATA") or self.under("AppData", "Roaming"), *parts)
        return os.path.join(self.environ.get("XDG_CONFIG_HOME") or self.under(".config"), *parts)


class Client(NamedTuple):
    """`targets(place, profile)` gives its files; `elsewhere(place, folder)` those of other scopes, where ours may stand twice."""

    title: str
    targets: Callable[[Place, str | None], Iterator[Target]]
    elsewhere: Callable[[Place, str], tuple[str, ...]] = lambda place, folder: ()


def server() -> dict[str, Any]:
    """The command that starts our server, by its full path: clients have a `PATH` of their own."""
    program = os.path.join(os.path.dirname(sys.executable), "scaffale.exe" if os.name == "nt" else "scaffale")
    if os.path.exists(program):
        return {"command": program, "args": ["serve"]}
    return {"command": sys.executable, "args": ["-m", MODULE, "serve"]}


def hook(host: str, *event: str) -> str:
    """The hook's command in its fastest form: no search for packages, the standard library alone."""
    import shlex
    import subprocess

    words = [sys.executable, "-I", "-S", HOOK, host, *event]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def is_ours(item: object) -> bool:
    """Whether an item of a list of hooks runs our hook."""
    if isinstance(item, dict):
        return any(is_ours(value) for value in item.values())
    if isinstance(item, list):
        return any(is_ours(value) for value in item)
    return isinstance(item, str) and any(mark in item for mark in MARKS)


def starts_us(entry: object) -> bool:
    """Whether the entry of a server starts Scaffale, from wherever. An entry of our name may start something else."""
    if not isinstance(entry, dict) or any(name in entry for name in REMOTE):
        return False
    arguments = entry.get("args")
    program = str(entry.get("command")).replace("\\", "/").rpartition("/")[2].lower()
    return program in ("scaffale", "scaffale.exe") or (isinstance(arguments, list) and MODULE in arguments)


def _tools() -> str:
    return "|".join(sorted(calls.TOOLS))


def _handler(host: str, *event: str, timeout: int | None = SECONDS) -> dict[str, Any]:
    return {"type": "command", "command": hook(host, *event), **({"timeout": timeout} if timeout else {})}


def _grouped(
    root: tuple[str, ...], host: str, prompt: str, call: str, matcher: str, timeout: int = SECONDS
) -> tuple[Wanted, ...]:
    """Hooks as Claude Code, Codex and Gemini CLI group them: a list of matchers for each event, each with its handlers."""
    return (
        Wanted(ITEM, (*root, prompt), {"hooks": [_handler(host, timeout=timeout)]}),
        Wanted(ITEM, (*root, call), {"matcher": matcher, "hooks": [_handler(host, timeout=timeout)]}),
    )


def skill_files() -> dict[str, str]:
    """The skill: texts by path below a folder of skills."""
    root = os.path.join(HERE, "skill")
    texts = {}
    for path, _, names in sorted(os.walk(os.path.join(root, SKILL))):
        for name in sorted(names):
            if not name.endswith((".md", ".json")):
                continue
            with open(os.path.join(path, name), encoding="utf-8") as file:
                texts[os.path.relpath(os.path.join(path, name), root).replace(os.sep, "/")] = file.read()
    return texts


def _skill(folder: str) -> Iterator[Target]:
    """The skill's files, below a folder of skills."""
    for name, text in skill_files().items():
        yield Target(os.path.join(folder, *name.split("/")), "whole", (Wanted(WHOLE, (name,), text),))


def rules() -> str:
    """The short rules for `AGENTS.md`."""
    with open(os.path.join(HERE, "rules.md"), encoding="utf-8") as file:
        return file.read().strip()


def rules_target(path: str) -> Target:
    """A Markdown file that shall hold the rules."""
    return Target(path, "blocks", (Wanted(BLOCK, ("rules",), rules()),))


# --- clients -------------------------------------------------------------------------------------------------------------


def _codex(place: Place, profile: str | None) -> Iterator[Target]:
    folder = place.environ.get("CODEX_HOME") or place.under(".codex")
    wanted = [Wanted(ENTRY, ("mcp_servers", NAME), {**server(), "startup_timeout_sec": 30})]
    wanted += _grouped(("hooks",), "codex", "UserPromptSubmit", "PreToolUse", f"^mcp__.+__({_tools()})$")
    if profile:
        wanted += codex_policy(profile)
    yield Target(place.config or os.path.join(folder, "config.toml"), "toml", tuple(wanted))
    yield rules_target(place.beside(folder, "AGENTS.md"))
    yield from _skill(place.beside(folder, "skills"))


def codex_policy(profile: str) -> Iterator[Wanted]:
    """Every writing tool asks; Codex makes no memories of its own, and uses those it has only in the prudent profile."""
    yield Wanted(KEY, ("approvals_reviewer",), "user")
    yield Wanted(KEY, ("features", "memories"), True)
    yield Wanted(KEY, ("memories", "use_memories"), profile == "prudent")
    yield Wanted(KEY, ("memories", "generate_memories"), False)
    yield Wanted(KEY, ("memories", "disable_on_external_context"), True)
    for tool in sorted(calls.TOOLS):
        yield Wanted(KEY, ("mcp_servers", NAME, "tools", tool, "approval_mode"), "prompt")


def _claude_code(place: Place, _profile: str | None) -> Iterator[Target]:
    own = place.environ.get("CLAUDE_CONFIG_DIR")
    folder = own or place.under(".claude")
    servers = place.config or (os.path.join(own, ".claude.json") if own else place.under(".claude.json"))
    yield Target(servers, "jsonc", (Wanted(ENTRY, ("mcpServers", NAME), {"type": "stdio", **server()}),))
    matcher = f"^mcp__.+__({_tools()})$"
    yield Target(
        place.beside(folder, "settings.json"),
        "jsonc",
        _grouped(("hooks",), "claude-code", "UserPromptSubmit", "PreToolUse", matcher),
    )
    yield from _skill(place.beside(folder, "skills"))


def _claude_desktop(place: Place, _profile: str | None) -> Iterator[Target]:
    path = place.config or place.application("Claude", "claude_desktop_config.json")
    yield Target(path, "jsonc", (Wanted(ENTRY, ("mcpServers", NAME), server()),))


def _vscode(place: Place, _profile: str | None) -> Iterator[Target]:
    path = place.config or place.application("Code", "User", "mcp.json")
    yield Target(path, "jsonc", (Wanted(ENTRY, ("servers", NAME), {"type": "stdio", **server()}),))
    hooks = tuple(Wanted(ITEM, ("hooks", event), _handler("vscode")) for event in ("UserPromptSubmit", "PreToolUse"))
    yield Target(place.beside(place.under(".copilot"), "hooks", f"{NAME}.json"), "jsonc", hooks)
    yield from _skill(place.beside(place.under(".copilot"), "skills"))


def _cursor(place: Place, _profile: str | None) -> Iterator[Target]:
    folder = place.under(".cursor")
    yield Target(place.config or os.path.join(folder, "mcp.json"), "jsonc", (Wanted(ENTRY, ("mcpServers", NAME), server()),))
    hooks = tuple(
        Wanted(ITEM, ("hooks", event), {"command": hook("cursor")}) for event in ("beforeSubmitPrompt", "beforeMCPExecution")
    )
    yield Target(place.beside(folder, "hooks.json"), "jsonc", (Wanted(KEY, ("version",), 1), *hooks))
    yield from _skill(place.beside(folder, "skills"))


def _gemini(place: Place, _profile: str | None) -> Iterator[Target]:
    folder = place.under(".gemini")
    hooks = _grouped(("hooks",), "gemini", "BeforeAgent", "BeforeTool", f"^mcp_.+_({_tools()})$", timeout=SECONDS * 1000)
    wanted = (Wanted(ENTRY, ("mcpServers", NAME), server()), *hooks)
    yield Target(place.config or os.path.join(folder, "settings.json"), "jsonc", wanted)
    yield from _skill(place.beside(folder, "skills"))


def _antigravity(place: Place, _profile: str | None) -> Iterator[Target]:
    folder = place.under(".gemini", "config")
    yield Target(
        place.config or os.path.join(folder, "mcp_config.json"), "jsonc", (Wanted(ENTRY, ("mcpServers", NAME), server()),)
    )
    call = {"matcher": f"mcp_tool|call_mcp_tool|.*({_tools()})", "hooks": [_handler("antigravity", "PreToolUse")]}
    hooks = (
        Wanted(ITEM, (NAME, "PreInvocation"), _handler("antigravity", "PreInvocation")),
        Wanted(ITEM, (NAME, "PreToolUse"), call),
    )
    yield Target(place.beside(folder, "hooks.json"), "jsonc", hooks)


def _windsurf(place: Place, _profile: str | None) -> Iterator[Target]:
    path = place.config or place.under(".codeium", "windsurf", "mcp_config.json")
    yield Target(path, "jsonc", (Wanted(ENTRY, ("mcpServers", NAME), server()),))


def _zed(place: Place, _profile: str | None) -> Iterator[Target]:
    path = place.config or place.application("zed", "settings.json")
    yield Target(path, "jsonc", (Wanted(ENTRY, ("context_servers", NAME), server()),))


def _in(*names: str) -> Callable[[Place, str], tuple[str, ...]]:
    """Paths of other scopes: `~/…` in the home folder, others in the folder at hand."""
    return lambda place, folder: tuple(
        place.under(*name[2:].split("/")) if name.startswith("~/") else os.path.join(folder, *name.split("/")) for name in names
    )


_CLAUDES = (".claude/settings.json", ".claude/settings.local.json", "~/.claude/settings.local.json", ".mcp.json")
CLIENTS = {
    "codex": Client("Codex", _codex, _in("~/.codex/hooks.json", ".codex/config.toml", ".codex/hooks.json")),
    "claude-code": Client("Claude Code", _claude_code, _in(*_CLAUDES)),
    "claude-desktop": Client("Claude Desktop", _claude_desktop),
    "vscode": Client("VS Code", _vscode, _in(".vscode/mcp.json", ".github/hooks/scaffale.json", *_CLAUDES[:2])),
    "cursor": Client("Cursor", _cursor, _in(".cursor/mcp.json", ".cursor/hooks.json")),
    "gemini": Client("Gemini CLI", _gemini, _in(".gemini/settings.json")),
    "antigravity": Client("Antigravity", _antigravity, _in(".agents/hooks.json", ".agents/mcp_config.json")),
    "windsurf": Client("Windsurf", _windsurf),
    "zed": Client("Zed", _zed),
}
