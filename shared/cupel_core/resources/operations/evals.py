from cupel_core.base.paging import DEFAULT_LIMIT
from cupel_core.base.preconditions import etag
from cupel_core.contract.evals import CreateEval, EvalPage, EvalResponse, UpdateEval
from cupel_core.contract.operation import (
    MEMBER,
    VIEWER,
    Call,
    Listed,
    Replay,
    Tagged,
    operation,
)
from cupel_core.contract.query import (
    Cursor,
    Limit,
)
from cupel_core.domain.resources.evals import Eval
from cupel_core.resources import evals


@operation(
    "POST /v1/evals",
    "Create an eval",
    role=MEMBER,
    returns="The eval",
    status=201,
    location="/v1/evals/{id}",
    replay=Replay.CREATED,
)
def create_eval(call: Call, body: CreateEval) -> Tagged[EvalResponse]:
    return _tagged(evals.create(call.workspace, body.spec(), call.now))


@operation("GET /v1/evals", "List the evals, newest first", role=VIEWER, returns="A page of evals")
def list_evals(call: Call, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None) -> Listed[EvalPage]:
    listed = evals.list_evals(call.workspace, limit, cursor)
    return Listed(listed, EvalResponse.of)


@operation("GET /v1/evals/{eval_id}", "Get an eval", role=VIEWER, returns="The eval")
def get_eval(call: Call, eval_id: str) -> Tagged[EvalResponse]:
    return _tagged(evals.get(call.workspace, eval_id))


@operation("PATCH /v1/evals/{eval_id}", "Update an eval", role=MEMBER, returns="The updated eval", if_match=True)
def update_eval(call: Call, eval_id: str, body: UpdateEval) -> Tagged[EvalResponse]:
    return _tagged(evals.update(call.workspace, eval_id, body.fields(), call.now, call.precondition))


@operation("DELETE /v1/evals/{eval_id}", "Delete an eval; keep its runs", role=MEMBER, returns="Deleted", if_match=True)
def delete_eval(call: Call, eval_id: str) -> None:
    evals.delete(call.workspace, eval_id, call.now, call.precondition)


def _tagged(stored: Eval) -> Tagged[EvalResponse]:
    return Tagged(EvalResponse.of(stored), etag(stored.revision))
