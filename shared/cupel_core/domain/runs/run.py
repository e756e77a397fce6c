"""Defines runs, their statuses and the only transitions between them.

The store repeats each guard as a write condition.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.conversations.model_parameters import ParameterFields, merge_parameters
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.resources.webhooks import CallbackScope
from cupel_core.domain.runs.labels import RunLabels
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.priority import Priority as Priority
from cupel_core.domain.runs.run_spend import RunSpend
from cupel_core.domain.runs.settings import RunConfig
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.default_evaluators import EvaluatorName, EvaluatorStatus


class RunStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    SUMMARIZING = "SUMMARIZING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class ProbeStatus(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    ERROR = "ERROR"
    CANCELLED = "CANCELLED"


class PauseReason(StrEnum):
    USER = "user"
    BUDGET = "budget"
    PROVIDER = "provider"
    JUDGE = "judge"
    """The run's judge answers without giving a usable verdict; only a request resumes the run."""


class RunEventType(StrEnum):
    CREATED = "run.created"
    STARTED = "run.started"
    PHASE_CHANGED = "run.phase_changed"
    PAUSED = "run.paused"
    RESUMED = "run.resumed"
    CANCELLED = "run.cancelled"
    REOPENED = "run.reopened"
    FINISHED = "run.finished"
    UPDATED = "run.updated"
    """The run's labels were changed; `changed` names them."""
    COMPARISON_FINISHED = "comparison.finished"
    """A comparison with another run was computed; `comparisonId` names it."""
    ANALYSIS_FINISHED = "analysis.finished"
    """A requested analysis was computed; `analysisId` and `kind` name it."""
    BUDGET = "run.budget"
    """A share of the run's budget is used; `percent` is 80 or 100."""
    REPORT_FINISHED = "run.report"
    """A report was created or has failed; `reportId` and `status` say which."""
    RECOVERED = "run.recovered"
    """The sweeper resumed work that a crash had interrupted; `action` says which."""
    PROGRESS = "run.progress"
    """An event that is computed on read and never stored."""


class Action(StrEnum):
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    SUMMARIZE = "summarize"
    COMPLETE = "complete"
    FAIL = "fail"
    REOPEN = "reopen"


@dataclass(frozen=True)
class Transition:
    """Describes a status change and its event. Advancing the fencing token invalidates messages that have the old
    one."""

    sources: frozenset[RunStatus]
    target: RunStatus
    event: RunEventType
    advances_fencing_token: bool = False


_S = RunStatus
TRANSITIONS: dict[Action, Transition] = {
    Action.START: Transition(frozenset({_S.PENDING}), _S.RUNNING, RunEventType.STARTED),
    Action.PAUSE: Transition(
        frozenset({_S.PENDING, _S.RUNNING, _S.PAUSED}), _S.PAUSED, RunEventType.PAUSED, advances_fencing_token=True
    ),
    Action.RESUME: Transition(frozenset({_S.PAUSED}), _S.RUNNING, RunEventType.RESUMED, advances_fencing_token=True),
    Action.CANCEL: Transition(
        frozenset({_S.PENDING, _S.RUNNING, _S.PAUSED}),
        _S.CANCELLED,
        RunEventType.CANCELLED,
        advances_fencing_token=True,
    ),
    Action.SUMMARIZE: Transition(frozenset({_S.RUNNING}), _S.SUMMARIZING, RunEventType.PHASE_CHANGED),
    Action.COMPLETE: Transition(frozenset({_S.SUMMARIZING}), _S.COMPLETED, RunEventType.FINISHED),
    Action.FAIL: Transition(frozenset({_S.PENDING, _S.RUNNING, _S.SUMMARIZING}), _S.FAILED, RunEventType.FINISHED),
    Action.REOPEN: Transition(
        frozenset({_S.RUNNING, _S.COMPLETED, _S.FAILED}), _S.RUNNING, RunEventType.REOPENED, advances_fencing_token=True
    ),
}

STATUS_EVENTS = frozenset({RunEventType.CREATED, *(transition.event for transition in TRANSITIONS.values())})
TERMINAL = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})
ACTIVE = frozenset({RunStatus.PENDING, RunStatus.RUNNING})


class IllegalTransition(Exception):
    def __init__(self, action: Action, status: RunStatus) -> None:
        super().__init__(f"cannot {action} a run that is {status}")
        self.action = action
        self.status = status


def transition_for(action: Action, status: RunStatus) -> Transition:
    """Return the transition of `action` from `status`. Raises IllegalTransition if the table has none."""
    transition = TRANSITIONS[action]
    if status not in transition.sources:
        raise IllegalTransition(action, status)
    return transition


@dataclass(frozen=True)
class Progress:
    """Counts a run's probes with an outcome. `completed + failed` never exceeds `total`."""

    total: int
    completed: int = 0
    failed: int = 0

    @property
    def finished(self) -> bool:
        return self.completed + self.failed == self.total


@dataclass(frozen=True)
class RunFailure:
    """States why a run failed: `where` is the phase (`probing`, `settle`, `summarize`, `complete`), `why` is for users.
    `example_probe` has an error of this kind. Its message is not copied, because it may quote the conversation."""

    where: str
    why: str
    example_probe: int | None = None

    def to_event(self) -> dict[str, object]:
        return {"where": self.where, "why": self.why}


class ProfileRef(NamedTuple):
    id: str
    version: int


class StarterType(StrEnum):
    TOKEN = "token"  # noqa: S105 - no secret
    USER = "user"
    SCHEDULE = "schedule"
    SYSTEM = "system"


@dataclass(frozen=True)
class StartedBy:
    """Identifies what started a run: an API token, a user of the identity provider, a schedule, or Cupel itself."""

    type: StarterType
    id: str | None = None
    name: str | None = None


SYSTEM = StartedBy(StarterType.SYSTEM)


@dataclass(frozen=True)
class PauseCause:
    """The system paused the run because `model` cannot be called or gives no verdict; `message` says why."""

    model: str
    message: str


@dataclass(frozen=True)
class PeriodPause:
    """States which budget of the workspace paused a run, and what the cheapest of its next calls needs."""

    scope: BudgetScope
    needed_nano_usd: int


@dataclass(frozen=True)
class RetryScope:
    """Selects the errored probes that a retry covers: those of one target, a single one, or all."""

    model: str | None = None
    """A target by its id, or all targets of this model."""
    probe_index: int | None = None

    def merged_with(self, other: "RetryScope") -> "RetryScope":
        """Return a scope that covers both, which is every errored probe if they differ."""
        return self if self == other else RetryScope()

    def ranges(self, plan: Plan) -> tuple[range, ...]:
        """Return the covered indexes, ascending; only the errored ones of them are run again."""
        if self.probe_index is not None:
            return (range(self.probe_index, self.probe_index + 1),)
        if self.model is not None:
            return plan.ranges(plan.columns_of(self.model))
        return (range(plan.total),)


@dataclass(frozen=True)
class Run(RunConfig):
    """Contains one execution of a definition, as stored. Its definition and sampled cases are stored under
    `snapshot_key`."""

    workspace: str
    id: str
    definition_id: str
    definition_version: int
    plan: Plan
    sample_percentage: int
    sample_seed: int
    snapshot_key: str
    created_at: datetime
    updated_at: datetime
    definition_name: str
    scenario_count: int
    scenario_total: int
    status: RunStatus = RunStatus.PENDING
    fencing_token: int = 1
    retry_round: int = 1
    """The fencing token that last reopened the run; inner barrier nodes and errors of earlier rounds do not
    count."""
    conversation_round: int = 1
    """All probes without an outcome started over in this retry round. A retry while the run is RUNNING leaves it: only
    the retried probes start over, the others continue (`LeafItem.round_of`)."""
    retry: RetryScope | None = None
    event_seq: int = 0
    schedule_id: str | None = None
    """None if the run was started through the API."""
    eval_id: str | None = None
    execution_id: int | None = None
    """A sequence number among the workspace's eval runs."""
    playground: bool = False
    profile: ProfileRef | None = None
    """The operation profile of the turns; its content is in the snapshot."""
    pause_reason: PauseReason | None = None
    pause_cause: PauseCause | None = None
    """The cause of the pause if `pause_reason` is provider or judge, otherwise None."""
    period_pause: PeriodPause | None = None
    """The period whose budget of the workspace is used up, if `pause_reason` is budget; None if it is the run's own."""
    failure: RunFailure | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    deleted_at: datetime | None = None
    settled: Progress | None = None
    """The final counts once the run is settled; until then they are read from the barrier."""
    spend: RunSpend | None = None
    """The total once the run is COMPLETED or FAILED; until then it is read from the barrier."""
    started_by: StartedBy = SYSTEM
    rerun_of: str | None = None
    revised_prompt: str | None = None
    """A digest of the system prompt that replaces the definition's in a trial of a revised prompt."""
    labels: RunLabels = field(default_factory=RunLabels)
    evaluators: Mapping[EvaluatorName, EvaluatorStatus] = field(default_factory=dict)
    trial: bool = False
    """The run tries the revised prompt of a report."""
    scale: bool = False
    budget: RunBudget | None = None
    callbacks: CallbackScope | None = None
    """The run calls the webhook for these; None if the workspace had no enabled webhook at the start."""
    estimated_usd: EstimateInterval | None = None
    """The expected cost at the start; None if a price was unknown."""

    @property
    def duration_ms(self) -> int | None:
        """Return the time from the start of the first probe to the end of the run; None until it has ended."""
        if self.started_at is None or self.completed_at is None:
            return None
        return round((self.completed_at - self.started_at).total_seconds() * 1_000)

    @property
    def exhausted_budget(self) -> BudgetScope | None:
        if self.status is not RunStatus.PAUSED or self.pause_reason != PauseReason.BUDGET:
            return None
        return self.period_pause.scope if self.period_pause else BudgetScope.RUN

    @property
    def needed_nano_usd(self) -> int:
        """Return what the cheapest call needs for which a budget paused the run; 0 if none did."""
        if self.exhausted_budget is None:
            return 0
        if self.period_pause is not None:
            return self.period_pause.needed_nano_usd
        return self.budget.needed_nano_usd if self.budget else 0

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(target.model for target in self.plan.targets))

    def parameters_of(self, target: Target) -> ParameterFields:
        return merge_parameters(self.params, target.params)


@dataclass(frozen=True)
class RunEvent:
    seq: int
    type: RunEventType
    ts: datetime
    data: dict[str, object]
