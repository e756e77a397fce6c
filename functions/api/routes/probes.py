"""Probes across runs: list, get and correct them, and delete their content."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.pages import bounded_page, bounded_record
from api.parameters import Cursor, EvalFilter, Limit, PersonaFilter, ScenarioFilter
from api.routing import OperationRouter
from cupel_core.clock import utc_now
from cupel_core.contract.probes import CorrectProbe, ProbeDetailPage, ProbeDetailResponse, ProbeOrder
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.runs import corrections, erasure, probe_search
from cupel_core.runs import probes as run_probes

router = OperationRouter()


@router.operation("listProbes")
def list_probes(
    eval_id: EvalFilter = None,
    scenario_id: ScenarioFilter = None,
    persona_id: PersonaFilter = None,
    status: Annotated[ProbeStatus | None, Query(description="Return only probes with this status")] = None,
    order: Annotated[ProbeOrder, Query(description="Sort order by creation time")] = ProbeOrder.NEWEST,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> ProbeDetailPage:
    filters = probe_search.ProbeFilter(eval_id, scenario_id, persona_id, status, order is ProbeOrder.OLDEST)
    entries = probe_search.search_probes(router.workspace, filters, utc_now(), limit, cursor)
    page = bounded_page(entries, limit, ProbeDetailResponse.of)
    return ProbeDetailPage(items=list(page.items), next_cursor=page.next_cursor)


@router.operation("getProbe")
def get_probe(probe_id: str) -> ProbeDetailResponse:
    return _probe(router.workspace, probe_id)


@router.operation("correctProbe")
def correct_probe(probe_id: str, body: CorrectProbe) -> ProbeDetailResponse:
    workspace = router.workspace
    corrections.correct_result(workspace, probe_id, body.correction())
    return _probe(workspace, probe_id)


@router.operation("deleteProbeContent", status=204)
def delete_probe_content(probe_id: str) -> Response[None]:
    erasure.delete_probe_content(router.workspace, probe_id, utc_now())
    return Response(204)


def _probe(workspace: str, probe_id: str) -> ProbeDetailResponse:
    return bounded_record(ProbeDetailResponse.of(run_probes.get_probe(workspace, probe_id, utc_now())))
