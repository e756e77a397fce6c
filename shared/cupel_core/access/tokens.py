"""API tokens: `cupel_` and 43 URL-safe characters (256 random bits), stored only as a hash.

A plain SHA-256 suffices for a secret of that length: it cannot be guessed, so a slow hash would protect nothing.
"""

import hashlib
import re
import secrets
from datetime import datetime
from typing import NamedTuple

from cupel_core.domain.access import AccessRole, Caller, Token, is_valid_workspace
from cupel_core.errors import Invalid
from cupel_core.ids import new_id
from cupel_core.paging import DEFAULT_LIMIT, Page
from cupel_core.store import tokens

__all__ = ["IssuedToken", "Token", "identify", "issue", "list_tokens", "revoke"]

_SECRET = re.compile(r"cupel_[A-Za-z0-9_-]{43}")


class IssuedToken(NamedTuple):
    """A new token with its secret, which cannot be read again later."""

    token: Token
    secret: str

    @property
    def token_id(self) -> str:
        return self.token.id


def issue(workspace: str, role: AccessRole, name: str, now: datetime) -> IssuedToken:
    """Create a token for this workspace. Invalid for an invalid workspace name."""
    if not is_valid_workspace(workspace):
        raise Invalid.field("workspace", "must be 1 to 63 of a-z, 0-9, - and _, starting with a letter or digit")
    secret = f"cupel_{secrets.token_urlsafe(32)}"
    token = Token(new_id("tok"), name, role, now)
    tokens.create(workspace, token, _digest(secret))
    return IssuedToken(token, secret)


def identify(secret: str) -> Caller | None:
    """The caller with this secret; None for an unknown or revoked token."""
    return tokens.find_caller(_digest(secret)) if _SECRET.fullmatch(secret) else None


def revoke(workspace: str, token_id: str, now: datetime) -> None:
    """Revoke a token, effective with the next request. NotFound if the workspace never had it."""
    tokens.revoke(workspace, token_id, now)


def list_tokens(workspace: str, limit: int = DEFAULT_LIMIT, cursor: str | None = None) -> Page[Token]:
    """Newest first."""
    return tokens.list_tokens(workspace, limit, cursor)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
