"""Sessions of the web page, and the codes that open them."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.domain.access import AccessRole


class RedeemLoginCode(RequestModel):
    model_config = example({"code": "Zk3xq8w2vT0p5nRb7yLc1mHs9dGf4aJe6uKi2oWx8zQ"})

    code: Annotated[str, Field(min_length=1, max_length=100)]
    """The code, which can be redeemed once. Example: Zk3xq8w2vT0p5nRb7yLc1mHs9dGf4aJe6uKi2oWx8zQ"""


class LoginCodeResponse(ResponseModel):
    code: str
    """Code to redeem once, until `expiresAt`; shown only once. Example: Zk3xq8w2vT0p5nRb7yLc1mHs9dGf4aJe6uKi2oWx8zQ"""
    expires_at: Time
    """Expiry of the code: after 60 seconds. Example: 2026-11-01T09:01:00.000Z"""


class SessionResponse(ResponseModel):
    workspace: str
    """Workspace that the caller reads and changes. Example: team-a"""
    role: AccessRole
    """What the caller may do: admins, members and viewers in this order. Example: member"""
    token_id: str
    """Id of the token, or the user's id at the identity provider. Example: tok_01"""
    labeller: str
    """Labeller of the labels given in this session: the token that opened it, or the user. Example: tok_01"""
    name: str | None
    """Name of the token or the user; null if unknown. Example: nightly CI"""
    expires_at: Time | None
    """Expiry of the token; null for never, and for users."""
    version: str
    """Version of the service. Example: 0.1.0"""
