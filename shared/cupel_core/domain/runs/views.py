from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.conversations.attempts import FailedAttempts
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.limits.provider_status import SuspendedModel
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.column_progress import ColumnCounts
from cupel_core.domain.runs.column_samples import ColumnSample
from cupel_core.domain.runs.delays import Delay
from cupel_core.domain.runs.identifiers import thread_id, transcript_id
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.run import ProbeStatus, Progress, Run
from cupel_core.domain.runs.run_rates import RunRates
from cupel_core.domain.runs.run_spend import RunSpend
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript


@dataclass(frozen=True)
class RunView:
    run: Run
    progress: Progress
    spend: RunSpend
    definition_snapshot: dict[str, Any] | None
    last_accessed_at: datetime | None
    recorded_at: datetime | None = None
    """The latest outcome was recorded at this time; None once the run has ended."""
    suspended_models: tuple[SuspendedModel, ...] = ()
    """The circuit breakers of these models of the run are open; lists do not have it."""
    account: BudgetAccount | None = None
    """Accounts for the run's budget; None if it has none."""
    price_list: str | None = None
    """The price list at the run's start; lists do not have it."""
    rates: RunRates | None = None
    """The pass rates of a run that is over; only lists have them."""

    @property
    def updated_at(self) -> datetime:
        return max(self.run.updated_at, self.recorded_at or self.run.updated_at)

    @property
    def spent_at(self) -> datetime | None:
        return self.run.completed_at or self.recorded_at


class BudgetView(NamedTuple):
    run: Run
    budget: RunBudget
    account: BudgetAccount


@dataclass(frozen=True)
class ColumnProgressView:
    """`rate` is in probes per second; None if nobody has read the run's progress in the last minute."""

    column: Column
    counts: ColumnCounts
    sample: ColumnSample
    rate: float | None = None
    delays: tuple[Delay, ...] = ()

    @property
    def eta_seconds(self) -> float | None:
        """Return the time left at the current rate; None while the rate is unknown or 0."""
        left = self.counts.total - self.counts.recorded
        if not left:
            return 0.0
        return left / self.rate if self.rate else None


@dataclass(frozen=True)
class RunProgressView:
    run: Run
    read_at: datetime
    spend: RunSpend
    columns: tuple[ColumnProgressView, ...]
    account: BudgetAccount | None = None
    """Accounts for the run's budget; None if it has none."""
    spent_at: datetime | None = None


@dataclass(frozen=True)
class TranscriptView:
    id: str
    run_id: str
    column: Column
    case: CaseView
    repeat: int
    transcript: Transcript
    definition_snapshot: dict[str, Any] | None
    content_available: bool
    """False once the content has expired or was deleted, even while its item still exists."""


@dataclass(frozen=True)
class ProbeView:
    """Contains a probe with its current status and its outcome, if any; its id is also its transcript's."""

    run: Run
    index: int
    status: ProbeStatus
    column: Column
    case: CaseView
    repeat: int
    retry_round: int
    called_since: datetime | None = None
    """The worker of a running probe made the first call at this time."""
    outcome: Outcome | None = None
    attempts: tuple[ProbeError, ...] = ()
    """The errors before the probe was retried, oldest first."""
    partial_conversation: ConversationState | None = None
    """The checkpoint of a running or errored probe's conversation; only detailed reads have it."""

    @property
    def id(self) -> str:
        return transcript_id(self.run.id, self.index)

    @property
    def thread_id(self) -> str:
        """Return the agent's id of the conversation, which changes when the probe is retried."""
        transcript = self.transcript
        if transcript is not None and transcript.conversation.thread_id:
            return transcript.conversation.thread_id
        return thread_id(self.run.id, self.index, self.retry_round)

    @property
    def started_at(self) -> datetime | None:
        sources = (source for source in (self.error, self.conversation) if source)
        return next((source.started_at for source in sources if source.started_at), self.called_since)

    @property
    def repeated_calls(self) -> tuple[FailedAttempts, ...]:
        state = self.partial_conversation if self.status is ProbeStatus.RUNNING else None
        return tuple(state.attempts.values()) if state else ()

    @property
    def completed_at(self) -> datetime | None:
        return self.outcome.created_at if self.outcome else None

    @property
    def updated_at(self) -> datetime:
        """Return the latest known time, which for a retried probe is at least that of the error before the retry."""
        failed = (error.created_at for error in self.attempts)
        return self.completed_at or max(filter(None, (self.run.created_at, *failed, self.started_at)))

    @property
    def conversation(self) -> ConversationState | None:
        return self.transcript.conversation if self.transcript else self.partial_conversation

    @property
    def transcript(self) -> Transcript | None:
        return self.outcome if isinstance(self.outcome, Transcript) else None

    @property
    def error(self) -> ProbeError | None:
        return self.outcome if isinstance(self.outcome, ProbeError) else None
