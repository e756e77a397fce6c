"""Serves OpenAI's Evals API: evals, their runs and output items."""

from collections.abc import Mapping
from itertools import islice
from time import monotonic
from types import MappingProxyType
from typing import Annotated, Any, Literal

from cupel_core.contract.openai_evals import CreateOpenAIEval, CreateOpenAIEvalRun, UpdateOpenAIEval
from cupel_core.contract.openai_fields import OpenAIRequest, ignored_fields
from cupel_core.contract.operation import (
    ADMIN,
    MEMBER,
    VIEWER,
    Call,
    Rendered,
    Replay,
    counting_time,
    operation,
)
from cupel_core.contract.payloads import bounded_json
from cupel_core.contract.query import Parameter
from cupel_core.interop.openai_evals import evals, output_items, runs
from cupel_core.interop.openai_evals.documents import eval_document, item_document, run_document
from cupel_core.interop.openai_evals.pages import DEFAULT_LIMIT, After, Limit, Order, document_page
from cupel_core.runs.starters import started_by

_ERASE_SECONDS = 15.0


_MAX_IGNORED_FIELDS = 100


OrderBy = Annotated[Literal["created_at", "updated_at"], Parameter()]


RunStatusFilter = Annotated[Literal["queued", "in_progress", "completed", "canceled", "failed"] | None, Parameter()]


ItemStatusFilter = Annotated[Literal["pass", "fail", "failed", "error"] | None, Parameter()]


@operation(
    "POST /openai/v1/evals",
    "Create an eval",
    role=MEMBER,
    returns="The eval",
    status=201,
    location="/openai/v1/evals/{id}",
    replay=Replay.CREATED,
)
def create_openai_eval(call: Call, body: CreateOpenAIEval) -> dict[str, Any]:
    return eval_document(evals.create(call.workspace, body, call.now)) | _ignored(body)


@operation("GET /openai/v1/evals/{eval_id}", "Get an eval", role=VIEWER, returns="The eval")
def get_openai_eval(call: Call, eval_id: str) -> dict[str, Any]:
    return eval_document(evals.get(call.workspace, eval_id))


@operation("POST /openai/v1/evals/{eval_id}", "Rename an eval", role=MEMBER, returns="The eval")
def update_openai_eval(call: Call, eval_id: str, body: UpdateOpenAIEval) -> dict[str, Any]:
    return eval_document(evals.update(call.workspace, eval_id, body, call.now))


@operation("GET /openai/v1/evals", "List evals", role=VIEWER, returns="A page of evals")
def list_openai_evals(
    call: Call,
    after: After = None,
    limit: Limit = DEFAULT_LIMIT,
    order: Order = "asc",
    order_by: OrderBy = "created_at",
) -> Rendered[Any]:
    listed = evals.list_evals(call.workspace, after, oldest_first=order == "asc", by_update=order_by == "updated_at")
    return document_page(map(eval_document, listed), limit)


@operation("DELETE /openai/v1/evals/{eval_id}", "Erase an eval with its runs", role=ADMIN, returns="Deleted")
def delete_openai_eval(call: Call, eval_id: str) -> dict[str, Any]:
    until = monotonic() + _ERASE_SECONDS
    evals.delete(call.workspace, eval_id, call.now, lambda: monotonic() < until)
    return {"object": "eval.deleted", "deleted": True, "eval_id": eval_id}


@operation(
    "POST /openai/v1/evals/{eval_id}/runs",
    "Start a run of an eval",
    role=MEMBER,
    returns="The run",
    status=201,
    location="/openai/v1/evals/{eval_id}/runs/{id}",
    replay=Replay.STARTED,
)
def create_openai_eval_run(call: Call, eval_id: str, body: CreateOpenAIEvalRun) -> Rendered[Any]:
    who = started_by(call.caller)
    return _run(call, runs.create(call.workspace, eval_id, body, call.idempotency_key, call.now, who), _ignored(body))


@operation("GET /openai/v1/evals/{eval_id}/runs/{run_id}", "Get a run", role=VIEWER, returns="The run")
def get_openai_eval_run(call: Call, eval_id: str, run_id: str) -> Rendered[Any]:
    return _run(call, runs.get(call.workspace, eval_id, run_id, call.now, counting_time()))


@operation(
    "GET /openai/v1/evals/{eval_id}/runs",
    "List the runs of an eval",
    role=VIEWER,
    returns="A page of runs",
)
def list_openai_eval_runs(
    call: Call,
    eval_id: str,
    after: After = None,
    limit: Limit = DEFAULT_LIMIT,
    order: Order = "asc",
    status: RunStatusFilter = None,
) -> Rendered[Any]:
    listed = runs.list_runs(
        call.workspace,
        eval_id,
        after,
        limit,
        oldest_first=order == "asc",
        status=status,
        now=call.now,
        has_time=counting_time(),
    )
    page_url = call.http.page_url()
    return document_page((run_document(found, page_url) for found in listed), limit)


@operation("POST /openai/v1/evals/{eval_id}/runs/{run_id}/cancel", "Cancel a run", role=MEMBER, returns="The run")
def cancel_openai_eval_run(call: Call, eval_id: str, run_id: str) -> Rendered[Any]:
    return _run(call, runs.cancel(call.workspace, eval_id, run_id, call.now, counting_time()))


@operation(
    "POST /openai/v1/evals/{eval_id}/runs/{run_id}", "Cancel a run as older clients do", role=MEMBER, returns="The run"
)
def cancel_openai_eval_run_of_older_clients(call: Call, eval_id: str, run_id: str) -> Rendered[Any]:
    return cancel_openai_eval_run(call, eval_id, run_id)


@operation("DELETE /openai/v1/evals/{eval_id}/runs/{run_id}", "Delete a run", role=MEMBER, returns="Deleted")
def delete_openai_eval_run(call: Call, eval_id: str, run_id: str) -> dict[str, Any]:
    runs.delete(call.workspace, eval_id, run_id, call.now)
    return {"object": "eval.run.deleted", "deleted": True, "run_id": run_id}


@operation(
    "GET /openai/v1/evals/{eval_id}/runs/{run_id}/output_items",
    "List the output items of a run",
    role=VIEWER,
    returns="A page of output items",
)
def list_openai_output_items(
    call: Call,
    eval_id: str,
    run_id: str,
    after: After = None,
    limit: Limit = DEFAULT_LIMIT,
    order: Order = "asc",
    status: ItemStatusFilter = None,
) -> Rendered[Any]:
    listed = output_items.list_items(
        call.workspace,
        eval_id,
        run_id,
        after,
        newest_first=order == "desc",
        status="fail" if status == "failed" else status,
        now=call.now,
        has_time=counting_time(),
    )
    return document_page((item_document(item, eval_id) for item in listed), limit)


@operation(
    "GET /openai/v1/evals/{eval_id}/runs/{run_id}/output_items/{output_item_id}",
    "Get an output item",
    role=VIEWER,
    returns="The output item",
)
def get_openai_output_item(call: Call, eval_id: str, run_id: str, output_item_id: str) -> Rendered[Any]:
    found = output_items.get(call.workspace, eval_id, run_id, output_item_id, call.now)
    return Rendered(bounded_json(item_document(found, eval_id)))


def _run(call: Call, found: runs.OpenAIRun, more: Mapping[str, Any] = MappingProxyType({})) -> Rendered[Any]:
    return Rendered(bounded_json({**run_document(found, call.http.page_url()), **more}))


def _ignored(body: OpenAIRequest) -> dict[str, Any]:
    """Return the ignored fields; like OpenAI's service, the response omits this field if there are none."""
    fields = list(islice(ignored_fields(body), _MAX_IGNORED_FIELDS))
    return {"ignored_parameters": fields} if fields else {}
