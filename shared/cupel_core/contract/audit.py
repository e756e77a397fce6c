"""The audit log."""

from typing import Annotated

from cupel_core.contract.common import ResponseModel, Time, read_from
from cupel_core.domain.access import AccessRole


class AuditRecordResponse(ResponseModel):
    """A request that changed something, or that its role did not permit. With a status from 500, it may have changed
    something."""

    request_id: str
    """Id in the header `apigw-requestid` and the logs."""
    at: Time
    """Time of the response. Example: 2026-11-20T09:30:00Z"""
    token_id: Annotated[str, read_from("caller.token_id")]
    """The id of the API token, or the subject (`sub`) of a JWT. Example: tok_01"""
    user_name: Annotated[str | None, read_from("caller.user_name")]
    """Name of a JWT's user; null for an API token. Example: ada@example.com"""
    role: Annotated[AccessRole, read_from("caller.role")]
    """The caller's role at that time."""
    operation: str
    """The operation's id, such as `createRun`. Example: deleteRuns"""
    path: str
    """What was changed or created, such as `/v1/runs/run_01jd3v`. Example: /v1/runs/bulk-delete"""
    status: int
    """HTTP status of the response. Example: 200"""
    created_ids: list[str] | None
    """The definitions that an import has created; null for other operations. Example: ["def_01"]"""
    deleted_ids: list[str] | None
    """Ids that a bulk deletion deleted; null for other operations. Example: ["run_01k1f0aa", "run_01k1f0ab"]"""


class AuditPage(ResponseModel):
    items: list[AuditRecordResponse]
    next_cursor: str | None
