"""Scorings: judge a run's transcripts anew, and the figures of the run's own scoring or of another."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from api.routes.runs import IdempotencyKey
from cupel_core.analysis import scores
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.rescores import (
    RescoreRequest,
    RescoringAnswer,
    RescoringList,
    ScenarioScoresAnswer,
    ScenarioScoresList,
    ScoredProbeAnswer,
    ScoredProbeList,
    ScoresAnswer,
)
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.rescoring import queries, start

router = APIGatewayHttpRouter()

ScoringId = Annotated[
    str | None, Query(alias="scoringId", max_length=64, description="The run's own scoring when left out")
]
Trials = Annotated[
    int | None, Query(ge=1, le=100, description="Of pass@k and pass^k; the run's number of repeats when left out")
]


@router.post(
    "/runs/<run_id>/rescore",
    summary="Judge what was said anew, without calling the targets",
    description="For a run that is COMPLETED, FAILED or CANCELLED. Its own scoring and earlier ones stay.",
    tags=["scorings"],
    status_code=202,
)
def rescore(
    run_id: str, body: Annotated[RescoreRequest | None, Body()] = None, idempotency_key: IdempotencyKey = None
) -> RescoringAnswer:
    spec = (body or RescoreRequest()).spec()
    begun = start.start(_workspace(), run_id, spec, idempotency_key, utc_now())
    return RescoringAnswer.of(queries.view(begun))


@router.get("/runs/<run_id>/scorings", summary="List a run's other scorings, newest first", tags=["scorings"])
def listed(run_id: str, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> RescoringList:
    page = queries.listed(_workspace(), run_id, limit, cursor)
    return RescoringList(items=[RescoringAnswer.of(view) for view in page.items], next_cursor=page.next_cursor)


@router.get("/runs/<run_id>/scorings/<scoring_id>", summary="Read a scoring", tags=["scorings"])
def get(run_id: str, scoring_id: str) -> RescoringAnswer:
    return RescoringAnswer.of(queries.get(_workspace(), run_id, scoring_id))


@router.get(
    "/runs/<run_id>/scorings/<scoring_id>/results", summary="List what a scoring says of each probe", tags=["scorings"]
)
def results(
    run_id: str, scoring_id: str, model: str | None = None, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> ScoredProbeList:
    page = queries.results(_workspace(), run_id, scoring_id, model=model, limit=limit, cursor=cursor)
    return ScoredProbeList(items=[ScoredProbeAnswer.of(each) for each in page.items], next_cursor=page.next_cursor)


@router.get(
    "/runs/<run_id>/scores",
    summary="Pass rates of each model with their errors",
    description="Computed from all results when asked for, of at most 100,000 probes.",
    tags=["scorings"],
)
def by_model(run_id: str, scoring_id: ScoringId = None, model: str | None = None, k: Trials = None) -> ScoresAnswer:
    found = scores.by_model(_workspace(), run_id, scoring_id=scoring_id, model=model, k=k)
    return ScoresAnswer.of(found, scoring_id)


@router.get("/runs/<run_id>/scores/scenarios", summary="Pass rates of each scenario and model", tags=["scorings"])
def by_scenario(
    run_id: str,
    scoring_id: ScoringId = None,
    model: str | None = None,
    k: Trials = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ScenarioScoresList:
    page = scores.by_scenario(_workspace(), run_id, scoring_id=scoring_id, model=model, k=k, limit=limit, cursor=cursor)
    items = [ScenarioScoresAnswer.of(each) for each in page.items]
    return ScenarioScoresList(items=items, next_cursor=page.next_cursor)


def _workspace() -> str:
    return caller(router.current_event).workspace
