"""The events of a run, as JSON and as a finite server-sent stream that an EventSource opens again every two seconds."""

from collections.abc import Iterable
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.runs import EventAnswer, EventList, ProgressAnswer
from cupel_core.domain.runs.run import EventType
from cupel_core.runs.event_feed import Followed, follow

router = APIGatewayHttpRouter()

_MAX_SEQ = 99_999_998
_STREAM = "text/event-stream"
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
    after: Annotated[int, Query(ge=0, le=_MAX_SEQ, description="Only events with a greater seq")] = 0,
    last_event_id: Annotated[
        int | None, Header(alias="Last-Event-ID", ge=0, le=_MAX_SEQ, description="Wins over `after`")
    ] = None,
) -> Response[Any]:
    seen = after if last_event_id is None else last_event_id
    followed = follow(caller(router.current_event).workspace, run_id, seen)
    if _STREAM in router.current_event.headers.get("accept", ""):
        return _stream(followed)
    told = [EventAnswer.of(run_id, event) for event in followed.events]
    return Response(200, "application/json", EventList(items=told))


def _stream(followed: Followed) -> Response[str]:
    """204 tells an EventSource to stop: the run is at its end and everything was read."""
    if followed.progress is None and not followed.events:
        return Response(204)
    return Response(200, _STREAM, "retry: 2000\n\n" + "".join(map(_frame, _told(followed))))


def _told(followed: Followed) -> Iterable[EventAnswer]:
    """The stored events and then, while the run goes on, its progress: computed, so without a `seq` to come back to."""
    run_id = followed.run.id
    yield from (EventAnswer.of(run_id, event) for event in followed.events)
    if followed.progress is not None:
        data = ProgressAnswer.of(followed.progress).model_dump(by_alias=True)
        yield EventAnswer(seq=None, type=EventType.PROGRESS, ts=utc_now(), run_id=run_id, data=data)


def _frame(event: EventAnswer) -> str:
    identity = f"id: {event.seq}\n" if event.seq is not None else ""
    return f"{identity}event: {event.type}\ndata: {event.model_dump_json(by_alias=True)}\n\n"
