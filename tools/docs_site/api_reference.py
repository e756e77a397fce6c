import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from cupel_core.interfaces.schema_examples import SchemaExamples
from tools.openapi_changes import resolve

type Json = dict[str, Any]

TITLE = "API reference"
_INTRODUCTION = """\
Every operation of the HTTP API with its parameters, and the schemas of requests and responses. Every path but
`/v1/health` and `/v1/openapi.json` needs the header `Authorization: Bearer <token>`. Errors are problem documents
(RFC 9457, schema [Problem](#problem)).

This page is made from the [OpenAPI document](../openapi.json), which a running stack serves at `/v1/openapi.json`, with
its own address in `servers`. `/v1/openapi.json?tags=runs,transcripts` returns only the operations with these tags, and
the schemas they need. An operation with `x-repeatable: true` may be repeated without an `Idempotency-Key`; `x-role` is
the least role that may call it, if that is not the viewer.

Generators of clients read the document as it is. Only openapi-typescript needs an option: without
`--default-non-nullable=false`, a field of a request that has a default is required in its types.
"""


def page(document: Json) -> str:
    document = resolve(document)
    schemas = document["components"]["schemas"]
    lines = [f"# {TITLE}", "", _INTRODUCTION]
    for tag in document["tags"]:
        lines += [f"## {tag['name'].capitalize()}", "", f"{tag['description']}.", ""]
        for path, method, operation in _operations(document, tag["name"]):
            lines += _operation(path, method, operation, schemas)
    lines += ["## Schemas", ""]
    for name, schema in sorted(schemas.items()):
        lines += [*_schema(name, schema), *_example("Example", {"$ref": name}, schemas)]
    return "\n".join(lines)


def _operations(document: Json, tag: str) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if isinstance(operation, dict) and tag in operation.get("tags", ()):
                yield path, method.upper(), operation


def _operation(path: str, method: str, operation: Json, schemas: Json) -> list[str]:
    lines = [f"### {operation['summary']}", "", f"`{method} {path}`", ""]
    if description := operation.get("description"):
        lines += [description, ""]
    if parameters := operation.get("parameters"):
        rows = (
            (_code(each["name"]), each["in"], _type(each["schema"]), each.get("description", "")) for each in parameters
        )
        lines += _table(("parameter", "in", "type", "description"), rows)
    if body := operation.get("requestBody"):
        lines += [f"Request: {_content(body)}", "", *_content_examples("Example of a request", body, schemas)]
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            content = _content(response)
            lines += [f"Response {status}: {_sentence(response['description'])}{' ' + content if content else ''}", ""]
            lines += _content_examples("Example of a response", response, schemas)
    errors = {status: each for status, each in operation["responses"].items() if not status.startswith("2")}
    return lines + _table(("error", "when"), ((status, each["description"]) for status, each in errors.items()))


def _schema(name: str, schema: Json) -> list[str]:
    lines = [f"### {name}", ""]
    if description := schema.get("description"):
        lines += [description, ""]
    if properties := schema.get("properties"):
        required = schema.get("required", ())
        rows = (
            (_code(key), _type(each), "yes" if key in required else "", each.get("description", ""))
            for key, each in properties.items()
        )
        return lines + _table(("property", "type", "required", "description"), rows)
    return [*lines, _type(schema), ""]


def _content(holder: Json) -> str:
    return ", ".join(
        f"{_type(each['schema'])} as `{media_type}`" for media_type, each in holder.get("content", {}).items()
    )


def _content_examples(title: str, holder: Json, schemas: Json) -> list[str]:
    contents = holder.get("content", {}).items()
    return [
        line for kind, each in contents if kind.endswith("json") for line in _example(title, each["schema"], schemas)
    ]


def _example(title: str, schema: Json, schemas: Json) -> list[str]:
    """Return a collapsed block, or nothing for a schema without properties, such as an enumeration."""
    example = example_of(schema, schemas)
    if not isinstance(example, dict | list):
        return []
    text = json.dumps(example, indent=2, ensure_ascii=False).splitlines()
    return [f'??? example "{title}"', "", *(f"    {line}" for line in ("```json", *text, "```")), ""]


def example_of(schema: Json, schemas: Json) -> Any:
    """Return the example of a schema, or one built from its parts, or None if there is none."""
    if examples := schema.get("examples"):
        return examples[0]
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        has_fields = "properties" in schemas[name]
        return SchemaExamples(schemas).of_schema(name) if has_fields else example_of(schemas[name], schemas)
    if choices := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return next(filter(None, (example_of(each, schemas) for each in choices)), None)
    if schema.get("type") == "array":
        item = example_of(schema.get("items", {}), schemas)
        return None if item is None else [item]
    return None


def _type(schema: Json) -> str:
    """Return a type in words, with its limits; a schema with a name is a link to it."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if choices := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return " or ".join(dict.fromkeys(_type(each) for each in choices))
    if isinstance(types := schema.get("type"), list):
        return " or ".join(_type({"type": "null"} if each == "null" else {**schema, "type": each}) for each in types)
    if "enum" in schema:
        return " or ".join(_code(each) for each in schema["enum"])
    if "const" in schema:
        return _code(schema["const"])
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}{_limits(schema)}"
    return f"{schema.get('format') or schema.get('type', 'any')}{_limits(schema)}"


def _limits(schema: Json) -> str:
    low = next((schema[key] for key in ("minimum", "minLength", "minItems") if key in schema), None)
    high = next((schema[key] for key in ("maximum", "maxLength", "maxItems") if key in schema), None)
    if low is None and high is None:
        return ""
    unit = " characters" if {"minLength", "maxLength"} & schema.keys() else ""
    return f" ({'' if low is None else f'{low:,.12g} '}{f'to {high:,.12g}' if high is not None else 'or more'}{unit})"


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    cells = [header, *rows]
    if len(cells) == 1:
        return []
    lines = [f"| {' | '.join(_cell(each) for each in row)} |" for row in cells]
    return [lines[0], "|" + "---|" * lines[0].count(" | ") + "---|", *lines[1:], ""]


def _cell(value: object) -> str:
    return re.sub(r"\s+", " ", str(value)).replace("|", "\\|")


def _code(value: object) -> str:
    return f"`{value}`"


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."
