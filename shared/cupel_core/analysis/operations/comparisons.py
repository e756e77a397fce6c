from http import HTTPStatus
from typing import Annotated, Any

from cupel_core.analysis import comparisons, lists
from cupel_core.analysis.comparisons import ComparisonView
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
from cupel_core.contract.operation import MEMBER, VIEWER, Answered, AsTool, Call, Listed, ToolGroup, operation
from cupel_core.contract.query import (
    Cursor,
    ExperimentFilter,
    Limit,
    Parameter,
)
from cupel_core.domain.analysis.scenario_changes import ChangeDirection

ComparedRun = Annotated[str | None, Parameter(description="Return only comparisons of this run")]


Row = Annotated[
    int | None,
    Parameter(
        ge=0, le=200, description="Index of a pair of columns in the comparison's `rows`; all of them by default"
    ),
]


ChangeFilter = Annotated[
    ChangeDirection | None, Parameter(description="Return only scenarios that changed in this way")
]


@operation(
    "POST /v1/comparisons",
    "Compare two runs, or targets or prompts of one run",
    role=MEMBER,
    returns="The comparison; its figures follow once its job is completed",
    status=202,
    location="/v1/comparisons/{id}",
    is_repeatable=True,
)
def create_comparison(call: Call, body: CreateComparison) -> Answered[RunComparisonResponse]:
    """A job computes it: 202 is returned if this request queued it, 200 if the same comparison of the same results
    exists, and 409 while a run is going on."""
    view, is_queued = comparisons.request(call.workspace, body.spec(), call.now)
    return Answered(_response(view), HTTPStatus.ACCEPTED if is_queued else HTTPStatus.OK)


@operation(
    "POST /v1/comparisons/plan",
    "Plan a comparison: how many scenarios and repeats detect a difference",
    role=VIEWER,
    returns="The sizes of runs that detect the difference with a chance of 80 %",
    is_repeatable=True,
)
def plan_comparison(call: Call, body: PlanComparison) -> ComparisonPlanResponse:
    """Nothing is written. A spread that was estimated from `pilotScenarios` counts with its upper 80 % bound. Scenarios
    that are added because a comparison was inconclusive are a second look; see docs/comparing.md."""
    request = body.request()
    if violations := [FieldError(*each) for each in request.violations]:
        raise Invalid.fields(violations)
    return ComparisonPlanResponse.model_validate(request.plan().document())


@operation(
    "GET /v1/comparisons",
    "List the comparisons, newest first",
    role=VIEWER,
    returns="A page of comparisons, without their figures",
    tool=AsTool(ToolGroup.READ, "id status baseline comparison experimentId verdict sentence createdAt", max_kb=7),
)
def list_comparisons(
    call: Call,
    run_id: ComparedRun = None,
    experiment_id: ExperimentFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[ComparisonPage]:
    listed = lists.list_comparisons(
        call.workspace, run_id=run_id, experiment_id=experiment_id, limit=limit, cursor=cursor
    )
    return Listed(listed, ComparisonSummaryResponse.from_value)


@operation(
    "GET /v1/comparisons/{comparison_id}", "Get a comparison with its figures", role=VIEWER, returns="The comparison"
)
def get_comparison(call: Call, comparison_id: str) -> RunComparisonResponse:
    return _response(comparisons.get(call.workspace, comparison_id))


@operation(
    "DELETE /v1/comparisons/{comparison_id}", "Delete a comparison", role=MEMBER, returns="The comparison was deleted"
)
def delete_comparison(call: Call, comparison_id: str) -> None:
    """Deleting a run deletes its comparisons too."""
    comparisons.delete(call.workspace, comparison_id)


@operation(
    "GET /v1/comparisons/{comparison_id}/scenarios",
    "List the scenarios of a comparison, most changed first",
    role=VIEWER,
    returns="A page of scenarios with their values on both sides",
)
def list_comparison_scenarios(
    call: Call,
    comparison_id: str,
    row: Row = None,
    change: ChangeFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[ScenarioChangePage]:
    """Lists at most 10,000, of one pair of columns or of all together. Of equal changes, those with the smallest q
    come first, then decreases. The largest of many changes overstate themselves."""
    entries = comparisons.list_scenarios(call.workspace, comparison_id, row=row, change=change, cursor=cursor)
    return Listed(entries, _change)


def _change(change: dict[str, Any]) -> ScenarioChangeResponse:
    return ScenarioChangeResponse.model_validate(change)


def _response(view: ComparisonView) -> RunComparisonResponse:
    return RunComparisonResponse.from_value(view.comparison, figures=view.figures, is_stale=view.is_stale)
