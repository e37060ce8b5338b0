"""What each host sends to a hook, and what it takes for an answer. One row of `HOSTS` each; the policy knows none of them.

Output schemas are closed: on some hosts one stray key voids an answer. So an answer holds what it needs and no more, and no
answer is no output. Sources of every shape: docs/guard.md.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Json = dict[str, Any]


class Host:
    """How a host asks and is answered.

    `events` says which of its events is a prompt and which a call; `prompt` and `call` read a payload (the user's message;
    tool name and arguments), None where it holds none; `hint` and `guard` build an answer of a text; `otherwise` is the
    answer to a call of no concern, None where the host takes silence for an answer.
    """

    def __init__(
        self,
        events: dict[str, str],
        prompt: Callable[[Json], object],
        call: Callable[[Json], tuple[object, object]],
        hint: Callable[[str], Json],
        guard: Callable[[str], Json],
        otherwise: Json | None = None,
    ) -> None:
        self.events, self.prompt, self.call = events, prompt, call
        self.hint, self.guard, self.otherwise = hint, guard, otherwise


PROMPT, CALL = "prompt", "call"
MACHINES = frozenset(("system", "loop_wakeup", "schedule_wakeup", "poll_event"))  # `source` of prompts that no person wrote
TAIL = 262_144  # bytes of a transcript that are read


def _prompt(payload: Json) -> object:
    """Only the prompt itself, only of the person: sub-agents are prompted by the model."""
    if payload.get("agent_id") or payload.get("source") in MACHINES:
        return None
    return payload.get("prompt")


def _call(payload: Json) -> tuple[object, object]:
    return payload.get("tool_name"), payload.get("tool_input")


def _gemini_call(payload: Json) -> tuple[object, object]:
    """The name joins server and tool with single underscores; the context, where there is one, has them apart."""
    context = payload.get("mcp_context")
    if isinstance(context, dict) and isinstance(context.get("tool_name"), str):
        return context["tool_name"], payload.get("tool_input")
    return _call(payload)


def _cursor_call(payload: Json) -> tuple[object, object]:
    """The arguments come as an object or as its JSON."""
    name, given = _call(payload)
    if isinstance(given, str):
        import json

        try:
            given = json.loads(given)
        except ValueError:
            given = None
    return name, given


def _antigravity_call(payload: Json) -> tuple[object, object]:
    """A call of an MCP tool names the step, and the tool in its arguments."""
    call = payload.get("toolCall")
    if not isinstance(call, dict):
        return None, None
    name, given = call.get("name"), call.get("args")
    if name in ("mcp_tool", "call_mcp_tool") and isinstance(given, dict):
        inner = next((given[key] for key in ("Arguments", "arguments", "args") if key in given), None)
        if isinstance(inner, str):
            return _cursor_call({"tool_name": given.get("ToolName") or given.get("toolName"), "tool_input": inner})
        return given.get("ToolName") or given.get("toolName"), inner
    return name, given


def _antigravity_prompt(payload: Json) -> object:
    """There is no event for a prompt. Before the model is called, the transcript ends with it: once in a turn."""
    path = payload.get("transcriptPath")
    if not isinstance(path, str):
        return None
    import json

    with open(path, "rb") as file:
        file.seek(max(0, file.seek(0, 2) - TAIL))
        lines = file.read(TAIL).splitlines()
    for line in reversed(lines):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            who = str(entry.get("role") or entry.get("source") or entry.get("type") or "").lower()
            return _said(entry) if "user" in who else None
    return None


def _said(entry: Json) -> object:
    content = next((entry[key] for key in ("content", "text", "message", "prompt") if entry.get(key)), None)
    if isinstance(content, dict):
        return _said(content)
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content


def _context(event: str) -> Callable[[str], Json]:
    return lambda text: {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


_CLAUDE = Host(
    {"UserPromptSubmit": PROMPT, "PreToolUse": CALL},
    _prompt, _call, _context("UserPromptSubmit"), _context("PreToolUse"),
)  # fmt: skip
_GEMINI = Host(
    {"BeforeAgent": PROMPT, "BeforeTool": CALL},
    _prompt, _gemini_call, _context("BeforeAgent"),
    lambda text: {"systemMessage": text},  # before a tool the model cannot be told anything, the person can
)  # fmt: skip
_CURSOR = Host(
    {"beforeSubmitPrompt": PROMPT, "beforeMCPExecution": CALL, "preToolUse": CALL},
    _prompt, _cursor_call,
    lambda text: {"continue": True, "additional_context": text},
    lambda text: {"permission": "ask", "user_message": text, "agent_message": text},
)  # fmt: skip
_ANTIGRAVITY = Host(
    {"PreInvocation": PROMPT, "PreToolUse": CALL},
    _antigravity_prompt, _antigravity_call,
    lambda text: {"injectSteps": [{"ephemeralMessage": text}]},
    lambda text: {"decision": "ask", "reason": text},
    {"decision": "ask"},  # no decision would block the tool; this one leaves it to what the person has allowed
)  # fmt: skip
HOSTS = {
    "codex": _CLAUDE, "claude-code": _CLAUDE, "vscode": _CLAUDE, "gemini": _GEMINI, "cursor": _CURSOR,
    "antigravity": _ANTIGRAVITY,
}  # fmt: skip
