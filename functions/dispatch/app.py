"""Dispatch queue → slices on the providers' queues."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core import sqs_batch
from cupel_core.clock import utc_now
from cupel_core.messages import DispatchOrder
from cupel_core.runs import dispatch

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    def carry_out(record: SQSRecord) -> None:
        order = DispatchOrder.model_validate_json(record.body)
        dispatch.carry_out(order, utc_now(), lambda: context.get_remaining_time_in_millis() / 1_000)
        logger.info("dispatched", run_id=order.run_id, epoch=order.epoch)

    return sqs_batch.process(event, context, carry_out)
