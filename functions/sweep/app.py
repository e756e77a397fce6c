"""Once a minute: what a crash left behind."""

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from cupel_core.clock import utc_now
from cupel_core.rescoring.recovery import revive
from cupel_core.sweeping.recovery import Recovery
from cupel_core.sweeping.sweep import sweep

logger = Logger()
metrics = Metrics()


@logger.inject_lambda_context
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    swept = sweep(utc_now(), lambda: context.get_remaining_time_in_millis() / 1_000)
    revived = revive(utc_now(), lambda: context.get_remaining_time_in_millis() / 1_000)
    counts = {"dispatched": swept.dispatched, "errored": swept.errored, "unreadable": swept.unreadable}
    counts["scorings"] = revived
    counts |= {recovery: swept.recovered[recovery] for recovery in Recovery}
    for name, count in counts.items():
        metrics.add_metric(f"Swept{name.title().replace('-', '')}", MetricUnit.Count, count)
    logger.info("swept", extra=counts)
    return counts
