"""The commands, one row of `COMMANDS` each: its help, an example, and the module of this package that carries it out.

Only the module of the called command is imported, and only its parser is built.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from scaffale.errors import InvalidParam, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace

DONE, PARTLY = 0, 1
WHICH = ("active", "superseded", "archived", "invalidated", "any")


class Command(NamedTuple):
    """A command. `room:verb` names the module here and the function in it; `verb_arguments` adds what it takes, if anything."""

    help: str
    example: str
    at: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add what the command takes."""
        room, verb = self._found()
        add = getattr(room, f"{verb}_arguments", None)
        if add:
            add(parser)

    def run(self, arguments: Arguments, output: Output) -> int:
        """Do it, and return the exit code."""
        room, verb = self._found()
        code: int = getattr(room, verb)(arguments, output)
        return code

    def _found(self) -> tuple[Any, str]:
        room, _, verb = self.at.partition(":")
        name = f"{__name__}.{room}"
        __import__(name)
        return sys.modules[name], verb


def run(arguments: Sequence[str], output: Output) -> int:
    """Find the command, parse its arguments, run it."""
    rest = list(arguments)
    _drop_json(rest)
    if rest[:1] == ["help"]:  # `help search` is `search --help`
        rest = [*rest[1:], "--help"]
    if not rest or rest[0] in ("-h", "--help"):
        _overview("")
        return DONE
    if rest[0] in ("-V", "--version"):
        from scaffale import __version__

        output.line(f"scaffale {__version__}")
        return DONE
    name = rest.pop(0)
    if name in GROUPS:
        _drop_json(rest)
        if not rest or rest[0] in ("-h", "--help"):
            _overview(name)
            return DONE
        name = f"{name} {rest.pop(0)}"
    command = COMMANDS.get(name)
    if command is None:
        raise _unknown(name)
    parser = parser_of(name)
    parser.given = rest
    try:
        parsed = parser.parse_args(rest)
    except SystemExit:  # of `--help`, which has been printed
        return DONE
    return command.run(parsed, output)


def parser_of(name: str) -> _Parser:
    """The parser of a command."""
    command = COMMANDS[name]
    # argparse looks for catalogues of translations that nobody ships, and imports `locale` to do so.
    setattr(argparse, "_", str)  # noqa: B010
    parser = _Parser(
        prog=f"scaffale {name}",
        description=command.help,
        epilog=f"example: {command.example}",
        allow_abbrev=False,
        # Without a width it imports `shutil`, and that every compression library there is, for each argument.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
    )
    command.arguments(parser)
    parser.add_argument("--json", action="store_true", help="the answer as JSON")
    return parser


def _drop_json(rest: list[str]) -> None:
    """It belongs behind the command, and is understood before it (see `main`)."""
    while rest[:1] == ["--json"]:
        rest.pop(0)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are errors like all others. `given` is what it parses."""

    given: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """`InvalidParam`, with the option that was meant, or the way to look for a text that begins with `-`."""
        options = self._option_string_actions
        unknown = [word for word in self.given if word.startswith("-") and word.partition("=")[0] not in (*options, "-", "--")]
        hint = f"`{self.prog} --help` shows how"
        if unknown:
            import difflib

            close = difflib.get_close_matches(unknown[0], options, n=1, cutoff=0.7)
            if close:
                hint = f"did you mean {close[0]}?"
            elif self.prog.endswith((" search", " add")) and not message.startswith("argument "):
                hint = f"to take it as text, write `{self.prog} -- {unknown[0]}`"
        raise InvalidParam(f"{message}; {hint}")


def _overview(name: str) -> None:
    shown = {key: command for key, command in COMMANDS.items() if key == name or not name or key.startswith(f"{name} ")}
    lines = ["usage: scaffale COMMAND [ARGUMENT ...]   (scaffale COMMAND --help says more)", ""]
    lines += [f"  {key:<18} {command.help}" for key, command in shown.items()]
    if not name:
        lines += ["", "begin:  scaffale scan FOLDER   then   scaffale search WORDS   then   scaffale read NUMBER"]
        lines += ["or:     scaffale demo   shows it at work;   scaffale ui   opens it in a browser"]
        lines += ["exit codes: 0 done, 1 in part, 2 argument refused, 3 not found, 4 in the way, 5 store unusable, 70 defect"]
    sys.stdout.write("\n".join(lines) + "\n")


def _unknown(name: str) -> InvalidParam:
    import difflib

    close = [full for full in COMMANDS if full.split()[-1] == name] or difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {' or '.join(close)}?" if close else "`scaffale --help` lists them"
    return InvalidParam(f"there is no command {quoted(name)}; {hint}")



COMMANDS = {
    "scan": Command("index a folder of Markdown, or one file", "scaffale scan docs --shelf guide", "docs:scan"),
    "resync": Command("scan again whatever was scanned before", "scaffale resync --remove-missing", "docs:resync"),
    "watch": Command("keep shelves level with their folders", "scaffale watch --correlate", "docs:watch"),
    "search": Command("find sections of documents, and memory", "scaffale search write-ahead log", "both:search"),
    "read": Command("read a document or a memory entry", "scaffale read 12 --lines 40:60", "both:read"),
    "add": Command(
        "keep an entry in memory", 'scaffale add "Use < for expiry" --topic auth --scope backend', "memory:add"
    ),
    "status": Command("what the stores hold and what serves them", "scaffale status", "both:status"),
    "doctor": Command("check stores, indexes, permissions, clients", "scaffale doctor --verify", "house:doctor"),
    "backup": Command("copy the stores to a new folder", "scaffale backup scaffale-december", "house:backup"),
    "restore": Command(
        "put the stores of a backup in place", "scaffale restore scaffale-december", "house:restore"
    ),
    "maintain": Command("tidy stores and indexes", "scaffale maintain --rebuild", "house:maintain"),
    "eval": Command("test searches with your own questions", "scaffale eval questions.jsonl", "house:eval"),
    "install": Command("put Scaffale into a client", "scaffale install --client codex --profile prudent", "clients:install"),
    "uninstall": Command("take it out again", "scaffale uninstall --client codex", "clients:uninstall"),
    "skill": Command("print the Agent Skill", "scaffale skill", "clients:skill"),
    "serve": Command("serve agents over MCP: on stdin and stdout, or to a team", "scaffale serve --tools all", "house:serve"),
    "ui": Command("search, read, map and review in a browser", "scaffale ui", "web:ui"),
    "demo": Command("a short tour on data that ships", "scaffale demo", "tour:demo"),
    "completion": Command("complete commands in your shell", "scaffale completion bash", "tour:completion"),
    "token create": Command(
        "let somebody ask a server over HTTP", "scaffale token create ada --read-only --days 90", "tokens:create"
    ),
    "token list": Command("who may", "scaffale token list", "tokens:list_"),
    "token revoke": Command("and who may not any more", "scaffale token revoke ada", "tokens:revoke"),
    "shelf list": Command("the shelves", "scaffale shelf list", "docs:shelf_list"),
    "shelf show": Command("the documents of a shelf", "scaffale shelf show guide", "docs:shelf_show"),
    "shelf create": Command("make an empty shelf", "scaffale shelf create archive", "docs:shelf_create"),
    "shelf update": Command(
        "rename or describe a shelf", "scaffale shelf update guide --name manual", "docs:shelf_update"
    ),
    "shelf remove": Command("forget a shelf; files stay", "scaffale shelf remove guide", "docs:shelf_remove"),
    "shelf forget": Command("forget one document; its file stays", "scaffale shelf forget 12", "docs:shelf_forget"),
    "shelf export": Command(
        "write a shelf to a file", "scaffale shelf export guide guide.json", "map:shelf_export"
    ),
    "shelf import": Command(
        "read an exported shelf", "scaffale shelf import guide.json --on-conflict merge", "map:shelf_import"
    ),
    "shelf parents": Command("the shelves that a shelf leans on", "scaffale shelf parents client --add standard", "map:parents"),
    "correlate": Command("propose links between documents", "scaffale correlate runbooks --apply", "map:correlate"),
    "tag list": Command("the dictionary of tags", "scaffale tag list", "map:tag_list"),
    "tag create": Command("a new tag", "scaffale tag create security", "map:tag_create"),
    "tag update": Command("rename or describe a tag", "scaffale tag update billing --name invoices", "map:tag_update"),
    "tag remove": Command("take a tag from every document", "scaffale tag remove billing", "map:tag_remove"),
    "tag set": Command("give a document its tags", "scaffale tag set 12 billing howto", "map:tag_set"),
    "link list": Command("the links of a document", "scaffale link list 12 --direction both", "map:link_list"),
    "link add": Command("link a document to another", "scaffale link add 12 7 --relation depends_on", "map:link_add"),
    "link remove": Command("take a link", "scaffale link remove 3", "map:link_remove"),
    "link pin": Command("say that a link is right, for good", "scaffale link pin 3", "map:link_pin"),
    "link reject": Command("say that a link is wrong, for good", "scaffale link reject 3", "map:link_reject"),
    "memory invalidate": Command(
        "mark an entry as not valid any more",
        "scaffale memory invalidate ID --reason 'fixed in 2.1'",
        "memory:invalidate",
    ),
    "memory update": Command(
        "correct an entry, archive it, bring it back",
        "scaffale memory update ID --status archived",
        "curation:update",
    ),
    "memory delete": Command("delete an invalidated entry for good", "scaffale memory delete ID --yes", "curation:delete"),
    "memory history": Command("how an entry came to be as it is", "scaffale memory history ID", "curation:history"),
    "memory link": Command(
        "link an entry to another, or to a document", "scaffale memory link ID docs://document/12", "curation:link"
    ),
    "memory unlink": Command("take a link", "scaffale memory unlink LINK", "curation:unlink"),
    "memory links": Command("the links of an entry", "scaffale memory links ID --direction both", "curation:links"),
    "memory similar": Command("entries that say nearly the same", "scaffale memory similar ID", "exchange:similar"),
    "memory handoff": Command("what changed, for whoever takes over", "scaffale memory handoff --since 2w", "exchange:handoff"),
    "memory verify": Command("look whether the evidence still stands", "scaffale memory verify ID", "exchange:verify"),
    "memory ticket": Command("an entry from a ticket", "scaffale memory ticket APP-12 - --scope backend", "exchange:ticket"),
    "memory commit": Command(
        "entries from commits", "scaffale memory commit --range v1..HEAD --scope app --apply", "exchange:commit"
    ),
    "memory document": Command(
        "an entry about a document", 'scaffale memory document 12 "Keys rotate weekly" --scope ops', "exchange:document"
    ),
    "memory notes": Command("entries from Markdown notes", "scaffale memory notes NOTES.md --scope app", "exchange:notes"),
    "memory export": Command("write a project's memory to a file", "scaffale memory export app.zip", "exchange:export"),
    "memory import": Command(
        "bring an export into a project", "scaffale memory import app.json --on-conflict merge", "exchange:import_"
    ),
    "memory propose": Command(
        "propose what another tool remembers", "scaffale memory propose AGENTS.md --scope app", "exchange:propose"
    ),
    "memory proposals": Command("what waits for a person", "scaffale memory proposals", "exchange:proposals"),
    "memory rebuild": Command("build the index of memory anew", "scaffale memory rebuild", "curation:rebuild"),
    "memory scopes": Command("the scopes in use", "scaffale memory scopes", "memory:scopes"),
    "memory topics": Command("the topics in use", "scaffale memory topics", "memory:topics"),
    "memory tags": Command("the tags in use", "scaffale memory tags", "memory:tags"),
    "review": Command("decide on what waits for a person, on a terminal", "scaffale review SESSION", "review:review"),
    "ledger open": Command("begin a session, or go on with one", "scaffale ledger open q17 --title Ablations", "ledger:open"),
    "ledger record": Command(
        "append a decision to a session", 'scaffale ledger record q17 F1 concept_clarified Ablation "A procedure with …"',
        "ledger:record",
    ),
    "ledger sessions": Command("the sessions of a project", "scaffale ledger sessions", "ledger:sessions"),
    "ledger decisions": Command(
        "a session line by line, and what does not hold", "scaffale ledger decisions q17 --ended", "ledger:decisions"
    ),
    "ledger summary": Command("a session in short", "scaffale ledger summary q17", "ledger:summary"),
    "ledger candidates": Command("the concepts that may be promoted", "scaffale ledger candidates q17", "ledger:candidates"),
    "ledger recall": Command("promoted concepts that fit", "scaffale ledger recall ablation --session q17", "ledger:recall"),
    "ledger export": Command("write the concepts as JSON lines", "scaffale ledger export registry.jsonl", "ledger:export"),
    "ledger import": Command("propose the concepts of a registry", "scaffale ledger import registry.jsonl", "ledger:import_"),
    "vectors enable": Command(
        "turn search by meaning on", "scaffale vectors enable --model intfloat/multilingual-e5-small", "vectors:enable"
    ),
    "vectors status": Command("the model, and what has its vectors", "scaffale vectors status", "vectors:status"),
    "vectors build": Command("make the vectors that are missing", "scaffale vectors build --docs", "vectors:build"),
    "vectors disable": Command("turn search by meaning off", "scaffale vectors disable --drop", "vectors:disable"),
    "project bind": Command(
        "say that a folder belongs to the project that its .env claims",
        "scaffale project bind --project .",
        "memory:bind",
    ),
}  # fmt: skip
GROUPS = {name.split()[0] for name in COMMANDS if " " in name}
