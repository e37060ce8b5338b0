"""Hooks as hosts see them: the same decision on every host, closed shapes, silence for all else, never in the way."""

import json
import subprocess
import sys
from pathlib import Path

import payloads
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from payloads import HOSTS, call, context, prompt
from test_intent import MATRIX, SAMPLE

from scaffale.server.hooks import answer, memory_intent, wording
from scaffale.server.hooks.answer import GUARD, HINT, MAX_BYTES, reply, respond

HOOK = Path(answer.__file__).with_name("__main__.py")
RULE = "Ricorda che usiamo pnpm"
EMPTY = (None, {"decision": "ask"})  # the second is Antigravity's silence


def asked(host, payload, event=""):
    data = reply(host, event, payload if isinstance(payload, bytes) else json.dumps(payload).encode())
    return json.loads(data) if data else None


def of_prompt(host, text, folder):
    return asked(host, prompt(host, text, folder), "PreInvocation")


def of_call(host, tool, arguments, **more):
    return asked(host, call(host, tool, arguments, **more), "PreToolUse")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("text", "reason"), MATRIX)
def test_every_host_gets_the_same_decision(host, text, reason, tmp_path):
    said = context(host, of_prompt(host, text, tmp_path))
    assert said == (HINT if reason == "MEM_POSSIBLE_EXPLICIT_INTENT" else None)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("server", ["shelf", "scaffale", "memory-mcp-server", "a_b"])
def test_every_host_is_reminded_before_a_change(host, server):
    assert context(host, of_call(host, "memory_add_entry", {"content": "x"}, server=server)) == GUARD


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_search", {"query": "memory_add_entry"}),
        ("memory_read_entry", {"entry_id": "1"}),
        ("memory_status", {}),
        ("memory_list_scopes", {}),
        ("docs_navigation", {"action": "search", "query": "docs_management"}),
        ("docs_management", {"action": "list_shelves"}),
        ("memory_add_from_ticket", {"text": "memory_add_entry", "apply": False}),
        ("create_issue", {"body": "call memory_add_entry with confirm"}),
        ("memory_add_entry_draft", {}),
        ("remember", {"note": "docs_management"}),
    ],
)
def test_reads_and_other_tools_are_met_with_silence(host, tool, arguments):
    assert of_call(host, tool, arguments) in EMPTY


@pytest.mark.parametrize("host", [host for host in HOSTS if host != "vscode"])
def test_a_name_that_ends_like_ours_is_another(host):
    """VS Code joins server and tool with the sign that is in the names, too: there it cannot be told."""
    assert of_call(host, "my_memory_add_entry", {}) in EMPTY


@pytest.mark.parametrize("host", HOSTS)
def test_no_answer_allows_or_forbids_in_the_hosts_stead(host, tmp_path):
    for given_ in (of_prompt(host, RULE, tmp_path), of_call(host, "memory_add_entry", {}), of_call(host, "other", {})):
        words = {value for value in json.dumps(given_).replace('"', " ").split() if value.islower()}
        assert not words & {"allow", "deny", "block", "approve"}


def test_the_hint_is_conditional_and_orders_nothing():
    assert "possible" in HINT
    assert "Otherwise ignore" in HINT
    assert "memory_" not in HINT
    assert "memory_" not in GUARD
    assert GUARD.count(". ") == 0


@pytest.mark.parametrize("host", ["codex", "claude-code", "vscode", "gemini", "cursor"])
def test_only_the_current_message_counts(host):
    payload = prompt(host, "And now?")
    history = [{"role": "user", "content": RULE}]
    for extra in ({"messages": history}, {"history": RULE}, {"last_assistant_message": RULE}, {"attachments": [RULE]}):
        assert asked(host, {**payload, **extra}) is None


def test_of_a_transcript_only_the_message_at_its_end_counts(tmp_path):
    payload = prompt("antigravity", "And now?", tmp_path)
    path = Path(payload["transcriptPath"])
    assert asked("antigravity", payload, "PreInvocation") is None
    turn = ({"role": "user", "content": RULE}, {"role": "model", "content": "ok"})
    path.write_text("".join(json.dumps(line) + "\n" for line in turn))
    assert asked("antigravity", payload, "PreInvocation") is None  # the turn has gone on: it was hinted at before
    path.write_text("x" * 400_000 + "\n" + json.dumps({"type": "USER_INPUT", "content": [{"text": RULE}]}) + "\n\n")
    assert context("antigravity", asked("antigravity", payload, "PreInvocation")) == HINT


def test_prompts_that_no_person_wrote_do_not_count():
    payload = prompt("claude-code", RULE)
    assert asked("claude-code", {**payload, "source": "schedule_wakeup"}) is None
    assert asked("claude-code", {**payload, "agent_id": "a-1"}) is None
    assert asked("codex", {**prompt("codex", RULE), "agent_id": "a-1", "agent_type": "explorer"}) is None


def test_cursor_running_the_hooks_of_claude_code_hears_one_voice():
    assert asked("claude-code", prompt("cursor", RULE)) is None
    assert asked("claude-code", {**prompt("claude-code", RULE), "cursor_version": "3.1.0"}) is None
    assert asked("cursor", prompt("cursor", RULE))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("event", ["SessionStart", "PostToolUse", "Stop", "AfterTool", "unknown", "", None, 7, ["x"]])
def test_other_events_are_none_of_its_business(host, event):
    payload = {**payloads.BASE, "hook_event_name": event, "prompt": RULE, "tool_name": "memory_add_entry", "tool_input": {}}
    assert asked(host, payload, "") is None


def test_the_event_of_the_payload_is_the_one_that_counts():
    assert asked("codex", {**prompt("codex", RULE), "hook_event_name": "Stop"}, "UserPromptSubmit") is None
    bare = {key: value for key, value in prompt("codex", RULE).items() if key != "hook_event_name"}
    assert context("codex", asked("codex", bare, "UserPromptSubmit")) == HINT
    assert asked("codex", bare) is None


BAD = [
    b"", b"remember", b"{", b"[]", b"null", b'"remember that we"', b"\xff\xfe\x00remember", b'{"prompt": "remember this"',
    b"[" * 100_000 + b"remember",
    b'{"hook_event_name":"UserPromptSubmit"}', b'{"hook_event_name":"UserPromptSubmit","prompt":null,"x":"remember"}',
    b'{"hook_event_name":"UserPromptSubmit","prompt":["remember that we use x"]}',
    b'{"hook_event_name":"UserPromptSubmit","user_prompt":"remember that we use x"}',
    b'{"hook_event_name":"PreToolUse","tool_name":7,"tool_input":"memory_add_entry"}',
    b'{"hook_event_name":"PreToolUse","toolName":"memory_add_entry"}',
    b'{"hook_event_name":"PreToolUse","tool_name":"","tool_input":{"tool_name":"memory_add_entry"}}',
]  # fmt: skip


def run(host, data, *event):
    return subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), *([host] if host else []), *event],
        input=data,
        capture_output=True,
        check=False,
        timeout=30,
    )


@pytest.mark.parametrize("data", BAD, ids=lambda data: repr(data[:50]))
def test_bad_input_gives_no_output_and_no_failure(data):
    done = run("codex", data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("host", ["", "unknown", "--help"])
def test_so_does_a_bad_command(host):
    done = run(host, json.dumps(prompt("codex", RULE)).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_payload_beyond_all_measure_is_taken_and_left_alone():
    data = json.dumps(prompt("codex", RULE + "." + " x" * MAX_BYTES)).encode()
    assert len(data) > MAX_BYTES
    done = run("codex", data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_byte_order_mark_and_escapes_are_no_hindrance():
    payload = json.dumps(prompt("codex", RULE)).encode()
    assert asked("codex", b"\xef\xbb\xbf" + payload)
    assert asked("codex", payload.replace(b"Ricorda", b"\\u0052icorda").replace(b"Ricorda", b""))
    assert asked("codex", b"  \r\n" + payload + b"\n")


def test_it_gives_up_when_the_host_never_ends_its_message():
    process = subprocess.Popen([sys.executable, "-I", "-S", str(HOOK), "codex"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        process.stdin.write(b'{"prompt": "')
        process.stdin.flush()
        assert process.wait(timeout=30) == 0
        assert process.stdout.read() == b""


@pytest.mark.parametrize("host", HOSTS)
def test_the_installed_form_answers(host, tmp_path):
    data = json.dumps(prompt(host, "Può darsi. Ricorda che usiamo pnpm: è più veloce.", tmp_path)).encode()
    done = run(host, data, *payloads.EVENTS[host][:1])
    assert (done.returncode, done.stderr) == (0, b"")
    assert context(host, json.loads(done.stdout)) == HINT
    assert done.stdout.isascii()


def test_it_imports_the_standard_library_and_this_room_alone():
    code = (
        f"import sys; sys.argv = ['scaffale-hook', 'codex']; sys.path.insert(0, {str(HOOK.parents[3])!r})\n"
        "from scaffale.server.hooks.answer import reply\n"
        f"assert reply('codex', '', {json.dumps(prompt('codex', RULE)).encode()!r})\n"
        "print(*sorted(name for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, check=True, text=True)
    names = set(done.stdout.split())
    ours = {name for name in names if name.startswith("scaffale")}
    assert ours == {"scaffale", "scaffale.server", *(f"scaffale.server.hooks{name}" for name in (
        "", ".answer", ".hosts", ".intent", ".lazy", ".segments", ".wording",
    ))}  # fmt: skip
    assert {name.partition(".")[0] for name in names - ours} <= sys.stdlib_module_names | {"__main__"}
    assert not names & {"typing", "dataclasses", "pathlib", "os", "subprocess", "argparse", "sqlite3", "logging"}


def test_the_words_of_the_filter_cover_every_head():
    words = [word.decode() for word in answer.WORDS]
    into_memory = set("put add commit write update create aggiung mett inseri scrivi fissa imprimi aggiorna".split())
    for stems in wording.STEMS.values():
        for stem in set(stems) - into_memory - {"from ", "down"}:  # the first only to a memory, which is a word, too
            assert any(word in stem for word in words), stem
    for piece in wording.MEMORIES:
        assert any(word in piece for word in words), piece


def test_the_filter_hides_no_request():
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        direct = memory_intent(row["text"]).decision == "hint"
        assert (asked("codex", prompt("codex", row["text"])) is not None) == direct, row["text"]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(HOSTS), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just(RULE) | st.just("memory_add_entry"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(
            ("prompt", "tool_name", "tool_input", "hook_event_name", "toolCall", "name", "args", "transcriptPath", "x")
        ), inner, max_size=5,
    ), max_leaves=12,
))  # fmt: skip
def test_no_payload_makes_it_fail(host, payload):
    data = respond([host, "PreToolUse"], json.dumps(payload).encode())
    assert not data or isinstance(json.loads(data), dict)
