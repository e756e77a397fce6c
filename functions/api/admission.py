"""What is looked at before a request reaches its route: who sends it, whether they may, and what the body is."""

import base64
import binascii

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from api.caller import caller
from api.problems import UnsupportedContentType
from cupel_core.errors import ClientError, Forbidden, NotFound, TooLarge

PUBLIC = frozenset({("GET", "/v1/health"), ("GET", "/v1/openapi.json")})
MAX_BODY_BYTES = 1024 * 1024
MAX_IMPORT_BYTES = 5 * 1024 * 1024
"""Whole files of others; a function takes at most 6 MB."""
_IMPORTS = "/v1/imports/"
_MAX_PATH = 512
_READING = frozenset({"GET", "HEAD"})


def admit(request: APIGatewayProxyEventV2) -> None:
    """Raises what stands against the request. Nothing but PUBLIC is open to those without a token."""
    if (request.http_method, request.path) in PUBLIC:
        return
    known = caller(request)
    if request.http_method not in _READING and not known.role.may_write:
        raise Forbidden("a token with the role viewer may only read")
    if len(request.path) > _MAX_PATH:
        raise NotFound("there is nothing at this address")
    if request.http_method not in _READING:
        _check_body(request, request.body or "")


def _check_body(request: APIGatewayProxyEventV2, body: str) -> None:
    size = len(body) * 3 // 4 if request.is_base64_encoded else len(body.encode(errors="replace"))
    limit = MAX_IMPORT_BYTES if request.path.startswith(_IMPORTS) else MAX_BODY_BYTES
    if size > limit:
        raise TooLarge(f"a body may have at most {limit} bytes")
    content_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise UnsupportedContentType("send the body as application/json")
    if request.is_base64_encoded:
        _check_encoding(body)


def _check_encoding(body: str) -> None:
    try:
        base64.b64decode(body).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ClientError("the body is not valid UTF-8") from error
