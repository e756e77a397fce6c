"""Resolves requested runs of a definition, an eval, the playground or a rerun, and starts them."""

from datetime import datetime

from cupel_core.base.errors import Invalid
from cupel_core.domain.runs.run import SYSTEM, StartedBy
from cupel_core.domain.runs.settings import RunSettings, values_of
from cupel_core.domain.runs.spec import EvalRunSpec, PlaygroundRunSpec, RequestedRun, RerunSpec, RunSpec
from cupel_core.resources import evals, references
from cupel_core.runs import start
from cupel_core.runs.requested_fields import as_of_playground
from cupel_core.runs.rerun import rerun_spec
from cupel_core.runs.spec import spec_to_text


def start_requested(
    workspace: str, requested: RequestedRun, idempotency_key: str | None, now: datetime, started_by: StartedBy = SYSTEM
) -> start.RunStarted:
    """Start the run. Raises what `run_spec` and `start.start` raise."""
    spec = run_spec(workspace, requested)
    return start.start(workspace, spec, idempotency_key, now, started_by, spec_to_text(requested))


def run_spec(workspace: str, requested: RequestedRun) -> RunSpec:
    """Return the specification of a run that starts now.

    Raises NotFound if its eval or the run that it repeats does not exist, and Invalid for an unknown scenario of the
    playground; the start checks the rest.
    """
    match requested:
        case RunSpec():
            return requested
        case EvalRunSpec():
            return _eval_run_spec(workspace, requested)
        case PlaygroundRunSpec():
            return _playground_run_spec(workspace, requested)
        case RerunSpec():
            return requested.apply_to(rerun_spec(workspace, requested.run_id))


def _eval_run_spec(workspace: str, requested: EvalRunSpec) -> RunSpec:
    stored = evals.get(workspace, requested.eval_id)
    return RunSpec(
        definition_id=stored.definition_id,
        targets=stored.targets,
        scenario_ids=stored.scenario_ids,
        eval_id=stored.id,
        **{**values_of(RunSettings, requested), "params": {**stored.params, **requested.params}},
    )


def _playground_run_spec(workspace: str, requested: PlaygroundRunSpec) -> RunSpec:
    scenario_ids = (requested.scenario_id,)
    try:
        definition_id = references.resolve_definition_id(workspace, requested.definition_id, scenario_ids)
    except Invalid as invalid:
        raise as_of_playground(invalid, requested.target) from invalid
    return RunSpec(
        definition_id=definition_id,
        targets=(requested.target,),
        scenario_ids=scenario_ids,
        persona_ids=(requested.persona_id,) if requested.persona_id else (),
        playground=True,
        **values_of(RunSettings, requested),
    )
