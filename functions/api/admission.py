"""Checks before a request reaches its route: who sends it, whether its role permits the operation, and the body."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from api.caller import caller
from api.problems import MethodNotAllowed, UnsupportedContentEncoding, UnsupportedContentType
from cupel_core.contract.operations import Operation, operations_at
from cupel_core.errors import ClientError, Forbidden, NotFound, TooLarge
from cupel_core.settings import settings

MAX_BODY_BYTES = 1024 * 1024
MAX_IMPORT_BYTES = 5 * 1024 * 1024
"""Imports carry whole files; a Lambda function takes at most 6 MB."""
_IMPORTS = "/v1/imports/"
_MAX_PATH = 512
EDGE_HEADER = "x-cupel-edge"


def admit(request: APIGatewayProxyEventV2) -> Operation:
    """The requested operation. Raises the error to respond with if the request is refused; public operations need no
    token.

    Requests for undeclared operations are refused, so no request reaches a route without a check of its role.
    """
    operations = operations_at(request.path)
    operation = operations.get(request.http_method)
    if operation is not None and operation.is_public:
        if operation.method != "GET":
            _check_body(request, request.body or "")
        return operation
    role = caller(request).role
    if len(request.path) > _MAX_PATH or not operations:
        raise NotFound("no such path")
    if operation is None:
        raise MethodNotAllowed(methods_at(request.path))
    if not operation.permits(role):
        raise Forbidden(f"{operation.id} requires the role {operation.minimum_role}; this token has {role}")
    if operation.method != "GET":
        _check_body(request, request.body or "")
    return operation


def methods_at(path: str) -> list[str]:
    """The methods that a path accepts; none for an unknown path."""
    declared = set(operations_at(path))
    implied = {"OPTIONS"} | ({"HEAD"} if "GET" in declared else set())
    return sorted(declared | implied) if declared else []


def check_edge(headers: Mapping[str, str]) -> None:
    """Refuse a request that does not come through `deploy/edge.yaml`, if the stack requires that."""
    digest = hashlib.sha256(headers.get(EDGE_HEADER, "").encode()).hexdigest()
    expected = settings().edge_secret_sha256
    if expected and not hmac.compare_digest(digest, expected):
        raise Forbidden("requests must be sent to the address of the stack's CloudFront distribution")


def _check_body(request: APIGatewayProxyEventV2, body: str) -> None:
    size = len(body) * 3 // 4 if request.is_base64_encoded else len(body.encode(errors="replace"))
    limit = MAX_IMPORT_BYTES if request.path.startswith(_IMPORTS) else MAX_BODY_BYTES
    if size > limit:
        raise TooLarge(f"the body must have at most {limit} bytes; POST /v1/files uploads larger images and PDFs")
    content_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise UnsupportedContentType("send the body as application/json")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise UnsupportedContentEncoding("send the body without Content-Encoding; compressed bodies are not accepted")
    if request.is_base64_encoded:
        _check_encoding(body)


def _check_encoding(body: str) -> None:
    try:
        base64.b64decode(body).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ClientError("the body is not valid UTF-8") from error
