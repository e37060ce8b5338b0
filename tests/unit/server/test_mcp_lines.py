from __future__ import annotations

import io
import json

import bad_lines
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from scaffale.server.mcp import lines
from scaffale.server.mcp.lines import Refusal, TooLong, split, understand

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


@pytest.mark.parametrize("line", bad_lines.NOT_JSON, ids=lambda line: line[:60])
def test_what_is_not_json_is_refused_without_an_id(line):
    refusal = understand(line)
    assert isinstance(refusal, Refusal)
    assert (refusal.id, refusal.code) == (None, bad_lines.PARSE)


@pytest.mark.parametrize(
    ("line", "answered", "code"), bad_lines.NO_REQUEST + bad_lines.BAD_REQUESTS, ids=lambda part: repr(part)[:60]
)
@pytest.mark.parametrize("chosen", [7, "seven", 10**20, -1, ""])
def test_what_is_no_request_is_refused_with_the_id_it_carries(line, answered, code, chosen):
    refusal = understand(line.replace(b"ID", json.dumps(chosen).encode()))
    assert isinstance(refusal, Refusal)
    assert refusal.id == (chosen if answered is bad_lines.ID else answered)
    assert refusal.code == code
    sent = json.loads(refusal.encoded())
    assert sent["id"] == refusal.id
    assert sent["error"]["message"] == refusal.message


@pytest.mark.parametrize("line", bad_lines.SILENT)
def test_what_asks_for_nothing_is_not_answered(line):
    understood = understand(line)
    assert isinstance(understood, JSONRPCResponse | JSONRPCError) if line in bad_lines.ANSWERS else understood is None


@pytest.mark.parametrize("line", [line for line, _ in bad_lines.FOR_THE_SERVER] + bad_lines.REFUSED_CALLS)
def test_what_the_server_must_judge_gets_there(line):
    assert isinstance(understand(line.replace(b"ID", b"3")), JSONRPCRequest)


def test_requests_and_notifications_are_understood():
    request = understand(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":null}}\r')
    assert isinstance(request, JSONRPCRequest)
    assert request.model_dump(exclude_unset=True) == {
        "jsonrpc": "2.0",
        "id": "a",
        "method": "tools/list",
        "params": {"cursor": None},
    }
    assert isinstance(understand(PING[:-1] + b',"params":null,"more":1}'), JSONRPCRequest)
    notification = understand(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert isinstance(notification, JSONRPCNotification)


@given(st.binary(max_size=80) | st.text(alphabet='{}[]":,\\ud80idmethojsnrpc.20', max_size=80).map(str.encode))
def test_any_bytes_get_a_message_a_reason_or_silence(line):
    meaning = understand(line)
    if isinstance(meaning, Refusal):
        json.loads(meaning.encoded())
    else:
        assert meaning is None or isinstance(meaning, JSONRPCRequest | JSONRPCNotification)


# --- splitting ------------------------------------------------------------------------------------------------------


def split_in(data: bytes, chunk: int) -> list:
    stream = io.BytesIO(data)
    return list(split(lambda size: stream.read(min(chunk, size))))


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), min_size=1), st.integers(1, 30))
def test_lines_are_split_however_they_arrive(said, chunk):
    expected = said if said[-1] else said[:-1]
    assert split_in(b"\n".join(said), chunk) == expected
    assert split_in(b"".join(line + b"\n" for line in said), chunk) == said


@pytest.mark.parametrize("chunk", [1_000, 65_536])
def test_a_line_that_is_too_long_is_skipped_and_its_id_kept(monkeypatch, chunk):
    monkeypatch.setattr(lines, "LONGEST_LINE", 10_000)
    long = b'{"jsonrpc":"2.0","id":5,"method":"x","params":{"x":"' + b"y" * 50_000 + b'"}}'
    found = split_in(PING + b"\n" + long + b"\n" + PING + b"\n" + long, chunk)
    assert [type(each) for each in found] == [bytes, TooLong, bytes, TooLong]
    assert all(len(each.head) + len(each.tail) <= 2_048 for each in found if isinstance(each, TooLong))
    refusal = understand(found[1])
    assert (refusal.id, refusal.code) == (5, bad_lines.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("head", "tail", "told"),
    [
        (b'{"jsonrpc":"2.0","id":5,"method":"x","params":{"x":"yy', b"yy", 5),
        (b'{ "id" : "a\\"b" , "x', b"yy", 'a"b'),
        (b'{"method":"x","params":{"x":"yy', b'yy"},"jsonrpc":"2.0","id":6}', 6),
        (b'{"method":"x","params":{"x":"yy', b'yy"},"jsonrpc":"2.0","id":"six" } \r', "six"),
        (b'{"method":"x","params":{"id":7,', b'yy"}', None),
        (b'{"method":"x","params":{"x":"yy', b'"id":7}}', None),
        (b'{"method":"x","x":"yy', b'yy,\\"id\\":7}"}', None),
        (b'{"id":1.5,', b"yy", None),
        (b'{"id":"\xff",', b"yy", None),
        (b'{"id":"\\z",', b"yy", None),
        (b"garbage", b"garbage", None),
    ],
)
def test_the_id_of_a_line_that_is_too_long_is_told_only_when_it_is_certain(head, tail, told):
    assert understand(TooLong(head, tail)).id == told
