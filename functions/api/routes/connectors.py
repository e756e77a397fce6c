"""Connectors: agents under test behind HTTP."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.connectors import (
    ConnectorAnswer,
    ConnectorChange,
    ConnectorList,
    ConnectorRequest,
    TriedAnswer,
)
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.resources import connectors

router = APIGatewayHttpRouter()
_TAGS = ["connectors"]


@router.post("/connectors", summary="Create a connector", tags=_TAGS, status_code=201)
def create(body: ConnectorRequest) -> ConnectorAnswer:
    return ConnectorAnswer.of(connectors.create(_workspace(), body.fields(), utc_now()))


@router.get("/connectors", summary="List the connectors, newest first", tags=_TAGS)
def listed(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> ConnectorList:
    page = connectors.listed(_workspace(), limit, cursor)
    return ConnectorList(items=[ConnectorAnswer.of(each) for each in page.items], next_cursor=page.next_cursor)


@router.get("/connectors/<connector_id>", summary="Read a connector", tags=_TAGS)
def get(connector_id: str) -> ConnectorAnswer:
    return ConnectorAnswer.of(connectors.read(_workspace(), connector_id))


@router.patch("/connectors/<connector_id>", summary="Change a connector", tags=_TAGS)
def change(connector_id: str, body: ConnectorChange) -> ConnectorAnswer:
    return ConnectorAnswer.of(connectors.change(_workspace(), connector_id, body.fields(), utc_now()))


@router.delete(
    "/connectors/<connector_id>", summary="Delete a connector; runs go on with it", tags=_TAGS, status_code=204
)
def delete(connector_id: str) -> Response[None]:
    connectors.delete(_workspace(), connector_id, utc_now())
    return Response(204)


@router.post(
    "/connectors/<connector_id>/test",
    summary="Say one thing to the agent",
    description="200 also when the agent could not be talked to: `error` says why.",
    tags=_TAGS,
)
def test(connector_id: str) -> TriedAnswer:
    return TriedAnswer.of(connectors.try_out(_workspace(), connector_id))


def _workspace() -> str:
    return caller(router.current_event).workspace
