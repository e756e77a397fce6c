from typing import Annotated

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.contract.fields import Interval95
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run_rates import MAX_COLUMNS, RunRates


class ColumnRateResponse(ColumnFields):
    """The pass rate of one target with one prompt."""

    passed: int
    """Probes that passed. Example: 9"""
    judged: int
    """Probes that the rate is of. Example: 12"""
    pass_rate: Annotated[float | None, read_from("share")]
    """Null if no probe was judged. Example: 0.75"""
    interval: Interval95


class RunRatesResponse(ResponseModel):
    """Outcomes and pass rates of a run that is over: the same figures as in its results."""

    passed: int
    """Probes that passed. Example: 9"""
    failed: int
    """Probes that failed. Example: 2"""
    unscored: int
    """Completed probes without a verdict. Example: 1"""
    errored: int
    """Probes that ended in an infrastructure error. Example: 0"""
    columns: list[ColumnRateResponse]
    """Pass rates of the first 20 targets and prompts."""
    column_count: int
    """Number of its targets times that of its prompts. Example: 2"""

    @classmethod
    def find(cls, rates: RunRates | None, plan: Plan) -> "RunRatesResponse | None":
        if rates is None:
            return None
        columns = [
            ColumnRateResponse.from_value(rate, **ColumnRateResponse.fields_of_column(column))
            for rate, column in zip(rates.columns, plan.columns[:MAX_COLUMNS], strict=True)
        ]
        return cls.from_value(rates, columns=columns, column_count=len(plan.columns))
