from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.call_tokens import GRADER_OUTPUT_TOKENS, MIN_UNLIMITED_OUTPUT_TOKENS
from cupel_core.domain.budgets.confirmation import BudgetGuarantee
from cupel_core.domain.budgets.money import amount_text
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.tool_results import MAX_TOOL_ROUNDS
from cupel_core.domain.estimates.conversations import TARGET, Calls, ConversationSample, RoleModel
from cupel_core.domain.estimates.file_tokens import FileBasis
from cupel_core.domain.estimates.intervals import EstimateInterval, Unknowns, interval_of
from cupel_core.domain.reports.summaries import MAX_OUTPUT_TOKENS, MAX_SHOWN_TOKENS
from cupel_core.domain.runs.pace import UNLIMITED, Pace
from cupel_core.domain.text.token_counts import LATIN_FACTOR, OTHER_FACTOR

type Price = Callable[[str, Calls], float | None]
"""Returns the cost of these calls of a model if all are equally long; None if the price is unknown."""

OUTPUT_FACTOR = 4.0
TURNS_FACTOR = 2.0
LATENCY_FACTOR = 2.5
ROUNDS_FACTOR = float(MAX_TOOL_ROUNDS)
"""A target may call no tools at all, or as often as it is allowed to."""
PAGES_FACTOR = 3.0
"""The length of PDFs may be off by this factor, because their pages are not counted."""
_BYTES_PER_TOKEN = 4.0
"""A prompt has this many bytes per token; a budget sets aside a token per byte."""
_REPORT_CALL = Calls(1.0, MAX_SHOWN_TOKENS, MAX_OUTPUT_TOKENS)
"""The maximum tokens, because the amount to read is only known at the end of the run."""
_AFTERWARDS = (ModelRole.SUMMARY, ModelRole.REPORT)
"""Roles that are called after all conversations, which do not need their calls."""
_SECONDS_TO_FIRST_TOKEN = 0.7
_TOKENS_PER_SECOND = 80.0


class Basis(StrEnum):
    """An estimate is based on the scenarios' texts and usual lengths of answers, or on earlier conversations."""

    DEFAULT = "default"
    """The estimate uses the texts of the scenarios, and usual lengths of answers and conversations."""
    HISTORY = "history"
    """The estimate uses conversations of an earlier run with the same definition, configuration and targets."""


@dataclass(frozen=True)
class ColumnEstimate:
    target_id: str
    model: str
    probes: int
    sample: ConversationSample
    file_basis: FileBasis | None = None
    has_limit: bool = True
    reserved_output: int = MIN_UNLIMITED_OUTPUT_TOKENS
    """A budget sets aside this many tokens for an answer."""
    reserved_grader_output: int = GRADER_OUTPUT_TOKENS
    """A budget sets aside this many tokens for a reply of a judge or a simulated user."""

    def calls(self, role_model: RoleModel, unknowns: Unknowns) -> Calls:
        return self.sample.mean_calls(unknowns).get(role_model, Calls()) * float(self.probes)


@dataclass(frozen=True)
class CallCapacity:
    """Describes how many calls to one provider run at the same time, and how long one takes if that is known."""

    parallel: int
    call_seconds: float | None = None

    def seconds_of(self, calls: Calls, unknowns: Unknowns) -> float:
        each = self.call_seconds
        if each is None:
            written = calls.output_tokens / calls.count if calls.count else 0.0
            each = (_SECONDS_TO_FIRST_TOKEN + written / _TOKENS_PER_SECOND) * unknowns.latency
        return each * max(1.0, calls.count / self.parallel)


@dataclass(frozen=True)
class Assumptions:
    columns: Sequence[ColumnEstimate]
    price: Price
    capacity_of: Callable[[str], CallCapacity]
    is_latin: bool = True
    pace: Pace = UNLIMITED
    summarizer: str | None = None

    @property
    def spread(self) -> Unknowns:
        samples = [column.sample for column in self.columns]
        return Unknowns(
            input=LATIN_FACTOR if self.is_latin else OTHER_FACTOR,
            output=OUTPUT_FACTOR,
            turns=TURNS_FACTOR if any(sample.is_open for sample in samples) else 1.0,
            rounds=ROUNDS_FACTOR if any(sample.has_tools for sample in samples) else 1.0,
            pages=PAGES_FACTOR if any(sample.has_pdfs for sample in samples) else 1.0,
            latency=LATENCY_FACTOR,
        )


@dataclass(frozen=True)
class CallsEstimate:
    """Estimates the calls of one model; `usd` is None if its price is unknown."""

    model: str
    calls: EstimateInterval
    input_tokens: EstimateInterval
    output_tokens: EstimateInterval
    usd: EstimateInterval | None
    reserved_usd: float = 0.0
    """A budget sets this much aside for one call, if its price is known."""


@dataclass(frozen=True)
class TargetEstimate:
    target_id: str
    probes: int
    calls: CallsEstimate
    basis: Basis = Basis.DEFAULT
    samples: int = 0
    file_basis: FileBasis | None = None


@dataclass(frozen=True)
class GraderEstimate:
    role: ModelRole
    calls: CallsEstimate


class TrialEstimate(NamedTuple):
    """Estimates what the trial of a revised prompt adds, if the run's report offers one: both prompts are run anew."""

    probes: int
    """Counts the probes of both prompts together."""
    usd: EstimateInterval
    is_within_limit: bool
    """The trial has no more conversations than the run. A larger trial costs more than allowed and does not start."""


class ExpansionEstimate(NamedTuple):
    probes: int
    usd: EstimateInterval


@dataclass(frozen=True)
class RunEstimate:
    """`usd` sums what has a known price; models without one are in `unpriced`."""

    probes: int
    usd: EstimateInterval
    seconds: EstimateInterval
    targets: tuple[TargetEstimate, ...]
    graders: tuple[GraderEstimate, ...] = ()
    unpriced: tuple[str, ...] = ()
    basis: Basis = Basis.DEFAULT
    unlimited_targets: tuple[str, ...] = ()
    expansion: ExpansionEstimate | None = None
    """The estimate of an expansion to all scenarios; None for a run that has all, or that has no sample."""
    trial: TrialEstimate | None = None
    """The run requests this trial, whose cost is not part of `usd`."""
    history_run_ids: tuple[str, ...] = ()
    """The figures are based on conversations of these runs, the newest first."""

    def with_expansion(self, scenarios: int, total: int) -> "RunEstimate":
        """Extrapolate a sample of `scenarios`; the others are expected to cost as much, with the same relative
        error."""
        factor = total / scenarios - 1
        if factor <= 0:
            return self
        report = self.report_usd  # The report is made once again.
        usd = self.conversations_usd.scaled(factor).with_same_error(EstimateInterval(report, report, report))
        return replace(self, expansion=ExpansionEstimate(round(self.probes * factor), usd))

    @property
    def total_usd(self) -> EstimateInterval:
        trial = self.trial
        return self.usd.with_same_error(trial.usd) if trial and trial.is_within_limit else self.usd

    @property
    def reserved_usd(self) -> float:
        """Return what a budget must have left for the dearest call."""
        calls = [*(each.calls for each in self.targets), *(each.calls for each in self.graders)]
        return max((each.reserved_usd for each in calls), default=0.0)

    def why_too_small(self, max_usd: float, runs_at_once: int = 1) -> str | None:
        """Return why a budget cannot pay for a call of each kind in a conversation; None if it can. `runs_at_once` runs
        share the budget."""
        calls = [each.calls for each in self.targets]
        calls += [each.calls for each in self.graders if each.role not in _AFTERWARDS]
        dearest = max(calls, key=lambda each: each.reserved_usd, default=None)
        if dearest is None or runs_at_once * dearest.reserved_usd <= max_usd:
            return None
        each_run = "" if runs_at_once == 1 else f" for each of {runs_at_once} runs"
        return (
            f"must be at least {amount_text(runs_at_once * dearest.reserved_usd)}: a budget sets that much aside for "
            f"one call of {dearest.model}{each_run}"
        )

    @property
    def report_usd(self) -> float:
        reports = (each.calls.usd for each in self.graders if each.role is ModelRole.REPORT)
        return sum(usd.expected for usd in reports if usd is not None)

    @property
    def conversations_usd(self) -> EstimateInterval:
        report = self.report_usd
        return EstimateInterval(*(max(0.0, each - report) for each in (self.usd.low, self.usd.expected, self.usd.high)))

    @property
    def guarantee(self) -> BudgetGuarantee:
        if self.unpriced:
            return BudgetGuarantee.UNPRICED_CALLS
        return BudgetGuarantee.CALLS_IN_FLIGHT if self.unlimited_targets else BudgetGuarantee.NEVER_EXCEEDED


NOTHING = RunEstimate(0, EstimateInterval(), EstimateInterval(), ())


def estimate_together(first: RunEstimate, second: RunEstimate) -> RunEstimate:
    """Combine two runs with the same targets and graders, of which one answers questions about the other."""
    targets = zip(first.targets, second.targets, strict=True)
    graders = zip(first.graders, second.graders, strict=True)
    return RunEstimate(
        probes=first.probes + second.probes,
        usd=first.usd.with_same_error(second.usd),
        seconds=first.seconds.with_same_error(second.seconds),
        targets=tuple(
            replace(one, probes=one.probes + other.probes, calls=_calls_together(one.calls, other.calls))
            for one, other in targets
        ),
        graders=tuple(replace(one, calls=_calls_together(one.calls, other.calls)) for one, other in graders),
        unpriced=first.unpriced,
        basis=first.basis,
        unlimited_targets=first.unlimited_targets,
    )


def _calls_together(first: CallsEstimate, second: CallsEstimate) -> CallsEstimate:
    return CallsEstimate(
        model=first.model,
        calls=first.calls.with_same_error(second.calls),
        input_tokens=first.input_tokens.with_same_error(second.input_tokens),
        output_tokens=first.output_tokens.with_same_error(second.output_tokens),
        usd=first.usd.with_same_error(second.usd) if first.usd and second.usd else None,
        reserved_usd=max(first.reserved_usd, second.reserved_usd),
    )


@dataclass(frozen=True)
class _Work:
    model: str
    role_model: RoleModel
    columns: Sequence[ColumnEstimate] = ()
    once: Calls | None = None

    @property
    def probes(self) -> int:
        return sum(column.probes for column in self.columns)

    def calls(self, unknowns: Unknowns) -> Calls:
        if self.once is not None:
            return self.once
        return sum((column.calls(self.role_model, unknowns) for column in self.columns), Calls())

    def estimate(self, price: Price, spread: Unknowns) -> CallsEstimate:
        has_price = price(self.model, self.calls(Unknowns())) is not None
        return CallsEstimate(
            model=self.model,
            calls=interval_of(lambda unknowns: self.calls(unknowns).count, spread),
            input_tokens=interval_of(lambda unknowns: self.calls(unknowns).input_tokens, spread),
            output_tokens=interval_of(lambda unknowns: self.calls(unknowns).output_tokens, spread),
            usd=interval_of(partial(_usd, price, [self]), spread) if has_price else None,
            reserved_usd=self._reserved_usd(price),
        )

    def _reserved_usd(self, price: Price) -> float:
        calls = self.calls(Unknowns())
        if not calls.count:
            return 0.0
        read = _BYTES_PER_TOKEN * calls.input_tokens / calls.count
        return price(self.model, Calls(1, read, self._reserved_output(calls))) or 0.0

    def _reserved_output(self, calls: Calls) -> int:
        """Return the tokens that a budget sets aside for an answer; embedding models write nothing."""
        if self.role_model == TARGET:
            return max(column.reserved_output for column in self.columns)
        if not calls.output_tokens:
            return 0
        return max((column.reserved_grader_output for column in self.columns), default=GRADER_OUTPUT_TOKENS)


def estimate_run(assumptions: Assumptions) -> RunEstimate:
    price, spread = assumptions.price, assumptions.spread
    targets = _target_works(assumptions.columns)
    held = [*targets.values(), *_grader_works(assumptions.columns)]
    works = [*held, *_report_work(assumptions)]
    graders = works[len(targets) :]
    unpriced = {work.model for work in works if price(work.model, work.calls(Unknowns())) is None}
    return RunEstimate(
        probes=sum(column.probes for column in assumptions.columns),
        usd=interval_of(partial(_usd, price, works), spread),
        seconds=interval_of(partial(_seconds, assumptions, held), spread),
        targets=tuple(
            TargetEstimate(target_id, work.probes, work.estimate(price, spread), file_basis=work.columns[0].file_basis)
            for target_id, work in targets.items()
        ),
        graders=tuple(GraderEstimate(work.role_model.role, work.estimate(price, spread)) for work in graders),
        unpriced=tuple(sorted(unpriced)),
        unlimited_targets=tuple(
            target_id for target_id, work in targets.items() if not all(column.has_limit for column in work.columns)
        ),
    )


def _target_works(columns: Sequence[ColumnEstimate]) -> dict[str, _Work]:
    by_target: dict[str, list[ColumnEstimate]] = defaultdict(list)
    for column in columns:
        by_target[column.target_id].append(column)
    return {target_id: _Work(own[0].model, TARGET, own) for target_id, own in by_target.items()}


def _grader_works(columns: Sequence[ColumnEstimate]) -> list[_Work]:
    role_models = {role_model for column in columns for role_model in column.sample.mean_calls(Unknowns())}
    return [
        _Work(role_model.model, role_model, columns)
        for role_model in sorted(role_models - {TARGET})
        if role_model.model is not None
    ]


def _report_work(assumptions: Assumptions) -> list[_Work]:
    if assumptions.summarizer is None or not assumptions.columns:
        return []
    role_model = RoleModel(ModelRole.REPORT, assumptions.summarizer)
    return [_Work(assumptions.summarizer, role_model, once=_REPORT_CALL)]


def _usd(price: Price, works: Sequence[_Work], unknowns: Unknowns) -> float:
    return sum(price(work.model, work.calls(unknowns)) or 0.0 for work in works)


def _seconds(assumptions: Assumptions, works: Sequence[_Work], unknowns: Unknowns) -> float:
    """Return the time of the slowest provider, as providers work in parallel, or more if the run limits itself."""
    seconds: dict[str, float] = defaultdict(float)
    one_by_one = 0.0
    for work in works:
        provider = work.model.partition("/")[0]
        capacity, calls = assumptions.capacity_of(provider), work.calls(unknowns)
        seconds[provider] += capacity.seconds_of(calls, unknowns)
        one_by_one += replace(capacity, parallel=1).seconds_of(calls, unknowns)
    probes = sum(column.probes for column in assumptions.columns)
    return max(assumptions.pace.min_seconds(one_by_one, probes), *seconds.values(), 0.0)
