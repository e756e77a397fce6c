"""What is asked and told about the providers' queues and their dead letters."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import Answer, Request, Time
from cupel_core.contract.runs import HeldModelAnswer
from cupel_core.domain.runs.run import Priority
from cupel_core.queues.dead_letters import DeadLetter, Redriven
from cupel_core.queues.status import QueueStanding

Provider = Annotated[str | None, Field(description="Only this provider's; all when left out")]


class QueueRequest(Request):
    provider: Provider = None


class RedriveRequest(Request):
    provider: Provider = None
    message_ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]] | None,
        Field(min_length=1, max_length=200, description="Only these; all when left out"),
    ] = None


class QueueAnswer(Answer):
    """Counts are of messages, each a slice of up to 100 probes, of all workspaces of the stack, as SQS approximates."""

    provider: str
    waiting: int
    in_flight: int
    delayed: Annotated[int, Field(description="To come later, because the provider asked to wait or a model is held")]
    dead: int
    paused: Annotated[bool, Field(description="Whether this workspace has paused its work with the provider")]
    throttled_until: Time | None
    limit: Annotated[int | None, Field(description="Parallel requests; null until a worker has come")]
    learned_limit: Annotated[int | None, Field(description="What the provider bears at present, if less")]
    workers: int
    held_models: list[HeldModelAnswer]

    @classmethod
    def of(cls, standing: QueueStanding) -> "QueueAnswer":
        account = standing.account
        return cls(
            provider=standing.provider,
            waiting=standing.waiting,
            in_flight=standing.in_flight,
            delayed=standing.delayed,
            dead=standing.dead,
            paused=account.paused,
            throttled_until=account.blocked_until,
            limit=account.limit,
            learned_limit=account.learned_limit,
            workers=account.workers,
            held_models=[HeldModelAnswer.of(held) for held in account.held_models],
        )


class QueueList(Answer):
    items: list[QueueAnswer]
    next_cursor: str | None = None


class LetterAnswer(Answer):
    message_id: str
    provider: str
    priority: Priority
    received_count: Annotated[int, Field(description="How often it was received, looks at the dead letters included")]
    run_id: str
    indexes: Annotated[list[int], Field(description="The probes it names")]
    cause: str

    @classmethod
    def of(cls, letter: DeadLetter) -> "LetterAnswer":
        return cls(
            message_id=letter.delivery.id,
            provider=letter.lane.provider,
            priority=letter.lane.priority,
            received_count=letter.delivery.receive_count,
            run_id=letter.piece.run_id,
            indexes=letter.piece.indexes,
            cause=letter.cause,
        )


class LetterList(Answer):
    items: list[LetterAnswer]
    next_cursor: str | None = None


class RedrivenAnswer(Answer):
    """All letters that were asked for are gone from the dead letters."""

    sent: Annotated[int, Field(description="Letters whose probes had no outcome: they run again")]
    dropped: Annotated[int, Field(description="Letters with nothing left to do")]
    to_retry: Annotated[
        list[str], Field(description="Runs of which these letters' probes are errored: POST /runs/{id}/retry runs them")
    ]

    @classmethod
    def of(cls, redriven: Redriven) -> "RedrivenAnswer":
        return cls(sent=redriven.sent, dropped=redriven.dropped, to_retry=sorted(redriven.to_retry))
