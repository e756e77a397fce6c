"""Lists the operations and the fields of requests and responses that models cannot use through MCP, with reasons."""

from collections.abc import Iterable, Mapping
from typing import Any

from cupel_core.base.errors import Invalid
from cupel_core.contract.routes import Route

_SECRET = "its response has a secret, which a model must not read; use the API or the command"  # noqa: S105
_ADDRESS = "it sends secret headers to an address, which a text could suggest to a model; use the API or the command"
_ERASURE = "it erases a whole workspace, which cannot be undone; use the API or the command"
_UPLOAD = "it belongs to the upload of a file, whose content a model cannot send; use the API or the command"
EXCEPTIONS = {
    "redeemLoginCode": "it belongs to signing in to the web page",
    "createLoginCode": "it belongs to signing in to the web page",
    "createEventTicket": "it lets the web page read streams, which MCP does not have",
    "createToken": _SECRET,
    "createWorkspace": _SECRET,
    "setWebhook": _SECRET,
    "eraseWorkspace": _ERASURE,
    "createConnector": _ADDRESS,
    "createFile": _UPLOAD,
    "completeFile": _UPLOAD,
    "getOpenApiDocument": "it describes HTTP; search_operations and call_operation describe operations",
}
_HEADERS = "secret headers are set with the API or the command only"
_DESTINATION = "an address that data is sent to is set with the API or the command only"
_KEYS = "keys and addresses are set by `cupel providers set` only"
_GUARD = "a limit on cost is changed with the API, the web page or the command only"
_IN_SCALE_RUN = {"evaluators.external": _DESTINATION}
_IN_CONFIG = {"config.evaluatorUrl": _DESTINATION}
_IN_SCHEDULE = {f"{name}.config.evaluatorUrl": _DESTINATION for name in ("run", "evalRun")}
LEFT_OUT_FIELDS = {
    "updateProvider": {"apiKey": _KEYS, "baseUrl": _KEYS, "prices": _GUARD},
    "updateConnector": {"headers": _HEADERS, "baseUrl": _DESTINATION},
    "createPersona": {"headers": _HEADERS, "connectorUrls": _HEADERS},
    "updatePersona": {"headers": _HEADERS, "connectorUrls": _HEADERS},
    "updateSettings": {
        "evaluator": _DESTINATION,
        "budgets": _GUARD,
        "openRuns": _GUARD,
        "openRunsPerOwner": _GUARD,
        "maxScaleRunCount": _GUARD,
        "maxScaleRunConcurrency": _GUARD,
    },
    "createEval": {"evaluatorUrl": _DESTINATION},
    "updateEval": {"evaluatorUrl": _DESTINATION},
    "createScaleRun": _IN_SCALE_RUN,
    "estimateScaleRun": _IN_SCALE_RUN,
    "createRun": _IN_CONFIG,
    "estimateRun": _IN_CONFIG,
    "rerunRun": _IN_CONFIG,
    "createEvalRun": _IN_CONFIG,
    "estimateEvalRun": _IN_CONFIG,
    "createPlaygroundRun": _IN_CONFIG,
    "createRescore": {"evaluatorUrl": _DESTINATION},
    "createSchedule": _IN_SCHEDULE,
    "updateSchedule": _IN_SCHEDULE,
}
_SIGNED = "whoever has this signed URL can use it without a token; use the API or the command"
LEFT_OUT_RESULTS = {"getFile": {"downloadUrl": _SIGNED}}
"""Models do not receive these fields of responses, which are not nested."""


def check_fields(route: Route, body: Mapping[str, Any]) -> None:
    for path, reason in LEFT_OUT_FIELDS.get(route.id, {}).items():
        *parents, name = path.split(".")
        fields: Any = body
        for each in parents:
            fields = fields.get(each) if isinstance(fields, Mapping) else None
        if isinstance(fields, Mapping) and name in fields:
            raise Invalid.field(path, f"is no argument: {reason}")


def check_result_fields(route: Route, paths: Iterable[str]) -> None:
    left_out = LEFT_OUT_RESULTS.get(route.id, {})
    for path in paths:
        if (reason := left_out.get(path.partition(".")[0])) is not None:
            raise Invalid.field("fields", f"{path} is not returned to models: {reason}")


def refusal(route: Route) -> str | None:
    if route.is_of_openai:
        return "it has the contract of OpenAI's API; Cupel's own operations do the same"
    return EXCEPTIONS.get(route.id)
