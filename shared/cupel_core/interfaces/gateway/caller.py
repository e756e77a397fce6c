"""Identifies the caller of a request by the authorizer's context.

Requests are refused here because API Gateway cannot respond with a problem document.
"""

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.base.errors import RetryableError, TooManyRequests, Unauthorized
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.domain.limits.request_rate import LimitScope
from cupel_core.store.settings import settings


def caller(event: APIGatewayProxyEventV2) -> Caller:
    """Return the caller. Raises Unauthorized unless the authorizer put a workspace into the request's context."""
    authorizer = event.request_context.authorizer
    context = (authorizer.get_lambda if authorizer else None) or {}
    if "limited" in context:
        is_of_workspace = context["limited"] == LimitScope.WORKSPACE
        scope = LimitScope.WORKSPACE if is_of_workspace else LimitScope.TOKEN
        raise TooManyRequests(scope, settings().request_limit_of(scope))
    if "unavailable" in context:
        raise RetryableError(context["unavailable"])
    if "workspace" not in context:
        raise Unauthorized(context.get("problem", "send an API token as `Authorization: Bearer <token>`"))
    return Caller(
        context["workspace"],
        AccessRole(context["role"]),
        context["tokenId"],
        context.get("userName"),
        context.get("rootTokenId"),
    )
