"""The audit log."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import ResponseModel, Time
from cupel_core.domain.access import AccessRole, AuditRecord


class AuditRecordResponse(ResponseModel):
    """A request that changed something, or was refused because its role permits less. A request that ended with a
    status from 500 may have changed something before."""

    request_id: Annotated[str, Field(description="As in the header `apigw-requestid` and the logs")]
    at: Annotated[Time, Field(description="When it was responded to")]
    token_id: Annotated[str, Field(description="The id of the API token, or the subject (`sub`) of a JWT")]
    user_name: Annotated[str | None, Field(description="Of a JWT's user; null for an API token")]
    role: Annotated[AccessRole, Field(description="The caller's role at that time")]
    operation: Annotated[str, Field(description="The operation's id, such as `createRun`")]
    path: Annotated[str, Field(description="What was changed or created, such as `/v1/runs/run_01jd3v`")]
    status: Annotated[int, Field(description="HTTP status of the response")]
    created_ids: Annotated[
        list[str] | None, Field(description="The definitions that an import has created; null for other operations")
    ]
    deleted_ids: Annotated[
        list[str] | None, Field(description="What a bulk deletion has deleted; null for other operations")
    ]

    @classmethod
    def of(cls, record: AuditRecord) -> "AuditRecordResponse":
        return cls(
            request_id=record.request_id,
            at=record.at,
            token_id=record.caller.token_id,
            user_name=record.caller.user_name,
            role=record.caller.role,
            operation=record.operation,
            path=record.path,
            status=record.status,
            created_ids=None if record.created_ids is None else list(record.created_ids),
            deleted_ids=None if record.deleted_ids is None else list(record.deleted_ids),
        )


class AuditPage(ResponseModel):
    items: list[AuditRecordResponse]
    next_cursor: str | None
