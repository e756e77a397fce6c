"""API tokens."""

from typing import Annotated, Literal

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.fields import Label, Moment
from cupel_core.domain.access import AccessRole


class CreateToken(RequestModel):
    model_config = example({"name": "nightly CI", "role": "member", "expiresAt": "2027-01-01T00:00:00Z"})

    name: Annotated[Label, Field(description="What the token is used for")]
    role: Literal[AccessRole.ADMIN, AccessRole.MEMBER, AccessRole.VIEWER]
    expires_at: Annotated[Moment | None, Field(description="From then on the token is refused; null for never")] = None


class TokenResponse(ResponseModel):
    id: str
    name: str
    role: AccessRole
    created_at: Time
    revoked_at: Time | None
    expires_at: Annotated[Time | None, Field(description="From then on the token is refused; null for never")]
    last_used_at: Annotated[Time | None, Field(description="Noted at most once per hour; null if never used")]


class TokenCreatedResponse(TokenResponse):
    token: Annotated[str, Field(description="The secret; shown only once")]


class CreateWorkspace(RequestModel):
    model_config = example({"name": "team-a"})

    name: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$",
            description="1 to 63 of a-z, 0-9, - and _, starting with a letter or digit",
        ),
    ]


class EraseWorkspace(RequestModel):
    model_config = example({"confirm": "team-a"})

    confirm: Annotated[str, Field(max_length=63, description="The name of the workspace, once more")]


class WorkspaceResponse(ResponseModel):
    name: str
    created_at: Annotated[Time | None, Field(description="Null if it was not created by an operator")]
    erased_at: Annotated[Time | None, Field(description="Since when it is unreadable; null if it was not erased")]
    erasure_completed_at: Annotated[Time | None, Field(description="When nothing of it was left; null before")]


class WorkspacePage(ResponseModel):
    items: list[WorkspaceResponse]
    next_cursor: str | None


class WorkspaceCreatedResponse(ResponseModel):
    name: str
    token: Annotated[TokenCreatedResponse, Field(description="The first admin token of the workspace")]


class TokenPage(ResponseModel):
    items: list[TokenResponse]
    next_cursor: str | None
