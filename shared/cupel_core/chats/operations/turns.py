import time
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Annotated, NamedTuple

from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.chats import turns
from cupel_core.chats.turns import TurnFeed, TurnRequest
from cupel_core.contract.chat_turns import (
    StartTurn,
    TurnEventList,
    TurnEventResponse,
    TurnPage,
    TurnPromptResponse,
    TurnResponse,
    TurnSummaryResponse,
    TurnTextResponse,
)
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Answered,
    Call,
    Listed,
    Replay,
    Text,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
    Parameter,
)
from cupel_core.domain.chats.drafts import POSITION_PATTERN, TEXT_PATTERN, Feed, FeedPosition, TextPosition
from cupel_core.domain.chats.turns import ChatTurn, TurnStatus
from cupel_core.domain.limits.waiting import RETRY_AFTER_SECONDS

_MAX_SEQ = 99_999_998


_MAX_WAIT_SECONDS = 20


_CHECK_SECONDS = 0.3


_RECONNECT_MS = 250


_STREAM = "text/event-stream"


_DELTA = "main_llm.delta"


@operation(
    "POST /v1/chats/{chat_id}/turns",
    "Send a message, or have the last one answered again",
    role=MEMBER,
    returns="The turn; its events follow",
    status=201,
    also={200: "The turn that the same request has started before"},
    location="/v1/chats/{chat_id}/turns/{id}",
    replay=Replay.CREATED,
)
def start_turn(call: Call, chat_id: str, body: StartTurn) -> Answered[TurnResponse]:
    """The same `clientRequestId` and body start one turn within a day. 409 while a turn is in progress on the
    branch, and while the provider is paused.
    """
    request = TurnRequest(
        body.trigger,
        body.content,
        body.branch_id,
        body.profile_id,
        body.has_profile,
        body.client_request_id,
        body.deadline_ms,
        call.caller.token_id,
        body.model,
    )
    accepted = turns.start(call.workspace, chat_id, request, call.now)
    status = HTTPStatus.CREATED if accepted.is_new else HTTPStatus.OK
    return Answered(TurnResponse.of_turn(chat_id, accepted.turn), status)


@operation(
    "GET /v1/chats/{chat_id}/turns",
    "List the turns of a chat, newest first",
    role=VIEWER,
    returns="A page of turns, without what they ran",
)
def list_turns(
    call: Call,
    chat_id: str,
    branch_id: Annotated[str | None, Parameter(description="Return only turns of this branch")] = None,
    status: Annotated[TurnStatus | None, Parameter(description="Return only turns with this status")] = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[TurnPage]:
    listed = turns.list_turns(call.workspace, chat_id, branch_id, status, limit, cursor)
    return Listed(listed, partial(TurnSummaryResponse.from_value, chat_id=chat_id))


@operation(
    "GET /v1/chats/{chat_id}/turns/{turn_id}",
    "Get a turn",
    role=VIEWER,
    returns="The turn, and what it ran once it is over",
)
def get_turn(call: Call, chat_id: str, turn_id: str) -> TurnResponse:
    return TurnResponse.of_turn(chat_id, turns.get(call.workspace, chat_id, turn_id))


@operation(
    "GET /v1/chats/{chat_id}/turns/{turn_id}/prompt",
    "Get the prompt of a turn",
    role=VIEWER,
    returns="The messages that the model got",
)
def get_turn_prompt(call: Call, chat_id: str, turn_id: str) -> TurnPromptResponse:
    """409 if it was not called."""
    return TurnPromptResponse.from_value(turns.get_prompt(call.workspace, chat_id, turn_id))


@operation(
    "POST /v1/chats/{chat_id}/turns/{turn_id}/abort",
    "Abort a turn",
    role=MEMBER,
    returns="The turn; its worker ends it within a second or two",
    is_repeatable=True,
)
def abort_turn(call: Call, chat_id: str, turn_id: str) -> TurnResponse:
    """A turn that is over is returned as it is."""
    return TurnResponse.of_turn(chat_id, turns.abort(call.workspace, chat_id, turn_id, call.now))


@operation(
    "GET /v1/chats/{chat_id}/turns/{turn_id}/events",
    "List the events of a turn, or stream them",
    role=VIEWER,
    texts=(_STREAM,),
    also={204: "Stream only: the turn is over and every event has been read"},
    returns="The events after `after`, and the text that the main call has written since, as JSON or as a stream",
)
def list_turn_events(
    call: Call,
    chat_id: str,
    turn_id: str,
    after: Annotated[int, Parameter(ge=0, le=_MAX_SEQ, description="Return only events with a higher `seq`")] = 0,
    text: Annotated[
        str,
        Parameter(
            pattern=TEXT_PATTERN,
            description="Return only text after this: `<attempt>.<offset>`, where the text ends that was received",
        ),
    ] = "0.0",
    wait: Annotated[
        int,
        Parameter(
            ge=0,
            le=_MAX_WAIT_SECONDS,
            description="Seconds to wait for an event or text if there is none; 0 by default. If too many requests of"
            " the token, workspace or stack wait already, it does not wait, and `Retry-After` says when to ask again",
        ),
    ] = 0,
    last_event_id: Annotated[
        str | None,
        Parameter(
            name="Last-Event-ID",
            is_header=True,
            pattern=POSITION_PATTERN,
            description="The id of the last event of a stream; takes precedence over `after` and `text`",
        ),
    ] = None,
) -> Answered[TurnEventList] | Text | None:
    """A request with `Accept: text/event-stream` gets a finite stream that EventSource reopens: 204 once the turn is
    over and all events have been read. Its events of type `main_llm.delta` have the text; their ids let a reader go
    on within it.
    """
    position = FeedPosition(after, TextPosition.parse(text))
    if last_event_id is not None:
        position = FeedPosition.parse(last_event_id)
    (turn, feed), has_waited = _waited(call, lambda: turns.poll(call.workspace, chat_id, turn_id, position), wait)
    headers = {} if has_waited else {"Retry-After": str(RETRY_AFTER_SECONDS)}
    if _STREAM not in call.http.headers.get("accept", ""):
        return Answered(TurnEventList.of(chat_id, turn, feed), 200, headers=headers)
    if turn.status.is_over and feed.is_empty:
        return None
    retry_ms = _RECONNECT_MS if has_waited else RETRY_AFTER_SECONDS * 1_000
    frames = "".join(_frames(chat_id, turn, feed, position))
    return Text(_STREAM, f"retry: {retry_ms}\n\n{frames}", headers)


class _Waited(NamedTuple):
    found: TurnFeed
    has_waited: bool
    """False if it should have waited, but too many requests wait already."""


def _waited(call: Call, poll: Callable[[], TurnFeed], seconds: int) -> _Waited:
    """Return the first poll with an event or text, or with the end of the turn, within `seconds`."""
    found = poll()
    if not seconds or _has_news(found):
        return _Waited(found, has_waited=True)
    with call.may_wait(seconds) as is_permitted:
        until = time.monotonic() + seconds
        while is_permitted and not _has_news(found) and time.monotonic() < until:
            time.sleep(_CHECK_SECONDS)
            found = poll()
        return _Waited(found, is_permitted)


def _has_news(found: TurnFeed) -> bool:
    return not found.feed.is_empty or found.turn.status.is_over


def _frames(chat_id: str, turn: ChatTurn, feed: Feed, position: FeedPosition) -> Iterator[str]:
    for event in feed.events:
        position = position._replace(seq=event.seq)
        yield _frame(position, event.type, TurnEventResponse.of(chat_id, turn, event))
    if feed.delta is not None:
        position = position._replace(text=feed.delta.end)
        yield _frame(position, _DELTA, TurnTextResponse.from_value(feed.delta))
    for event in feed.later:
        position = position._replace(seq=event.seq)
        yield _frame(position, event.type, TurnEventResponse.of(chat_id, turn, event))


def _frame(position: FeedPosition, kind: str, data: ResponseModel) -> str:
    return f"id: {position}\nevent: {kind}\ndata: {data.model_dump_json(by_alias=True)}\n\n"
