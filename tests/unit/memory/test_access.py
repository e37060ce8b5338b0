"""Tokens: made once, kept as a digest, bounded, revoked."""

from __future__ import annotations

import pytest

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound
from scaffale.indexer import clock


def test_a_token_is_recognised_until_it_is_revoked(memory):
    made = memory.create_token(name="ada", actor="me", projects=["p", "q", "p"], read_only=True)
    known = memory.recognise_token(made.secret)
    assert known == made.token
    assert (known.name, known.projects, known.read_only, known.created_by) == ("ada", ("p", "q"), True, "me")
    assert memory.revoke_token(name="ada", actor="me").changed
    assert memory.recognise_token(made.secret) is None
    assert not memory.revoke_token(name=known.id, actor="me").changed


def test_another_process_sees_a_revocation_at_once(open_memory):
    one, other = open_memory(), open_memory()
    secret = one.create_token(name="ada", actor="me").secret
    assert other.recognise_token(secret)
    one.revoke_token(name="ada", actor="me")
    assert other.recognise_token(secret) is None


def test_a_token_ends_with_its_days(memory, monkeypatch):
    secret = memory.create_token(name="ada", actor="me", days=2).secret
    assert memory.recognise_token(secret)
    later = clock.milliseconds() + 2 * 86_400_000 + 1
    monkeypatch.setattr(clock, "milliseconds", lambda: later)
    assert memory.recognise_token(secret) is None


@pytest.mark.parametrize(
    "text", ["", "x", "scaffale", "scaffale__", "scaffale_00000000_", "other_{id}_{secret}", "\ud800", "a" * 9_999]
)
def test_what_is_no_token_opens_nothing(memory, text):
    made = memory.create_token(name="ada", actor="me")
    _, id, secret = made.secret.split("_", 2)
    assert memory.recognise_token(text.format(id=id, secret=secret)) is None
    assert memory.recognise_token(f"scaffale_{id}_{secret[:-1]}") is None
    assert memory.recognise_token(f"scaffale_{id}_{secret}x") is None
    assert memory.recognise_token(made.secret)


def test_looking_for_tokens_creates_nothing(memory, tmp_path):
    assert memory.list_tokens().tokens == ()
    assert memory.recognise_token("scaffale_a_b") is None
    with pytest.raises(NotFound):
        memory.revoke_token(name="ada", actor="me")
    assert not (tmp_path / "home" / ".mcp-servers").exists()


def test_no_file_of_the_store_holds_a_token(memory, tmp_path):
    secret = memory.create_token(name="ada", actor="me").secret.split("_", 2)[2]
    memory.close()
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert b"ada" in kept
    assert secret.encode() not in kept


def test_names_are_taken_once_and_free_again_after_a_revocation(memory):
    memory.create_token(name=" ada ", actor="me")
    with pytest.raises(Conflict, match="already"):
        memory.create_token(name="ada", actor="me")
    memory.revoke_token(name="ada", actor="me")
    memory.create_token(name="ada", actor="me")
    assert [(token.name, token.revoked_at is None) for token in memory.list_tokens().tokens] == [("ada", False), ("ada", True)]


def test_what_a_token_cannot_be_is_refused(memory):
    for wrong in ({"name": " "}, {"name": "a\nb"}, {"days": 0}, {"days": 10**6}, {"projects": [""]}):
        with pytest.raises(InvalidParam):
            memory.create_token(**{"name": "a", "actor": "me", **wrong})
    with pytest.raises(LimitExceeded):
        memory.create_token(name="a" * 81, actor="me")


def test_making_and_revoking_are_audited_without_the_token(memory):
    secret = memory.create_token(name="ada", actor="me").secret
    memory.revoke_token(name="ada", actor="you")
    with memory._open()[0].read() as connection:
        rows = list(
            connection.execute(
                "SELECT operation, actor, outcome, params_redacted_json, result_json FROM audit_log ORDER BY seq"
            )
        )
    assert [row[:3] for row in rows] == [("token_create", "me", "ok"), ("token_revoke", "you", "ok")]
    assert secret.split("_", 2)[2] not in str(rows)
