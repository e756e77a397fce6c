"""The events of a run as JSON, and as finite server-sent streams that an EventSource reopens every two seconds.

Progress frames are computed and have no id. A stream is answered with 204 once the run has ended and everything was
read. An EventSource cannot send a token, so it uses a ticket, which the authorizer accepts in the query.
"""

from collections.abc import Iterable
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse

from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import RunRef
from cupel_core.contract.runs import EventTicketResponse, RunEventList, RunEventResponse, RunProgressResponse
from cupel_core.domain.runs.run import RunEventType
from cupel_core.interfaces.operations import OPERATIONS
from cupel_core.runs.event_feed import EventFeed, poll
from cupel_core.store import runs
from cupel_core.workspace.access import event_tickets

router = OperationRouter()

_MAX_SEQ = 99_999_998
_STREAM = "text/event-stream"
_RESPONSES: dict[int, OpenAPIResponse] = {
    200: {
        "description": OPERATIONS["listRunEvents"].response,
        "content": {"application/json": {"model": RunEventList}, _STREAM: {"schema": {"type": "string"}}},
    },
    204: {"description": "Stream only: the run is terminal and every event has been read"},
}


@router.operation("createEventTicket", status=201)
def create_event_ticket(run_id: str) -> EventTicketResponse:
    ref = RunRef(router.workspace, run_id)
    runs.get(ref)
    issued = event_tickets.issue(ref, router.caller.token_id, utc_now())
    path = f"{event_tickets.events_path(run_id)}?ticket={issued.secret}"
    return EventTicketResponse(ticket=issued.secret, path=path, expires_at=issued.expires_at)


@router.operation("listRunEvents", responses=_RESPONSES)
def list_run_events(
    run_id: str,
    _ticket: Annotated[
        str | None,
        Query(alias="ticket", description="Instead of the `Authorization` header, which an EventSource cannot send"),
    ] = None,
    after: Annotated[int, Query(ge=0, le=_MAX_SEQ, description="Return only events with a higher `seq`")] = 0,
    last_event_id: Annotated[
        int | None, Header(alias="Last-Event-ID", ge=0, le=_MAX_SEQ, description="Takes precedence over `after`")
    ] = None,
) -> Response[Any]:
    seen = after if last_event_id is None else last_event_id
    feed = poll(router.workspace, run_id, seen)
    if _STREAM in router.current_event.headers.get("accept", ""):
        return _stream(feed)
    events = [RunEventResponse.of(run_id, event) for event in feed.events]
    return Response(200, "application/json", RunEventList(items=events))


def _stream(feed: EventFeed) -> Response[str]:
    """204 tells an EventSource to stop: the run is terminal and every event has been read."""
    if feed.progress is None and not feed.events:
        return Response(204)
    return Response(200, _STREAM, "retry: 2000\n\n" + "".join(map(_frame, _events(feed))))


def _events(feed: EventFeed) -> Iterable[RunEventResponse]:
    """The stored events and, while the run is active, its progress, which is computed and has no `seq`."""
    run_id = feed.run.id
    yield from (RunEventResponse.of(run_id, event) for event in feed.events)
    if feed.progress is not None:
        data = RunProgressResponse.of(feed.progress).model_dump(by_alias=True)
        yield RunEventResponse(seq=None, type=RunEventType.PROGRESS, ts=utc_now(), run_id=run_id, data=data)


def _frame(event: RunEventResponse) -> str:
    id_line = f"id: {event.seq}\n" if event.seq is not None else ""
    return f"{id_line}event: {event.type}\ndata: {event.model_dump_json(by_alias=True)}\n\n"
