"""From bytes on a pipe to one message a line, or to the reason why it is none. Pure: no descriptors, no loop.

Rules of this file: whoever sent a request gets to know its fate, so a refusal carries the id wherever one can be told.
What has no id is answered only when it cannot have been meant as a notification (the rules of JSON-RPC 2.0).
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp_types import JSONRPCMessage, RequestId

LONGEST_LINE = 16 * 1024 * 1024
CHUNK = 65_536
_ENDS_KEPT = 1_024  # bytes kept of both ends of a line that is too long

_BOM = b"\xef\xbb\xbf"
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){0,200}")\s*'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + rb"[,}]")
_ID_LAST = re.compile(rb"[,{]\s*" + _ID + rb"\}\s*$")


class TooLong(NamedTuple):
    """Both ends of a line that was not kept."""

    head: bytes
    tail: bytes


class Refusal(NamedTuple):
    """The answer to a line that is no message: a JSON-RPC error."""

    id: RequestId | float | None
    code: int
    message: str

    def encoded(self) -> bytes:
        """The answer as a line. Escaped to ASCII, so that even an id that is no Unicode comes back as it was sent."""
        error = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}).encode() + b"\n"


def split(read: Callable[[int], bytes]) -> Iterator[bytes | TooLong]:
    """The lines of a stream, the last one even without a newline. Keeps no more than one line of legal length."""
    line = bytearray()
    head: bytes | None = None
    while chunk := read(CHUNK):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            line += chunk[start:end]
            yield _finished(line, head)
            line, head, start = bytearray(), None, end + 1
        line += chunk[start:]
        if len(line) > LONGEST_LINE:
            head = head or bytes(line[:_ENDS_KEPT])
            del line[: len(line) - _ENDS_KEPT]
    if line or head:
        yield _finished(line, head)


def _finished(line: bytearray, head: bytes | None) -> bytes | TooLong:
    if head is None and len(line) <= LONGEST_LINE:
        return bytes(line)
    return TooLong(head or bytes(line[:_ENDS_KEPT]), bytes(line[-_ENDS_KEPT:]))


def understand(line: bytes | TooLong) -> JSONRPCMessage | Refusal | None:
    """What a line says. `None` when it says nothing: a blank line, a malformed notification or response."""
    if isinstance(line, TooLong):
        return Refusal(_id_at_an_end(line), INVALID_REQUEST, f"a message takes at most {LONGEST_LINE} bytes")
    if not line.strip():
        return None
    text, intact = _decoded(line)
    try:
        message = _decode(text)
    except (ValueError, RecursionError):
        return Refusal(None, PARSE_ERROR, "the line is not JSON")
    if type(message) is not dict:
        return Refusal(None, INVALID_REQUEST, "a message is one JSON object; batches are not served")
    return _message(message, intact)


def _message(message: dict[str, Any], intact: bool) -> JSONRPCMessage | Refusal | None:
    method, request_id = message.get("method"), message.get("id")
    if "method" not in message and ("result" in message or "error" in message):
        return _response(message, intact)
    if "id" not in message:
        return _notification(message, intact)
    if type(request_id) is not int and not (type(request_id) is str and _is_unicode(request_id)):
        return Refusal(_echoed(request_id), INVALID_REQUEST, "id must be an integer or a string")
    if not intact:
        return Refusal(request_id, INVALID_REQUEST, "the line is not UTF-8")
    if message.get("jsonrpc") != "2.0":
        return Refusal(request_id, INVALID_REQUEST, 'jsonrpc must be "2.0"')
    if type(method) is not str or not _is_unicode(method):
        return Refusal(request_id, INVALID_REQUEST, "method must be a string")
    params = message.get("params")
    if params is None:
        return JSONRPCRequest.model_construct(jsonrpc="2.0", id=request_id, method=method)
    if type(params) is not dict:
        return Refusal(request_id, INVALID_PARAMS, "params must be an object")
    return JSONRPCRequest.model_construct(jsonrpc="2.0", id=request_id, method=method, params=params)


def _response(message: dict[str, Any], intact: bool) -> JSONRPCResponse | JSONRPCError | None:
    """An answer to something that this server asked, if it is well formed. Nobody has to be told when it is not."""
    request_id, result, error = message.get("id"), message.get("result"), message.get("error")
    if not intact or message.get("jsonrpc") != "2.0" or type(request_id) not in (int, str):
        return None
    if type(result) is dict and error is None:
        return JSONRPCResponse.model_construct(jsonrpc="2.0", id=request_id, result=result)
    if type(error) is dict and type(error.get("code")) is int and type(error.get("message")) is str:
        said = ErrorData.model_construct(code=error["code"], message=error["message"], data=error.get("data"))
        return JSONRPCError.model_construct(jsonrpc="2.0", id=request_id, error=said)
    return None


def _notification(message: dict[str, Any], intact: bool) -> JSONRPCNotification | Refusal | None:
    method, params = message.get("method"), message.get("params")
    if type(method) is not str:
        return Refusal(None, INVALID_REQUEST, "method must be a string")
    if not intact or message.get("jsonrpc") != "2.0" or not _is_unicode(method):
        return None
    if params is None:
        return JSONRPCNotification.model_construct(jsonrpc="2.0", method=method)
    if type(params) is not dict:
        return None
    return JSONRPCNotification.model_construct(jsonrpc="2.0", method=method, params=params)


def _decoded(line: bytes) -> tuple[str, bool]:
    line = line.removeprefix(_BOM)
    try:
        return line.decode(), True
    except UnicodeDecodeError:
        return line.decode(errors="replace"), False


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_no_constant).decode


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _echoed(request_id: object) -> str | float | None:
    """An id that is not to be used, as far as JSON-RPC lets it be named."""
    if isinstance(request_id, str) or (isinstance(request_id, float) and isfinite(request_id)):
        return request_id
    return None


def _id_at_an_end(line: TooLong) -> RequestId | None:
    """The id of a message of which only the ends are left, when it is the first or the last member; else `None`.

    Inside a string every quote is escaped, so a bare `"id"` before the very last brace is a member of the message.
    """
    found = _ID_FIRST.match(line.head) or _ID_LAST.search(line.tail)
    try:
        told: RequestId | None = json.loads(found[1]) if found else None
    except ValueError:
        return None
    return told
