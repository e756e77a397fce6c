"""Evals: which scenarios are held against which target."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api.caller import caller
from cupel_core.clock import utc_now
from cupel_core.contract.common import Cursor, Limit
from cupel_core.contract.evals import EvalAnswer, EvalChange, EvalList, EvalRequest
from cupel_core.paging import DEFAULT_LIMIT
from cupel_core.resources import evals

router = APIGatewayHttpRouter()
_TAGS = ["evals"]


@router.post("/evals", summary="Create an eval", tags=_TAGS, status_code=201)
def create(body: EvalRequest) -> EvalAnswer:
    return EvalAnswer.of(evals.create(_workspace(), body.spec(), utc_now()))


@router.get("/evals", summary="List the evals, newest first", tags=_TAGS)
def listed(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> EvalList:
    page = evals.listed(_workspace(), limit, cursor)
    return EvalList(items=[EvalAnswer.of(each) for each in page.items], next_cursor=page.next_cursor)


@router.get("/evals/<eval_id>", summary="Read an eval", tags=_TAGS)
def get(eval_id: str) -> EvalAnswer:
    return EvalAnswer.of(evals.get(_workspace(), eval_id))


@router.patch("/evals/<eval_id>", summary="Change an eval", tags=_TAGS)
def change(eval_id: str, body: EvalChange) -> EvalAnswer:
    return EvalAnswer.of(evals.change(_workspace(), eval_id, body.fields(), utc_now()))


@router.delete("/evals/<eval_id>", summary="Delete an eval; its runs stay", tags=_TAGS, status_code=204)
def delete(eval_id: str) -> Response[None]:
    evals.delete(_workspace(), eval_id, utc_now())
    return Response(204)


def _workspace() -> str:
    return caller(router.current_event).workspace
