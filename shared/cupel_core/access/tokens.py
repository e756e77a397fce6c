"""API tokens: `cupel_` and 43 url-safe characters (256 random bits), kept only as a hash.

A plain SHA-256 is enough for a secret of that length: nobody guesses it, so there is nobody for a slow hash to stop.
"""

import hashlib
import re
import secrets
from datetime import datetime
from typing import NamedTuple

from cupel_core.domain.access import Caller, Role, is_workspace
from cupel_core.errors import Invalid
from cupel_core.ids import new_id
from cupel_core.paging import DEFAULT_LIMIT, Page
from cupel_core.store import tokens
from cupel_core.store.tokens import Token

__all__ = ["Issued", "Token", "identify", "issue", "listed", "revoke"]

_SECRET = re.compile(r"cupel_[A-Za-z0-9_-]{43}")


class Issued(NamedTuple):
    """A new token; the secret is known now and never again."""

    token: Token
    secret: str

    @property
    def token_id(self) -> str:
        return self.token.id


def issue(workspace: str, role: Role, name: str, now: datetime) -> Issued:
    if not is_workspace(workspace):
        raise Invalid.field("workspace", "must be 1 to 63 of a-z, 0-9, - and _, beginning with a letter or digit")
    secret = f"cupel_{secrets.token_urlsafe(32)}"
    token = Token(new_id("tok"), name, role, now)
    tokens.add(workspace, token, _digest(secret))
    return Issued(token, secret)


def identify(secret: str) -> Caller | None:
    return tokens.find(_digest(secret)) if _SECRET.fullmatch(secret) else None


def revoke(workspace: str, token_id: str, now: datetime) -> None:
    """From the next request on. Raises NotFound for an id that the workspace never had."""
    tokens.revoke(workspace, token_id, now)


def listed(workspace: str, limit: int = DEFAULT_LIMIT, cursor: str | None = None) -> Page[Token]:
    return tokens.listed(workspace, limit, cursor)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
