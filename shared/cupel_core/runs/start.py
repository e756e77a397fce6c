"""The start of a run: everything is validated before anything is written, and all writes are one transaction.

The order of the writes decides what a crash leaves behind:

1. The Idempotency-Key is reserved for the run's id, if the request has one. After a crash here, the key is answered
with 409 for 30 s; then the next request takes it over.
2. The snapshot is written to the bucket, under a key that contains the run's id. After a crash here, an object is left
that nothing refers to.
3. One transaction writes the run, its first event, the outbox row of its dispatch and the answer of the key, on
condition that the run does not exist and that the key is still reserved for it. After a crash here, the caller sees an
error; repeating the request with its key returns the same run, and the sweeper dispatches it.
4. The request for dispatch is sent to its queue. If it is lost, the sweeper sends it after two minutes, because the
outbox row says that something is left to do.

Nothing is written for a probe before it has an outcome, so starting a run of a million probes writes as many items as
starting one of ten. The run stores the definition's name, the number of its scenarios and who started it, so that a
list of runs reads nothing else.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from secrets import randbelow
from typing import Any, NamedTuple

from cupel_core.accounts.keys import ModelChecks, load_own_prices
from cupel_core.accounts.named_models import check_named_models
from cupel_core.base.errors import Invalid, NotFound
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.definitions import ResolvedDefinition, resolve
from cupel_core.domain.conversations.model_parameters import merge_parameters
from cupel_core.domain.definitions.prompts import prompt_labels
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.runs.labels import RunLabels
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import SYSTEM, ProfileRef, Run, StartedBy
from cupel_core.domain.runs.sampling import SEED_COUNT, sample
from cupel_core.domain.runs.settings import RunConfig, values_of
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.default_evaluators import statuses_from_json
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.prices import price_list_version
from cupel_core.resources import connectors, evals
from cupel_core.resources.evaluation_settings import workspace_grader_config
from cupel_core.runs import dispatch, open_runs, rerun
from cupel_core.runs.budgets import initial_budget
from cupel_core.runs.cases import RunCases, build_cases
from cupel_core.runs.estimates import estimate_of
from cupel_core.runs.requested_fields import as_requested
from cupel_core.runs.rerun import RerunSource
from cupel_core.runs.spec import spec_to_text
from cupel_core.runs.validation import (
    check_files,
    check_fit,
    check_profile,
    check_required_models,
    check_size,
    check_spec,
    check_tool_choices,
    check_tool_connectors,
    find_profile,
)
from cupel_core.store import counters, idempotency, object_names, resources, runs, scenarios, snapshots, webhooks
from cupel_core.store.definitions import UnknownVersion
from cupel_core.store.resources import ResourceKind
from cupel_core.store.snapshots import Snapshot


class RunStarted(NamedTuple):
    run: Run
    job_count: int
    estimate: RunEstimate | None
    """None if the run was started by an earlier request and has been erased since."""


class UnstoredDefinition(NamedTuple):
    """A definition or version that is stored only if its run can start: a refused start leaves nothing."""

    resolved: ResolvedDefinition
    store: Callable[[], None]


class BuiltRun(NamedTuple):
    run: Run
    snapshot: Snapshot
    estimate: RunEstimate


def start(
    workspace: str,
    spec: RunSpec,
    idempotency_key: str | None,
    now: datetime,
    started_by: StartedBy = SYSTEM,
    request: str | None = None,
    unstored: UnstoredDefinition | None = None,
) -> RunStarted:
    """Create the run and request its dispatch. A repeated request with the same key gets the first answer.

    `request` is the text of the request, if it differs from the specification: that of an eval changes with the eval.
    `unstored` is the definition that the specification names, if it is not stored yet. Raise Invalid for a spec that
    cannot run or a key that was used with another request, and Conflict while another request with the same key is in
    progress.
    """
    request = spec_to_text(spec) if request is None else request
    if idempotency_key is not None and (first := find_started(workspace, idempotency_key, request, now)):
        return first
    run, snapshot, estimate = build_run(workspace, spec, now, definition=unstored.resolved if unstored else None)
    run = replace(run, started_by=started_by, callbacks=webhooks.callback_scope(workspace))
    open_runs.admit(run)
    if unstored is not None:
        unstored.store()
    reservation = None
    if idempotency_key is not None:
        reservation = idempotency.reserve(workspace, idempotency_key, request, run.id, now)
    if spec.eval_id is not None:
        run = replace(run, execution_id=counters.next_execution_id(workspace))
    snapshots.save(run.snapshot_key, snapshot)
    created = runs.create(run, {"total": run.plan.total}, reservation)
    dispatch.enqueue(created)
    return RunStarted(created, created.plan.total, estimate)


def find_started(workspace: str, idempotency_key: str, request: str, now: datetime) -> RunStarted | None:
    """Return what an earlier request with this key has started, or None. Raise what `start` raises."""
    answer = idempotency.find_answer(workspace, idempotency_key, request, now)
    if answer is None:
        return None
    run = runs.decode_answer(answer)
    return RunStarted(run, run.plan.total, _find_estimate(run))


def _find_estimate(run: Run) -> RunEstimate | None:
    try:
        return estimate_of(run, snapshots.get(run.snapshot_key))
    except (Invalid, NotFound):
        return None


def validate(workspace: str, spec: RunSpec, now: datetime) -> None:
    build_run(workspace, spec, now)


def build_run(
    workspace: str,
    spec: RunSpec,
    now: datetime,
    source: rerun.RerunSource | None = None,
    definition: ResolvedDefinition | None = None,
    checks: ModelChecks | None = None,
) -> BuiltRun:
    """Return the run of this specification, checked and not stored. Raise what `start` raises. `source` is what it
    repeats, if that is not all of the run that the specification names. `definition` is the one that the specification
    names, if it is not stored yet. `checks` decide which models can be called, by default those of a start."""
    try:
        return _build_run(workspace, spec, now, source, definition, checks or ModelChecks(workspace))
    except Invalid as invalid:
        raise as_requested(invalid, spec) from invalid


def _build_run(
    workspace: str,
    spec: RunSpec,
    now: datetime,
    source: rerun.RerunSource | None,
    unstored: ResolvedDefinition | None,
    checks: ModelChecks,
) -> BuiltRun:
    spec = _with_experiment(workspace, spec)
    if source is None and spec.rerun_of:
        source = rerun.load_source(workspace, spec.rerun_of)
    definition = source.definition if source else unstored or _resolve(workspace, spec)
    manifest = definition.manifest
    grader_config = spec.grader_config if source else _grader_config(workspace, spec)
    check_spec(workspace, spec, grader_config, manifest, checks)
    check_tool_connectors(workspace, spec, definition.content)
    if source is None:  # A run that was started once can be repeated.
        check_tool_choices(spec, definition.content)
    seed = randbelow(SEED_COUNT) if spec.sample_seed is None else spec.sample_seed
    cases = source.cases if source else _selected_cases(workspace, spec, definition, seed)
    prompt_ids = tuple(prompt.id for prompt in definition.content.prompts)
    plan = Plan(
        tuple(_with_agent_name(workspace, target) for target in spec.targets),
        (len(cases.scenario_positions),),
        spec.repeats,
        prompt_ids,
        prompt_labels(definition.content.prompts),
    )
    check_size(plan)
    graded = scenarios.iterate_with_models(manifest, cases.scenario_positions)
    check_required_models(grader_config, definition.content, graded)
    if source is None:
        check_fit(definition.content, manifest, cases.scenario_positions)
    check_named_models(checks, definition.content, manifest, cases.scenario_positions)
    check_files(workspace, plan, definition.content, scenarios.list_with_files(manifest, cases.scenario_positions))
    profile = _profile(workspace, spec, source, checks)
    snapshot = Snapshot(
        definition.content.to_json(),
        manifest,
        **cases._asdict(),
        profile=profile,
        prices=load_own_prices(workspace),
        price_list=price_list_version(),
    )
    params = spec.params if source else merge_parameters(definition.content.params, spec.params)
    run = replace(_run(workspace, spec, definition, plan, cases.scenario_count, seed, now), params=params)
    run = replace(run, profile=ProfileRef(profile["id"], profile["version"]) if profile else None)
    labels = spec.labels.apply_to(source.labels if source else RunLabels())
    run = replace(run, grader_config=grader_config, labels=labels)
    run = replace(run, revised_prompt=source.revised_prompt if source else None)
    estimate = estimate_of(run, snapshot)
    run = replace(run, estimated_usd=None if estimate.unpriced else estimate.usd)
    return BuiltRun(replace(run, budget=initial_budget(spec, run, snapshot, estimate)), snapshot, estimate)


def _with_agent_name(workspace: str, target: Target) -> Target:
    if target.connector_id is None:
        return target
    return replace(target, agent_name=connectors.get(workspace, target.connector_id).name)


def _profile(workspace: str, spec: RunSpec, source: RerunSource | None, checks: ModelChecks) -> dict[str, Any] | None:
    """Return the profile as it is stored with the run, or for a rerun as it was. Raise Invalid if it cannot be
    executed."""
    if spec.profile_id is None:
        return None
    stored = source.profile if source is not None else None
    is_same = stored is not None and (stored["id"], stored["version"]) == (spec.profile_id, spec.profile_version)
    profile = stored if is_same and stored else find_profile(workspace, spec.profile_id, spec.profile_version)
    check_profile(workspace, spec, profile, checks)
    return profile


def _with_experiment(workspace: str, spec: RunSpec) -> RunSpec:
    """Raise Invalid for an unknown experiment. A deleted one is dropped for a schedule, and for a rerun that inherits
    it."""
    if spec.experiment_id is None or resources.exists(workspace, ResourceKind.EXPERIMENT, spec.experiment_id):
        return spec
    if spec.schedule_id is None and not _takes_over_experiment(workspace, spec):
        raise Invalid.field("experimentId", f"there is no experiment {spec.experiment_id}")
    return replace(spec, experiment_id=None)


def _takes_over_experiment(workspace: str, spec: RunSpec) -> bool:
    if spec.rerun_of is None:
        return False
    return runs.get(RunRef(workspace, spec.rerun_of)).experiment_id == spec.experiment_id


class UnknownDefinition(Invalid):
    """The definition of a run was deleted, or never existed."""


def _resolve(workspace: str, spec: RunSpec) -> ResolvedDefinition:
    try:
        return resolve(workspace, spec.definition_id, spec.definition_version)
    except UnknownVersion as unknown:
        raise Invalid.field("definitionVersion", unknown.detail) from None
    except NotFound as unknown:
        raise UnknownDefinition.field("definitionId", unknown.detail) from None


def _selected_cases(workspace: str, spec: RunSpec, definition: ResolvedDefinition, seed: int) -> RunCases:
    positions = _scenario_positions(spec, definition.manifest, definition.version, seed)
    return build_cases(workspace, definition.manifest, positions, spec.persona_ids)


def _grader_config(workspace: str, spec: RunSpec) -> GraderConfig:
    """Return the configuration. The spec takes precedence over the eval, and the eval over the workspace's settings. An
    explicit absence of graders takes precedence too."""
    eval_config = evals.get(workspace, spec.eval_id).grader_config if spec.eval_id else GraderConfig()
    config = spec.grader_config.with_defaults(eval_config).with_defaults(workspace_grader_config(workspace))
    return config.without(spec.disabled_graders)


def _scenario_positions(spec: RunSpec, manifest: Manifest, version: int, seed: int) -> Sequence[int]:
    if not spec.scenario_ids:
        return sample(manifest.total, spec.sample_percentage, seed)
    positions = scenarios.find_positions(manifest, spec.scenario_ids)
    for number, scenario_id in enumerate(spec.scenario_ids):
        if scenario_id not in positions:
            raise Invalid.field(
                f"scenarioIds.{number}", f"version {version} of the definition has no scenario {scenario_id}"
            )
    return sorted(positions.values())


def _run(
    workspace: str,
    spec: RunSpec,
    definition: ResolvedDefinition,
    plan: Plan,
    scenario_count: int,
    seed: int,
    now: datetime,
) -> Run:
    run_id = new_id("run")
    return Run(
        workspace=workspace,
        id=run_id,
        definition_id=definition.definition_id,
        definition_version=definition.version,
        plan=plan,
        sample_percentage=spec.sample_percentage,
        sample_seed=seed,
        snapshot_key=object_names.snapshot_blob(RunRef(workspace, run_id), run_id),
        created_at=now,
        updated_at=now,
        schedule_id=spec.schedule_id,
        eval_id=spec.eval_id,
        playground=spec.playground,
        definition_name=definition.name,
        scenario_count=scenario_count,
        scenario_total=definition.manifest.total,
        rerun_of=spec.rerun_of,
        evaluators=statuses_from_json(spec.evaluators),
        trial=spec.trial,
        scale=spec.scale,
        **values_of(RunConfig, spec),
    )
