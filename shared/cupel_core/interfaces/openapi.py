"""The OpenAPI document, derived from the operations.

`PYTHONPATH=functions:shared python -m cupel_core.interfaces.openapi > docs/openapi.json` writes the committed one.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from http import HTTPStatus
from typing import Any, get_args, get_origin

import orjson
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver

from cupel_core.base.errors import Invalid
from cupel_core.contract.operation import Operation, Replay, Revalidated, Tagged
from cupel_core.contract.service import VERSION
from cupel_core.domain.access import AccessRole
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
every response the same id as the header `apigw-requestid`.

A request with GET may be repeated after a network error or a 502, 503 or 504. So may a request with POST whose
operation has `x-repeatable: true`, because it changes nothing or makes the same change again, and a request that
carries an `Idempotency-Key`. Other requests may have taken effect, and are not to be repeated blindly.

`/v1/openapi.json?tags=runs,transcripts` returns only the operations with these tags, and the schemas they need."""
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
"""A line break within a paragraph of a docstring."""
_REFERENCE = re.compile(r'"#/components/(\w+)/([\w.-]+)"')
_TAGS = frozenset({Tagged, Revalidated})
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
_PROBLEMS = {
    "400": "The body is not valid JSON",
    "401": "Missing or invalid token",
    "401-login": "The code is unknown, was used, or has expired",
    **{
        f"403-{role}": f"The token's role does not permit this operation, which requires `{role}`"
        for role in AccessRole
    },
    "404": "Not found in this workspace",
    "409": "Not allowed in the current state; `detail` says which state that is",
    "412": "`If-Match` does not name the current state; `ETag` does",
    "413": "The body is too large",
    "415": "The body is not application/json, or has a Content-Encoding",
    "422": "A field is invalid; see `errors`",
    "429": "Too many requests of this token; repeat after `Retry-After` seconds",
    "500": "Internal error",
    "502": "The model could not be called, or its reply was unusable",
    "503": "Temporarily unavailable; retry after `Retry-After` seconds",
}
"""Descriptions of the problems by the names of their components, which begin with the status."""
_THROTTLED = "429-public"
"""The component of the response of API Gateway to too many requests without a token, which is no problem document."""
_READ_PROBLEMS = {"500", "503"}
_WRITE_PROBLEMS = {"400", "409", "413", "415"}
_LOGIN_PROBLEMS = {"400", "401-login", "413", "415", "422"}
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
    "required": False,
    "schema": {"type": "string"},
    "description": "An `ETag` that was received before, or several; 304 if it is the current one",
}
_MAX_PARTS = 16
"""The cache has at most this many parts of the document."""


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
    schemas = openapi["components"]["schemas"]
    for name in _POWERTOOLS_SCHEMAS:
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    openapi["components"] |= {"responses": _problem_responses(), "parameters": {}, "headers": _headers()}
    for name, schema in schemas.items():
        schema.pop("title", None)
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
            _set_idempotency_key(described, operation, openapi["components"]["parameters"])
            _set_responses(described, operation)
            if operation.is_repeatable:
                described["x-repeatable"] = True
    _share_parameters(openapi)
    return openapi


@lru_cache(maxsize=_MAX_PARTS)
def part(tags: frozenset[str]) -> dict[str, Any]:
    """Return the operations with these tags, and the components that they refer to, directly or not.

    Raises Invalid for an unknown tag.
    """
    if unknown := sorted(tags - TAGS.keys()):
        raise Invalid.field("tags", f"has no {', '.join(map(repr, unknown))}; the tags are {', '.join(TAGS)}")
    whole = document()
    paths = {
        path: chosen
        for path, item in whole["paths"].items()
        if (chosen := {method: each for method, each in item.items() if not tags.isdisjoint(each["tags"])})
    }
    needed = _needed(whole, paths)
    components = {
        kind: found
        for kind, each in whole["components"].items()
        if (found := {name: value for name, value in each.items() if (kind, name) in needed})
    }
    components["securitySchemes"] = whole["components"]["securitySchemes"]
    return {**whole, "tags": [each for each in whole["tags"] if each["name"] in tags], "paths": paths} | {
        "components": components
    }


def _needed(whole: dict[str, Any], paths: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the kinds and names of the components that these paths refer to, directly or not."""
    found: set[tuple[str, str]] = set()
    to_read: list[Any] = [paths]
    while to_read:
        for kind, name in set(_REFERENCE.findall(orjson.dumps(to_read.pop()).decode())) - found:
            found.add((kind, name))
            to_read.append(whole["components"][kind][name])
    return found


def _problem_responses() -> dict[str, dict[str, Any]]:
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    problems = {name: {"description": text, "content": content} for name, text in _PROBLEMS.items()}
    return {
        **problems,
        _THROTTLED: {"description": "Too many requests; throttled by API Gateway"},
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


def _add_examples(schemas: dict[str, Any]) -> None:
    """Add the examples of fields that neither the example of their schema nor a schema that they refer to has."""
    examples = SchemaExamples(schemas)
    for name, schema in schemas.items():
        if "enum" in schema:
            schema["examples"] = [examples.of_schema(name)]
        for field_name, field in schema.get("properties", {}).items():
            found = examples.absent(name, field_name)
            if not examples.is_repeated(name, field_name):
                example = examples.of_field(name, field_name)
                found += [] if example is None else [example]
            if found:
                field["examples"] = found


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


def _set_idempotency_key(described: dict[str, Any], operation: Operation, shared: dict[str, Any]) -> None:
    if operation.replay is None:
        return
    name = f"{idempotency.HEADER}-{operation.replay}"
    schema = {"type": "string", "minLength": 1, "maxLength": idempotency.MAX_LENGTH, "pattern": idempotency.PATTERN}
    description = f"{_IDEMPOTENCY} {_REPLAYS[operation.replay]}"
    shared[name] = {
        "name": idempotency.HEADER,
        "in": "header",
        "required": False,
        "schema": schema,
        "description": description,
    }
    described["parameters"] = [*described.get("parameters", []), *_references("parameters", [name]).values()]


def _set_responses(described: dict[str, Any], operation: Operation) -> None:
    responses = {status: one for status, one in described["responses"].items() if int(status) < 400}
    responses.get("204", {}).pop("content", None)  # Powertools adds JSON content there too
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
    for name in _problems_of(described, operation):
        responses[name[:3]] = {"$ref": f"#/components/responses/{name}"}
    described["responses"] = dict(sorted(responses.items()))


def _problems_of(described: dict[str, Any], operation: Operation) -> set[str]:
    """Return the names of the components of the problems that may be the response."""
    if operation.is_public:
        problems = _READ_PROBLEMS | {_THROTTLED}
        if operation.method != "GET":
            return problems | _LOGIN_PROBLEMS
        return problems | {"422"} if described.get("parameters") else problems
    problems = _READ_PROBLEMS | {"401", f"403-{operation.minimum_role}", "429"}
    if operation.method != "GET":
        problems |= _WRITE_PROBLEMS
    if operation.tag == "judge":
        problems |= {"502"}
    if "{" in operation.path or "requestBody" in described or operation.tag == "webhook":
        problems |= {"404"}
    if operation.if_match:
        problems |= {"412"}
    if "requestBody" in described or described.get("parameters"):
        problems |= {"422"}
    return problems


def main() -> None:
    sys.stdout.buffer.write(orjson.dumps(document(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


if __name__ == "__main__":
    main()
