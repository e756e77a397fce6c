"""API tokens: `cupel_` and 43 URL-safe characters (256 random bits), stored only as a hash.

A plain SHA-256 suffices for a secret of that length: it cannot be guessed, so a slow hash would protect nothing.
"""

import hashlib
import re
import secrets
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.clock import to_iso
from cupel_core.base.errors import Invalid, Unauthorized
from cupel_core.base.ids import new_id
from cupel_core.base.paging import DEFAULT_LIMIT, Page
from cupel_core.domain.access import AccessRole, Caller, SecretState, Token, is_valid_workspace
from cupel_core.domain.limits.quotas import Quota
from cupel_core.store import quotas, tokens
from cupel_core.store.clients import AWS_ERRORS

__all__ = [
    "IssuedToken",
    "Token",
    "create",
    "digest_of",
    "find_live",
    "identify",
    "issue",
    "list_tokens",
    "new_secret",
    "revoke",
]

_SECRET = re.compile(r"cupel_[A-Za-z0-9_-]{43}")


class IssuedToken(NamedTuple):
    """A new token with its secret, which cannot be read again later."""

    token: Token
    secret: str

    @property
    def token_id(self) -> str:
        return self.token.id


def issue(
    workspace: str,
    role: AccessRole,
    name: str,
    now: datetime,
    expires_at: datetime | None = None,
    *,
    of_new_workspace: bool = False,
) -> IssuedToken:
    """Create a token for this workspace. Raise Invalid for an invalid workspace name or a time that is not in the
    future."""
    if not is_valid_workspace(workspace):
        raise Invalid.field("workspace", "must be 1 to 63 of a-z, 0-9, - and _, starting with a letter or digit")
    if expires_at is not None and expires_at <= now:
        raise Invalid.field("expiresAt", "must be in the future")
    secret = new_secret()
    token = Token(new_id("tok"), name, role, now, expires_at=expires_at)
    tokens.create(workspace, token, digest_of(secret), of_new_workspace=of_new_workspace)
    return IssuedToken(token, secret)


def create(workspace: str, role: AccessRole, name: str, now: datetime, expires_at: datetime | None) -> IssuedToken:
    """Create a further token of a workspace. Raise what `issue` raises, and QuotaExceeded."""
    quotas.take(workspace, Quota.TOKENS)
    return issue(workspace, role, name, now, expires_at)


def new_secret() -> str:
    return f"cupel_{secrets.token_urlsafe(32)}"


def identify(secret: str, now: datetime) -> Caller | None:
    """Return the caller with this secret, or None if the token is unknown or revoked. Raise Unauthorized if it has
    expired. The use is recorded, at most once per USE_INTERVAL."""
    if not _SECRET.fullmatch(secret):
        return None
    digest = digest_of(secret)
    state = find_live(digest, now)
    if state is None:
        return None
    if state.is_use_to_be_noted(now):
        with suppress(*AWS_ERRORS):  # The next request notes it.
            tokens.note_use(digest, now)
    return state.caller


def find_live(digest: str, now: datetime) -> SecretState | None:
    """Return the state of a token's secret, or None if the token or its session's token is unknown or revoked. Raise
    Unauthorized if one of them has expired."""
    state = tokens.find_secret(digest)
    if state is None:
        return None
    if state.root_digest:
        root = find_live(state.root_digest, now)
        if root is None:
            return None
        state = state.opened_by(root.caller)
    if state.expires_at is not None and state.is_expired(now):
        raise Unauthorized(f"the token expired at {to_iso(state.expires_at)}")
    return state


def revoke(workspace: str, token_id: str, now: datetime) -> None:
    """Revoke a token, effective with the next request. Raise NotFound if the workspace never had it."""
    tokens.revoke(workspace, token_id, now)


def list_tokens(workspace: str, limit: int = DEFAULT_LIMIT, cursor: str | None = None) -> Page[Token]:
    return tokens.list_tokens(workspace, limit, cursor)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
