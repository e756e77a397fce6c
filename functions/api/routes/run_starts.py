"""Runs: create them, estimate what they cost, and run them again. Apart from what reads runs, because the models of
these requests take a twentieth of a cold start.
"""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.contract.common import with_defaults
from cupel_core.contract.estimates import EstimateResponse
from cupel_core.contract.run_requests import CreateRun, EstimateRun, RerunRun, RunStartedResponse
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.providers.prices import price_list_version
from cupel_core.runs import start
from cupel_core.workspace.access.starters import started_by

router = OperationRouter()


@router.operation("createRun", status=201)
def create_run(body: CreateRun) -> RunStartedResponse:
    return _start(body.spec())


@router.operation("estimateRun")
def estimate_run(body: EstimateRun) -> EstimateResponse:
    from cupel_core.runs.estimate_requests import estimate

    estimated = estimate(router.workspace, body.spec(), utc_now())
    return EstimateResponse.of(estimated.estimate, price_list_version(), estimated.fit, estimated.missing_access)


@router.operation("rerunRun", status=201)
def rerun_run(run_id: str, body: Annotated[RerunRun, Body()] = with_defaults(RerunRun)) -> RunStartedResponse:
    from cupel_core.runs.rerun import rerun_spec

    return _start(body.apply_to(rerun_spec(router.workspace, run_id)))


def _start(spec: RunSpec) -> RunStartedResponse:
    """The run as it was at its start, even if the request is repeated later with the same key."""
    started = start.start(router.workspace, spec, router.idempotency_key, utc_now(), started_by(router.caller))
    return RunStartedResponse.of(*started, price_list_version())
