"""Who a request comes from. The authorizer identifies, this refuses: API Gateway cannot answer a problem document."""

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.domain.access import Caller, Role
from cupel_core.errors import Forbidden, RetryableError, Unauthorized


def caller(event: APIGatewayProxyEventV2) -> Caller:
    """Raises Unauthorized unless the authorizer put a workspace into the request's context."""
    authorizer = event.request_context.authorizer
    context = (authorizer.get_lambda if authorizer else None) or {}
    if "unavailable" in context:
        raise RetryableError(context["unavailable"])
    if "workspace" not in context:
        raise Unauthorized(context.get("problem", "send an API token as `Authorization: Bearer <token>`"))
    return Caller(context["workspace"], Role(context["role"]), context["tokenId"])


def admin(event: APIGatewayProxyEventV2) -> Caller:
    """The caller, if it may change who has access to what."""
    known = caller(event)
    if known.role is not Role.ADMIN:
        raise Forbidden("this needs a token with the role admin")
    return known
