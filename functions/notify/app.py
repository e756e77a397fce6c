from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.base import event_loop, sqs_batch
from cupel_core.base.messages import ProbeCallback, parse_callback
from cupel_core.workspace.webhooks import delivery

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Deliver the events and outcomes of the batch's messages; a malformed message is redelivered."""

    def deliver(record: SQSRecord) -> None:
        callback = parse_callback(record.body)
        if isinstance(callback, ProbeCallback):
            step = event_loop.run(delivery.deliver_probes(callback))
        else:
            step = event_loop.run(
                delivery.deliver_events(callback, lambda: context.get_remaining_time_in_millis() / 1_000)
            )
        logger.info("webhook", step=step, run_id=callback.run_id)

    return sqs_batch.process(event, context, deliver)
