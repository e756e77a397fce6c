"""Carries out jobs: comparisons, deep analyses and reports of runs. Each message is one job."""

from functools import partial
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.analysis import deep_analysis, jobs
from cupel_core.analysis.jobs import Computation
from cupel_core.analysis.reports import compute
from cupel_core.base import sqs_batch
from cupel_core.base.messages import JobRequest
from cupel_core.domain.analysis.jobs import JobKind
from cupel_core.runs.workflow_tasks import time_left

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Carry out the batch's jobs; a malformed or failed message is redelivered."""

    seconds_left = time_left(context)
    report = partial(compute.compute, seconds_left=seconds_left)
    deep = jobs.COMPUTATIONS[JobKind.DEEP_ANALYSIS]
    computations: jobs.Computations = {
        **jobs.COMPUTATIONS,
        JobKind.DEEP_ANALYSIS: deep._replace(compute=partial(deep_analysis.compute, seconds_left=seconds_left)),
        JobKind.REPORT: Computation(report, compute.fail, compute.STAGES),
    }

    def carry_out(record: SQSRecord) -> None:
        request = JobRequest.model_validate_json(record.body)
        outcome = jobs.run_job(request, seconds_left(), computations)
        logger.info("job", outcome=outcome, job_id=request.job_id)

    return sqs_batch.process(event, context, carry_out)
