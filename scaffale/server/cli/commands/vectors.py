"""Commands on vectors: turn them on with a model, see what stands, make what is missing, turn them off."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from scaffale.errors import NotFound, ScaffaleError
from scaffale.server.cli.commands import DONE, PARTLY, shared

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from scaffale.hall import Hall
    from scaffale.meaning.managing import Built
    from scaffale.server.cli.output import Output

    Arguments = argparse.Namespace

DOMAINS = ("memory", "docs")


def domain_arguments(parser: argparse.ArgumentParser) -> None:
    """Which store; both by default."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--docs", action="store_true", help="documents only")
    which.add_argument("--memory", action="store_true", help="memory only")


def enable_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="a folder, a name of huggingface.co, or `hashing` (no model, for a try)")
    parser.add_argument("--backend", default="numpy", choices=("numpy", "sqlite-vec", "exact", "milvus"), help="default: numpy")
    parser.add_argument("--fusion", default="rrf", choices=("rrf", "convex"), help="how both lists become one (default: rrf)")
    parser.add_argument("--download", action="store_true", help="fetch the model if it is not on this machine")
    parser.add_argument("--embedder", choices=("sentence-transformers", "onnx", "static", "hashing"))
    parser.add_argument("--revision", help="of the model, on the hub")
    parser.add_argument("--dimensions", type=shared.at_least(1), help="fewer than the model has, where it was made for that")
    parser.add_argument("--max-tokens", type=shared.at_least(1), help="what the model reads at once")
    parser.add_argument("--query-prompt", help="put before questions")
    parser.add_argument("--document-prompt", help="put before texts")
    parser.add_argument("--language", action="append", help="that the model was made for, such as en; repeatable")
    domain_arguments(parser)


def enable(arguments: Arguments, output: Output) -> int:
    from scaffale.backends import models
    from scaffale.backends.ports import EmbedderUnavailable
    from scaffale.meaning import managing

    wish = managing.Wish(
        arguments.model, arguments.embedder, arguments.revision, arguments.dimensions, arguments.query_prompt,
        arguments.document_prompt, arguments.max_tokens, tuple(arguments.language) if arguments.language else None,
    )  # fmt: skip
    _offline()
    try:
        if arguments.download and not os.path.isdir(arguments.model) and arguments.model != managing.HASHING:
            output.note(models.offer(arguments.model).replace(" downloads it", ": downloading", 1))
            _online()
            models.download(arguments.model, arguments.revision)
            _offline()
        space = managing.space_of(wish)
    except EmbedderUnavailable as error:
        raise NotFound(str(error)) from error

    return _each(
        arguments,
        output,
        lambda hall: hall.enable_vectors(space=space, backend=arguments.backend, fusion=arguments.fusion),
        create=True,
    )


def status_arguments(parser: argparse.ArgumentParser) -> None:
    domain_arguments(parser)


def status(arguments: Arguments, output: Output) -> int:
    return _each(arguments, output, lambda hall: hall.vector_status())


def build_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--again", action="store_true", help="try those again that had a problem")
    domain_arguments(parser)


def build(arguments: Arguments, output: Output) -> int:
    from scaffale.backends.ports import EmbedderUnavailable

    _offline()

    def make(hall: Hall) -> Built:
        with output.progress(f"embedding {hall.name}", "texts") as progress:
            try:
                return hall.build_vectors(again=arguments.again, progress=progress)
            except EmbedderUnavailable as error:
                raise NotFound(str(error)) from error

    return _each(arguments, output, make, on_only=True)


def disable_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--drop", action="store_true", help="forget the vectors, too")
    domain_arguments(parser)


def disable(arguments: Arguments, output: Output) -> int:
    return _each(arguments, output, lambda hall: hall.disable_vectors(drop=arguments.drop))


def _each(
    arguments: Arguments,
    output: Output,
    verb: Callable[[Hall], Any],
    *,
    create: bool = False,
    on_only: bool = False,
) -> int:
    """Do it to each store that is meant and that there is; with `create` to one that there is not yet, when it is named."""
    named = [name for name in DOMAINS if getattr(arguments, name)]
    opening: dict[str, Callable[[], Hall]] = {"memory": shared.open_memory, "docs": shared.open_docs}
    verbs: dict[str, Callable[[], Any]] = {}
    for name in named or DOMAINS:
        path = getattr(shared.settings(), f"{name}_db_path")
        if os.path.lexists(path) or (create and named):
            verbs[name] = partial(_on, opening[name], verb)
    if not verbs:
        raise NotFound("nothing is kept yet: scan a folder or add an entry first, then turn vectors on")
    answers = shared.each_of(verbs)
    if on_only and not named:  # one that is off is none that fails
        off = [name for name, answer in answers.items() if isinstance(answer, NotFound) and "are off" in answer.detail]
        answers = {name: answer for name, answer in answers.items() if name not in off} or answers
    if output.as_json:
        shared.json_of_each(answers, output)
    else:
        for name, answer in answers.items():
            output.line(f"{name}: {_told(answer)}")
            for warning in getattr(answer, "warnings", ()):
                output.note(f"warning: {warning}")
    return PARTLY if any(isinstance(answer, ScaffaleError) for answer in answers.values()) else DONE


def _on(opening: Callable[[], Hall], verb: Callable[[Hall], Any]) -> Any:  # noqa: ANN401
    with opening() as hall:
        return verb(hall)


def _told(answer: Any) -> str:  # noqa: ANN401
    from scaffale.meaning.managing import Built

    if isinstance(answer, ScaffaleError):
        return f"{answer.detail} [{answer.code}]"
    if isinstance(answer, Built):
        done = f"{answer.owners} embedded ({answer.texts} texts)"
        done += f", {answer.problems} with problems" if answer.problems else ""
        return done if answer.ready else f"{done}, not complete"
    if answer.state == "off":
        return "vectors are off"
    coverage = f"{answer.embedded} of {answer.total} have their vectors ({answer.coverage:.1%})"
    told = f"{answer.state}, {answer.model} ({answer.embedder}, {answer.dimensions} dimensions), {answer.backend}, {coverage}"
    if answer.jobs:
        told += f"; {answer.jobs} wait: `scaffale vectors build` makes them now"
    if answer.building:
        told += f"; {answer.building} is being built beside it"
    return told + "".join(f"\n  no vector for {problem}" for problem in answer.problems)


def _offline() -> None:
    from scaffale.server.embedder import OFFLINE

    os.environ.update(OFFLINE)


def _online() -> None:
    from scaffale.server.embedder import OFFLINE

    for name in OFFLINE:
        os.environ.pop(name, None)


