"""Provider queues and their dead letters."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from api.parameters import Cursor, Limit, ProviderFilter
from api.routing import OperationRouter
from cupel_core.base.paging import DEFAULT_LIMIT, MAX_LIMIT, slice_page
from cupel_core.contract.common import with_defaults
from cupel_core.contract.queues import (
    DeadLetterPage,
    DeadLetterResponse,
    PauseQueues,
    ProviderQueuePage,
    ProviderQueueResponse,
    RedriveDeadLetters,
    RedriveResultResponse,
    ResumeQueues,
)
from cupel_core.workspace.queues import dead_letters, status

router = OperationRouter()


@router.operation("listQueues")
def list_queues(
    provider: ProviderFilter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> ProviderQueuePage:
    return _queues(provider, limit, cursor)


@router.operation("pauseQueues")
def pause_queues(body: Annotated[PauseQueues, Body()] = with_defaults(PauseQueues)) -> ProviderQueuePage:
    status.pause(router.workspace, body.provider)
    return _queues(body.provider)


@router.operation("resumeQueues")
def resume_queues(body: Annotated[ResumeQueues, Body()] = with_defaults(ResumeQueues)) -> ProviderQueuePage:
    status.resume(router.workspace, body.provider)
    return _queues(body.provider)


@router.operation("listDeadLetters")
def list_dead_letters(
    provider: ProviderFilter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> DeadLetterPage:
    page = dead_letters.list_dead_letters(router.workspace, provider, limit, cursor)
    return DeadLetterPage(items=[DeadLetterResponse.of(letter) for letter in page.items], next_cursor=page.next_cursor)


@router.operation("redriveDeadLetters")
def redrive_dead_letters(
    body: Annotated[RedriveDeadLetters, Body()] = with_defaults(RedriveDeadLetters),
) -> RedriveResultResponse:
    return RedriveResultResponse.of(dead_letters.redrive(router.workspace, body.provider, body.message_ids))


def _queues(provider: str | None, limit: int = MAX_LIMIT, cursor: str | None = None) -> ProviderQueuePage:
    page = slice_page(status.list_queues(router.workspace, provider), limit, cursor)
    return ProviderQueuePage(
        items=[ProviderQueueResponse.of(each) for each in page.items], next_cursor=page.next_cursor
    )
