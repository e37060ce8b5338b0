"""What the verbs on tokens answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scaffale.indexer.tokens import Token


class TokenMade(NamedTuple):
    """A new token. `secret` is the token itself; it is kept nowhere and cannot be shown again."""

    token: Token
    secret: str
    warnings: tuple[str, ...]


class TokenList(NamedTuple):
    """All tokens in the order in which they were made."""

    tokens: tuple[Token, ...]
    warnings: tuple[str, ...]


class TokenRevoked(NamedTuple):
    """`changed` is false when it was revoked already."""

    name: str
    id: str
    changed: bool
    warnings: tuple[str, ...]
