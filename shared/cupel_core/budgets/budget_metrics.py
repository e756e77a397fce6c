"""The metric BudgetUsed: 80 or 100 percent of a budget are used. It is published when the event is written."""

from cupel_core.domain.budgets.periods import BudgetScope

BUDGET_USED = "BudgetUsed"


def publish_used(scope: BudgetScope, percent: int) -> None:
    """Write a log line in the embedded metric format. Workspaces and runs are no dimensions: each would be a metric."""
    from aws_lambda_powertools.metrics import MetricUnit, single_metric  # It is needed rarely.

    with single_metric(name=BUDGET_USED, unit=MetricUnit.Percent, value=percent) as metric:
        metric.add_dimension("scope", scope)
