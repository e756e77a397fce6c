"""Serves requests for GraphQL and MCP: CORS, compression, errors and the log."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.base.errors import AppError
from cupel_core.interfaces.gateway.compression import compress
from cupel_core.interfaces.gateway.cors import add_cors_headers
from cupel_core.interfaces.gateway.problems import lambda_response
from cupel_core.interfaces.gateway.requests import check_edge
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.unexpected_errors import from_unexpected

type CarryOut = Callable[[APIGatewayProxyEventV2], dict[str, Any]]

logger = Logger()


def serve(event: dict[str, Any], carry_out: CarryOut) -> dict[str, Any]:
    started_at = perf_counter()
    request = APIGatewayProxyEventV2(event)
    response = add_cors_headers(request, _respond(request, carry_out))
    response["headers"].setdefault("Cache-Control", "no-store")
    response = compress(request, response)
    fields = {
        "method": request.http_method,
        "route": request.path,
        "status": response["statusCode"],
        "durationMs": round((perf_counter() - started_at) * 1000, 1),
        "requestId": request.request_context.request_id,
    }
    logger.info("request", extra=fields)
    return response


def text_response(status: int, content_type: str, body: bytes) -> dict[str, Any]:
    return {
        "statusCode": int(status),
        "headers": {"Content-Type": content_type},
        "body": body.decode(),
        "isBase64Encoded": False,
    }


def _respond(request: APIGatewayProxyEventV2, carry_out: CarryOut) -> dict[str, Any]:
    try:
        check_edge(request.headers)
        return carry_out(request)
    except AppError as refusal:
        return lambda_response(refusal, request.request_context.request_id)
    except AWS_ERRORS as error:
        return lambda_response(from_unexpected(error), request.request_context.request_id)
