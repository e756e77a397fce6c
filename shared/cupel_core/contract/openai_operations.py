"""The operations under `/openai/v1`, which have the contract of OpenAI and are not in Cupel's OpenAPI document."""

from cupel_core.contract.operations import Operation, Replay
from cupel_core.domain.access import AccessRole

PREFIX = "/openai/v1"
_TAG = "openai"
_VIEWER, _MEMBER, _ADMIN = AccessRole.VIEWER, AccessRole.MEMBER, AccessRole.ADMIN
_EVALS = f"{PREFIX}/evals"
_EVAL = f"{_EVALS}/{{eval_id}}"
_RUN = f"{_EVAL}/runs/{{run_id}}"
_ALL = (
    Operation("listOpenAIEvals", "GET", _EVALS, _TAG, _VIEWER, "List evals", "A page of evals"),
    Operation(
        "createOpenAIEval",
        "POST",
        _EVALS,
        _TAG,
        _MEMBER,
        "Create an eval",
        "The eval",
        location=f"{_EVALS}/{{id}}",
        replay=Replay.CREATED,
    ),
    Operation("getOpenAIEval", "GET", _EVAL, _TAG, _VIEWER, "Get an eval", "The eval"),
    Operation("updateOpenAIEval", "POST", _EVAL, _TAG, _MEMBER, "Rename an eval", "The eval"),
    Operation("deleteOpenAIEval", "DELETE", _EVAL, _TAG, _ADMIN, "Erase an eval with its runs", "Deleted"),
    Operation(
        "listOpenAIEvalRuns", "GET", f"{_EVAL}/runs", _TAG, _VIEWER, "List the runs of an eval", "A page of runs"
    ),
    Operation(
        "createOpenAIEvalRun",
        "POST",
        f"{_EVAL}/runs",
        _TAG,
        _MEMBER,
        "Start a run of an eval",
        "The run",
        location=f"{_EVAL}/runs/{{id}}",
        replay=Replay.STARTED,
    ),
    Operation("getOpenAIEvalRun", "GET", _RUN, _TAG, _VIEWER, "Get a run", "The run"),
    Operation("cancelOpenAIEvalRun", "POST", f"{_RUN}/cancel", _TAG, _MEMBER, "Cancel a run", "The run"),
    Operation("deleteOpenAIEvalRun", "DELETE", _RUN, _TAG, _MEMBER, "Delete a run", "Deleted"),
    Operation(
        "listOpenAIOutputItems",
        "GET",
        f"{_RUN}/output_items",
        _TAG,
        _VIEWER,
        "List the output items of a run",
        "A page of output items",
    ),
    Operation(
        "getOpenAIOutputItem",
        "GET",
        f"{_RUN}/output_items/{{output_item_id}}",
        _TAG,
        _VIEWER,
        "Get an output item",
        "The output item",
    ),
)
OPENAI_OPERATIONS = {operation.id: operation for operation in _ALL}
