"""Turns of chats: started, read, followed and aborted."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Header, Query
from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse

from api.pages import bounded_page, bounded_record
from api.parameters import Cursor, Limit
from api.rendering import CONTENT_TYPE, Rendered, documented
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
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
from cupel_core.domain.chats.drafts import POSITION_PATTERN, TEXT_PATTERN, Feed, FeedPosition, TextPosition
from cupel_core.domain.chats.turns import ChatTurn, TurnStatus
from cupel_core.domain.limits.waiting import RETRY_AFTER_SECONDS
from cupel_core.interfaces.operations import OPERATIONS
from cupel_core.workspace.access.waiting import may_wait

router = OperationRouter()

_MAX_SEQ = 99_999_998
_MAX_WAIT_SECONDS = 20
_CHECK_SECONDS = 0.3
_RECONNECT_MS = 250
_STREAM = "text/event-stream"
_DELTA = "main_llm.delta"
_RESPONSES: dict[int, OpenAPIResponse] = {
    200: {
        "description": OPERATIONS["listTurnEvents"].response,
        "content": {"application/json": {"model": TurnEventList}, _STREAM: {"schema": {"type": "string"}}},
    },
    204: {"description": "Stream only: the turn is over and every event has been read"},
}


@router.operation(
    "startTurn",
    responses=documented(200, "The turn that the same request has started before", TurnResponse)
    | documented(201, OPERATIONS["startTurn"].response, TurnResponse),
)
def start_turn(chat_id: str, body: Annotated[StartTurn, Body()]) -> Response[TurnResponse]:
    request = TurnRequest(
        body.trigger,
        body.content,
        body.branch_id,
        body.profile_id,
        body.has_profile,
        body.client_request_id,
        body.deadline_ms,
        router.caller.token_id,
        body.model,
    )
    accepted = turns.start(router.workspace, chat_id, request, utc_now())
    status = HTTPStatus.CREATED if accepted.is_new else HTTPStatus.OK
    return Response(status, CONTENT_TYPE, TurnResponse.of_turn(chat_id, accepted.turn))


@router.operation("listTurns")
def list_turns(
    chat_id: str,
    branch_id: Annotated[str | None, Query(alias="branchId", description="Return only turns of this branch")] = None,
    status: Annotated[TurnStatus | None, Query(description="Return only turns with this status")] = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[TurnPage]:
    listed = turns.list_turns(router.workspace, chat_id, branch_id, status, limit, cursor)
    return bounded_page(TurnPage, listed.entries(), limit, partial(TurnSummaryResponse.of, chat_id))


@router.operation("getTurn")
def get_turn(chat_id: str, turn_id: str) -> Rendered[TurnResponse]:
    return bounded_record(TurnResponse.of_turn(chat_id, turns.get(router.workspace, chat_id, turn_id)))


@router.operation("getTurnPrompt")
def get_turn_prompt(chat_id: str, turn_id: str) -> Rendered[TurnPromptResponse]:
    return bounded_record(TurnPromptResponse.of(turns.get_prompt(router.workspace, chat_id, turn_id)))


@router.operation("abortTurn")
def abort_turn(chat_id: str, turn_id: str) -> Rendered[TurnResponse]:
    return bounded_record(TurnResponse.of_turn(chat_id, turns.abort(router.workspace, chat_id, turn_id, utc_now())))


@router.operation("listTurnEvents", responses=_RESPONSES)
def list_turn_events(
    chat_id: str,
    turn_id: str,
    after: Annotated[int, Query(ge=0, le=_MAX_SEQ, description="Return only events with a higher `seq`")] = 0,
    text: Annotated[
        str,
        Query(
            pattern=TEXT_PATTERN,
            description="Return only text after this: `<attempt>.<offset>`, where the text ends that was received",
        ),
    ] = "0.0",
    wait: Annotated[
        int,
        Query(
            ge=0,
            le=_MAX_WAIT_SECONDS,
            description="Seconds to wait for an event or text if there is none; 0 by default. If too many requests of"
            " the token, workspace or stack wait already, it does not wait, and `Retry-After` says when to ask again",
        ),
    ] = 0,
    last_event_id: Annotated[
        str | None,
        Header(
            alias="Last-Event-ID",
            pattern=POSITION_PATTERN,
            description="The id of the last event of a stream; takes precedence over `after` and `text`",
        ),
    ] = None,
) -> Response[Any]:
    position = FeedPosition(after, TextPosition.parse(text))
    if last_event_id is not None:
        position = FeedPosition.parse(last_event_id)
    (turn, feed), has_waited = _waited(lambda: turns.poll(router.workspace, chat_id, turn_id, position), wait)
    headers = {} if has_waited else {"Retry-After": str(RETRY_AFTER_SECONDS)}
    if _STREAM not in router.current_event.headers.get("accept", ""):
        return Response(200, "application/json", TurnEventList.of(chat_id, turn, feed), headers=headers)
    if turn.status.is_over and feed.is_empty:
        return Response(204)
    retry_ms = _RECONNECT_MS if has_waited else RETRY_AFTER_SECONDS * 1_000
    frames = "".join(_frames(chat_id, turn, feed, position))
    return Response(200, _STREAM, f"retry: {retry_ms}\n\n{frames}", headers=headers)


class _Waited(NamedTuple):
    found: TurnFeed
    has_waited: bool
    """False if it should have waited, but too many requests wait already."""


def _waited(poll: Callable[[], TurnFeed], seconds: int) -> _Waited:
    """The first poll with an event or text, or with the end of the turn, within so many seconds."""
    found = poll()
    if not seconds or _has_news(found):
        return _Waited(found, has_waited=True)
    with may_wait(router.caller, seconds) as is_permitted:
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
        yield _frame(position, _DELTA, TurnTextResponse.of(feed.delta))
    for event in feed.later:
        position = position._replace(seq=event.seq)
        yield _frame(position, event.type, TurnEventResponse.of(chat_id, turn, event))


def _frame(position: FeedPosition, kind: str, data: ResponseModel) -> str:
    return f"id: {position}\nevent: {kind}\ndata: {data.model_dump_json(by_alias=True)}\n\n"
