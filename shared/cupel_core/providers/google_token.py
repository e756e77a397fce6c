"""Access tokens for a service account of Google Cloud, from the JSON of its key.

A token is valid for an hour. It is requested with a JWT that the key signs (RFC 7523).
"""

from dataclasses import replace
from datetime import datetime

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.access_tokens import AccessToken, AccessTokens, SendRequest, parse_token
from cupel_core.providers.account import Account, is_key_file
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.wire_format import WireModel, WireRequest

TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_LIFETIME_SECONDS = 3_600

tokens = AccessTokens()


class _ServiceAccountKey(WireModel):
    """Its own `token_uri` is ignored: a workspace must not choose where requests go."""

    client_email: str
    private_key: str
    private_key_id: str | None = None


async def with_access_token(account: Account, send: SendRequest, now: datetime) -> Account:
    """The account with a valid access token instead of its service account's key. Raises `ProviderError`."""
    key = account.api_key or ""
    if not is_key_file(key):
        return account

    async def request() -> AccessToken:
        form: dict[str, object] = {"grant_type": _GRANT, "assertion": _signed_claim(key, now)}
        response = await send(WireRequest(TOKEN_URL, form, is_form=True))
        return parse_token(response, "Google refused the service account's key", now)

    return replace(account, api_key=await tokens.get(key, now, request))


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
