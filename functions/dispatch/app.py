"""Dispatch queue → slices on the providers' queues."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from shared.clock import utc_now
from shared.messages import DispatchOrder
from shared.runs import dispatch

logger = Logger()
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


def record(message: SQSRecord, lambda_context: LambdaContext) -> None:
    order = DispatchOrder.model_validate_json(message.body)
    dispatch.carry_out(order, utc_now(), lambda: lambda_context.get_remaining_time_in_millis() / 1_000)
    logger.info("dispatched", run_id=order.run_id, epoch=order.epoch)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    return process_partial_response(event, record, processor, context)
