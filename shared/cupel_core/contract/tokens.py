"""API tokens."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.fields import Label
from cupel_core.domain.access import AccessRole, Token


class CreateToken(RequestModel):
    model_config = example({"name": "nightly CI", "role": "member"})

    name: Annotated[Label, Field(description="What the token is used for")]
    role: AccessRole


class TokenResponse(ResponseModel):
    id: str
    name: str
    role: AccessRole
    created_at: Time
    revoked_at: Time | None

    @classmethod
    def of(cls, token: Token) -> "TokenResponse":
        return cls(
            id=token.id, name=token.name, role=token.role, created_at=token.created_at, revoked_at=token.revoked_at
        )


class TokenCreatedResponse(TokenResponse):
    token: Annotated[str, Field(description="The secret; shown only once")]


class TokenPage(ResponseModel):
    items: list[TokenResponse]
    next_cursor: str | None
