"""Access tokens that providers grant for a key.

A token is shared by all calls of a process, and replaced shortly before it expires.
"""

import asyncio
import hashlib
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import NamedTuple
from weakref import WeakKeyDictionary

import orjson
from pydantic import ValidationError

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.errors import ProviderError, error_from_response, malformed_reply_error
from cupel_core.providers.safe_http import HttpResponse
from cupel_core.providers.wire_format import WireModel, WireRequest

_LIFETIME_SECONDS = 3_600
_MARGIN_SECONDS = 300
"""A token is replaced so long before it expires: no call lasts longer."""
_MAX_TOKENS = 100
_MAX_REASON_BYTES = 300
_REFUSALS = frozenset({400, 401, 403})

type SendRequest = Callable[[WireRequest], Awaitable[HttpResponse]]
"""Sends a request to an official address. Raises `ProviderError` if there is no response."""


class AccessToken(NamedTuple):
    text: str
    expires_at: float


class _GrantedToken(WireModel):
    """The response of an OAuth 2.0 token endpoint (RFC 6749, section 5.1)."""

    access_token: str
    expires_in: float = _LIFETIME_SECONDS


class AccessTokens:
    """By the key that they were granted for."""

    def __init__(self) -> None:
        self._tokens: OrderedDict[str, AccessToken] = OrderedDict()
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, defaultdict[str, asyncio.Lock]] = WeakKeyDictionary()

    async def get(self, key: str, now: datetime, request: Callable[[], Awaitable[AccessToken]]) -> str:
        """The token of a key, requested if there is none that lasts for a call."""
        digest = hashlib.sha256(key.encode()).hexdigest()
        locks = self._locks.setdefault(asyncio.get_running_loop(), defaultdict(asyncio.Lock))
        with setting_up():
            async with locks[digest]:
                token = self._tokens.get(digest)
                if token is None or token.expires_at < now.timestamp() + _MARGIN_SECONDS:
                    token = await request()
                    self._remember(digest, token)
        return token.text

    def clear(self) -> None:
        self._tokens.clear()

    def _remember(self, digest: str, token: AccessToken) -> None:
        self._tokens[digest] = token
        self._tokens.move_to_end(digest)
        if len(self._tokens) > _MAX_TOKENS:
            self._tokens.popitem(last=False)


def parse_token(response: HttpResponse, refusal: str, now: datetime) -> AccessToken:
    """Raises `ProviderError`; its message begins with `refusal` if the token was refused."""
    if response.status in _REFUSALS:
        reason = response.content[:_MAX_REASON_BYTES].decode(errors="replace")
        raise ProviderError(ProbeErrorCode.AUTH, f"{refusal}: {reason}")
    if not response.ok:
        raise error_from_response(response.status, response.headers, response.content, now)
    try:
        answer = _GrantedToken.model_validate(orjson.loads(response.content))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise malformed_reply_error(error) from None
    return AccessToken(answer.access_token, now.timestamp() + min(answer.expires_in, _LIFETIME_SECONDS))
