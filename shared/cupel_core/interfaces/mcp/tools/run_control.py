"""Estimates, starts and controls runs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from cupel_core.base.errors import AppError, ConfirmationRequired, Invalid
from cupel_core.contract.budgets import UpdateRunBudget
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.run_requests import CreateRun, EstimateRun
from cupel_core.contract.runs import RunResponse
from cupel_core.domain.budgets.confirmation import needs_confirmation
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.estimates.run_estimate import Basis, RunEstimate
from cupel_core.domain.runs.run import PauseReason, Priority, RunStatus
from cupel_core.domain.runs.scale_runs import ScaleRun
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.text.figures import format_usd
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.bodies import body_of, in_camel_case
from cupel_core.interfaces.mcp.models import Arguments, CreatingArguments, Id, ResultModel, Text, ToolResult
from cupel_core.interfaces.mcp.registry import ToolEffect, ToolGroup, tool
from cupel_core.interfaces.mcp.repeats import once
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.providers.prices import price_list_version
from cupel_core.runs import budgets, continuation, control, erasure, progress, queries, start
from cupel_core.runs.budgets import BudgetedEstimate
from cupel_core.runs.estimate_requests import estimate
from cupel_core.runs.spec import spec_to_text
from cupel_core.runs.start import RunStarted
from cupel_core.runs.starters import started_by

ModelName = Annotated[str, Field(strict=True, min_length=3, max_length=256)]
Usd = Annotated[float, Field(strict=True, ge=0, le=1_000_000)]
BudgetUsd = Annotated[float, Field(strict=True, ge=0.000001, le=1_000_000)]
Tag = Annotated[str, Field(strict=True, min_length=1, max_length=100)]
Percentage = Annotated[int, Field(strict=True, ge=1, le=100)]
_IN_CONFIG = ("temperature", "maxTurns", "judgeModel", "personaModel", "summarizerModel", "profileId")
"""Fields of `config` in a body of the API."""


class TargetsArguments(Arguments):
    """What is asked: either models, or targets."""

    models: Annotated[
        list[ModelName] | None,
        Field(min_length=1, max_length=100, description="`provider/name`, or `connector/<id>` for an agent"),
    ] = None
    targets: Annotated[
        list[Annotated[dict[str, Any], Field(max_length=20)]] | None,
        Field(
            min_length=1,
            max_length=100,
            description=(
                "Instead of `models`: {model | connector_id, label, params: {temperature, max_output_tokens, …}}"
            ),
        ),
    ] = None

    def body(self, without: tuple[str, ...] = ()) -> dict[str, Any]:
        """That of a start by the API."""
        body = body_of(self, without=without)
        return body | ({"targets": list(map(_target_body, self.targets))} if self.targets else {})


def _target_body(target: dict[str, Any]) -> dict[str, Any]:
    body = in_camel_case(target)
    return body | ({"params": in_camel_case(body["params"])} if isinstance(body.get("params"), dict) else {})


class EstimateRunArguments(TargetsArguments):
    """What a run would be of."""

    definition_id: Id
    definition_version: Annotated[
        int | None, Field(strict=True, ge=1, le=1_000_000, description="The newest if omitted")
    ] = None
    sample_percentage: Percentage = 100
    sample_seed: Annotated[
        int | None, Field(strict=True, ge=0, le=2**53 - 1, description="The same seed draws the same scenarios")
    ] = None
    repeats: Annotated[int, Field(strict=True, ge=1, le=1_000)] = 1
    temperature: Annotated[float | None, Field(strict=True, ge=0, le=2)] = None
    max_turns: Annotated[int | None, Field(strict=True, ge=1, le=100)] = None
    judge_model: ModelName | None = None
    persona_model: ModelName | None = None
    profile_id: Annotated[Id | None, Field(description="Operations around model calls; see list_profiles")] = None
    max_budget_usd: Annotated[
        BudgetUsd | None, Field(description="The run is paused when this is used up; without it, there is no limit")
    ] = None
    confirmed_usd: Annotated[
        Usd | None,
        Field(
            description="The cost that the user agreed to, when asked: without a budget, or above it or the workspace's"
        ),
    ] = None
    allow_unpriced: Annotated[
        bool, Field(strict=True, description="The user agreed to models whose price is unknown, which no budget limits")
    ] = False

    def body(self, without: tuple[str, ...] = ()) -> dict[str, Any]:
        body = super().body(without)
        config = {name: body.pop(name) for name in _IN_CONFIG if name in body}
        return body | ({"config": config} if config else {})


class UsdInterval(ResultModel):
    low: float
    expected: float
    high: float


class BudgetBrief(ResultModel):
    max_budget_usd: float | None = None
    day_left_usd: Annotated[float | None, Field(description="Of the workspace's budget")] = None
    month_left_usd: float | None = None
    exceeds: Annotated[BudgetScope | None, Field(description="The budget that the expected cost exceeds")] = None
    may_exceed: Annotated[BudgetScope | None, Field(description="The budget that the upper bound exceeds")] = None
    confirmation_required: bool


class MissingAccessBrief(ResultModel):
    provider: str
    message: str


class RunEstimateResult(ToolResult):
    job_count: Annotated[int, Field(description="Probes of the run")]
    usd: UsdInterval
    seconds: UsdInterval
    basis: Basis
    unpriced: Annotated[list[str], Field(description="Models whose price is unknown; not in `usd`")]
    budget: Annotated[BudgetBrief, Field(description="What is left of budgets, and whether the run fits")]
    needs_agreement: Annotated[bool, Field(description="Whether start_run is refused unless the user has agreed")]
    missing_access: Annotated[list[MissingAccessBrief], Field(description="Providers to set up before start_run")]


@tool(
    "estimateRun",
    title="Estimate a run",
    description="What a run would cost and how long it would take, with bounds; starts nothing.",
    max_kb=2,
    group=ToolGroup.RUNS,
)
def estimate_run(request: ToolRequest, arguments: EstimateRunArguments) -> RunEstimateResult:
    spec = parse(EstimateRun, arguments.body(), "").spec()
    found = _estimate(request, spec)
    return estimated(found, needs_agreement=agreement_refusal(spec, found.estimate) is not None)


def _estimate(request: ToolRequest, spec: RunSpec) -> BudgetedEstimate:
    """Also of models whose price is unknown."""
    return estimate(request.workspace, replace(spec, allow_unpriced=True), request.now)


def estimated(found: BudgetedEstimate, *, needs_agreement: bool) -> RunEstimateResult:
    shown = EstimateResponse.of(found.estimate, price_list_version(), found.fit, found.missing_access)
    fields = {name: getattr(shown, name) for name in RunEstimateResult.model_fields if hasattr(shown, name)}
    return RunEstimateResult(**fields, needs_agreement=needs_agreement or found.fit.needs_confirmation)


def agreement_refusal(spec: RunSpec | ScaleRun, expected: RunEstimate) -> AppError | None:
    """Why the run may not start before the user has agreed to its cost, beside what the API refuses."""
    if expected.unpriced and not spec.allow_unpriced:
        names = ", ".join(expected.unpriced)
        return Invalid.field("allowUnpriced", f"must be true if the user agrees: the price of {names} is unknown")
    if spec.max_budget_usd is None and needs_confirmation(expected.total_usd, 0, spec.confirmed_usd):
        usd = expected.total_usd
        cost = f"from {format_usd(usd.low)} to {format_usd(usd.high)}"
        reason = f"the run has no max_budget_usd and is expected to cost {format_usd(usd.expected)} ({cost})"
        return ConfirmationRequired(reason, expected)
    return None


class StartRunArguments(EstimateRunArguments, CreatingArguments):
    name: Text | None = None
    tags: Annotated[list[Tag] | None, Field(max_length=50)] = None
    priority: Priority = Priority.NORMAL
    experiment_id: Id | None = None
    report: Annotated[bool, Field(strict=True, description="Make a report when it ends: see get_report")] = False
    summarizer_model: Annotated[ModelName | None, Field(description="Writes the report's summary")] = None


class StartedRun(ToolResult):
    run_id: str
    status: RunStatus
    job_count: int
    expected_usd: UsdInterval | None = None


@tool(
    "createRun",
    title="Start a run",
    description=(
        "Starts a run, which calls models. Unless it is free, it needs max_budget_usd, or confirmed_usd: ask the user"
        " first. Follow it with get_run. Send an idempotency_key, so that a repeated call does not start it twice."
    ),
    max_kb=2,
    group=ToolGroup.RUNS,
    effect=ToolEffect.CREATE,
    calls_models=True,
)
def start_run(request: ToolRequest, arguments: StartRunArguments) -> StartedRun:
    spec = parse(CreateRun, arguments.body(without=("idempotency_key",)), "").spec()
    key = arguments.idempotency_key
    if key is None or start.find_started(request.workspace, key, spec_to_text(spec), request.now) is None:
        check_agreement(spec, lambda: _estimate(request, spec).estimate)
    return started(start.start(request.workspace, spec, key, request.now, started_by(request.caller)))


def started(found: RunStarted) -> StartedRun:
    run, job_count, expected = found
    usd = EstimateResponse.of(expected, price_list_version()).usd if expected else None
    return StartedRun(
        run_id=run.id,
        status=run.status,
        job_count=job_count,
        expected_usd=UsdInterval.model_validate(usd) if usd else None,
    )


def check_agreement(wanted: RunSpec | ScaleRun, expected: Callable[[], RunEstimate]) -> None:
    """A run with a budget costs no more than that, unless prices are unknown, which a start refuses."""
    if wanted.max_budget_usd is None and (refusal := agreement_refusal(wanted, expected())) is not None:
        raise refusal


class RunArguments(Arguments):
    run_id: Id


class ChangedRun(ToolResult):
    run_id: str
    status: RunStatus
    pause_reason: PauseReason | None = None
    total: Annotated[int, Field(description="Probes")]
    completed: int
    failed: int

    @property
    def id(self) -> str:
        return self.run_id


class StoppedRun(ChangedRun):
    calls_in_flight: Annotated[int, Field(description="They are recorded; none begins later than 5 s from now")]


def _stopped(request: ToolRequest, run_id: str) -> StoppedRun:
    view = queries.get_run(request.workspace, run_id, request.now)
    in_flight = progress.count_in_flight(view.run, request.now)
    return StoppedRun(**vars(_changed(request, run_id)), calls_in_flight=in_flight)


def _changed(request: ToolRequest, run_id: str) -> ChangedRun:
    run = RunResponse.of(queries.get_run(request.workspace, run_id, request.now))
    return ChangedRun(
        run_id=run.id, status=run.status, pause_reason=run.pause_reason, **run.progress.model_dump(by_alias=False)
    )


@tool(
    "pauseRun",
    title="Pause a run",
    description="No further model call starts; calls in flight are recorded. resume_run continues the run.",
    max_kb=1,
    group=ToolGroup.RUNS,
    effect=ToolEffect.UPDATE,
)
def pause_run(request: ToolRequest, arguments: RunArguments) -> StoppedRun:
    control.pause(request.workspace, arguments.run_id, request.now)
    return _stopped(request, arguments.run_id)


@tool(
    "resumeRun",
    title="Resume a run",
    description=("Continues a paused run where it was: it calls models and may cost money."),
    max_kb=1,
    group=ToolGroup.RUNS,
    effect=ToolEffect.UPDATE,
    calls_models=True,
)
def resume_run(request: ToolRequest, arguments: RunArguments) -> ChangedRun:
    control.resume(request.workspace, arguments.run_id, request.now)
    return _changed(request, arguments.run_id)


@tool(
    "cancelRun",
    title="Cancel a run",
    description="Ends a run for good. Its transcripts are kept.",
    max_kb=1,
    group=ToolGroup.RUNS,
    effect=ToolEffect.DESTROY,
)
def cancel_run(request: ToolRequest, arguments: RunArguments) -> StoppedRun:
    control.cancel(request.workspace, arguments.run_id, request.now)
    return _stopped(request, arguments.run_id)


def _needs_agreement(found: BudgetedEstimate, confirmed_usd: float | None) -> bool:
    """Without a budget of the run, whoever adds probes that are not free has to ask the user, as for a start."""
    return BudgetScope.RUN not in found.fit.left_usd and needs_confirmation(found.estimate.usd, 0, confirmed_usd)


def _check_addition(what: str, found: BudgetedEstimate, confirmed_usd: float | None) -> None:
    if _needs_agreement(found, confirmed_usd):
        expected = found.estimate.usd
        cost = f"{format_usd(expected.expected)} (from {format_usd(expected.low)} to {format_usd(expected.high)})"
        reason = f"the run has no budget and {what} is expected to cost {cost}"
        raise ConfirmationRequired(reason, found.estimate)


class EstimateRetryArguments(RunArguments):
    model: Annotated[ModelName | None, Field(description="Only probes of this model; all errored ones if omitted")] = (
        None
    )


@tool(
    "estimateRetry",
    title="Estimate a retry",
    description="What retry_run would cost and how long it would take, with bounds; starts nothing.",
    max_kb=2,
    group=ToolGroup.RUNS,
)
def estimate_retry(request: ToolRequest, arguments: EstimateRetryArguments) -> RunEstimateResult:
    found = continuation.estimate_retry(request.workspace, arguments.run_id, request.now, model=arguments.model)
    return estimated(found, needs_agreement=_needs_agreement(found, None))


class EstimateExpansionArguments(RunArguments):
    sample_percentage: Annotated[Percentage, Field(description="Higher than the run's")]


@tool(
    "estimateExpansion",
    title="Estimate an expansion",
    description=(
        "What the probes would cost that expand_run adds, and how long they would take, with bounds; starts nothing."
    ),
    max_kb=2,
    group=ToolGroup.RUNS,
)
def estimate_expansion(request: ToolRequest, arguments: EstimateExpansionArguments) -> RunEstimateResult:
    percentage = arguments.sample_percentage
    found = continuation.estimate_expansion(request.workspace, arguments.run_id, percentage, request.now)
    return estimated(found, needs_agreement=_needs_agreement(found, None))


class AdditionArguments(CreatingArguments):
    confirmed_usd: Annotated[Usd | None, Field(description="The cost that the user agreed to, when asked")] = None


class RetryRunArguments(AdditionArguments, EstimateRetryArguments):
    """Which probes, and what was agreed to."""


@tool(
    "retryRun",
    title="Retry errored probes",
    description=("Runs the errored probes of a run again: this calls models and may cost money."),
    max_kb=1,
    group=ToolGroup.RUNS,
    effect=ToolEffect.CREATE,
    calls_models=True,
)
def retry_run(request: ToolRequest, arguments: RetryRunArguments) -> ChangedRun:
    def retry() -> ChangedRun:
        retried = (request.workspace, arguments.run_id, request.now)
        found = continuation.estimate_retry(*retried, model=arguments.model)
        _check_addition("the retry", found, arguments.confirmed_usd)
        continuation.retry(*retried, model=arguments.model, confirmed_usd=arguments.confirmed_usd)
        return _changed(request, arguments.run_id)

    return once(request, "retryRun", arguments, retry, lambda run_id: _changed(request, run_id))


class ExpandRunArguments(AdditionArguments, EstimateExpansionArguments):
    """How far, and what was agreed to."""


@tool(
    "expandRun",
    title="Expand a sampled run",
    description=(
        "Adds scenarios to a run of a sample that has ended; the probes that it has stay as they are. This calls models"
        " and may cost money, within the run's budget if it has one."
    ),
    max_kb=1,
    group=ToolGroup.RUNS,
    effect=ToolEffect.UPDATE,
    calls_models=True,
)
def expand_run(request: ToolRequest, arguments: ExpandRunArguments) -> ChangedRun:
    def expand() -> ChangedRun:
        expanded = (request.workspace, arguments.run_id, arguments.sample_percentage, request.now)
        found = continuation.estimate_expansion(*expanded)
        _check_addition("the expansion", found, arguments.confirmed_usd)
        continuation.expand(*expanded, confirmed_usd=arguments.confirmed_usd)
        return _changed(request, arguments.run_id)

    return once(request, "expandRun", arguments, expand, lambda run_id: _changed(request, run_id))


class SetRunBudget(RunArguments):
    max_budget_usd: BudgetUsd
    resume: Annotated[bool, Field(strict=True, description="If it is paused because of its budget")] = True


@tool(
    "updateRunBudget",
    title="Set the budget of a run",
    description=(
        "Raises or lowers what a run with a budget may spend, and continues a run that is paused because of its budget,"
        " which calls models and may cost money, unless `resume` is false."
    ),
    max_kb=1,
    group=ToolGroup.RUNS,
    effect=ToolEffect.OVERWRITE,
    calls_models=True,
)
def set_run_budget(request: ToolRequest, arguments: SetRunBudget) -> ChangedRun:
    wanted = parse(UpdateRunBudget, body_of(arguments, without=("run_id",)), "")
    budgets.change_budget(
        request.workspace, arguments.run_id, wanted.max_budget_usd, resume=wanted.resume, now=request.now
    )
    return _changed(request, arguments.run_id)


class DeletedRun(ToolResult):
    run_id: str
    deleted: bool


@tool(
    "deleteRun",
    title="Delete a run",
    description="Deletes a run with all of its conversations. This cannot be undone.",
    max_kb=1,
    group=ToolGroup.RUNS,
    effect=ToolEffect.DESTROY,
)
def delete_run(request: ToolRequest, arguments: RunArguments) -> DeletedRun:
    erasure.delete_run(request.workspace, arguments.run_id, request.now)
    return DeletedRun(run_id=arguments.run_id, deleted=True)
