from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import decode
from cupel_core.domain.pipeline.operations import Hook, ProfileOperation, Trigger
from cupel_core.domain.pipeline.planning import PipelinePlan, plan_turn
from cupel_core.domain.pipeline.profiles import Pipeline
from cupel_core.domain.pipeline.sizes import MAX_STATE_LENGTH, PLANNED_STEP_LENGTH


@dataclass(frozen=True)
class RunProfile:
    id: str
    name: str
    version: int
    pipeline: Pipeline
    trigger: Trigger = Trigger.GENERATE
    """Every turn of a probe answers a new message."""

    @cached_property
    def plan(self) -> PipelinePlan:
        return plan_turn(self.pipeline, self.trigger)

    @cached_property
    def enabled(self) -> tuple[ProfileOperation, ...]:
        return tuple(operation for operation in self.pipeline.operations if operation.enabled)

    @cached_property
    def ranked(self) -> tuple[ProfileOperation, ...]:
        return tuple(sorted(self.enabled, key=lambda operation: operation.rank))

    @cached_property
    def tags(self) -> Mapping[str, str]:
        return {operation.id: operation.artifact.tag for operation in self.enabled}

    @cached_property
    def templates_after(self) -> frozenset[str]:
        return frozenset(text for step in self.plan.steps[Hook.AFTER] for text in step.templates.values())

    @cached_property
    def expressions_after(self) -> frozenset[str]:
        return frozenset(text for step in self.plan.steps[Hook.AFTER] for text in step.expressions.values())

    @cached_property
    def models(self) -> frozenset[str]:
        calls = (step.params.call for steps in self.plan.steps.values() for step in steps)
        return frozenset(call.target.model for call in calls if call is not None)

    @property
    def changes_prompt(self) -> bool:
        return any(
            operation.artifact.inclusion is not None or any(each.type.changes_prompt for each in operation.effects)
            for operation in self.enabled
        )

    @property
    def planned_length(self) -> int:
        return min(MAX_STATE_LENGTH, PLANNED_STEP_LENGTH * self.plan.step_count)

    def calls_models(self, hook: Hook) -> bool:
        return any(step.params.call is not None for step in self.plan.steps[hook])

    @classmethod
    def of_snapshot(cls, data: Mapping[str, Any] | None) -> Self | None:
        """Read `{id, name, version, enabled, content}`; return None without one, or if it is not enabled."""
        if data is None or not data["enabled"]:
            return None
        return cls(data["id"], data["name"], data["version"], decode(Pipeline, data["content"]))
