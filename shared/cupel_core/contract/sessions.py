"""Sessions of the web page, and the codes that open them."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.domain.access import AccessRole


class RedeemLoginCode(RequestModel):
    model_config = example({"code": "Zk3xq8w2vT0p5nRb7yLc1mHs9dGf4aJe6uKi2oWx8zQ"})

    code: Annotated[str, Field(min_length=1, max_length=100, description="The code, which can be redeemed once")]


class LoginCodeResponse(ResponseModel):
    code: Annotated[str, Field(description="To be redeemed once, until `expiresAt`; shown only once")]
    expires_at: Annotated[Time, Field(description="From then on the code is refused: after 60 seconds")]


class SessionResponse(ResponseModel):
    workspace: Annotated[str, Field(description="Whose data the caller reads and changes")]
    role: Annotated[AccessRole, Field(description="What the caller may do: admins, members and viewers in this order")]
    token_id: Annotated[str, Field(description="Id of the token, or the user's id at the identity provider")]
    name: Annotated[str | None, Field(description="Of the token or the user; null if unknown")]
    expires_at: Annotated[Time | None, Field(description="When the token expires; null for never, and for users")]
    version: Annotated[str, Field(description="Version of the service")]
