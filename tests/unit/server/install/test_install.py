"""Installing and taking out again: nothing lost, nothing twice, nothing half done."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scaffale.errors import Conflict, InvalidParam, ScaffaleError
from scaffale.server.cli import main
from scaffale.server.cli.commands import clients as command
from scaffale.server.hooks import calls
from scaffale.server.install import files, jsonc, verbs
from scaffale.server.install.clients import (
    BLOCK,
    CLIENTS,
    ENTRY,
    ITEM,
    MODULE,
    PROFILES,
    SKILL,
    Place,
    is_ours,
    skill_files,
)

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX; CI runs it there")
CODEX = """# my settings
model = "gpt-5"  # the good one
approval_policy = "on-request"

[mcp_servers.other]
command = "other"
args = ["--x"] # keep

[features]
hooks = true

[[hooks.PreToolUse]]
matcher = "^Bash$"
hooks = [{ type = "command", command = "mine.sh" }]
"""
JSON = """{
  // mine
  "mcpServers": {
    "other": {"command": "x"} // keep
  },
  "hooks": {
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]}]
  }
}
"""


def tree(folder):
    """Every file below a folder: bytes, mode, time."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def contents(folder):
    return {name: data for name, (data, _, _) in tree(folder).items()}


def meaning(path):
    text = Path(path).read_text(encoding="utf-8-sig")
    return tomllib.loads(text) if str(path).endswith(".toml") else jsonc.parse(text).plain


def write(path, text):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def fill(home, client, place):
    """Give every configuration file of a client something of the person's own."""
    for target in CLIENTS[client].targets(place, "prudent"):
        if target.format == "toml":
            write(target.file, CODEX)
        elif target.format == "jsonc":
            text = JSON if client not in ("vscode", "cursor", "antigravity") else '{\n\t// mine\n\t"other": 1\n}\n'
            write(target.file, text)
        elif target.format == "blocks":
            write(target.file, "# My rules\n\nBe kind.\n")


@pytest.mark.parametrize("profile", [None, *PROFILES])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("filled", [False, True])
def test_a_second_run_changes_no_byte_and_uninstalling_restores_all(home, place, client, profile, filled):
    if filled:
        fill(home, client, place)
    before = contents(home)
    report = verbs.install(client, place, profile=profile)
    assert report.complete
    assert all(file.state in ("created", "changed") for file in report.files)
    once = tree(home)
    again = verbs.install(client, place, profile=profile)
    assert tree(home) == once
    assert {file.state for file in again.files} == {"same"}
    assert not again.restart
    verbs.uninstall(client, place)
    assert contents(home) == before
    assert not list(home.rglob(SKILL))
    assert {file.state for file in verbs.uninstall(client, place).files} == {"same"}


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_the_persons_survives_and_ours_is_there(home, place, client):
    fill(home, client, place)
    understood = [target for target in CLIENTS[client].targets(place, None) if target.format in ("toml", "jsonc")]
    before = {target.file: meaning(target.file) for target in understood}
    lines = {file: Path(file).read_text().splitlines() for file in before}
    verbs.install(client, place, profile="prudent")
    for target in understood:
        after = meaning(target.file)
        for wanted in target.wanted:
            value = after
            for key in wanted.path:
                value = value[key]
            if wanted.kind == ITEM:
                assert [item for item in value if is_ours(item)] == [wanted.value]
            else:
                assert wanted.value.items() <= value.items() if isinstance(value, dict) else value == wanted.value
        assert_kept(before[target.file], after)
        now = Path(target.file).read_text()
        remarks = [line[line.find(mark) :] for line in lines[target.file] for mark in ("#", "//") if mark in line]
        assert [remark for remark in remarks if remark not in now] == []


def assert_kept(before, after):
    if isinstance(before, dict):
        for key, value in before.items():
            assert_kept(value, after[key])
    elif isinstance(before, list):
        assert after[: len(before)] == before
    else:
        assert after == before


@pytest.mark.parametrize("profile", PROFILES)
def test_the_policy_of_codex(place, profile):
    verbs.install("codex", place, profile=profile)
    plain = meaning(Path(place.home) / ".codex" / "config.toml")
    assert plain["approvals_reviewer"] == "user"
    assert plain["features"] == {"memories": True}
    assert plain["memories"] == {
        "use_memories": profile == "prudent", "generate_memories": False, "disable_on_external_context": True,
    }  # fmt: skip
    tools = plain["mcp_servers"]["scaffale"]["tools"]
    assert set(tools) == calls.TOOLS
    assert all(policy == {"approval_mode": "prompt"} for policy in tools.values())


def test_without_a_profile_no_policy_is_set(place):
    report = verbs.install("codex", place)
    plain = meaning(Path(place.home) / ".codex" / "config.toml")
    assert set(plain) == {"mcp_servers", "hooks"}
    assert "prudent" in report.warnings[0]
    assert "auditable" in report.warnings[0]


def test_another_profile_can_be_chosen_with_force(place):
    verbs.install("codex", place, profile="prudent")
    kept = verbs.install("codex", place, profile="auditable")
    [conflict] = [conflict for file in kept.files for conflict in file.conflicts]
    assert (conflict.key, conflict.has, conflict.wanted, conflict.forced) == ("memories.use_memories", True, False, False)
    forced = verbs.install("codex", place, profile="auditable", force=True)
    assert forced.complete
    assert meaning(Path(place.home) / ".codex" / "config.toml")["memories"]["use_memories"] is False


DIVERGENT = """approvals_reviewer = "auto_review" # on purpose
other = 1
[mcp_servers.scaffale]
command = "/elsewhere/scaffale"
args = ["serve", "--tools", "all"]
enabled = false
[mcp_servers.scaffale.tools.memory_add_entry]
approval_mode = "approve"
output_token_limit = 8000
[memories]
generate_memories = true
max_age = 3
"""


def test_divergent_values_are_kept_and_reported(home, place):
    path = write(home / ".codex" / "config.toml", DIVERGENT)
    report = verbs.install("codex", place, profile="prudent")
    assert not report.complete
    plain = meaning(path)
    assert plain["approvals_reviewer"] == "auto_review"
    assert plain["memories"]["generate_memories"] is True
    assert plain["mcp_servers"]["scaffale"]["command"] == "/elsewhere/scaffale"
    assert "startup_timeout_sec" not in plain["mcp_servers"]["scaffale"]  # nothing is added to somebody else's command
    assert plain["mcp_servers"]["scaffale"]["tools"]["memory_add_entry"]["approval_mode"] == "approve"
    assert {conflict.key for conflict in report.files[0].conflicts} == {
        "approvals_reviewer", "memories.generate_memories", "mcp_servers.scaffale.command",
        "mcp_servers.scaffale.tools.memory_add_entry.approval_mode",
    }  # fmt: skip
    assert "# on purpose" in path.read_text()


def test_force_changes_managed_keys_alone_and_uninstalling_brings_them_back(home, place):
    path = write(home / ".codex" / "config.toml", DIVERGENT)
    report = verbs.install("codex", place, profile="prudent", force=True)
    assert report.complete
    plain = meaning(path)
    assert plain["approvals_reviewer"] == "user"
    assert plain["mcp_servers"]["scaffale"]["enabled"] is False
    policy = plain["mcp_servers"]["scaffale"]["tools"]["memory_add_entry"]
    assert policy == {"approval_mode": "prompt", "output_token_limit": 8000}
    assert plain["memories"]["max_age"] == 3
    assert plain["other"] == 1
    forced = {conflict.key: (conflict.has, conflict.wanted) for conflict in report.files[0].conflicts}
    assert forced["approvals_reviewer"] == ("auto_review", "user")
    assert all(conflict.forced for conflict in report.files[0].conflicts)
    verbs.uninstall("codex", place)
    assert path.read_text() == DIVERGENT


def test_an_entry_for_a_remote_server_is_never_mixed_with_a_command(home, place):
    text = '[mcp_servers.scaffale]\nurl = "https://shelf.example/mcp"\n'
    path = write(home / ".codex" / "config.toml", text)
    for force in (False, True):
        report = verbs.install("codex", place, force=force)
        assert not report.complete
        assert meaning(path)["mcp_servers"]["scaffale"] == {"url": "https://shelf.example/mcp"}


THEIRS = (
    {"command": "mine", "args": ["x"]}, {"url": "https://shelf.example/mcp"}, {"command": "/opt/scaffale-proxy"}, "x", 5, None,
)  # fmt: skip


@pytest.mark.parametrize("entry", THEIRS, ids=str)
@pytest.mark.parametrize("client", ["claude-code", "cursor", "gemini", "zed"])
def test_an_entry_of_our_name_that_is_not_ours_outlives_uninstalling(home, place, client, entry):
    target = next(iter(CLIENTS[client].targets(place, None)))
    (wanted,) = (each for each in target.wanted if each.kind == ENTRY)
    text = json.dumps({wanted.path[0]: {wanted.path[1]: entry}})
    path = write(target.file, text)
    verbs.uninstall(client, place)
    assert path.read_text() == text, "never installed"
    verbs.install(client, place)
    verbs.uninstall(client, place)
    assert path.read_text() == text, "kept by installing"
    verbs.install(client, place, force=True)
    verbs.uninstall(client, place)
    assert path.read_text() == text, "overwritten on purpose, and brought back"


@pytest.mark.parametrize("command", ["/old/venv/bin/scaffale", "C:\\Old\\Scripts\\Scaffale.EXE", "scaffale"])
def test_our_entry_goes_from_wherever_it_starts_us(home, place, command):
    path = write(home / ".cursor" / "mcp.json", json.dumps({"mcpServers": {"scaffale": {"command": command}, "other": {}}}))
    verbs.uninstall("cursor", place)
    assert json.loads(path.read_text()) == {"mcpServers": {"other": {}}}
    path.write_text(json.dumps({"mcpServers": {"scaffale": {"command": "py", "args": ["-m", MODULE, "serve"]}, "other": {}}}))
    verbs.uninstall("cursor", place)
    assert json.loads(path.read_text()) == {"mcpServers": {"other": {}}}


def test_what_was_there_before_stays_when_the_file_was_changed_since(home, place):
    path = write(home / ".codex" / "config.toml", '[features]\nmemories = true\n[memories]\nuse_memories = true\n')
    verbs.install("codex", place, profile="prudent")
    path.write_text(path.read_text() + '\n[mine]\nx = 1\n')
    verbs.uninstall("codex", place)
    assert meaning(path) == {"features": {"memories": True}, "memories": {"use_memories": True}, "mine": {"x": 1}}


@pytest.mark.parametrize("client", ["codex", "claude-code", "gemini"])
def test_a_dry_run_writes_nothing_and_shows_all(home, place, client):
    fill(home, client, place)
    before = tree(home)
    report = verbs.install(client, place, profile="prudent", dry_run=True)
    assert tree(home) == before
    assert report.dry_run
    assert all(file.diff.startswith("---") for file in report.files)
    added = [line[1:] for line in report.files[0].diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert any("scaffale" in line for line in added)


def test_the_diff_masks_credentials(home, place):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    server = {"command": "c", "env": {"T": token}}
    path = write(home / ".gemini" / "settings.json", json.dumps({"mcpServers": {"x": server}}, indent=1))
    report = verbs.install("gemini", place)
    assert token not in report.files[0].diff
    assert '"T"' in report.files[0].diff
    assert token in path.read_text()


AMBIGUOUS = {
    "codex": [
        "[a]\n[a]\n", "a = 1\na = 2\n", "[features]\nx = 1\n[features.x]\n", "a.b = 1\n[a]\n", "features = 1\n",
        "mcp_servers = []\n", "x = [\n", "hooks = 3\n", '[hooks]\nPreToolUse = "x"\n', "[mcp_servers.scaffale]\ntools = 1\n",
    ],
    "gemini": [
        '{"a": 1, "a": 2}', "[]", "{", '{"mcpServers": 1}', '{"hooks": []}', '{"hooks": {"BeforeTool": {}}}',
        '{"mcpServers": {}, "mcpServers": {}}',
    ],
}  # fmt: skip


@pytest.mark.parametrize(("client", "text"), [(client, text) for client, texts in AMBIGUOUS.items() for text in texts])
@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_is_not_understood_stops_everything(home, place, client, text, force):
    first = next(iter(CLIENTS[client].targets(place, None)))
    write(first.file, text)
    before = tree(home)
    with pytest.raises(InvalidParam, match="nothing was written"):
        verbs.install(client, place, profile="prudent", force=force)
    assert tree(home) == before


@pytest.mark.parametrize("data", [b"\xff\xfe{\0}\0", b'{"a": "\xff"}', b"\xef\xbb\xbf{\xff"])
def test_so_does_one_that_is_no_utf_8(home, place, data):
    path = write(home / ".gemini" / "settings.json", "")
    path.write_bytes(data)
    with pytest.raises(InvalidParam):
        verbs.install("gemini", place)
    assert path.read_bytes() == data


@pytest.mark.parametrize("client", ["codex", "gemini"])
def test_a_byte_order_mark_and_line_ends_stay(home, place, client):
    target = next(iter(CLIENTS[client].targets(place, None)))
    text = CODEX if client == "codex" else JSON
    data = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()
    write(target.file, "").write_bytes(data)
    verbs.install(client, place)
    after = Path(target.file).read_bytes()
    assert after.startswith(b"\xef\xbb\xbf")
    assert after.count(b"\n") == after.count(b"\r\n") > data.count(b"\n")
    verbs.install(client, place)
    assert Path(target.file).read_bytes() == after
    verbs.uninstall(client, place)
    assert Path(target.file).read_bytes() == data


@posix
def test_a_link_is_followed_and_named(home, place):
    real = write(home / "dotfiles" / "codex.toml", CODEX)
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").symlink_to(real)
    report = verbs.install("codex", place)
    assert (home / ".codex" / "config.toml").is_symlink()
    assert "scaffale" in real.read_text()
    assert report.files[0].link == str(real)
    assert Path(report.files[0].backup).parent == real.parent


@posix
def test_a_link_to_nothing_is_refused(home, place):
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").symlink_to(home / "gone.toml")
    with pytest.raises(InvalidParam, match="link"):
        verbs.install("codex", place)
    assert not (home / "gone.toml").exists()


@posix
def test_a_file_with_a_second_name_is_refused(home, place):
    path = write(home / ".codex" / "config.toml", CODEX)
    os.link(path, home / "other.toml")
    before = tree(home)
    for dry_run in (True, False):
        with pytest.raises(Conflict, match="2 names"):
            verbs.install("codex", place, dry_run=dry_run)
    assert tree(home) == before


@posix
def test_a_read_only_file_is_refused(home, place):
    path = write(home / ".codex" / "config.toml", CODEX)
    path.chmod(0o400)
    with pytest.raises(Conflict, match="read-only"):
        verbs.install("codex", place)
    assert path.read_text() == CODEX
    assert not (home / ".codex" / "skills").exists()


@posix
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused(home, place, make):
    (home / ".codex").mkdir()
    make(home / ".codex" / "config.toml")
    with pytest.raises(InvalidParam):
        verbs.install("codex", place)


@posix
def test_modes_stay_and_new_files_are_for_their_owner(home, place):
    path = write(home / ".codex" / "config.toml", CODEX)
    path.chmod(0o640)
    report = verbs.install("codex", place)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE(Path(report.files[0].backup).stat().st_mode) == 0o600
    assert stat.S_IMODE((home / ".codex" / "AGENTS.md").stat().st_mode) == 0o600


def test_a_failure_halfway_is_undone(home, place, monkeypatch):
    fill(home, "codex", place)
    before = contents(home)
    real = files._replace
    calls_ = []

    def failing(path, data):
        calls_.append(path)
        if len(calls_) == 3:
            raise OSError(28, "No space left on device", path)
        real(path, data)

    monkeypatch.setattr(files, "_replace", failing)
    with pytest.raises(Conflict, match="nothing was changed"):
        verbs.install("codex", place, profile="prudent")
    assert contents(home) == before


def test_a_file_that_changes_in_the_meantime_is_left_alone(home, place, monkeypatch):
    path = write(home / ".codex" / "config.toml", CODEX)
    real = files.apply

    def meanwhile(changes):
        path.write_text(CODEX + "x = 1\n")
        return real(changes)

    monkeypatch.setattr(files, "apply", meanwhile)
    with pytest.raises(Conflict, match="in the meantime"):
        verbs.install("codex", place)
    assert path.read_text() == CODEX + "x = 1\n"


KILLED = """
import os, sys
from scaffale.server.install import files, verbs
from scaffale.server.install.clients import Place
left = int(sys.argv[2])
def step(event, args):
    global left
    if event in ("open", "os.rename", "os.chmod", "os.remove", "os.mkdir") and armed:
        left -= 1
        if left < 0:
            os._exit(9)
armed = False
sys.addaudithook(step)
real, sync = files.apply, os.fsync
def apply(changes):
    global armed
    armed = True
    return real(changes)
files.apply = apply
def fsync(descriptor):
    step("open", ())
    sync(descriptor)
os.fsync = fsync
verbs.install("gemini", Place(sys.argv[1], {}), force=True)
"""


@pytest.mark.slow
def test_a_kill_at_any_point_leaves_the_old_or_the_new_file_whole(tmp_path):
    home = tmp_path / "home"
    target = home / ".gemini" / "settings.json"
    for step in range(400):
        write(target, JSON)
        words = [sys.executable, "-c", KILLED, str(home), str(step)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
        now = target.read_text()
        assert now == JSON or "scaffale" in json.dumps(meaning(target)), step
        if now != JSON:
            verbs.uninstall("gemini", Place(str(home), {}))
            assert target.read_text() == JSON
        for path in home.rglob("*"):  # the skill is old (absent) or whole, too
            if path.is_file() and path.name in {Path(name).name for name in skill_files()}:
                assert path.read_text() in skill_files().values()
        if done.returncode == 0:
            break
        assert done.returncode == 9, done.stderr
        for path in sorted(home.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    else:
        pytest.fail("it never ended")
    assert step > 20


def test_commands_are_ones_that_run(place, home):
    """The hook's command, as a shell takes it, answers; the server's program is there."""
    for client in ("codex", "claude-code", "vscode", "gemini", "cursor", "antigravity"):
        for target in CLIENTS[client].targets(place, None):
            for wanted in target.wanted:
                if wanted.kind == ENTRY:
                    assert os.path.exists(wanted.value["command"])
                if wanted.kind == ITEM:
                    words = shlex.split((wanted.value if "command" in wanted.value else wanted.value["hooks"][0])["command"])
                    done = subprocess.run(words, input=b"{}", capture_output=True, check=True)
                    assert done.stdout in (b"", b'{"decision": "ask"}')


@pytest.mark.parametrize(("client", "event"), [("codex", "PreToolUse"), ("claude-code", "PreToolUse"), ("gemini", "BeforeTool")])
def test_the_matcher_is_for_exactly_the_calls_that_may_write(place, client, event):
    [pattern] = [
        wanted.value["matcher"]
        for target in CLIENTS[client].targets(place, None)
        for wanted in target.wanted
        if wanted.path[-1] == event
    ]
    separator = "_" if client == "gemini" else "__"
    for tool in calls.TOOLS:
        assert re.search(pattern, f"mcp{separator}any{separator}{tool}")
    for tool in ("memory_search", "docs_navigation", "ledger_session_summary", "memory_add_entry_x"):
        assert not re.search(pattern, f"mcp{separator}any{separator}{tool}")


def test_rules_go_where_they_are_wanted(home, place, tmp_path):
    path = write(tmp_path / "project" / "AGENTS.md", "# Rules\n")
    verbs.install("cursor", place, rules=str(path))
    assert path.read_text().startswith("# Rules\n\n<!-- scaffale:begin -->\n")
    verbs.uninstall("cursor", place, rules=str(path))
    assert path.read_text() == "# Rules\n"


def test_a_block_of_rules_that_was_changed_is_kept(home, place):
    path = home / ".codex" / "AGENTS.md"
    verbs.install("codex", place)
    path.write_text(path.read_text().replace("Memory is context", "Memory is a friend"))
    changed = path.read_text()
    assert not verbs.install("codex", place).complete
    assert path.read_text() == changed
    assert verbs.install("codex", place, force=True).complete
    write(path, "<!-- scaffale:begin -->\nno end\n")
    with pytest.raises(InvalidParam, match="pair"):
        verbs.install("codex", place)


def test_config_names_the_file_and_the_rest_lies_beside_it(home, place, tmp_path):
    path = tmp_path / "else" / "codex.toml"
    verbs.install("codex", place._replace(config=str(path)))
    assert meaning(path)["mcp_servers"]["scaffale"]["args"]
    assert (tmp_path / "else" / "skills" / SKILL / "SKILL.md").exists()
    assert contents(home) == {}


# --- doctor --------------------------------------------------------------------------------------------------------------


def findings(place):
    return [(finding.state, finding.client, finding.finding) for finding in verbs.examine(place)]


def test_nothing_installed_is_nothing_to_say(home, place):
    fill(home, "codex", place)
    before = tree(home)
    assert findings(place) == []
    assert tree(home) == before


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_installed_is_found_in_order(home, place, client):
    verbs.install(client, place, profile="prudent")
    before = tree(home)
    assert {state for state, _, _ in findings(place)} == {"ok"}
    assert {name for _, name, _ in findings(place)} == {client}
    assert tree(home) == before


def test_doctor_says_what_is_off(home, place, tmp_path):
    verbs.install("codex", place, profile="prudent")
    path = home / ".codex" / "config.toml"
    whole = path.read_text()
    path.write_text(whole.replace('approval_mode = "prompt"', 'approval_mode = "approve"', 1))
    assert any(state == "warning" and "no profile" in finding for state, _, finding in findings(place))
    path.write_text(re.sub(r'command = "[^"]*scaffale"', 'command = "/gone/scaffale"', whole, count=1))
    assert any(state == "wrong" and "/gone/scaffale" in finding for state, _, finding in findings(place))
    path.write_text(whole + "[[hooks.PreToolUse]]\nhooks = [{ type = \"command\", command = \"scaffale-hook codex\" }]\n")
    assert any("2 times" in finding for _, _, finding in findings(place))
    path.write_text(whole.split("[[hooks.PreToolUse]]")[0])
    assert any("hooks.PreToolUse is missing" in finding for _, _, finding in findings(place))
    path.write_text(whole + "[features]\n")
    assert any("cannot be understood" in finding for _, _, finding in findings(place))
    path.write_text(whole)
    write(tmp_path / ".codex" / "config.toml", '[mcp_servers.scaffale]\ncommand = "x"\n')
    assert any("uses both" in finding for _, _, finding in findings(place))
    assert any("uses both" in line for line in verbs.install("codex", place, dry_run=True).duplicates)


# --- faces ---------------------------------------------------------------------------------------------------------------


def test_the_command_line_knows_the_same_clients_and_profiles():
    assert set(command.CLIENTS) == set(CLIENTS)
    assert command.PROFILES == PROFILES


def test_the_commands_answer_for_programs_and_people(home, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert main(["install", "--client", "codex", "--client", "gemini", "--dry-run", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [report["client"] for report in answer["clients"]] == ["codex", "gemini"]
    assert contents(home) == {}
    assert main(["install", "--client", "codex", "--profile", "prudent"]) == 0
    shown = capsys.readouterr().out
    assert "+approvals_reviewer" in shown
    assert "restart the client" in shown
    assert main(["install", "--client", "codex", "--profile", "auditable", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["complete"] is False
    assert answer["files"][0]["conflicts"][0]["key"] == "memories.use_memories"
    assert main(["install", "--client", "codex", "--uninstall"]) == 0
    assert contents(home) == {}
    assert main(["install", "--client", "codex", "--client", "gemini", "--config", "x"]) == 2
    assert main(["install", "--client", "emacs"]) == 2


@pytest.mark.parametrize("wrong", [{"client": "emacs"}, {"client": "codex", "profile": "reckless"}])
def test_unknown_names_are_refused(place, wrong):
    with pytest.raises(ScaffaleError):
        verbs.install(place=place, **wrong)


def test_every_kind_is_used():
    place = Place("/home/me", {})
    kinds = {wanted.kind for row in CLIENTS.values() for target in row.targets(place, "prudent") for wanted in target.wanted}
    assert {ENTRY, ITEM, BLOCK} < kinds
