"""Progress of the targets of a run."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from cupel_core.contract.budgets import BudgetUseResponse, ExhaustedBudget
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, Time, read_from
from cupel_core.contract.results import CostUsd, RetryHelps
from cupel_core.contract.runs import PauseCauseResponse, RunSpendResponse
from cupel_core.contract.unscored import UnscoredReasonResponse
from cupel_core.domain.analysis.column_totals import MAX_CAUSES
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.column_samples import ErrorCause
from cupel_core.domain.runs.delays import DelayReason
from cupel_core.domain.runs.run import PauseReason, Progress, RunStatus
from cupel_core.domain.runs.run_spend import Cost
from cupel_core.domain.runs.slow_calls import SlowCall
from cupel_core.domain.runs.views import ColumnProgressView, RunProgressView

Total = Annotated[int, Field(description="Number of probes")]
Completed = Annotated[int, Field(description="Probes with a transcript; exact")]
Errored = Annotated[int, Field(description="Probes that ended in an infrastructure error; exact")]
Running = Annotated[
    int,
    Field(
        description="Probes in progress, also of a stopped run: a call was made, and there is no outcome yet. Workers "
        "report them within about three seconds"
    ),
]
Rate = Annotated[
    float | None,
    Field(
        description="Probes with an outcome per second, since the earliest time in the last 15 s at which this was "
        "read, else the latest in the last minute; null if it was not read in the last minute"
    ),
]
Eta = Annotated[
    float | None,
    Field(description="Seconds until every probe has an outcome, at this rate; null if it is unknown or 0"),
]


class DelayResponse(ResponseModel):
    """A reason why probes of a target wait. `learned_limit`, `higher_priority`, `chat_reservation` and `run_limit` slow
    them down, every other reason stops them."""

    reason: DelayReason
    provider: str | None
    """Provider of the queue or account; null for `run_paused`, `run_limit` and `budget`."""
    model: str | None
    """The model that is suspended: the target, or one that grades or simulates users."""
    until: Time | None
    """Time at which calls may start again; null if someone has to act. Example: 2026-11-20T10:00:00Z"""
    message: str | None
    """Why, in the provider's words."""
    limit: int | None
    """Maximum parallel requests: as configured for a `learned_limit`, those of runs at present for a `higher_priority`,
    those of the account for a `chat_reservation`; for a `run_limit` the run's `maxConcurrency`, if that many
    conversations are in progress.

    Example: 20
    """
    learned_limit: int | None
    """Parallel requests that the provider currently sustains. Example: 8"""
    budget: BudgetScope | None
    """Budget (the run's, or the workspace's for a day or month) with too little left for the next call, because the
    rest is reserved for other calls."""
    taken_slots: int | None
    """Parallel requests taken of `limit`: for a `higher_priority` those that runs and chats of a higher priority make
    or could make at once, for a `chat_reservation` those reserved for chats.

    Example: 16
    """
    stagger_ms: list[int] | None
    """The run's `staggerMs`, the gap between two starts; for a `run_limit` only."""


class TargetResultsResponse(ResponseModel):
    """Results of completed probes that were read: all up to 500 divided by the number of targets; of more, a random
    sample of that size or down to half of it, spread over all of them."""

    probes: Annotated[int, read_from("completed")]
    """Number of completed probes that were read."""
    is_complete: bool
    """Whether these are all, so that the figures are exact."""
    judged: int
    """Probes read that passed or failed."""
    pass_rate: float | None
    """Share of the judged ones that passed; null if none is. Example: 0.9"""
    decided: int
    """Probes read with a decision from 1 to 5. Example: 58"""
    mean_decision: float | None
    """Mean of these decisions; null if there is none. Example: 3.8"""
    estimated_tokens: int
    """Tokens of the target's calls, extrapolated from the probes that were read to all completed ones. Example: 0"""
    unscored_reasons: list[UnscoredReasonResponse]
    """Reasons why read probes were not scored, the most frequent first."""

    @classmethod
    def of(cls, view: ColumnProgressView) -> "TargetResultsResponse":
        sample, completed = view.sample, view.counts.completed
        return cls.from_value(
            sample,
            is_complete=sample.completed == completed,
            estimated_tokens=round(sample.tokens * completed / sample.completed) if sample.completed else 0,
            unscored_reasons=sample.unscored[:MAX_CAUSES],
        )


class ErrorCauseResponse(ResponseModel):
    code: ProbeErrorCode
    count: int
    """Errored probes with this code, of those read."""
    message: str
    """Message of the latest one."""
    retry_helps: RetryHelps
    """Example: true"""

    @classmethod
    def of(cls, cause: ErrorCause) -> "ErrorCauseResponse":
        return cls.from_value(cause, retry_helps=not ProbeErrorCode(cause.code).is_repeated_by_retry)


class TargetErrorsResponse(ResponseModel):
    """Why probes are errored, of those that were read: at least the latest 100, divided by the number of targets."""

    probes: int
    """Number of errored probes that were read."""
    is_complete: bool
    """Whether these are all, so that the counts are exact."""
    causes: list[ErrorCauseResponse]
    """The most frequent first."""

    @classmethod
    def of(cls, view: ColumnProgressView) -> "TargetErrorsResponse":
        errored = view.sample.errored
        return cls(
            probes=errored,
            is_complete=errored == view.counts.errored,
            causes=[ErrorCauseResponse.of(cause) for cause in view.sample.causes],
        )


class SlowCallsResponse(ResponseModel):
    """Calls in flight, of the target and its graders, that are repeats or have taken more than 30 s. Workers report up
    to 10 of each slice, every 16 s or so."""

    calls: int
    """Number of reported calls."""
    attempt: int
    """Number of the attempt, of the call with the most attempts. Example: 2"""
    max_attempts: int
    """Most attempts that this call may have."""
    seconds: float
    """Duration of this attempt so far. Example: 57.0"""

    @classmethod
    def find(cls, calls: Sequence[SlowCall], now: float) -> "SlowCallsResponse | None":
        if not calls:
            return None
        slowest = min(calls, key=lambda call: (-call.attempt, call.since))
        seconds = round(slowest.seconds(now), 1)
        return cls(calls=len(calls), attempt=slowest.attempt, max_attempts=slowest.max_attempts, seconds=seconds)


class TargetProgressResponse(ColumnFields):
    target: Annotated[str, read_from("column.target.id")]
    """The same as `targetId`. Example: sober"""
    total: Annotated[Total, read_from("counts.total")]
    completed: Annotated[Completed, read_from("counts.completed")]
    errored: Annotated[Errored, read_from("counts.errored")]
    running: Annotated[Running, read_from("counts.running")]
    """Example: 0"""
    rate_per_second: Annotated[Rate, read_from("rate")]
    """Example: 4.5"""
    eta_seconds: Eta
    """Example: 40.0"""
    cost_usd: CostUsd
    """Spent on its probes with an outcome, judging included; null if a price is unknown."""
    priced_usd: float
    """The part of it whose price is known, in USD."""
    results: TargetResultsResponse
    """Result of each assertion."""
    errors: TargetErrorsResponse
    delays: list[DelayResponse]
    """Causes of delay; empty without one."""
    slow_calls: SlowCallsResponse | None = None
    """Calls in flight that are repeats or take long; null without any."""

    @classmethod
    def of(cls, view: ColumnProgressView, cost: Cost, now: datetime) -> "TargetProgressResponse":
        return cls.from_value(
            view,
            **cls.fields_of_column(view.column),
            cost_usd=cost.known_usd,
            priced_usd=cost.priced_usd,
            results=TargetResultsResponse.of(view),
            errors=TargetErrorsResponse.of(view),
            slow_calls=SlowCallsResponse.find(view.counts.slow_calls, now.timestamp()),
        )


class DetailedProgressResponse(ResponseModel):
    """Progress of a run, by target. Counts and costs are exact; `results` and `errors` say of how many probes."""

    run_id: Annotated[str, read_from("id")]
    status: RunStatus
    pause_reason: PauseReason | None
    """Who or what paused the run."""
    pause_cause: PauseCauseResponse | None
    """Cause to repair if Cupel paused it."""
    exhausted_budget: ExhaustedBudget
    read_at: Time
    """Time at which the figures were read. Example: 2026-11-20T09:34:10Z"""
    total: Annotated[Total, read_from("plan.total")]
    completed: Completed
    errored: Errored
    running: Running
    """Example: 0"""
    spend: RunSpendResponse
    targets: list[TargetProgressResponse]
    """Progress by target, then by prompt."""

    @classmethod
    def of(cls, view: RunProgressView) -> "DetailedProgressResponse":
        run, counts = view.run, [column.counts for column in view.columns]
        completed, errored = sum(each.completed for each in counts), sum(each.errored for each in counts)
        budget = BudgetUseResponse.find(run, view.account, Progress(run.plan.total, completed, errored))
        return cls.from_value(
            run,
            read_at=view.read_at,
            completed=completed,
            errored=errored,
            running=sum(each.running for each in counts),
            spend=RunSpendResponse.of(view.spend, run.plan.columns, budget, run.estimated_usd, view.spent_at),
            targets=[
                TargetProgressResponse.of(column, view.spend.of_column(number), view.read_at)
                for number, column in enumerate(view.columns)
            ],
        )
