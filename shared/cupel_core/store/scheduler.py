"""What EventBridge Scheduler is told of schedules. One name each, so telling twice changes nothing."""

from typing import TYPE_CHECKING

from cupel_core.domain.runs.schedules import Schedule
from cupel_core.errors import Invalid
from cupel_core.messages import DueSchedule
from cupel_core.settings import settings
from cupel_core.store.clients import scheduler

if TYPE_CHECKING:
    from mypy_boto3_scheduler.type_defs import CreateScheduleInputTypeDef

SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"
"""EventBridge puts the time in its place; the embedded cloud leaves it as it is."""
_OLDEST_SECONDS = 3_600
"""How late a firing may be delivered: well within the time that its Idempotency-Key is remembered."""


def put(schedule: Schedule) -> None:
    """Creates or replaces; Invalid for what EventBridge does not take."""
    client, wanted = scheduler(), _wanted(schedule)
    try:
        try:
            client.create_schedule(**wanted)
        except client.exceptions.ConflictException:
            client.update_schedule(**wanted)
    except client.exceptions.ValidationException as error:
        raise Invalid.field("expression", f"EventBridge Scheduler refuses it: {error}") from error


def remove(schedule_id: str) -> None:
    """Also when it was removed before, or removed itself after its single time."""
    client = scheduler()
    try:
        client.delete_schedule(GroupName=settings().stack_name, Name=schedule_id)
    except client.exceptions.ResourceNotFoundException:
        return


def _wanted(schedule: Schedule) -> "CreateScheduleInputTypeDef":
    due = DueSchedule(workspace=schedule.workspace, schedule_id=schedule.id, scheduled_time=SCHEDULED_TIME)
    return {
        "GroupName": settings().stack_name,
        "Name": schedule.id,
        "ScheduleExpression": schedule.timing.installed_expression,
        "ScheduleExpressionTimezone": schedule.timing.installed_timezone,
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "State": "ENABLED" if schedule.enabled else "DISABLED",
        "ActionAfterCompletion": "DELETE" if schedule.timing.at else "NONE",
        "Target": {
            "Arn": settings().schedule_function_arn,
            "RoleArn": settings().schedule_role_arn,
            "Input": due.to_body(),
            "DeadLetterConfig": {"Arn": settings().schedule_dead_letters_arn},
            "RetryPolicy": {"MaximumEventAgeInSeconds": _OLDEST_SECONDS, "MaximumRetryAttempts": 60},
        },
    }
