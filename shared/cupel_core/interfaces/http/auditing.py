from http import HTTPStatus
from typing import Any

import orjson
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import AppError
from cupel_core.domain.access import AuditRecord
from cupel_core.interfaces.gateway.auditing import created_ids, deleted_ids, names_several
from cupel_core.interfaces.gateway.caller import caller
from cupel_core.interfaces.routes import routes_at
from cupel_core.store.clients import AWS_ERRORS

logger = Logger(child=True)
_READING = ("GET", "HEAD", "OPTIONS")


def audit(request: APIGatewayProxyEventV2, response: dict[str, Any]) -> None:
    """Record a request. This never fails a request that has been carried out: a record that cannot be stored is
    logged."""
    status = response["statusCode"]
    if request.http_method in _READING or not _is_recorded(status):
        return
    operation = routes_at(request.path).get(request.http_method)
    if operation is None:
        return
    try:
        path = response["headers"].get("Location") or request.path
        who, request_id = caller(request), request.request_context.request_id
        content = orjson.loads(response["body"]) if names_several(operation) and _is_success(status) else {}
        record = AuditRecord(
            request_id,
            utc_now(),
            who,
            operation.id,
            path,
            status,
            created_ids=created_ids(operation, content),
            deleted_ids=deleted_ids(operation, content),
        )
    except AppError:  # There is no caller: the edge has refused it, or the operation is public.
        return
    try:
        from cupel_core.store import audit_log  # Only changes wait for PynamoDB.

        audit_log.append(record)
    except AWS_ERRORS:
        fields = {"tokenId": who.token_id, "operation": operation.id, "path": path, "status": status}
        logger.exception("an audit record could not be stored", extra=fields | {"requestId": request_id})


def _is_recorded(status: int) -> bool:
    is_changed = status < HTTPStatus.BAD_REQUEST or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return is_changed or status == HTTPStatus.FORBIDDEN


def _is_success(status: int) -> bool:
    return status < HTTPStatus.MULTIPLE_CHOICES
