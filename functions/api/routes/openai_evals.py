"""OpenAI's Evals API: evals, their runs and output items."""

from collections.abc import Mapping
from itertools import islice
from time import monotonic
from types import MappingProxyType
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query

from api.openai_pages import DEFAULT_LIMIT, After, Limit, Order, document_page
from api.pages import bounded_json
from api.parameters import counting_time
from api.rendering import Rendered
from api.routing import OpenAIRouter
from cupel_core.base.clock import utc_now
from cupel_core.contract.openai_evals import CreateOpenAIEval, CreateOpenAIEvalRun, UpdateOpenAIEval
from cupel_core.contract.openai_fields import OpenAIRequest, ignored_fields
from cupel_core.interop.openai_evals import evals, output_items, runs
from cupel_core.interop.openai_evals.documents import eval_document, item_document, run_document
from cupel_core.workspace.access.starters import started_by

router = OpenAIRouter()
_ERASE_SECONDS = 15.0
_MAX_IGNORED_FIELDS = 100

OrderBy = Annotated[Literal["created_at", "updated_at"], Query()]
RunStatusFilter = Annotated[
    Literal["queued", "in_progress", "completed", "canceled", "failed"] | None, Query(alias="status")
]
ItemStatusFilter = Annotated[Literal["pass", "fail", "failed", "error"] | None, Query(alias="status")]


@router.operation("createOpenAIEval", status=201)
def create_eval(body: CreateOpenAIEval) -> dict[str, Any]:
    return eval_document(evals.create(router.workspace, body, utc_now())) | _ignored(body)


@router.operation("getOpenAIEval")
def get_eval(eval_id: str) -> dict[str, Any]:
    return eval_document(evals.get(router.workspace, eval_id))


@router.operation("updateOpenAIEval")
def update_eval(eval_id: str, body: UpdateOpenAIEval) -> dict[str, Any]:
    return eval_document(evals.update(router.workspace, eval_id, body, utc_now()))


@router.operation("listOpenAIEvals")
def list_evals(
    after: After = None, limit: Limit = DEFAULT_LIMIT, order: Order = "asc", order_by: OrderBy = "created_at"
) -> Rendered[Any]:
    listed = evals.list_evals(router.workspace, after, oldest_first=order == "asc", by_update=order_by == "updated_at")
    return document_page(map(eval_document, listed), limit)


@router.operation("deleteOpenAIEval")
def delete_eval(eval_id: str) -> dict[str, Any]:
    until = monotonic() + _ERASE_SECONDS
    evals.delete(router.workspace, eval_id, utc_now(), lambda: monotonic() < until)
    return {"object": "eval.deleted", "deleted": True, "eval_id": eval_id}


@router.operation("createOpenAIEvalRun", status=201)
def create_run(eval_id: str, body: CreateOpenAIEvalRun) -> Rendered[Any]:
    who = started_by(router.caller)
    return _run(runs.create(router.workspace, eval_id, body, router.idempotency_key, utc_now(), who), _ignored(body))


@router.operation("getOpenAIEvalRun")
def get_run(eval_id: str, run_id: str) -> Rendered[Any]:
    return _run(runs.get(router.workspace, eval_id, run_id, utc_now(), counting_time()))


@router.operation("listOpenAIEvalRuns")
def list_runs(
    eval_id: str,
    after: After = None,
    limit: Limit = DEFAULT_LIMIT,
    order: Order = "asc",
    status: RunStatusFilter = None,
) -> Rendered[Any]:
    listed = runs.list_runs(
        router.workspace,
        eval_id,
        after,
        limit,
        oldest_first=order == "asc",
        status=status,
        now=utc_now(),
        has_time=counting_time(),
    )
    page_url = router.page_url
    return document_page((run_document(found, page_url) for found in listed), limit)


@router.operation("cancelOpenAIEvalRun")
@router.operation("cancelOpenAIEvalRunOfOlderClients")
def cancel_run(eval_id: str, run_id: str) -> Rendered[Any]:
    return _run(runs.cancel(router.workspace, eval_id, run_id, utc_now(), counting_time()))


@router.operation("deleteOpenAIEvalRun")
def delete_run(eval_id: str, run_id: str) -> dict[str, Any]:
    runs.delete(router.workspace, eval_id, run_id, utc_now())
    return {"object": "eval.run.deleted", "deleted": True, "run_id": run_id}


@router.operation("listOpenAIOutputItems")
def list_output_items(
    eval_id: str,
    run_id: str,
    after: After = None,
    limit: Limit = DEFAULT_LIMIT,
    order: Order = "asc",
    status: ItemStatusFilter = None,
) -> Rendered[Any]:
    listed = output_items.list_items(
        router.workspace,
        eval_id,
        run_id,
        after,
        newest_first=order == "desc",
        status="fail" if status == "failed" else status,
        now=utc_now(),
        has_time=counting_time(),
    )
    return document_page((item_document(item, eval_id) for item in listed), limit)


@router.operation("getOpenAIOutputItem")
def get_output_item(eval_id: str, run_id: str, output_item_id: str) -> Rendered[Any]:
    found = output_items.get(router.workspace, eval_id, run_id, output_item_id, utc_now())
    return Rendered(bounded_json(item_document(found, eval_id)))


def _run(found: runs.OpenAIRun, more: Mapping[str, Any] = MappingProxyType({})) -> Rendered[Any]:
    return Rendered(bounded_json({**run_document(found, router.page_url), **more}))


def _ignored(body: OpenAIRequest) -> dict[str, Any]:
    """Absent if no field of the request was ignored, as in all responses of OpenAI's service."""
    fields = list(islice(ignored_fields(body), _MAX_IGNORED_FIELDS))
    return {"ignored_parameters": fields} if fields else {}
