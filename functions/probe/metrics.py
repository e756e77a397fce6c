"""Writes an invocation's totals as CloudWatch metrics by provider, in the embedded metric format: a log line, not a
call."""

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from cupel_core.runs.probing.invocation import InvocationTotals


def publish(metrics: Metrics, provider: str, totals: InvocationTotals) -> None:
    metrics.add_dimension("provider", provider)
    metrics.add_metric("Probes", MetricUnit.Count, totals.probes)
    metrics.add_metric("Errors", MetricUnit.Count, totals.errors.total())
    metrics.add_metric("Throttles", MetricUnit.Count, totals.throttles)
    metrics.add_metric("InputTokens", MetricUnit.Count, totals.input_tokens)
    metrics.add_metric("OutputTokens", MetricUnit.Count, totals.output_tokens)
    metrics.add_metric("SpentUsd", MetricUnit.NoUnit, totals.spent_usd)
    for code, count in totals.errors.items():
        with single_metric(name="ErrorsByCode", unit=MetricUnit.Count, value=count) as metric:
            metric.add_dimension("provider", provider)
            metric.add_dimension("code", code)
