"""The trail: one row for every write and every refused write, in the transaction of the change, without its content.

Texts are replaced by a digest and their size. The digest is keyed with a random key of the store, since a plain hash
of a short text can be guessed back; it still tells whether two rows are about the same text in this store. What is
kept is cut to a length that holds no document, and a secret in it is masked.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from scaffale.indexer import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import apsw

REDACTED = frozenset(
    "content summary query text document title body note notes data payload file file_content markdown search_string"
    " instructions excerpt snippet message rationale subject detail question_context concepts".split()
)  # fmt: skip
LONG_NAME = 40  # no parameter of ours is called so long
KEPT_CHARS = 200
KEPT_ITEMS = 50
KEPT_DEPTH = 6
ROW_CHARS = 16_000
SHORTEST_SECRET = 12

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class AuditRow(NamedTuple):
    """A row as written. `timestamp` is UTC ISO-8601; the two JSON texts are redacted."""

    id: str
    timestamp: str
    project_id: str | None
    operation: str
    entry_id: str | None
    actor: str | None
    outcome: str
    error_code: str | None
    params_redacted_json: str
    result_json: str


def create(connection: apsw.Connection) -> None:
    """The table, as part of the store's first migration. `seq` is the order of acknowledgement, whatever the clock says."""
    connection.execute(
        "CREATE TABLE audit_log (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, timestamp TEXT NOT NULL, project_id TEXT,"
        " operation TEXT NOT NULL, entry_id TEXT, actor TEXT, outcome TEXT NOT NULL, error_code TEXT,"
        " params_redacted_json TEXT NOT NULL, result_json TEXT NOT NULL) STRICT"
    )


def record(
    connection: apsw.Connection,
    key: bytes | None = None,
    *,
    operation: str,
    outcome: str,
    project_id: str | None = None,
    entry_id: str | None = None,
    actor: str | None = None,
    error_code: str | None = None,
    params: Mapping[str, object] | None = None,
    result: Mapping[str, object] | None = None,
) -> AuditRow:
    """Write one row inside the caller's transaction and return it. Without a `key` the store's own is read."""
    if key is None:
        key = store_key(connection)
    row = AuditRow(
        os.urandom(16).hex(),
        clock.now(),
        project_id,
        operation,
        entry_id,
        actor and actor[:KEPT_CHARS],
        outcome,
        error_code,
        redacted_json(key, params),
        redacted_json(key, result),
    )
    connection.execute(
        "INSERT INTO audit_log (id, timestamp, project_id, operation, entry_id, actor, outcome, error_code,"
        " params_redacted_json, result_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row,
    )
    return row


def store_key(connection: apsw.Connection) -> bytes:
    """The random key of this store. It never leaves it."""
    key: bytes = connection.execute("SELECT value FROM store WHERE key = 'key'").get
    return key


def digest(key: bytes, text: str | bytes) -> str:
    """HMAC-SHA-256 of a text under the store's key, its first 32 hex digits."""
    import hmac

    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hmac.digest(key, data, "sha256").hex()[:32]


def redacted_json(key: bytes, values: Mapping[str, object] | None) -> str:
    """The values as JSON without what they are about. See `REDACTED` for the names of the texts."""
    if not values:
        return "{}"
    from scaffale import secrets

    walk = _Redaction(key)
    text = _json(walk.mapping(values, 0))
    if walk.kept and secrets.find("\n\n".join(walk.kept), 1):
        text = _json(_Redaction(key, secrets.mask).mapping(values, 0))
    return text if len(text) <= ROW_CHARS else _json({"cut": _mark(key, "params", text)})


def forget(connection: apsw.Connection, key: bytes, entry_ids: Collection[str]) -> None:
    """Take from the rows of entries that are deleted what was said of them. Their ids, times and outcomes stay."""
    rows: list[Any] = connection.execute(
        "SELECT seq, params_redacted_json FROM audit_log WHERE entry_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(entry_ids)),),
    ).fetchall()
    for seq, params in rows:
        forgotten = _json({"forgotten": _mark(key, "params", params)})
        connection.execute("UPDATE audit_log SET params_redacted_json = ? WHERE seq = ?", (forgotten, seq))


def summary(connection: apsw.Connection, project_id: str) -> list[dict[str, object]]:
    """How often each operation on a project was done or refused."""
    rows = connection.execute(
        "SELECT operation, outcome, count(*) FROM audit_log WHERE project_id = ? GROUP BY 1, 2 ORDER BY 1, 2", (project_id,)
    )
    return [{"operation": operation, "outcome": outcome, "count": count} for operation, outcome, count in rows]


def mirror(path: str, row: AuditRow) -> str | None:
    """Append the row to the JSONL file as one line (mode 0600). What goes wrong comes back as a warning, never raised."""
    fields = row._asdict()
    params, result = fields.pop("params_redacted_json"), fields.pop("result_json")
    line = f'{_json(fields)[:-1]},"params":{params},"result":{result}}}\n'.encode()
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        # Without blocking: a pipe that nobody reads must not hold a write that is already done.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            written = os.write(descriptor, line)  # one write: lines of several processes do not mix
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"the audit mirror {path} could not be written: {error.strerror}; the table has the row"
    if written < len(line):
        return f"the audit mirror {path} took only a part of a line; the table has the row"
    return None


def _json(values: dict[str, object]) -> str:
    text = _encoder(values)
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate becomes its JSON escape


class _Redaction:
    """One walk through parameters. Deep, long and strange things become short ones; nothing makes it fail.

    `kept` collects the texts that stay and are long enough to hold a secret.
    """

    def __init__(self, key: bytes, mask: Callable[[str], str] | None = None) -> None:
        self.kept: list[str] = []
        self._key = key
        self._mask = mask

    def mapping(self, values: Mapping[str, object], depth: int) -> dict[str, object]:
        kept: dict[str, object] = {}
        for name, value in values.items():
            if len(kept) >= KEPT_ITEMS:
                kept["more"] = len(values) - KEPT_ITEMS
                break
            named = len(name) < LONG_NAME and name.islower() and name.replace("_", "").isalpha()  # no secret looks like it
            key = name if named else self._kept(name)
            if value is not None and name.lower() in REDACTED:
                kept[key] = self._redacted(name, value, depth)
            else:
                kept[key] = self._value(value, depth)
        return kept

    def _value(self, value: object, depth: int) -> object:
        if value is None or isinstance(value, int | float):
            return value
        if isinstance(value, str):
            return self._kept(value)
        if depth >= KEPT_DEPTH:
            return "..."
        if isinstance(value, dict):
            return self.mapping(value, depth + 1)
        if isinstance(value, list | tuple):
            kept = [self._value(item, depth + 1) for item in value[:KEPT_ITEMS]]
            return kept if len(value) <= KEPT_ITEMS else [*kept, f"{len(value) - KEPT_ITEMS} more"]
        return f"<{type(value).__name__}>"

    def _redacted(self, name: str, value: object, depth: int) -> object:
        if isinstance(value, str | bytes):
            return _mark(self._key, name, value)
        if isinstance(value, list | tuple) and depth < KEPT_DEPTH:
            kept = [self._redacted(name, item, depth + 1) for item in value[:KEPT_ITEMS]]
            return kept if len(value) <= KEPT_ITEMS else [*kept, f"{len(value) - KEPT_ITEMS} more"]
        return _mark(self._key, name, repr(value))

    def _kept(self, text: str) -> str:
        if len(text) < SHORTEST_SECRET:
            return text
        self.kept.append(text)
        if self._mask:
            text = self._mask(text)  # before it is cut: a rule must see the whole of a secret
        return text if len(text) <= KEPT_CHARS else f"{text[:KEPT_CHARS]}... ({len(text)} characters)"


def _mark(key: bytes, name: str, value: str | bytes) -> dict[str, object]:
    """What stands in the row in place of a text: its name, its digest, its size in bytes and in characters."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return {"field": name[:KEPT_CHARS], "digest": digest(key, data), "bytes": len(data), "chars": len(value)}
