"""TOML, changed in place."""

import tomllib

import pytest

from scaffale.server.install import toml

TEXTS = [
    "",
    "# only a remark\n",
    'model = "x" # mine\n\n[features]\na = 1 # b\n',
    '[mcp_servers]\n[mcp_servers.other] # c\ncommand = "y"\n\n[features]\n',
    'features = { a = 1 }\n',
    'features.a = 1\nfeatures.b = 2\n',
    '[mcp_servers.scaffale]\ncommand = "mine"\n[zed]\n[mcp_servers.last]\nurl = "z"\n',
    '[[hooks.PreToolUse]]\nmatcher = "m"\nhooks = [{ type = "command", command = "c" }]\n\n[tail]\nx = [\n  1, # one\n  2,\n]\n',
    "a = 1\r\n[b]\r\nc = 2\r\n",
]
PATHS = [
    ("top",),
    ("features", "memories"),
    ("memories", "use_memories"),
    ("mcp_servers", "scaffale", "tools", "t", "approval_mode"),
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("path", PATHS)
def test_putting_means_that_and_no_other_change(text, path):
    after = toml.put(text, path, "value")
    expected = tomllib.loads(text)
    inner = expected
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    inner[path[-1]] = "value"
    assert tomllib.loads(after) == expected
    for line in text.splitlines():
        if "#" in line:
            assert line in after.splitlines()


@pytest.mark.parametrize("text", TEXTS)
def test_lists_of_tables_are_begun_and_gone_on_with(text):
    item = {"matcher": "mine", "hooks": [{"type": "command", "command": "c"}]}
    after = toml.put(toml.put(text, ("hooks", "PreToolUse", -1), item), ("hooks", "Other", -1), item)
    plain = tomllib.loads(after)
    assert plain["hooks"]["PreToolUse"][-1] == item
    assert plain["hooks"]["Other"] == [item]
    number = len(plain["hooks"]["PreToolUse"]) - 1
    gone = toml.remove(toml.remove(after, ("hooks", "PreToolUse", number)), ("hooks", "Other", 0))
    assert tomllib.loads(gone) == tomllib.loads(text)


@pytest.mark.parametrize(
    "text",
    ["[a]\n[a]\n", "a = 1\na = 2\n", "[a]\nb = 1\n[a.b]\n", "a.b = 1\n[a]\n", "a = \n", "[a\n", "\x00", "x = " + "[" * 5_000],
)
def test_what_is_ambiguous_is_refused(text):
    with pytest.raises(toml.Ambiguous):
        toml.parse(text)


@pytest.mark.parametrize(
    "text", ["mcp_servers = {}\n", "mcp_servers = { other = { command = 'x' } }\n", "hooks = { PreToolUse = [] }\n"]
)
def test_an_inline_table_is_left_as_it_is(text):
    key = text.split()[0]
    path = ("hooks", "PreToolUse", -1) if key == "hooks" else ("mcp_servers", "scaffale")
    with pytest.raises(toml.Ambiguous, match=f"write it as .{key}"):
        toml.put(text, path, {"command": "c"})


def test_what_stands_in_the_way_is_no_table():
    with pytest.raises(toml.Ambiguous, match="features is no table"):
        toml.put("features = 1\n", ("features", "memories"), True)
