"""What is asked and told about whole probes."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from api.routes.transcripts import MessageAnswer
from cupel_core.contract.common import Answer, Request
from cupel_core.contract.runs import ProbeAnswer
from cupel_core.domain.runs.transcripts import Result
from cupel_core.runs.probes import ProbeView


class Order(StrEnum):
    OLDEST = "oldest"
    NEWEST = "newest"


class WholeProbeAnswer(ProbeAnswer):
    eval_id: str | None
    execution_id: Annotated[int | None, Field(description="Which start of an eval in this workspace")]
    messages: Annotated[list[MessageAnswer], Field(description="With the system prompt; as far as they are known")]
    output: Annotated[dict[str, Any] | None, Field(description="What an agent answered beside its words")]

    @classmethod
    def of(cls, view: ProbeView) -> "WholeProbeAnswer":
        held = view.held
        said = held.messages if held else ()
        return cls(
            **cls.fields_of(view),
            eval_id=view.run.eval_id,
            execution_id=view.run.execution_id,
            messages=[MessageAnswer(role=message.role, content=message.content) for message in said],
            output=dict(held.output) if held and held.output else None,
        )


class WholeProbeList(Answer):
    items: list[WholeProbeAnswer]
    next_cursor: str | None


class ResultBody(Request):
    success: Annotated[bool, Field(strict=True)]
    score: Annotated[float | None, Field(ge=0, le=1)] = None
    reason: Annotated[str | None, Field(max_length=5_000)] = None


class CorrectionRequest(Request):
    """A person's result instead of the judges'; null takes it back."""

    result: ResultBody | None

    def correction(self) -> Result | None:
        if self.result is None:
            return None
        return Result(self.result.success, self.result.score, self.result.reason)
