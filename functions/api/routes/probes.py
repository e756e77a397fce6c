"""Probes of all runs: what waits, what was said, what came of it, and a person's word against it."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.probes import CorrectionRequest, Order, WholeProbeAnswer, WholeProbeList
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.runs import corrections, probe_search
from cupel_core.runs import probes as standing

router = APIGatewayHttpRouter()


@router.get("/probes", summary="List probes across runs", tags=["probes"])
def listed(
    eval_id: Annotated[str | None, Query(alias="evalId")] = None,
    scenario_id: Annotated[str | None, Query(alias="scenarioId")] = None,
    persona_id: Annotated[str | None, Query(alias="personaId")] = None,
    status: ProbeStatus | None = None,
    order: Annotated[Order, Query(description="oldest first as a queue does, newest first for people")] = Order.NEWEST,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> WholeProbeList:
    wanted = probe_search.Wanted(eval_id, scenario_id, persona_id, status, order is Order.OLDEST)
    page = probe_search.listed(caller(router.current_event).workspace, wanted, utc_now(), limit, cursor)
    return WholeProbeList(items=[WholeProbeAnswer.of(view) for view in page.items], next_cursor=page.next_cursor)


@router.get("/probes/<probe_id>", summary="Read a probe", tags=["probes"])
def get(probe_id: str) -> WholeProbeAnswer:
    return WholeProbeAnswer.of(standing.get(caller(router.current_event).workspace, probe_id, utc_now()))


@router.patch("/probes/<probe_id>", summary="Correct the result of a completed probe", tags=["probes"])
def change(probe_id: str, body: CorrectionRequest) -> WholeProbeAnswer:
    workspace = caller(router.current_event).workspace
    corrections.correct(workspace, probe_id, body.correction())
    return WholeProbeAnswer.of(standing.get(workspace, probe_id, utc_now()))


@router.delete("/probes/<probe_id>", summary="Delete what was said in a probe", tags=["probes"], status_code=204)
def delete(probe_id: str) -> Response[None]:
    corrections.delete_content(caller(router.current_event).workspace, probe_id)
    return Response(204)
