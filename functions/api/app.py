"""The HTTP API: one function behind `/v1`. A request is admitted, routed, answered, and told in one line of the log."""

from time import perf_counter
from typing import Any

import orjson
from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import Route
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from api import cors, problems, routing
from api.admission import admit
from api.problems import MethodNotAllowed
from cupel_core.errors import AppError, NotFound

logger = Logger()
app = APIGatewayHttpResolver(
    enable_validation=True,
    # Strict: no NaN, no lone surrogates, no unbounded nesting.
    json_body_deserializer=orjson.loads,
    # An answer of the wrong shape is our fault, not the caller's.
    response_validation_error_http_code=500,
)
problems.register(app)


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    began = perf_counter()
    request = APIGatewayProxyEventV2(event)
    answer = cors.open_to(request, _answer(request, context))
    answer["headers"].setdefault("Cache-Control", "no-store")
    answer["body"] = answer.get("body") or ""
    _log(request, answer["statusCode"], perf_counter() - began)
    return answer


def _answer(request: APIGatewayProxyEventV2, context: LambdaContext) -> dict[str, Any]:
    if request.http_method == "OPTIONS":
        return cors.preflight()
    routing.load(app, request.path)
    try:
        admit(request)
    except AppError as refusal:
        return problems.answer(refusal)
    return app.resolve(request.raw_event, context)


@app.not_found
def _unrouted(_: NotFoundError) -> Response[str]:
    methods = sorted(route.method for route in _routes_at(app.current_event.path))
    return problems.response(MethodNotAllowed(methods) if methods else NotFound("there is nothing at this address"))


def _routes_at(path: str) -> list[Route]:
    """Powertools tells no one which routes a path has; without them there is no 405 and no route in the log."""
    return [route for route in (*app._static_routes, *app._dynamic_routes) if route.rule.match(path)]


def _log(request: APIGatewayProxyEventV2, status: int, seconds: float) -> None:
    """Never a header, never a body."""
    routes = [route.openapi_path for route in _routes_at(request.path) if route.method == request.http_method]
    identified = request.request_context.authorizer.get_lambda
    told = {
        "method": request.http_method,
        "route": routes[0] if routes else None,
        "status": status,
        "durationMs": round(seconds * 1000, 1),
        "workspace": identified.get("workspace"),
        "requestId": request.request_context.request_id,
    }
    logger.info("request", extra=told)
