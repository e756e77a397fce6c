"""Erases content that is due, and repairs the effects of crashes and malformed messages, once a minute."""

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.base.clock import from_iso, utc_now
from cupel_core.runs.workflow_tasks import time_left
from cupel_core.workspace.sweeping.callback_recovery import resend_lost_callbacks
from cupel_core.workspace.sweeping.chat_retention import apply_retention
from cupel_core.workspace.sweeping.erasure import erase_due
from cupel_core.workspace.sweeping.generation_recovery import recover_generations
from cupel_core.workspace.sweeping.interrupted_work import continue_repairs, recover_rescores
from cupel_core.workspace.sweeping.job_recovery import recover_jobs
from cupel_core.workspace.sweeping.losses import resume_lost
from cupel_core.workspace.sweeping.run_recovery import RecoveryAction
from cupel_core.workspace.sweeping.sweep import sweep
from cupel_core.workspace.sweeping.turn_recovery import recover_turns

_REPAIR_SECONDS = 25.0
"""Reserved for repairs. Erasing comes first, so that many open runs never delay it."""
_CONTINUE_SECONDS = 20.0
"""Reserved for the work after the repairs of providers."""
logger = Logger()
metrics = Metrics()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Return the number of repairs by kind; each that is not 0 is also a metric.

    A metric is billed for every hour in which it is published, so an idle stack publishes none. A caller with
    `lostBefore` knows that all earlier messages and workers are lost; then only their work resumes.
    """
    seconds_left = time_left(context)
    if "lostBefore" in event:
        resumed = resume_lost(from_iso(event["lostBefore"]), utc_now(), seconds_left)
        logger.info("resumed", extra=resumed)
        return resumed
    moved = apply_retention(utc_now(), lambda: seconds_left() - _REPAIR_SECONDS)
    erased = erase_due(utc_now(), lambda: seconds_left() - _REPAIR_SECONDS)
    repairs = continue_repairs(utc_now(), lambda: seconds_left() > _CONTINUE_SECONDS)
    swept = sweep(utc_now(), seconds_left)
    recovered_rescores = recover_rescores(utc_now(), seconds_left)
    counts = {"dispatched": swept.dispatched, **asdict(swept.dead_letters)}
    counts["repairs"] = repairs
    counts["rescores"] = recovered_rescores
    counts["generations"] = recover_generations(utc_now(), seconds_left)
    counts["turns"] = recover_turns(utc_now(), seconds_left)
    counts["jobs"] = recover_jobs(utc_now(), seconds_left)
    counts["retention"] = moved
    counts["callbacks"] = resend_lost_callbacks(utc_now(), seconds_left)
    counts |= {f"content-{result}": count for result, count in erased.items()}
    counts |= {action: swept.recovered[action] for action in RecoveryAction}
    _publish({name: count for name, count in counts.items() if count})
    logger.info("swept", extra=counts)
    return counts


def _publish(counts: dict[str, int]) -> None:
    for name, count in counts.items():
        metrics.add_metric(f"Swept{name.title().replace('-', '')}", MetricUnit.Count, count)
    if counts:
        metrics.flush_metrics()
