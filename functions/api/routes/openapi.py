"""The OpenAPI document, generated from the routes. `python -m api.routes.openapi` prints docs/openapi.json."""

import sys
from functools import cache
from typing import Any

import orjson
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from api import routing
from api.admission import PUBLIC
from api.problems import CONTENT_TYPE
from api.routes.health import VERSION

router = APIGatewayHttpRouter()

_DESCRIPTION = "Evaluations of language models: definitions, scenarios, runs and what came of them."
_GENERATED = ("HTTPValidationError", "ValidationError", "ResponseValidationError")
_PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "RFC 9457",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}
_ALWAYS = {"401": "No valid token", "403": "The token's role does not allow it"}
_FAILED = {"500": "Something of ours failed", "503": "Temporarily unavailable"}
_JUDGED = {"502": "The model could not be asked, or made no sense"}
_WITH_NAMES = {"404": "What it names is not in this workspace"}
_WITH_INPUT = {"422": "A field is wrong; `errors` names it"}
_WRITING = {
    "400": "The body is not valid JSON",
    "409": "Not in this state",
    "413": "The body is too large",
    "415": "The body is not application/json",
}


@router.get("/openapi.json", summary="Read this document", tags=["service"])
def openapi() -> dict[str, Any]:
    from api.app import app  # which includes this router

    return document(app)


@cache
def document(app: APIGatewayHttpResolver) -> dict[str, Any]:
    """What Powertools makes of the routes, with our problems in place of its own errors."""
    from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer

    routing.load_all(app)
    made = app.get_openapi_json_schema(
        title="Cupel",
        version=VERSION,
        description=_DESCRIPTION,
        security_schemes={"token": HTTPBearer(description="An API token, or a JWT of the configured issuer")},
        security=[{"token": []}],
    )
    told: dict[str, Any] = orjson.loads(made)
    schemas = told["components"]["schemas"]
    told["components"]["schemas"] = {name: schemas[name] for name in schemas if name not in _GENERATED}
    told["components"]["schemas"]["Problem"] = _PROBLEM
    for path, operations in told["paths"].items():
        for method, operation in operations.items():
            _tell_problems(operation, path, method.upper())
            _name_headers(operation)
    return told


def _name_headers(operation: dict[str, Any]) -> None:
    """Powertools lowers their names; people read them as they are usually written."""
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "header":
            parameter["name"] = parameter["schema"]["title"]


def _tell_problems(operation: dict[str, Any], path: str, method: str) -> None:
    public = (method, path) in PUBLIC
    if public:
        operation["security"] = []
    told = _FAILED if public else _problems_of(operation, path, method)
    kept = {status: answer for status, answer in operation["responses"].items() if int(status) < 400}
    kept.get("204", {}).pop("content", None)  # Powertools tells JSON there too
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    problems = {status: {"description": words, "content": content} for status, words in told.items()}
    operation["responses"] = dict(sorted((kept | problems).items()))


def _problems_of(operation: dict[str, Any], path: str, method: str) -> dict[str, str]:
    told = _ALWAYS | _FAILED
    if method != "GET":
        told |= _WRITING
    if path.startswith("/v1/judge/"):
        told |= _JUDGED
    if "{" in path or "requestBody" in operation:
        told |= _WITH_NAMES
    if "requestBody" in operation or operation.get("parameters"):
        told |= _WITH_INPUT
    return told


def main() -> None:
    sys.stdout.buffer.write(orjson.dumps(openapi(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


if __name__ == "__main__":
    main()
