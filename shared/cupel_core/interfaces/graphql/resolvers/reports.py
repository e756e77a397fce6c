"""Reports of runs, and trials of the prompts that they suggest."""

from typing import Any

from cupel_core.analysis.reports import requests, trial_results, trials
from cupel_core.analysis.reports.responses import report_response
from cupel_core.base.errors import NotFound
from cupel_core.base.paging import Page, fill_page, slice_page
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.reports import CreateReport
from cupel_core.contract.trials import CreateTrial, EstimateTrial, TrialPlanResponse
from cupel_core.interfaces.graphql.inputs import check_cursor, check_limit, connection, parse
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.providers.prices import price_list_version
from cupel_core.runs.starters import started_by


@resolves("Run.report", "getRunReport", 10)
def run_report(request: Request, source: Loaded) -> Loaded | None:
    try:
        return Loaded(report_response(requests.get_newest(request.workspace, source["id"], request.now)))
    except NotFound:
        return None


@resolves("Run.reports", "listReports")
def run_reports(request: Request, source: Loaded, limit: int) -> Page[Loaded]:
    page = slice_page(requests.list_reports(request.workspace, source["id"]), check_limit(limit), None)
    return page.map(lambda each: Loaded(report_response(each)))


@resolves("Report.conversations", "listReportConversations", 10, item_cost=2)
def conversations(request: Request, source: Loaded, first: int, after: str | None = None) -> dict[str, Any]:
    limit = check_limit(first, "first")
    entries = requests.list_conversations(request.workspace, source["runId"], source["id"], check_cursor(after))
    return connection(fill_page(entries, limit).map(Loaded))


@resolves("Mutation.createReport", "createReport", 10)
def create_report(request: Request, _: None, run_id: str, body: dict[str, Any] | None = None) -> Loaded:
    wanted = parse(CreateReport, body or {})
    model = wanted.summarizer_model if wanted.names_summarizer() else requests.Default.CONFIGURED
    allow_unpriced = wanted.allow_unpriced
    requested = requests.request(request.workspace, run_id, request.now, model, allow_unpriced=allow_unpriced)
    return Loaded(report_response(requested.view))


@resolves("Query.estimateTrial", "estimateTrial", 20)
def estimate_trial(
    request: Request, _: None, run_id: str, report_id: str, body: dict[str, Any] | None = None
) -> Loaded:
    wanted = parse(EstimateTrial, body or {}).request()
    planned = trials.plan(request.workspace, run_id, report_id, wanted, request.now)
    return Loaded(
        TrialPlanResponse(
            **planned.size._asdict(),
            unseen_scenarios=planned.unseen_scenarios,
            max_budget_usd=planned.max_budget_usd,
            estimate=EstimateResponse.of(planned.estimate, price_list_version()),
        )
    )


@resolves("Mutation.createTrial", "createTrial", 20)
def create_trial(
    request: Request, _: None, run_id: str, report_id: str, body: dict[str, Any] | None = None
) -> Loaded | None:
    wanted = parse(CreateTrial, body or {}).request()
    trials.start(request.workspace, run_id, report_id, wanted, request.now, started_by(request.caller))
    trial = requests.get(request.workspace, run_id, report_id, request.now).trial
    return Loaded(trial_results.to_response(trial)) if trial else None
