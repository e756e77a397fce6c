from typing import Annotated

from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.audit import AuditPage, AuditRecordResponse
from cupel_core.contract.operation import (
    ADMIN,
    Call,
    Listed,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
    Parameter,
)
from cupel_core.store import audit_log

TokenFilter = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Return only this caller's requests")
]


OperationFilter = Annotated[
    str | None, Parameter(min_length=1, max_length=100, description="Return only this operation, such as `createRun`")
]


@operation(
    "GET /v1/audit",
    "List the requests of the last year that changed something, newest first",
    role=ADMIN,
    returns="A page of records",
)
def list_audit_records(
    call: Call,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    token_id: TokenFilter = None,
    operation: OperationFilter = None,
) -> Listed[AuditPage]:
    """Requests that were refused because of their role are among them. With a filter, a page may have fewer items
    than `limit`.
    """
    page = audit_log.list_records(call.workspace, limit, cursor, call.now, token_id, operation)
    return Listed(page, AuditRecordResponse.from_value)
