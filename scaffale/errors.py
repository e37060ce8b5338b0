"""Every error a caller can meet, grouped by what the caller does next.

    ScaffaleError
    ├── InvalidParam      correct the argument and call again
    ├── NotFound          the thing is not there, or not in this project
    ├── Conflict          somebody else, or an earlier state, stands in the way
    ├── LimitExceeded     make it smaller
    ├── SecretDetected    remove the secret, or ask for redaction
    ├── StoreBusy         wait, then call again
    ├── StoreUnreadable   a person must look at the store
    ├── Internal          a defect of ours; the log has the details
    └── IndexUnusable     never leaves the house: the index is rebuilt instead

`code` is the contract's error code. `detail` names what was wrong, where, and what to do; it never holds a
secret, a stack trace or the text of an entry.
"""

from __future__ import annotations


class ScaffaleError(Exception):
    """Base of all errors raised on purpose. `str(error)` is the detail alone."""

    code = "INTERNAL"

    def __init__(self, detail: str, *, project_id: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.project_id = project_id
        self.audited = False  # whether the trail has it already


class InvalidParam(ScaffaleError):
    """An argument, a setting or a path is not acceptable."""

    code = "INVALID_PARAM"


class NotFound(ScaffaleError):
    """There is no such thing, or not in this project."""

    code = "NOT_FOUND"


class Conflict(ScaffaleError):
    """An earlier state, or somebody else, stands in the way."""

    code = "CONFLICT"


class LimitExceeded(ScaffaleError):
    """Something is too large, too long or too many."""

    code = "LIMIT_EXCEEDED"


class SecretDetected(ScaffaleError):
    """A text holds a certain secret; it was not kept."""

    code = "SECRET_DETECTED"


class StoreBusy(ScaffaleError):
    """Another process held the store for too long."""

    code = "STORE_BUSY"


class StoreUnreadable(ScaffaleError):
    """The store cannot be opened, read or written as it is."""

    code = "STORE_UNREADABLE"

    def __init__(self, detail: str, *, project_id: str | None = None, damaged: bool = False) -> None:
        super().__init__(detail, project_id=project_id)
        self.damaged = damaged  # its file is not whole: restore a backup, or save what can be read


class Internal(ScaffaleError):
    """A defect of ours."""

    code = "INTERNAL"


class IndexUnusable(ScaffaleError):
    """An engine's files are missing, foreign or damaged. Whoever catches it rebuilds; users get a warning at most."""


def quoted(text: str, most: int = 80) -> str:
    """What an error repeats of a caller's words: their beginning, without a secret that stands in them."""
    from scaffale import secrets

    return secrets.mask(text)[:most]  # masked before it is cut: half a secret looks like none
