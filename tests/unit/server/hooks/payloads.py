"""What hosts send, in the shapes that docs/guard.md names the sources of: one prompt and one call each."""

import json

BASE = {"session_id": "s-1", "transcript_path": "/tmp/none.jsonl", "cwd": "/work", "permission_mode": "default"}
CURSOR = {
    "conversation_id": "c-1", "generation_id": "g-1", "model": "m", "cursor_version": "3.1.0", "workspace_roots": ["/work"],
    "user_email": None, "transcript_path": None,
}  # fmt: skip
AGY = {
    "conversationId": "c-1", "workspacePaths": ["/work"], "transcriptPath": "/none", "artifactDirectoryPath": "/none",
    "modelName": "auto",
}  # fmt: skip
EVENTS = {  # host → event of a prompt, event of a call
    "codex": ("UserPromptSubmit", "PreToolUse"),
    "claude-code": ("UserPromptSubmit", "PreToolUse"),
    "vscode": ("UserPromptSubmit", "PreToolUse"),
    "gemini": ("BeforeAgent", "BeforeTool"),
    "cursor": ("beforeSubmitPrompt", "beforeMCPExecution"),
    "antigravity": ("PreInvocation", "PreToolUse"),
}
HOSTS = tuple(EVENTS)


def prompt(host, text, folder=None):
    """The payload of a prompt; Antigravity's lies in a transcript, which is written to `folder`."""
    if host == "antigravity":
        path = folder / "transcript.jsonl"
        lines = [{"role": "user", "content": "earlier"}, {"role": "model", "content": "yes"}, {"role": "user", "content": text}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return {**AGY, "transcriptPath": str(path), "invocationNum": 0, "initialNumSteps": 3}
    base = {"hook_event_name": EVENTS[host][0]}
    return {
        "codex": {**BASE, **base, "turn_id": "t-1", "model": "m", "prompt": text},
        "claude-code": {**BASE, **base, "prompt_id": "p-1", "source": "user", "prompt": text},
        "vscode": {**BASE, **base, "timestamp": "2026-01-01T00:00:00.000Z", "prompt": text},
        "gemini": {**BASE, **base, "timestamp": "2026-01-01T00:00:00.000Z", "prompt": text},
        "cursor": {**CURSOR, **base, "prompt": text, "attachments": []},
    }[host]


def call(host, tool, arguments, server="shelf"):
    """The payload of a call of an MCP tool."""
    base = {"hook_event_name": EVENTS[host][1]}
    flat = {"tool_name": f"mcp__{server}__{tool}", "tool_input": arguments}
    return {
        "codex": {**BASE, **base, **flat, "turn_id": "t-1", "tool_use_id": "call1"},
        "claude-code": {**BASE, **base, **flat, "tool_use_id": "call1", "mcp_server": {"name": server, "source": "user"}},
        "vscode": {**BASE, **base, "tool_name": f"mcp_{server}_{tool}", "tool_input": arguments, "tool_use_id": "call1"},
        "gemini": {
            **BASE, **base, "tool_name": f"mcp_{server}_{tool}", "tool_input": arguments,
            "mcp_context": {"server_name": server, "tool_name": tool},
        },
        "cursor": {**CURSOR, **base, "tool_name": tool, "tool_input": json.dumps(arguments), "command": "scaffale serve"},
        "antigravity": {
            **AGY, "stepIdx": 4,
            "toolCall": {"name": "mcp_tool", "args": {"ServerName": server, "ToolName": tool, "Arguments": arguments}},
        },
    }[host]  # fmt: skip


def context(host, answer):
    """The text of an answer, after its shape was checked key by key: hosts refuse what they do not know."""
    if answer in (None, {"decision": "ask"}):
        return None
    [(key, value)] = list(answer.items())[:1]
    if host in ("codex", "claude-code", "vscode"):
        assert set(answer) == {"hookSpecificOutput"}
        assert set(value) == {"hookEventName", "additionalContext"}
        assert value["hookEventName"] in EVENTS[host]
        return value["additionalContext"]
    if host == "gemini":
        if key == "systemMessage":
            assert set(answer) == {"systemMessage"}
            return value
        assert answer == {"hookSpecificOutput": {"hookEventName": "BeforeAgent",
        "additionalContext": value["additionalContext"]}}
        return value["additionalContext"]
    if host == "cursor":
        if key == "continue":
            assert set(answer) == {"continue", "additional_context"}
            assert value is True
            return answer["additional_context"]
        assert set(answer) == {"permission", "user_message", "agent_message"}
        assert value == "ask"
        return answer["agent_message"]
    if key == "injectSteps":
        assert set(answer) == {"injectSteps"}
        [step] = value
        assert set(step) == {"ephemeralMessage"}
        return step["ephemeralMessage"]
    assert set(answer) == {"decision", "reason"}
    assert value == "ask"
    return answer["reason"]
