"""A process with both halls that does what it is told: one JSON request a line on stdin, one JSON answer a line on stdout.

`python hall_worker.py HOME ENGINE server|command`. A request is `[hall, verb, arguments]`; an answer is what the verb
returned, or `{"ok": false, "error_code", "detail"}`. `Workers` is the other end.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys

from scaffale import settings
from scaffale.docs import Docs
from scaffale.errors import ScaffaleError
from scaffale.memory import Memory
from scaffale.server.render import structured


def main(home, engine, role):
    loaded = settings.load({"HOME": home, "MEMORY_LEXICAL_BACKEND": engine, "DOCS_LEXICAL_BACKEND": engine}, home)
    background = role == "server"
    halls = {"memory": Memory(loaded, background=background), "docs": Docs(loaded, background=background)}
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        hall, verb, arguments = json.loads(line)
        try:
            answer = structured(getattr(halls[hall], verb)(**arguments))
        except ScaffaleError as error:
            answer = {"ok": False, "error_code": error.code, "detail": error.detail}
        print(json.dumps(answer), flush=True)
    for each in halls.values():
        each.close()


class Worker:
    """One such process."""

    def __init__(self, home, engine="tantivy", role="server"):
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(home), engine, role],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def say(self, hall, verb, **arguments):
        """Send a request; `hear` gets its answer."""
        self._process.stdin.write(json.dumps([hall, verb, arguments]) + "\n")
        self._process.stdin.flush()

    def hear(self):
        """The next answer."""
        line = self._process.stdout.readline()
        assert line, f"the process ended with {self._process.wait()}"
        return json.loads(line)

    def has_answered(self):
        """Whether `hear` would not wait."""
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def ask(self, hall, verb, **arguments):
        """`say`, then `hear`; errors are failures."""
        self.say(hall, verb, **arguments)
        answer = self.hear()
        assert answer["ok"], answer
        return answer

    def kill(self):
        """SIGKILL."""
        self._process.kill()
        self._process.communicate()

    def close(self):
        """Let it end by itself."""
        self._process.communicate()
        assert self._process.returncode == 0


class Workers:
    """Several of them, ready at once."""

    def __init__(self, count, home, engine="tantivy", role="server"):
        self._all = [Worker(home, engine, role) for _ in range(count)]
        for each in self._all:
            assert each.hear() == "ready"

    def __enter__(self):
        return self

    def __exit__(self, kind, *error):
        for each in self._all:
            if kind:
                each.kill()
            else:
                each.close()

    def __iter__(self):
        return iter(self._all)

    def __getitem__(self, number):
        return self._all[number]

    def all_ask(self, hall, verb, **arguments):
        """The same request to all at once; their answers."""
        for each in self._all:
            each.say(hall, verb, **arguments)
        return [each.hear() for each in self._all]


if __name__ == "__main__":
    main(*sys.argv[1:])
