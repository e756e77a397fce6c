"""Repairs, once a minute, what crashes and malformed messages left behind."""

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.clock import utc_now
from cupel_core.sweeping.rescore_recovery import recover_rescores
from cupel_core.sweeping.run_recovery import RecoveryAction
from cupel_core.sweeping.sweep import sweep

logger = Logger()
metrics = Metrics()


@logger.inject_lambda_context
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Return the number of repairs by kind; each is also a metric."""
    swept = sweep(utc_now(), lambda: context.get_remaining_time_in_millis() / 1_000)
    recovered_rescores = recover_rescores(utc_now(), lambda: context.get_remaining_time_in_millis() / 1_000)
    counts = {"dispatched": swept.dispatched, "errored": swept.errored, "unreadable": swept.unreadable}
    counts["scorings"] = recovered_rescores
    counts |= {action: swept.recovered[action] for action in RecoveryAction}
    for name, count in counts.items():
        metrics.add_metric(f"Swept{name.title().replace('-', '')}", MetricUnit.Count, count)
    logger.info("swept", extra=counts)
    return counts
