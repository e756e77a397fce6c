"""Steering a run: pause, resume, cancel, retry, expand. Each answers the run as it is afterwards."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.runs import ExpandRequest, RetryRequest, RunAnswer
from cupel_core.runs import control, queries

router = APIGatewayHttpRouter()


@router.post("/runs/<run_id>/pause", summary="Start no further model calls", tags=["runs"])
def pause(run_id: str) -> RunAnswer:
    control.pause(_workspace(), run_id, utc_now())
    return _answer(run_id)


@router.post("/runs/<run_id>/resume", summary="Go on with what is missing", tags=["runs"])
def resume(run_id: str) -> RunAnswer:
    control.resume(_workspace(), run_id, utc_now())
    return _answer(run_id)


@router.post("/runs/<run_id>/cancel", summary="End a run early; its transcripts stay", tags=["runs"])
def cancel(run_id: str) -> RunAnswer:
    control.cancel(_workspace(), run_id, utc_now())
    return _answer(run_id)


@router.post("/runs/<run_id>/retry", summary="Run errored probes again: all, of one model, or one", tags=["runs"])
def retry(run_id: str, body: Annotated[RetryRequest | None, Body()] = None) -> RunAnswer:
    wanted = body or RetryRequest()
    control.retry(_workspace(), run_id, utc_now(), model=wanted.model, probe_index=wanted.probe_index)
    return _answer(run_id)


@router.post("/runs/<run_id>/expand", summary="Add scenarios to a sampled run", tags=["runs"])
def expand(run_id: str, body: ExpandRequest) -> RunAnswer:
    control.expand(_workspace(), run_id, body.sample_percentage, utc_now())
    return _answer(run_id)


def _workspace() -> str:
    return caller(router.current_event).workspace


def _answer(run_id: str) -> RunAnswer:
    return RunAnswer.of(queries.get(_workspace(), run_id, utc_now()))
