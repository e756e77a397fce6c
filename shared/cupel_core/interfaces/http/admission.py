"""Checks requests before they reach their routes: the caller, the role that the operation needs, and the body."""

import re

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.base.errors import Forbidden, NotFound
from cupel_core.contract.routes import Route
from cupel_core.interfaces.gateway.caller import caller
from cupel_core.interfaces.gateway.problems import MethodNotAllowed
from cupel_core.interfaces.gateway.requests import check_body, check_form
from cupel_core.interfaces.http.openai_errors import PREFIX as OPENAI_PREFIX
from cupel_core.interfaces.routes import methods_at, routes_at

MAX_BODY_BYTES = 1024 * 1024
MAX_IMPORT_BYTES = 5 * 1024 * 1024
"""Imports and runs of OpenAI's evals carry whole files; a Lambda function takes at most 6 MB."""
_LARGE_BODIES = re.compile(r"/v1/imports/.*|/v1/runs/[^/]+/labels/import|/openai/v1/evals/[^/]+/runs")
_FORMS = re.compile(r"/openai/v1/files|/openai/v1/uploads/[^/]+/parts")
_MAX_FORM_BYTES = 4 * 1024 * 1024 + 64 * 1024
"""A form has a file of at most 4 MB: API Gateway passes it in base64."""
_MAX_PATH = 512


def admit(request: APIGatewayProxyEventV2) -> Route:
    """Return the requested operation. Raises the error to respond with if the request is refused.

    Public operations need no token. Requests for undeclared operations are refused, so no request reaches a route
    without a check of its role.
    """
    operations = routes_at(request.path)
    operation = operations.get(request.http_method)
    if operation is not None and operation.is_public:
        if operation.method != "GET":
            _check_body(request)
        return operation
    role = caller(request).role
    if len(request.path) > _MAX_PATH or not operations:
        raise NotFound("no such path")
    if operation is None:
        raise MethodNotAllowed(methods_at(request.path))
    if not operation.permits(role):
        raise Forbidden(f"{operation.id} requires the role {operation.minimum_role}; this token has {role}")
    if operation.method != "GET":
        _check_body(request)
    return operation


def _check_body(request: APIGatewayProxyEventV2) -> None:
    if _FORMS.fullmatch(request.path):
        check_form(request, _MAX_FORM_BYTES, "larger files are uploaded in parts")
        return
    limit = MAX_IMPORT_BYTES if _LARGE_BODIES.fullmatch(request.path) else MAX_BODY_BYTES
    is_openai = request.path.startswith(OPENAI_PREFIX)
    check_body(
        request,
        limit,
        "more rows are uploaded as a file" if is_openai else "POST /v1/files uploads larger images and PDFs",
    )
