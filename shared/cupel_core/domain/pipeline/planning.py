"""Selects the operations of a profile that run in a turn, and the order in which their results apply."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from heapq import heapify, heappop, heappush

from cupel_core.base.deferred import dataclass
from cupel_core.domain.pipeline.operations import Hook, ProfileOperation, Trigger
from cupel_core.domain.pipeline.profiles import Pipeline


class OmissionReason(StrEnum):
    """The reason why an operation is left out of a turn."""

    DISABLED = "disabled"
    TRIGGER_MISMATCH = "trigger_mismatch"


@dataclass(frozen=True)
class OmittedOperation:
    operation_id: str
    reason: OmissionReason


@dataclass(frozen=True)
class PipelinePlan:
    """Lists the operations of one turn by hook, each in commit order, and those that are left out."""

    steps: Mapping[Hook, tuple[ProfileOperation, ...]]
    omitted: tuple[OmittedOperation, ...]

    @property
    def step_count(self) -> int:
        return sum(map(len, self.steps.values()))


def plan_turn(pipeline: Pipeline, trigger: Trigger) -> PipelinePlan:
    """Plan a turn as a pure function of the profile's version and the trigger, so that a resumed turn has the same
    plan."""
    included = [operation for operation in pipeline.operations if _omission(operation, trigger) is None]
    omitted = (
        OmittedOperation(operation.id, reason)
        for operation in pipeline.operations
        if (reason := _omission(operation, trigger)) is not None
    )
    steps = {hook: commit_order(each for each in included if hook in each.hooks) for hook in Hook}
    return PipelinePlan(steps, tuple(omitted))


def _omission(operation: ProfileOperation, trigger: Trigger) -> OmissionReason | None:
    if not operation.enabled:
        return OmissionReason.DISABLED
    return None if trigger in operation.triggers else OmissionReason.TRIGGER_MISMATCH


def commit_order(operations: Iterable[ProfileOperation]) -> tuple[ProfileOperation, ...]:
    """Return dependencies first, then by `order`, then by id: the least such order. There must be no cycle. This is
    Kahn's algorithm over a heap. A dependency that is not among the operations is ignored."""
    by_id = {operation.id: operation for operation in operations}
    waiting = {each.id: {other for other in each.depends_on if other in by_id} for each in by_id.values()}
    ready = [operation.rank for operation in by_id.values() if not waiting[operation.id]]
    heapify(ready)
    ordered: list[ProfileOperation] = []
    while ready:
        _, done = heappop(ready)
        ordered.append(by_id[done])
        for dependent in _freed(waiting, done):
            heappush(ready, by_id[dependent].rank)
    return tuple(ordered)


def _freed(waiting: Mapping[str, set[str]], done: str) -> Sequence[str]:
    """Remove an operation from what the others wait for, and return those that waited for it alone."""
    freed = []
    for operation_id, missing in waiting.items():
        if done in missing:
            missing.remove(done)
            if not missing:
                freed.append(operation_id)
    return freed
