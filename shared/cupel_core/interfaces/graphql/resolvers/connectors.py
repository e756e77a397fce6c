"""Agents under test behind HTTP. Values of their headers are written, and never returned."""

from typing import Any

from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.contract.connectors import (
    ConnectorResponse,
    ConnectorTestResultResponse,
    CreateConnector,
    UpdateConnector,
)
from cupel_core.interfaces.graphql.inputs import check_limit, check_offset, parse
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.resolvers.lists import first_items
from cupel_core.resources import connectors
from cupel_core.runs import repairs
from cupel_core.workspace.access.waiting import waiting


@resolves("Query.connector", "getConnector")
def connector(request: Request, _: None, connector_id: str) -> Loaded | None:
    try:
        return Loaded(ConnectorResponse.of(connectors.get_resource(request.workspace, connector_id)))
    except NotFound:
        return None


@resolves("Query.connectors", "listConnectors")
def list_connectors(request: Request, _: None, limit: int, offset: int) -> Page[Loaded]:
    found = first_items(
        lambda size, cursor: connectors.list_connectors(request.workspace, size, cursor),
        check_limit(limit),
        check_offset(offset),
    )
    return found.map(lambda each: Loaded(ConnectorResponse.of(each)))


@resolves("Mutation.createConnector", "createConnector", 5)
def create_connector(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    fields = parse(CreateConnector, body).fields()
    return Loaded(ConnectorResponse.of(connectors.create(request.workspace, fields, request.now)))


@resolves("Mutation.updateConnector", "updateConnector", 5)
def update_connector(request: Request, _: None, connector_id: str, body: dict[str, Any]) -> Loaded:
    fields = parse(UpdateConnector, body).fields()
    changed = repairs.update_connector(request.workspace, connector_id, fields, request.now, UNCONDITIONAL)
    return Loaded(ConnectorResponse.of(changed))


@resolves("Mutation.deleteConnector", "deleteConnector", 5)
def delete_connector(request: Request, _: None, connector_id: str) -> bool:
    connectors.delete(request.workspace, connector_id, request.now, UNCONDITIONAL)
    return True


@resolves("Mutation.testConnector", "testConnector", 20)
def try_connector(request: Request, _: None, connector_id: str) -> Loaded:
    # Imported here, because other requests need no HTTP client.
    from cupel_core.runs.connection_tests import test_connection

    with waiting(request.caller):
        return Loaded(ConnectorTestResultResponse.of(test_connection(request.workspace, connector_id)))
