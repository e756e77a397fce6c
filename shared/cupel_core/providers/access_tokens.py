"""Access tokens that Microsoft Entra ID and Google Cloud grant for a key.

A token is valid for about an hour, shared by all calls of a process, and replaced shortly before it expires. For Azure
OpenAI, the key is the JSON of a service principal that `az ad sp create-for-rbac` prints: `appId`, `password` and
`tenant`; its token is requested with the client credentials grant (RFC 6749, section 4.4). For Google Cloud, it is the
JSON of a service account's key, which signs a JWT (RFC 7523).
"""

import asyncio
import hashlib
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import orjson
from pydantic import Field, StringConstraints, ValidationError

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.account import Account, is_key_file
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.errors import ProviderError, error_from_response, malformed_reply_error
from cupel_core.providers.safe_http import HttpResponse
from cupel_core.providers.wire_format import WireModel, WireRequest

_LIFETIME_SECONDS = 3_600
_MARGIN_SECONDS = 300
"""A token is replaced this long before it expires. No call lasts longer."""
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
    def __init__(self) -> None:
        self._tokens: OrderedDict[str, AccessToken] = OrderedDict()
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, defaultdict[str, asyncio.Lock]] = WeakKeyDictionary()

    async def get(self, key: str, now: datetime, request: Callable[[], Awaitable[AccessToken]]) -> str:
        """Return the token of a key. It is requested if there is none that lasts for a call."""
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
    """Parse a token. Raise `ProviderError`, whose message begins with `refusal` if the token was refused."""
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


entra_tokens = AccessTokens()


class _Cloud(NamedTuple):
    authority: str
    scope: str


_PUBLIC = _Cloud("https://login.microsoftonline.com", "https://cognitiveservices.azure.com/.default")
_NATIONAL = {
    ".azure.us": _Cloud("https://login.microsoftonline.us", "https://cognitiveservices.azure.us/.default"),
    ".azure.cn": _Cloud("https://login.partner.microsoftonline.cn", "https://cognitiveservices.azure.cn/.default"),
}
"""National clouds by the suffix of their resources' addresses."""


class _ServicePrincipal(WireModel):
    app_id: Annotated[str, Field(alias="appId", min_length=1, max_length=256)]
    password: Annotated[str, Field(min_length=1, max_length=1_024)]
    tenant: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]{1,253}$")]
    """The tenant's id or domain, which is a part of the address that grants tokens."""


async def with_entra_token(account: Account, send: SendRequest, now: datetime) -> Account:
    """Return the account with a valid access token instead of its service principal. Raise `ProviderError`."""
    key = account.api_key or ""
    if not is_key_file(key):
        return account
    principal, cloud = _principal_of(key), _cloud_of(account.base_url)

    async def request() -> AccessToken:
        form: dict[str, object] = {
            "grant_type": "client_credentials",
            "client_id": principal.app_id,
            "client_secret": principal.password,
            "scope": cloud.scope,
        }
        url = f"{cloud.authority}/{principal.tenant}/oauth2/v2.0/token"
        response = await send(WireRequest(url, form, is_form=True))
        return parse_token(response, "Microsoft Entra ID refused the service principal", now)

    return replace(account, api_key=await entra_tokens.get(f"{cloud.authority} {key}", now, request))


def _principal_of(key: str) -> _ServicePrincipal:
    try:
        return _ServicePrincipal.model_validate_json(key)
    except ValidationError:
        message = "the API key is not the JSON of a service principal, with appId, password and tenant"
        raise ProviderError(ProbeErrorCode.AUTH, message) from None


def _cloud_of(base_url: str) -> _Cloud:
    host = urlsplit(base_url).hostname or ""
    return next((cloud for ending, cloud in _NATIONAL.items() if host.endswith(ending)), _PUBLIC)


TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_CLAIM_SECONDS = 3_600

google_tokens = AccessTokens()


class _ServiceAccountKey(WireModel):
    """The key of a service account. Its own `token_uri` is ignored: a workspace must not choose where requests go."""

    client_email: str
    private_key: str
    private_key_id: str | None = None


async def with_google_token(account: Account, send: SendRequest, now: datetime) -> Account:
    """Return the account with a valid access token instead of its service account's key. Raise `ProviderError`."""
    key = account.api_key or ""
    if not is_key_file(key):
        return account

    async def request() -> AccessToken:
        form: dict[str, object] = {"grant_type": _GRANT, "assertion": _signed_claim(key, now)}
        response = await send(WireRequest(TOKEN_URL, form, is_form=True))
        return parse_token(response, "Google refused the service account's key", now)

    return replace(account, api_key=await google_tokens.get(key, now, request))


def _signed_claim(key: str, now: datetime) -> str:
    import jwt  # It loads slowly, and few accounts need it.

    issued_at = int(now.timestamp())
    try:
        account = _ServiceAccountKey.model_validate_json(key)
        claim = {
            "iss": account.client_email,
            "scope": _SCOPE,
            "aud": TOKEN_URL,
            "iat": issued_at,
            "exp": issued_at + _CLAIM_SECONDS,
        }
        headers = {"kid": account.private_key_id} if account.private_key_id else None
        return jwt.encode(claim, account.private_key, algorithm="RS256", headers=headers)
    except (ValueError, jwt.PyJWTError):
        message = "the API key is not the JSON of a service account's key"
        raise ProviderError(ProbeErrorCode.AUTH, message) from None
