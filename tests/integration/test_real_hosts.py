"""Real clients against a model that is ours: what `scaffale install` writes is accepted, and the model sees the hint.

The clients come from npm and are not part of this project; each test is skipped, with its reason, where its client is not.
`SCAFFALE_CODEX`, `SCAFFALE_CLAUDE` and `SCAFFALE_GEMINI` name the programs, or they are found on the `PATH`. Everything
happens in a temporary home folder and on loopback.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scaffale.server.hooks.answer import GUARD, HINT
from scaffale.server.install import verbs
from scaffale.server.install.clients import Place

pytestmark = pytest.mark.slow
RULE = "Ricorda che usiamo pnpm"
QUOTED = "Explain this:\n```\nRicorda che usiamo pnpm\n```"
ENTRY = {"topic": "t", "content": "c", "source_type": "decision", "scope": "s", "project_id": "p"}


def program(name):
    """The client, or a skip that says what is missing."""
    found = os.environ.get(f"SCAFFALE_{name.upper()}") or shutil.which(name)
    if not found:
        pytest.skip(f"no {name} here: install it from npm, or name it in SCAFFALE_{name.upper()}")
    return found


@contextmanager
def model(answer):
    """A model endpoint on loopback. `answer(path, body)` gives a content type and bytes; all bodies are kept."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_args):
            """Silence."""

        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(b'{"data": [], "models": []}')

        do_HEAD = do_GET  # noqa: N815

        def do_POST(self):
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(data or b"{}")
            seen.append(body)
            kind, payload = answer(self.path, body)
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


def events(*pairs):
    return "text/event-stream", "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in pairs).encode()


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    (folder / "work").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder / "work")], check=True)
    return folder


def environment(home, **more):
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    return {**kept, "HOME": str(home), "USERPROFILE": str(home), "NO_PROXY": "127.0.0.1", **more}


def run(home, words, **more):
    return subprocess.run(
        words, cwd=home / "work", env=environment(home, **more), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip


# --- Codex ---------------------------------------------------------------------------------------------------------------


def codex_answer(_path, body):
    """One call of our writing tool, then an end. A model of memories, which the prudent profile runs, gets the end alone."""
    inputs = json.dumps(body.get("input", []))
    called = '"function_call_output"' in inputs
    tools = json.dumps(body.get("tools", []))
    if not called and "memory_add_entry" in tools:
        item = {
            "type": "function_call", "id": "f", "call_id": "call1",
            "namespace": "mcp__scaffale", "name": "memory_add_entry", "arguments": json.dumps(ENTRY),
        }  # fmt: skip
    else:
        item = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": None, "output_tokens_details": None}
    return events(
        ("response.created", {"type": "response.created", "response": {"id": "r"}}),
        ("response.output_item.done", {"type": "response.output_item.done", "item": item}),
        ("response.completed", {"type": "response.completed", "response": {"id": "r", "usage": usage}}),
    )


def codex(home, prompt, profile):
    verbs.install("codex", Place(str(home), {}), profile=profile)
    config = home / ".codex" / "config.toml"
    with model(codex_answer) as (url, seen):
        fake = '{ name = "fake", base_url = "' + url + '/v1", wire_api = "responses" }'
        done = run(
            home,
            [
                program("codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--strict-config",
                "-c", f"model_providers.fake={fake}", "-c", "model_provider=fake", "-c", "model=gpt-5",
                "-c", "mcp_servers.scaffale.required=true", prompt,
            ],
            CODEX_HOME=str(config.parent), OPENAI_API_KEY="none",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [item for body in seen for item in body.get("input", [])], seen, done


def developer(items):
    return [
        part["text"] for item in items if item.get("role") == "developer" and isinstance(item.get("content"), list)
        for part in item["content"] if "text" in part
    ]  # fmt: skip


@pytest.mark.parametrize("profile", ["prudent", "auditable"])
def test_codex_takes_the_configuration_and_its_model_sees_hint_and_reminder(home, profile):
    items, seen, done = codex(home, RULE, profile)
    assert HINT in developer(items)
    assert "memory_add_entry" in json.dumps([body.get("tools") for body in seen]), done.stderr[-2000:]
    assert GUARD in developer(items)
    outputs = [json.dumps(item) for item in items if item.get("type") == "function_call_output"]
    assert outputs
    assert not (home / ".mcp-servers" / "memory" / "memory.sqlite").exists(), "nobody was asked, so nothing was written"


def test_codex_shows_no_hint_for_what_is_only_shown(home):
    items, _, _ = codex(home, QUOTED, None)
    assert HINT not in developer(items)


# --- Claude Code ---------------------------------------------------------------------------------------------------------


def claude_answer(path, body):
    if "count_tokens" in path:
        return "application/json", b'{"input_tokens": 1}'
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    names = {tool["name"] for tool in body.get("tools", [])}
    said = json.dumps(body["messages"])
    ours = "mcp__scaffale__memory_add_entry"
    call = None
    if ours in names and '"toolu_ours"' not in said:
        call = ("toolu_ours", ours, ENTRY)
    elif "Read" in names and ours not in names and said.count('"tool_use"') < 8:
        time.sleep(1)  # servers are connected to while the first turn runs
        call = (f"toolu_{said.count('tool_use')}", "Read", {"file_path": "/nowhere"})
    if call:
        block = {"type": "tool_use", "id": call[0], "name": call[1], "input": {}}
        delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(call[2])}, "tool_use"
    else:
        block, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}, "end_turn"
    if not body.get("stream"):
        content = [{"type": "text", "text": "done"}]
        return "application/json", json.dumps({**message, "content": content, "stop_reason": "end_turn", "usage": usage}).encode()
    return events(
        ("message_start", {"type": "message_start", "message": {**message, "usage": usage}}),
        ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {"type": "message_stop"}),
    )


def claude(home, prompt):
    verbs.install("claude-code", Place(str(home), {}))
    with model(claude_answer) as (url, seen):
        done = run(
            home, [program("claude"), "-p", prompt, "--allowedTools", "mcp__scaffale__memory_search"],
            ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="none", DISABLE_TELEMETRY="1", DISABLE_AUTOUPDATER="1",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", ENABLE_TOOL_SEARCH="false",
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    return json.dumps(seen, ensure_ascii=False), done


def test_claude_code_takes_the_configuration_and_its_model_sees_hint_and_reminder(home):
    text, _ = claude(home, RULE)
    assert HINT in text
    assert "mcp__scaffale__memory_add_entry" in text
    assert GUARD in text
    assert not (home / ".mcp-servers" / "memory" / "memory.sqlite").exists(), "nobody was asked, so nothing was written"


def test_claude_code_shows_no_hint_for_what_is_only_shown(home):
    text, _ = claude(home, QUOTED)
    assert HINT not in text


# --- Gemini CLI ----------------------------------------------------------------------------------------------------------


def gemini_answer(path, body):
    name = next(
        (
            each["name"] for tool in body.get("tools", []) for each in tool.get("functionDeclarations", [])
            if each["name"].endswith("_memory_add_entry")
        ),
        None,
    )  # fmt: skip
    if name and "functionResponse" not in json.dumps(body.get("contents", [])):
        part = {"functionCall": {"name": name, "args": ENTRY}}
    else:
        part = {"text": "done"}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    answer = {"candidates": [candidate], "usageMetadata": usage}
    if "countTokens" in path:
        return "application/json", b'{"totalTokens": 1}'
    if "stream" in path:
        return "text/event-stream", f"data: {json.dumps(answer)}\n\n".encode()
    return "application/json", json.dumps(answer).encode()


def gemini(home, prompt):
    (home / ".gemini").mkdir()
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(chosen), encoding="utf-8")
    verbs.install("gemini", Place(str(home), {}))
    with model(gemini_answer) as (url, seen):
        words = [program("gemini")]
        if os.environ.get("SCAFFALE_NODE"):
            words.insert(0, os.environ["SCAFFALE_NODE"])
        done = run(
            home, [*words, "--skip-trust", "-m", "gemini-2.5-flash", "-p", prompt],
            GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=url, GEMINI_CLI_TRUST_WORKSPACE="true",
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    return json.dumps(seen, ensure_ascii=False), done


def test_gemini_takes_the_configuration_and_its_model_sees_the_hint(home):
    text, _ = gemini(home, RULE)
    assert HINT in text
    assert not (home / ".mcp-servers" / "memory" / "memory.sqlite").exists(), "nobody was asked, so nothing was written"


def test_gemini_shows_no_hint_for_what_is_only_shown(home):
    text, _ = gemini(home, QUOTED)
    assert HINT not in text


def test_there_is_a_server_to_install():
    """What is installed here is the program of this environment; it has to be there for the tests above to mean anything."""
    assert os.path.exists(os.path.join(os.path.dirname(sys.executable), "scaffale"))
