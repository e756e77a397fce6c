"""Evals: saved evaluations, each with scenarios and a target."""

from aws_lambda_powertools.event_handler import Response

from api.pages import bounded_page
from api.parameters import Cursor, IfMatch, Limit
from api.rendering import Rendered
from api.routing import OperationRouter
from cupel_core.base.clock import utc_now
from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import Precondition, etag
from cupel_core.contract.evals import CreateEval, EvalPage, EvalResponse, UpdateEval
from cupel_core.domain.resources.evals import Eval
from cupel_core.resources import evals

router = OperationRouter()


@router.operation("createEval", status=201)
def create_eval(body: CreateEval) -> EvalResponse:
    return _tagged(evals.create(router.workspace, body.spec(), utc_now()))


@router.operation("listEvals")
def list_evals(limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Rendered[EvalPage]:
    listed = evals.list_evals(router.workspace, limit, cursor)
    return bounded_page(EvalPage, listed.entries(), limit, EvalResponse.of)


@router.operation("getEval")
def get_eval(eval_id: str) -> EvalResponse:
    return _tagged(evals.get(router.workspace, eval_id))


@router.operation("updateEval")
def update_eval(eval_id: str, body: UpdateEval, if_match: IfMatch = None) -> EvalResponse:
    precondition = Precondition.parse(if_match)
    return _tagged(evals.update(router.workspace, eval_id, body.fields(), utc_now(), precondition))


@router.operation("deleteEval", status=204)
def delete_eval(eval_id: str, if_match: IfMatch = None) -> Response[None]:
    evals.delete(router.workspace, eval_id, utc_now(), Precondition.parse(if_match))
    return Response(204)


def _tagged(stored: Eval) -> EvalResponse:
    return router.tagged(EvalResponse.of(stored), etag(stored.revision))
