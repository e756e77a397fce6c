from typing import Annotated

from cupel_core.base.paging import DEFAULT_LIMIT, Creation
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Call,
    Listed,
    Tagged,
    operation,
)
from cupel_core.contract.probes import CorrectProbe, ProbeDetailPage, ProbeDetailResponse, ProbeOrder
from cupel_core.contract.query import (
    CreatedAfter,
    CreatedBefore,
    Cursor,
    EvalFilter,
    Limit,
    Parameter,
    PersonaFilter,
    ScenarioFilter,
)
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.views import ProbeView
from cupel_core.runs import corrections, probe_search
from cupel_core.runs import probes as run_probes


@operation("GET /v1/probes", "List probes across all runs", role=VIEWER, returns="A page of probes with their messages")
def list_probes(
    call: Call,
    eval_id: EvalFilter = None,
    scenario_id: ScenarioFilter = None,
    persona_id: PersonaFilter = None,
    status: Annotated[ProbeStatus | None, Parameter(description="Return only probes with this status")] = None,
    order: Annotated[
        ProbeOrder,
        Parameter(description="By the creation time of their runs; within a run by `index`, in the same direction"),
    ] = ProbeOrder.NEWEST,
    created_after: CreatedAfter = None,
    created_before: CreatedBefore = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Listed[ProbeDetailPage]:
    created = Creation(created_after, created_before, order is ProbeOrder.OLDEST)
    filters = probe_search.ProbeFilter(eval_id, scenario_id, persona_id, status, created)
    entries = probe_search.search_probes(call.workspace, filters, call.now, limit, cursor)
    return Listed(entries, ProbeDetailResponse.of)


@operation(
    "GET /v1/probes/{probe_id}", "Get a probe with its messages", role=VIEWER, returns="The probe with its messages"
)
def get_probe(call: Call, probe_id: str) -> Tagged[ProbeDetailResponse]:
    return _tagged(run_probes.get_probe(call.workspace, probe_id, call.now))


@operation(
    "PATCH /v1/probes/{probe_id}",
    "Correct the result of a completed probe",
    role=MEMBER,
    returns="The probe with the corrected result",
    if_match=True,
)
def correct_probe(call: Call, probe_id: str, body: CorrectProbe) -> Tagged[ProbeDetailResponse]:
    workspace, now = call.workspace, call.now
    corrections.correct_result(workspace, probe_id, body.correction(), now, call.precondition)
    return _tagged(run_probes.get_probe(workspace, probe_id, now))


def _tagged(view: ProbeView) -> Tagged[ProbeDetailResponse]:
    return Tagged(ProbeDetailResponse.of(view), corrections.result_etag(view.outcome))
