"""The statuses of a run and the only transitions between them. The store repeats each guard as a write condition."""

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
    """Its labels were changed; `changed` names them."""
    COMPARISON_FINISHED = "comparison.finished"
    """A comparison of it with another run was computed; `comparisonId` names it."""
    ANALYSIS_FINISHED = "analysis.finished"
    """A requested analysis was computed; `analysisId` and `kind` name it."""
    BUDGET = "run.budget"
    """So much of its budget is used; `percent` is 80 or 100."""
    REPORT_FINISHED = "run.report"
    """A report of it was made, or has failed; `reportId` and `status` say which."""
    RECOVERED = "run.recovered"
    """The sweeper resumed work that a crash had interrupted; `action` says which."""
    PROGRESS = "run.progress"
    """Computed on read, never stored."""


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
    """A status change and its event. Advancing the fencing token invalidates messages that carry the old one."""

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
"""What a webhook receives."""
TERMINAL = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})
ACTIVE = frozenset({RunStatus.PENDING, RunStatus.RUNNING})
"""Statuses in which probes may start."""


class IllegalTransition(Exception):
    def __init__(self, action: Action, status: RunStatus) -> None:
        super().__init__(f"cannot {action} a run that is {status}")
        self.action = action
        self.status = status


def transition_for(action: Action, status: RunStatus) -> Transition:
    """The transition of `action` from `status`; raises IllegalTransition if the table has none."""
    transition = TRANSITIONS[action]
    if status not in transition.sources:
        raise IllegalTransition(action, status)
    return transition


@dataclass(frozen=True)
class Progress:
    """Counts of a run's probes with an outcome. `completed + failed` never exceeds `total`."""

    total: int
    completed: int = 0
    failed: int = 0

    @property
    def finished(self) -> bool:
        return self.completed + self.failed == self.total


@dataclass(frozen=True)
class RunFailure:
    """Why a run failed: `where` is the phase (`probing`, `settle`, `summarize`, `complete`), `why` is for users.

    `example_probe` has an error of this kind. Its message is not copied, because it may quote the conversation.
    """

    where: str
    why: str
    example_probe: int | None = None

    def to_event(self) -> dict[str, object]:
        return {"where": self.where, "why": self.why}


class ProfileRef(NamedTuple):
    """A version of an operation profile."""

    id: str
    version: int


class StarterType(StrEnum):
    TOKEN = "token"  # noqa: S105 - no secret
    USER = "user"
    SCHEDULE = "schedule"
    SYSTEM = "system"


@dataclass(frozen=True)
class StartedBy:
    """Who or what started a run: an API token, a user of the identity provider, a schedule, or Cupel itself."""

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
    """Which of the workspace's budgets paused a run, and what the cheapest of its next calls needs."""

    scope: BudgetScope
    needed_nano_usd: int


@dataclass(frozen=True)
class RetryScope:
    """The errored probes that a retry covers: those of one target, a single one, or all."""

    model: str | None = None
    """A target by its id, or all targets of this model."""
    probe_index: int | None = None

    def merged_with(self, other: "RetryScope") -> "RetryScope":
        """A scope that covers both; every errored probe if they differ."""
        return self if self == other else RetryScope()

    def ranges(self, plan: Plan) -> tuple[range, ...]:
        """The indexes it covers, ascending; of these, only the errored ones are run again."""
        if self.probe_index is not None:
            return (range(self.probe_index, self.probe_index + 1),)
        if self.model is not None:
            return plan.ranges(plan.columns_of(self.model))
        return (range(plan.total),)


@dataclass(frozen=True)
class Run(RunConfig):
    """One execution of a definition, as stored. Its definition and sampled cases are stored under `snapshot_key`."""

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
    """The name of its definition when it started."""
    scenario_count: int
    """Number of scenarios that the run has."""
    scenario_total: int
    """Number of scenarios that the definition's version has."""
    status: RunStatus = RunStatus.PENDING
    fencing_token: int = 1
    retry_round: int = 1
    """The fencing token that last reopened the run; inner barrier nodes and errors of earlier rounds do not count."""
    conversation_round: int = 1
    """The retry round in which all probes without an outcome started over. A retry while the run is RUNNING leaves it:
    only the retried probes start over, the others continue (`LeafItem.round_of`)."""
    retry: RetryScope | None = None
    """Which probes the current retry round runs again."""
    event_seq: int = 0
    """The `seq` of the run's newest event."""
    schedule_id: str | None = None
    """The schedule that started it; None if it was started through the API."""
    eval_id: str | None = None
    execution_id: int | None = None
    """Sequence number among the workspace's eval runs."""
    playground: bool = False
    """Whether it is a one-scenario trial from the playground."""
    profile: ProfileRef | None = None
    """The operation profile of its turns; its content is in the snapshot."""
    pause_reason: PauseReason | None = None
    pause_cause: PauseCause | None = None
    """It is set if `pause_reason` is provider or judge."""
    period_pause: PeriodPause | None = None
    """Set if `pause_reason` is budget and the workspace's budget is used up, not the run's."""
    failure: RunFailure | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    deleted_at: datetime | None = None
    settled: Progress | None = None
    """The final counts once the run is settled; until then they are read from the barrier."""
    spend: RunSpend | None = None
    """What it has spent in all, once it is COMPLETED or FAILED; until then it is read from the barrier."""
    started_by: StartedBy = SYSTEM
    rerun_of: str | None = None
    """The run that it repeats."""
    revised_prompt: str | None = None
    """A digest of the system prompt that it has instead of the definition's: that of a trial's revised prompt."""
    labels: RunLabels = field(default_factory=RunLabels)
    evaluators: Mapping[EvaluatorName, EvaluatorStatus] = field(default_factory=dict)
    """Of a scale run: its default evaluators."""
    trial: bool = False
    """Whether the revised prompt of that report is tried."""
    scale: bool = False
    """Whether it was started as a scale run."""
    budget: RunBudget | None = None
    """None if its spending is not limited."""
    callbacks: CallbackScope | None = None
    """What it calls the workspace's webhook for; None if there was no enabled webhook when it started."""
    estimated_usd: EstimateInterval | None = None
    """What it was expected to cost when it started. None if a price was unknown."""

    @property
    def duration_ms(self) -> int | None:
        """From the start of its first probe to its end; None until it has ended."""
        if self.started_at is None or self.completed_at is None:
            return None
        return round((self.completed_at - self.started_at).total_seconds() * 1_000)

    @property
    def exhausted_budget(self) -> BudgetScope | None:
        """Which budget it was paused for; None if it was not paused for one."""
        if self.status is not RunStatus.PAUSED or self.pause_reason != PauseReason.BUDGET:
            return None
        return self.period_pause.scope if self.period_pause else BudgetScope.RUN

    @property
    def needed_nano_usd(self) -> int:
        """What the cheapest call needs for which a budget paused it; 0 if none did."""
        if self.exhausted_budget is None:
            return 0
        if self.period_pause is not None:
            return self.period_pause.needed_nano_usd
        return self.budget.needed_nano_usd if self.budget else 0

    @property
    def models(self) -> tuple[str, ...]:
        """The models and connectors of its targets, each once."""
        return tuple(dict.fromkeys(target.model for target in self.plan.targets))

    def parameters_of(self, target: Target) -> ParameterFields:
        return merge_parameters(self.params, target.params)


@dataclass(frozen=True)
class RunEvent:
    seq: int
    type: RunEventType
    ts: datetime
    data: dict[str, object]
