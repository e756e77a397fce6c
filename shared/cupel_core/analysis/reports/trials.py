from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from math import inf
from typing import NamedTuple

from cupel_core.analysis.reports import requests
from cupel_core.analysis.reports.trial_results import request_comparison
from cupel_core.analysis.tabulate import counted_inputs, read_counts
from cupel_core.base.errors import Conflict, Invalid
from cupel_core.base.messages import RunRef
from cupel_core.contract.report_content import ReportContentResponse
from cupel_core.contract.reports import ReportTextsResponse
from cupel_core.domain.analysis.experiments import ExpectedDirection, ExperimentDesign
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.estimates.run_estimate import RunEstimate, estimate_together
from cupel_core.domain.reports.records import ReportRecord
from cupel_core.domain.reports.trials import (
    ARMS,
    BUDGETED_SHARE,
    Trial,
    TrialMaterial,
    TrialRequest,
    TrialSize,
    choose_scenarios,
    noise_of,
    sized,
    trial_size,
)
from cupel_core.domain.runs.run import Run, StartedBy
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.statistics import MIN_SCENARIOS
from cupel_core.resources import experiments
from cupel_core.runs import dispatch, open_runs
from cupel_core.runs.budgets import budget_of, check_estimate
from cupel_core.runs.cases import RunCases, build_cases
from cupel_core.runs.estimates import finishing_usd
from cupel_core.runs.rerun import RerunSource, load_source, rerun_spec
from cupel_core.runs.start import BuiltRun, build_run
from cupel_core.store import reports, runs, snapshots, webhooks
from cupel_core.store.resources import Resource

ARM_NAMES = ("original prompt", "revised prompt")


class PlannedTrial(NamedTuple):
    size: TrialSize
    unseen_scenarios: int
    max_budget_usd: float | None
    estimate: RunEstimate
    arms: tuple[BuiltRun, BuiltRun]


class StartedTrial(NamedTuple):
    trial: Trial
    is_new: bool


class _TrialSource(NamedTuple):
    run: Run
    source: RerunSource
    content: ReportContentResponse
    revised: str
    groups: tuple[list[int], list[int], list[int]]
    """Positions of scenarios: those that the run does not have, those of which the summarizer read no
    conversation, and the others."""


def plan(workspace: str, run_id: str, report_id: str, request: TrialRequest, now: datetime) -> PlannedTrial:
    """Return the plan of a trial without starting it.

    Raises Conflict if the report has no prompt to try, or its run nothing to compare.
    """
    material = _load(workspace, run_id, report_id, now)
    planned = _planned(workspace, material, request, _size(material, request), now)
    in_hand_usd = ARMS * planned.estimate.reserved_usd
    if request.max_budget_usd is None or not in_hand_usd:
        return planned
    if request.adds_last_calls:
        return planned._replace(max_budget_usd=request.max_budget_usd + in_hand_usd)
    smaller = _size(material, request, in_hand_usd)
    return planned if smaller == planned.size else _planned(workspace, material, request, smaller, now)


def _planned(
    workspace: str, material: _TrialSource, request: TrialRequest, size: TrialSize, now: datetime
) -> PlannedTrial:
    positions = choose_scenarios(material.groups, size.scenarios, material.run.sample_seed)
    spec = _spec(material.run, size)
    source = material.source._replace(cases=_cases(workspace, material, positions))
    content = replace(source.definition.content, system=material.revised)
    revised = source.definition._replace(content=content)
    original_arm = build_run(workspace, spec, now, source)
    digest = sha256(material.revised.encode()).hexdigest()
    revised_arm = build_run(workspace, spec, now, source._replace(definition=revised, revised_prompt=digest))
    estimate = estimate_together(original_arm.estimate, revised_arm.estimate)
    unseen = len(set(positions) - set(material.groups[-1]))
    return PlannedTrial(size, unseen, request.max_budget_usd, estimate, (original_arm, revised_arm))


def start(
    workspace: str, run_id: str, report_id: str, request: TrialRequest, now: datetime, started_by: StartedBy
) -> StartedTrial:
    """Start both arms at once. Raises the same errors as the start of a run.

    A report has one trial: a second look at the same prompt would find a difference more often by chance.
    """
    record = requests.get(workspace, run_id, report_id, now).record
    if record.trial is not None:
        request_comparison(workspace, record.trial, now)
        return StartedTrial(record.trial, is_new=False)
    planned = plan(workspace, run_id, report_id, request, now)
    terms = replace(request, max_budget_usd=planned.max_budget_usd)
    check_estimate(workspace, terms, lambda: planned.estimate, now, "the trial", ARMS)
    arms = list(_arms(workspace, planned, request, started_by))
    experiment = experiments.new_experiment(f"Trial of {report_id}", _design(run_id, arms[0]), now)
    arms = [replace(run, experiment_id=experiment.id) for run in arms]
    trial = Trial(
        original_run_id=arms[0].id,
        revised_run_id=arms[1].id,
        experiment_id=experiment.id,
        scenarios=planned.size.scenarios,
        unseen_scenarios=planned.unseen_scenarios,
        repeats=planned.size.repeats,
        detectable_difference=planned.size.detectable_difference,
        max_budget_usd=planned.max_budget_usd,
        created_at=now,
    )
    _create(record, trial, experiments.to_resource(experiment), arms, planned)
    return StartedTrial(trial, is_new=True)


def _create(record: ReportRecord, trial: Trial, experiment: Resource, arms: list[Run], planned: PlannedTrial) -> None:
    for run in arms:
        open_runs.admit(run)
    for run, built in zip(arms, planned.arms, strict=True):
        snapshots.save(run.snapshot_key, built.snapshot)
    is_created = reports.create_trial(record, trial, experiment, arms)
    stored = reports.get(RunRef(record.workspace, record.run_id), record.id).trial
    if not is_created and stored != trial:  # After a lost reply, a retry meets its own write.
        raise Conflict("this report has a trial already, or an experiment has the name of its trial")
    for run in arms:
        dispatch.enqueue(runs.get(RunRef(run.workspace, run.id)))


def _arms(workspace: str, planned: PlannedTrial, request: TrialRequest, started_by: StartedBy) -> Iterator[Run]:
    """Yield the runs. The budget is divided as they are expected to spend it, with enough for the last call of each."""
    total, scope = planned.estimate.usd.expected, webhooks.callback_scope(workspace)
    for name, built in zip(ARM_NAMES, planned.arms, strict=True):
        budget = None
        if planned.max_budget_usd is not None:
            share = built.estimate.usd.expected / total if total else 1 / ARMS
            finish = finishing_usd(built.run, built.snapshot)
            in_hand_usd = min(planned.estimate.reserved_usd, planned.max_budget_usd / ARMS)
            max_usd = in_hand_usd + (planned.max_budget_usd - ARMS * in_hand_usd) * share
            allows_unpriced = request.allow_unpriced
            budget = budget_of(max_usd, finish, built.estimate, allows_unpriced=allows_unpriced)
        labels = replace(built.run.labels, name=name)
        yield replace(built.run, budget=budget, labels=labels, started_by=started_by, callbacks=scope)


def _design(run_id: str, original: Run) -> ExperimentDesign:
    return ExperimentDesign(
        hypothesis=f"The revised system prompt of the report of {run_id} raises the pass rate.",
        direction=ExpectedDirection.HIGHER,
        metric=Metric.PASS_RATE,
        independent_variable="system prompt",
        baseline_run_id=original.id,
    )


def _load(workspace: str, run_id: str, report_id: str, now: datetime) -> _TrialSource:
    view = requests.get(workspace, run_id, report_id, now)
    if view.content is None:
        raise Conflict(f"the report is {view.record.status}; a trial can be made when it is completed")
    summary = ReportTextsResponse.model_validate_json(view.texts).summary if view.texts else None
    if summary is None or summary.error or summary.revised_prompt_issue:
        why = "it has no summary" if summary is None else summary.error or summary.revised_prompt_issue
        raise Conflict(f"the report offers no revised prompt: {why}")
    run, source = runs.get(RunRef(workspace, run_id)), load_source(workspace, run_id)
    prompts = source.definition.content.prompts
    if unaffected := [prompt.id for prompt in prompts if prompt.system]:
        named = ", ".join(unaffected)
        raise Conflict(f"the revised system prompt is not used by prompts that have one of their own: {named}")
    shown = {int(each.rpartition("-")[2]) for each in summary.shown_conversation_ids}
    content = ReportContentResponse.model_validate_json(view.content)
    return _TrialSource(run, source, content, summary.revised_prompt, _groups(run, source, shown))


def _groups(run: Run, source: RerunSource, shown: set[int]) -> tuple[list[int], list[int], list[int]]:
    of_run = sorted(set(source.cases.scenario_positions))
    read = {source.cases.scenario_positions[run.plan.probe(index).case] for index in shown}
    is_sample = run.sample_percentage < 100
    others = sorted(set(range(source.definition.manifest.total)) - set(of_run)) if is_sample else []
    return others, [each for each in of_run if each not in read], [each for each in of_run if each in read]


def _size(material: _TrialSource, request: TrialRequest, in_hand_usd: float = 0.0) -> TrialSize:
    """Return the size of a trial.

    `in_hand_usd` of the budget is not for conversations: both arms must have enough left for their last calls.
    """
    available = sum(map(len, material.groups))
    if 1 < available < MIN_SCENARIOS:
        raise Conflict(f"there are {available} scenarios; a trial needs a single one, or at least {MIN_SCENARIOS}")
    counted, plan = read_counts(counted_inputs(material.run)), material.run.plan
    columns = range(len(plan.columns))
    trials = [Metric.PASS_RATE.trials(cell) for number in columns for cell in counted.column_cells(number)]
    if not any(each.n for each in trials):
        raise Conflict("no conversation of the run was judged, so there are no pass rates to compare")
    personas = plan.cases / len(counted.scenarios)
    known = TrialMaterial(available, personas * len(plan.columns), noise_of(trials))
    size = trial_size(known, _max_probes(material, request, in_hand_usd))
    if request.scenarios is None and request.repeats is None:
        return size
    scenarios = size.scenarios if request.scenarios is None else request.scenarios
    fewest = min(available, MIN_SCENARIOS)
    if not fewest <= scenarios <= available:
        raise Invalid.field("scenarios", f"must be from {fewest} to {available}, the number that there are")
    return sized(known, scenarios, size.repeats if request.repeats is None else request.repeats)


def _max_probes(material: _TrialSource, request: TrialRequest, in_hand_usd: float) -> int:
    """Return the most probes that an arm may have: as many as the budget pays for, or half of the run's."""
    overall, cost = material.content.overall, material.content.cost
    held = overall.completed + overall.errored
    if request.max_budget_usd is None or not cost.priced_usd:
        return held // ARMS
    usable = min(BUDGETED_SHARE * request.max_budget_usd, max(0.0, request.max_budget_usd - in_hand_usd))
    return int(usable / (cost.priced_usd / held) / ARMS)


def _spec(run: Run, size: TrialSize) -> RunSpec:
    """Return the specification of either arm, without a budget, which both share.

    What both cost together is checked when they start.
    """
    return replace(
        rerun_spec(run.workspace, run.id),
        sample_percentage=100,
        repeats=size.repeats,
        experiment_id=None,
        eval_id=None,
        playground=False,
        report=False,
        trial=False,
        scale=False,
        max_budget_usd=None,
        allow_unpriced=True,
        confirmed_usd=inf,
    )


def _cases(workspace: str, material: _TrialSource, positions: list[int]) -> RunCases:
    wanted, cases = set(positions), material.source.cases
    numbers = [number for number, position in enumerate(cases.scenario_positions) if position in wanted]
    personas = tuple(cases.case_personas[number] for number in numbers) if cases.case_personas else ()
    own = RunCases(tuple(cases.scenario_positions[number] for number in numbers), cases.personas, personas)
    others = sorted(wanted - set(cases.scenario_positions))
    if not others:
        return own
    built = build_cases(workspace, material.source.definition.manifest, others, existing=own)
    order = sorted(range(len(built.scenario_positions)), key=lambda number: built.scenario_positions[number])
    return built._replace(
        scenario_positions=tuple(built.scenario_positions[number] for number in order),
        case_personas=tuple(built.case_personas[number] for number in order) if built.case_personas else (),
    )
