"""What registries, bundles and containers are told is true of the program."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from scaffale import __version__, settings
from scaffale.server.cli import commands
from scaffale.server.mcp.tools import TOOLS

CHECKOUT = Path(__file__).parents[2]


def read(name):
    return (CHECKOUT / name).read_text(encoding="utf-8")


def test_server_json_names_this_version_and_real_settings():
    said = json.loads(read("server.json"))
    (package,) = said["packages"]
    assert said["version"] == package["version"] == __version__
    assert len(said["description"]) <= 100
    assert f"<!-- mcp-name: {said['name']} -->" in read("README.md")
    assert package["identifier"] == tomllib.loads(read("pyproject.toml"))["project"]["name"]
    assert package["packageArguments"][0]["value"] in commands.COMMANDS
    assert {each["name"] for each in package["environmentVariables"]} <= set(settings.KEYS)


def test_the_bundle_lists_the_tools_that_are_served():
    said = json.loads(read("deploy/mcpb/manifest.json"))
    served = [(tool.name, tool.title) for tool in TOOLS if tool.by_default]
    assert [(tool["name"], tool["description"]) for tool in said["tools"]] == served
    project = tomllib.loads(read("deploy/mcpb/pyproject.toml"))["project"]
    assert said["version"] == project["version"] == __version__
    assert project["dependencies"] == [f"scaffale=={__version__}"]
    assert (CHECKOUT / "deploy/mcpb" / said["server"]["entry_point"]).exists()


def test_what_is_deployed_starts_commands_that_parse():
    container = re.search(r"^CMD (\[.*\])$", read("deploy/Containerfile"), re.MULTILINE)[1]
    unit = re.search(r"^ExecStart=\S+/scaffale (.*)$", read("deploy/scaffale.service"), re.MULTILINE)[1]
    for words in (json.loads(container), unit.split()):
        parsed = commands.parser_of(words[0]).parse_args(words[1:])
        assert parsed.http
    for named in re.findall(r"^COPY (?!--)(.+) \S+$", read("deploy/Containerfile"), re.MULTILINE):
        assert all((CHECKOUT / each).exists() for each in named.split())


def test_every_shipped_script_of_others_has_its_licence():
    vendor = CHECKOUT / "scaffale/server/web/static/vendor"
    licences = (vendor / "LICENSES.txt").read_text(encoding="utf-8")
    for path in vendor.glob("*.js"):
        assert path.name in licences
    assert licences.count("Permission") == 3
