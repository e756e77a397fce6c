"""Changes of providers and connectors. Afterwards, runs that were paused because of them resume."""

from cupel_core.base.preconditions import etag
from cupel_core.contract.connectors import (
    ConnectorResponse,
    ConnectorTestResultResponse,
    UpdateConnector,
)
from cupel_core.contract.operation import ADMIN, MEMBER, AsTool, Call, Tagged, ToolGroup, operation
from cupel_core.contract.providers import ProviderResponse, UpdateProvider
from cupel_core.runs import repairs


@operation(
    "PATCH /v1/connectors/{connector_id}",
    "Update a connector",
    role=MEMBER,
    returns="The updated connector",
    if_match=True,
)
def update_connector(call: Call, connector_id: str, body: UpdateConnector) -> Tagged[ConnectorResponse]:
    found = repairs.update_connector(call.workspace, connector_id, body.fields(), call.now, call.precondition)
    return Tagged(ConnectorResponse.from_value(found), etag(found.revision))


@operation(
    "POST /v1/connectors/{connector_id}/test",
    "Send a test message to the agent",
    role=MEMBER,
    returns="The agent's reply, or why there was none",
    calls_others=True,
)
def test_connector(call: Call, connector_id: str) -> ConnectorTestResultResponse:
    """Returns 200 even if the agent cannot be reached; `error` then says why."""
    from cupel_core.runs.connection_tests import test_connection  # Only this request needs an HTTP client.

    return ConnectorTestResultResponse.from_value(test_connection(call.workspace, connector_id))


@operation(
    "PUT /v1/providers/{name}",
    "Update a provider's settings",
    role=ADMIN,
    returns="The updated provider",
    if_match=True,
    tool=AsTool(ToolGroup.ADMIN, "name enabled hasKey maxParallelRequests requestsPerMinute tokensPerMinute", max_kb=1),
)
def update_provider(call: Call, name: str, body: UpdateProvider) -> Tagged[ProviderResponse]:
    found = repairs.update_provider(call.workspace, name, body.changes(), call.now, call.precondition)
    return Tagged(ProviderResponse.from_value(found), etag(found.revision))
