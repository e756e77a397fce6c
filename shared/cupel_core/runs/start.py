"""Starting a run: everything is checked before anything is written, and what is written is one transaction."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from secrets import randbelow
from typing import NamedTuple

from cupel_core.definitions import Resolved, resolve
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.domain.runs.plan import MAX_PROBES, Plan
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.sampling import sample
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.errors import Conflict, Invalid
from cupel_core.ids import new_id
from cupel_core.messages import RunRef
from cupel_core.resources import evals
from cupel_core.resources.evaluation_settings import evaluation_of
from cupel_core.runs import dispatch
from cupel_core.runs.cases import cases
from cupel_core.runs.spec import RunSpec
from cupel_core.runs.validation import check_spec
from cupel_core.store import counters, keys, runs, scenarios, snapshots, starts
from cupel_core.store.snapshots import Snapshot
from cupel_core.store.starts import Stand

_SEEDS = 2**31


class Started(NamedTuple):
    run: Run
    job_count: int


def start(workspace: str, spec: RunSpec, idempotency_key: str | None, now: datetime) -> Started:
    """Creates the run and asks for its dispatch.

    Raises Invalid for a spec that cannot run, NotFound for an unknown definition, Conflict while the same key is being
    answered, and Invalid when the key was used with another body.
    """
    if idempotency_key is not None and (answered := _answered(workspace, spec, idempotency_key, now)):
        return answered
    run, snapshot = _plan(workspace, spec, now)
    reservation = None
    if idempotency_key is not None:
        reservation = starts.reserve(workspace, idempotency_key, spec.to_text(), run.id, now)
        if reservation is None:
            raise _in_flight()
    if spec.eval_id is not None:
        run = replace(run, execution_id=counters.next_execution_id(workspace))
    snapshots.put(run.snapshot_key, snapshot)
    created = runs.create(run, {"total": run.plan.total}, reservation)
    dispatch.ask(created)
    return Started(created, created.plan.total)


def check(workspace: str, spec: RunSpec, now: datetime) -> None:
    """Raises what `start` would raise for this spec now."""
    _plan(workspace, spec, now)


def _answered(workspace: str, spec: RunSpec, idempotency_key: str, now: datetime) -> Started | None:
    """The answer this key has had; None when the key is free."""
    stand, held = starts.stand(workspace, idempotency_key, spec.to_text(), now)
    if stand is Stand.IN_FLIGHT:
        raise _in_flight()
    if stand is Stand.OTHER_BODY:
        raise Invalid.field("Idempotency-Key", "was used with another request body; use a new key for a new run")
    if stand is Stand.FREE or held is None:
        return None
    run = runs.answered(held)
    return Started(run, run.plan.total)


def _in_flight() -> Conflict:
    return Conflict("a request with this Idempotency-Key is being answered; ask again in a few seconds")


def _plan(workspace: str, spec: RunSpec, now: datetime) -> tuple[Run, Snapshot]:
    definition = resolve(workspace, spec.definition_id)
    manifest = scenarios.manifest(workspace, spec.definition_id)
    evaluation = _evaluation(workspace, spec)
    check_spec(workspace, spec, evaluation, manifest)
    seed = randbelow(_SEEDS) if spec.sample_seed is None else spec.sample_seed
    found = cases(workspace, manifest, _positions(spec, manifest, seed), spec.persona_ids)
    plan = Plan(spec.models, (len(found.selection),), repeats=spec.repeats)
    if plan.total > MAX_PROBES:
        raise Invalid(f"this run would have {plan.total:,} probes; at most {MAX_PROBES:,} are possible")
    snapshot = Snapshot(definition.content.to_json(), manifest, **found._asdict())
    return replace(_run(workspace, spec, definition, plan, seed, now), evaluation=evaluation), snapshot


def _evaluation(workspace: str, spec: RunSpec) -> Evaluation:
    """What the run is told comes before what its eval has, and that before what the workspace has set."""
    kept = evals.get(workspace, spec.eval_id).evaluation if spec.eval_id else Evaluation()
    return spec.evaluation.over(kept).over(evaluation_of(workspace))


def _positions(spec: RunSpec, manifest: Manifest, seed: int) -> Sequence[int]:
    if not spec.scenario_ids:
        return sample(manifest.total, spec.sample_percentage, seed)
    found = scenarios.positions(manifest, spec.scenario_ids)
    for number, each in enumerate(spec.scenario_ids):
        if each not in found:
            raise Invalid.field(f"scenarioIds.{number}", f"the definition has no scenario {each} any more")
    return sorted(found.values())


def _run(workspace: str, spec: RunSpec, definition: Resolved, plan: Plan, seed: int, now: datetime) -> Run:
    run_id = new_id("run")
    return Run(
        workspace=workspace,
        id=run_id,
        definition_id=definition.definition_id,
        definition_version=definition.version,
        plan=plan,
        sample_percentage=spec.sample_percentage,
        sample_seed=seed,
        snapshot_key=keys.snapshot_blob(RunRef(workspace, run_id), run_id),
        created_at=now,
        updated_at=now,
        priority=spec.priority,
        experiment_id=spec.experiment_id,
        schedule_id=spec.schedule_id,
        eval_id=spec.eval_id,
        playground=spec.playground,
        temperature=spec.temperature,
        max_turns=spec.max_turns,
    )
