"""Defines experiments: runs under one hypothesis, compared with a baseline and judged by a stated expectation."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.comparison_requests import ComparisonOptions
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.verdicts import ComparisonVerdict, Evidence, verdict_of
from cupel_core.domain.statistics import Interval


class ExpectedDirection(StrEnum):
    HIGHER = "HIGHER"
    LOWER = "LOWER"
    EQUIVALENT = "EQUIVALENT"


class ExperimentStatus(StrEnum):
    PLANNED = "PLANNED"
    RUNNING = "RUNNING"
    CONCLUDED = "CONCLUDED"


class Conclusion(StrEnum):
    SUPPORTED = "SUPPORTED"
    REJECTED = "REJECTED"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class ExperimentDesign:
    """A person concludes; the expectation that the author declares only suggests a conclusion."""

    hypothesis: str
    null_hypothesis: str | None = None
    description: str | None = None
    direction: ExpectedDirection | None = None
    target: str | None = None
    """The expectation is about the target with this id; about all if None."""
    metric: Metric | None = None
    minimum_effect: float | None = None
    alpha: float = 0.05
    independent_variable: str | None = None
    controlled_variables: tuple[str, ...] = ()
    baseline_run_id: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def options(self) -> ComparisonOptions:
        return ComparisonOptions(self.metric, self.alpha, self.minimum_effect)


@dataclass(frozen=True)
class Experiment:
    id: str
    name: str
    design: ExperimentDesign
    created_at: datetime
    updated_at: datetime
    conclusion: Conclusion | None = None
    note: str | None = None
    revision: int = 1

    def status(self, *, has_runs: bool) -> ExperimentStatus:
        if self.conclusion is not None:
            return ExperimentStatus.CONCLUDED
        return ExperimentStatus.RUNNING if has_runs else ExperimentStatus.PLANNED


class ExperimentRow(NamedTuple):
    """Compares a target of a run with the baseline; `figures` are those of the comparison's row."""

    run_id: str
    comparison_id: str
    target: str
    metric: Metric
    figures: Mapping[str, Any]
    margin: float
    adjusted_p: float | None
    """The p-value is adjusted over all rows of the experiment."""
    verdict: ComparisonVerdict


def experiment_rows(compared: Sequence[tuple[str, str, Mapping[str, Any]]], alpha: float) -> list[ExperimentRow]:
    """Return a row per target from (run id, comparison id, figures), with p-values adjusted over all rows."""
    listed = [
        (run_id, comparison_id, figures, row) for run_id, comparison_id, figures in compared for row in figures["rows"]
    ]
    adjusted = holm([row["p"] for _, _, _, row in listed])
    return [
        ExperimentRow(
            run_id,
            comparison_id,
            _name(row["comparison"]),
            Metric(figures["metric"]),
            row,
            figures["margin"],
            p,
            _verdict(figures, row, p, alpha),
        )
        for (run_id, comparison_id, figures, row), p in zip(listed, adjusted, strict=True)
    ]


def suggested_conclusion(design: ExperimentDesign, rows: Iterable[ExperimentRow]) -> Conclusion | None:
    """Return SUPPORTED if every row of the expected target is as expected, REJECTED if any is shown to be otherwise.
    The result is None without an expectation, or without a row."""
    if design.direction is None:
        return None
    expected = {_conclusion(design, design.direction, row) for row in rows if design.target in (None, row.target)}
    if not expected:
        return None
    if Conclusion.REJECTED in expected:
        return Conclusion.REJECTED
    return Conclusion.INCONCLUSIVE if Conclusion.INCONCLUSIVE in expected else Conclusion.SUPPORTED


def _conclusion(design: ExperimentDesign, direction: ExpectedDirection, row: ExperimentRow) -> Conclusion:
    """Test the difference against the minimum effect: a smaller one is not what was expected."""
    interval = _interval(row.figures["interval"])
    if direction is ExpectedDirection.EQUIVALENT:
        if row.verdict is ComparisonVerdict.EQUIVALENT:
            return Conclusion.SUPPORTED
        is_beyond = interval is not None and (interval.low > row.margin or interval.high < -row.margin)
        is_shown = row.verdict in (ComparisonVerdict.HIGHER, ComparisonVerdict.LOWER)
        return Conclusion.REJECTED if is_beyond and is_shown else Conclusion.INCONCLUSIVE
    effect = design.minimum_effect or 0.0
    if interval is not None and direction is ExpectedDirection.LOWER:
        interval = Interval(-interval.high, -interval.low)
    opposite = ComparisonVerdict.LOWER if direction is ExpectedDirection.HIGHER else ComparisonVerdict.HIGHER
    if row.verdict is opposite or (interval is not None and effect and interval.high < effect):
        return Conclusion.REJECTED
    is_shown = row.verdict == ComparisonVerdict(direction) if direction else False
    return (
        Conclusion.SUPPORTED
        if is_shown and interval is not None and interval.low >= effect
        else Conclusion.INCONCLUSIVE
    )


def _verdict(figures: Mapping[str, Any], row: Mapping[str, Any], p: float | None, alpha: float) -> ComparisonVerdict:
    return verdict_of(
        Evidence(
            metric=Metric(figures["metric"]),
            alpha=alpha,
            margin=figures["margin"],
            scenarios=row["scenarios"],
            difference=row["difference"],
            interval=_interval(row["interval"]),
            equivalence_interval=_interval(row["equivalenceInterval"]),
            p=row["p"],
            adjusted_p=p,
            detectable_effect=row["minimumDetectableEffect"],
            scenarios_needed=row["scenariosNeeded"],
        )
    )


def _interval(bounds: Sequence[float] | None) -> Interval | None:
    return Interval(*bounds) if bounds else None


def _name(columns: Sequence[Mapping[str, Any]]) -> str:
    return str(columns[0]["targetId"]) if len(columns) == 1 else f"{len(columns)} targets"
