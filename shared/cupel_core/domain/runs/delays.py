"""What holds up the probes of a target: its run, the queue of a provider, or a model."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum

from cupel_core.deferred import dataclass
from cupel_core.domain.limits.provider_status import ProviderStatus
from cupel_core.domain.runs.run import ACTIVE, Run, RunStatus


class DelayReason(StrEnum):
    RUN_PAUSED = "run_paused"
    QUEUE_PAUSED = "queue_paused"
    MODEL_SUSPENDED = "model_suspended"
    THROTTLED = "throttled"
    LEARNED_LIMIT = "learned_limit"


@dataclass(frozen=True)
class Delay:
    """Why probes wait. A learned limit slows them down, every other reason stops them."""

    reason: DelayReason
    provider: str | None = None
    model: str | None = None
    """The target, or the model that judges or simulates the user."""
    until: datetime | None = None
    message: str | None = None
    """The provider's words."""
    limit: int | None = None
    learned_limit: int | None = None

    @property
    def stops(self) -> bool:
        return self.reason is not DelayReason.LEARNED_LIMIT


def called_models(run: Run, target: str) -> tuple[str, ...]:
    """The target and the models that grade its conversations or simulate their users."""
    graders = run.grader_config
    models = (target, graders.judge_model, graders.persona_model, graders.embedding_model)
    return tuple(dict.fromkeys(model for model in models if model))


def delays_of(run: Run, target: str, providers: Mapping[str, ProviderStatus]) -> tuple[Delay, ...]:
    """What holds up a target, given the status of each provider that the run calls."""
    if run.status is RunStatus.PAUSED:
        return (_pause(run),)
    if run.status not in ACTIVE:
        return ()
    models = called_models(run, target)
    names = dict.fromkeys(model.partition("/")[0] for model in models)
    return tuple(delay for name in names for delay in _provider_delays(name, providers[name], frozenset(models)))


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
