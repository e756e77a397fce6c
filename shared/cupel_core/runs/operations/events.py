"""The events of a run as JSON, and as finite server-sent streams that an EventSource reopens every two seconds.

Progress frames are computed and have no id. A stream is answered with 204 once the run has ended and everything was
read. An EventSource cannot send a token, so it uses a ticket, which the authorizer accepts in the query.
"""

from collections.abc import Iterable
from typing import Annotated

from cupel_core.contract.operation import (
    VIEWER,
    Call,
    Text,
    operation,
)
from cupel_core.contract.query import (
    Parameter,
)
from cupel_core.contract.runs import RunEventList, RunEventResponse, RunProgressResponse
from cupel_core.domain.runs.run import RunEventType
from cupel_core.runs.progress import EventFeed, poll

_MAX_SEQ = 99_999_998


_STREAM = "text/event-stream"


@operation(
    "GET /v1/runs/{run_id}/events",
    "List the events of a run, or stream them",
    role=VIEWER,
    texts=(_STREAM,),
    also={204: "Stream only: the run is terminal and every event has been read"},
    returns="The events after `after`, in order; sent as server-sent events if the request accepts `text/event-stream`",
)
def list_run_events(
    call: Call,
    run_id: str,
    _ticket: Annotated[
        str | None,
        Parameter(name="ticket", description="Instead of the `Authorization` header, which an EventSource cannot send"),
    ] = None,
    after: Annotated[int, Parameter(ge=0, le=_MAX_SEQ, description="Return only events with a higher `seq`")] = 0,
    last_event_id: Annotated[
        int | None,
        Parameter(name="Last-Event-ID", is_header=True, ge=0, le=_MAX_SEQ, description="Takes precedence over `after`"),
    ] = None,
) -> RunEventList | Text | None:
    """A stream ends after the events available so far; an EventSource then reconnects and continues from there."""
    seen = after if last_event_id is None else last_event_id
    feed = poll(call.workspace, run_id, seen)
    if _STREAM in call.http.headers.get("accept", ""):
        return _stream(call, feed)
    events = [RunEventResponse.from_value(event, run_id=run_id) for event in feed.events]
    return RunEventList(items=events)


def _stream(call: Call, feed: EventFeed) -> Text | None:
    """Return the stream. A 204 makes an EventSource stop: the run is terminal and every event has been read."""
    if feed.progress is None and not feed.events:
        return None
    return Text(_STREAM, "retry: 2000\n\n" + "".join(map(_frame, _events(call, feed))))


def _events(call: Call, feed: EventFeed) -> Iterable[RunEventResponse]:
    """Yield the stored events and, while the run is active, its progress, which is computed and has no `seq`."""
    run_id = feed.run.id
    yield from (RunEventResponse.from_value(event, run_id=run_id) for event in feed.events)
    if feed.progress is not None:
        data = RunProgressResponse.from_value(feed.progress).model_dump(by_alias=True)
        yield RunEventResponse(seq=None, type=RunEventType.PROGRESS, ts=call.now, run_id=run_id, data=data)


def _frame(event: RunEventResponse) -> str:
    id_line = f"id: {event.seq}\n" if event.seq is not None else ""
    return f"{id_line}event: {event.type}\ndata: {event.model_dump_json(by_alias=True)}\n\n"
