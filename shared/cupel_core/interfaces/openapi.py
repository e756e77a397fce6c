"""The OpenAPI document, derived from the operations.

`PYTHONPATH=functions:shared python -m cupel_core.interfaces.openapi > docs/openapi.json` writes the committed one.
"""

import re
import sys
from functools import cache
from typing import Any

import orjson
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from cupel_core.contract.operation import Operation, Replay
from cupel_core.contract.service import VERSION
from cupel_core.interfaces.descriptions import describe
from cupel_core.interfaces.examples import SchemaExamples
from cupel_core.interfaces.gateway.problems import CONTENT_TYPE
from cupel_core.interfaces.http.operations import add_route
from cupel_core.interfaces.routes import load_all
from cupel_core.store import idempotency

TAGS = {
    "definitions": "What is evaluated, in immutable versions",
    "scenarios": "The test cases of a definition",
    "imports": "Evaluations and datasets of other tools",
    "files": "Images and PDFs for messages",
    "personas": "Simulated users",
    "connectors": "Agents under test, reached over HTTP",
    "evals": "Saved evaluations, and the playground",
    "profiles": "Operations around the main call of every turn",
    "chats": "Conversations that people hold, with branches",
    "settings": "The workspace's defaults for grading, and its limits",
    "runs": "Executions of an evaluation",
    "transcripts": "Records of completed probes",
    "rescores": "Grading existing transcripts again, and pass rates",
    "comparisons": "Differences between runs, targets or prompts, and the jobs that compute them",
    "analysis": "Figures of runs: estimates, agreement, outliers, dimensions",
    "reports": "Written accounts of runs",
    "experiments": "Runs under one hypothesis, compared with a baseline",
    "probes": "Single conversations of a run",
    "judge": "The judge and the simulated user, called outside a run",
    "providers": "Model providers and their models",
    "schedules": "Runs that start at set times",
    "webhook": "Signed calls that report what runs do",
    "queue": "Provider queues and their dead letters",
    "tokens": "API tokens of the workspace",
    "session": "Signing in to the web page",
    "workspaces": "Creating and erasing workspaces, by an operator",
    "audit": "Who did what in the workspace",
    "service": "Health, and this document",
}
"""Descriptions by tag, in the order of the document."""

_DESCRIPTION = """Evaluate language models and agents: definitions, scenarios, runs and their results.

Every path with GET also accepts HEAD, and every path OPTIONS. Responses of more than 1 KB are compressed with gzip for
clients that send `Accept-Encoding: gzip`; requests are not compressed. Every problem document has a `requestId`, and
every response the same id as the header `apigw-requestid`."""
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
"""A line break within a paragraph of a docstring."""
_POWERTOOLS_SCHEMAS = ("HTTPValidationError", "ValidationError", "ResponseValidationError")
_PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "Problem details (RFC 9457)",
    "type": "object",
    "required": ["type", "title", "status", "detail", "requestId"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "requestId": {"type": "string", "description": "Identifies the request in the logs"},
        "etag": {"type": "string", "description": "The current `ETag`, if `If-Match` named another one (412)"},
        "estimate": {
            "$ref": "#/components/schemas/Estimate",
            "description": "Of a start that needs `confirmedUsd` (409 `confirmation-required`)",
        },
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {
                    "field": {"type": "string", "description": "Path of the field, such as `models.1`"},
                    "message": {"type": "string"},
                },
            },
        },
    },
}
_TOKEN_PROBLEMS = {
    "401": "Missing or invalid token",
    "429": "Too many requests of this token; repeat after `Retry-After` seconds",
}
_INTERNAL_PROBLEMS = {"500": "Internal error", "503": "Temporarily unavailable; retry after `Retry-After` seconds"}
_JUDGE_PROBLEMS = {"502": "The model could not be called, or its reply was unusable"}
_REFERENCE_PROBLEMS = {"404": "Not found in this workspace"}
_INPUT_PROBLEMS = {"422": "A field is invalid; see `errors`"}
_WRITE_PROBLEMS = {
    "400": "The body is not valid JSON",
    "409": "Not allowed in the current state; `detail` says which state that is",
    "413": "The body is too large",
    "415": "The body is not application/json, or has a Content-Encoding",
}
_LOGIN_PROBLEMS = {
    **{status: text for status, text in _WRITE_PROBLEMS.items() if status != "409"},
    **_INPUT_PROBLEMS,
    "401": "The code is unknown, was used, or has expired",
}
_PRECONDITION_PROBLEMS = {"412": "`If-Match` does not name the current state; `ETag` does"}
_THROTTLED: dict[str, dict[str, Any]] = {"429": {"description": "Too many requests; throttled by API Gateway"}}
_IDEMPOTENCY = (
    "Makes the request safe to repeat for a day: the same request with the same key creates nothing new. It is then "
    "answered with"
)
_REPLAYS = {
    Replay.STARTED: "the first response.",
    Replay.CREATED: "the first status, and what was created or changed as it is now.",
    Replay.RESPONSE: "the first response; with 409 if that had more than 300 KB.",
    Replay.REFUSAL: "409, because the first response had a secret, which is not stored.",
}
_PATH_PARAMETERS = {"name": "Name of the provider", "format": "Format of the file"}


@cache
def document() -> dict[str, Any]:
    """The document that Powertools generates from the routes, with problem documents instead of Powertools' errors."""
    from aws_lambda_powertools.event_handler.openapi.models import Contact, HTTPBearer, License, Tag

    app = APIGatewayHttpResolver(enable_validation=True)
    operations = {each.id: each for each in load_all() if not each.is_of_openai}
    for each in sorted(operations.values(), key=lambda each: list(TAGS).index(each.tag)):
        add_route(app, each)
    generated = app.get_openapi_json_schema(
        title="Cupel",
        version=VERSION,
        description=_LINE_BREAK.sub(" ", _DESCRIPTION),
        contact=Contact(name="Cupel"),
        license_info=License(name="Apache-2.0", identifier="Apache-2.0"),
        tags=[Tag(name=name, description=description) for name, description in TAGS.items()],
        security_schemes={"token": HTTPBearer(description="An API token, or a JWT from the configured issuer")},
        security=[{"token": []}],
    )
    openapi: dict[str, Any] = _without_suffix(orjson.loads(generated))
    schemas = openapi["components"]["schemas"]
    for name in _POWERTOOLS_SCHEMAS:
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    for name, schema in schemas.items():
        if "description" in schema:
            schema["description"] = _LINE_BREAK.sub(" ", schema["description"])
        for field_name, field in schema.get("properties", {}).items():
            field.pop("title", None)
            if "description" not in field and (description := describe(name, field_name)):
                field["description"] = description
    _add_examples(schemas)
    for path_item in openapi["paths"].values():
        for described in path_item.values():
            operation = operations[described["operationId"]]
            _set_parameters(described)
            _set_idempotency_key(described, operation)
            _set_responses(described, operation)
    return openapi


def _add_examples(schemas: dict[str, Any]) -> None:
    examples = SchemaExamples(schemas)
    for name, schema in schemas.items():
        for field_name, field in schema.get("properties", {}).items():
            if (example := examples.of_field(name, field_name)) is not None:
                field["examples"] = [example]


def _without_suffix(value: Any) -> Any:
    """The document with schema names without the suffix: the class `RunResponse` becomes the schema `Run`."""
    if isinstance(value, list):
        return [_without_suffix(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {name: _without_suffix(item) for name, item in value.items()}
    if "schemas" in result:
        result["schemas"] = _by_schema_name(result["schemas"])
    if isinstance(result.get("$ref"), str):
        result["$ref"] = _schema_name(result["$ref"])
    if isinstance(result.get("title"), str):
        result["title"] = _schema_name(result["title"])
    return result


def _by_schema_name(schemas: dict[str, Any]) -> dict[str, Any]:
    renamed = {_schema_name(name): schema for name, schema in sorted(schemas.items())}
    if lost := sorted(name for name in schemas if _schema_name(name) != name and _schema_name(name) in schemas):
        raise ValueError(f"a request has the name of a response without its suffix: {', '.join(lost)}")
    return renamed


def _schema_name(name: str) -> str:
    return name.removesuffix("Response")


def _set_parameters(described: dict[str, Any]) -> None:
    """Describe path parameters, remove null from the types of parameters, and capitalize header names."""
    for parameter in described.get("parameters", []):
        schema = parameter["schema"]
        if parameter["in"] == "header":
            parameter["name"] = "-".join("ID" if word == "Id" else word for word in schema["title"].split("-"))
        if parameter["in"] == "path":
            name = parameter["name"]
            parameter["description"] = _PATH_PARAMETERS.get(name) or f"Id of the {name[:-3].replace('_', ' ')}"
        choices = [choice for choice in schema.pop("anyOf", []) if choice != {"type": "null"}]
        schema |= choices[0] if choices else {}
        schema.pop("title", None)
        schema.pop("description", None)


def _set_idempotency_key(described: dict[str, Any], operation: Operation) -> None:
    if operation.replay is None:
        return
    schema = {"type": "string", "minLength": 1, "maxLength": idempotency.MAX_LENGTH, "pattern": idempotency.PATTERN}
    description = f"{_IDEMPOTENCY} {_REPLAYS[operation.replay]}"
    header = {
        "name": idempotency.HEADER,
        "in": "header",
        "required": False,
        "schema": schema,
        "description": description,
    }
    described["parameters"] = [*described.get("parameters", []), header]


def _set_responses(described: dict[str, Any], operation: Operation) -> None:
    responses = {status: one for status, one in described["responses"].items() if int(status) < 400}
    responses.get("204", {}).pop("content", None)  # Powertools adds JSON content there too
    if operation.location:
        for one in (one for status, one in responses.items() if status in ("201", "202")):
            one["headers"] = {"Location": {"description": "Path of what was created", "schema": {"type": "string"}}}
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    problems: dict[str, dict[str, Any]] = {
        status: {"description": description, "content": content}
        for status, description in _problems_of(described, operation).items()
    }
    if operation.is_public:
        described["security"] = []
        problems |= _THROTTLED
    described["responses"] = dict(sorted((responses | problems).items()))


def _problems_of(described: dict[str, Any], operation: Operation) -> dict[str, str]:
    if operation.is_public:
        return _INTERNAL_PROBLEMS if operation.method == "GET" else _INTERNAL_PROBLEMS | _LOGIN_PROBLEMS
    problems = _TOKEN_PROBLEMS | _INTERNAL_PROBLEMS
    problems["403"] = f"The token's role does not permit this operation, which requires `{operation.minimum_role}`"
    if operation.method != "GET":
        problems |= _WRITE_PROBLEMS
    if operation.tag == "judge":
        problems |= _JUDGE_PROBLEMS
    if "{" in operation.path or "requestBody" in described or operation.tag == "webhook":
        problems |= _REFERENCE_PROBLEMS
    if any(one["name"] == "If-Match" for one in described.get("parameters", ())):
        problems |= _PRECONDITION_PROBLEMS
    if "requestBody" in described or described.get("parameters"):
        problems |= _INPUT_PROBLEMS
    return problems


def main() -> None:
    sys.stdout.buffer.write(orjson.dumps(document(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


if __name__ == "__main__":
    main()
