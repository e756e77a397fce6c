"""API tokens."""

from typing import Annotated, Literal

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.fields import Label, Moment
from cupel_core.domain.access import AccessRole


class CreateToken(RequestModel):
    model_config = example({"name": "nightly CI", "role": "member", "expiresAt": "2027-01-01T00:00:00Z"})

    name: Label
    """Purpose of the token."""
    role: Literal[AccessRole.ADMIN, AccessRole.MEMBER, AccessRole.VIEWER, AccessRole.LABELLER]
    """Viewers may read, members may also write, admins may also manage tokens. Labellers may only label the transcripts
    of label sets."""
    expires_at: Moment | None = None
    """Expiry of the token; null for never."""


class TokenResponse(ResponseModel):
    id: str
    """Example: tok_01"""
    name: str
    """Example: nightly CI"""
    role: AccessRole
    """Viewers may read, members may also write, admins may also manage tokens."""
    created_at: Time
    revoked_at: Time | None
    """Time of its revocation; null if it is valid. Example: 2026-11-20T10:00:00Z"""
    expires_at: Time | None
    """Expiry of the token; null for never."""
    last_used_at: Time | None
    """Noted at most once per hour; null if never used. Example: 2026-11-20T10:00:00Z"""


class TokenCreatedResponse(TokenResponse):
    token: str
    """The secret; shown only once. Example: cupel_4bQm8x"""


class CreateWorkspace(RequestModel):
    model_config = example({"name": "team-a"})

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    """1 to 63 of a-z, 0-9, - and _, starting with a letter or digit."""


class EraseWorkspace(RequestModel):
    model_config = example({"confirm": "team-a"})

    confirm: Annotated[str, Field(max_length=63)]
    """The name of the workspace, once more."""


class WorkspaceResponse(ResponseModel):
    name: str
    """Example: team-a"""
    created_at: Time | None
    """Null if it was not created by an operator."""
    erased_at: Time | None
    """Time at which it became unreadable; null if it was not erased. Example: 2026-11-20T09:30:00Z"""
    erasure_completed_at: Time | None
    """Time at which nothing of it was left; null before. Example: 2026-11-20T10:00:00Z"""


class WorkspacePage(ResponseModel):
    items: list[WorkspaceResponse]
    next_cursor: str | None


class WorkspaceCreatedResponse(ResponseModel):
    name: str
    token: TokenCreatedResponse
    """The first admin token of the workspace."""


class TokenPage(ResponseModel):
    items: list[TokenResponse]
    next_cursor: str | None
