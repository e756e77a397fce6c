"""JWTs of the configured OpenID Connect issuer. Import it only for a bearer that may be a JWT: PyJWT loads slowly."""

import json
import urllib.request
from functools import cache
from typing import Any
from urllib.error import URLError

import jwt
from jwt import PyJWKClient

from cupel_core.domain.access import AccessRole, Caller, is_valid_workspace
from cupel_core.domain.text.control_characters import single_line
from cupel_core.errors import RetryableError, Unauthorized
from cupel_core.store import workspaces

_ALGORITHMS = ["RS256", "ES256"]
_TIMEOUT_SECONDS = 3
_LEEWAY_SECONDS = 30


def identify(token: str, issuer: str, audiences: tuple[str, ...]) -> Caller:
    """The caller of a valid token for one of the audiences.

    Unauthorized for any other token, RetryableError if the issuer is unreachable.
    """
    try:
        key = _keys(issuer).get_signing_key_from_jwt(token)
        claims = jwt.decode(
            token,
            key,
            algorithms=_ALGORITHMS,
            audience=audiences,
            issuer=issuer,
            leeway=_LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
    except (jwt.PyJWKClientConnectionError, json.JSONDecodeError) as error:
        raise RetryableError("the identity provider's keys are temporarily unavailable") from error
    except jwt.PyJWTError as error:
        raise Unauthorized(f"the token was refused: {error}") from error
    caller = _caller(claims)
    _check_not_erased(caller.workspace)
    return caller


def _check_not_erased(workspace: str) -> None:
    """The tokens of an erased workspace are gone; JWTs may still name it."""
    known = workspaces.find(workspace)
    if known is not None and known.is_erased:
        raise Unauthorized(f"the workspace {workspace} was erased")


def _caller(claims: dict[str, Any]) -> Caller:
    workspace = claims.get("cupel_workspace") or claims.get("custom:workspace")
    role = claims.get("cupel_role") or claims.get("custom:role")
    if not isinstance(workspace, str) or not is_valid_workspace(workspace):
        raise Unauthorized("the token's claim cupel_workspace must be the name of a workspace")
    if role not in list(AccessRole):
        raise Unauthorized("the token's claim cupel_role must be admin, member, viewer or operator")
    subject = str(claims["sub"])
    name = claims.get("name") or claims.get("email") or subject
    return Caller(workspace, AccessRole(role), subject, single_line(str(name))[:_MAX_NAME_LENGTH])


_MAX_NAME_LENGTH = 200


def clear_key_cache() -> None:
    """Forget the issuer's keys."""
    _keys.cache_clear()


@cache
def _keys(issuer: str) -> PyJWKClient:
    """The issuer's keys, refreshed every five minutes, and for an unknown key id at most every 30 s."""
    document = _discovery(issuer)
    if document.get("issuer") != issuer or not isinstance(document.get("jwks_uri"), str):
        raise RetryableError("the identity provider's discovery document names another issuer")
    return PyJWKClient(document["jwks_uri"], timeout=_TIMEOUT_SECONDS)


def _discovery(issuer: str) -> dict[str, Any]:
    url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as reply:  # noqa: S310 - the operator's own setting
            document = json.load(reply)
    except (URLError, TimeoutError, ValueError) as error:
        raise RetryableError("the identity provider is temporarily unavailable") from error
    return document if isinstance(document, dict) else {}
