"""Defines messages on the queues, and the error that Step Functions passes to a failure handler.

A message only refers to work; the record of what is done is the barrier.
"""

from functools import cache
from typing import Annotated, NamedTuple

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from cupel_core.base.deferred_models import DeferredModel


class RunRef(NamedTuple):
    """Identifies a run and its workspace: every key of a run's items starts with both."""

    workspace: str
    run_id: str


class ChatRef(NamedTuple):
    workspace: str
    chat_id: str


class QueueMessage(DeferredModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    def to_body(self) -> str:
        return self.model_dump_json(by_alias=True)


class RunMessage(QueueMessage):
    """A message about one run is void once the run's fencing token has advanced."""

    workspace: str
    run_id: str
    fencing_token: Annotated[int, Field(ge=1)]

    @property
    def run(self) -> RunRef:
        return RunRef(self.workspace, self.run_id)


class Cause(DeferredModel):
    """Describes the error of a failed state, as Step Functions reports it."""

    model_config = ConfigDict(frozen=True, alias_generator=str.capitalize)

    error: str
    cause: str = ""

    def describe(self) -> str:
        """Return error and cause, cut to 1,000 characters so that they fit an item and an event."""
        return f"{self.error}: {self.cause}"[:1_000]


class DispatchRequest(RunMessage):
    """Requests slices for the probes that the run's barrier is missing."""

    attempts_without_room: Annotated[int, Field(ge=0)] = 0
    """Counts consecutive attempts in which no queue had room for a slice."""


class ProbeSlice(RunMessage):
    """Requests up to 100 probes of one leaf and one provider."""

    leaf: Annotated[int, Field(ge=0)]
    indexes: Annotated[list[int], Field(min_length=1, max_length=100)]
    handoffs: int = 0
    """The probes were requeued this often because a provider asked for a longer wait than an invocation can take."""
    failures: int = 0
    begun: list[int] = Field(default_factory=list)


class GenerationRequest(QueueMessage):
    workspace: str
    definition_id: str
    generation_id: str


class JobRequest(QueueMessage):
    workspace: str
    job_id: str


class TurnOrder(QueueMessage):
    workspace: str
    chat_id: str
    turn_id: str
    waits: Annotated[int, Field(ge=0)] = 0
    """Counts how many consecutive times the turn was postponed because its workspace has enough turns in
    progress."""


class RunCallback(QueueMessage):
    """Requests a call of the workspace's webhook with the run's events that it has not received yet."""

    workspace: str
    run_id: str

    @property
    def run(self) -> RunRef:
        return RunRef(self.workspace, self.run_id)


class ProbeCallback(RunCallback):
    """Requests a call of the workspace's webhook with the outcomes of these probes. `id` identifies the call in all its
    attempts."""

    id: str
    indexes: Annotated[list[int], Field(min_length=1, max_length=100)]
    created_at: str
    attempts: Annotated[int, Field(ge=0)] = 0


@cache
def _callbacks() -> TypeAdapter[ProbeCallback | RunCallback]:
    return TypeAdapter(ProbeCallback | RunCallback)


def parse_callback(body: str) -> ProbeCallback | RunCallback:
    """Raises ValidationError for any other message."""
    return _callbacks().validate_json(body)


class DueSchedule(QueueMessage):
    """A schedule is due; `scheduled_time` is when it was due, however late the message is delivered."""

    workspace: str
    schedule_id: str
    scheduled_time: str
