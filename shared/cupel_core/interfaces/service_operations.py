from collections.abc import Sequence
from typing import Annotated, Any

from cupel_core.contract.operation import PUBLIC, Call, operation
from cupel_core.contract.query import Parameter
from cupel_core.contract.service import VERSION, HealthResponse
from cupel_core.interfaces import openapi_file

Tags = Annotated[
    Sequence[str],
    Parameter(description="Return only the operations with these tags, repeated or separated by commas"),
]


@operation("GET /v1/health", "Check that the API is up", role=PUBLIC, returns="The API is up", tag="service")
def get_health(_: Call) -> HealthResponse:
    return HealthResponse(status="ok", version=VERSION)


@operation(
    "GET /v1/openapi.json", "Get this OpenAPI document", role=PUBLIC, returns="The OpenAPI document", tag="service"
)
def get_open_api_document(call: Call, tags: Tags = ()) -> dict[str, Any]:
    """`servers` names the address that the request was sent to."""
    found = openapi_file.read_part(frozenset(tags)) if tags else openapi_file.read_document()
    return {**found, "servers": [{"url": call.http.page_url()}]}
