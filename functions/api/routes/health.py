"""Whether the API answers at all."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from cupel_core.contract.common import Answer

VERSION = "0.1.0"
"""The project's; a test compares it with pyproject.toml."""

router = APIGatewayHttpRouter()


class Health(Answer):
    status: str
    version: str


@router.get("/health", summary="Tell that the API is there", tags=["service"])
def health() -> Health:
    return Health(status="ok", version=VERSION)
