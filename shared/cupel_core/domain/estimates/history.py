"""Estimates from earlier conversations: their mean, and how much they differ between scenarios and within them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.estimates.predictions import predicted_sum
from cupel_core.domain.estimates.run_estimate import (
    Basis,
    CallsEstimate,
    GraderEstimate,
    RunEstimate,
    TargetEstimate,
)

MIN_CONVERSATIONS = 10
"""The spread of fewer conversations says little."""
MIN_SCENARIOS = 5
"""The spread of fewer scenarios says little about other scenarios."""


class PastConversation(NamedTuple):
    scenario: int
    """It is the position of its scenario in the definition."""
    calls: int
    """Of the target."""
    input_tokens: int
    output_tokens: int
    usd: Mapping[ModelRole, float]

    @property
    def total_usd(self) -> float:
        return sum(self.usd.values())


@dataclass(frozen=True)
class ColumnHistory:
    """Earlier conversations of a target and prompt that are like those of a column."""

    target_id: str
    probes: int
    """It is the number of the column's probes."""
    scenarios: Collection[int]
    """The positions of the scenarios over which these probes are spread."""
    conversations: Sequence[PastConversation]
    run_ids: Sequence[str] = ()
    """They are from these runs."""

    worst_usd: Mapping[ModelRole, float] = field(default_factory=dict)
    """A conversation costs at most this much, by what models are called for; roles without a known limit are missing.
    """

    @property
    def is_enough(self) -> bool:
        """Whether there are enough conversations. Few scenarios are enough if the column has no others."""
        known = {each.scenario for each in self.conversations}
        has_spread = len(known) >= MIN_SCENARIOS or known.issuperset(self.scenarios)
        return len(self.conversations) >= MIN_CONVERSATIONS and has_spread

    @property
    def total_usd(self) -> EstimateInterval:
        return self.total(lambda each: each.total_usd, sum(self.worst_usd.values()))

    def role_usd(self, role: ModelRole) -> EstimateInterval:
        return self.total(lambda each: each.usd.get(role, 0.0), self.worst_usd.get(role, 0.0))

    def total(self, figure: Callable[[PastConversation], float], worst: float = 0.0) -> EstimateInterval:
        """The sum of a figure over the column's probes. No single one exceeds `worst`; 0 stands for no known limit."""
        by_scenario = defaultdict(list)
        for each in self.conversations:
            by_scenario[each.scenario].append(figure(each))
        return predicted_sum(by_scenario, self.probes, self.scenarios, worst)


def with_history(estimate: RunEstimate, columns: Sequence[ColumnHistory]) -> RunEstimate:
    """The estimate with the figures of earlier conversations; unchanged unless there are enough for each column."""
    if not columns or not all(column.is_enough for column in columns):
        return estimate
    columns = [replace(column, worst_usd=_worst_usd(estimate, column)) for column in columns]
    report = estimate.report_usd
    totals = _sum(column.total_usd for column in columns)
    return replace(
        estimate,
        usd=totals.with_same_error(EstimateInterval(report, report, report)),
        targets=tuple(_target(target, columns) for target in estimate.targets),
        graders=tuple(_grader(grader, estimate.graders, columns) for grader in estimate.graders),
        basis=Basis.HISTORY,
        history_run_ids=tuple(sorted({run_id for column in columns for run_id in column.run_ids}, reverse=True)),
    )


def _worst_usd(estimate: RunEstimate, column: ColumnHistory) -> dict[ModelRole, float]:
    """What a conversation costs at most, by role: of each call, what a budget sets aside for it.

    A conversation has as many calls as are assumed at most, and of the target as many as any earlier one had.
    """
    usd: dict[ModelRole, float] = defaultdict(float)
    for target in estimate.targets:
        if target.target_id == column.target_id:
            calls = max(target.calls.calls.high / target.probes, *(each.calls for each in column.conversations))
            usd[ModelRole.TARGET] = calls * target.calls.reserved_usd
    for grader in estimate.graders:
        if grader.role is not ModelRole.REPORT:
            usd[grader.role] += grader.calls.calls.high / estimate.probes * grader.calls.reserved_usd
    return usd


def _target(target: TargetEstimate, columns: Sequence[ColumnHistory]) -> TargetEstimate:
    own = [column for column in columns if column.target_id == target.target_id]
    calls = CallsEstimate(
        model=target.calls.model,
        calls=_sum(column.total(lambda each: each.calls) for column in own),
        input_tokens=_sum(column.total(lambda each: each.input_tokens) for column in own),
        output_tokens=_sum(column.total(lambda each: each.output_tokens) for column in own),
        usd=_sum(column.role_usd(ModelRole.TARGET) for column in own),
        reserved_usd=target.calls.reserved_usd,
    )
    samples = sum(len(column.conversations) for column in own)
    return replace(target, calls=calls, basis=Basis.HISTORY, samples=samples)


def _grader(
    grader: GraderEstimate, graders: Sequence[GraderEstimate], columns: Sequence[ColumnHistory]
) -> GraderEstimate:
    """What was spent on its role, shared among the models of the role as they are expected to share it. No conversation
    says what a report costs."""
    if grader.role is ModelRole.REPORT:
        return grader
    of_role = [_expected(each) for each in graders if each.role is grader.role]
    share = _expected(grader) / sum(of_role) if sum(of_role) else 1 / len(of_role)
    usd = _sum(column.role_usd(grader.role) for column in columns)
    return replace(grader, calls=replace(grader.calls, usd=usd.scaled(share)))


def _expected(grader: GraderEstimate) -> float:
    return grader.calls.usd.expected if grader.calls.usd else 0.0


def _sum(intervals: Iterable[EstimateInterval]) -> EstimateInterval:
    """Columns answer the same scenarios, so their costs rise and fall together: bounds are added, not squares."""
    return reduce(EstimateInterval.with_same_error, intervals, EstimateInterval())
