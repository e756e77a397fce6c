"""Carries out the tasks of the rescoring state machine: one function for all phases, selected by `op`."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import Field, TypeAdapter

from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import Cause, QueueMessage, RunRef
from cupel_core.domain.scoring.rescores import RescoreStatus
from cupel_core.runs.rescoring import phases
from cupel_core.runs.rescoring.comparisons import compare_range
from cupel_core.runs.rescoring.slices import rescore_slice
from cupel_core.runs.workflow_tasks import (
    LeafRangeFields,
    LeftFields,
    WarmUp,
    leaf_range_items,
    leaf_ranges_output,
    phase_failure,
    slice_output,
    spent_metric,
    time_left,
)

logger = Logger()


class RescoreMessage(QueueMessage):
    workspace: str
    run_id: str
    rescore_id: str

    @property
    def run(self) -> RunRef:
        return RunRef(self.workspace, self.run_id)


class Begin(RescoreMessage):
    op: Literal["begin"]


class Score(RescoreMessage, LeafRangeFields):
    op: Literal["score"]


class Compare(RescoreMessage, LeafRangeFields, LeftFields):
    op: Literal["compare"]


class CompleteRescore(RescoreMessage, LeftFields):
    op: Literal["complete"]


class FailRescore(RescoreMessage):
    op: Literal["fail"]
    error: dict[Literal["begin", "score", "compare", "complete"], Cause]


type RescoreTask = Annotated[
    Begin | Score | Compare | CompleteRescore | FailRescore | WarmUp, Field(discriminator="op")
]
_task = TypeAdapter[RescoreTask](RescoreTask)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Carry out one task; Step Functions retries it if it raises."""
    task = _task.validate_python(event)
    result = _carry_out(task, time_left(context))
    logger.info("rescore", **task.model_dump(), result=result)
    return result


def _carry_out(task: RescoreTask, seconds_left: Callable[[], float]) -> dict[str, Any]:
    match task:
        case Begin():
            begun = phases.begin(task.run, task.rescore_id)
            return {
                **leaf_ranges_output(begun.status, begun.slices),
                "comparisons": leaf_range_items(begun.comparisons),
            }
        case Score():
            part = (task.run, task.rescore_id, task.leaf_range, seconds_left)
            with spent_metric() as add_spend:
                progress = event_loop.run(rescore_slice(*part, on_spend=add_spend))
            return slice_output(task, progress)
        case Compare(is_continued=True):
            return {}
        case Compare():
            return {"compared": event_loop.run(compare_range(task.run, task.rescore_id, task.leaf_range))}
        case CompleteRescore(is_continued=True):
            return {"status": RescoreStatus.RUNNING}
        case CompleteRescore():
            return {"status": phases.complete(task.run, task.rescore_id, utc_now())}
        case FailRescore():
            where, why = phase_failure(task.error)
            return {"status": phases.fail(task.run, task.rescore_id, where, why, utc_now())}
        case WarmUp():
            return {}
