"""Run specifications of evals and of the playground."""

from cupel_core.base.errors import Invalid
from cupel_core.domain.runs.settings import RunSettings, values_of
from cupel_core.domain.runs.spec import EvalRunSpec, PlaygroundSpec, RunSpec
from cupel_core.resources import evals, references
from cupel_core.runs.requested_fields import as_of_playground


def eval_run_spec(workspace: str, eval_id: str, settings: RunSettings) -> RunSpec:
    stored = evals.get(workspace, eval_id)
    return RunSpec(
        definition_id=stored.definition_id,
        targets=stored.targets,
        scenario_ids=stored.scenario_ids,
        eval_id=stored.id,
        **{**values_of(RunSettings, settings), "params": {**stored.params, **settings.params}},
    )


def current_spec(workspace: str, requested: RunSpec | EvalRunSpec) -> RunSpec:
    if isinstance(requested, RunSpec):
        return requested
    return eval_run_spec(workspace, requested.eval_id, requested)


def playground_run_spec(workspace: str, playground: PlaygroundSpec, settings: RunSettings) -> RunSpec:
    """Return the specification of a run of one scenario against one target. Raise Invalid for an unknown scenario."""
    try:
        definition_id = references.resolve_definition_id(workspace, playground.definition_id, [playground.scenario_id])
    except Invalid as invalid:
        raise as_of_playground(invalid, playground.target) from invalid
    return RunSpec(
        definition_id=definition_id,
        targets=(playground.target,),
        scenario_ids=(playground.scenario_id,),
        persona_ids=(playground.persona_id,) if playground.persona_id else (),
        playground=True,
        **values_of(RunSettings, settings),
    )
