"""The tasks of the scoring state machine: one function, told by `op` which phase it is."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, Field, TypeAdapter

from cupel_core import event_loop
from cupel_core.clock import utc_now
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.messages import Cause, Message, RunRef
from cupel_core.rescoring import phases
from cupel_core.rescoring.slices import score_slice

logger = Logger()


class ScoringMessage(Message):
    """Of one scoring of a run."""

    workspace: str
    run_id: str
    scoring_id: str

    @property
    def run(self) -> RunRef:
        return RunRef(self.workspace, self.run_id)


class Begin(ScoringMessage):
    op: Literal["begin"]


class Score(ScoringMessage):
    op: Literal["score"]
    first_leaf: int
    leaves: int


class Complete(ScoringMessage):
    op: Literal["complete"]


class Fail(ScoringMessage):
    op: Literal["fail"]
    error: dict[Literal["begin", "score", "complete"], Cause]
    """By the phase that gave up."""


class Warm(BaseModel):
    """Loads what the others need; `cupel up` asks for it so that the first scoring does not wait."""

    op: Literal["warm"]


type Task = Annotated[Begin | Score | Complete | Fail | Warm, Field(discriminator="op")]
_task = TypeAdapter[Task](Task)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    task = _task.validate_python(event)
    result = _carry_out(task, lambda: context.get_remaining_time_in_millis() / 1_000)
    logger.info("scoring", **task.model_dump(), result=result)
    return result


def _carry_out(task: Task, seconds_left: Callable[[], float]) -> dict[str, Any]:
    match task:
        case Begin():
            begun = phases.begin(task.run, task.scoring_id)
            slices = [{"firstLeaf": part.first_leaf, "leaves": part.leaves} for part in begun.slices]
            return {"status": begun.status, "slices": slices}
        case Score():
            part = LeafRange(task.first_leaf, task.leaves)
            event_loop.run(score_slice(task.run, task.scoring_id, part, seconds_left))
            return {"firstLeaf": task.first_leaf}
        case Complete():
            return {"status": phases.complete(task.run, task.scoring_id, utc_now())}
        case Fail():
            where, cause = next(iter(task.error.items()))
            return {"status": phases.fail(task.run, task.scoring_id, where, cause.told, utc_now())}
        case Warm():
            return {}
