"""The command line: the verbs of the halls for people, batch jobs and CI.

It starts fast because it must: agents and scripts call it in loops. So it is `argparse` (a command-line library costs
20 ms of a budget of 33), only the parser of the command that was called is built, and tables, colours and progress bars
are imported only when a person is looking. The MCP SDK is imported by `serve` alone.

Exit codes: 0 done · 1 done in part, or a check found something · 2 an argument was refused · 3 not found · 4 in the way
of something else · 5 the store cannot be used now · 70 a defect of ours · 74 the system refused · 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.server.cli.output import Output

EXIT_CODES = {
    "INVALID_PARAM": 2,
    "LIMIT_EXCEEDED": 2,
    "SECRET_DETECTED": 2,
    "NOT_FOUND": 3,
    "CONFLICT": 4,
    "STORE_BUSY": 5,
    "STORE_UNREADABLE": 5,
    "INTERNAL": 70,
}


_YOUNG = 100_000  # objects before garbage is looked for: what imports make is none, and most commands make no more


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Errors go to stderr in one line, or with `--json` to stdout as data."""
    from scaffale.errors import InvalidParam, ScaffaleError
    from scaffale.server.cli import commands
    from scaffale.server.cli.output import Output

    arguments = list(sys.argv[1:] if argv is None else argv)
    output = Output(as_json="--json" in arguments[: arguments.index("--") if "--" in arguments else None])
    try:
        return commands.run(arguments, output)
    except ScaffaleError as error:
        output.error(error)
        return EXIT_CODES.get(error.code, 70)
    except KeyboardInterrupt:
        output.note("interrupted")
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # whoever read us has left; say nothing more
        return 0
    except UnicodeError:
        output.error(InvalidParam("an argument, or what came in, is not valid Unicode; nothing was written"))
        return EXIT_CODES["INVALID_PARAM"]
    except OSError as error:
        return _refused_by_the_system(error)
    except Exception:
        return _defect(output)


def _refused_by_the_system(error: OSError) -> int:
    """The output that cannot be written, the folder one stands in that is gone. Only stderr is left to say so."""
    what = f" ({error.filename})" if error.filename else ""
    sys.stderr.write(f"scaffale: the system refused: {error.strerror}{what}\n")
    return 74


def _defect(output: Output) -> int:
    from scaffale.errors import Internal

    if os.environ.get("MEMORY_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    output.error(Internal("a defect of Scaffale itself; MEMORY_DEBUG=1 shows where"))
    return EXIT_CODES["INTERNAL"]


def entry() -> None:
    """What the console script calls."""
    _stand_in_for_closed_streams()
    os.umask(0o077)  # stores, indexes and exports are for their owner's eyes
    gc.set_threshold(_YOUNG)
    code = main()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        code = code or _refused_by_the_system(error)
    # Nothing is left to do: halls are closed, output is flushed. Taking the interpreter apart would cost an eighth of a search.
    os._exit(code)


def _stand_in_for_closed_streams() -> None:
    """A caller may close them (`>&-`). The first files that are opened would take their places."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
