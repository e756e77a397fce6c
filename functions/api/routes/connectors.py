"""Connectors: agents under test behind HTTP."""

from aws_lambda_powertools.event_handler import Response

from api.parameters import Cursor, Limit
from api.routing import OperationRouter
from cupel_core.clock import utc_now
from cupel_core.contract.connectors import (
    ConnectorPage,
    ConnectorResponse,
    ConnectorTestResultResponse,
    CreateConnector,
    UpdateConnector,
)
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.resources import connectors

router = OperationRouter()


@router.operation("createConnector", status=201)
def create_connector(body: CreateConnector) -> ConnectorResponse:
    return ConnectorResponse.of(connectors.create(router.workspace, body.fields(), utc_now()))


@router.operation("listConnectors")
def list_connectors(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> ConnectorPage:
    page = connectors.list_connectors(router.workspace, limit, cursor)
    return ConnectorPage(items=[ConnectorResponse.of(each) for each in page.items], next_cursor=page.next_cursor)


@router.operation("getConnector")
def get_connector(connector_id: str) -> ConnectorResponse:
    return ConnectorResponse.of(connectors.get_resource(router.workspace, connector_id))


@router.operation("updateConnector")
def update_connector(connector_id: str, body: UpdateConnector) -> ConnectorResponse:
    return ConnectorResponse.of(connectors.update(router.workspace, connector_id, body.fields(), utc_now()))


@router.operation("deleteConnector", status=204)
def delete_connector(connector_id: str) -> Response[None]:
    connectors.delete(router.workspace, connector_id, utc_now())
    return Response(204)


@router.operation("testConnector")
def test_connector(connector_id: str) -> ConnectorTestResultResponse:
    return ConnectorTestResultResponse.of(connectors.test_connection(router.workspace, connector_id))
