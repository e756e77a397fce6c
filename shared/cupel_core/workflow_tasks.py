"""Code shared by the functions of the two workflows (finishing, rescoring), which run the phase that `op` names."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel

from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.messages import Cause, QueueMessage


class WarmUp(BaseModel):
    """The task of loading the code of all phases; `cupel up` sends it so that the first execution has no cold start."""

    op: Literal["warm"]


class LeafRangeFields(QueueMessage):
    """The fields of a task for one range of a run's leaves."""

    first_leaf: int
    leaves: int

    @property
    def leaf_range(self) -> LeafRange:
        return LeafRange(self.first_leaf, self.leaves)


class PhaseFailure(NamedTuple):
    where: str
    why: str


def phase_failure(causes: Mapping[Any, Cause]) -> PhaseFailure:
    """The phase that failed for good, and its error, from the state machine's `error` (one entry)."""
    phase, cause = next(iter(causes.items()))
    return PhaseFailure(phase, cause.describe())


def leaf_ranges_output(status: str, ranges: Iterable[LeafRange]) -> dict[str, Any]:
    """The result of a workflow's first phase: the Map state starts one task per leaf range."""
    return {"status": status, "slices": [{"firstLeaf": each.first_leaf, "leaves": each.leaves} for each in ranges]}


def time_left(context: LambdaContext) -> Callable[[], float]:
    """A function that returns the seconds until the invocation times out."""
    return lambda: context.get_remaining_time_in_millis() / 1_000
