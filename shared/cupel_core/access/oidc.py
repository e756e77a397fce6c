"""JWTs of the one configured OpenID Connect issuer. Import it only for a bearer that looks like one: PyJWT is heavy."""

import json
import urllib.request
from functools import cache
from typing import Any
from urllib.error import URLError

import jwt
from jwt import PyJWKClient

from cupel_core.domain.access import Caller, Role, is_workspace
from cupel_core.errors import RetryableError, Unauthorized

_ALGORITHMS = ["RS256", "ES256"]
_TIMEOUT_SECONDS = 3
_LEEWAY_SECONDS = 30


def identify(token: str, issuer: str, audience: str) -> Caller:
    """Raises Unauthorized with the reason, or RetryableError when the issuer cannot be reached."""
    try:
        key = _keys(issuer).get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            key,
            algorithms=_ALGORITHMS,
            audience=audience,
            issuer=issuer,
            leeway=_LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
    except (jwt.PyJWKClientConnectionError, json.JSONDecodeError) as error:
        raise RetryableError("the identity provider's keys cannot be read at the moment") from error
    except jwt.PyJWTError as error:
        raise Unauthorized(f"the token was refused: {error}") from error
    return _caller(claims)


def _caller(claims: dict[str, Any]) -> Caller:
    workspace = claims.get("cupel_workspace") or claims.get("custom:workspace")
    role = claims.get("cupel_role") or claims.get("custom:role")
    if not isinstance(workspace, str) or not is_workspace(workspace):
        raise Unauthorized("the token's claim cupel_workspace names no workspace")
    if role not in list(Role):
        raise Unauthorized("the token's claim cupel_role must be admin, member or viewer")
    return Caller(workspace, Role(role), str(claims["sub"]))


def forget() -> None:
    """Drops the keys read so far."""
    _keys.cache_clear()


@cache
def _keys(issuer: str) -> PyJWKClient:
    """The issuer's keys, refreshed every five minutes and, at most every 30 s, for a key id not seen before."""
    document = _discovery(issuer)
    if document.get("issuer") != issuer or not isinstance(document.get("jwks_uri"), str):
        raise RetryableError("the identity provider's discovery document is not its own")
    return PyJWKClient(document["jwks_uri"], timeout=_TIMEOUT_SECONDS)


def _discovery(issuer: str) -> dict[str, Any]:
    url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as reply:  # noqa: S310 - the operator's own setting
            document = json.load(reply)
    except (URLError, TimeoutError, ValueError) as error:
        raise RetryableError("the identity provider cannot be reached at the moment") from error
    return document if isinstance(document, dict) else {}
