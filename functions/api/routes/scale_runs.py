"""Scale runs: runs of a definition that the request itself describes."""

from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.run_requests import RunStartedResponse
from cupel_core.contract.scale_runs import CreateScaleRun, EstimateScaleRun
from cupel_core.providers.prices import price_list_version
from cupel_core.workspace.access.starters import started_by

router = OperationRouter()


@router.operation("createScaleRun", status=201)
def create_scale_run(body: CreateScaleRun) -> RunStartedResponse:
    from cupel_core.runs.scaling import start_scale_run  # like the import of `start` in runs.py

    request = f"createScaleRun\n{body.model_dump_json(exclude_unset=True)}"
    caller, now = router.caller, utc_now()
    started = start_scale_run(
        router.workspace, body.scale_run(), request, router.idempotency_key, now, started_by(caller)
    )
    return RunStartedResponse.of(*started, price_list_version())


@router.operation("estimateScaleRun")
def estimate_scale_run(body: EstimateScaleRun) -> EstimateResponse:
    from cupel_core.runs.estimate_requests import estimate_scale_run

    estimated = estimate_scale_run(router.workspace, body.scale_run(), utc_now())
    return EstimateResponse.of(estimated.estimate, price_list_version(), estimated.fit, estimated.missing_access)
