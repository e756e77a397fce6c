"""Comparisons of runs, targets or prompts."""

from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.pages import bounded_page
from api.parameters import Cursor, ExperimentFilter, Limit
from api.rendering import CONTENT_TYPE, Rendered
from api.routing import OperationRouter
from cupel_core.analysis import comparisons, lists
from cupel_core.analysis.comparisons import ComparisonView
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import FieldError, Invalid
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.comparisons import (
    ComparisonPage,
    ComparisonPlanResponse,
    ComparisonSummaryResponse,
    CreateComparison,
    PlanComparison,
    RunComparisonResponse,
    ScenarioChangePage,
    ScenarioChangeResponse,
)
from cupel_core.domain.analysis.scenario_changes import ChangeDirection

router = OperationRouter()

ComparedRun = Annotated[str | None, Query(alias="runId", description="Return only comparisons of this run")]
Row = Annotated[
    int | None,
    Query(ge=0, le=200, description="Index of a pair of columns in the comparison's `rows`; all of them by default"),
]
ChangeFilter = Annotated[ChangeDirection | None, Query(description="Return only scenarios that changed in this way")]


@router.operation("createComparison", status=202)
def create_comparison(body: CreateComparison) -> Response[RunComparisonResponse]:
    view, is_queued = comparisons.request(router.workspace, body.spec(), utc_now())
    return Response(HTTPStatus.ACCEPTED if is_queued else HTTPStatus.OK, CONTENT_TYPE, _response(view))


@router.operation("planComparison")
def plan_comparison(body: PlanComparison) -> ComparisonPlanResponse:
    request = body.request()
    if violations := [FieldError(*each) for each in request.violations]:
        raise Invalid.fields(violations)
    return ComparisonPlanResponse.model_validate(request.plan().document())


@router.operation("listComparisons")
def list_comparisons(
    run_id: ComparedRun = None,
    experiment_id: ExperimentFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[ComparisonPage]:
    listed = lists.list_comparisons(
        router.workspace, run_id=run_id, experiment_id=experiment_id, limit=limit, cursor=cursor
    )
    return bounded_page(ComparisonPage, listed.entries(), limit, ComparisonSummaryResponse.summary)


@router.operation("getComparison")
def get_comparison(comparison_id: str) -> RunComparisonResponse:
    return _response(comparisons.get(router.workspace, comparison_id))


@router.operation("deleteComparison", status=204)
def delete_comparison(comparison_id: str) -> Response[None]:
    comparisons.delete(router.workspace, comparison_id)
    return Response(204)


@router.operation("listComparisonScenarios")
def list_comparison_scenarios(
    comparison_id: str,
    row: Row = None,
    change: ChangeFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[ScenarioChangePage]:
    entries = comparisons.list_scenarios(router.workspace, comparison_id, row=row, change=change, cursor=cursor)
    return bounded_page(ScenarioChangePage, entries, limit, _change)


def _change(change: dict[str, Any]) -> ScenarioChangeResponse:
    return ScenarioChangeResponse.model_validate(change)


def _response(view: ComparisonView) -> RunComparisonResponse:
    return RunComparisonResponse.of(view.comparison, view.figures, is_stale=view.is_stale)
