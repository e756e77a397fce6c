from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.base.clock import to_iso, utc_now
from cupel_core.base.messages import DueSchedule
from cupel_core.runs.schedules.schedules import fire

logger = Logger()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the firing; `runId` and `error` are both None if the schedule was deleted or disabled."""
    due = DueSchedule.model_validate(event)
    firing = fire(due, utc_now())
    result = {
        "scheduleId": due.schedule_id,
        "scheduledTime": to_iso(firing.scheduled_time) if firing else due.scheduled_time,
        "runId": firing.run_id if firing else None,
        "error": firing.error if firing else None,
    }
    logger.info("fired" if firing else "not fired", extra=result)
    return result
