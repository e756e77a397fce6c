"""Reruns: a run that repeats another one from its snapshot, even if the definition has changed since.

A rerun takes the definition, the scenarios and the personas from the snapshot and everything else from the run, so
later changes have no effect, defaults of the workspace included.
"""

from typing import Any, NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.definitions import ResolvedDefinition
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.labels import RunLabels
from cupel_core.domain.runs.settings import RunConfig, values_of
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.runs.cases import RunCases
from cupel_core.store import runs, snapshots


class RerunSource(NamedTuple):
    """The parts that a rerun takes over: definition, scenarios and personas as at the start of the run, and its
    labels."""

    definition: ResolvedDefinition
    cases: RunCases
    labels: RunLabels
    profile: dict[str, Any] | None = None
    revised_prompt: str | None = None
    """The run's system prompt, if it is not that of the definition's version."""


def rerun_spec(workspace: str, run_id: str) -> RunSpec:
    """Return the specification of a run with the same configuration. Raise NotFound for an unknown or deleted run."""
    run = runs.get(RunRef(workspace, run_id))
    return RunSpec(
        definition_id=run.definition_id,
        targets=run.plan.targets,
        sample_percentage=run.sample_percentage,
        sample_seed=run.sample_seed,
        repeats=run.plan.repeats,
        profile_id=run.profile.id if run.profile else None,
        profile_version=run.profile.version if run.profile else None,
        eval_id=run.eval_id,
        playground=run.playground,
        definition_version=run.definition_version,
        rerun_of=run.id,
        evaluators={str(name): str(status) for name, status in run.evaluators.items()},
        trial=run.trial,
        scale=run.scale,
        max_budget_usd=run.budget.max_usd if run.budget else None,
        allow_unpriced=run.budget is not None and run.budget.allows_unpriced,
        **values_of(RunConfig, run),
    )


def load_source(workspace: str, run_id: str) -> RerunSource:
    """Read the source. Raise NotFound if the run or its definition was deleted."""
    run = runs.get(RunRef(workspace, run_id))
    snapshot = snapshots.get(run.snapshot_key)
    content = Content.from_json(snapshot.definition)
    definition = ResolvedDefinition(
        run.definition_id, run.definition_version, run.definition_name, content, snapshot.manifest
    )
    cases = RunCases(snapshot.scenario_positions, snapshot.personas, snapshot.case_personas)
    return RerunSource(definition, cases, run.labels, snapshot.profile, run.revised_prompt)
