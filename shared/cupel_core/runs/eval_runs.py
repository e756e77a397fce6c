"""Runs that begin with an eval, or with one scenario that somebody tries out."""

from dataclasses import dataclass, field

from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.resources import evals, references
from cupel_core.runs.spec import RunSpec


@dataclass(frozen=True)
class Options:
    """What is asked for beside the eval or the scenario."""

    priority: Priority = Priority.NORMAL
    repeats: int = 1
    experiment_id: str | None = None
    temperature: float | None = None
    max_turns: int | None = None
    evaluation: Evaluation = field(default_factory=Evaluation)


def spec_of_eval(workspace: str, eval_id: str, options: Options) -> RunSpec:
    """One run of the eval's scenarios, each with its personas. NotFound when there is no such eval."""
    found = evals.get(workspace, eval_id)
    return RunSpec(
        definition_id=found.definition_id,
        models=(found.target,),
        scenario_ids=found.scenario_ids,
        eval_id=found.id,
        **vars(options),
    )


@dataclass(frozen=True)
class Trial:
    """One scenario and one target; nobody in particular speaks unless a persona is named."""

    scenario_id: str
    connector_id: str | None = None
    model: str | None = None
    persona_id: str | None = None
    definition_id: str | None = None


def spec_of_trial(workspace: str, trial: Trial, options: Options) -> RunSpec:
    """Invalid when there is no such scenario; the start looks at the rest."""
    definition_id = references.definition_of(workspace, trial.definition_id, [trial.scenario_id])
    return RunSpec(
        definition_id=definition_id,
        models=(trial.model or f"{PROVIDER}/{trial.connector_id}",),
        scenario_ids=(trial.scenario_id,),
        persona_ids=(trial.persona_id,) if trial.persona_id else (),
        playground=True,
        **vars(options),
    )
