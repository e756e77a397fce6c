"""Scale runs: runs of a definition that the request itself describes."""

from typing import Any

from cupel_core.contract.scale_runs import CreateScaleRun, EstimateScaleRun
from cupel_core.interfaces.graphql.inputs import parse
from cupel_core.interfaces.graphql.loaded import Loaded
from cupel_core.interfaces.graphql.registry import resolves
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.resolvers.run_changes import to_estimate, to_started
from cupel_core.runs import estimate_requests, scaling
from cupel_core.runs.starters import started_by
from cupel_core.store import idempotency


@resolves("Mutation.startScaleRun", "createScaleRun", 20)
def start_scale_run(request: Request, _: None, body: dict[str, Any]) -> dict[str, Any]:
    wanted, key = parse(CreateScaleRun, body), request.idempotency_key
    idempotency.check_key(key)
    described = f"createScaleRun\n{wanted.model_dump_json(exclude_unset=True)}"
    caller = started_by(request.caller)
    started = scaling.start_scale_run(request.workspace, wanted.scale_run(), described, key, request.now, caller)
    return to_started(request, started)


@resolves("Query.estimateScaleRun", "estimateScaleRun", 20)
def estimate_scale_run(request: Request, _: None, body: dict[str, Any]) -> Loaded:
    wanted = parse(EstimateScaleRun, body).scale_run()
    return to_estimate(estimate_requests.estimate_scale_run(request.workspace, wanted, request.now))
