"""Records what mutations changed, or may have, and those that were refused because of the role, as the API does."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger

from cupel_core.contract.operations import Operation
from cupel_core.domain.access import AuditRecord
from cupel_core.errors import AppError, Forbidden
from cupel_core.gateway.locations import fill
from cupel_core.store import audit_log
from cupel_core.store.clients import AWS_ERRORS
from graphqlapi.request import Request

logger = Logger(child=True)


def audit(operation: Operation, request: Request, arguments: Mapping[str, Any], outcome: Any) -> None:
    """`outcome` is what the mutation returned, or the error. One record per mutation of a request.

    Never fails a mutation that has been carried out: a record that cannot be stored is logged.
    """
    status = _status(operation, outcome)
    if status is None:
        return
    names = {**(outcome if isinstance(outcome, Mapping) else {}), **arguments}
    template = operation.path if isinstance(outcome, Exception) else operation.location or operation.path
    path = fill(template, names) or operation.path
    record = AuditRecord(_record_id(request), request.now, request.caller, operation.id, path, status)
    try:
        audit_log.append(record)
    except AWS_ERRORS:
        fields = {"tokenId": request.caller.token_id, "operation": operation.id, "path": path, "status": status}
        logger.exception("an audit record could not be stored", extra=fields)


def _record_id(request: Request) -> str:
    """A request may have several mutations."""
    request.changes += 1
    return request.id if request.changes == 1 else f"{request.id}-{request.changes}"


def _status(operation: Operation, outcome: Any) -> int | None:
    """None if nothing can have been changed. An internal error may have occurred after a change."""
    if not isinstance(outcome, Exception):
        return 201 if operation.location else 200
    if not isinstance(outcome, AppError):
        return 500
    return outcome.status if isinstance(outcome, Forbidden) or outcome.status >= AppError.status else None
