"""Serves the HTTP API: one function behind `/v1` and `/openai/v1`.

A request is admitted, routed, responded to and logged in one line. Every path with GET also accepts HEAD, which is
handled as GET and sent without the body.
"""

from functools import cache
from http import HTTPStatus
from time import perf_counter
from typing import Any

import orjson
from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.base.errors import AppError, ClientError, NotFound
from cupel_core.contract.operation import Operation
from cupel_core.interfaces.gateway import cors, locations
from cupel_core.interfaces.gateway.caller import caller
from cupel_core.interfaces.gateway.compression import compress
from cupel_core.interfaces.gateway.problems import lambda_response
from cupel_core.interfaces.gateway.requests import check_edge
from cupel_core.interfaces.http import openai_errors, operations, problems
from cupel_core.interfaces.http.admission import admit
from cupel_core.interfaces.http.auditing import audit
from cupel_core.interfaces.http.idempotency import respond_once
from cupel_core.interfaces.routes import load, routes_at
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.unexpected_errors import from_unexpected

logger = Logger()


_INVALID = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)


def _new_app(**options: Any) -> APIGatewayHttpResolver:
    created = APIGatewayHttpResolver(
        enable_validation=True,
        # It refuses NaN and lone surrogates, and bounds nesting.
        json_body_deserializer=orjson.loads,
    )
    problems.register(created, **options)

    @created.not_found
    def _not_found(_: NotFoundError) -> Response[str]:
        """Handle a declared path whose parameter has a character that no route accepts."""
        return problems.response(NotFound("no such path"), created.current_event.request_context.request_id)

    return created


app = _new_app()
"""The application that serves `/v1`; its routes are in the OpenAPI document."""


@cache
def _openai_app() -> APIGatewayHttpResolver:
    return _new_app(locate=openai_errors.without_tags)


def _app_of(path: str) -> APIGatewayHttpResolver:
    return _openai_app() if path.startswith(openai_errors.PREFIX) else app


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    started_at = perf_counter()
    request = APIGatewayProxyEventV2(event)
    routed = APIGatewayProxyEventV2(_as_get(event)) if request.http_method == "HEAD" else request
    response = cors.add_cors_headers(request, _respond(routed, context))
    if request.path.startswith(openai_errors.PREFIX):
        response = openai_errors.as_openai_error(response)
    audit(request, response)
    response["headers"].setdefault("Cache-Control", "no-store")
    response["body"] = response.get("body") or ""
    response = compress(request, response)
    if request.http_method == "HEAD":
        response |= {"body": "", "isBase64Encoded": False}
    _log(routed, request.http_method, response["statusCode"], perf_counter() - started_at)
    return response


def _as_get(event: dict[str, Any]) -> dict[str, Any]:
    context = event["requestContext"]
    return {**event, "requestContext": {**context, "http": {**context["http"], "method": "GET"}}}


def _respond(request: APIGatewayProxyEventV2, context: LambdaContext) -> dict[str, Any]:
    problems.is_request_invalid.set(False)
    try:
        response = _answer(request, context)
        return (_find_missing(request, context) if problems.is_request_invalid.get() else None) or response
    except AppError as refusal:
        return lambda_response(refusal, request.request_context.request_id)
    except AWS_ERRORS as error:
        return lambda_response(from_unexpected(error), request.request_context.request_id)


def _find_missing(request: APIGatewayProxyEventV2, context: LambdaContext) -> dict[str, Any] | None:
    """Return the 404 of the first object in the path that the workspace does not have.

    It takes precedence over other errors of the request, which only callers who have the object may see.
    """
    route = routes_at(request.path).get(request.http_method)
    if route is None or route.is_public:
        return None
    event = {**request.raw_event, "rawQueryString": "", "queryStringParameters": {}}
    for path in route.objects_in(request.path):
        reading = routes_at(path).get("GET")
        if reading is not None and reading.permits(caller(request).role):
            response = _read(path, event, context)
            if response["statusCode"] == HTTPStatus.NOT_FOUND:
                return response
    if (upload_id := route.parameters(request.path).get("upload_id")) is not None:
        return _find_missing_upload(request, upload_id)
    return None


def _find_missing_upload(request: APIGatewayProxyEventV2, upload_id: str) -> dict[str, Any] | None:
    """Return the 404 of an upload, for which OpenAI's API has no reading operation."""
    from cupel_core.store import data_files

    try:
        data_files.get_upload(caller(request).workspace, upload_id)
    except NotFound as missing:
        return lambda_response(missing, request.request_context.request_id)
    return None


def _answer(request: APIGatewayProxyEventV2, context: LambdaContext) -> dict[str, Any]:
    check_edge(request.headers)
    if request.http_method == "OPTIONS":
        return cors.preflight(request.path)
    try:
        operation = load(admit(request))
        operations.add_route(_app_of(request.path), operation)
        operations.check_query(operation, request.query_string_parameters)
    except ClientError as refusal:
        problems.is_request_invalid.set(refusal.status in _INVALID)
        return lambda_response(refusal, request.request_context.request_id)
    event = request.raw_event
    return respond_once(
        operation,
        request,
        respond=lambda: _carry_out(operation, event, context),
        read=lambda path: _read(path, event, context),
    )


def _carry_out(operation: Operation, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    if not operation.calls_others:
        return locations.add_location(operation, event["rawPath"], _resolve(event, context))
    from cupel_core.workspace.access.waiting import waiting  # Few requests wait.

    with waiting(caller(APIGatewayProxyEventV2(event))):
        return _resolve(event, context)


def _read(path: str, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    operations.add_route(_app_of(path), load(routes_at(path)["GET"]))
    return _resolve(_as_get({**event, "rawPath": path, "body": None, "isBase64Encoded": False}), context)


def _resolve(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    return operations.resolve(_app_of(event["rawPath"]), event, context)


def _log(request: APIGatewayProxyEventV2, method: str, status: int, seconds: float) -> None:
    """Log the request without headers and bodies."""
    route = routes_at(request.path).get(request.http_method)
    fields = {
        "method": method,
        "route": route.path if route else None,
        "status": status,
        "durationMs": round(seconds * 1000, 1),
        "workspace": request.request_context.authorizer.get_lambda.get("workspace"),
        "requestId": request.request_context.request_id,
    }
    logger.info("request", extra=fields)
