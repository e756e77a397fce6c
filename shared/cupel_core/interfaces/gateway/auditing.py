"""Records changes that are made without a request per operation: GraphQL mutations and tools of MCP."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from aws_lambda_powertools import Logger

from cupel_core.base.errors import AppError, Forbidden
from cupel_core.contract.routes import Route
from cupel_core.domain.access import AuditRecord, Caller
from cupel_core.interfaces.gateway.locations import fill
from cupel_core.interfaces.routes import load
from cupel_core.store.clients import AWS_ERRORS

IMPORTS = ("importPromptfoo", "importDataset")
BULK_DELETIONS = ("deleteRuns", "deleteDefinitions", "deleteProbeContents")
MAX_PATH_LENGTH = 1_000
"""Arguments may have any length, and an item of DynamoDB has at most 400 KB."""

logger = Logger(child=True)


class Author(NamedTuple):
    record_id: str
    caller: Caller
    now: datetime


def record_change(route: Route, author: Author, arguments: Mapping[str, Any], outcome: Any) -> None:
    """Record a change, a possible change, or a refusal because of the role, as the API does.

    `outcome` is the result of the operation, or the error. This never fails a change that has been carried out: a
    record that cannot be stored is logged.
    """
    location = None if isinstance(outcome, Exception) else load(route).location
    status = _status(location, outcome)
    if status is None:
        return
    names = {**(outcome if isinstance(outcome, Mapping) else {}), **arguments}
    path = (location and fill(location, names)) or fill(route.path, names) or route.path
    content = outcome if isinstance(outcome, Mapping) else {}
    record = AuditRecord(
        author.record_id,
        author.now,
        author.caller,
        route.id,
        path[:MAX_PATH_LENGTH],
        status,
        created_ids=created_ids(route, content),
        deleted_ids=deleted_ids(route, content),
    )
    try:
        from cupel_core.store import audit_log  # Only changes wait for PynamoDB.

        audit_log.append(record)
    except AWS_ERRORS:
        fields = {"tokenId": author.caller.token_id, "operation": route.id, "path": path, "status": status}
        logger.exception("an audit record could not be stored", extra=fields)


def names_several(operation: Route) -> bool:
    return operation.id in (*IMPORTS, *BULK_DELETIONS)


def created_ids(operation: Route, content: Mapping[str, Any]) -> tuple[str, ...] | None:
    if operation.id not in IMPORTS or not content:
        return None
    return tuple(each["id"] for each in content["definitions"] if each["id"] is not None)


def deleted_ids(operation: Route, content: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the ids of deleted objects. Other ids that were sent are never logged."""
    if operation.id not in BULK_DELETIONS or not content:
        return None
    return tuple(each["id"] for each in content["items"] if each["deleted"])


def _status(location: str | None, outcome: Any) -> int | None:
    """Return the status, or None if nothing can have been changed. An internal error may have occurred after a
    change."""
    if not isinstance(outcome, Exception):
        return 201 if location else 200
    if not isinstance(outcome, AppError):
        return 500
    return outcome.status if isinstance(outcome, Forbidden) or outcome.status >= AppError.status else None
