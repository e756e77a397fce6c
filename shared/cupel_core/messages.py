"""What travels on the queues, and what state machines tell.

A message names work, never carries its record: the barrier is the record.
"""

from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class RunRef(NamedTuple):
    """Which run, and whose: every key of a run's items starts with both."""

    workspace: str
    run_id: str


class Message(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    def to_body(self) -> str:
        return self.model_dump_json(by_alias=True)


class RunMessage(Message):
    """Of one run, for one of its epochs."""

    workspace: str
    run_id: str
    epoch: Annotated[int, Field(ge=1)]

    @property
    def run(self) -> RunRef:
        return RunRef(self.workspace, self.run_id)


class Cause(BaseModel):
    """What Step Functions says of a failed state."""

    model_config = ConfigDict(frozen=True, alias_generator=str.capitalize, defer_build=True)

    error: str
    cause: str = ""

    @property
    def told(self) -> str:
        """Short enough for an item and an event."""
        return f"{self.error}: {self.cause}"[:1_000]


class DispatchOrder(RunMessage):
    """Fan out what the barrier of this run and epoch says is missing."""

    looks: Annotated[int, Field(ge=0)] = 0
    """How often no queue had room since something was sent."""


class ProbeSlice(RunMessage):
    """Some probes of one leaf and one provider."""

    leaf: Annotated[int, Field(ge=0)]
    indexes: Annotated[list[int], Field(min_length=1, max_length=100)]
    handoffs: int = 0
    """How often these probes were handed on after a provider asked to wait longer than an invocation may."""


class GenerationOrder(Message):
    """Continue writing the scenarios of one generation."""

    workspace: str
    definition_id: str
    generation_id: str


class DueSchedule(Message):
    """A schedule fires; `scheduled_time` is when it was due, however late this comes."""

    workspace: str
    schedule_id: str
    scheduled_time: str
