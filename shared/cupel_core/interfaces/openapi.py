"""Derives the OpenAPI document from the operations.

`PYTHONPATH=functions:shared python -m cupel_core.interfaces.openapi > docs/openapi.json` writes the committed one, and
`python -m tools.generate` the one that the API serves (see `openapi_file`).
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from http import HTTPStatus
from typing import Any, get_args, get_origin

import orjson
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from cupel_core.contract.operation import Operation, Replay, Revalidated, Tagged
from cupel_core.contract.service import VERSION
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.gateway.problems import CONTENT_TYPE
from cupel_core.interfaces.http.operations import add_route
from cupel_core.interfaces.routes import load_all
from cupel_core.interfaces.schema_examples import SchemaExamples, common_fields
from cupel_core.interfaces.schema_sharing import extend, schema_name, share_fields, simplify
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
    "labels": "Verdicts of people, by which judges are measured",
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

_DESCRIPTION = """Evaluate language models and agents: definitions, scenarios, runs and their results.

Every path with GET also accepts HEAD, and every path OPTIONS. Responses of more than 1 KB are compressed with gzip for
clients that send `Accept-Encoding: gzip`; requests are not compressed. Every problem document has a `requestId`, and
every response the same id as the header `apigw-requestid`.

A request with GET may be repeated after a network error or a 502, 503 or 504. So may a request with POST whose
operation has `x-repeatable: true`, because it changes nothing or makes the same change again, and a request that
carries an `Idempotency-Key`. Other requests may have taken effect, and are not to be repeated blindly.

An operation permits viewers, members and admins unless `x-role` names the least role, and labellers only with
`x-labellers`. `default` lists the statuses that
it may answer besides its own. A schema whose name begins with a small letter is a field that several schemas have.

`/v1/openapi.json?tags=runs,transcripts` returns only the operations with these tags, and the schemas they need."""
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
_TAGS = frozenset({Tagged, Revalidated})
_POWERTOOLS_SCHEMAS = ("HTTPValidationError", "ValidationError", "ResponseValidationError")
_PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "Problem details (RFC 9457)",
    "type": "object",
    "required": ["type", "title", "status", "detail", "requestId"],
    "properties": {
        "type": {
            "type": "string",
            "description": "URN of the kind of problem",
            "examples": ["urn:cupel:problem:not-found"],
        },
        "title": {"type": "string"},
        "status": {"type": "integer", "description": "HTTP status"},
        "detail": {"type": "string"},
        "requestId": {"type": "string", "description": "Identifies the request in the logs"},
        "etag": {"type": "string", "description": "The current `ETag`, if `If-Match` named another one (412)"},
        "estimate": {
            "$ref": "#/components/schemas/Estimate",
            "description": "Of a start that needs `confirmedUsd` (409 `confirmation-required`)",
        },
        "errors": {
            "type": "array",
            "examples": [[{"field": "models.1", "message": "unknown provider for model 'opnai/gpt-5'"}]],
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
_PROBLEMS = {
    "default": "Any operation may answer 429 after too many requests, 500 for an internal error, and 503 if Cupel is "
    "temporarily unavailable; with 429 and 503, repeat after `Retry-After` seconds. If it needs a token, 401 if that "
    "is missing or invalid, and 403 if the role does not permit the operation. With parameters or a body, 404 if what "
    "they name is not in this workspace, and 422 if a field is invalid; `errors` names the fields. With another method "
    "than GET, 409 if the current state does not allow it, which `detail` names; 400 if the body is not valid JSON, "
    "413 if it is too large, and 415 if it is not application/json or has a Content-Encoding. The body is a problem "
    "document, unless API Gateway itself answers 429 to requests without a token",
    "401": "The code is unknown, was used, or has expired",
    "412": "`If-Match` does not name the current state; `ETag` does",
    "502": "The model could not be called, or its reply was unusable",
}
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
_PATH_PARAMETERS = {
    "name": "Name of the provider",
    "format": "Format of the file",
    "tag": "Tag of the artifact",
}
_HEADERS = {
    "Location": "Path of what was created",
    "ETag": "Names the state that was returned, for `If-Match`, or for `If-None-Match` if the operation has it",
}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "schema": {"type": "string"},
    "description": "An `ETag` that was received before, or several; 304 if it is the current one",
}


@cache
def document() -> dict[str, Any]:
    """Return the document: Powertools generates it from the routes, and problem documents replace its errors."""
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
    components = openapi["components"]
    components |= {"responses": _problem_responses(), "parameters": {}, "headers": _headers()}
    _complete_schemas(components["schemas"])
    for path_item in openapi["paths"].values():
        for described in path_item.values():
            _complete_operation(described, operations[described["operationId"]], components["parameters"])
    _share_parameters(openapi)
    _share_responses(openapi)
    extend(components["schemas"])
    share_fields(components["schemas"])
    return openapi


def _complete_schemas(schemas: dict[str, Any]) -> None:
    for name in _POWERTOOLS_SCHEMAS:
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    for schema in schemas.values():
        schema.pop("title", None)
        if "description" in schema:
            schema["description"] = _LINE_BREAK.sub(" ", schema["description"])
        for field_name, field in schema.get("properties", {}).items():
            field.pop("title", None)
            _describe(field_name, field)
    _add_examples(schemas)
    _shorten_defaults(schemas)
    for name in schemas:
        schemas[name] = simplify(schemas[name])


def _complete_operation(described: dict[str, Any], operation: Operation, shared: dict[str, Any]) -> None:
    _set_parameters(described)
    _set_idempotency_key(described, operation, shared)
    _set_responses(described, operation)
    if operation.is_repeatable:
        described["x-repeatable"] = True
    if operation.minimum_role not in (None, AccessRole.VIEWER):
        described["x-role"] = operation.minimum_role
    if operation.is_for_labellers:
        described["x-labellers"] = True
    if described["description"].removesuffix(".") == described["summary"]:
        described.pop("description")


def _shorten_defaults(schemas: dict[str, Any]) -> None:
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if "$ref" in field and isinstance(default := field.get("default"), dict):
                fields = schemas[field["$ref"].rpartition("/")[2]]["properties"]
                field["default"] = {name: each for name, each in default.items() if each != fields[name].get("default")}


def _describe(name: str, field: dict[str, Any]) -> None:
    """Describe a field that its model does not describe, or describes only as a value that may be null."""
    values = [each for each in field.get("anyOf", ()) if each != {"type": "null"}]
    of_value = values[0].pop("description", None) if len(values) == 1 else None
    if "description" in field:
        return
    common = common_fields().get(name)
    description = common and common.description
    if of_value and len(of_value) > len(description or ""):
        description = of_value
    if description:
        field["description"] = description


def _problem_responses() -> dict[str, dict[str, Any]]:
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    problems = {name: {"description": text, "content": content} for name, text in _PROBLEMS.items()}
    return {
        **problems,
        "304": {"description": "`If-None-Match` names the current state", "headers": _references("headers", ["ETag"])},
    }


def _headers() -> dict[str, dict[str, Any]]:
    return {name: {"description": text, "schema": {"type": "string"}} for name, text in _HEADERS.items()}


def _references(kind: str, names: Iterable[str]) -> dict[str, dict[str, str]]:
    return {name: {"$ref": f"#/components/{kind}/{name}"} for name in names}


def _share_parameters(openapi: dict[str, Any]) -> None:
    """Move parameters that several operations declare alike to the components, and refer to them by their names.

    Of several parameters with the same name, the most frequent one becomes a component.
    """
    operations = [each for item in openapi["paths"].values() for each in item.values()]
    shared = openapi["components"]["parameters"]
    used = Counter(orjson.dumps(each) for one in operations for each in one.get("parameters", ()) if "$ref" not in each)
    for text, count in used.most_common():
        parameter = orjson.loads(text)
        if count > 1:
            shared.setdefault(parameter["name"], parameter)
    for one in (each for each in operations if "parameters" in each):
        one["parameters"] = [
            _references("parameters", [each["name"]])[each["name"]] if shared.get(each.get("name")) == each else each
            for each in one["parameters"]
        ]


def _share_responses(openapi: dict[str, Any]) -> None:
    """Move successful responses that several operations have to the components, and refer to them by their schemas.

    Of several responses with the same schema, the most frequent one becomes a component.
    """
    described = [each["responses"] for item in openapi["paths"].values() for each in item.values()]
    shared = openapi["components"]["responses"]
    used = Counter(orjson.dumps(one) for each in described for one in each.values() if "content" in one)
    for text, count in used.most_common():
        name = text.rpartition(b"/components/schemas/")[2].partition(b'"')[0].decode()
        if count > 1 and name:
            shared.setdefault(name, orjson.loads(text))
    names = {orjson.dumps(each): name for name, each in shared.items()}
    for responses in described:
        for status, each in responses.items():
            if (shared_name := names.get(orjson.dumps(each))) is not None:
                responses[status] = _references("responses", [shared_name])[shared_name]


def _add_examples(schemas: dict[str, Any]) -> None:
    examples = SchemaExamples(schemas)
    for name, schema in schemas.items():
        if "enum" in schema:
            schema["examples"] = [examples.of_schema(name)]
        for field_name, field in schema.get("properties", {}).items():
            if examples.is_evident(name, field_name) or examples.is_repeated(name, field_name):
                continue
            example = examples.of_field(name, field_name)
            if example is not None:
                field["examples"] = [*examples.absent(name, field_name), example]


def _without_suffix(value: Any) -> Any:
    """Remove the suffix from schema names: the class `RunResponse` becomes the schema `Run`."""
    if isinstance(value, list):
        return [_without_suffix(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {name: _without_suffix(item) for name, item in value.items()}
    if "schemas" in result:
        result["schemas"] = _by_schema_name(result["schemas"])
    if isinstance(result.get("$ref"), str):
        result["$ref"] = schema_name(result["$ref"])
    if isinstance(result.get("title"), str):
        result["title"] = schema_name(result["title"])
    return result


def _by_schema_name(schemas: dict[str, Any]) -> dict[str, Any]:
    renamed = {schema_name(name): schema for name, schema in sorted(schemas.items())}
    if lost := sorted(name for name in schemas if schema_name(name) != name and schema_name(name) in schemas):
        raise ValueError(f"a request has the name of a response without its suffix: {', '.join(lost)}")
    return renamed


def _set_parameters(described: dict[str, Any]) -> None:
    for parameter in described.get("parameters", []):
        schema = parameter["schema"]
        if parameter["in"] == "header":
            parameter["name"] = "-".join("ID" if word == "Id" else word for word in schema["title"].split("-"))
        if parameter["in"] == "path":
            name = parameter["name"]
            parameter["description"] = _PATH_PARAMETERS.get(name) or f"Id of the {name[:-3].replace('_', ' ')}"
        if not parameter["required"]:
            parameter.pop("required")
        choices = [choice for choice in schema.pop("anyOf", []) if choice != {"type": "null"}]
        schema |= choices[0] if choices else {}
        schema.pop("title", None)
        schema.pop("description", None)


def _set_idempotency_key(described: dict[str, Any], operation: Operation, shared: dict[str, Any]) -> None:
    if operation.replay is None:
        return
    name = f"{idempotency.HEADER}-{operation.replay}"
    schema = {"type": "string", "minLength": 1, "maxLength": idempotency.MAX_LENGTH, "pattern": idempotency.PATTERN}
    description = f"{_IDEMPOTENCY} {_REPLAYS[operation.replay]}"
    shared[name] = {
        "name": idempotency.HEADER,
        "in": "header",
        "schema": schema,
        "description": description,
    }
    described["parameters"] = [*described.get("parameters", []), *_references("parameters", [name]).values()]


def _set_responses(described: dict[str, Any], operation: Operation) -> None:
    responses = {status: one for status, one in described["responses"].items() if int(status) < 400}
    responses.get("204", {}).pop("content", None)  # Powertools adds JSON content there too.
    tag = _TAGS.intersection(map(get_origin, (operation.types["return"], *get_args(operation.types["return"]))))
    for status, one in responses.items():
        is_new = operation.location and status in ("201", "202")
        if names := [*(["Location"] if is_new else []), *(["ETag"] if tag else [])]:
            one["headers"] = _references("headers", names)
    if Revalidated in tag and operation.is_read:
        described["parameters"] = [*described.get("parameters", []), _IF_NONE_MATCH]
        responses |= _references("responses", [str(HTTPStatus.NOT_MODIFIED.value)])
    if operation.is_public:
        described["security"] = []
    responses |= _references("responses", _problems_of(operation))
    described["responses"] = dict(sorted(responses.items()))


def _problems_of(operation: Operation) -> Iterator[str]:
    yield "default"
    if operation.is_public and not operation.is_read:
        yield "401"
    if operation.if_match:
        yield "412"
    if operation.tag == "judge":
        yield "502"


def main() -> None:
    sys.stdout.buffer.write(orjson.dumps(document(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


if __name__ == "__main__":
    main()
