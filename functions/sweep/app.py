"""Once a minute: what a crash left behind."""

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from shared.clock import utc_now
from shared.sweeping.sweep import sweep

logger = Logger()
metrics = Metrics()


@logger.inject_lambda_context
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    swept = asdict(sweep(utc_now()))
    for name, count in swept.items():
        metrics.add_metric(f"Swept{name.capitalize()}", MetricUnit.Count, count)
    logger.info("swept", **swept)
    return swept
