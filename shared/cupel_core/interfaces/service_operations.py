"""The health of the API, and its description."""

from typing import Any

from cupel_core.contract.operation import PUBLIC, Call, operation
from cupel_core.contract.service import VERSION, HealthResponse


@operation("GET /v1/health", "Check that the API is up", role=PUBLIC, returns="The API is up", tag="service")
def get_health(_: Call) -> HealthResponse:
    return HealthResponse(status="ok", version=VERSION)


@operation(
    "GET /v1/openapi.json", "Get this OpenAPI document", role=PUBLIC, returns="The OpenAPI document", tag="service"
)
def get_open_api_document(_: Call) -> dict[str, Any]:
    from cupel_core.interfaces.openapi import document  # other requests do not load every model

    return document()
