"""Serves GraphQL at `POST /v1/graphql`, and the schema at `GET /v1/graphql/schema`."""

import base64
from typing import Any

import orjson
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import ClientError, NotFound
from cupel_core.interfaces.gateway.caller import caller
from cupel_core.interfaces.gateway.problems import MethodNotAllowed
from cupel_core.interfaces.gateway.requests import check_body
from cupel_core.interfaces.gateway.serving import serve, text_response
from cupel_core.interfaces.graphql.execution import GraphqlRequest, answer
from cupel_core.interfaces.graphql.inputs import parse
from cupel_core.interfaces.graphql.limits import MAX_BODY_BYTES
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.schema import printed, schema
from cupel_core.store import idempotency

PATH = "/v1/graphql"
SCHEMA_PATH = "/v1/graphql/schema"
CONTENT_TYPE = "application/graphql-response+json"
schema()  # A starting function has more processor time.


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    return serve(event, _carry_out)


def _carry_out(request: APIGatewayProxyEventV2) -> dict[str, Any]:
    who = caller(request)
    if request.path == SCHEMA_PATH:
        _check_method(request, "GET")
        return text_response(200, "text/plain; charset=utf-8", printed().encode())
    if request.path != PATH:
        raise NotFound("no such path")
    _check_method(request, "POST")
    check_body(request, MAX_BODY_BYTES, "POST /v1/files uploads larger images and PDFs")
    key = idempotency.find_key(request.headers)
    made = answer(_body(request), Request(request.request_context.request_id, who, utc_now(), key))
    accepts = request.headers.get("accept", "")
    plain = "application/json" in accepts and CONTENT_TYPE not in accepts
    return text_response(made.status, "application/json" if plain else CONTENT_TYPE, made.body)


def _check_method(request: APIGatewayProxyEventV2, allowed: str) -> None:
    if request.http_method != allowed:
        raise MethodNotAllowed([allowed, "OPTIONS"])


def _body(request: APIGatewayProxyEventV2) -> GraphqlRequest:
    text = request.body or ""
    try:
        sent = orjson.loads(base64.b64decode(text) if request.is_base64_encoded else text)
    except ValueError:
        raise ClientError("the body is not valid JSON") from None
    return parse(GraphqlRequest, sent, "body")
