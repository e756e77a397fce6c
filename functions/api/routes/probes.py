"""Probes across runs: list, get and correct them, and delete their content."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from api.deletions import delete_each
from api.pages import bounded_page, bounded_record
from api.parameters import (
    CreatedAfter,
    CreatedBefore,
    Cursor,
    EvalFilter,
    IfMatch,
    Limit,
    PersonaFilter,
    ScenarioFilter,
)
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT, Creation
from cupel_core.base.preconditions import Precondition
from cupel_core.contract.deletions import DeleteProbeContents, DeletionListResponse
from cupel_core.contract.probes import CorrectProbe, ProbeDetailPage, ProbeDetailResponse, ProbeOrder
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.views import ProbeView
from cupel_core.runs import corrections, erasure, probe_search
from cupel_core.runs import probes as run_probes

router = OperationRouter()


@router.operation("listProbes")
def list_probes(
    eval_id: EvalFilter = None,
    scenario_id: ScenarioFilter = None,
    persona_id: PersonaFilter = None,
    status: Annotated[ProbeStatus | None, Query(description="Return only probes with this status")] = None,
    order: Annotated[
        ProbeOrder,
        Query(description="By the creation time of their runs; within a run by `index`, in the same direction"),
    ] = ProbeOrder.NEWEST,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Rendered[ProbeDetailPage]:
    created = Creation(created_after, created_before, order is ProbeOrder.OLDEST)
    filters = probe_search.ProbeFilter(eval_id, scenario_id, persona_id, status, created)
    entries = probe_search.search_probes(router.workspace, filters, utc_now(), limit, cursor)
    return bounded_page(ProbeDetailPage, entries, limit, ProbeDetailResponse.of)


@router.operation("getProbe")
def get_probe(probe_id: str) -> Rendered[ProbeDetailResponse]:
    return _tagged(run_probes.get_probe(router.workspace, probe_id, utc_now()))


@router.operation("correctProbe")
def correct_probe(probe_id: str, body: CorrectProbe, if_match: IfMatch = None) -> Rendered[ProbeDetailResponse]:
    workspace, now = router.workspace, utc_now()
    corrections.correct_result(workspace, probe_id, body.correction(), now, Precondition.parse(if_match))
    return _tagged(run_probes.get_probe(workspace, probe_id, now))


@router.operation("deleteProbeContent", status=204)
def delete_probe_content(probe_id: str) -> Response[None]:
    erasure.delete_probe_content(router.workspace, probe_id, utc_now())
    return Response(204)


@router.operation("deleteProbeContents")
def delete_probe_contents(body: DeleteProbeContents) -> DeletionListResponse:
    workspace, now = router.workspace, utc_now()
    return delete_each(body.ids, lambda probe_id: erasure.delete_probe_content(workspace, probe_id, now))


def _tagged(view: ProbeView) -> Rendered[ProbeDetailResponse]:
    return router.tagged(bounded_record(ProbeDetailResponse.of(view)), corrections.result_etag(view.outcome))
