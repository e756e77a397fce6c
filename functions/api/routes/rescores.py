"""Rescores of a run, and pass rates of the run or of a rescore."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from api.pages import bounded_page
from api.parameters import Cursor, Limit, ModelFilter, PromptFilter, RescoreId, counting_time
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.analysis import scores
from cupel_core.analysis.reports import agreement
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.common import with_defaults
from cupel_core.contract.reports import GraderAgreementList
from cupel_core.contract.rescores import (
    CreateRescore,
    RescorePage,
    RescoreResponse,
    RescoreResultPage,
    RescoreResultResponse,
    RunScoresResponse,
    ScenarioScoresPage,
    ScenarioScoresResponse,
    UpdateRescoreBudget,
)
from cupel_core.runs.rescoring import queries, start

router = OperationRouter()

Trials = Annotated[int | None, Query(ge=1, le=100, description="k of pass@k and pass^k; defaults to the run's repeats")]


@router.operation("createRescore", status=202)
def create_rescore(
    run_id: str, body: Annotated[CreateRescore, Body()] = with_defaults(CreateRescore)
) -> RescoreResponse:
    rescore = start.start(router.workspace, run_id, body.spec(), router.idempotency_key, utc_now())
    return RescoreResponse.of(queries.rescore_view(rescore))


@router.operation("listRescores")
def list_rescores(run_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[RescorePage]:
    listed = queries.list_rescores(router.workspace, run_id, limit, cursor)
    return bounded_page(RescorePage, listed.entries(), limit, RescoreResponse.of)


@router.operation("listGraderAgreement")
def list_grader_agreement(run_id: str) -> GraderAgreementList:
    return GraderAgreementList(items=list(agreement.list_agreement(router.workspace, run_id)))


@router.operation("getRescore")
def get_rescore(run_id: str, rescore_id: str) -> RescoreResponse:
    return RescoreResponse.of(queries.get_rescore(router.workspace, run_id, rescore_id))


@router.operation("updateRescoreBudget")
def update_rescore_budget(run_id: str, rescore_id: str, body: UpdateRescoreBudget) -> RescoreResponse:
    rescore = start.raise_budget(router.workspace, run_id, rescore_id, body.max_budget_usd, utc_now())
    return RescoreResponse.of(queries.rescore_view(rescore))


@router.operation("listRescoreResults")
def list_rescore_results(
    run_id: str,
    rescore_id: str,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[RescoreResultPage]:
    entries = queries.list_results(
        router.workspace,
        run_id,
        rescore_id,
        model=model,
        prompt_id=prompt_id,
        limit=limit,
        cursor=cursor,
        now=utc_now(),
    )
    return bounded_page(RescoreResultPage, entries, limit, RescoreResultResponse.of)


@router.operation("getRunScores")
def get_run_scores(
    run_id: str,
    rescore_id: RescoreId = None,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    k: Trials = None,
) -> RunScoresResponse:
    run_scores = scores.scores_by_column(
        router.workspace, run_id, rescore_id=rescore_id, model=model, prompt_id=prompt_id, k=k, has_time=counting_time()
    )
    return RunScoresResponse.of(run_scores, rescore_id)


@router.operation("listScenarioScores")
def list_scenario_scores(
    run_id: str,
    rescore_id: RescoreId = None,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    k: Trials = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[ScenarioScoresPage]:
    entries = scores.scores_by_scenario(
        router.workspace,
        run_id,
        rescore_id=rescore_id,
        model=model,
        prompt_id=prompt_id,
        k=k,
        cursor=cursor,
        has_time=counting_time(),
    )
    return bounded_page(ScenarioScoresPage, entries, limit, ScenarioScoresResponse.of)
