"""Starts and control of runs, their estimates, budgets and analyses."""

from typing import Any

from cupel_core.analysis import deep_requests, queries
from cupel_core.analysis.queries import ListedAnalysis
from cupel_core.analysis.responses import pending_response
from cupel_core.base.errors import Invalid
from cupel_core.base.preconditions import UNCONDITIONAL
from cupel_core.contract.analysis import AnalyzeRun
from cupel_core.contract.budgets import RunBudgetResponse, UpdateRunBudget
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.run_labels import UpdateRun
from cupel_core.contract.run_requests import (
    CreateRun,
    EstimateExpansion,
    EstimateRetry,
    EstimateRun,
    ExpandRun,
    RerunRun,
    RetryRun,
    RunStartedResponse,
)
from cupel_core.domain.analysis.records import AnalysisKind
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.interfaces.graphql.inputs import parse, without_null
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.resolvers.analysis import to_summary
from cupel_core.interfaces.graphql.resolvers.runs import get_run
from cupel_core.providers.prices import price_list_version
from cupel_core.runs import budgets, continuation, control, erasure, labels, start
from cupel_core.runs.budgets import BudgetedEstimate
from cupel_core.runs.estimate_requests import estimate
from cupel_core.runs.rerun import rerun_spec
from cupel_core.runs.start import RunStarted
from cupel_core.runs.starters import started_by
from cupel_core.store import idempotency


@resolves("Query.estimateRun", "estimateRun", 20)
def estimate_run(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    wanted, _key = _start_input(body)
    return to_estimate(estimate(request.workspace, parse(EstimateRun, wanted).spec(), request.now))


def to_estimate(found: BudgetedEstimate) -> Loaded:
    return Loaded(EstimateResponse.of(found.estimate, price_list_version(), found.fit, found.missing_access))


@resolves("Query.estimateRetry", "estimateRetry", 20)
def estimate_retry(
    request: Request, _: None, run_id: str, model: str | None = None, probe_index: int | None = None
) -> Loaded:
    wanted = parse(EstimateRetry, without_null({"model": model, "probeIndex": probe_index}), "")
    return to_estimate(continuation.estimate_retry(request.workspace, run_id, request.now, **dict(wanted)))


@resolves("Query.estimateExpansion", "estimateExpansion", 20)
def estimate_expansion(request: Request, _: None, run_id: str, sample_percentage: int) -> Loaded:
    percentage = parse(EstimateExpansion, {"samplePercentage": sample_percentage}, "").sample_percentage
    return to_estimate(continuation.estimate_expansion(request.workspace, run_id, percentage, request.now))


@resolves("Mutation.startRun", "createRun", 20)
def start_run(request: Request, _: None, body: dict[str, Any]) -> dict[str, Any]:
    wanted, key = _start_input(body)
    return start_spec(request, parse(CreateRun, wanted).spec(), key or request.idempotency_key)


@resolves("Mutation.rerunRun", "rerunRun", 20)
def rerun_run(request: Request, _: None, run_id: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    wanted = parse(RerunRun, body or {})
    return start_spec(request, wanted.apply_to(rerun_spec(request.workspace, run_id)), request.idempotency_key)


def _start_input(body: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The body of a start as REST takes it, and its key."""
    wanted = dict(body)
    key = wanted.pop("idempotencyKey", None)
    idempotency.check_key(key, "input.idempotencyKey")
    short = {name: wanted.pop(name) for name in ("temperature", "maxTurns") if name in wanted}
    return wanted | ({"config": {**(wanted.get("config") or {}), **short}} if short else {}), key


def start_spec(request: Request, spec: RunSpec, key: str | None, requested: str | None = None) -> dict[str, Any]:
    """`requested` is what a repeated request with the same key must have asked for; the spec if None."""
    idempotency.check_key(request.idempotency_key)
    return to_started(
        request, start.start(request.workspace, spec, key, request.now, started_by(request.caller), requested)
    )


def to_started(request: Request, started: RunStarted) -> dict[str, Any]:
    request.runs[started.run.id] = started.run
    made = Loaded(RunStartedResponse.of(*started, price_list_version()))
    return {**made, "run": Loaded.of(made["run"], started.run)}


@resolves("RunStarted.id", "createRun", 0)
async def started_id(_: Request, source: dict[str, Any]) -> Any:
    return source["run"]["id"]


@resolves("RunStarted.status", "createRun", 0)
async def started_status(_: Request, source: dict[str, Any]) -> Any:
    return source["run"]["status"]


@resolves("RunStarted.progress", "createRun", 0)
async def started_progress(_: Request, source: dict[str, Any]) -> Any:
    return source["run"]["progress"]


@resolves("Mutation.updateRun", "updateRun", 5)
def update_run(request: Request, _: None, run_id: str, body: dict[str, Any]) -> Loaded:
    labels.update_labels(request.workspace, run_id, parse(UpdateRun, body).labels(), request.now, UNCONDITIONAL)
    return get_run(request, run_id)


@resolves("Mutation.pauseRun", "pauseRun", 5)
def pause_run(request: Request, _: None, **ids: Any) -> Loaded:
    run_id = _run_id(**ids)
    control.pause(request.workspace, run_id, request.now)
    return get_run(request, run_id)


@resolves("Mutation.resumeRun", "resumeRun", 5)
def resume_run(request: Request, _: None, **ids: Any) -> Loaded:
    run_id = _run_id(**ids)
    control.resume(request.workspace, run_id, request.now)
    return get_run(request, run_id)


@resolves("Mutation.cancelRun", "cancelRun", 5)
def cancel_run(request: Request, _: None, **ids: Any) -> Loaded:
    run_id = _run_id(**ids)
    control.cancel(request.workspace, run_id, request.now)
    return get_run(request, run_id)


@resolves("Mutation.deleteRun", "deleteRun", 5)
def delete_run(request: Request, _: None, **ids: Any) -> bool:
    erasure.delete_run(request.workspace, _run_id(**ids), request.now)
    return True


def _run_id(run_id: str | None = None, named_run_id: str | None = None) -> str:
    """Of `id` and `runId`, the one that is given."""
    given = [each for each in (run_id, named_run_id) if each is not None]
    if len(given) != 1:
        raise Invalid.field("id", "exactly one of id and runId is required")
    return given[0]


@resolves("Mutation.retryRun", "retryRun", 5)
def retry_run(
    request: Request,
    _: None,
    run_id: str,
    model: str | None = None,
    probe_index: int | None = None,
    confirmed_usd: float | None = None,
) -> Loaded:
    given = {"model": model, "probeIndex": probe_index, "confirmedUsd": confirmed_usd}
    continuation.retry(request.workspace, run_id, request.now, **dict(parse(RetryRun, without_null(given), "")))
    return get_run(request, run_id)


@resolves("Mutation.expandRun", "expandRun", 5)
def expand_run(
    request: Request, _: None, run_id: str, sample_percentage: int, confirmed_usd: float | None = None
) -> Loaded:
    given = {"samplePercentage": sample_percentage, "confirmedUsd": confirmed_usd}
    wanted = parse(ExpandRun, without_null(given), "")
    percentage, confirmed = wanted.sample_percentage, wanted.confirmed_usd
    continuation.expand(request.workspace, run_id, percentage, request.now, confirmed_usd=confirmed)
    return get_run(request, run_id)


@resolves("Mutation.setRunBudget", "updateRunBudget", 5)
def set_run_budget(request: Request, _: None, run_id: str, max_budget_usd: float, *, resume: bool) -> Loaded:
    wanted = parse(UpdateRunBudget, {"maxBudgetUsd": max_budget_usd, "resume": resume}, "")
    changed = budgets.change_budget(
        request.workspace, run_id, wanted.max_budget_usd, resume=wanted.resume, now=request.now
    )
    return Loaded(RunBudgetResponse.of(changed))


@resolves("Mutation.analyzeRun", "analyzeRun", 20)
def analyze_run(request: Request, _: None, run_id: str, rescore_id: str | None = None, **options: Any) -> Loaded:
    wanted = parse(AnalyzeRun, {**options, "rescoreId": rescore_id}, "")
    job = None
    if wanted.kind is AnalysisKind.DEEP:
        found, job = deep_requests.request(
            request.workspace, run_id, rescore_id, request.now, force=wanted.force, narrative=wanted.narrative
        )
    else:
        found = queries.request_analysis(request.workspace, run_id, rescore_id, request.now, force=wanted.force)
    if found is None:
        return Loaded(pending_response(run_id, wanted, job))
    return to_summary(ListedAnalysis(found, is_current=True, stale_reason=None))
