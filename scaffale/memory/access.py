"""The verbs on tokens: who may ask a server over HTTP. They live in the memory store, beside the audit of what they did."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from scaffale.errors import Conflict, InvalidParam, LimitExceeded, NotFound, quoted
from scaffale.indexer import clock
from scaffale.memory.room import Room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scaffale.answers.access import TokenList, TokenMade, TokenRevoked
    from scaffale.indexer.tokens import Token

PREFIX = "scaffale"
MOST_NAME_CHARS = 80
MOST_DAYS = 3_650
DAY_MS = 86_400_000


class Access(Room):
    """Make tokens, list them, revoke them, recognise them."""

    def create_token(
        self, *, name: str, actor: str, projects: Sequence[str] = (), read_only: bool = False, days: int | None = None
    ) -> TokenMade:
        """A new token, shown this once. `projects` bounds it to the memory of these; `days` to so many days."""
        import secrets

        from scaffale.answers.access import TokenMade
        from scaffale.indexer import tokens

        said = {"name": name, "projects": list(projects), "read_only": read_only, "days": days}
        with self._audited("token_create", actor, None, said) as trail:
            name = _named(name)
            if days is not None and not 1 <= days <= MOST_DAYS:
                raise InvalidParam(f"days: must be 1 to {MOST_DAYS}")
            if any(len(each) > self._settings.max_project_id_chars or not each.strip() for each in projects):
                raise InvalidParam("projects: each must be the id of a project")
            secret, id = secrets.token_urlsafe(32), secrets.token_hex(4)
            now = clock.now()
            until = clock.iso(clock.milliseconds() + days * DAY_MS) if days else None
            token = tokens.Token(id, name, tuple(dict.fromkeys(projects)), read_only, now, actor, until, None)
            with self._open()[0].write() as connection:
                known = [each for each in tokens.listed(connection) if each.name == name and each.revoked_at is None]
                if known:
                    raise Conflict(f"there is a token {quoted(name)} already; revoke it first, or choose another name")
                tokens.add(connection, token, _digest(secret))
                trail.done(connection, result={"token": id})
        return TokenMade(token, f"{PREFIX}_{id}_{secret}", trail.warnings)

    def list_tokens(self) -> TokenList:
        """All tokens, also revoked and expired ones; never what opens anything."""
        from scaffale.answers.access import TokenList
        from scaffale.indexer import tokens

        store = self._store()
        if store is None:
            return TokenList((), ())
        with store[0].read() as connection:
            return TokenList(tuple(tokens.listed(connection)), ())

    def revoke_token(self, *, name: str, actor: str) -> TokenRevoked:
        """The token of this name or id opens nothing from now on, in every server of this store."""
        from scaffale.answers.access import TokenRevoked
        from scaffale.indexer import tokens

        with self._audited("token_revoke", actor, None, {"name": name}) as trail:
            if self._store() is None:
                raise NotFound(f"no token {quoted(name)}")
            with self._open()[0].write() as connection:
                those = [each for each in tokens.listed(connection) if name in (each.name, each.id)]
                open_ = [each for each in those if each.revoked_at is None]
                if not those:
                    raise NotFound(f"no token {quoted(name)}")
                for each in open_:
                    tokens.revoke(connection, each.id)
                trail.done(connection, result={"revoked": [each.id for each in open_]})
        return TokenRevoked(those[-1].name, those[-1].id, bool(open_), trail.warnings)

    def recognise_token(self, text: str) -> Token | None:
        """The valid token that this text is; `None` for one that is wrong, revoked or expired."""
        from scaffale.indexer import tokens

        store = self._store()
        parts = text.split("_", 2)
        if store is None or len(parts) != 3 or parts[0] != PREFIX:
            return None
        with store[0].read() as connection:
            found = tokens.find(connection, parts[1])
        if found is None or not hmac.compare_digest(found[1], _digest(parts[2])):
            return None
        token = found[0]
        over = token.revoked_at is not None or (token.expires_at is not None and token.expires_at <= clock.now())
        return None if over else token


def _digest(secret: str) -> str:
    import hashlib

    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _named(name: str) -> str:
    name = name.strip()
    if not name or not name.isprintable():
        raise InvalidParam("name: say in a word or two whose token it is")
    if len(name) > MOST_NAME_CHARS:
        raise LimitExceeded(f"name: longer than {MOST_NAME_CHARS} characters")
    return name
