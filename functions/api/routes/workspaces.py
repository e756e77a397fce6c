"""Creation of workspaces, by an operator."""

from api.routing import OperationRouter
from cupel_core.access import workspaces
from cupel_core.clock import utc_now
from cupel_core.contract.tokens import (
    CreateWorkspace,
    TokenCreatedResponse,
    TokenResponse,
    WorkspaceCreatedResponse,
    WorkspaceResponse,
)

router = OperationRouter()


@router.operation("createWorkspace", status=201)
def create_workspace(body: CreateWorkspace) -> WorkspaceCreatedResponse:
    token, secret = workspaces.create(body.name, utc_now())
    created = TokenCreatedResponse(**vars(TokenResponse.of(token)), token=secret)
    return WorkspaceCreatedResponse(name=body.name, token=created)


@router.operation("getWorkspace")
def get_workspace(name: str) -> WorkspaceResponse:
    return WorkspaceResponse(name=name, created_at=workspaces.get_created_at(name))
