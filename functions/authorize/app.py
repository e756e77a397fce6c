"""The HTTP API's authorizer. It identifies and never refuses: its refusal could not be a problem document.

The api function refuses whatever comes without a workspace. The authorizer's cache is off, so that a revoked token
stops at once; its imports are few, because every request waits for it.
"""

from typing import Any

import orjson

from cupel_core.access import tokens
from cupel_core.domain.access import Caller
from cupel_core.errors import RetryableError, Unauthorized
from cupel_core.settings import settings

_NO_TOKEN = "send an API token as `Authorization: Bearer <token>`"  # noqa: S105 - words for a person


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """HTTP API payload 2.0, simple response."""
    context = _context_of((event.get("headers") or {}).get("authorization", ""))
    # By hand, because Powertools' logger would take a fifth of this function's cold start.
    print(orjson.dumps({"level": "INFO", "message": "identified", **context}).decode())
    return {"isAuthorized": True, "context": context}


def _context_of(authorization: str) -> dict[str, str]:
    try:
        caller = identify(authorization)
    except Unauthorized as refusal:
        return {"problem": refusal.detail}
    except RetryableError as error:
        return {"unavailable": error.detail}
    return {"workspace": caller.workspace, "role": str(caller.role), "tokenId": caller.token_id}


def identify(authorization: str) -> Caller:
    scheme, _, bearer = authorization.strip().partition(" ")
    bearer = bearer.strip()
    if scheme.lower() != "bearer" or not bearer:
        raise Unauthorized(_NO_TOKEN)
    if bearer.count(".") == 2 and settings().oidc_issuer:
        from cupel_core.access import oidc  # PyJWT and cryptography: only for those who use it

        return oidc.identify(bearer, settings().oidc_issuer, settings().oidc_audience)
    known = tokens.identify(bearer)
    if known is None:
        raise Unauthorized("the token is not known, or was revoked")
    return known
