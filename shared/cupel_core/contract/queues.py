"""Provider queues and their dead letters."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.runs import SuspendedModelResponse
from cupel_core.domain.runs.dead_letters import RedriveResult
from cupel_core.domain.runs.run import Priority

ProviderName = Annotated[str | None, Field(description="Limit to this provider; all providers if omitted")]


class PauseQueues(RequestModel):
    model_config = example({"provider": "openai"})

    provider: ProviderName = None


class ResumeQueues(PauseQueues):
    pass


class RedriveDeadLetters(RequestModel):
    model_config = example({"provider": "openai", "messageIds": ["5f0c6c0e-3d5b-4f0e-9d0a-0f5f6f7b8c9d"]})

    provider: ProviderName = None
    message_ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]] | None, Field(min_length=1, max_length=200)
    ] = None
    """Ids of the messages; all if omitted."""


class ProviderQueueResponse(ResponseModel):
    """This workspace's work with one provider."""

    provider: str
    pending: int
    """Probes without an outcome, in the oldest 50 of the runs that have not ended nor are paused. Example: 120"""
    granted: Annotated[int, read_from("account.granted")]
    """Parallel requests that the workers may make together. Example: 8"""
    dead_letters: int
    """Messages that failed too often, whose probes are recorded as errored; at most 10,000. Example: 0"""
    paused: Annotated[bool, read_from("account.paused")]
    """True if this workspace has paused its work with the provider. Example: false"""
    throttled_until: Annotated[Time | None, read_from("account.blocked_until")]
    """Time at which the provider accepts calls again; null if it does now. Example: 2026-11-20T10:00:00Z"""
    limit: Annotated[int | None, read_from("account.limit")]
    """Maximum parallel requests; null until a worker has reported. Example: 20"""
    learned_limit: Annotated[int | None, read_from("account.learned_limit")]
    """Lower limit that the provider currently sustains, if it is below `limit`. Example: 8"""
    workers: Annotated[int, read_from("account.workers")]
    """Workers that share the provider's limits now. Example: 2"""
    suspended_models: Annotated[list[SuspendedModelResponse], read_from("account.suspended_models")]
    """Models that are not called for now, because their calls keep failing."""


class ProviderQueuePage(ResponseModel):
    items: list[ProviderQueueResponse]
    next_cursor: str | None


class DeadLetterResponse(ResponseModel):
    message_id: str
    """Id of the queue message. Example: 5f0c6c0e-3d5b-4f0e-9d0a-0f5f6f7b8c9d"""
    provider: str
    priority: Priority
    received_count: Annotated[int, read_from("receive_count")]
    """Number of times it was received. Example: 5"""
    run_id: str
    indexes: list[int]
    """Indexes of the probes it contains. Example: [0, 1, 2]"""
    cause: str
    """Cause of the failure. Example: ValidationError: indexes is missing"""


class DeadLetterPage(ResponseModel):
    items: list[DeadLetterResponse]
    next_cursor: str | None


class RedriveResultResponse(ResponseModel):
    """All requested messages have been removed from the dead-letter queue."""

    sent: int
    """Messages sent again because their probes had no outcome. Example: 2"""
    dropped: int
    """Messages discarded because nothing was left to do. Example: 0"""
    runs_to_retry: list[str]
    """Ids of runs with errored probes from these messages; retry them with POST /runs/{id}/retry.

    Example: ["run_01k1f0aa"]
    """
    unknown_message_ids: list[str]
    """Requested `messageIds` that no dead letter has; they change nothing. Example: []"""

    @classmethod
    def of(cls, result: RedriveResult) -> "RedriveResultResponse":
        return cls.from_value(
            result,
            runs_to_retry=sorted(result.runs_to_retry),
            unknown_message_ids=sorted(result.unknown_message_ids),
        )
