"""Executes dispatch requests: sends the slices of a run to the queues of its providers."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.base import sqs_batch
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import DispatchRequest
from cupel_core.runs import dispatch

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Execute the batch's dispatch requests; a malformed or failed one is redelivered."""

    def execute(record: SQSRecord) -> None:
        request = DispatchRequest.model_validate_json(record.body)
        dispatch.execute(request, utc_now(), lambda: context.get_remaining_time_in_millis() / 1_000)
        logger.info("dispatched", run_id=request.run_id, fencing_token=request.fencing_token)

    return sqs_batch.process(event, context, execute)
