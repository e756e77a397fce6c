"""Authorizes requests of the HTTP API: identifies the caller from the bearer token or the ticket of an event stream.

It never denies a request, because its denial could not be a problem document: the api function rejects requests without
a workspace. Its cache is off, so that revoking a token takes effect at once. It imports little, because every request
waits for it.
"""

from time import time
from typing import Any

import orjson

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import RetryableError, Unauthorized
from cupel_core.domain.access import Caller
from cupel_core.store.settings import settings
from cupel_core.workspace.access import event_tickets, request_rates, tokens

_NO_TOKEN = "send an API token as `Authorization: Bearer <token>`"  # noqa: S105 - no secret


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Return a simple response of the HTTP API's payload 2.0. Its context has the caller, or the reason why there is
    none."""
    context = _context_of(event)
    logged = {name: value for name, value in context.items() if name != "userName"}
    # Powertools' logger would take a fifth of this function's cold start.
    print(orjson.dumps({"level": "INFO", "message": "identified", **logged}).decode())
    return {"isAuthorized": True, "context": context}


def _context_of(event: dict[str, Any]) -> dict[str, str]:
    authorization = (event.get("headers") or {}).get("authorization", "")
    ticket = (event.get("queryStringParameters") or {}).get("ticket", "")
    try:
        caller = _identify_by_ticket(ticket, event) if ticket and not authorization else identify(authorization)
    except Unauthorized as refusal:
        return {"problem": refusal.detail}
    except RetryableError as error:
        return {"unavailable": error.detail}
    context = {"workspace": caller.workspace, "role": str(caller.role), "tokenId": caller.token_id}
    limits = settings().request_limit, settings().workspace_quotas.requests
    if exceeded := request_rates.exceeded_limit(caller, *limits, time()):
        context["limited"] = str(exceeded)
    if caller.root_token_id:
        context["rootTokenId"] = caller.root_token_id
    return context | {"userName": caller.user_name} if caller.user_name else context


def _identify_by_ticket(ticket: str, event: dict[str, Any]) -> Caller:
    method = event["requestContext"]["http"]["method"]
    return event_tickets.identify(ticket, method, event["rawPath"], utc_now())


def identify(authorization: str) -> Caller:
    """Return the caller with this Authorization header.

    Raises Unauthorized without a valid token, and RetryableError if the token cannot be verified for now.
    """
    scheme, _, bearer = authorization.strip().partition(" ")
    bearer = bearer.strip()
    if scheme.lower() != "bearer" or not bearer:
        raise Unauthorized(_NO_TOKEN)
    if bearer.count(".") == 2 and settings().oidc_issuer:
        from cupel_core.workspace.access import oidc  # API tokens do not need PyJWT and cryptography.

        return oidc.identify(bearer, settings().oidc_issuer, settings().oidc_audiences)
    caller = tokens.identify(bearer, utc_now())
    if caller is None:
        raise Unauthorized("the token is unknown or was revoked")
    return caller
