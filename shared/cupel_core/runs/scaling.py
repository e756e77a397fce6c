"""Scale runs: the definition that a scale run describes is found or written, and an ordinary run of it is started.

The definition's id follows from its content, so a request that is repeated, or sent twice at once, finds the definition
of the first one. It is stored once the run is known to start, so a refused scale run leaves nothing. A crash between
the two steps leaves a definition that the next request uses.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from cupel_core.accounts.keys import ModelChecks
from cupel_core.base.errors import Conflict, FieldError, Invalid
from cupel_core.base.ids import content_id
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions import catalog
from cupel_core.definitions.scenarios import checked_scenarios
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import Content, Labels
from cupel_core.domain.definitions.scenarios import Manifest, Scenario, ScenarioPage
from cupel_core.domain.estimates.expectations import RunTerms, SampledCase
from cupel_core.domain.estimates.requested_trials import with_trial
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import SYSTEM, StartedBy
from cupel_core.domain.runs.scale_runs import FOLDER, ScaleRun, content_text
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.scoring.default_evaluators import DefaultEvaluators, EvaluatorName
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.resources import personas
from cupel_core.resources.evaluation_settings import get_settings
from cupel_core.runs import start
from cupel_core.runs.estimates import estimate_cases, from_history
from cupel_core.runs.history import ComparableRuns
from cupel_core.runs.start import RunStarted, UnstoredDefinition
from cupel_core.runs.validation import check_required_models, check_size, check_spec
from cupel_core.store import definitions

_MAX_DELETED = 100
_ONE_SCENARIO = Manifest(pages=(ScenarioPage("", 1, size=1),), next_ordinal=2)


class _CheckedScaleRun(NamedTuple):
    spec: RunSpec
    """The specification of a run of a definition that may not exist yet."""
    evaluators: DefaultEvaluators
    grader_config: GraderConfig
    content: Content
    scenario: Scenario
    plan: Plan


def start_scale_run(
    workspace: str,
    scale_run: ScaleRun,
    request: str,
    idempotency_key: str | None,
    now: datetime,
    started_by: StartedBy = SYSTEM,
) -> RunStarted:
    """Start the run of a scale run. `request` is the text of the request. Raise what `start` raises. Nothing is written
    unless the whole scale run is valid."""
    if idempotency_key is not None and (first := start.find_started(workspace, idempotency_key, request, now)):
        return first
    evaluators = _check(workspace, scale_run, now, ModelChecks(workspace)).evaluators
    definition_id, exists = _find(workspace, scale_run, evaluators)
    unstored = None if exists else _unstored(workspace, definition_id, scale_run, evaluators, now)
    spec = scale_run.spec(definition_id, evaluators)
    return start.start(workspace, spec, idempotency_key, now, started_by, request, unstored)


def estimate_scale_run(workspace: str, scale_run: ScaleRun, now: datetime, checks: ModelChecks) -> RunEstimate:
    """Estimate without writing anything. Raise what a start would raise now if `checks` were its own."""
    return _estimate(workspace, scale_run, _check(workspace, scale_run, now, checks), now)


def _estimate(workspace: str, scale_run: ScaleRun, checked: _CheckedScaleRun, now: datetime) -> RunEstimate:
    columns = len(checked.plan.columns)
    terms = RunTerms(
        checked.content,
        checked.grader_config,
        scale_run.settings.max_turns,
        columns=columns,
        pace=scale_run.settings.pace,
        has_report=scale_run.settings.report,
    )
    cases = [SampledCase(checked.scenario, bool(scale_run.persona_ids))]
    estimate = estimate_cases(workspace, terms, checked.plan, scale_run.settings.params, cases)
    definition_id, exists = _find(workspace, scale_run, checked.evaluators)
    if exists:
        own = (
            checked.grader_config,
            scale_run.settings.max_turns,
            None,
            scale_run.settings.params,
            checked.plan,
            frozenset((0,)),
        )
        estimate = from_history(estimate, ComparableRuns(workspace, definition_id, 1, None, *own, before=now))
    return with_trial(estimate, 1, checked.plan.cases * columns) if scale_run.trial else estimate


def _check(workspace: str, scale_run: ScaleRun, now: datetime, checks: ModelChecks) -> _CheckedScaleRun:
    settings = get_settings(workspace)
    defaults = settings.grader_config
    if exceeded := settings.scale_runs.violations(scale_run.count, scale_run.settings.pace.max_concurrency):
        raise Invalid.fields(FieldError(*each) for each in exceeded.items())
    evaluators = scale_run.evaluators(defaults)
    try:
        spec = scale_run.spec("", evaluators)
    except ValueError as error:
        raise Invalid.field("count", str(error)) from None
    config = spec.grader_config.with_defaults(defaults).without(spec.disabled_graders)
    _check_opening(scale_run, config)
    _check_trial(scale_run, config)
    content = validate_content(scale_run.content(evaluators))
    scenario = checked_scenarios(workspace, [_scenario(scale_run, evaluators)], "scenarios", now)[0]
    with _request_fields(scale_run):
        check_spec(workspace, spec, config, _ONE_SCENARIO, checks)
    _check_evaluators(scale_run, checks)
    check_required_models(config, content, [scenario])
    _check_personas(workspace, scale_run)
    plan = Plan(spec.targets, (max(1, len(scale_run.persona_ids)),), spec.repeats)
    check_size(plan)
    return _CheckedScaleRun(spec, evaluators, config, content, scenario, plan)


@contextmanager
def _request_fields(scale_run: ScaleRun) -> Iterator[None]:
    try:
        yield
    except Invalid as error:
        raise error.with_fields(lambda field: _request_field(field, scale_run)) from None


def _request_field(field: str, scale_run: ScaleRun) -> str:
    goal = scale_run.choices.get(EvaluatorName.GOAL)
    if field == "config.judgeModel" and goal and goal.judge_model:
        return "evaluators.goal.judgeModel"
    if field.startswith("models.") and scale_run.is_of_connector:
        return "connectorId"
    return field.removeprefix("config.").removeprefix("params.")


def _check_evaluators(scale_run: ScaleRun, checks: ModelChecks) -> None:
    errors = [
        FieldError(f"evaluators.{name}.judgeModel", problem)
        for name, choice in scale_run.choices.items()
        if choice.judge_model and (problem := checks.model_error(choice.judge_model))
    ]
    if errors:
        raise Invalid.fields(errors)


def _check_personas(workspace: str, scale_run: ScaleRun) -> None:
    known = personas.get_many(workspace, scale_run.persona_ids)
    missing = [number for number, persona_id in enumerate(scale_run.persona_ids) if persona_id not in known]
    if missing:
        unknown = (FieldError(f"personaIds.{number}", "there is no such persona") for number in missing)
        raise Invalid.fields(unknown)


def _check_opening(scale_run: ScaleRun, config: GraderConfig) -> None:
    if scale_run.opening is None and not (config.persona_model or config.judge_model):
        raise Invalid.field(
            "userMessage", "is required without a judgeModel or personaModel, which would write the first message"
        )


def _check_trial(scale_run: ScaleRun, config: GraderConfig) -> None:
    if scale_run.trial and not config.report_model:
        raise Invalid.field(
            "trial", "needs a summarizerModel or judgeModel, which writes the report's summary and revises the prompt"
        )


def _scenario(scale_run: ScaleRun, evaluators: DefaultEvaluators) -> CreateScenario:
    return CreateScenario.model_validate(scale_run.scenario(evaluators))


def _find(workspace: str, scale_run: ScaleRun, evaluators: DefaultEvaluators) -> tuple[str, bool]:
    """Return the id of the definition with this content, and whether it exists. Deleted definitions are not reused."""
    content, scenario = scale_run.content(evaluators), scale_run.scenario(evaluators)
    for number in range(_MAX_DELETED):
        definition_id = content_id("def", content_text(content, scenario, number))
        found = definitions.find(workspace, definition_id)
        if found is None or found.deleted_at is None:
            return definition_id, found is not None
    raise Conflict("definitions with this content were deleted too often; change the system prompt or the goal")


def _unstored(
    workspace: str, definition_id: str, scale_run: ScaleRun, evaluators: DefaultEvaluators, now: datetime
) -> UnstoredDefinition:
    labels, items = Labels(scale_run.name, FOLDER), [_scenario(scale_run, evaluators)]
    new = catalog.prepare(workspace, labels, scale_run.content(evaluators), now, items, definition_id)

    def store() -> None:
        """Store the definition, unless a concurrent request has created it."""
        try:
            new.store()
        except Conflict:
            if definitions.find(workspace, definition_id) is None:
                raise

    return UnstoredDefinition(new.resolved, store)
