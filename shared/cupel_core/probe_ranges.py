"""The probe indexes of a run that a list request covers."""

from cupel_core.domain.runs.plan import Plan
from cupel_core.errors import Invalid


def probe_ranges(plan: Plan, model: str | None, start: int = 0) -> list[range]:
    """The indexes from `start` on of one model, or of all for None, ascending. Raises Invalid for an unknown model."""
    if model is not None and model not in plan.targets:
        raise Invalid.field("model", f"must be one of the run's models: {', '.join(plan.targets)}")
    ranges = (range(plan.total),) if model is None else plan.target_ranges(plan.targets.index(model))
    return [range(max(indexes.start, start), indexes.stop) for indexes in ranges if indexes.stop > start]
