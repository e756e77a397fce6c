"""Sessions of the web page: a code of 256 bits, valid for a minute and once, is exchanged for a token of 12 hours.

The code is part of an address, which gets into histories; the token never is. A session has the permissions of the
token it was opened with and ends with it, so that neither revoking that token nor its expiry can be circumvented.
"""

import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from cupel_core.base.errors import Conflict, Unauthorized
from cupel_core.base.ids import new_id
from cupel_core.domain.access import Caller, LoginCode, Token
from cupel_core.domain.limits.quotas import Quota
from cupel_core.store import quotas, short_lived_secrets, tokens
from cupel_core.workspace.access.tokens import IssuedToken, digest_of, find_live, new_secret

CODE_LIFETIME = timedelta(seconds=60)
SESSION_LIFETIME = timedelta(hours=12)
_UNUSABLE = "the code is unknown, was used, or has expired; request another one"
_MAX_NAME_LENGTH = 100
_NAME_PREFIX = "web page: "


class IssuedCode(NamedTuple):
    secret: str
    expires_at: datetime


class CallerSession(NamedTuple):
    caller: Caller
    token: Token | None
    """None for a user of the identity provider."""


def create_code(caller: Caller, now: datetime) -> IssuedCode:
    """Return a code for a session of this caller. Raise Conflict for a user of an identity provider, who has no
    token."""
    digest = tokens.find_digest(caller.workspace, caller.token_id)
    state = find_live(digest, now) if digest else None
    if digest is None or state is None:
        raise Conflict("login codes are for API tokens; users of an identity provider sign in there")
    ends_at = min(filter(None, (now + SESSION_LIFETIME, state.expires_at)))
    name = tokens.find_name(caller.workspace, caller.token_id) or caller.token_id
    code = LoginCode(
        caller.workspace,
        caller.role,
        state.root_digest or digest,
        name.removeprefix(_NAME_PREFIX),
        now + CODE_LIFETIME,
        ends_at,
    )
    secret = secrets.token_urlsafe(32)
    short_lived_secrets.create_code(digest_of(secret), code)
    return IssuedCode(secret, code.expires_at)


def redeem_code(secret: str, now: datetime) -> IssuedToken:
    """Exchange a code for the token of its session. Raise Unauthorized for any code but an unused one."""
    digest = digest_of(secret)
    code = short_lived_secrets.find_code(digest)
    if code is None or code.is_expired(now) or code.session_ends_at <= now:
        raise Unauthorized(_UNUSABLE)
    quotas.take(code.workspace, Quota.SESSIONS)
    name = f"{_NAME_PREFIX}{code.root_name}"[:_MAX_NAME_LENGTH]
    session = Token(new_id("tok"), name, code.role, now, expires_at=code.session_ends_at)
    token_secret = new_secret()
    if not short_lived_secrets.redeem(digest, code, session, digest_of(token_secret)):
        raise Unauthorized(_UNUSABLE)
    return IssuedToken(session, token_secret)


def get_session(caller: Caller) -> CallerSession:
    return CallerSession(caller, tokens.find(caller.workspace, caller.token_id))
