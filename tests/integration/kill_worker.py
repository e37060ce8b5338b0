"""A process that works until it is killed, and prints each thing only after the verb that did it has returned.

`python kill_worker.py HOME ENGINE NOTES SEED`. Lines: `ready`, `added ID TOKEN`, `invalidated ID`, `deleted ID`,
`scanned VERSION`.
"""

from __future__ import annotations

import os
import random
import sys

from scaffale import settings
from scaffale.docs import Docs
from scaffale.errors import ScaffaleError
from scaffale.memory import Memory


class Workday:
    """Random verbs on both halls. Settings, folder and seed as given."""

    def __init__(self, home, engine, notes, seed):
        self.chance = random.Random(seed)
        self.settings = settings.load({"HOME": home, "MEMORY_LEXICAL_BACKEND": engine, "DOCS_LEXICAL_BACKEND": engine}, home)
        self.notes = notes
        self.seed = seed
        self.count = 0
        self.mine = []
        self.gone = []
        self.start()

    def start(self):
        background = self.chance.random() < 0.5
        self.memory = Memory(self.settings, background=background)
        self.docs = Docs(self.settings, background=background)

    def add(self):
        token = f"token{self.seed}x{self.count}"
        self.count += 1
        said = self.memory.add_entry(
            actor="worker", project_id="p", scope="s", topic="t", source_type="decision", tags=["one", token],
            content=f"{token} " + "some words of it " * self.chance.randrange(1, 60),
        )  # fmt: skip
        self.mine.append(said.entry_id)
        say("added", said.entry_id, token)

    def invalidate(self):
        if self.mine:
            entry_id = self.mine.pop(self.chance.randrange(len(self.mine)))
            self.memory.invalidate_entry(entry_id=entry_id, actor="worker", project_id="p", reason="worn out")
            say("invalidated", entry_id)
            self.gone.append(entry_id)

    def delete(self):
        if self.gone:
            entry_id = self.gone.pop(self.chance.randrange(len(self.gone)))
            self.memory.delete_entry(entry_id=entry_id, actor="worker", project_id="p", confirm=True)
            say("deleted", entry_id)

    def scan(self):
        version = f"version{self.seed}x{self.count}"
        self.count += 1
        names = sorted(os.listdir(self.notes))
        for name in self.chance.sample(names, self.chance.randrange(1, len(names))):
            rewrite(os.path.join(self.notes, name), version)
        self.docs.scan_folder(folder_path=self.notes, shelf="notes")
        say("scanned", version)

    def search(self):
        self.memory.search(query="some words", project_id="p")
        self.docs.search(query="harbour")

    def commit(self):
        self.memory._open()[1].catch_up()

    def rebuild(self):
        self.memory.maintain(rebuild=True)
        self.docs.maintain(rebuild=True)

    def reopen(self):
        self.memory.close()
        self.docs.close()
        self.start()

    def go_on(self):
        verbs, weights = zip(
            (self.add, 50), (self.invalidate, 12), (self.delete, 6), (self.scan, 10), (self.search, 12), (self.commit, 8),
            (self.rebuild, 3), (self.reopen, 7), strict=True,
        )  # fmt: skip
        while True:
            self.chance.choices(verbs, weights)[0]()


def rewrite(path, version):
    """Every line of the file names the version: a document is of one version or it is torn."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(f"# {version}\n\n" + f"harbour {version}\n\n## More {version}\n\n" * 20)
    os.replace(path + ".new", path)


def say(*words):
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    workday = Workday(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
    say("ready")
    try:
        workday.go_on()
    except ScaffaleError as error:
        say("failed", error.code, error.detail)
