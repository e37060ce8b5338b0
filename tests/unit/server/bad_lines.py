"""Lines that are no proper requests, and the answer that each must get: `(line, id, code)`, or `None` for silence.

`ID` in a line stands for an id that the test chooses; as an answer's id it means that same id.
"""



class _Chosen:
    def __repr__(self) -> str:
        return "ID"


ID = _Chosen()

PARSE, INVALID_REQUEST, INVALID_PARAMS, NO_METHOD = -32700, -32600, -32602, -32601


def _call(arguments: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"memory_status","arguments":' + arguments + b"}}"


NOT_JSON = [
    b"hello",
    b"{",
    b'{"jsonrpc":"2.0","id":1,"method":"ping"',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}',
    b"{'jsonrpc':'2.0','id':1,'method':'ping'}",
    b'{"jsonrpc":"2.0","id":01,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":Infinity}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}',
    b'{"jsonrpc":"2.0","id":1,"method":"pi\tng"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\x"}}',
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    b"[" * 100_000,
    b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}',
    b"Content-Length: 40",
    b"\xff\xfe{\x00}\x00",
    b"\x00",
    b"{\x00}",
    b"nul",
]

NO_REQUEST = [
    (b"[]", None, INVALID_REQUEST),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, INVALID_REQUEST),
    (b"1", None, INVALID_REQUEST),
    (b'"ping"', None, INVALID_REQUEST),
    (b"null", None, INVALID_REQUEST),
    (b"true", None, INVALID_REQUEST),
    (b"{}", None, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","method":1}', None, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', None, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 1.5, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', "\ud800", INVALID_REQUEST),
]

BAD_REQUESTS = [
    (b'{"id":ID,"method":"ping"}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"1.0","id":ID,"method":"ping"}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":2.0,"id":ID,"method":"ping"}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":ID}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":ID,"method":null}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":ID,"method":5}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":ID,"method":{"x":1}}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":ID,"method":"\\udfff"}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":ID,"method":"ping","params":{"x":"\xff\xfe"}}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":ID,"method":"ping","params":{"x":"\xed\xa0\x80"}}', ID, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":ID,"method":"ping","params":[1]}', ID, INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"ping","params":"x"}', ID, INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"ping","params":0}', ID, INVALID_PARAMS),
]

# well formed, and to nothing that was asked
ANSWERS = [
    b'{"jsonrpc":"2.0","id":1,"result":{}}',
    b'{"jsonrpc":"2.0","id":"x","result":{"action":"accept"}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
]

SILENT = [
    b"",
    b"   \t ",
    b"\r",
    *ANSWERS,
    b'{"jsonrpc":"2.0","id":1,"result":null,"error":null}',
    b'{"jsonrpc":"2.0","id":1,"result":[1]}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"x"}}',
    b'{"jsonrpc":"2.0","id":null,"result":{}}',
    b'{"id":1,"result":{}}',
    b'{"method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","method":"notifications/x","params":[1]}',
    b'{"jsonrpc":"2.0","method":"notifications/\\ud800"}',
    b'{"jsonrpc":"2.0","method":"notifications/x","params":{"x":"\xff"}}',
]

# understood by the reader; what is wrong with them is for the server to say
FOR_THE_SERVER = [
    (b'{"jsonrpc":"2.0","id":ID,"method":"no/such/method"}', NO_METHOD),
    (b'{"jsonrpc":"2.0","id":ID,"method":""}', NO_METHOD),
    (b'{"jsonrpc":"2.0","id":ID,"method":"prompts/sing"}', NO_METHOD),
    (b'{"jsonrpc":"2.0","id":ID,"method":"tools/call"}', INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":5}}', INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"no_such_tool"}}', INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"memory_\\ud800"}}', INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"memory_status","arguments":[]}}', INVALID_PARAMS),
    (_call(b'"x"'), INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{"cursor":"zzz"}}', INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"tools/list","params":{"cursor":5}}', INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"resources/list","params":{"cursor":"zzz"}}', INVALID_PARAMS),
    (b'{"jsonrpc":"2.0","id":ID,"method":"resources/read","params":{"uri":"docs://\\ud800"}}', -32002),
    (b'{"jsonrpc":"2.0","id":ID,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002),
    (b'{"jsonrpc":"2.0","id":ID,"method":"resources/read","params":{"uri":"docs://document/../../x"}}', -32002),
    (b'{"jsonrpc":"2.0","id":ID,"method":"completion/complete","params":{}}', INVALID_PARAMS),
]

# calls that the tool itself refuses, as data
REFUSED_CALLS = [
    _call(b'{"project_path":"\\ud800"}'),
    _call(b'{"project_path":"a\\u0000b"}'),
    _call(b'{"\\u0000":1}'),
    _call(b'{"project_id":{"deep":' + b"[" * 400 + b"]" * 400 + b"}}"),
    _call(b'{"projectpath":"/x"}'),
]
