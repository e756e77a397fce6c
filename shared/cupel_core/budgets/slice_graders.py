"""Graders for workflow tasks: no call starts that might not end before the invocation does."""

from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

from cupel_core.accounts.keys import load_accounts
from cupel_core.accounts.leases import LeasePool
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.resources.providers import Prices
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.scoring.assertions import Assertion, flatten
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.call_guard import CallLimiter
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.embeddings import EmbedAttempt, embed
from cupel_core.providers.errors import CallPrevented
from cupel_core.resources.evaluation_settings import evaluator_headers
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.store.settings import settings

type OnSpend = Callable[[str | None, Spend], None]
"""Called with the configured judge, whose provider the metric names, and the recorded spend."""


def ignore_spend(model: str | None, spend: Spend) -> None: ...


MAX_CONCURRENT = 50
MAX_WAIT_SECONDS = 60.0
RESERVE_SECONDS = 5.0
"""Seconds at the end of an invocation that are reserved for storing results."""


class GraderCalls(NamedTuple):
    attempt: Attempt = complete
    embed_attempt: EmbedAttempt = embed


class TimeIsUp(CallPrevented):
    """A call might not end before the invocation does. Its transcript is left to the next invocation."""


def slice_leases(seconds_left: Callable[[], float], priority: Priority) -> LeasePool:
    """Return leases for the calls of a workflow task, which wait for an account as long as there is time."""
    return LeasePool(priority=priority, max_wait_seconds=lambda: max(0.0, spare_seconds(seconds_left)), patient=True)


def spare_seconds(seconds_left: Callable[[], float]) -> float:
    return seconds_left() - settings().call_timeout_seconds - RESERVE_SECONDS


def slice_graders(
    workspace: str,
    config: GraderConfig,
    models: Iterable[str],
    seconds_left: Callable[[], float],
    limiter: CallLimiter,
    calls: GraderCalls = GraderCalls(),  # noqa: B008 - immutable
    prices: Prices | None = None,
) -> GraderFactory:
    """Return a factory whose graders raise TimeIsUp instead of starting a call too late. The accounts of `models` and
    the evaluator's headers are read right away, because an event loop must not wait for them."""

    async def check_time() -> None:
        if spare_seconds(seconds_left) < 0:
            raise TimeIsUp

    return GraderFactory(
        workspace=workspace,
        config=config,
        accounts=load_accounts(workspace, models, prices),
        limiter=limiter,
        call_timeout_seconds=settings().call_timeout_seconds,
        max_wait_seconds=MAX_WAIT_SECONDS,
        rng=Random(),  # noqa: S311 - jitter
        before_call=check_time,
        attempt=calls.attempt,
        embed_attempt=calls.embed_attempt,
        evaluator_headers=evaluator_headers(workspace, config),
        allow_private=settings().allow_private_endpoints,
    )


def grader_models(config: GraderConfig, assertions: Iterable[Assertion]) -> frozenset[str]:
    named = {config.judge_model, config.embedding_model}
    named.update(assertion.provider for assertion in flatten(tuple(assertions)))
    return frozenset(model for model in named if model is not None)
