"""Connectors: agents under test behind HTTP."""

from aws_lambda_powertools.event_handler import Response

from api.pages import bounded_page
from api.parameters import Cursor, IfMatch, Limit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.connectors import (
    ConnectorPage,
    ConnectorResponse,
    ConnectorTestResultResponse,
    CreateConnector,
    UpdateConnector,
)
from cupel_core.domain.resources.connectors import Connector
from cupel_core.domain.resources.named_resource import NamedResource
from cupel_core.resources import connectors
from cupel_core.runs import repairs

router = OperationRouter()


@router.operation("createConnector", status=201)
def create_connector(body: CreateConnector) -> ConnectorResponse:
    return _tagged(connectors.create(router.workspace, body.fields(), utc_now()))


@router.operation("listConnectors")
def list_connectors(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[ConnectorPage]:
    listed = connectors.list_connectors(router.workspace, limit, cursor)
    return bounded_page(ConnectorPage, listed.entries(), limit, ConnectorResponse.of)


@router.operation("getConnector")
def get_connector(connector_id: str) -> ConnectorResponse:
    return _tagged(connectors.get_resource(router.workspace, connector_id))


@router.operation("updateConnector")
def update_connector(connector_id: str, body: UpdateConnector, if_match: IfMatch = None) -> ConnectorResponse:
    precondition = Precondition.parse(if_match)
    return _tagged(repairs.update_connector(router.workspace, connector_id, body.fields(), utc_now(), precondition))


@router.operation("deleteConnector", status=204)
def delete_connector(connector_id: str, if_match: IfMatch = None) -> Response[None]:
    connectors.delete(router.workspace, connector_id, utc_now(), Precondition.parse(if_match))
    return Response(204)


@router.operation("testConnector")
def test_connector(connector_id: str) -> ConnectorTestResultResponse:
    # Imported here, because other requests need no HTTP client.
    from cupel_core.runs.connection_tests import test_connection

    return ConnectorTestResultResponse.of(test_connection(router.workspace, connector_id))


def _tagged(found: NamedResource[Connector]) -> ConnectorResponse:
    return router.tagged(ConnectorResponse.of(found), etag(found.revision))
