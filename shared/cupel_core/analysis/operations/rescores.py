from typing import Annotated

from cupel_core.analysis import results
from cupel_core.analysis.reports import agreement
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.contract.common import with_defaults
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    AsTool,
    Call,
    Listed,
    Replay,
    ToolGroup,
    counting_time,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
    ModelFilter,
    Parameter,
    PromptFilter,
    RescoreId,
)
from cupel_core.contract.report_content import GraderAgreementList
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

Trials = Annotated[
    int | None, Parameter(ge=1, le=100, description="k of pass@k and pass^k; defaults to the run's repeats")
]


@operation(
    "POST /v1/runs/{run_id}/rescores",
    "Rescore a run's transcripts without calling its targets again",
    role=MEMBER,
    returns="The rescore, which runs in the background",
    tag="rescores",
    status=202,
    location="/v1/runs/{run_id}/rescores/{id}",
    replay=Replay.STARTED,
    tool=AsTool(
        ToolGroup.RUNS,
        "id runId status config.judgeModel progress budget failure createdAt completedAt",
        name="rescore_run",
        advice="Unless the judge is free or the run has a budget, it needs max_budget_usd: ask the user first.",
        max_kb=2,
        calls_models=True,
        has_untrusted_texts=True,
    ),
)
def create_rescore(call: Call, run_id: str, body: CreateRescore = with_defaults(CreateRescore)) -> RescoreResponse:
    """The run must be COMPLETED, FAILED or CANCELLED. Its own scoring and earlier rescores are kept."""
    rescore = start.start(call.workspace, run_id, body.spec(), call.idempotency_key, call.now)
    return RescoreResponse.of(queries.rescore_view(rescore))


@operation(
    "GET /v1/runs/{run_id}/rescores",
    "List the rescores of a run, newest first",
    role=VIEWER,
    returns="A page of rescores",
    tag="rescores",
)
def list_rescores(call: Call, run_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[RescorePage]:
    listed = queries.list_rescores(call.workspace, run_id, limit, cursor)
    return Listed(listed, RescoreResponse.of)


@operation(
    "GET /v1/runs/{run_id}/grader-agreement",
    "List how far a run's scoring agrees with its rescores",
    role=VIEWER,
    returns="A pair for each of the ten newest rescores, and one for corrections by users, of what both have judged",
    tag="rescores",
)
def list_grader_agreement(call: Call, run_id: str) -> GraderAgreementList:
    """Runs of more than 20,000 probes are refused: their reports have the agreement."""
    return GraderAgreementList(items=list(agreement.list_agreement(call.workspace, run_id)))


@operation(
    "GET /v1/runs/{run_id}/rescores/{rescore_id}",
    "Get a rescore",
    role=VIEWER,
    returns="The rescore and its progress",
    tag="rescores",
    tool=AsTool(
        ToolGroup.READ,
        "id runId status config.judgeModel progress budget failure createdAt completedAt",
        max_kb=2,
        has_untrusted_texts=True,
    ),
)
def get_rescore(call: Call, run_id: str, rescore_id: str) -> RescoreResponse:
    return RescoreResponse.of(queries.get_rescore(call.workspace, run_id, rescore_id))


@operation(
    "PATCH /v1/runs/{run_id}/rescores/{rescore_id}/budget",
    "Raise the budget of a rescore that goes on, or was stopped by it",
    role=MEMBER,
    returns="The rescore, which grades what is left",
    tag="rescores",
    tool=AsTool(
        ToolGroup.RUNS,
        "id runId status config.judgeModel progress budget failure createdAt completedAt",
        name="set_rescore_budget",
        max_kb=2,
        calls_models=True,
        has_untrusted_texts=True,
    ),
)
def update_rescore_budget(call: Call, run_id: str, rescore_id: str, body: UpdateRescoreBudget) -> RescoreResponse:
    """Results that are stored stay, and their transcripts are not graded again. 409 for a rescore without a budget
    of its own, for one that has ended otherwise, in the moment in which its budget stops it, and for one that it
    has stopped while its run goes on. 422 for a budget that is not greater.
    """
    rescore = start.raise_budget(call.workspace, run_id, rescore_id, body.max_budget_usd, call.now)
    return RescoreResponse.of(queries.rescore_view(rescore))


@operation(
    "GET /v1/runs/{run_id}/rescores/{rescore_id}/results",
    "List a rescore's result for each probe",
    role=VIEWER,
    returns="A page of results, by probe index",
    tag="rescores",
)
def list_rescore_results(
    call: Call,
    run_id: str,
    rescore_id: str,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[RescoreResultPage]:
    entries = queries.list_results(
        call.workspace,
        run_id,
        rescore_id,
        model=model,
        prompt_id=prompt_id,
        limit=limit,
        cursor=cursor,
        now=call.now,
    )
    return Listed(entries, RescoreResultResponse.of)


@operation(
    "GET /v1/runs/{run_id}/scores",
    "Get pass rates by model, with standard errors and confidence intervals",
    role=VIEWER,
    returns="Pass rates by model",
    tag="rescores",
)
def get_run_scores(
    call: Call,
    run_id: str,
    rescore_id: RescoreId = None,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    k: Trials = None,
) -> RunScoresResponse:
    """Computed from the run's count files. While a large run that goes on is counted, 503 asks to try
    again."""
    run_scores = results.scores_by_column(
        call.workspace, run_id, rescore_id=rescore_id, model=model, prompt_id=prompt_id, k=k, has_time=counting_time()
    )
    return RunScoresResponse.of(run_scores, rescore_id)


@operation(
    "GET /v1/runs/{run_id}/scores/scenarios",
    "List pass rates by scenario and model",
    role=VIEWER,
    returns="A page of pass rates",
    tag="rescores",
)
def list_scenario_scores(
    call: Call,
    run_id: str,
    rescore_id: RescoreId = None,
    model: ModelFilter = None,
    prompt_id: PromptFilter = None,
    k: Trials = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[ScenarioScoresPage]:
    entries = results.scores_by_scenario(
        call.workspace,
        run_id,
        rescore_id=rescore_id,
        model=model,
        prompt_id=prompt_id,
        k=k,
        cursor=cursor,
        has_time=counting_time(),
    )
    return Listed(entries, ScenarioScoresResponse.of)
