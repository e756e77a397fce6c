"""The tasks of the finishing state machine: one function, told by `op` which phase it is."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, Field, TypeAdapter

from cupel_core import event_loop
from cupel_core.clock import utc_now
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.finishing import phases
from cupel_core.finishing.compare import compare
from cupel_core.finishing.summarize import summarize
from cupel_core.messages import Cause, RunMessage

logger = Logger()


class Settle(RunMessage):
    op: Literal["settle"]


class Summarize(RunMessage):
    op: Literal["summarize"]
    first_leaf: int
    leaves: int


class Complete(RunMessage):
    op: Literal["complete"]


class Fail(RunMessage):
    op: Literal["fail"]
    error: dict[Literal["settle", "summarize", "complete"], Cause]
    """By the phase that gave up."""


class Warm(BaseModel):
    """Loads what the others need; `cupel up` asks for it so that the first run does not wait."""

    op: Literal["warm"]


type Task = Annotated[Settle | Summarize | Complete | Fail | Warm, Field(discriminator="op")]
_task = TypeAdapter[Task](Task)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    task = _task.validate_python(event)
    result = _carry_out(task, lambda: context.get_remaining_time_in_millis() / 1_000)
    logger.info("finishing", **task.model_dump(), result=result)
    return result


def _carry_out(task: Task, seconds_left: Callable[[], float]) -> dict[str, Any]:
    match task:
        case Settle():
            settled = phases.settle(task.run, task.epoch, utc_now())
            slices = [{"firstLeaf": part.first_leaf, "leaves": part.leaves} for part in settled.slices]
            return {"status": settled.status, "slices": slices}
        case Summarize():
            part = LeafRange(task.first_leaf, task.leaves)
            event_loop.run(summarize(task.run, task.epoch, part, seconds_left))
            event_loop.run(compare(task.run, task.epoch, part, seconds_left))
            return {"firstLeaf": task.first_leaf}
        case Complete():
            return {"status": phases.complete(task.run, task.epoch, utc_now())}
        case Fail():
            where, cause = next(iter(task.error.items()))
            return {"status": phases.fail(task.run, task.epoch, where, cause.told, utc_now())}
        case Warm():
            return {}
