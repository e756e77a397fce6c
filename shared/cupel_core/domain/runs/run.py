"""The states of a run and the only moves between them. The store repeats each guard as a write condition."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.scoring.grader_config import Evaluation


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


class Priority(StrEnum):
    LOW = "LOW"
    NORMAL = "NORMAL"
    HIGH = "HIGH"


class EventType(StrEnum):
    CREATED = "run.created"
    STARTED = "run.started"
    PHASE_CHANGED = "run.phase_changed"
    PAUSED = "run.paused"
    RESUMED = "run.resumed"
    CANCELLED = "run.cancelled"
    REOPENED = "run.reopened"
    FINISHED = "run.finished"
    RECOVERED = "run.recovered"
    """The sweeper has set going again what a crash had left; `action` says what."""
    PROGRESS = "run.progress"
    """Computed when read, never stored."""


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
class Move:
    """A status change and the event that tells it; `new_epoch` makes the messages of the old one void."""

    sources: frozenset[RunStatus]
    target: RunStatus
    event: EventType
    new_epoch: bool = False


_S = RunStatus
MOVES: dict[Action, Move] = {
    Action.START: Move(frozenset({_S.PENDING}), _S.RUNNING, EventType.STARTED),
    Action.PAUSE: Move(frozenset({_S.PENDING, _S.RUNNING}), _S.PAUSED, EventType.PAUSED, new_epoch=True),
    Action.RESUME: Move(frozenset({_S.PAUSED}), _S.RUNNING, EventType.RESUMED, new_epoch=True),
    Action.CANCEL: Move(
        frozenset({_S.PENDING, _S.RUNNING, _S.PAUSED}), _S.CANCELLED, EventType.CANCELLED, new_epoch=True
    ),
    Action.SUMMARIZE: Move(frozenset({_S.RUNNING}), _S.SUMMARIZING, EventType.PHASE_CHANGED),
    Action.COMPLETE: Move(frozenset({_S.SUMMARIZING}), _S.COMPLETED, EventType.FINISHED),
    Action.FAIL: Move(frozenset({_S.PENDING, _S.RUNNING, _S.SUMMARIZING}), _S.FAILED, EventType.FINISHED),
    Action.REOPEN: Move(frozenset({_S.COMPLETED, _S.FAILED}), _S.RUNNING, EventType.REOPENED, new_epoch=True),
}

TERMINAL = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})
ACTIVE = frozenset({RunStatus.PENDING, RunStatus.RUNNING})
"""The statuses in which probes may start."""


class IllegalMove(Exception):
    def __init__(self, action: Action, status: RunStatus) -> None:
        super().__init__(f"a run that is {status} cannot {action}")
        self.action = action
        self.status = status


def allowed(action: Action, status: RunStatus) -> Move:
    """The move that `action` is from `status`; raises IllegalMove where the table has none."""
    move = MOVES[action]
    if status not in move.sources:
        raise IllegalMove(action, status)
    return move


@dataclass(frozen=True)
class Progress:
    """Probes of a run that have an outcome. `completed + failed` never exceeds `total`."""

    total: int
    completed: int = 0
    failed: int = 0

    @property
    def finished(self) -> bool:
        return self.completed + self.failed == self.total


@dataclass(frozen=True)
class Failure:
    """Why a run failed: `where` is the phase (`probing`, `settle`, `summarize`, `complete`), `why` is for a person."""

    where: str
    why: str


@dataclass(frozen=True)
class Retry:
    """Which errored probes a retry is for: those of one model, one probe, or all."""

    model: str | None = None
    probe_index: int | None = None

    def ranges(self, plan: Plan) -> tuple[range, ...]:
        """The indexes it is for, ascending; of these only the errored ones are run again."""
        if self.probe_index is not None:
            return (range(self.probe_index, self.probe_index + 1),)
        if self.model is not None:
            return plan.target_ranges(plan.targets.index(self.model))
        return (range(plan.total),)


@dataclass(frozen=True)
class Run:
    """One execution of a definition, as stored. Its selection and definition snapshot lie under `snapshot_key`."""

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
    priority: Priority = Priority.NORMAL
    status: RunStatus = RunStatus.PENDING
    epoch: int = 1
    generation: int = 1
    """The epoch that last reopened the run: inner barrier nodes and errors of earlier ones count no more."""
    retry: Retry | None = None
    """What the present generation runs again."""
    event_seq: int = 0
    """The `seq` of the run's newest event."""
    experiment_id: str | None = None
    schedule_id: str | None = None
    """The schedule that started it; None when a person or a program did."""
    eval_id: str | None = None
    execution_id: int | None = None
    """Counts the workspace's runs of evals."""
    playground: bool = False
    """One scenario that somebody tries out."""
    evaluation: Evaluation = field(default_factory=Evaluation)
    temperature: float | None = None
    max_turns: int | None = None
    pause_reason: str | None = None
    failure: Failure | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    deleted_at: datetime | None = None
    settled: Progress | None = None
    """The final counts, once the run is settled; until then the barrier is asked."""

    @property
    def models(self) -> tuple[str, ...]:
        return self.plan.targets


@dataclass(frozen=True)
class Event:
    seq: int
    type: EventType
    ts: datetime
    data: dict[str, object]
