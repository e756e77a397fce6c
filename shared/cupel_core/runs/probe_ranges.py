from cupel_core.base.errors import Invalid
from cupel_core.domain.runs.plan import Plan


def probe_ranges(plan: Plan, model: str | None, prompt_id: str | None = None, start: int = 0) -> list[range]:
    """Return the indexes from `start` on of a target (id or model) and a prompt, ascending. None means all. Raise
    Invalid for an unknown target or prompt."""
    check_column(plan, model, prompt_id)
    is_all = model is None and prompt_id is None
    ranges = (range(plan.total),) if is_all else plan.ranges(plan.columns_of(model, prompt_id))
    return [range(max(indexes.start, start), indexes.stop) for indexes in ranges if indexes.stop > start]


def check_column(plan: Plan, model: str | None, prompt_id: str | None) -> None:
    check_target(plan, model)
    if prompt_id is not None and prompt_id not in plan.prompt_ids:
        raise Invalid.field(
            "promptId", f"must be one of the run's prompts: {', '.join(plan.prompt_ids) or 'it has none'}"
        )


def check_target(plan: Plan, model: str | None) -> None:
    if model is not None and not plan.columns_of(model):
        names = dict.fromkeys(name for target in plan.targets for name in (target.id, target.model))
        raise Invalid.field("model", f"must be one of the run's targets or models: {', '.join(names)}")
