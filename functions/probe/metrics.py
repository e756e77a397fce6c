"""An invocation's tally as CloudWatch metrics by provider (embedded metric format: a log line, not a call)."""

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from cupel_core.probing.invocation_totals import Tally


def publish(metrics: Metrics, provider: str, tally: Tally) -> None:
    metrics.add_dimension("provider", provider)
    metrics.add_metric("Probes", MetricUnit.Count, tally.probes)
    metrics.add_metric("Errors", MetricUnit.Count, tally.errors.total())
    metrics.add_metric("Throttles", MetricUnit.Count, tally.throttles)
    metrics.add_metric("InputTokens", MetricUnit.Count, tally.input_tokens)
    metrics.add_metric("OutputTokens", MetricUnit.Count, tally.output_tokens)
    metrics.add_metric("SpentUsd", MetricUnit.NoUnit, tally.spent_usd)
    for code, count in tally.errors.items():
        with single_metric(name="ErrorsByCode", unit=MetricUnit.Count, value=count) as metric:
            metric.add_dimension("provider", provider)
            metric.add_dimension("code", code)
