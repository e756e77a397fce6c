from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import etag
from cupel_core.contract.connectors import (
    ConnectorPage,
    ConnectorResponse,
    CreateConnector,
)
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, Replay, Tagged, ToolGroup, operation
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.resources import connectors


@operation(
    "POST /v1/connectors",
    "Create a connector",
    role=MEMBER,
    returns="The connector",
    status=201,
    location="/v1/connectors/{id}",
    replay=Replay.CREATED,
)
def create_connector(call: Call, body: CreateConnector) -> Tagged[ConnectorResponse]:
    return _tagged(connectors.create(call.workspace, body.fields(), call.now))


@operation(
    "GET /v1/connectors",
    "List the connectors, newest first",
    role=VIEWER,
    returns="A page of connectors",
    tool=AsTool(ToolGroup.READ, "id name type baseUrl"),
)
def list_connectors(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[ConnectorPage]:
    listed = connectors.list_connectors(call.workspace, limit, cursor)
    return Listed(listed, ConnectorResponse.from_value)


@operation("GET /v1/connectors/{connector_id}", "Get a connector", role=VIEWER, returns="The connector")
def get_connector(call: Call, connector_id: str) -> Tagged[ConnectorResponse]:
    return _tagged(connectors.get_resource(call.workspace, connector_id))


@operation(
    "DELETE /v1/connectors/{connector_id}",
    "Delete a connector; runs in progress keep using it",
    role=MEMBER,
    returns="Deleted",
    if_match=True,
)
def delete_connector(call: Call, connector_id: str) -> None:
    connectors.delete(call.workspace, connector_id, call.now, call.precondition)


def _tagged(found: NamedResource[Connector]) -> Tagged[ConnectorResponse]:
    return Tagged(ConnectorResponse.from_value(found), etag(found.revision))
