from cupel_core.base.paging import DEFAULT_LIMIT, MAX_LIMIT, slice_page
from cupel_core.contract.common import with_defaults
from cupel_core.contract.operation import MEMBER, VIEWER, AsTool, Call, Listed, ToolGroup, operation
from cupel_core.contract.query import Cursor, Limit, ProviderFilter
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


@operation(
    "GET /v1/queue",
    "List the provider queues with their depth and limits",
    role=VIEWER,
    returns="The queues, one item for each provider",
    tool=AsTool(
        ToolGroup.READ,
        "provider pending deadLetters paused throttledUntil workers suspendedModels",
        name="get_queue_status",
        has_untrusted_texts=True,
    ),
)
def list_queues(
    call: Call, provider: ProviderFilter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[ProviderQueuePage]:
    return _queues(call, provider, limit, cursor)


@operation(
    "POST /v1/queue/pause",
    "Pause the queue of one provider, or all queues",
    role=MEMBER,
    returns="The queues that were paused",
    is_repeatable=True,
)
def pause_queues(call: Call, body: PauseQueues = with_defaults(PauseQueues)) -> Listed[ProviderQueuePage]:
    """Pauses the work of this workspace only: no new probe starts, and those in progress complete."""
    status.pause(call.workspace, body.provider)
    return _queues(call, body.provider)


@operation(
    "POST /v1/queue/resume",
    "Resume the queue of one provider, or all queues",
    role=MEMBER,
    returns="The queues that were resumed",
    is_repeatable=True,
    tool=AsTool(ToolGroup.ADMIN, "provider paused", name="resume_queue", max_kb=2, calls_models=True),
)
def resume_queues(call: Call, body: ResumeQueues = with_defaults(ResumeQueues)) -> Listed[ProviderQueuePage]:
    status.resume(call.workspace, body.provider)
    return _queues(call, body.provider)


@operation(
    "GET /v1/queue/dead-letters",
    "List dead letters: messages that failed too often, whose probes are recorded as errored",
    role=VIEWER,
    returns="The dead letters of this workspace",
    tool=AsTool(ToolGroup.READ, "messageId provider runId indexes cause", has_untrusted_texts=True),
)
def list_dead_letters(
    call: Call, provider: ProviderFilter = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> Listed[DeadLetterPage]:
    page = dead_letters.list_dead_letters(call.workspace, provider, limit, cursor)
    return Listed(page, DeadLetterResponse.from_value)


@operation(
    "POST /v1/queue/dead-letters/redrive",
    "Redrive dead letters whose probes still have to run",
    role=MEMBER,
    returns="How many dead letters were sent again or discarded",
    tool=AsTool(ToolGroup.ADMIN, max_kb=2, calls_models=True),
)
def redrive_dead_letters(
    call: Call,
    body: RedriveDeadLetters = with_defaults(RedriveDeadLetters),
) -> RedriveResultResponse:
    return RedriveResultResponse.of(dead_letters.redrive(call.workspace, body.provider, body.message_ids))


def _queues(
    call: Call, provider: str | None, limit: int = MAX_LIMIT, cursor: str | None = None
) -> Listed[ProviderQueuePage]:
    page = slice_page(status.list_queues(call.workspace, provider), limit, cursor)
    return Listed(page, ProviderQueueResponse.from_value)
