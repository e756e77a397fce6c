"""Workspaces, by an operator."""

from time import monotonic

from aws_lambda_powertools.event_handler import Response

from api.parameters import Cursor, Limit
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.tokens import (
    CreateWorkspace,
    EraseWorkspace,
    TokenCreatedResponse,
    TokenResponse,
    WorkspaceCreatedResponse,
    WorkspacePage,
    WorkspaceResponse,
)
from cupel_core.runs import workspace_erasure
from cupel_core.workspace.access import workspaces

router = OperationRouter()
_ERASE_SECONDS = 15.0


@router.operation("createWorkspace", status=201)
def create_workspace(body: CreateWorkspace) -> WorkspaceCreatedResponse:
    token, secret = workspaces.create(body.name, utc_now())
    created = TokenCreatedResponse(**vars(TokenResponse.of(token)), token=secret)
    return WorkspaceCreatedResponse(name=body.name, token=created)


@router.operation("getWorkspace")
def get_workspace(name: str) -> WorkspaceResponse:
    return WorkspaceResponse.of(workspaces.get(name))


@router.operation("listWorkspaces")
def list_workspaces(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> WorkspacePage:
    page = workspaces.list_workspaces(limit, cursor)
    return WorkspacePage(items=[WorkspaceResponse.of(each) for each in page.items], next_cursor=page.next_cursor)


@router.operation("eraseWorkspace", status=204)
def erase_workspace(name: str, body: EraseWorkspace) -> Response[None]:
    now, until = utc_now(), monotonic() + _ERASE_SECONDS
    workspaces.check_erasure(name, body.confirm, router.caller, now)
    workspace_erasure.erase_workspace(name, now, lambda: monotonic() < until)
    return Response(204)
