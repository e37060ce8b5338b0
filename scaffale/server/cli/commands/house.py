"""Commands on the house itself: serve it, examine it, test it, tidy it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scaffale.errors import ScaffaleError
from scaffale.server.cli.commands import DONE, PARTLY, shared

if TYPE_CHECKING:
    import argparse

    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace


def serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tools", default="default", choices=("default", "all", "memory", "docs", "ledger"))
    parser.add_argument("--project", help="the folder or id of the project whose memory is listed as resources")
    parser.add_argument("--http", action="store_true", help="serve a team over HTTP instead of one client on stdin")
    parser.add_argument("--host", default="127.0.0.1", help="with --http: where to listen (default: this machine alone)")
    parser.add_argument("--port", type=shared.at_least(0), default=7341, help="with --http (default: 7341); 0 takes a free one")
    parser.add_argument(
        "--name", action="append", default=[], metavar="HOST", help="with --http: a name that clients call the server by"
    )
    parser.add_argument(
        "--origin", action="append", default=[], metavar="URL", help="with --http: a web page that may call the server"
    )


def serve(arguments: Arguments, output: Output) -> int:
    settings = shared.settings()
    if not arguments.http:
        from scaffale.server.mcp import serve

        return serve(settings, tools=arguments.tools, project=arguments.project)
    from scaffale.server.mcp import http

    return http.serve(
        settings, tools=arguments.tools, project=arguments.project, host=arguments.host, port=arguments.port,
        names=arguments.name, origins=arguments.origin, on_ready=lambda address: output.now(f"Scaffale serves {address}"),
    )  # fmt: skip


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--verify", action="store_true", help="read all of stores and indexes: pages, references, contents")
    parser.add_argument(
        "--repair", action="store_true", help="build indexes anew, and save what can be read of a damaged store into a new one"
    )


def doctor(arguments: Arguments, output: Output) -> int:
    from scaffale.server.cli.commands.clients import place
    from scaffale.server.cli.doctor import examine, repair

    if arguments.repair:
        repair(shared.settings(), output.note)
    findings = examine(shared.settings(), place(), thorough=arguments.verify or arguments.repair)
    output.answer(
        findings,
        lambda found: output.table(("", "what", "finding", "what to do"), [tuple(each) for each in found.checks]),
    )
    return DONE if findings.healthy else PARTLY


def backup_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="a folder that is not there yet")


def backup(arguments: Arguments, output: Output) -> int:
    from scaffale.safekeeping import back_up

    made = back_up(shared.settings(), arguments.folder)
    output.answer(
        made, lambda kept: output.table(("store", "file", "bytes"), [(s.name, s.file, s.bytes) for s in kept.stores])
    )
    return DONE


def restore_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="what `scaffale backup` wrote")


def restore(arguments: Arguments, output: Output) -> int:
    from scaffale.safekeeping import restore

    done = restore(shared.settings(), arguments.folder)

    def show(made: Any) -> None:  # noqa: ANN401  (answers.safekeeping.Restored)
        for store in made.stores:
            output.line(f"{store.name}: {store.path}")
            if store.kept:
                output.note(f"  the former one is kept at {store.kept}")

    output.answer(done, show)
    return DONE


def eval_arguments(parser: argparse.ArgumentParser) -> None:
    from scaffale.server.cli.evaluation import arguments

    arguments(parser)


def eval(arguments: Arguments, output: Output) -> int:
    from scaffale.server.cli.evaluation import run

    return run(arguments, output, shared.settings())


def maintain_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="build the indexes anew from the stores")


def maintain(arguments: Arguments, output: Output) -> int:
    def memory() -> Any:  # noqa: ANN401
        with shared.open_memory() as hall:
            return hall.maintain(rebuild=arguments.rebuild)

    def docs() -> Any:  # noqa: ANN401
        with shared.open_docs() as hall:
            return hall.maintain(rebuild=arguments.rebuild)

    answers = shared.each_of({"memory": memory, "docs": docs})
    done = [
        line
        for name, answer in answers.items()
        for line in ([f"{name}: {answer.detail}"] if isinstance(answer, ScaffaleError) else answer)
    ]
    if output.as_json:
        output.json({"ok": True, "done": done})
    else:
        for line in done:
            output.line(line)
    return shared.code_of_each(answers)

