from time import monotonic

from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.operation import (
    OPERATOR,
    Call,
    Listed,
    Replay,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.contract.tokens import (
    CreateWorkspace,
    EraseWorkspace,
    TokenCreatedResponse,
    WorkspaceCreatedResponse,
    WorkspacePage,
    WorkspaceResponse,
)
from cupel_core.runs import workspace_erasure
from cupel_core.workspace.access import workspaces

_ERASE_SECONDS = 15.0


@operation(
    "POST /v1/workspaces",
    "Create a workspace",
    role=OPERATOR,
    returns="The workspace with its first admin token",
    status=201,
    location="/v1/workspaces/{name}",
    replay=Replay.REFUSAL,
)
def create_workspace(call: Call, body: CreateWorkspace) -> WorkspaceCreatedResponse:
    """409 if it was used before: an operator gets no access to existing content."""
    token, secret = workspaces.create(body.name, call.now)
    created = TokenCreatedResponse.from_value(token, token=secret)
    return WorkspaceCreatedResponse(name=body.name, token=created)


@operation(
    "GET /v1/workspaces/{name}",
    "Get a workspace that an operator has created or erased",
    role=OPERATOR,
    returns="When it was created, and erased",
)
def get_workspace(call: Call, name: str) -> WorkspaceResponse:
    return WorkspaceResponse.from_value(workspaces.get(name))


@operation(
    "GET /v1/workspaces",
    "List the workspaces that operators have created or erased, by name",
    role=OPERATOR,
    returns="A page of workspaces",
)
def list_workspaces(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[WorkspacePage]:
    """Those of tokens written by `cupel tokens bootstrap`, and of JWTs, are not known."""
    page = workspaces.list_workspaces(limit, cursor)
    return Listed(page, WorkspaceResponse.from_value)


@operation(
    "POST /v1/workspaces/{name}/erase",
    "Erase a workspace with everything in it",
    role=OPERATOR,
    returns="Unreadable from now on, and erased within a day",
)
def erase_workspace(call: Call, name: str, body: EraseWorkspace) -> None:
    """Its tokens are refused at once, its runs and schedules end. Repeating it continues; `GET
    /v1/workspaces/{name}` shows when nothing was left. 409 for the workspace of your own token.
    """
    now, until = call.now, monotonic() + _ERASE_SECONDS
    workspaces.check_erasure(name, body.confirm, call.caller, now)
    workspace_erasure.erase_workspace(name, now, lambda: monotonic() < until)
