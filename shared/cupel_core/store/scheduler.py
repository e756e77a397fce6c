"""Schedules in EventBridge Scheduler. Each has one name there, so writing it twice changes nothing."""

from typing import TYPE_CHECKING

from cupel_core.base.errors import Invalid
from cupel_core.base.messages import DueSchedule
from cupel_core.domain.runs.schedules import Schedule
from cupel_core.store.clients import scheduler
from cupel_core.store.settings import settings

if TYPE_CHECKING:
    from mypy_boto3_scheduler.type_defs import CreateScheduleInputTypeDef

SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"
"""EventBridge replaces this with the time; the embedded cloud leaves it as it is."""
_MAX_EVENT_AGE_SECONDS = 3_600
"""A firing may be delivered this late. It is well within the retention of its Idempotency-Key."""


def install(schedule: Schedule) -> None:
    """Create or replace a schedule. Raise Invalid (field `expression`) if EventBridge refuses it."""
    client, request = scheduler(), _request(schedule)
    try:
        try:
            client.create_schedule(**request)
        except client.exceptions.ConflictException:
            client.update_schedule(**request)
    except client.exceptions.ValidationException as error:
        raise Invalid.field("expression", f"was refused by EventBridge Scheduler: {error}") from error


def remove(schedule_id: str) -> None:
    """Remove a schedule, unless it was removed before or removed itself after its single firing."""
    client = scheduler()
    try:
        client.delete_schedule(GroupName=settings().stack_name, Name=schedule_id)
    except client.exceptions.ResourceNotFoundException:
        return


def _request(schedule: Schedule) -> "CreateScheduleInputTypeDef":
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
            "RetryPolicy": {"MaximumEventAgeInSeconds": _MAX_EVENT_AGE_SECONDS, "MaximumRetryAttempts": 60},
        },
    }
