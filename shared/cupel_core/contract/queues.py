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
        list[Annotated[str, Field(min_length=1, max_length=100)]] | None,
        Field(min_length=1, max_length=200, description="Only these messages; all if omitted"),
    ] = None


class ProviderQueueResponse(ResponseModel):
    """This workspace's work with one provider."""

    provider: str
    pending: Annotated[
        int,
        Field(description="Probes without an outcome, in the oldest 50 of the runs that have not ended nor are paused"),
    ]
    granted: Annotated[
        int, Field(description="Parallel requests that the workers may make together"), read_from("account.granted")
    ]
    dead_letters: Annotated[
        int, Field(description="Messages that failed too often, whose probes are recorded as errored; at most 10,000")
    ]
    paused: Annotated[
        bool,
        Field(description="Whether this workspace has paused its work with the provider"),
        read_from("account.paused"),
    ]
    throttled_until: Annotated[Time | None, read_from("account.blocked_until")]
    limit: Annotated[
        int | None,
        Field(description="Maximum parallel requests; null until a worker has reported"),
        read_from("account.limit"),
    ]
    learned_limit: Annotated[
        int | None,
        Field(description="Lower limit that the provider currently sustains, if it is below `limit`"),
        read_from("account.learned_limit"),
    ]
    workers: Annotated[int, read_from("account.workers")]
    suspended_models: Annotated[list[SuspendedModelResponse], read_from("account.suspended_models")]


class ProviderQueuePage(ResponseModel):
    items: list[ProviderQueueResponse]
    next_cursor: str | None


class DeadLetterResponse(ResponseModel):
    message_id: str
    provider: str
    priority: Priority
    received_count: Annotated[int, Field(description="Number of times it was received"), read_from("receive_count")]
    run_id: str
    indexes: Annotated[list[int], Field(description="Indexes of the probes it contains")]
    cause: str


class DeadLetterPage(ResponseModel):
    items: list[DeadLetterResponse]
    next_cursor: str | None


class RedriveResultResponse(ResponseModel):
    """All requested messages have been removed from the dead-letter queue."""

    sent: Annotated[int, Field(description="Messages sent again because their probes had no outcome")]
    dropped: Annotated[int, Field(description="Messages discarded because nothing was left to do")]
    runs_to_retry: Annotated[
        list[str],
        Field(description="Ids of runs with errored probes from these messages; retry them with POST /runs/{id}/retry"),
    ]
    unknown_message_ids: Annotated[
        list[str], Field(description="Those of the requested `messageIds` that no dead letter has; they change nothing")
    ]

    @classmethod
    def of(cls, result: RedriveResult) -> "RedriveResultResponse":
        return cls.from_value(
            result,
            runs_to_retry=sorted(result.runs_to_retry),
            unknown_message_ids=sorted(result.unknown_message_ids),
        )
