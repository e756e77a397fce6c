"""The audit log."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import ResponseModel, Time, read_from
from cupel_core.domain.access import AccessRole


class AuditRecordResponse(ResponseModel):
    """A request that changed something, or was refused because its role permits less. A request that ended with a
    status from 500 may have changed something before."""

    request_id: Annotated[str, Field(description="As in the header `apigw-requestid` and the logs")]
    at: Annotated[Time, Field(description="When it was responded to")]
    token_id: Annotated[
        str, Field(description="The id of the API token, or the subject (`sub`) of a JWT"), read_from("caller.token_id")
    ]
    user_name: Annotated[
        str | None, Field(description="Of a JWT's user; null for an API token"), read_from("caller.user_name")
    ]
    role: Annotated[AccessRole, Field(description="The caller's role at that time"), read_from("caller.role")]
    operation: Annotated[str, Field(description="The operation's id, such as `createRun`")]
    path: Annotated[str, Field(description="What was changed or created, such as `/v1/runs/run_01jd3v`")]
    status: Annotated[int, Field(description="HTTP status of the response")]
    created_ids: Annotated[
        list[str] | None, Field(description="The definitions that an import has created; null for other operations")
    ]
    deleted_ids: Annotated[
        list[str] | None, Field(description="What a bulk deletion has deleted; null for other operations")
    ]


class AuditPage(ResponseModel):
    items: list[AuditRecordResponse]
    next_cursor: str | None
