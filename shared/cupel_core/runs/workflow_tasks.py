"""Code shared by the functions of the two workflows (finishing, rescoring), which run the phase that `op` names."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from typing import Any, Literal, NamedTuple

from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel

from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import Cause, QueueMessage
from cupel_core.budgets.slice_graders import OnSpend
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress, max_rounds
from cupel_core.providers import queue_of

MIN_WAIT_SECONDS = 10
MAX_WAIT_SECONDS = 300
"""A range waits no longer at a time, as the provider may answer sooner than it says."""
MAX_WAITED_SECONDS = 3_600
"""A range in which no transcript is done waits this long for judges' providers."""


class WarmUp(BaseModel):
    """The task of loading the code of all phases. `cupel up` sends it so that the first execution has no cold start."""

    op: Literal["warm"]


class LeafRangeFields(QueueMessage):
    first_leaf: int
    leaves: int
    rounds: int = 0
    """The number of times that this execution has carried out the task before."""
    max_rounds: int = 1
    waited: int = 0
    """The seconds for which it has waited for judges' providers since a task of the range made progress."""

    @property
    def leaf_range(self) -> LeafRange:
        return LeafRange(self.first_leaf, self.leaves)


class LeftFields(QueueMessage):
    left: tuple[int, ...]
    """The minimum number of transcripts that each range has left."""

    @property
    def is_continued(self) -> bool:
        """Return whether this execution ends before its work does. The sweeper then starts another one."""
        return sum(self.left) > 0


class PhaseFailure(NamedTuple):
    where: str
    why: str


def phase_failure(causes: Mapping[Any, Cause]) -> PhaseFailure:
    """Return the phase that failed for good, and its error, from the state machine's `error` (one entry)."""
    phase, cause = next(iter(causes.items()))
    return PhaseFailure(phase, cause.describe())


def leaf_range_items(ranges: Iterable[LeafRange]) -> list[dict[str, int]]:
    return [{"firstLeaf": each.first_leaf, "leaves": each.leaves} for each in ranges]


def leaf_ranges_output(status: str, ranges: Iterable[LeafRange]) -> dict[str, Any]:
    """Return the result of a workflow's first phase. The Map state starts one task per leaf range."""
    slices = leaf_range_items(ranges)
    return {"status": status, "slices": slices, "maxRounds": max_rounds(len(slices))}


def slice_output(task: LeafRangeFields, progress: SliceProgress) -> dict[str, Any]:
    """Return the result of a task, which the state machine repeats while `again`, after `waitSeconds`. Raise
    RetryableError, which Step Functions retries five times, if transcripts are left and none was done, unless a
    provider asks to wait: then the range waits for up to MAX_WAITED_SECONDS."""
    wait_seconds = _bounded_wait_seconds(progress, task.waited)
    may_wait = wait_seconds > 0 and task.waited < MAX_WAITED_SECONDS
    if progress.left and not (progress.done or may_wait):
        raise RetryableError(f"at least {progress.left} transcripts are left, {progress.done} were done")
    rounds = task.rounds + 1
    return {
        "firstLeaf": task.first_leaf,
        "left": progress.left,
        "rounds": rounds,
        "again": progress.left > 0 and rounds < task.max_rounds,
        "waitSeconds": wait_seconds,
        "waited": wait_seconds + (0 if progress.done else task.waited),
    }


def _bounded_wait_seconds(progress: SliceProgress, waited: int) -> int:
    """Return 0 if nothing is left, or if no provider asks to wait. Waits without progress become longer, because an
    execution may repeat the task of a range only `max_rounds` times."""
    if not progress.left or progress.wait_seconds <= 0:
        return 0
    grown = 0 if progress.done else waited // 2
    return min(MAX_WAIT_SECONDS, max(MIN_WAIT_SECONDS, ceil(progress.wait_seconds), grown))


def time_left(context: LambdaContext) -> Callable[[], float]:
    return lambda: context.get_remaining_time_in_millis() / 1_000


@contextmanager
def spent_metric() -> Iterator[OnSpend]:
    """Publish a task's recorded spending as the metric SpentUsd by provider, even if the task fails."""
    spent_usd: defaultdict[str, float] = defaultdict(float)

    def add(model: str | None, spend: Spend) -> None:
        if spend.calls:
            spent_usd[queue_of((model or "unknown").partition("/")[0])] += spend.cost_usd or 0.0

    try:
        yield add
    finally:
        for provider, usd in spent_usd.items():
            with single_metric(name="SpentUsd", unit=MetricUnit.NoUnit, value=usd) as metric:
                metric.add_dimension("provider", provider)
