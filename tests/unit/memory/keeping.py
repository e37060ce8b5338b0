"""How the tests of memory keep an entry, and look into the files of a store."""

from __future__ import annotations

import json
import os

HOME = {"project_id": "p"}


def keep(memory, content="The writer holds the lock.", **more):
    """The id of a new entry of project `p`."""
    given = {
        "actor": "tester", "project_id": "p", "scope": "backend", "topic": "locks", "content": content,
        "source_type": "decision", **more,
    }  # fmt: skip
    return memory.add_entry(**given).entry_id


def read(memory, entry_id, **more):
    return memory.read_entry(entry_id=entry_id, **{**HOME, **more}).entry


def ids(found):
    return [hit.id for hit in found.results]


def audit(memory, operation=None):
    """The rows of the audit as dicts, oldest first."""
    database, _ = memory._open()
    columns = ("operation", "project_id", "entry_id", "actor", "outcome", "error_code", "params_redacted_json", "result_json")
    rows = database.connection.execute(f"SELECT {', '.join(columns)} FROM audit_log ORDER BY seq").fetchall()
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    for row in found:
        row["params"], row["result"] = json.loads(row.pop("params_redacted_json")), json.loads(row.pop("result_json"))
    return [row for row in found if operation in (None, row["operation"])]


def files_with(folder, *needles):
    """The files below a folder that hold one of the texts, by their path in it."""
    found = set()
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                data = file.read()
            if any(needle.encode() in data for needle in needles):
                found.add(os.path.relpath(path, folder))
    return found
