"""Carries out the tasks of the finishing state machine: one function for all phases, selected by `op`."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import Field, TypeAdapter

from cupel_core.analysis import workflow
from cupel_core.analysis.experiments import compare_finished
from cupel_core.analysis.reports.requests import request_if_wanted
from cupel_core.analysis.workflow import AnalysisFailure
from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import Cause, RunMessage
from cupel_core.budgets.slice_graders import OnSpend
from cupel_core.domain.analysis.records import AnalysisStatus
from cupel_core.domain.runs.leaf_ranges import SliceProgress
from cupel_core.domain.runs.run import RunStatus
from cupel_core.runs.finishing import phases
from cupel_core.runs.finishing.compare import compare_slice
from cupel_core.runs.finishing.phases import record_costs, summarize_slice
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


class Settle(RunMessage):
    op: Literal["settle"]


class Summarize(RunMessage, LeafRangeFields):
    op: Literal["summarize"]


class Tabulate(RunMessage, LeafRangeFields, LeftFields):
    op: Literal["tabulate"]


class Analyze(RunMessage, LeftFields):
    op: Literal["analyze"]


class SkipAnalysis(RunMessage):
    op: Literal["skip_analysis"]
    error: dict[Literal["tabulate", "analyze"], Cause]


class Complete(RunMessage, LeftFields):
    op: Literal["complete"]


class Fail(RunMessage):
    op: Literal["fail"]
    error: dict[Literal["settle", "summarize", "complete"], Cause]


type FinishTask = Annotated[
    Settle | Summarize | Tabulate | Analyze | SkipAnalysis | Complete | Fail | WarmUp, Field(discriminator="op")
]
_task = TypeAdapter[FinishTask](FinishTask)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Carry out one task; Step Functions retries it if it raises."""
    task = _task.validate_python(event)
    result = _carry_out(task, time_left(context))
    logger.info("finishing", **task.model_dump(), result=result)
    return result


def _carry_out(task: FinishTask, seconds_left: Callable[[], float]) -> dict[str, Any]:
    match task:
        case Settle():
            settled = phases.settle(task.run, task.fencing_token, utc_now())
            files = workflow.file_slices(settled.total)
            return {**leaf_ranges_output(settled.status, settled.slices), "files": leaf_range_items(files)}
        case Summarize():
            with spent_metric() as add_spend:
                progress = event_loop.run(_finish_slice(task, seconds_left, add_spend))
            record_costs(task.run, task.fencing_token, task.leaf_range)
            return slice_output(task, progress)
        case Tabulate() | Analyze() | SkipAnalysis():
            return _analyze(task)
        case Complete(is_continued=True):
            return {"status": RunStatus.SUMMARIZING}
        case Complete():
            status = phases.complete(task.run, task.fencing_token, utc_now())
            compare_finished(task.run, utc_now())
            request_if_wanted(task.run, utc_now())
            return {"status": status}
        case Fail():
            where, why = phase_failure(task.error)
            return {"status": phases.fail(task.run, task.fencing_token, where, why, utc_now())}
        case WarmUp():
            return {}


def _analyze(task: Tabulate | Analyze | SkipAnalysis) -> dict[str, Any]:
    """Analyze the run. Nothing is counted while a later execution has transcripts to summarize."""
    match task:
        case SkipAnalysis():
            failure = AnalysisFailure(*phase_failure(task.error))
            workflow.record_failure(task.run, task.fencing_token, failure, utc_now())
            return {"analysis": AnalysisStatus.FAILED}
        case _ if task.is_continued:
            return {}
        case Tabulate():
            workflow.tabulate_slice(task.run, task.fencing_token, task.leaf_range)
            return {"firstLeaf": task.first_leaf}
        case Analyze():
            return {"analysis": workflow.analyze(task.run, task.fencing_token, utc_now())}


async def _finish_slice(task: Summarize, seconds_left: Callable[[], float], on_spend: OnSpend) -> SliceProgress:
    """Summarize a slice. Answers are compared once all of the slice's transcripts have their summaries."""
    part = (task.run, task.fencing_token, task.leaf_range, seconds_left)
    summarized = await summarize_slice(*part, on_spend=on_spend)
    if summarized.left:
        return summarized
    return summarized.plus(await compare_slice(*part, on_spend=on_spend))
