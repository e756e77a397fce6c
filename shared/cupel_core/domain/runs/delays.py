"""Finds what delays the probes of a target: its run, a budget, the queue of a provider, a model, or other work."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum

from cupel_core.base.deferred import dataclass
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.limits.provider_status import ProviderStatus
from cupel_core.domain.runs.pace import Stagger
from cupel_core.domain.runs.run import ACTIVE, Run, RunStatus


class DelayReason(StrEnum):
    RUN_PAUSED = "run_paused"
    QUEUE_PAUSED = "queue_paused"
    MODEL_SUSPENDED = "model_suspended"
    THROTTLED = "throttled"
    LEARNED_LIMIT = "learned_limit"
    BUDGET = "budget"
    HIGHER_PRIORITY = "higher_priority"
    CHAT_RESERVATION = "chat_reservation"
    RUN_LIMIT = "run_limit"


@dataclass(frozen=True)
class Delay:
    """States why probes wait. A learned limit, a higher priority, slots reserved for chats and the limits of the run
    itself slow them down; every other reason stops them."""

    reason: DelayReason
    provider: str | None = None
    model: str | None = None
    """The target, or the model that judges or simulates the user."""
    until: datetime | None = None
    message: str | None = None
    limit: int | None = None
    learned_limit: int | None = None
    budget: BudgetScope | None = None
    """The rest of this budget is reserved for other calls."""
    taken_slots: int | None = None
    """Number of slots that are taken; `limit` is the number that the account has at present."""
    stagger_ms: Stagger | None = None
    """A run that limits itself has this gap between two starts."""


def called_models(run: Run, target: str) -> tuple[str, ...]:
    graders = run.grader_config
    models = (target, graders.judge_model, graders.persona_model, graders.embedding_model)
    return tuple(dict.fromkeys(model for model in models if model))


def delays_of(
    run: Run,
    target: str,
    providers: Mapping[str, ProviderStatus],
    awaited: BudgetScope | None = None,
    *,
    is_complete: bool = False,
    queued: int = 0,
    running: int = 0,
) -> tuple[Delay, ...]:
    """Return what delays a target, given the status of each provider that the run calls.

    `awaited` is the budget for which its calls wait; `is_complete` says that all of its probes have an outcome.
    `queued` counts its probes that have not begun, `running` the conversations of the whole run that are in progress.
    """
    if run.status is RunStatus.PAUSED:
        return (_pause(run),)
    if run.status not in ACTIVE:
        return ()
    models = called_models(run, target)
    names = dict.fromkeys(model.partition("/")[0] for model in models)
    found = [delay for name in names for delay in _provider_delays(name, providers[name], frozenset(models))]
    if queued and (own := _own_limit(run, running)) is not None:
        # While the run's own limit stops further conversations, a learned limit is not what slows it down.
        found = [own, *(delay for delay in found if delay.reason is not DelayReason.LEARNED_LIMIT)]
    if not is_complete:
        if awaited is not None:
            found.insert(0, Delay(DelayReason.BUDGET, budget=awaited))
        found += [delay for name in names for delay in _priority_delays(name, providers[name], run)]
    return tuple(found)


def _own_limit(run: Run, running: int) -> Delay | None:
    """Return the run's own pace if it prevents another conversation from starting."""
    pace = run.pace
    if pace.max_concurrency is not None and running >= pace.max_concurrency:
        return Delay(DelayReason.RUN_LIMIT, limit=pace.max_concurrency, stagger_ms=pace.stagger_ms)
    return Delay(DelayReason.RUN_LIMIT, stagger_ms=pace.stagger_ms) if pace.stagger_ms and pace.stagger_ms[1] else None


def _pause(run: Run) -> Delay:
    if run.pause_cause is None:
        return Delay(DelayReason.RUN_PAUSED)
    return Delay(DelayReason.RUN_PAUSED, model=run.pause_cause.model, message=run.pause_cause.message)


def _provider_delays(name: str, status: ProviderStatus, models: frozenset[str]) -> Iterator[Delay]:
    if status.paused:
        yield Delay(DelayReason.QUEUE_PAUSED, name)
    for suspended in status.suspended_models:
        if suspended.model in models:
            yield Delay(
                DelayReason.MODEL_SUSPENDED,
                name,
                model=suspended.model,
                until=suspended.until,
                message=suspended.reason,
            )
    if status.blocked_until is not None:
        yield Delay(DelayReason.THROTTLED, name, until=status.blocked_until)
    if status.learned_limit is not None:
        yield Delay(DelayReason.LEARNED_LIMIT, name, limit=status.limit, learned_limit=status.learned_limit)


def _priority_delays(name: str, status: ProviderStatus, run: Run) -> Iterator[Delay]:
    if status.paused or status.blocked_until is not None:
        return
    if taken := status.taken_slots(run.priority):
        yield Delay(DelayReason.HIGHER_PRIORITY, name, limit=status.slots, taken_slots=taken)
    if status.reserved_slots and sum(status.demands.values()) > status.slots:
        limit = status.slots + status.reserved_slots
        yield Delay(DelayReason.CHAT_RESERVATION, name, limit=limit, taken_slots=status.reserved_slots)
