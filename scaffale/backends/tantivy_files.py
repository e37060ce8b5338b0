"""Whether the files of a Tantivy commit are as they were written. The engine puts a checksum behind each and never looks.

Only files that the commit names are read: they do not change any more. One that a merge has removed meanwhile is none of
this commit's.
"""

from __future__ import annotations

import json
import os
import zlib

from scaffale.errors import IndexUnusable

MAGIC = 1337  # the last four bytes of a file that ends in a footer
CHUNK = 1024 * 1024


def check(folder: str) -> None:
    """Raises `IndexUnusable` with the name of the first file that is damaged or missing."""
    for _ in range(3):
        commit = _commit(folder)
        wrong = next(filter(None, (_fault(os.path.join(folder, name)) for name in _names(folder, commit))), None)
        if wrong is None:
            return
        if commit == _commit(folder):  # otherwise a writer has been here, and may have cleared it away
            break
    raise IndexUnusable(wrong or "")


def _commit(folder: str) -> bytes:
    try:
        with open(os.path.join(folder, "meta.json"), "rb") as file:
            return file.read()
    except OSError as error:
        raise IndexUnusable(f"meta.json cannot be read: {error.strerror}") from error


def _names(folder: str, commit: bytes) -> list[str]:
    """The files of the commit, by the segments that it names."""
    try:
        segments = json.loads(commit)["segments"]
        ids = {segment["segment_id"].replace("-", ""): segment["deletes"] for segment in segments}
        deletes = {f"{id_}.{each['opstamp']}.del" for id_, each in ids.items() if each}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexUnusable("meta.json is damaged") from error
    there = [name for name in os.listdir(folder) if name.partition(".")[0] in ids and not name.endswith(".del")]
    return sorted({*there, *deletes})


def _fault(path: str) -> str | None:
    name = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 8))
            tail = file.read(8)
            length = int.from_bytes(tail[:4], "little")
            if len(tail) < 8 or int.from_bytes(tail[4:], "little") != MAGIC or length + 8 > size:
                return f"{name} is cut short"
            file.seek(size - 8 - length)
            said = json.loads(file.read(length))["crc"]
            file.seek(0)
            left, found = size - 8 - length, 0
            while left > 0 and (chunk := file.read(min(CHUNK, left))):
                found, left = zlib.crc32(chunk, found), left - len(chunk)
    except OSError as error:
        return f"{name} cannot be read: {error.strerror}"
    except (ValueError, KeyError, TypeError):
        return f"{name} is damaged at its end"
    return None if found == said else f"{name} is not as it was written"
