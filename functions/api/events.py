"""The events of a run, as JSON and as a finite server-sent stream that an EventSource opens again every two seconds."""

from collections.abc import Iterable
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from api.run_models import EventAnswer, EventList, ProgressAnswer
from shared.clock import utc_now
from shared.domain.runs import TERMINAL, EventType
from shared.runs import reading
from shared.runs.reading import RunView

router = APIGatewayHttpRouter()

_STREAM = "text/event-stream"
_RETRY = "retry: 2000\n\n"


_ANSWERS: dict[int, OpenAPIResponse] = {
    200: {
        "description": "The events after the one named, in order; as a stream with `Accept: text/event-stream`",
        "content": {"application/json": {"model": EventList}, _STREAM: {"schema": {"type": "string"}}},
    },
    204: {"description": "As a stream: the run is at its end, and everything was read"},
}


@router.get("/runs/<run_id>/events", summary="Read what happened to a run", tags=["runs"], responses=_ANSWERS)
def events(
    run_id: str,
    after: Annotated[int, Query(ge=0, description="Only events with a greater seq")] = 0,
    last_event_id: Annotated[int | None, Header(alias="Last-Event-ID", ge=0, description="Wins over `after`")] = None,
) -> Response[Any]:
    workspace = caller(router.current_event).workspace
    seen = after if last_event_id is None else last_event_id
    # The run before its events: when it is terminal by then, no later event can be missed.
    view = reading.get(workspace, run_id, utc_now())
    told = [EventAnswer.of(run_id, event) for event in reading.events(workspace, run_id, seen)]
    if _STREAM not in router.current_event.headers.get("accept", ""):
        return Response(200, "application/json", EventList(items=told))
    return _stream(view, told)


def _stream(view: RunView, told: list[EventAnswer]) -> Response[str]:
    """204 tells an EventSource to stop: the run is at its end and everything was read."""
    finished = view.run.status in TERMINAL
    if finished and not told:
        return Response(204)
    frames = told if finished else [*told, _progress(view)]
    return Response(200, _STREAM, _RETRY + "".join(_frames(frames)))


def _frames(events: Iterable[EventAnswer]) -> Iterable[str]:
    for event in events:
        identity = f"id: {event.seq}\n" if event.seq is not None else ""
        yield f"{identity}event: {event.type}\ndata: {event.model_dump_json(by_alias=True)}\n\n"


def _progress(view: RunView) -> EventAnswer:
    """Computed from the barrier when it is read, so it has no `seq` and no `id` to come back to."""
    data = ProgressAnswer.of(view.progress).model_dump(by_alias=True)
    return EventAnswer(seq=None, type=EventType.PROGRESS, ts=utc_now(), run_id=view.run.id, data=data)
