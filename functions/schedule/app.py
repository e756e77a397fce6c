"""EventBridge Scheduler says that a schedule is due."""

from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.clock import to_iso, utc_now
from cupel_core.messages import DueSchedule
from cupel_core.schedules.firing import fire

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    due = DueSchedule.model_validate(event)
    fired = fire(due, utc_now())
    told = {
        "scheduleId": due.schedule_id,
        "scheduledTime": to_iso(fired.scheduled_time) if fired else due.scheduled_time,
        "runId": fired.run_id if fired else None,
        "error": fired.error if fired else None,
    }
    logger.info("fired" if fired else "not fired", extra=told)
    return told
