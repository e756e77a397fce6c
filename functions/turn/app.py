from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.base import event_loop, sqs_batch
from cupel_core.base.messages import TurnOrder
from cupel_core.chats import worker
from cupel_core.runs.workflow_tasks import time_left

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Run the turns of the batch; a malformed or failed message is redelivered."""

    def run_turn(record: SQSRecord) -> None:
        order = TurnOrder.model_validate_json(record.body)
        result = event_loop.run(worker.work(order, time_left(context)))
        logger.info("turn", outcome=result, turn_id=order.turn_id)

    return sqs_batch.process(event, context, run_turn)
