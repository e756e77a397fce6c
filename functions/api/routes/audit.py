"""Who did what in the caller's workspace."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query

from api.parameters import Cursor, Limit
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.audit import AuditPage, AuditRecordResponse
from cupel_core.store import audit_log

router = OperationRouter()

TokenFilter = Annotated[
    str | None, Query(alias="tokenId", min_length=1, max_length=200, description="Return only this caller's requests")
]
OperationFilter = Annotated[
    str | None, Query(min_length=1, max_length=100, description="Return only this operation, such as `createRun`")
]


@router.operation("listAuditRecords")
def list_audit_records(
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    token_id: TokenFilter = None,
    operation: OperationFilter = None,
) -> AuditPage:
    page = audit_log.list_records(router.workspace, limit, cursor, utc_now(), token_id, operation)
    return AuditPage(items=[AuditRecordResponse.of(record) for record in page.items], next_cursor=page.next_cursor)
