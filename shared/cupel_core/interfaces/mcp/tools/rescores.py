"""Grades the transcripts of runs again, and reads what came of it."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.contract.common import Time
from cupel_core.contract.rescores import CreateRescore, RescoreResponse, UpdateRescoreBudget
from cupel_core.domain.scoring.rescores import Rescore, RescoreSpec, RescoreStatus
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.bodies import body_of
from cupel_core.interfaces.mcp.models import Arguments, CreatingArguments, Id, ResultModel, UntrustedResult
from cupel_core.interfaces.mcp.registry import ToolEffect, ToolGroup, tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.runs.rescoring import queries, start
from cupel_core.runs.rescoring.models import RescoreModels
from cupel_core.store import runs

ModelName = Annotated[str, Field(strict=True, min_length=3, max_length=256)]
BudgetUsd = Annotated[float, Field(strict=True, ge=0.000001, le=1_000_000)]


class RescoreProgressBrief(ResultModel):
    total: Annotated[int, Field(description="Transcripts")]
    completed: int
    failed: Annotated[int, Field(description="Could not be graded")]


class RescoreBudgetBrief(ResultModel):
    max_budget_usd: float
    spent_usd: float
    reserved_usd: float


class RescoreFailure(ResultModel):
    where: str
    why: str


class RescoreDetail(UntrustedResult):
    id: str
    run_id: str
    status: RescoreStatus
    judge_model: Annotated[str | None, Field(description="If it is not the run's")] = None
    progress: RescoreProgressBrief
    budget: Annotated[RescoreBudgetBrief | None, Field(description="Absent without one of its own")] = None
    failure: Annotated[RescoreFailure | None, Field(description="`where` is `budget` if it was used up")] = None
    created_at: Time
    completed_at: Time | None = None


def _detail(rescore: Rescore) -> RescoreDetail:
    found = RescoreResponse.of(queries.rescore_view(rescore))
    return RescoreDetail.model_validate({**found.model_dump(), "judge_model": found.config.judge_model})


class GetRescore(Arguments):
    run_id: Id
    rescore_id: Id


@tool(
    "getRescore",
    title="Get a rescore",
    description=(
        "How far a rescore is, what it has spent, and why it failed. graphql_query reads its results:"
        " `{ rescore(runId: …, id: …) { results { nodes { probeIndex success score } } } }`."
    ),
    max_kb=2,
)
def get_rescore(request: ToolRequest, arguments: GetRescore) -> RescoreDetail:
    found = RescoreResponse.of(queries.get_rescore(request.workspace, arguments.run_id, arguments.rescore_id))
    return RescoreDetail.model_validate({**found.model_dump(), "judge_model": found.config.judge_model})


class RescoreRun(CreatingArguments):
    run_id: Id
    judge_model: Annotated[ModelName | None, Field(description="Instead of the run's")] = None
    assertions: Annotated[
        list[Annotated[dict[str, Any], Field(max_length=20)]] | None,
        Field(max_length=100, description="Instead of those of the definition and its scenarios"),
    ] = None
    max_budget_usd: Annotated[
        BudgetUsd | None, Field(description="The rescore stops when this is used up; its results are kept")
    ] = None
    allow_unpriced: Annotated[
        bool, Field(strict=True, description="The user agreed to models whose price is unknown, which no budget limits")
    ] = False


@tool(
    "createRescore",
    title="Rescore a run",
    description=(
        "Grades the transcripts of a run again, without calling its targets. The run's own results are kept. This calls"
        " the judge: unless that is free or the run has a budget, it needs max_budget_usd; ask the user first. Follow"
        " it with get_rescore."
    ),
    max_kb=2,
    group=ToolGroup.RUNS,
    effect=ToolEffect.CREATE,
    calls_models=True,
)
def rescore_run(request: ToolRequest, arguments: RescoreRun) -> RescoreDetail:
    spec = parse(CreateRescore, body_of(arguments, without=("run_id", "idempotency_key")), "").spec()
    _check_budget(request, arguments.run_id, spec)
    return _detail(start.start(request.workspace, arguments.run_id, spec, arguments.idempotency_key, request.now))


def _check_budget(request: ToolRequest, run_id: str, spec: RescoreSpec) -> None:
    run = runs.get(RunRef(request.workspace, run_id))
    if spec.max_budget_usd is None and run.budget is None and (paid := RescoreModels(run, spec.config()).list_paid()):
        names = ", ".join(paid)
        raise Invalid.field("maxBudgetUsd", f"is required, as {names} may cost money: ask the user how much it may be")


class SetRescoreBudget(GetRescore):
    max_budget_usd: Annotated[BudgetUsd, Field(description="More than before")]


@tool(
    "updateRescoreBudget",
    title="Raise the budget of a rescore",
    description=(
        "Raises the budget of a rescore; one that was stopped by it continues. This lets it call the judge and costs"
        " money, so ask the user first."
    ),
    max_kb=2,
    group=ToolGroup.RUNS,
    effect=ToolEffect.UPDATE,
    calls_models=True,
)
def set_rescore_budget(request: ToolRequest, arguments: SetRescoreBudget) -> RescoreDetail:
    wanted = parse(UpdateRescoreBudget, {"maxBudgetUsd": arguments.max_budget_usd}, "")
    named = (request.workspace, arguments.run_id, arguments.rescore_id)
    return _detail(start.raise_budget(*named, wanted.max_budget_usd, request.now))
