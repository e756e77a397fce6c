"""The operations under `/openai/v1`, which have the contract of OpenAI and are not in Cupel's OpenAPI document."""

from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.operations import Operation, Replay

PREFIX = "/openai/v1"
_TAG = "openai"
_VIEWER, _MEMBER, _ADMIN = AccessRole.VIEWER, AccessRole.MEMBER, AccessRole.ADMIN
_EVALS = f"{PREFIX}/evals"
_EVAL = f"{_EVALS}/{{eval_id}}"
_RUN = f"{_EVAL}/runs/{{run_id}}"
_FILES = f"{PREFIX}/files"
_FILE = f"{_FILES}/{{file_id}}"
_UPLOADS = f"{PREFIX}/uploads"
_UPLOAD = f"{_UPLOADS}/{{upload_id}}"
_MODELS = f"{PREFIX}/models"
_GRADERS = f"{PREFIX}/fine_tuning/alpha/graders"
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
    Operation(
        "cancelOpenAIEvalRunOfOlderClients", "POST", _RUN, _TAG, _MEMBER, "Cancel a run as older clients do", "The run"
    ),
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
    Operation("listOpenAIFiles", "GET", _FILES, _TAG, _VIEWER, "List files", "A page of files"),
    Operation("createOpenAIFile", "POST", _FILES, _TAG, _MEMBER, "Upload a file with rows of data", "The file"),
    Operation("getOpenAIFile", "GET", _FILE, _TAG, _VIEWER, "Get a file", "The file"),
    Operation("readOpenAIFile", "GET", f"{_FILE}/content", _TAG, _VIEWER, "Read a file", "Its content"),
    Operation("deleteOpenAIFile", "DELETE", _FILE, _TAG, _MEMBER, "Delete a file", "Deleted"),
    Operation("createOpenAIUpload", "POST", _UPLOADS, _TAG, _MEMBER, "Begin an upload in parts", "The upload"),
    Operation("addOpenAIUploadPart", "POST", f"{_UPLOAD}/parts", _TAG, _MEMBER, "Add a part", "The part"),
    Operation(
        "completeOpenAIUpload", "POST", f"{_UPLOAD}/complete", _TAG, _MEMBER, "Make a file of the parts", "The upload"
    ),
    Operation("cancelOpenAIUpload", "POST", f"{_UPLOAD}/cancel", _TAG, _MEMBER, "Cancel an upload", "The upload"),
    Operation("listOpenAIModels", "GET", _MODELS, _TAG, _VIEWER, "List models", "The models"),
    Operation("getOpenAIModel", "GET", f"{_MODELS}/{{model}}", _TAG, _VIEWER, "Get a model", "The model"),
    Operation(
        "getOpenAIModelOfProvider",
        "GET",
        f"{_MODELS}/{{provider}}/{{name}}",
        _TAG,
        _VIEWER,
        "Get a model whose name has its provider",
        "The model",
    ),
    Operation("validateOpenAIGrader", "POST", f"{_GRADERS}/validate", _TAG, _MEMBER, "Validate a grader", "The grader"),
    Operation(
        "runOpenAIGrader",
        "POST",
        f"{_GRADERS}/run",
        _TAG,
        _MEMBER,
        "Run a grader",
        "Its reward",
        calls_others=True,
    ),
)
OPENAI_OPERATIONS = {operation.id: operation for operation in _ALL}
