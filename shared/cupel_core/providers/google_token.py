"""Access tokens for a service account of Google Cloud, from the JSON of its key.

A token is valid for an hour. It is requested with a JWT that the key signs (RFC 7523), and shared by all calls of a
process.
"""

import asyncio
import hashlib
from collections import OrderedDict, defaultdict
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import orjson
from pydantic import BaseModel, ValidationError

from cupel_core.domain.turns.model_request import ProbeErrorCode
from cupel_core.providers.account import Account, is_service_account_key
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.errors import ProviderError, error_from_response, malformed_reply_error
from cupel_core.providers.wire_format import WireRequest

if TYPE_CHECKING:
    from cupel_core.providers.http import SendRequest

TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_LIFETIME_SECONDS = 3_600
_MARGIN_SECONDS = 300
"""A token is replaced so long before it expires: no call lasts longer."""
_MAX_TOKENS = 100


class _ServiceAccountKey(BaseModel):
    """Its own `token_uri` is ignored: a workspace must not choose where requests go."""

    client_email: str
    private_key: str
    private_key_id: str | None = None


class _AccessTokenResponse(BaseModel):
    access_token: str
    expires_in: float = _LIFETIME_SECONDS


class _AccessToken(NamedTuple):
    text: str
    expires_at: float


_tokens: OrderedDict[str, _AccessToken] = OrderedDict()
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, defaultdict[str, asyncio.Lock]] = WeakKeyDictionary()


async def with_access_token(account: Account, send: "SendRequest", now: datetime) -> Account:
    """The account with a valid access token instead of its service account's key. Raises `ProviderError`."""
    key = account.api_key or ""
    if not is_service_account_key(key):
        return account
    digest = hashlib.sha256(key.encode()).hexdigest()
    locks = _locks.setdefault(asyncio.get_running_loop(), defaultdict(asyncio.Lock))
    with setting_up():
        async with locks[digest]:
            token = _tokens.get(digest)
            if token is None or token.expires_at < now.timestamp() + _MARGIN_SECONDS:
                token = await _request_token(key, send, now)
                _remember(digest, token)
    return replace(account, api_key=token.text)


def _remember(digest: str, token: _AccessToken) -> None:
    _tokens[digest] = token
    _tokens.move_to_end(digest)
    if len(_tokens) > _MAX_TOKENS:
        _tokens.popitem(last=False)


async def _request_token(key: str, send: "SendRequest", now: datetime) -> _AccessToken:
    form: dict[str, object] = {"grant_type": _GRANT, "assertion": _signed_claim(key, now)}
    response = await send(WireRequest(TOKEN_URL, form, is_form=True))
    if response.status in (400, 401, 403):
        reason = response.content[:300].decode(errors="replace")
        raise ProviderError(ProbeErrorCode.AUTH, f"Google refused the service account's key: {reason}")
    if not response.ok:
        raise error_from_response(response.status, response.headers, response.content, now)
    try:
        answer = _AccessTokenResponse.model_validate(orjson.loads(response.content))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise malformed_reply_error(error) from None
    return _AccessToken(answer.access_token, now.timestamp() + min(answer.expires_in, _LIFETIME_SECONDS))


def _signed_claim(key: str, now: datetime) -> str:
    import jwt  # loads slowly, and few accounts need it

    issued_at = int(now.timestamp())
    try:
        account = _ServiceAccountKey.model_validate_json(key)
        claim = {
            "iss": account.client_email,
            "scope": _SCOPE,
            "aud": TOKEN_URL,
            "iat": issued_at,
            "exp": issued_at + _LIFETIME_SECONDS,
        }
        headers = {"kid": account.private_key_id} if account.private_key_id else None
        return jwt.encode(claim, account.private_key, algorithm="RS256", headers=headers)
    except (ValueError, jwt.PyJWTError):
        message = "the API key is not the JSON of a service account's key"
        raise ProviderError(ProbeErrorCode.AUTH, message) from None
