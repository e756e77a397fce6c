"""The health of the service, and its version."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import ResponseModel

VERSION = "0.1.0"
"""The project's version; a test compares it with pyproject.toml."""


class HealthResponse(ResponseModel):
    status: Annotated[str, Field(description="Always `ok`")]
    version: str
