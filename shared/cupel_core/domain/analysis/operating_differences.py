"""Puts side by side what the probes of two compared sides took and cost.

The differences are not tested: durations depend on the provider's load at that time, and costs on the length of
answers.
"""

from collections.abc import Iterable
from typing import NamedTuple, Self

from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.conversations.roles import ModelRole


class SideOperations(NamedTuple):
    """Sums up all outcomes of a side's columns, also of scenarios that the other side does not have. A figure is None
    if there is nothing to count, and a cost also if a price is unknown."""

    cost_usd: float | None
    judge_cost_usd: float | None
    simulated_user_cost_usd: float | None
    operations_cost_usd: float | None
    tokens: float | None
    """Counts the target's input and output tokens per completed probe."""
    median_duration_ms: float | None
    p95_duration_ms: float | None
    error_rate: float | None
    other_rate: float | None
    """The share of completed answers without a readable decision; None if the side has no decisions at all."""

    @classmethod
    def of(cls, columns: Iterable[ColumnTotals], counts: Cell) -> Self:
        """Sum up columns; `counts` are those of the side's answers to the common scenarios."""
        totals = ColumnTotals()
        for column in columns:
            totals.merge(column)
        durations, errored = totals.histograms["durations_ms"], sum(each.probes for each in totals.errors.values())
        completed = durations.count
        costs = {role: _share(usd, completed + errored) for role, _, usd in totals.role_costs}
        return cls(
            cost_usd=costs.get(ModelRole.TARGET),
            judge_cost_usd=costs.get(ModelRole.JUDGE),
            simulated_user_cost_usd=costs.get(ModelRole.PERSONA),
            operations_cost_usd=costs.get(ModelRole.OPERATION),
            tokens=_share(totals.tokens, completed),
            median_duration_ms=durations.quantile(0.5),
            p95_duration_ms=durations.quantile(0.95),
            error_rate=_share(errored, completed + errored),
            other_rate=_share(counts.other, counts.ruled) if counts.decided else None,
        )

    def minus(self, other: "SideOperations") -> "SideOperations":
        """Return the differences; None where either side has no figure."""
        pairs = zip(self, other, strict=True)
        return SideOperations(*(None if mine is None or its is None else mine - its for mine, its in pairs))


class OperatingDifferences(NamedTuple):
    baseline: SideOperations
    comparison: SideOperations

    @property
    def difference(self) -> SideOperations:
        return self.comparison.minus(self.baseline)


def _share(amount: float | None, number: int) -> float | None:
    return None if amount is None or not number else amount / number
